#include "kernels/exp.h"

#include "base/compiler.h"

#define LOOP(name, of)                                                       \
    CR_CLONES_WIDE static void name(int64_t n, const cr_real *x, cr_real *y) \
    {                                                                        \
        int64_t i;                                                           \
                                                                             \
        CR_SIMD                                                              \
        for (i = 0; i < n; i++)                                              \
            y[i] = of(x[i]);                                                 \
    }

CR_INLINE cr_real silu(cr_real x)
{
    return x * cr_sigmoid(x);
}

LOOP(exps, cr_exp)
LOOP(expm1s, cr_expm1)
LOOP(sigmoids, cr_sigmoid)
LOOP(silus, silu)
LOOP(tanhs, cr_tanh)

static const struct cr_exp_kernel portable = {
    { .name = "exp_portable" }, exps, expm1s, sigmoids, silus, tanhs
};

static const struct cr_kernel *const rows[] = {
#if defined(__x86_64__) && !defined(CR_DOUBLE)
    &cr_exp_avx512.head, &cr_exp_avx2.head,
#endif
    &portable.head, NULL
};

const struct cr_kernels cr_kernels_exp = { rows };

const struct cr_exp_kernel *cr_exp_kernel(void)
{
    return (const struct cr_exp_kernel *)(const void *)cr_kernel_choose(
        &cr_kernels_exp, NULL);
}
