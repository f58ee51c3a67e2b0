/* Products and sums of rows with random settings, on each implementation,
 * against plain loops in double; any split gives the same bytes with cellrun's
 * kernels. */
#include "kernels/gemm.h"

#include "kernels.h"

/* x as bfloat16, to nearest, ties to even. */
static double bfloat16(double x)
{
    int exponent;
    double fraction = frexp(x, &exponent); /* 0.5 <= |fraction| < 1 */

    return ldexp(rint(fraction * 256), exponent - 8);
}

static void relu6(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    (void)attr;
    for (i = 0; i < n; i++)
        y[i] = x[i] < 0 ? 0 : x[i] > 6 ? 6 : x[i];
}

/* What follows sum and bias. */
static double finished(const struct cr_gemm *g, double sum, double more,
                       int64_t at)
{
    double y = (double)g->alpha * (g->round ? bfloat16(sum) : sum) + more;

    if (g->act == CR_ACT_RELU && y < 0)
        y = 0;
    if (g->map)
        y = fmin(fmax(y, 0), 6);
    return g->mask && g->mask[at] <= 0 ? 0 : y;
}

static bool near_naive(const struct cr_gemm *g, const cr_real *old)
{
    int64_t i, j, p;

    for (i = 0; i < g->m; i++)
        for (j = 0; j < g->n; j++) {
            double sum = 0, size = 0, one, other, room;
            double bias = g->bias ? (double)g->bias[j] : 0;
            int64_t at = i * g->n + j;
            double more = old ? (double)old[at] : 0;

            for (p = 0; p < g->k; p++) {
                double x = g->a[g->ta == CR_N ? i * g->k + p : p * g->m + i];
                double y = g->b[g->tb == CR_N ? p * g->n + j : j * g->k + p];

                if (g->bf16)
                    x = bfloat16(x), y = bfloat16(y);
                sum += x * y;
                size += fabs(x * y);
            }
            if (g->round)
                sum += bias, size += fabs(bias);
            else
                more += bias;
            /* rounding makes a step of what is before it a range */
            room = EPS * size * ((double)g->k + 3);
            one = finished(g, sum - room, more, at);
            other = finished(g, sum + room, more, at);
            room = fabs(one - other) / 2 +
                   3 * EPS *
                       (fabs((double)g->alpha * sum) + fabs(bias) +
                        (old ? fabs((double)old[at]) : 0));
            if (!number_near("c", at, (double)g->c[at], (one + other) / 2,
                             room))
                return false;
        }
    return true;
}

static struct cr_gemm draw_product(bool low, const cr_real **old)
{
    struct cr_gemm g = { .bf16 = low };
    double most = draw_one_in(10) ? 3e6 : 1e5;

    do {
        g.m = draw_size(1, 400);
        g.n = draw_size(1, 400);
        g.k = draw_one_in(5) ? draw(0, 2600) : draw_size(1, 300);
    } while ((double)g.m * (double)g.n * (double)g.k > most);
    g.ta = draw_one_in(2) ? CR_T : CR_N;
    g.tb = draw_one_in(2) ? CR_T : CR_N;
    g.alpha = draw_one_in(2) ? 1 : draw_real();
    g.accumulate = draw_one_in(2);
    g.act = draw_one_in(3) ? CR_ACT_RELU : CR_ACT_NONE;
    g.round = low && draw_one_in(2);
    setting_is("(%lld, %lld) (%lld, %lld)%s%s, alpha %g%s%s, %s",
               (long long)g.m, (long long)g.k, (long long)g.k, (long long)g.n,
               g.ta == CR_T ? " ta" : "", g.tb == CR_T ? " tb" : "",
               (double)g.alpha, g.accumulate ? ", added" : "",
               g.round ? ", rounded" : "", cr_blas_name());
    g.a = numbers_new(g.m * g.k);
    g.b = numbers_new(g.k * g.n);
    g.bias = draw_one_in(2) ? numbers_new(g.n) : NULL;
    g.mask = draw_one_in(3) ? numbers_new(g.m * g.n) : NULL;
    if (!low && !g.mask && draw_one_in(2)) {
        g.map = relu6;
        g.map_is = draw_one_in(2) ? CR_ACT_RELU6 : CR_ACT_NONE;
    }
    *old = g.accumulate ? numbers_new(g.m * g.n) : NULL;
    g.c = g.accumulate ? numbers_copy(*old, g.m * g.n)
                       : numbers_undefined(g.m * g.n);
    return g;
}

