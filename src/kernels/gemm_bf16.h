/*
 * How packed bfloat16 numbers are multiplied: the kernels of gemm_bf16.c,
 * which packs. Private to src/kernels.
 */
#ifndef CR_KERNELS_GEMM_BF16_H
#define CR_KERNELS_GEMM_BF16_H

#include "kernels/gemm.h"

#define CR_BF16_LANES 16
#define CR_BF16_WIDE 4 /* most vectors of a panel */

/* c = alpha sum_p a[r][p] b[p][v] (+ c), p over pairs; with round, the sum is
 * rounded to bfloat16 first. a is [row][pair], b [pair][16 vecs]; both are
 * filled up with zeros to a multiple of 16 pairs, and a can be read up to a
 * multiple of 16 rows. */
struct cr_bf16_tile {
    int64_t pairs, a_row, c_row;
    const uint32_t *a, *b;
    cr_real *c, alpha;
    bool add, round;
    bool narrow; /* c takes two bytes per number: alpha is 1 then, and the sum
                    is rounded; for kernels that narrow */
};

struct cr_bf16_kernel {
    const char *name;
    int wide;                      /* vectors of a full panel */
    int max_rows[CR_BF16_WIDE + 1]; /* of a tile, by its vectors */
    int unit;                      /* rows that are computed at a time */
    bool narrows;
    double macs;                   /* multiply-adds per cycle, about */
    bool (*available)(void);
    void (*begin)(void), (*end)(void); /* in each thread; NULL: nothing */
    void (*tile)(const struct cr_bf16_tile *t, int rows, int vecs);
};

extern const struct cr_bf16_kernel cr_bf16_avx512, cr_bf16_amx;

#endif
