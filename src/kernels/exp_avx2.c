/* exp and what is built on it in vectors of AVX2. */
#include "base/compiler.h"

CR_O3

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx2.h"

#define KERNEL_CODE cr_exp_avx2
#define KERNEL_HEAD                            \
    {                                          \
        .name = "exp_avx2", .isa = CR_ISA_AVX2 \
    }
#define SIDE 4
#define V_RATIO(x, y) V_DIV(x, y)

#include "kernels/gates.inc"

#include "kernels/exp.inc"

#endif