/* The same product with a b that is packed before. */
static struct cr_gemm packed(const struct cr_gemm *g, const cr_real *old)
{
    struct cr_gemm p = *g;
    cr_real *b = numbers_undefined(cr_gemm_packed_n(g->n) * g->k);

    cr_gemm_pack(g->tb, g->n, g->k, g->b, b);
    p.b = b;
    p.packed = true;
    p.c = old ? numbers_copy(old, g->m * g->n)
              : numbers_undefined(g->m * g->n);
    return p;
}

static enum verdict products_of(bool low)
{
    struct cr_gemm g[2], p;
    const cr_real *old[2];
    int count = draw_one_in(4) ? 2 : 1, i;

    for (i = 0; i < count; i++)
        g[i] = draw_product(low, &old[i]);
    cr_gemms(g, count);
    for (i = 0; i < count; i++)
        if (!near_naive(&g[i], old[i]))
            return WRONG;
    if (low || cr_gemm_packed_n(1) == 0 || draw_one_in(2))
        return RIGHT;
    p = packed(g, old[0]);
    cr_gemms(&p, 1);
    if (g->ta == CR_N &&
        !bytes_same("c of a packed b", p.c, g->c,
                    (size_t)(g->m * g->n) * sizeof *g->c))
        return WRONG;
    p.b = g->b;
    return near_naive(&p, old[0]) ? RIGHT : WRONG;
}

static enum verdict products(void)
{
    return products_of(false);
}

/* A packed b of several spans of lanes: the bytes are those of a plain one, and
 * a row has them in a batch of any size. */
static enum verdict large_packed(void)
{
    int64_t m = draw(1, 40), n, k;
    const cr_real *old;
    struct cr_gemm g, p;

    do {
        n = draw(1, 4200);
        k = draw(1, 3000);
    } while (n * k > 700000 || n * k < 100000);
    setting_is("(%lld, %lld) (%lld, %lld), packed, %s", (long long)m,
               (long long)k, (long long)k, (long long)n, cr_blas_name());
    old = draw_one_in(2) ? numbers_new(m * n) : NULL;
    g = cr_product(CR_N, draw_one_in(2) ? CR_T : CR_N, m, n, k,
                   numbers_new(m * k), numbers_new(k * n), old != NULL,
                   old ? numbers_copy(old, m * n) : numbers_undefined(m * n));
    g.alpha = draw_one_in(2) ? 1 : draw_real();
    p = packed(&g, old);
    cr_gemms(&g, 1);
    cr_gemms(&p, 1);
    if (!bytes_same("c of a packed b", p.c, g.c, (size_t)(m * n) * sizeof *g.c))
        return WRONG;
    g.m = draw(1, m);
    g.c = old ? numbers_copy(old, m * n) : numbers_undefined(m * n);
    cr_gemms(&g, 1);
    return bytes_same("c of fewer rows", g.c, p.c,
                      (size_t)(g.m * n) * sizeof *g.c)
               ? RIGHT
               : WRONG;
}

/* Larger than what is drawn: several blocks of rows, of columns and of k. */
static void blocks(int implementation)
{
    static const struct {
        enum cr_trans ta, tb;
        int64_t m, n, k;
    } shapes[] = {
        { CR_N, CR_T, 300, 290, 1100 }, { CR_N, CR_T, 256, 300, 1030 },
        { CR_N, CR_T, 64, 300, 1100 },  { CR_T, CR_N, 290, 300, 1100 },
        { CR_T, CR_T, 150, 300, 600 },  { CR_N, CR_N, 300, 600, 40 },
    };
    const char *name = implementations[implementation].name;
    bool good = true;
    size_t i;

    if (!implementation_take(implementation)) {
        ok(true, "blocks of a product, %s # SKIP not on this machine", name);
        return;
    }
    for (i = 0; i < CR_LEN(shapes) && good; i++) {
        int64_t m = shapes[i].m, n = shapes[i].n, k = shapes[i].k;
        const cr_real *old = numbers_new(m * n);
        struct cr_gemm g =
            cr_product(shapes[i].ta, shapes[i].tb, m, n, k, numbers_new(m * k),
                       numbers_new(k * n), true, numbers_copy(old, m * n));

        setting_is("(%lld, %lld) (%lld, %lld), %s", (long long)m, (long long)k,
                   (long long)k, (long long)n, cr_blas_name());
        g.alpha = (cr_real)-0.5;
        g.bias = numbers_new(n);
        g.mask = i % 2 ? numbers_new(m * n) : NULL;
        g.act = i % 3 == 0 ? CR_ACT_RELU : CR_ACT_NONE;
        cr_gemms(&g, 1);
        good = near_naive(&g, old) && fences_whole();
        fences_free();
    }
    ok(good, "blocks of a product, %s", name);
    implementation_take(0);
}

