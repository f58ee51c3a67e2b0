/* Products in vectors of 16 bytes, which compilers know on every processor;
 * float and double. */
#include "kernels/gemm.h"

#include "base/compiler.h"

#include "kernels/simd_portable.h"

#define KERNEL_NAME cr_gemm_portable_part
#define KERNEL_SUM cr_sum_portable
#define KERNEL_PACK pack
#define KERNEL_ROOM cr_gemm_portable_scratch
#define KERNEL_SCOPE
#define TURNED_BLOCK 512
#define WIDE 3
#define MAX_ROWS 1, 8, 4, 3
#define TILES                                                               \
    T(1, 1)                                                                 \
    T(2, 1) T(3, 1) T(4, 1) T(5, 1) T(6, 1) T(7, 1) T(8, 1) T(1, 2) T(2, 2) \
        T(3, 2) T(4, 2) T(1, 3) T(2, 3) T(3, 3)

#include "kernels/gemm.inc"

static bool is_available(void)
{
    return true;
}

const struct cr_gemm_kernel cr_gemm_portable = {
    .head = { .name = "gemm_portable", .blas = "own" },
    .name = "own generic",
    .is_available = is_available,
    .part = KERNEL_NAME,
    .sum = KERNEL_SUM,
    .pack = KERNEL_PACK,
    .lanes = LANES,
    .thread_scratch = &KERNEL_ROOM,
    .low = true,
    .sums = true,
};
