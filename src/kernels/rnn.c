#include "kernels/rnn.h"

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
