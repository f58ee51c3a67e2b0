/* Products in vectors of 8, for processors with AVX2 and FMA. */
#include "kernels/gemm.h"

#include "base/compiler.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "base/cpu.h"
#include "kernels/simd_avx2.h"

#define KERNEL_NAME part
#define KERNEL_SUM sum
#define KERNEL_ROOM scratch
#define KERNEL_SCOPE static
#define WIDE 3
#define MAX_ROWS 1, 8, 6, 4
#define TILES                                                               \
    T(1, 1)                                                                 \
    T(2, 1) T(3, 1) T(4, 1) T(5, 1) T(6, 1) T(7, 1) T(8, 1) T(1, 2) T(2, 2) \
        T(3, 2) T(4, 2) T(5, 2) T(6, 2) T(1, 3) T(2, 3) T(3, 3) T(4, 3)

#define TURNED_BLOCK 256 /* a panel and a strip of it fit level 1 */
#define STRIP_ROWS 4
#define STRIPS                                                               \
    T(1, 1)                                                                  \
    T(2, 1) T(3, 1) T(4, 1) T(1, 2) T(2, 2) T(3, 2) T(4, 2) T(1, 3) T(2, 3) \
        T(3, 3) T(4, 3)

/* Four strips of four rows, side by side: to[strip][p][row]. */
KERNEL static void simd_strips(const cr_real *a, int64_t a_p, int64_t k,
                               cr_real *to)
{
    int64_t p;
    int i;

    for (p = 0; p < k; p++, a += a_p, to += 4) {
        __builtin_prefetch(a + 12 * a_p);
#pragma GCC unroll 4
        for (i = 0; i < 4; i++)
            _mm_storeu_ps(to + i * 4 * k, _mm_loadu_ps(a + 4 * i));
    }
}

#include "kernels/gemm.inc"

static bool is_available(void)
{
    return cr_isa() >= CR_ISA_AVX2;
}

const struct cr_gemm_kernel cr_gemm_avx2 = {
    .head = { .name = "gemm_avx2", .isa = CR_ISA_AVX2, .blas = "own" },
    .name = "own avx2",
    .is_available = is_available,
    .part = KERNEL_NAME,
    .sum = KERNEL_SUM,
    .thread_scratch = &KERNEL_ROOM,
    .low = true,
    .sums = true,
};

#endif
