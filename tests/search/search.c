/*
 * Search quality of the methods tpe and random on functions with known minima:
 *
 *   search FUNCTION METHOD REPETITIONS EVALUATIONS FIRST_SEED
 *
 * prints for each repetition the best value after each evaluation, in a line.
 * tests/search/compare_optuna.py runs it and the samplers of Optuna.
 *
 *   branin    x in [-5, 10], y in [0, 15]; minimum 0.397887
 *   hartmann6 [0, 1]^6; minimum -3.32237
 *   mixed     a made-up network: kind (3 choices), log rate, width (log
 *             integer), momentum only of kind 1; minimum 0
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/parzen.h"

#define AXES_MAX 6

static const double pi = 3.14159265358979323846;

static double branin(const double *v)
{
    double x = v[0], y = v[1];
    double a = y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;

    return a * a + 10 * (1 - 1 / (8 * pi)) * cos(x) + 10;
}

static double hartmann6(const double *x)
{
    static const double alpha[4] = { 1, 1.2, 3, 3.2 };
    static const double A[4][6] = { { 10, 3, 17, 3.5, 1.7, 8 },
                                    { 0.05, 10, 17, 0.1, 8, 14 },
                                    { 3, 3.5, 1.7, 10, 17, 8 },
                                    { 17, 8, 0.05, 10, 0.1, 14 } };
    static const double P[4][6] = {
        { .1312, .1696, .5569, .0124, .8283, .5886 },
        { .2329, .4135, .8307, .3736, .1004, .9991 },
        { .2348, .1451, .3522, .2883, .3047, .6650 },
        { .4047, .8828, .8732, .5743, .1091, .0381 }
    };
    double sum = 0;

    for (int i = 0; i < 4; i++) {
        double e = 0;

        for (int j = 0; j < 6; j++)
            e += A[i][j] * (x[j] - P[i][j]) * (x[j] - P[i][j]);
        sum -= alpha[i] * exp(-e);
    }
    return sum;
}

static double mixed(const double *x)
{
    static const double offset[3] = { 0.3, 0, 0.15 };
    static const double best_rate[3] = { -3, -2, -1 };
    int kind = (int)x[0];
    double rate = log10(x[1]) - best_rate[kind];
    double width = log2(x[2] / 200);
    double y = offset[kind] + 0.2 * rate * rate + 0.03 * width * width;

    if (kind == 1)
        y += 2 * (x[3] - 0.9) * (x[3] - 0.9);
    return y;
}

static const struct function {
    const char *name;
    double (*at)(const double *x);
    int n_axes;
    struct cr_parzen_axis axis[AXES_MAX];
} functions[] = {
    { "branin", branin, 2, { { .min = -5, .max = 10 }, { .max = 15 } } },
    { "hartmann6", hartmann6, 6,
      { { .max = 1 }, { .max = 1 }, { .max = 1 },
        { .max = 1 }, { .max = 1 }, { .max = 1 } } },
    { "mixed", mixed, 4,
      { { .n = 3 },
        { .log = true, .min = 1e-5, .max = 1 },
        { .log = true, .integer = true, .min = 8, .max = 1024 },
        { .max = 1 } } },
};

struct result {
    double y, x[AXES_MAX];
};

static int by_value(const void *a, const void *b)
{
    const struct result *p = a, *q = b;

    return (p->y > q->y) - (p->y < q->y);
}

static void repeat(const struct function *f, const struct cr_tpe_opts *opts,
                   uint64_t seed, int n)
{
    struct result *sorted = calloc((size_t)n, sizeof *sorted);
    double *x = calloc((size_t)n * AXES_MAX, sizeof *x), best = INFINITY;

    for (int k = 0; k < n; k++) {
        struct cr_arena arena = { 0 };
        struct cr_rng rng = cr_rng(seed, CR_STREAM_SWEEP, (uint64_t)k, 0);
        struct result *r = &sorted[k];

        if (k < opts->startup) {
            struct cr_parzen prior;
            uint64_t element = 0;
            double none[AXES_MAX];

            for (int a = 0; a < f->n_axes; a++)
                none[a] = NAN;
            prior = cr_parzen_fit(&arena, f->axis, f->n_axes, none, 1);
            prior.n = 1; /* the uniform component */
            cr_parzen_draw(&prior, &rng, &element, r->x);
        } else {
            for (int i = 0; i < k; i++)
                memcpy(x + i * f->n_axes, sorted[i].x,
                       (size_t)f->n_axes * sizeof *x);
            cr_tpe_suggest(&arena, opts, f->axis, f->n_axes, x, k, &rng, r->x);
        }
        r->y = f->at(r->x);
        if (f->at == mixed && (int)r->x[0] != 1)
            r->x[3] = NAN;
        best = fmin(best, r->y);
        printf("%.6g%c", best, k + 1 < n ? ' ' : '\n');
        qsort(sorted, (size_t)k + 1, sizeof *sorted, by_value);
        cr_arena_free(&arena);
    }
    free(sorted);
    free(x);
}

int main(int argc, char **argv)
{
    if (argc != 6)
        return 2;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, argv[1]) == 0) {
            int n = atoi(argv[4]), first = atoi(argv[5]);
            struct cr_tpe_opts opts = {
                .startup = strcmp(argv[2], "tpe") == 0 ? 10 : n,
                .candidates = 64,
                .gamma = 0.15,
            };

            for (int r = 0; r < atoi(argv[3]); r++)
                repeat(&functions[i], &opts, (uint64_t)(first + r), n);
            return 0;
        }
    return 2;
}
