/* Products: every shape, transposition and epilogue against plain loops in
 * double, and the same bytes for any number of threads. Products of bfloat16
 * (low) where the processor has them; num/low_precision.c rounds for the
 * loops. */
#include "kernels/blas.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/cpu.h"
#include "base/thread_pool.h"
#include "num/low_precision.h"
#include "tap.h"

#define EPS ((double)CR_REAL_EPS)

static uint32_t seed = 1;

/* In (-1, 1). */
static cr_real noise(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (cr_real)((double)(seed >> 8) / (1 << 23) - 1);
}

/* n numbers of noise at the end of their memory, so that valgrind and
 * AddressSanitizer see a step beyond. */
static cr_real *numbers(int64_t n)
{
    cr_real *x = malloc((size_t)(n > 0 ? n : 1) * sizeof *x);
    int64_t i;

    for (i = 0; i < n; i++)
        x[i] = noise();
    return x;
}

/* Between what rounding may take it to. */
struct want {
    double low, high;
};

static double rounded(double x)
{
    cr_real y = (cr_real)x;

    cr_round_to_type(CR_BF16, 1, &y, &y);
    return (double)y;
}

/* What follows sum and bias: alpha, c, ReLU and mask; `bias` is 0 where it is
 * in the sum. */
static double finished(const struct cr_gemm *g, double sum, double c,
                       double bias, int64_t at)
{
    double value =
        (double)g->alpha * (g->round ? rounded(sum) : sum) + c + bias;

    if (g->act == CR_ACT_RELU && value < 0)
        value = 0;
    if (g->mask && g->mask[at] <= 0)
        value = 0;
    return value;
}

static struct want wanted(const struct cr_gemm *g, const cr_real *c, int64_t i,
                          int64_t j)
{
    double sum = 0, size = 0, bias = g->bias ? (double)g->bias[j] : 0;
    double old, room, one, other;
    int64_t p, at = i * g->n + j;

    for (p = 0; p < g->k; p++) {
        double x = g->a[g->ta == CR_N ? i * g->k + p : p * g->m + i];
        double y = g->b[g->tb == CR_N ? p * g->n + j : j * g->k + p];

        if (g->bf16)
            x = rounded(x), y = rounded(y);
        sum += x * y;
        size += fabs(x * y);
    }
    old = g->accumulate ? (double)c[at] : 0;
    if (g->round) {
        sum += bias;
        size += fabs(bias);
        bias = 0;
    }
    room = EPS * size * ((double)g->k + 3);
    one = finished(g, sum - room, old, bias, at);
    other = finished(g, sum + room, old, bias, at);
    room = 3 * EPS * (fabs((double)g->alpha * sum) + fabs(old) + fabs(bias));
    return (struct want){ fmin(one, other) - room, fmax(one, other) + room };
}

struct shape {
    int64_t m, n, k;
};

static const struct shape shapes[] = {
    { 1, 1, 1 },      { 1, 10, 7 },     { 1, 512, 784 },  { 64, 512, 784 },
    { 64, 10, 512 },  { 64, 512, 10 },  { 512, 784, 64 }, { 10, 512, 64 },
    { 32, 512, 512 }, { 7, 10, 7 },     { 17, 33, 65 },   { 33, 17, 1 },
    { 5, 100, 1100 }, { 100, 5, 1100 }, { 63, 65, 129 },  { 300, 301, 33 },
    { 16, 16, 16 },   { 15, 17, 513 },  { 1, 300, 33 },   { 300, 1, 33 },
    { 2, 3, 0 },      { 48, 80, 31 },   { 270, 20, 600 }, { 20, 270, 600 },
    { 1100, 40, 64 }, { 40, 1100, 64 }, { 9, 12, 2000 },  { 530, 70, 530 },
    { 3, 4100, 3 },   { 4100, 3, 3 },   { 70, 65, 2049 }, { 300, 270, 1030 },
};

/* All operands of one product; `c` is what it is given to add to. */
struct data {
    cr_real *a, *b, *c, *bias, *mask, *got, *sums;
};

/* variant: bits for add, bias, ReLU, mask, alpha, low, round. */
static struct cr_gemm product(const struct shape *s, int trans, int variant,
                              const struct data *d)
{
    return (struct cr_gemm){ .ta = trans & 1 ? CR_T : CR_N,
                             .tb = trans & 2 ? CR_T : CR_N,
                             .m = s->m,
                             .n = s->n,
                             .k = s->k,
                             .a = d->a,
                             .b = d->b,
                             .alpha = variant & 16 ? (cr_real)-0.125 : 1,
                             .accumulate = variant & 1,
                             .c = d->got,
                             .bias = variant & 2 ? d->bias : NULL,
                             .act = variant & 4 ? CR_ACT_RELU : CR_ACT_NONE,
                             .mask = variant & 8 ? d->mask : NULL,
                             .bf16 = variant & 32,
                             .round = variant & 64,
                             .sums = trans & 1 ? d->sums : NULL,
                             .sums_alpha = variant & 16 ? (cr_real)-0.5 : 1,
                             .sums_accumulate = variant & 1 };
}

