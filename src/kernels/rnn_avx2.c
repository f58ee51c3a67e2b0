/* Rows of gates in vectors of AVX2. */
#include "base/compiler.h"

CR_O3

#ifdef __x86_64__

#include "kernels/simd_avx2.h"

#ifdef CR_DOUBLE
#define KERNEL_LOW cr_rnn_low_portable
#define KERNEL CR_TARGET("avx2")
#else
#define KERNEL_LOW cr_rnn_low_avx2
#define GATES
#define SIDE 4
#define V_RATIO(x, y) V_DIV(x, y)
#include "kernels/gates.inc"
#endif

#define KERNEL_ROW cr_rnn_avx2
#define KERNEL_HEAD                            \
    {                                          \
        .name = "rnn_avx2", .isa = CR_ISA_AVX2 \
    }

#include "kernels/rnn.inc"

#ifndef CR_DOUBLE
#include "kernels/rnn_low.inc"
#endif

#endif
