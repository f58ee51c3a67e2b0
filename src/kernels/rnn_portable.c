/* Rows of gates, as the compiler makes them for every processor. */
#define KERNEL
#define KERNEL_ROW cr_rnn_portable
#define KERNEL_HEAD            \
    {                          \
        .name = "rnn_portable" \
    }

#include "kernels/rnn.inc"