static const int variants[] = { 0, 1, 2, 4, 8, 16, 17, 6, 31, 25 };
static const int low_variants[] = { 32,  32 + 17, 96,      96 + 17,
                                    104, 96 + 6,  96 + 31, 32 + 31 };

static bool near_all(const struct cr_gemm *g, const cr_real *c)
{
    int64_t i, j, step = g->m * g->n * g->k > 1000000 ? g->bf16 ? 29 : 7 : 1;

    for (i = 0; i < g->m; i++)
        for (j = i % step; j < g->n; j += step) {
            struct want w = wanted(g, c, i, j);
            double got = (double)g->c[i * g->n + j];

            if (!(got >= w.low && got <= w.high)) {
                printf("# c[%lld][%lld] is %.9g, not %.9g to %.9g\n",
                       (long long)i, (long long)j, got, w.low, w.high);
                return false;
            }
        }
    return true;
}

/* The sums of rows of op(a), which were c[i][0] before. */
static bool near_sums(const struct cr_gemm *g, const cr_real *c)
{
    int64_t i, p;

    for (i = 0; i < g->m && g->sums; i++) {
        double sum = 0, size = 0, alpha = (double)g->sums_alpha;

        for (p = 0; p < g->k; p++) {
            sum += alpha * (double)g->a[p * g->m + i];
            size += fabs((double)g->a[p * g->m + i]);
        }
        if (g->sums_accumulate)
            sum += (double)c[i * g->n];
        if (!(fabs((double)g->sums[i] - sum) <= EPS * (8 * size + 8))) {
            printf("# sums[%lld] is %.9g, not %.9g\n", (long long)i,
                   (double)g->sums[i], sum);
            return false;
        }
    }
    return true;
}

static struct data data_of(const struct shape *s)
{
    return (struct data){ numbers(s->m * s->k), numbers(s->k * s->n),
                          numbers(s->m * s->n), numbers(s->n),
                          numbers(s->m * s->n), numbers(s->m * s->n),
                          numbers(s->m) };
}

static void data_free(struct data *d)
{
    free(d->a);
    free(d->b);
    free(d->c);
    free(d->bias);
    free(d->mask);
    free(d->got);
    free(d->sums);
}

/* What is not added to must be overwritten, whatever was there. */
static void prepare(const struct cr_gemm *g, const struct data *d)
{
    int64_t i;

    for (i = 0; i < g->m * g->n; i++)
        g->c[i] = g->accumulate ? d->c[i] : (cr_real)NAN;
    for (i = 0; i < g->m && g->sums; i++)
        g->sums[i] = g->sums_accumulate ? d->c[i * g->n] : (cr_real)NAN;
}

static void test_shape(const struct shape *s, const int *which, size_t n)
{
    struct data d = data_of(s);
    size_t bytes = (size_t)(s->m * s->n) * sizeof(cr_real);
    size_t sums = (size_t)s->m * sizeof(cr_real);
    cr_real *first = malloc(bytes), *first_sums = malloc(sums);
    bool good = true, same_bytes = true;
    int trans, threads;
    size_t v, step = s->m * s->n * s->k > 1000000 ? 4 : 1;

    for (trans = 0; trans < 4; trans++)
        for (v = 0; v < n; v += step) {
            struct cr_gemm g = product(s, trans, which[v], &d);

            for (threads = 1; threads <= 5; threads += 2) {
                cr_thread_pool_start(threads);
                prepare(&g, &d);
                cr_gemms(&g, 1);
                if (threads == 1) {
                    good = near_all(&g, d.c) && near_sums(&g, d.c) && good;
                    memcpy(first, g.c, bytes);
                    memcpy(first_sums, d.sums, sums);
                } else {
                    same_bytes = same_bytes && !memcmp(first, g.c, bytes) &&
                                 !memcmp(first_sums, d.sums, sums);
                }
            }
        }
    ok(good, "%s%s: %lld x %lld x %lld", cr_blas_name(),
       which == low_variants ? ", bfloat16" : "", (long long)s->m,
       (long long)s->n, (long long)s->k);
    if (cr_blas_own())
        ok(same_bytes, "the same bytes with 1, 3 and 5 threads");
    free(first);
    free(first_sums);
    data_free(&d);
    cr_thread_pool_stop();
}

