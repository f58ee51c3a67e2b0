/* Softmax, as the compiler makes them for every processor. */
#define KERNEL
#define KERNEL_ROW cr_softmax_portable
#define KERNEL_HEAD                \
    {                              \
        .name = "softmax_portable" \
    }

#include "kernels/softmax.inc"
