/* Products of low precision, whatever of them takes two bytes or is rounded on
 * its way: the bytes that casts around a product of float32 give, which
 * t_gemm.c compares with plain loops. */
#include "kernels/blas.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/thread_pool.h"
#include "bernoulli.h"
#include "num/low_precision.h"
#include "tap.h"

#ifdef CR_DOUBLE
#define FMA fma
#else
#define FMA fmaf
#endif

static uint32_t seed = 1;
static bool sums_alone; /* only they are compared */

static uint32_t draw(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static void *room(int64_t n, size_t size)
{
    return malloc((size_t)(n > 0 ? n : 1) * size);
}

/* One in eight is subnormal in float16, and one gives products that are
 * infinite there. */
static cr_real *numbers(int64_t n)
{
    cr_real *x = room(n, sizeof *x);
    int64_t i;

    for (i = 0; i < n; i++) {
        uint32_t size = draw(8);

        x[i] = (cr_real)ldexp((double)draw(1 << 24) / (1 << 23) - 1,
                              size == 0 ? -16 : size == 1 ? 15 : 0);
    }
    return x;
}

/* Any operand: what the product reads in *to, and its values rounded where it
 * rounds them. */
static enum cr_low operand(enum cr_type type, bool roundable, int64_t n,
                           cr_real **value, cr_real **to)
{
    enum cr_low low = draw(3);

    if (low == CR_LOW_ROUNDED && !roundable)
        low = CR_LOW_NONE;
    *value = numbers(n);
    *to = room(n, sizeof **to);
    memcpy(*to, *value, (size_t)n * sizeof **to);
    if (low != CR_LOW_NONE)
        cr_round_to_type(type, n, *value, *value);
    if (low == CR_LOW_TWO_BYTES)
        cr_narrow(type, n, *value, (uint16_t *)(void *)*to);
    return low;
}

/* What follows the product and its rounding, in the order of struct cr_gemm. */
static void finish(const struct cr_gemm *g, const cr_real *mask,
                   const cr_real *old, cr_real *y)
{
    int64_t n = g->m * g->n, i;

    for (i = 0; i < n && g->bias; i++)
        y[i] += g->bias[i % g->n];
    cr_round_to_type(g->low, n, y, y);
    for (i = 0; i < n; i++) {
        y[i] = g->accumulate ? (cr_real)FMA(g->alpha, y[i], old[i])
                             : g->alpha * y[i];
        if (g->act == CR_ACT_RELU && y[i] < 0)
            y[i] = 0;
        if (mask && mask[i] <= 0)
            y[i] = 0;
    }
}

/* Any gradient. */
static void slope(const void *attr, int64_t n, const cr_real *x,
                  const cr_real *y, const cr_real *dy, cr_real *d)
{
    int64_t i;

    (void)attr;
    (void)x;
    for (i = 0; i < n; i++)
        d[i] = y[i] < 0 ? dy[i] / 3 : dy[i];
}

/* Any function. */
static void curve(const void *attr, int64_t n, const cr_real *x, cr_real *y)
{
    int64_t i;

    (void)attr;
    for (i = 0; i < n; i++)
        y[i] = x[i] < 0 ? x[i] / 5 : 3 * x[i];
}

/* What is done to the result after that, at random. */
struct more {
    struct cr_drop drop;
    cr_real *bias, *add, *add_in, *seen, *seen_in, *sums, *sums_before;
    cr_real *mapped;
};

static void draw_more(struct cr_gemm *g, struct more *to)
{
    int64_t n = g->m * g->n;
    enum cr_low seen;

    to->drop = (struct cr_drop){ .rng = cr_rng(draw(100), 1, draw(100), 2),
                                 .keep = draw(100) / 100.0,
                                 .first = draw(1000) };
    to->bias = numbers(g->n);
    to->mapped = numbers(n);
    g->add_low = operand(g->low, false, n, &to->add, &to->add_in);
    seen = operand(g->low, false, n, &to->seen, &to->seen_in);
    if (!g->mask && draw(4) == 0) {
        g->map_grad = slope;
        g->seen = to->seen_in;
        g->mask_low = seen;
        if ((g->round || g->c_low == CR_LOW_NONE) && draw(2)) {
            g->map = curve;
            g->map_to = to->mapped;
        }
    } else if (!g->mask && (g->round || g->c_low == CR_LOW_NONE)) {
        g->late_bias = draw(2) ? to->bias : NULL;
        g->map = draw(3) == 0 ? curve : NULL;
        g->drop = !g->map && draw(2) ? &to->drop : NULL;
        g->add = !g->map && draw(2) ? to->add_in : NULL;
        if (g->map && draw(2))
            g->map_to = to->mapped;
    }
    if (!g->add)
        g->add_low = CR_LOW_NONE;
    to->sums = numbers(g->m);
    to->sums_before = room(g->m, sizeof(cr_real));
    memcpy(to->sums_before, to->sums, (size_t)g->m * sizeof(cr_real));
    g->sums =
        g->ta == CR_T && g->a_low != CR_LOW_ROUNDED ? to->sums : NULL;
    g->sums_alpha = -2;
    g->sums_accumulate = draw(2);
}

/* Of a, whose numbers are those. */
static bool good_sums(const struct cr_gemm *g, const struct more *more,
                      const cr_real *a)
{
    int64_t i, p;

    for (i = 0; i < g->m && g->sums; i++) {
        double before = g->sums_accumulate ? (double)more->sums_before[i] : 0;
        double sum = 0, size = fabs(before);

        for (p = 0; p < g->k; p++) {
            sum += (double)a[p * g->m + i];
            size += fabs((double)a[p * g->m + i]);
        }
        if (!(fabs((double)g->sums[i] + 2 * sum - before) <=
              1e-7 * (double)(g->k + 8) * size))
            return false;
    }
    return true;
}

static void finish_more(const struct cr_gemm *g, const struct more *more,
                        cr_real *y)
{
    int64_t n = g->m * g->n, i;
    int part;

    for (part = 0; part < 5; part++) {
        if (part == 0 ? !g->map_grad
            : part == 1 ? !g->late_bias
            : part == 2 ? !g->drop
            : part == 3 ? !g->add
                        : !g->map || g->map_to)
            continue;
        for (i = 0; i < n; i++)
            if (part == 0)
                slope(NULL, 1, NULL, more->seen + i, y + i, y + i);
            else if (part == 1)
                y[i] += g->late_bias[i % g->n];
            else if (part == 2)
                y[i] = bernoulli(&g->drop->rng, (uint64_t)(g->drop->first + i),
                                 g->drop->keep)
                           ? y[i] * (cr_real)(1 / g->drop->keep)
                           : 0;
            else if (part == 3)
                y[i] += more->add[i];
            else
                curve(NULL, 1, y + i, y + i);
        if (g->round)
            cr_round_to_type(g->low, n, y, y);
    }
}

/* Of what the map got, which c or seen keeps: it is rounded as c is, and stored
 * so. */
static bool good_map(const struct cr_gemm *g, const struct more *more,
                     const cr_real *c)
{
    int64_t i;
    cr_real y, got;

    for (i = 0; i < g->m * g->n && g->map_to; i++) {
        curve(NULL, 1, (g->map_grad ? more->seen : c) + i, &y);
        if (g->round)
            cr_round_to_type(g->low, 1, &y, &y);
        if (g->c_low == CR_LOW_TWO_BYTES)
            cr_widen(g->low, 1, (const uint16_t *)(void *)g->map_to + i, &got);
        else
            got = g->map_to[i];
        if (memcmp(&y, &got, sizeof y) != 0)
            return false;
    }
    return true;
}

/* A copy of b in the order of a product of few rows, which g reads instead;
 * NULL: it has many, or no such b. */
static void *turn(struct cr_gemm *g, const cr_real *b)
{
    struct cr_gemm t = { .m = g->m, .n = g->n, .k = g->k, .b = b,
                         .bf16 = g->bf16,
                         .low = g->bf16 || g->b_low != CR_LOW_NONE ? g->low
                                                                   : CR_REAL };
    size_t bytes = g->tb == CR_T && draw(4) > 0 ? cr_gemm_turned(&t) : 0;
    void *to = NULL;

    if (bytes > 0 && posix_memalign(&to, 64, bytes) == 0) {
        cr_gemm_turn(&t, to);
        cr_gemm_take_turned(g, t.low, to);
    }
    return to;
}

static bool one(int64_t m, int64_t n, int64_t k)
{
    cr_real *a, *b, *mask, *bias = numbers(n), *old = numbers(m * n);
    cr_real *want = room(m * n, sizeof *want), *got = numbers(m * n);
    cr_real *wide = room(m * n, sizeof *wide), *a_in, *b_in, *mask_in;
    struct cr_gemm g = { .ta = draw(2) ? CR_T : CR_N,
                         .tb = draw(2) ? CR_T : CR_N,
                         .m = m,
                         .n = n,
                         .k = k,
                         .low = draw(2) ? CR_F16 : CR_BF16,
                         .alpha = draw(2) ? 1 : (cr_real)-0.125,
                         .bias = draw(2) ? bias : NULL,
                         .act = draw(2) ? CR_ACT_RELU : CR_ACT_NONE,
                         .round = draw(2),
                         .c_low = draw(2) ? CR_LOW_TWO_BYTES : CR_LOW_NONE,
                         .bf16 = cr_gemm_has_bf16() && draw(3) == 0 };
    struct cr_gemm plain;
    struct more more;
    bool same, masked = draw(2);
    void *turned;

    if (g.bf16)
        g.low = CR_BF16;
    g.a_low = operand(g.low, !g.bf16, m * k, &a, &a_in);
    g.b_low = operand(g.low, !g.bf16, k * n, &b, &b_in);
    g.mask_low = operand(g.low, false, m * n, &mask, &mask_in);
    g.accumulate = g.c_low == CR_LOW_NONE && !masked && draw(2);
    if (g.round) {
        plain = cr_product(g.ta, g.tb, m, n, k, a, b, false, want);
        plain.bf16 = g.bf16;
        cr_gemms(&plain, 1);
        finish(&g, masked ? mask : NULL, old, want);
    } else {
        plain = g;
        plain.a_low = plain.b_low = plain.c_low = plain.mask_low = CR_LOW_NONE;
        plain.a = a;
        plain.b = b;
        plain.mask = masked ? mask : NULL;
        plain.c = memcpy(want, old, (size_t)(m * n) * sizeof *want);
        cr_gemms(&plain, 1);
    }
    if (g.c_low == CR_LOW_TWO_BYTES)
        cr_round_to_type(g.low, m * n, want, want);
    g.mask = masked ? mask_in : NULL;
    if (!masked)
        g.mask_low = CR_LOW_NONE;
    draw_more(&g, &more);
    finish_more(&g, &more, want);
    if (g.c_low == CR_LOW_TWO_BYTES)
        cr_round_to_type(g.low, m * n, want, want);
    g.a = a_in;
    g.b = b_in;
    turned = turn(&g, b);
    g.c = got;
    if (g.accumulate)
        memcpy(got, old, (size_t)(m * n) * sizeof *got);
    cr_gemms(&g, 1);
    if (g.c_low == CR_LOW_TWO_BYTES)
        cr_widen(g.low, m * n, (const uint16_t *)(void *)got, wide);
    else
        memcpy(wide, got, (size_t)(m * n) * sizeof *wide);
    same = (sums_alone ||
            memcmp(wide, want, (size_t)(m * n) * sizeof *want) == 0) &&
           good_sums(&g, &more, a) && good_map(&g, &more, wide);
    if (!same)
        printf("# %lld x %lld x %lld: low of a %d, b %d%s, c %d, mask %d, "
               "round %d, add %d, more %d %d %d %d %d %d, %s\n",
               (long long)m, (long long)n, (long long)k, g.a_low, g.b_low,
               turned ? " turned" : "", g.c_low, g.mask_low, g.round,
               g.accumulate, !!g.map_grad, !!g.late_bias, !!g.drop, !!g.add,
               !!g.map, !!g.map_to, cr_type_name(g.low));
    free(a), free(b), free(mask), free(bias), free(old), free(want), free(got);
    free(wide), free(a_in), free(b_in), free(mask_in);
    free(more.bias), free(more.add), free(more.add_in), free(more.seen);
    free(more.seen_in), free(more.sums), free(more.sums_before);
    free(more.mapped), free(turned);
    return same;
}

/* Sizes with remainders of every block, and beyond one block of each. */
static int64_t size(bool large)
{
    return large && draw(4) == 0 ? 1000 + draw(1200) : 1 + draw(90);
}

static void test(void)
{
    int64_t m, n, k;
    int i;

    for (i = 0; i < 400; i++) {
        int large = (int)draw(3);

        m = size(large == 0);
        n = size(large == 1);
        k = size(large == 2);
        if (draw(3) == 0) /* few rows, or one */
            m = draw(2) ? 1 : 1 + draw(15);
        cr_thread_pool_start(1 + (int)draw(3));
        ok(one(m, n, k), "%lld x %lld x %lld", (long long)m, (long long)n,
           (long long)k);
        cr_thread_pool_stop();
    }
}

static void test_nan(enum cr_type type)
{
    cr_real one = 1, b[37], y[37];
    uint16_t c[37];
    struct cr_gemm g;
    int i;

    for (i = 0; i < 37; i++)
        b[i] = i % 3 ? (cr_real)NAN : 1;
    g = cr_product(CR_N, CR_N, 1, 37, 1, &one, b, false,
                   (cr_real *)(void *)c);
    g.low = type;
    g.c_low = CR_LOW_TWO_BYTES;
    cr_gemms(&g, 1);
    cr_widen(type, 37, c, y);
    for (i = 0; i < 37; i++)
        ok(i % 3 ? isnan(y[i]) : y[i] == 1, "%s: number %d of 37",
           cr_type_name(type), i);
}

int main(void)
{
    static const char *const libraries[] = { "plain", "openblas", "onednn" };
    size_t i;
    int isa;

    for (isa = (int)cr_isa_best(); isa >= 0; isa--) {
        if (!cr_isa_force((enum cr_isa)isa))
            continue;
        cr_blas_force("own"); /* libraries add up in another order */
        test_begin("%s: casts in a product and around it", cr_blas_name());
        test();
        test_end();
        test_begin("%s: NaN", cr_blas_name());
        test_nan(CR_F16);
        test_nan(CR_BF16);
        test_end();
    }
    sums_alone = true; /* libraries add up in another order */
    for (i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        if (!cr_blas_force(libraries[i]))
            continue;
        test_begin("%s: sums of rows", cr_blas_name());
        test();
        test_end();
    }
    return done();
}