/* Several products in one call give what they give alone. */
static void test_several(void)
{
    const struct shape s[3] = { { 64, 48, 33 }, { 7, 300, 40 }, { 90, 9, 70 } };
    struct data d[3];
    struct cr_gemm g[3];
    cr_real *alone[3];
    bool good = true, same_bytes = true;
    int i;

    cr_thread_pool_start(2);
    for (i = 0; i < 3; i++) {
        d[i] = data_of(&s[i]);
        g[i] = product(&s[i], i, 2, &d[i]);
        cr_gemms(&g[i], 1);
        alone[i] = g[i].c;
        g[i].c = numbers(s[i].m * s[i].n);
    }
    cr_gemms(g, 3);
    for (i = 0; i < 3; i++) {
        good = near_all(&g[i], d[i].c) && good;
        same_bytes =
            same_bytes && !memcmp(alone[i], g[i].c,
                                  (size_t)(s[i].m * s[i].n) * sizeof(cr_real));
        free(g[i].c);
        data_free(&d[i]);
    }
    ok(good, "three products at once");
    if (cr_blas_own())
        ok(same_bytes, "give the bytes of each alone");
    cr_gemms(g, 0); /* touches none of them, whose memory is free */
    cr_thread_pool_stop();
}

/* A row has the bytes that it has among others: prediction of one sample is
 * that of a batch. */
static void test_row(void)
{
    static const struct shape sizes[] = {
        { 9, 40, 33 }, { 70, 517, 300 }, { 3, 5, 1 }, { 12, 200, 2100 }
    };
    bool same = true;
    size_t i;
    int64_t r;

    for (i = 0; i < CR_LEN(sizes); i++) {
        int64_t m = sizes[i].m, n = sizes[i].n, k = sizes[i].k;
        struct data d = data_of(&sizes[i]);
        struct cr_gemm all =
            cr_product(CR_N, CR_N, m, n, k, d.a, d.b, false, d.c);

        all.bias = d.bias;
        all.act = CR_ACT_RELU;
        cr_gemms(&all, 1);
        for (r = 0; r < m; r++) {
            struct cr_gemm one = all;

            one.m = 1;
            one.a = d.a + r * k;
            one.c = d.got;
            cr_gemms(&one, 1);
            same = same && !memcmp(d.got, d.c + r * n,
                                   (size_t)n * sizeof(cr_real));
        }
        data_free(&d);
    }
    if (cr_blas_own())
        ok(same, "a row has the bytes that it has among others");
}

/* Some rows have the bytes that they have among others, with the weight as it
 * lies, too: a batch of prediction may have any size. */
static void test_rows(void)
{
    static const int64_t sizes[] = { 1, 2, 3, 8, 12, 15, 16, 17, 40 };
    bool same = true;
    int i, at;
    int64_t p, j;

    for (i = 0; i < 12; i++) {
        int64_t k = 1 + rand() % (i % 2 ? 300 : 1500), n = 1 + rand() % 90;
        struct shape s = { 70, n, k };
        struct data d = data_of(&s);
        cr_real *turned = numbers(n * k);
        struct cr_gemm all =
            cr_product(CR_N, CR_T, 70, n, k, d.a, d.b, false, d.c);

        for (j = 0; j < n; j++)
            for (p = 0; p < k; p++)
                turned[p * n + j] = d.b[j * k + p];
        cr_gemms(&all, 1);
        for (at = 0; at < 2 * (int)CR_LEN(sizes); at++) {
            int64_t m = sizes[at / 2];
            struct cr_gemm some =
                cr_product(CR_N, at % 2 ? CR_N : CR_T, m, n, k, d.a,
                           at % 2 ? turned : d.b, false, d.got);

            cr_gemms(&some, 1);
            same = same &&
                   !memcmp(d.got, d.c, (size_t)(m * n) * sizeof(cr_real));
        }
        free(turned);
        data_free(&d);
    }
    if (cr_blas_own())
        ok(same, "rows have the bytes that they have among others");
}

