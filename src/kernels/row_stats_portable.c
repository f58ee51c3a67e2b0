/* Sums along rows, as the compiler makes them for every processor. */
#define KERNEL
#define KERNEL_ROW cr_row_portable
#define KERNEL_HEAD            \
    {                          \
        .name = "row_portable" \
    }

#include "kernels/row_stats.inc"
