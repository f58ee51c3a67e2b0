/* GELU in vectors of AVX-512. */
#include "base/compiler.h"

CR_O3

#include "kernels/gelu.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "kernels/simd_avx512.h"

#define KERNEL_CODE cr_gelu_avx512
#define KERNEL_HEAD                                 \
    {                                               \
        .name = "gelu_avx512", .isa = CR_ISA_AVX512 \
    }
#define SIDE 8

#include "kernels/gelu.inc"

#endif
