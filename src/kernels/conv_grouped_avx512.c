/* Grouped convolutions in vectors of 16, for processors with AVX-512. */
#include "kernels/conv_grouped.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx512.h"

/* A permutation of the numbers of x: those of the lanes, 0 in lanes that are
 * not there. */
#define LANES_OF __m512i
#define LANES_OF_TERM(t) _mm512_loadu_si512((t)->lane)
#define THERE __mmask16
#define THERE_OF_TERM(t) _mm512_movepi32_mask(_mm512_loadu_si512((t)->there))
#define PERMUTE(there, lanes, x) _mm512_maskz_permutexvar_ps(there, lanes, x)

#define KERNEL_APPLY cr_grouped_apply_avx512
#define KERNEL_SUMS cr_grouped_sums_avx512

#include "kernels/conv_grouped.inc"

#endif
