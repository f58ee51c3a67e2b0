/* Rows of gates, as the compiler makes them for every processor. */
#include "kernels/simd_portable.h"

#define KERNEL_ROW cr_rnn_portable
#define KERNEL_LOW cr_rnn_low_portable
#define KERNEL_HEAD            \
    {                          \
        .name = "rnn_portable" \
    }

#include "kernels/rnn.inc"

#include "kernels/rnn_low.inc"
