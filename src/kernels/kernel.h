/*
 * What the kernels of all families have in common.
 *
 * A family (products, convolutions, pooling, ...) has an ordered list of
 * kernels, the rows of a table. Each row is a struct of the family, in a file
 * of its own, and begins with a struct cr_kernel. Of the rows that the
 * processor, CELLRUN_ISA and the installation allow and that accept the
 * arguments, the first is taken, unless kernels/choices.def says that a later
 * one is faster. The last row is portable and accepts everything: it is
 * the oracle of the others in tests/unit/t_kernels_*.c. The order of the rows
 * and that table follow from measurements, never from a clock at run time: the
 * same machine gives the same bytes.
 *
 * To add a kernel: a file with its row, and a line in the table of its family.
 */
#ifndef CR_KERNELS_KERNEL_H
#define CR_KERNELS_KERNEL_H

#include "base/cpu.h"

#include <stdbool.h>

struct cr_kernel {
    const char *name;
    enum cr_isa isa; /* instruction set that it needs */
    /* CELLRUN_BLAS that it belongs to; NULL: any. */
    const char *blas;
    /* The argument is the family's description of what is computed, such as a
     * struct cr_conv; NULL: everything. */
    bool (*accepts)(const void *what);
};

struct cr_kernels {
    const struct cr_kernel *const *rows; /* in order; NULL after the last */
};

extern const struct cr_kernels cr_kernels_channel, cr_kernels_conv,
    cr_kernels_exp, cr_kernels_gelu, cr_kernels_gemm, cr_kernels_gemm_low,
    cr_kernels_max_pool, cr_kernels_mean_pool, cr_kernels_rnn, cr_kernels_row,
    cr_kernels_sdpa, cr_kernels_softmax, cr_kernels_transpose;

/* The row that computes it. */
const struct cr_kernel *cr_kernel_choose(const struct cr_kernels *family,
                                         const void *what);
/* By kernels/choices.def, which of two kernels that accept it is faster: 1: a,
 * -1: b, 0: nothing is said, and the order of the rows decides. */
int cr_kernel_compare(const struct cr_kernel *a, const struct cr_kernel *b,
                      const void *what);
/* Kernel number i of all families; NULL after the last. */
const struct cr_kernel *cr_kernel_at(int i);
/* From now on the kernel of that name computes what it accepts, for comparisons
 * within one process; NULL: what is chosen. False if it is not available. Not
 * while another thread computes, and plans must be made again. */
bool cr_kernel_prefer(const char *name);
/* Whether this row is preferred, or one of the family. */
bool cr_kernel_is_preferred(const struct cr_kernel *kernel);
bool cr_kernel_prefers(const struct cr_kernels *family);

#endif
