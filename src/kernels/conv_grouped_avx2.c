/* Grouped convolutions in vectors of 8, for processors with AVX2 and FMA. */
#include "kernels/conv_grouped.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx2.h"

/* A permutation of the numbers of x: those of the lanes, 0 in lanes that are
 * not there. */
#define LANES_OF __m256i
#define LANES_OF_TERM(t) _mm256_loadu_si256((const __m256i *)(t)->lane)
#define THERE __m256
#define THERE_OF_TERM(t) \
    _mm256_loadu_ps((const float *)(const void *)(t)->there)
#define PERMUTE(there, lanes, x) \
    _mm256_and_ps(there, _mm256_permutevar8x32_ps(x, lanes))

#define KERNEL_APPLY cr_grouped_apply_avx2
#define KERNEL_SUMS cr_grouped_sums_avx2

#include "kernels/conv_grouped.inc"

#endif
