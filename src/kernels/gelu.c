#include "kernels/gelu.h"

#include "base/compiler.h"
#include "kernels/kernel.h"

#define SQRT_2_PI ((cr_real)0.79788456080286535588)
#define SQRT_HALF ((cr_real)0.70710678118654752440)

/* ---- portable: by erf and exp ---- */

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

#if defined(__x86_64__) && !defined(CR_DOUBLE)

/* ---- with fused multiply-adds: one polynomial, no exponential ---- */

/* P(x) - 1/2 and the slope less 1/2 are odd: x times these polynomials in
 * u = 2 (x / END)^2 - 1, which have the least largest absolute error for
 * |x| <= END (Lawson's weights on 4,000 Chebyshev points). */
#define END 5.5f
static const float gelu_terms[] = {
    1.285519302e-01f, -6.417233497e-02f, 4.773764685e-02f, -3.879282251e-02f,
    3.206990659e-02f, -2.604770847e-02f, 2.036712877e-02f, -1.500259060e-02f,
    1.021913905e-02f, -6.808868609e-03f, 4.636709113e-03f, -2.436694456e-03f,
    7.075328613e-04f, -5.144558963e-04f, 6.356787635e-04f, -2.410648158e-04f
};

#define SLOPE_END 6.0f
static const float slope_terms[] = {
    1.178977638e-01f, -5.934281275e-02f, 4.605773464e-02f, -4.236529395e-02f,
    4.455500469e-02f, -5.094028264e-02f, 5.870088190e-02f, -6.428235024e-02f,
    6.682477891e-02f, -6.586600840e-02f, 5.459072813e-02f, -3.609584644e-02f,
    3.110261448e-02f, -3.326266259e-02f, 1.638667844e-02f, 1.820034697e-03f,
    1.663959003e-03f, -6.940356456e-03f, 2.828787314e-03f
};

CR_INLINE float odd(float v, float end, const float *terms, int n)
{
    float t = v > end ? end : v < -end ? -end : v, p;
    float u = __builtin_fmaf(t * t, 2 / (end * end), -1);
    int k;

    p = terms[n - 1];
#pragma GCC unroll 20
    for (k = n - 2; k >= 0; k--)
        p = __builtin_fmaf(p, u, terms[k]);
    return p * t;
}

CR_INLINE void fused(int64_t n, const float *x, float *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++) {
        float v = x[i], p = odd(v, END, gelu_terms, CR_LEN(gelu_terms));

        p = p > 0.5f ? 0.5f : p < -0.5f ? -0.5f : p;
        y[i] = __builtin_fmaf(v, p, 0.5f * v);
    }
}

CR_INLINE void fused_grad(int64_t n, const float *x, const float *dy, float *d)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++) {
        float v = x[i];
        float p = odd(v, SLOPE_END, slope_terms, CR_LEN(slope_terms));

        p = v >= SLOPE_END ? 0.5f : v <= -SLOPE_END ? -0.5f : p;
        d[i] = dy[i] * (0.5f + p);
    }
}

CR_TARGET("avx512f,fma")
static void gelu_avx512(int64_t n, const float *x, float *y)
{
    fused(n, x, y);
}

CR_TARGET("avx512f,fma")
static void gelu_avx512_grad(int64_t n, const float *x, const float *dy,
                             float *d)
{
    fused_grad(n, x, dy, d);
}

CR_TARGET("avx2,fma")
static void gelu_avx2(int64_t n, const float *x, float *y)
{
    fused(n, x, y);
}

CR_TARGET("avx2,fma")
static void gelu_avx2_grad(int64_t n, const float *x, const float *dy, float *d)
{
    fused_grad(n, x, dy, d);
}

#endif

/* ---- rows ---- */

struct gelu_kernel {
    struct cr_kernel head;
    void (*map)(int64_t n, const cr_real *x, cr_real *y);
    void (*grad)(int64_t n, const cr_real *x, const cr_real *dy, cr_real *d);
};

#if defined(__x86_64__) && !defined(CR_DOUBLE)
static const struct gelu_kernel avx512 = { { .name = "gelu_avx512",
                                             .isa = CR_ISA_AVX512 },
                                           gelu_avx512,
                                           gelu_avx512_grad },
                                avx2 = { { .name = "gelu_avx2",
                                           .isa = CR_ISA_AVX2 },
                                         gelu_avx2,
                                         gelu_avx2_grad };
#endif
static const struct gelu_kernel portable = { { .name = "gelu_portable" },
                                             gelu_portable,
                                             gelu_portable_grad };

static const struct cr_kernel *const rows[] = {
#if defined(__x86_64__) && !defined(CR_DOUBLE)
    &avx512.head, &avx2.head,
#endif
    &portable.head, NULL
};

const struct cr_kernels cr_kernels_gelu = { rows };

static const struct gelu_kernel *kernel(void)
{
    return (const struct gelu_kernel *)(const void *)cr_kernel_choose(
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
