/*
 * The density estimates of the method tpe against the definitions of the paper,
 * integrals, and a minimum that is known.
 */
#include "sweep/parzen.h"
#include "tap.h"

#include <math.h>

static const struct cr_parzen_axis line = { .min = -1, .max = 3 };

static double density(const struct cr_parzen *p, double x)
{
    return exp(cr_parzen_log_density(p, &x));
}

/* Phi((to - m) / s) - Phi((from - m) / s), by Simpson's rule on the density. */
static double mass(double m, double s, double from, double to)
{
    const int n = 2000;
    double h = (to - from) / n, sum = 0;

    for (int i = 0; i <= n; i++) {
        double z = (from + i * h - m) / s;

        sum += (i == 0 || i == n ? 1 : i % 2 ? 4 : 2) * exp(-0.5 * z * z);
    }
    return sum * h / 3 / (s * sqrt(2 * acos(-1)));
}

static double gauss(double x, double m, double s)
{
    return exp(-0.5 * (x - m) * (x - m) / (s * s)) /
           (s * sqrt(2 * acos(-1))) / mass(m, s, -1, 3);
}

static void test_density(void)
{
    struct cr_arena arena = { 0 };
    const double x[2] = { 0, 0.5 };
    struct cr_parzen p = cr_parzen_fit(&arena, &line, 1, x, 2);
    double want, sum = 0, at = 0.3;

    /* the prior is at 1 with the range as width; 0.5 has the neighbours 0 and
     * 1; 4 / min(100, 1 + 3) = 1 is the least width */
    want = (gauss(at, 0, 1) + gauss(at, 0.5, 1) + gauss(at, 1, 4)) / 3;
    ok(fabs(density(&p, at) / want - 1) < 1e-6,
       "a density is the mean of truncated Gaussians");
    for (int i = 0; i < 4000; i++)
        sum += density(&p, -1 + (i + 0.5) / 1000) / 1000;
    ok(fabs(sum - 1) < 1e-5, "a density integrates to 1");
    cr_arena_free(&arena);
}

static void test_widths(void)
{
    struct cr_arena arena = { 0 };
    const struct cr_parzen_axis axis = { .min = 0, .max = 100 };
    double x[9] = { 0, 1, 2, 3, 4, 90, 91, 92, 70 };
    struct cr_parzen p = cr_parzen_fit(&arena, &axis, 1, x, 9);

    ok(p.sigma[4] == 46 && p.sigma[8] == 20,
       "a width is the larger distance to the neighbours, prior included");
    ok(fabs(p.sigma[1] - 100.0 / 11) < 1e-12,
       "a width is at least the range over 1 + the number of components");
    cr_arena_free(&arena);
}

static void test_discrete(void)
{
    struct cr_arena arena = { 0 };
    const struct cr_parzen_axis axes[2] = {
        { .n = 3 }, { .integer = true, .log = true, .min = 2, .max = 40 }
    };
    const double x[6] = { 1, 4, 1, NAN, 2, 30 };
    struct cr_parzen p = cr_parzen_fit(&arena, axes, 2, x, 3);
    double sum = 0, one = 0;

    for (int c = 0; c < 3; c++)
        for (int i = 2; i <= 40; i++) {
            const double at[2] = { c, i };
            double y = exp(cr_parzen_log_density(&p, at));

            sum += y;
            one += c == 1 ? y : 0;
        }
    ok(fabs(sum - 1) < 1e-12, "probabilities of choices and integers sum to 1");
    /* two components that saw it, one that saw another, the prior */
    ok(fabs(one - (2 * (1.25 / 1.75) + 0.25 / 1.75 + 1.0 / 3) / 4) < 1e-12,
       "a choice is as probable as it was frequent, smoothed by 1/N");
    cr_arena_free(&arena);
}

static void test_draws(void)
{
    struct cr_arena arena = { 0 };
    const double x[2] = { 2.9, 2.9 };
    struct cr_parzen p = cr_parzen_fit(&arena, &line, 1, x, 2);
    struct cr_rng rng = cr_rng(7, CR_STREAM_TEST, 1, 2);
    uint64_t element = 0;
    int n = 20000, inside = 0, below = 0;
    double want = 0;

    for (int i = 0; i < n; i++) {
        double y;

        cr_parzen_draw(&p, &rng, &element, &y);
        inside += y >= -1 && y <= 3;
        below += y < 2;
    }
    for (int i = 0; i < 3000; i++)
        want += density(&p, -1 + (i + 0.5) / 1000) / 1000;
    ok(inside == n, "draws are within the range");
    ok(fabs(below / (double)n - want) < 5 * sqrt(0.25 / n),
       "draws are distributed as the density");
    cr_arena_free(&arena);
}

static void test_good(void)
{
    const struct cr_tpe_opts opts = { .gamma = 0.15 };

    ok(cr_tpe_good(&opts, 1) == 1 && cr_tpe_good(&opts, 10) == 2 &&
           cr_tpe_good(&opts, 1000) == 25,
       "the good points are the fraction gamma, rounded up, at most 25");
}

/* Suggestions for (x - 1.7)^2, sorted by hand. */
static void test_suggest(void)
{
    const struct cr_tpe_opts opts = { .candidates = 64, .gamma = 0.15 };
    double x[60], best;
    int n = 0;

    for (; n < 10; n++)
        x[n] = n % 2 ? 3 - 0.2 * n : -1 + 0.15 * n;
    for (; n < 60; n++) {
        struct cr_arena arena = { 0 };
        struct cr_rng rng = cr_rng(1, CR_STREAM_TEST, (uint64_t)n, 0);

        for (int i = 1; i < n; i++)
            for (int j = i;
                 j > 0 && fabs(x[j] - 1.7) < fabs(x[j - 1] - 1.7); j--) {
                double swap = x[j];

                x[j] = x[j - 1];
                x[j - 1] = swap;
            }
        cr_tpe_suggest(&arena, &opts, &line, 1, x, n, &rng, &x[n]);
        cr_arena_free(&arena);
    }
    best = fabs(x[0] - 1.7);
    ok(best < 0.02, "suggestions come close to the minimum");
}

int main(void)
{
    test_density();
    test_widths();
    test_discrete();
    test_draws();
    test_good();
    test_suggest();
    return done();
}
