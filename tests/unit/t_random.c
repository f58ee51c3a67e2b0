/*
 * The random functions of construct: their distributions by closed forms, and
 * what their numbers depend on. Seeds are fixed; bounds are 4.5 standard
 * deviations of what is measured.
 */
#include <math.h>

#include "base/thread_pool.h"
#include "nets.h"

#define SIGMAS 4.5

/* A network of one line over x (batch, width); its output as n numbers. */
struct drawn {
    struct made m;
    struct cr_exec *exec;
    struct cr_spec spec;
    double *y;
    int64_t n;
};

static void drawn_read(struct drawn *d)
{
    const void *data = cr_exec_output(d->exec, &d->spec);

    d->n = cr_count(&d->spec);
    d->y = CR_NEWS(&d->m.arena, double, d->n + 1);
    cr_convert(d->spec.type, data, CR_F64, d->y, d->n);
}

static bool draw(struct drawn *d, const char *line, int64_t batch,
                 int64_t width, struct cr_exec_opts want, int64_t t)
{
    const struct shape s = { .x = { .rank = 1, .dim = { width } },
                             .classes = 3 };
    static char text[500];

    snprintf(text, sizeof text,
             "network: {inputs: [x], cells: {same: Identity}, construct: "
             "\"return cast(%s, float32) + 0 * same(x)[0, 0]\"}\n",
             line);
    if (!made_ok(&d->m, text, s, batch))
        return false;
    d->exec = made_exec(&d->m, want);
    if (!d->exec)
        return false;
    cr_exec_forward(d->exec, t);
    drawn_read(d);
    return true;
}

static void drawn_free(struct drawn *d)
{
    cr_exec_free(d->exec);
    made_free(&d->m);
}

static const struct cr_exec_opts training = { .training = true };

/* The mean of f(y)^power about `about`, against `expected`, whose standard
 * deviation is `deviation`. */
static void moment(const struct drawn *d, const char *what, double about,
                   int power, double expected, double deviation)
{
    double sum = 0;
    int64_t i;

    for (i = 0; i < d->n; i++)
        sum += pow(d->y[i] - about, power);
    sum /= (double)d->n;
    ok(fabs(sum - expected) < SIGMAS * deviation, "%s: %.6f is %.6f", what, sum,
       expected);
}

/* Counts of cells of equal or given probability: chi^2 has k - 1 degrees of
 * freedom, so a variance of 2 (k - 1). */
static void chi2(const struct drawn *d, const char *what, int k,
                 const double *p, double low, double width)
{
    double sum = 0, *count = CR_NEWS((struct cr_arena *)(uintptr_t)&d->m.arena,
                                     double, k);
    int64_t i, outside = 0;

    for (i = 0; i < d->n; i++) {
        double at = floor((d->y[i] - low) / width);

        if (at < 0 || at >= k)
            outside++;
        else
            count[(int)at]++;
    }
    for (i = 0; i < k; i++) {
        double e = (double)d->n * (p ? p[i] : 1.0 / k);

        sum += (count[i] - e) * (count[i] - e) / e;
    }
    ok(outside == 0, "%s: none is out of range", what);
    ok(fabs(sum - (k - 1)) < SIGMAS * sqrt(2.0 * (k - 1)),
       "%s: chi^2 of %d is %.1f", what, k - 1, sum);
}

static void uniform(void)
{
    struct drawn d;
    double n = 100000;

    test_begin("uniform(shape, minval, maxval)");
    if (draw(&d, "uniform((100, 1000), -1.0, 3.0)", 2, 2, training, 1)) {
        moment(&d, "mean", 0, 1, 1, sqrt(16.0 / 12 / n));
        moment(&d, "variance", 1, 2, 16.0 / 12, sqrt(16.0 * 16 / 180 / n));
        chi2(&d, "64 cells", 64, NULL, -1, 4.0 / 64);
        drawn_free(&d);
    }
    if (draw(&d, "uniform((100, 1000), 2, 7, dtype=int32)", 2, 2, training,
             1)) {
        chi2(&d, "whole numbers", 5, NULL, 2, 1);
        drawn_free(&d);
    }
    test_end();
}

