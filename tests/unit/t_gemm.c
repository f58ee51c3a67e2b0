/* Products: every shape, transposition and epilogue against plain loops in
 * double, and the same bytes for any number of threads. */
#include "math/blas.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/par.h"
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

struct want {
    double value, room; /* and how far off rounding may take it */
};

static struct want wanted(const struct cr_gemm *g, const cr_real *c, int64_t i,
                          int64_t j)
{
    double sum = 0, size = 0, value;
    int64_t p, at = i * g->n + j;

    for (p = 0; p < g->k; p++) {
        double x = g->a[g->ta == CR_N ? i * g->k + p : p * g->m + i];
        double y = g->b[g->tb == CR_N ? p * g->n + j : j * g->k + p];

        sum += x * y;
        size += fabs(x * y);
    }
    value = (double)g->alpha * sum;
    size = fabs((double)g->alpha) * size;
    if (g->add) {
        value += (double)c[at];
        size += fabs((double)c[at]);
    }
    if (g->bias) {
        value += (double)g->bias[j];
        size += fabs((double)g->bias[j]);
    }
    if (g->act == CR_ACT_RELU && value < 0)
        value = 0;
    if (g->mask && g->mask[at] <= 0)
        value = 0;
    return (struct want){ value, EPS * size * ((double)g->k + 3) };
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
    { 3, 4100, 3 },   { 4100, 3, 3 },
};

/* All operands of one product; `c` is what it is given to add to. */
struct data {
    cr_real *a, *b, *c, *bias, *mask, *got;
};

/* variant: bits for add, bias, ReLU, mask, alpha. */
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
                             .add = variant & 1,
                             .c = d->got,
                             .bias = variant & 2 ? d->bias : NULL,
                             .act = variant & 4 ? CR_ACT_RELU : CR_ACT_NONE,
                             .mask = variant & 8 ? d->mask : NULL };
}

static const int variants[] = { 0, 1, 2, 4, 8, 16, 17, 6, 31, 25 };

static bool near_all(const struct cr_gemm *g, const cr_real *c)
{
    int64_t i, j, step = g->m * g->n * g->k > 1000000 ? 7 : 1;

    for (i = 0; i < g->m; i++)
        for (j = i % step; j < g->n; j += step) {
            struct want w = wanted(g, c, i, j);
            double got = (double)g->c[i * g->n + j];

            if (!(fabs(got - w.value) <= w.room)) {
                printf("# c[%lld][%lld] is %.9g, not %.9g\n", (long long)i,
                       (long long)j, got, w.value);
                return false;
            }
        }
    return true;
}

static struct data data_of(const struct shape *s)
{
    return (struct data){ numbers(s->m * s->k), numbers(s->k * s->n),
                          numbers(s->m * s->n), numbers(s->n),
                          numbers(s->m * s->n), numbers(s->m * s->n) };
}

static void data_free(struct data *d)
{
    free(d->a);
    free(d->b);
    free(d->c);
    free(d->bias);
    free(d->mask);
    free(d->got);
}

/* What is not added to must be overwritten, whatever stands there. */
static void prepare(const struct cr_gemm *g, const struct data *d)
{
    int64_t i;

    for (i = 0; i < g->m * g->n; i++)
        g->c[i] = g->add ? d->c[i] : (cr_real)NAN;
}

/* Only our kernels promise the same bytes for any split. */
static bool is_own(void)
{
    return strncmp(cr_blas_name(), "own", 3) == 0;
}

static void test_shape(const struct shape *s)
{
    struct data d = data_of(s);
    size_t bytes = (size_t)(s->m * s->n) * sizeof(cr_real);
    cr_real *first = malloc(bytes);
    bool good = true, same_bytes = true;
    int trans, threads;
    size_t v, step = s->m * s->n * s->k > 1000000 ? 4 : 1;

    for (trans = 0; trans < 4; trans++)
        for (v = 0; v < sizeof variants / sizeof *variants; v += step) {
            struct cr_gemm g = product(s, trans, variants[v], &d);

            for (threads = 1; threads <= 5; threads += 2) {
                cr_par_start(threads);
                prepare(&g, &d);
                cr_gemms(&g, 1);
                if (threads == 1) {
                    good = near_all(&g, d.c) && good;
                    memcpy(first, g.c, bytes);
                } else {
                    same_bytes = same_bytes && !memcmp(first, g.c, bytes);
                }
            }
        }
    ok(good, "%s: %lld x %lld x %lld", cr_blas_name(), (long long)s->m,
       (long long)s->n, (long long)s->k);
    if (is_own())
        ok(same_bytes, "the same bytes with 1, 3 and 5 threads");
    free(first);
    data_free(&d);
    cr_par_stop();
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

    cr_par_start(2);
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
    if (is_own())
        ok(same_bytes, "give the bytes of each alone");
    cr_gemms(g, 0);
    ok(true, "none at all");
    cr_par_stop();
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
            cr_sum_rows(n, cols, x, (cr_real)-0.5, add, to);
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
    for (i = 0; i < sizeof shapes / sizeof *shapes; i++)
        test_shape(&shapes[i]);
    test_several();
    test_nan();
    test_sums();
    return done();
}
