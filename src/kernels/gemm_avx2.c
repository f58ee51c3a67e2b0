/* Products in vectors of 8, for processors with AVX2 and FMA. */
#include "kernels/gemm.h"

#include "base/compiler.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "base/cpu.h"
#include "kernels/simd_avx2.h"

#define KERNEL_NAME part
#define KERNEL_SUM sum
#define KERNEL_PACK pack
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

#define STRIP_LANES LANES
#define V_STRIP(to, from, rows) simd_strip(to, from, rows)

KERNEL CR_INLINE void simd_strip(cr_real *to, const cr_real *from, int rows)
{
    int i;

    if (rows == 4)
        _mm_storeu_ps(to, _mm_loadu_ps(from));
    else
#pragma GCC unroll 3
        for (i = 0; i < rows; i++)
            to[i] = from[i];
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
    .pack = KERNEL_PACK,
    .lanes = LANES,
    .thread_scratch = &KERNEL_ROOM,
    .low = true,
    .sums = true,
};

#endif
