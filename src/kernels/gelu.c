#include "kernels/gelu.h"

#include "base/compiler.h"

#define SQRT_2_PI ((cr_real)0.79788456080286535588)
#define SQRT_HALF ((cr_real)0.70710678118654752440)

/* By erf and exp; gelu.inc has one polynomial, but wants fused multiply-adds.
 */

CR_CLONES_WIDE static void gelu_portable(int64_t n, const cr_real *x,
                                         cr_real *y)
{
    const cr_real half = (cr_real)0.5;
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = half * x[i] * (1 + cr_erf(x[i] * SQRT_HALF));
}

CR_CLONES_WIDE static void gelu_portable_grad(int64_t n, const cr_real *x,
                                              const cr_real *dy, cr_real *d)
{
    const cr_real half = (cr_real)0.5;
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        d[i] =
            dy[i] * half *
            (1 + cr_erf(v * SQRT_HALF) + v * SQRT_2_PI * cr_exp(-half * v * v));
    }
}

static const struct cr_gelu_kernel portable = { { .name = "gelu_portable" },
                                                gelu_portable,
                                                gelu_portable_grad };

static const struct cr_kernel *const rows[] = {
#if defined(__x86_64__) && !defined(CR_DOUBLE)
    &cr_gelu_avx512.head, &cr_gelu_avx2.head,
#endif
    &portable.head, NULL
};

const struct cr_kernels cr_kernels_gelu = { rows };

static const struct cr_gelu_kernel *kernel(void)
{
    return (const struct cr_gelu_kernel *)(const void *)cr_kernel_choose(
        &cr_kernels_gelu, NULL);
}

const char *cr_gelu_kernel_name(void)
{
    return kernel()->head.name;
}

void cr_gelu(int64_t n, const cr_real *x, cr_real *y)
{
    kernel()->map(n, x, y);
}

void cr_gelu_grad(int64_t n, const cr_real *x, const cr_real *dy, cr_real *d)
{
    kernel()->grad(n, x, dy, d);
}
