/* exp and what is built on it in vectors of AVX-512. */
#include "base/compiler.h"

CR_O3

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx512.h"

#define KERNEL_CODE cr_exp_avx512
#define KERNEL_HEAD                                \
    {                                              \
        .name = "exp_avx512", .isa = CR_ISA_AVX512 \
    }
#define SIDE 4
#define V_RATIO(x, y) V_DIV(x, y)

#include "kernels/gates.inc"

#include "kernels/exp.inc"

#endif
