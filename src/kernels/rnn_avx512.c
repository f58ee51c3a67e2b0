/* Rows of gates in vectors of AVX-512. */
#include "base/compiler.h"

CR_O3

#ifdef __x86_64__

#include "kernels/simd_avx512.h"

#ifdef CR_DOUBLE
#define KERNEL CR_TARGET("avx512f")
#else
#define GATES
#define SIDE 4
#define V_ABS(x) _mm512_abs_ps(x)
#define V_SIGN(x, y) \
    _mm512_or_ps(x, _mm512_and_ps(y, _mm512_set1_ps(-0.0f)))
#define V_POWER(t)                                                \
    _mm512_castsi512_ps(_mm512_slli_epi32(                        \
        _mm512_add_epi32(_mm512_castps_si512(t), _mm512_set1_epi32(127)), 23))
#define V_UNDER(x, by, y, z) \
    _mm512_mask_mov_ps(z, _mm512_cmp_ps_mask(x, by, _CMP_LT_OQ), y)
#include "kernels/gates.inc"
#endif

#define KERNEL_ROW cr_rnn_avx512
#define KERNEL_HEAD                                \
    {                                              \
        .name = "rnn_avx512", .isa = CR_ISA_AVX512 \
    }

#include "kernels/rnn.inc"

#endif