static enum verdict low_products(void)
{
    return cr_gemm_has_bf16() ? products_of(true) : DECLINED;
}

/* The parts of a split, one after the other. */
static enum verdict parts_of(cr_gemm_part *part, bool low)
{
    const cr_real *old;
    struct cr_gemm g = draw_product(low, &old), split = g;
    int64_t n = g.m * g.n;
    int parts = (int)draw(2, 9), i;

    if (!low && draw_one_in(3))
        g = split = packed(&g, old);
    split.c = g.accumulate ? numbers_copy(old, n) : numbers_undefined(n);
    part(&g, 0, 1);
    for (i = 0; i < parts; i++)
        part(&split, i, parts);
    return bytes_same("c in parts", split.c, g.c, (size_t)n * sizeof *g.c)
               ? RIGHT
               : WRONG;
}

static enum verdict parts(void)
{
#if defined(__x86_64__) && !defined(CR_DOUBLE)
    if (cr_isa() == CR_ISA_AVX512)
        return parts_of(cr_gemm_avx512.part, false);
    if (cr_isa() == CR_ISA_AVX2)
        return parts_of(cr_gemm_avx2.part, false);
#endif
    return parts_of(cr_gemm_portable.part, false);
}

static enum verdict low_parts(void)
{
    return parts_of(cr_gemm_bf16, true);
}

/* to[j] = alpha sum_i x[i][j] + (add ? to[j] : 0) */
static enum verdict sums(void)
{
    int64_t n = draw_size(1, 300), cols = draw_size(1, 300), i, j;
    bool add = draw_one_in(2);
    cr_real alpha = draw_real(), *x, *old, *to;

    setting_is("sums of (%lld, %lld), %s", (long long)n, (long long)cols,
               cr_blas_name());
    x = numbers_new(n * cols);
    old = numbers_new(cols);
    to = add ? numbers_copy(old, cols) : numbers_undefined(cols);
    cr_sum_rows(n, cols, CR_REAL, x, alpha, add, to);
    for (j = 0; j < cols; j++) {
        double sum = 0, size = 0;

        for (i = 0; i < n; i++) {
            sum += (double)x[i * cols + j];
            size += fabs((double)x[i * cols + j]);
        }
        if (!number_near("sum", j, (double)to[j],
                         (double)alpha * sum + (add ? (double)old[j] : 0),
                         EPS * (size + 1) * (double)(n + 3)))
            return WRONG;
    }
    return RIGHT;
}

int main(void)
{
    int i;

    kernels_begin(300);
    for (i = 0; i < ALL; i++)
        blocks(i); /* on one thread, which so has several */
    cr_thread_pool_start(3);
    for (i = 0; i < ALL; i++) {
        kernel_compare("product", i, products);
        if (implementation_take(i) && cr_gemm_packed_n(1) > 0)
            kernel_compare("product with a large packed b", i, large_packed);
        kernel_compare("sums of rows", i, sums);
        if (i < OWN && (i == 0 || sizeof(cr_real) == sizeof(float)))
            kernel_compare("product, in parts", i, parts);
    }
    implementation_take(0);
    if (implementation_take(OWN - 1) && cr_gemm_has_bf16()) {
        cr_gemm_bf16_amx(false);
        kernel_compare("product of bfloat16", OWN - 1, low_products);
        kernel_compare("product of bfloat16, in parts", OWN - 1, low_parts);
        if (implementation_take(OWN - 1) && cr_gemm_bf16_amx(true)) {
            kernel_compare("product of bfloat16, AMX", OWN - 1, low_products);
            kernel_compare("product of bfloat16, AMX, in parts", OWN - 1,
                           low_parts);
        } else {
            ok(true, "product of bfloat16, AMX # SKIP not on this machine");
        }
    } else {
        ok(true, "product of bfloat16 # SKIP not on this machine");
    }
    cr_thread_pool_stop();
    return done();
}
