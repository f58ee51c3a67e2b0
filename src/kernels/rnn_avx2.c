/* Rows of gates in vectors of AVX2. */
#include "base/compiler.h"

CR_O3

#ifdef __x86_64__

#include "kernels/simd_avx2.h"

#ifdef CR_DOUBLE
#define KERNEL CR_TARGET("avx2")
#else
#define GATES
#define SIDE 4
#define V_ABS(x) _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x)
#define V_SIGN(x, y) \
    _mm256_or_ps(x, _mm256_and_ps(y, _mm256_set1_ps(-0.0f)))
#define V_POWER(t)                                                \
    _mm256_castsi256_ps(_mm256_slli_epi32(                        \
        _mm256_add_epi32(_mm256_castps_si256(t), _mm256_set1_epi32(127)), 23))
#define V_INVERSE(x) V_DIV(V_SET(1), x)
#include "kernels/gates.inc"
#endif

#define KERNEL_ROW cr_rnn_avx2
#define KERNEL_HEAD                            \
    {                                          \
        .name = "rnn_avx2", .isa = CR_ISA_AVX2 \
    }

#include "kernels/rnn.inc"

#endif