static void normal(void)
{
    struct drawn d;
    double n = 100000;

    test_begin("normal(shape, mean, stddev) and standard_normal(shape)");
    if (draw(&d, "normal((100, 1000), 2.0, 3.0)", 2, 2, training, 1)) {
        moment(&d, "mean", 0, 1, 2, 3 / sqrt(n));
        moment(&d, "variance", 2, 2, 9, 9 * sqrt(2 / n));
        drawn_free(&d);
    }
    if (draw(&d, "standard_normal((100, 1000))", 2, 2, training, 1)) {
        moment(&d, "skewness", 0, 3, 0, sqrt(15 / n));
        moment(&d, "kurtosis", 0, 4, 3, sqrt(96 / n));
        moment(&d, "sixth moment", 0, 6, 15, sqrt(10170 / n));
        drawn_free(&d);
    }
    test_end();
}

static void bernoulli(void)
{
    struct drawn d;
    double n = 100000;

    test_begin("bernoulli(input, p)");
    if (draw(&d, "bernoulli(x, 0.3)", 100, 1000, training, 1)) {
        moment(&d, "mean", 0, 1, 0.3, sqrt(0.21 / n));
        chi2(&d, "zeros and ones", 2, (const double[]){ 0.7, 0.3 }, 0, 1);
        drawn_free(&d);
    }
    if (draw(&d, "bernoulli(x, zeros_like(x) + 0.9)", 100, 1000, training, 1)) {
        moment(&d, "mean of a tensor's p", 0, 1, 0.9, sqrt(0.09 / n));
        drawn_free(&d);
    }
    test_end();
}

static void randint(void)
{
    struct drawn d;

    test_begin("randint(low, high, size)");
    if (draw(&d, "randint(-3, 7, (100, 1000))", 2, 2, training, 1)) {
        chi2(&d, "-3 to 6", 10, NULL, -3, 1);
        drawn_free(&d);
    }
    test_end();
}

static void multinomial(void)
{
    static const char *const without =
        "multinomial(concat([x * 0 + 1, x * 0 + 2, x * 0, x * 0 + 5], 1), 3, "
        "replacement=False)";
    static const double p[] = { 0.125, 0.25, 1e-12, 0.625 };
    double pair = 0, first[4] = { 0 }, n;
    int64_t i, twice = 0, last = 0;
    struct drawn d;

    test_begin("multinomial(input, num_samples, replacement)");
    if (draw(&d,
             "multinomial(concat([x * 0 + 1, x * 0 + 2, x * 0, x * 0 + 5], "
             "1), 25000)",
             4, 1, training, 1)) {
        chi2(&d, "weights 1 2 0 5", 4, p, 0, 1);
        drawn_free(&d);
    }
    if (draw(&d, without, 20000, 1, training, 1)) {
        n = (double)d.n / 3;
        for (i = 0; i < d.n; i += 3) {
            first[(int)d.y[i]]++;
            pair += d.y[i] == 3 && d.y[i + 1] == 0;
            twice += d.y[i] == d.y[i + 1] || d.y[i] == d.y[i + 2] ||
                     d.y[i + 1] == d.y[i + 2];
            last += d.y[i] == 2 || d.y[i + 1] == 2 || d.y[i + 2] == 2;
        }
        ok(twice == 0, "no class comes twice");
        ok(last == 0, "a class without weight comes last");
        for (i = 0; i < 4; i++)
            ok(fabs(first[i] / n - p[i]) <=
                   SIGMAS * sqrt(p[i] * (1 - p[i]) / n),
               "class %d comes first with %.4f", (int)i, first[i] / n);
        /* 5/8 1/3 */
        ok(fabs(pair / n - 5.0 / 24) < SIGMAS * sqrt(5.0 / 24 * 19 / 24 / n),
           "3, then 0 with %.4f", pair / n);
        drawn_free(&d);
    }
    test_end();
}

