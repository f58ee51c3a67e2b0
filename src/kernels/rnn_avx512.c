/* Rows of gates in vectors of AVX-512. */
#include "base/compiler.h"

CR_O3

#ifdef __x86_64__

#include "kernels/simd_avx512.h"

#ifdef CR_DOUBLE
#define KERNEL_LOW cr_rnn_low_portable
#define KERNEL CR_TARGET("avx512f")
#else
#define KERNEL_LOW cr_rnn_low_avx512
#define GATES
#define SIDE 8
/* by Newton's step from 14 bits */
#define V_RATIO(x, y) V_MUL(x, inverse(y))

KERNEL CR_INLINE vec inverse(vec x)
{
    vec y = _mm512_rcp14_ps(x);

    return V_FMA(y, _mm512_fnmadd_ps(x, y, V_SET(1)), y);
}

#include "kernels/gates.inc"
#endif

#define KERNEL_ROW cr_rnn_avx512
#define KERNEL_HEAD                                \
    {                                              \
        .name = "rnn_avx512", .isa = CR_ISA_AVX512 \
    }

#include "kernels/rnn.inc"

#ifndef CR_DOUBLE
#include "kernels/rnn_low.inc"
#endif

#endif
