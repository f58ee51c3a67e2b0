/* Sums and maps per channel, as the compiler makes them for every processor. */
#define KERNEL
#define KERNEL_ROW cr_channel_portable
#define KERNEL_HEAD                \
    {                              \
        .name = "channel_portable" \
    }

#include "kernels/channel.inc"
