/* Products in vectors of 16, for processors with AVX-512. */
#include "base/compiler.h"

/* Worth one percent of a step: at -O2 the tiles' loops are scheduled worse. */
CR_O3

#include "kernels/gemm.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "base/cpu.h"
#include "kernels/simd_avx512.h"

#define KERNEL_NAME part
#define KERNEL_SUM sum
#define KERNEL_PACK pack
#define KERNEL_ROOM scratch
#define KERNEL_SCOPE static
#define TURNED_BLOCK 128 /* a panel and a strip of it fit level 1 */
#define WIDE 4
#define MAX_ROWS 1, 9, 9, 9, 6
#define TILES                                                               \
    T(1, 1)                                                                 \
    T(2, 1) T(3, 1) T(4, 1) T(5, 1) T(6, 1) T(7, 1) T(8, 1) T(9, 1) T(1, 2) \
        T(2, 2) T(3, 2) T(4, 2) T(5, 2) T(6, 2) T(7, 2) T(8, 2) T(9, 2)     \
            T(1, 3) T(2, 3) T(3, 3) T(4, 3) T(5, 3) T(6, 3) T(7, 3) T(8, 3) \
                T(9, 3) T(1, 4) T(2, 4) T(3, 4) T(4, 4) T(5, 4) T(6, 4)

#define STRIP_ROWS 6
#define STRIP_LANES (2 * LANES)
#define STRIPS                                                              \
    T(1, 1)                                                                 \
    T(2, 1) T(3, 1) T(4, 1) T(5, 1) T(6, 1) T(1, 2) T(2, 2) T(3, 2) T(4, 2) \
        T(5, 2) T(6, 2) T(1, 3) T(2, 3) T(3, 3) T(4, 3) T(5, 3) T(6, 3)     \
            T(1, 4) T(2, 4) T(3, 4) T(4, 4) T(5, 4) T(6, 4)
#define V_STRIP(to, from, rows) \
    V_STORE_M(to, V_FIRST(rows), V_LOAD_M(from, V_FIRST(rows)))

#include "kernels/gemm.inc"

static bool is_available(void)
{
    return cr_isa() >= CR_ISA_AVX512;
}

const struct cr_gemm_kernel cr_gemm_avx512 = {
    .head = { .name = "gemm_avx512", .isa = CR_ISA_AVX512, .blas = "own" },
    .name = "own avx512",
    .is_available = is_available,
    .part = KERNEL_NAME,
    .sum = KERNEL_SUM,
    .pack = KERNEL_PACK,
    .lanes = LANES,
    .thread_scratch = &KERNEL_ROOM,
    .low = true,
    .sums = true,
    .has_bf16 = cr_gemm_bf16_available,
};

#endif
