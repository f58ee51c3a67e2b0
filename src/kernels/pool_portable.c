/* Pooling, as the compiler makes it for every processor. */
#define KERNEL
#define KERNEL_ROW cr_pool_portable
#define KERNEL_HEAD             \
    {                           \
        .name = "pool_portable" \
    }

#include "kernels/pool.inc"
