/* Sums and maps per channel in vectors of AVX-512. */
#include "base/compiler.h"

#ifdef __x86_64__

#define KERNEL CR_TARGET("avx512f")
#define KERNEL_ROW cr_channel_avx512
#define KERNEL_HEAD                                    \
    {                                                  \
        .name = "channel_avx512", .isa = CR_ISA_AVX512 \
    }

#include "kernels/channel.inc"

#endif
