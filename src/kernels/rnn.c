#include "kernels/rnn.h"

/* No row over oneDNN: its LSTM, GRU and RNN multiply the input by its weight
 * themselves, which here is one product over all steps before the op, with
 * gradients, epilogues and roundings of its own; their gates alone cannot be
 * had. With CELLRUN_BLAS=onednn the products of the state are the library's. */
static const struct cr_kernel *const rows[] = {
#ifdef __x86_64__
    &cr_rnn_avx512.head, &cr_rnn_avx2.head,
#endif
    &cr_rnn_portable.head, NULL
};

const struct cr_kernels cr_kernels_rnn = { rows };

const struct cr_rnn_kernel *cr_rnn_kernel(void)
{
    return (const struct cr_rnn_kernel *)(const void *)cr_kernel_choose(
        &cr_kernels_rnn, NULL);
}
