#include "kernels/softmax.h"

static const struct cr_kernel *const rows[] = {
#ifndef CR_DOUBLE
    &cr_softmax_onednn.head,
#endif
#ifdef __x86_64__
    &cr_softmax_avx512.head, &cr_softmax_avx2.head,
#endif
    &cr_softmax_portable.head, NULL
};

const struct cr_kernels cr_kernels_softmax = { rows };

const struct cr_softmax_kernel *
cr_softmax_rows_kernel(const struct cr_softmax_rows *of)
{
    return (const struct cr_softmax_kernel *)(const void *)cr_kernel_choose(
        &cr_kernels_softmax, of);
}

const struct cr_softmax_kernel *cr_softmax_kernel(void)
{
    return cr_softmax_rows_kernel(NULL);
}
