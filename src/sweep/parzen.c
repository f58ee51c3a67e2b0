/* Density estimates, and the choice of the next point by their ratio. */
#include "sweep/parzen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GOOD_MAX 25
#define DRAWS_MAX 64 /* of a Gaussian until one is in the range */

/* ---- Coordinates: the logarithm on logarithmic axes; integers have cells of
 * width 1 around them */

static double parzen_to(const struct cr_parzen_axis *axis, double value)
{
    return axis->log ? log(value) : value;
}

static double parzen_low(const struct cr_parzen_axis *axis)
{
    return parzen_to(axis, axis->min - (axis->integer ? 0.5 : 0));
}

static double parzen_high(const struct cr_parzen_axis *axis)
{
    return parzen_to(axis, axis->max + (axis->integer ? 0.5 : 0));
}

/* The value of a coordinate. */
static double parzen_from(const struct cr_parzen_axis *axis, double at)
{
    double value = axis->log ? exp(at) : at;

    if (axis->integer)
        value = floor(value + 0.5);
    return fmin(fmax(value, axis->min), axis->max);
}

/* Distribution function of the standard normal distribution. */
static double parzen_normal(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

static double parzen_mass(double mean, double sigma, double from, double to)
{
    return parzen_normal((to - mean) / sigma) -
           parzen_normal((from - mean) / sigma);
}

/* ---- Fitting */

struct place {
    double at;
    int64_t component;
};

static int parzen_by_place(const void *a, const void *b)
{
    const struct place *p = a, *q = b;

    if (p->at != q->at)
        return p->at < q->at ? -1 : 1;
    return (p->component > q->component) - (p->component < q->component);
}

/* The width of each Gaussian is the larger distance to its neighbours, among
 * which the prior is in the middle, between range / min(100, 1 + components)
 * and the range. The outermost ones have one neighbour. */
static void parzen_widths(const struct place *place, int64_t n, double range,
                          int64_t components, int stride, double *sigma)
{
    double least = range / fmin(100, 1 + (double)components);

    for (int64_t i = 0; i < n; i++) {
        double left = i > 0 ? place[i].at - place[i - 1].at : 0;
        double right = i + 1 < n ? place[i + 1].at - place[i].at : 0;
        double width = n > 1 ? fmax(left, right) : range;

        sigma[place[i].component * stride] =
            fmin(fmax(width, least), range);
    }
}

static void parzen_fit_number(struct cr_arena *arena, struct cr_parzen *p,
                              int a, double *mean, double *sigma, double *mass)
{
    const struct cr_parzen_axis *axis = &p->axis[a];
    double low = parzen_low(axis), high = parzen_high(axis);
    double range = high > low ? high - low : 1;
    struct place *place = CR_NEWS(arena, struct place, p->n);
    int64_t seen = 0;

    for (int64_t i = 0; i < p->n; i++) {
        double *m = &mean[i * p->n_axes + a];

        if (i == p->n - 1)
            *m = (low + high) / 2;
        else if (!isnan(*m))
            *m = parzen_to(axis, *m);
        else
            continue;
        place[seen++] = (struct place){ *m, i };
    }
    qsort(place, (size_t)seen, sizeof *place, parzen_by_place);
    parzen_widths(place, seen, range, p->n, p->n_axes, sigma + a);
    sigma[(p->n - 1) * p->n_axes + a] = range;
    for (int64_t i = 0; i < p->n; i++)
        mass[i * p->n_axes + a] =
            parzen_mass(mean[i * p->n_axes + a], sigma[i * p->n_axes + a], low,
                        high);
}

struct cr_parzen cr_parzen_fit(struct cr_arena *arena,
                               const struct cr_parzen_axis *axis, int n_axes,
                               const double *x, int64_t n)
{
    struct cr_parzen p = { .axis = axis, .n_axes = n_axes, .n = n + 1 };
    size_t values = (size_t)((n + 1) * n_axes);
    double *mean = CR_NEWS(arena, double, values + 1);
    double *sigma = CR_NEWS(arena, double, values + 1);
    double *mass = CR_NEWS(arena, double, values + 1);

    if (n > 0)
        memcpy(mean, x, (size_t)(n * n_axes) * sizeof *mean);
    for (int a = 0; a < n_axes; a++)
        if (axis[a].n > 0)
            mean[n * n_axes + a] = NAN;
        else
            parzen_fit_number(arena, &p, a, mean, sigma, mass);
    p.mean = mean;
    p.sigma = sigma;
    p.mass = mass;
    return p;
}

/* ---- Densities */

/* A choice was observed: it has the weight 1 + 1/N of N components, each other
 * choice 1/N. */
static double parzen_choice(const struct cr_parzen *p, int n, double observed,
                            double x)
{
    double prior = 1 / (double)p->n;

    return ((x == observed ? 1 : 0) + prior) / (1 + n * prior);
}

static double parzen_log_kernel(const struct cr_parzen *p, int64_t i, int a,
                                double x)
{
    const struct cr_parzen_axis *axis = &p->axis[a];
    int64_t at = i * p->n_axes + a;
    double mean = p->mean[at], sigma = p->sigma[at], z, low, high;

    if (axis->n > 0)
        return isnan(mean) ? -log(axis->n)
                           : log(parzen_choice(p, axis->n, mean, x));
    low = parzen_to(axis, x - (axis->integer ? 0.5 : 0));
    high = parzen_to(axis, x + (axis->integer ? 0.5 : 0));
    if (isnan(mean)) {
        double range = parzen_high(axis) - parzen_low(axis);

        return range > 0 ? log((axis->integer ? high - low : 1) / range) : 0;
    }
    if (axis->integer)
        return log(fmax(parzen_mass(mean, sigma, low, high), 1e-300) /
                   p->mass[at]);
    z = (low - mean) / sigma;
    return -0.5 * z * z - log(sigma * sqrt(2 * acos(-1))) - log(p->mass[at]);
}

/* log(exp(a) + exp(b)) */
static double parzen_log_add(double a, double b)
{
    double most = fmax(a, b);

    return isinf(most) ? most : most + log1p(exp(fmin(a, b) - most));
}

double cr_parzen_log_density(const struct cr_parzen *p, const double *x)
{
    double sum = -INFINITY;

    for (int64_t i = 0; i < p->n; i++) {
        double term = 0;

        for (int a = 0; a < p->n_axes; a++)
            if (!isnan(x[a]))
                term += parzen_log_kernel(p, i, a, x[a]);
        sum = parzen_log_add(sum, term);
    }
    return sum - log((double)p->n);
}

static double parzen_draw_choice(const struct cr_parzen *p, int n,
                                 double observed, double u)
{
    double sum = 0;
    int c;

    for (c = 0; c < n - 1; c++) {
        sum += isnan(observed) ? 1.0 / n : parzen_choice(p, n, observed, c);
        if (u < sum)
            break;
    }
    return c;
}

/* A standard normal number. It takes both elements of a block, which have no
 * other use. */
static double parzen_draw_normal(const struct cr_rng *rng, uint64_t *element)
{
    uint64_t at = (*element + 1) / 2 * 2;

    *element = at + 2;
    return cr_rng_normal(rng, at);
}

static double parzen_draw_number(const struct cr_parzen *p, int64_t at, int a,
                                 const struct cr_rng *rng, uint64_t *element)
{
    const struct cr_parzen_axis *axis = &p->axis[a];
    double low = parzen_low(axis), high = parzen_high(axis), y;

    if (isnan(p->mean[at]))
        return parzen_from(axis, low + (high - low) *
                                           cr_rng_double(rng, (*element)++));
    for (int i = 0; i < DRAWS_MAX; i++) {
        y = p->mean[at] + p->sigma[at] * parzen_draw_normal(rng, element);
        if (y >= low && y <= high)
            return parzen_from(axis, y);
    }
    return parzen_from(axis, p->mean[at]);
}

void cr_parzen_draw(const struct cr_parzen *p, const struct cr_rng *rng,
                    uint64_t *element, double *x)
{
    int64_t i = (int64_t)(cr_rng_double(rng, (*element)++) * (double)p->n);

    for (int a = 0; a < p->n_axes; a++) {
        int64_t at = i * p->n_axes + a;

        x[a] = p->axis[a].n > 0
                   ? parzen_draw_choice(p, p->axis[a].n, p->mean[at],
                                        cr_rng_double(rng, (*element)++))
                   : parzen_draw_number(p, at, a, rng, element);
    }
}

/* ---- The next point */

int64_t cr_tpe_good(const struct cr_tpe_opts *opts, int64_t n)
{
    return (int64_t)fmin(fmin(ceil(opts->gamma * (double)n), GOOD_MAX),
                         (double)n);
}

void cr_tpe_suggest(struct cr_arena *arena, const struct cr_tpe_opts *opts,
                    const struct cr_parzen_axis *axis, int n_axes,
                    const double *x, int64_t n, const struct cr_rng *rng,
                    double *to)
{
    int64_t good = cr_tpe_good(opts, n);
    struct cr_parzen l = cr_parzen_fit(arena, axis, n_axes, x, good);
    struct cr_parzen g = cr_parzen_fit(arena, axis, n_axes, x + good * n_axes,
                                       n - good);
    double *draw = CR_NEWS(arena, double, n_axes + 1), best = -INFINITY;
    uint64_t element = 0;

    for (int64_t i = 0; i < opts->candidates; i++) {
        double ratio;

        cr_parzen_draw(&l, rng, &element, draw);
        ratio = cr_parzen_log_density(&l, draw) -
                cr_parzen_log_density(&g, draw);
        if (i == 0 || ratio > best) {
            best = ratio;
            memcpy(to, draw, (size_t)n_axes * sizeof *to);
        }
    }
}