static const char *const lines[] = {
    "uniform(shape(x), 0.0, 1.0)",
    "standard_normal(shape(x))",
    "bernoulli(x, 0.5)",
    "randint(0, 100, shape(x))",
    "multinomial(abs(x) + 0.1, 5)",
    "multinomial(abs(x) + 0.1, 5, replacement=False)",
};

/* Whether the rows of `part` are those of `all` from `row` on. */
static bool rows_of(const struct drawn *part, const struct drawn *all,
                    int64_t row)
{
    int64_t each = part->n / part->spec.dim[0];

    return memcmp(part->y, all->y + row * each,
                  (size_t)part->n * sizeof *part->y) == 0;
}

/* x is the same in each row, so that multinomial's weights are. */
static void same_rows(struct drawn *d)
{
    cr_real *x = d->m.data[0];
    int64_t i, each = cr_count(&d->m.columns[0].spec);

    for (i = 0; i < each * d->m.batch; i++)
        x[i] = (cr_real)(i % each) / 7;
}

static bool draw_rows(struct drawn *d, const char *line, int64_t batch,
                      struct cr_exec_opts want, int64_t t)
{
    if (!draw(d, line, batch, 7, want, t))
        return false;
    same_rows(d);
    cr_exec_forward(d->exec, t);
    drawn_read(d);
    return true;
}

static void keys(void)
{
    struct cr_exec_opts eager = { .training = true, .eager = true };
    struct drawn a, b;
    size_t i;

    test_begin("what the numbers depend on");
    for (i = 0; i < CR_LEN(lines); i++) {
        if (!draw_rows(&a, lines[i], 60, training, 3))
            continue;
        b = a;
        cr_thread_pool_start(3);
        cr_exec_forward(a.exec, 3);
        drawn_read(&a);
        ok(rows_of(&b, &a, 0), "%s: not on threads", lines[i]);
        cr_thread_pool_start(1);
        cr_exec_forward(a.exec, 4);
        drawn_read(&a);
        ok(!rows_of(&b, &a, 0), "%s: on the update", lines[i]);
        a.y = b.y; /* those of update 3 */
        if (draw_rows(&b, lines[i], 60, eager, 3)) {
            ok(rows_of(&b, &a, 0), "%s: not on fusing", lines[i]);
            drawn_free(&b);
        }
        drawn_free(&a);
    }
    test_end();
}

static void samples(void)
{
    struct drawn all, part;
    size_t i;

    test_begin("the number of a sample");
    for (i = 0; i < CR_LEN(lines); i++) {
        if (!draw_rows(&all, lines[i], 60, training, 2) ||
            !draw_rows(&part, lines[i], 20, training, 1))
            continue;
        cr_net_grad_accum(part.m.net, 3); /* an update of 3 micro-batches */
        cr_exec_forward(part.exec, 4);
        drawn_read(&part);
        ok(rows_of(&part, &all, 0), "%s: micro-batch 1", lines[i]);
        cr_exec_forward(part.exec, 6);
        drawn_read(&part);
        ok(rows_of(&part, &all, 40), "%s: micro-batch 3", lines[i]);
        drawn_free(&part);
        drawn_free(&all);
        if (!draw_rows(&all, lines[i], 60, (struct cr_exec_opts){ 0 }, 0) ||
            !draw_rows(&part, lines[i], 20, (struct cr_exec_opts){ 0 }, 0))
            continue;
        cr_exec_before(part.exec, 40);
        cr_exec_forward(part.exec, 0);
        drawn_read(&part);
        ok(rows_of(&part, &all, 40), "%s: a later batch of prediction",
           lines[i]);
        drawn_free(&part);
        drawn_free(&all);
    }
    test_end();
}

int main(void)
{
    cr_thread_pool_start(1);
    uniform();
    normal();
    bernoulli();
    randint();
    multinomial();
    keys();
    samples();
    return done();
}
