/* Softmax in vectors of AVX2. */
#include "base/compiler.h"

#ifdef __x86_64__

#define KERNEL CR_TARGET("avx2")
#define KERNEL_ROW cr_softmax_avx2
#define KERNEL_HEAD                                \
    {                                              \
        .name = "softmax_avx2", .isa = CR_ISA_AVX2 \
    }

#include "kernels/softmax.inc"

#endif
