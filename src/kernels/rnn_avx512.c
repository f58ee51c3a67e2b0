/* Rows of gates in vectors of AVX-512. */
#include "base/compiler.h"

CR_O3

#ifdef __x86_64__

#include "kernels/simd_avx512.h"

#ifdef CR_DOUBLE
#define KERNEL CR_TARGET("avx512f")
#else
#define GATES
#define SIDE 8
#define V_ABS(x) _mm512_abs_ps(x)
#define V_SIGN(x, y) \
    _mm512_or_ps(x, _mm512_and_ps(y, _mm512_set1_ps(-0.0f)))
#define V_POWER(t)                                                \
    _mm512_castsi512_ps(_mm512_slli_epi32(                        \
        _mm512_add_epi32(_mm512_castps_si512(t), _mm512_set1_epi32(127)), 23))
/* by Newton's step from 14 bits */
#define V_INVERSE(x) inverse(x)

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

#endif