/* Rounding on the way in and out gives the bytes of rounding apart. */
static void test_rounding(const struct shape *s)
{
    struct data d = data_of(s);
    int64_t n = s->m * s->n, i;
    cr_real *apart = numbers(n);
    struct cr_gemm g = product(s, 2, 32, &d);
    bool same_bytes = true;
    int relu;

    cr_thread_pool_start(2);
    for (relu = 0; relu < 2; relu++) {
        g.act = CR_ACT_NONE;
        g.round = false;
        g.bias = relu ? d.bias : NULL;
        if (relu) {
            cr_round_to_type(CR_BF16, s->m * s->k, d.a, d.a);
            cr_round_to_type(CR_BF16, s->k * s->n, d.b, d.b);
        }
        cr_gemms(&g, 1);
        cr_round_to_type(CR_BF16, n, g.c, apart);
        for (i = 0; i < n && relu; i++)
            apart[i] = apart[i] < 0 ? 0 : apart[i];
        g.act = relu ? CR_ACT_RELU : CR_ACT_NONE;
        g.round = true;
        cr_gemms(&g, 1);
        same_bytes =
            same_bytes && !memcmp(apart, g.c, (size_t)n * sizeof *apart);
    }
    ok(same_bytes, "%lld x %lld x %lld rounded in the product and after it",
       (long long)s->m, (long long)s->n, (long long)s->k);
    cr_thread_pool_stop();
    free(apart);
    data_free(&d);
}

/* What is not finite goes through, a pair's empty half does not make it NaN;
 * subnormal numbers are 0. */
static void test_low_limits(void)
{
    cr_real a[6] = { (cr_real)NAN, 1, (cr_real)INFINITY, 1, (cr_real)1e-39, 0 };
    cr_real b[2] = { 1, 1 }, c[3] = { 7, 7, 7 }, one[1] = { (cr_real)INFINITY };
    struct cr_gemm g = { .m = 3,
                         .n = 1,
                         .k = 2,
                         .a = a,
                         .b = b,
                         .alpha = 1,
                         .c = c,
                         .bf16 = true,
                         .round = true };

    cr_gemms(&g, 1);
    ok(isnan(c[0]) && isinf(c[1]) && c[2] == 0,
       "bfloat16: NaN, infinity, and a subnormal number as 0");
    g.m = g.k = 1;
    g.a = one;
    cr_gemms(&g, 1);
    ok(isinf(c[0]) && c[0] > 0, "infinity alone in its pair");
}

static void test_low(void)
{
    size_t i;

    if (!cr_gemm_has_bf16()) {
        ok(true, "# SKIP no instructions for bfloat16, or not allowed");
        return;
    }
    test_begin("products of bfloat16, rounded after them too");
    for (i = 0; i < CR_LEN(shapes); i++) {
        test_shape(&shapes[i], low_variants, CR_LEN(low_variants));
        test_rounding(&shapes[i]);
    }
    test_end();
    test_low_limits();
}

/* NaN is not hidden by ReLU or by a mask that is positive. */
static void test_nan(void)
{
    cr_real a[2] = { (cr_real)NAN, 1 }, b[1] = { 1 }, c[2], mask[2] = { 1, 1 };
    struct cr_gemm g = { .m = 2,
                         .n = 1,
                         .k = 1,
                         .a = a,
                         .b = b,
                         .alpha = 1,
                         .c = c,
                         .act = CR_ACT_RELU,
                         .mask = mask };

    cr_gemms(&g, 1);
    ok(isnan(c[0]) && c[1] == 1, "ReLU and mask let NaN through");
}

static void test_sums(void)
{
    static const int64_t widths[] = { 1, 10, 63, 64, 65, 200 };
    size_t q;
    int add;

    for (q = 0; q < sizeof widths / sizeof *widths; q++)
        for (add = 0; add < 2; add++) {
            int64_t cols = widths[q], n = 33, i, j;
            cr_real *x = numbers(n * cols), *to = numbers(cols);
            cr_real *old = numbers(cols);
            bool good = true;

            memcpy(old, to, (size_t)cols * sizeof *to);
            cr_sum_rows(n, cols, CR_REAL, x, (cr_real)-0.5, add, to);
            for (j = 0; j < cols; j++) {
                double sum = 0;

                for (i = 0; i < n; i++)
                    sum += (double)x[i * cols + j];
                sum = -0.5 * sum + (add ? (double)old[j] : 0);
                good = good && fabs(sum - (double)to[j]) < 40 * EPS * 33;
            }
            ok(good, "sums of %lld columns%s", (long long)cols,
               add ? ", added" : "");
            free(x);
            free(to);
            free(old);
        }
}

int main(void)
{
    size_t i;

    printf("# %s, isa %s\n", cr_blas_name(), cr_isa_name(cr_isa()));
    test_begin("products of all shapes, by any number of threads");
    for (i = 0; i < CR_LEN(shapes); i++)
        test_shape(&shapes[i], variants, CR_LEN(variants));
    test_end();
    test_low();
    test_several();
    test_row();
    test_rows();
    test_nan();
    test_begin("sums of columns");
    test_sums();
    return done();
}
