/* GELU in vectors of AVX2. */
#include "base/compiler.h"

CR_O3

#include "kernels/gelu.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx2.h"

#define KERNEL_CODE cr_gelu_avx2
#define KERNEL_HEAD                             \
    {                                           \
        .name = "gelu_avx2", .isa = CR_ISA_AVX2 \
    }
#define SIDE 4

#include "kernels/gelu.inc"

#endif
