#include "kernels/softmax.h"

static const struct cr_kernel *const rows[] = {
#ifdef __x86_64__
    &cr_softmax_avx512.head, &cr_softmax_avx2.head,
#endif
    &cr_softmax_portable.head, NULL
};

const struct cr_kernels cr_kernels_softmax = { rows };

const struct cr_softmax_kernel *cr_softmax_kernel(void)
{
    return (const struct cr_softmax_kernel *)(const void *)cr_kernel_choose(
        &cr_kernels_softmax, NULL);
}
