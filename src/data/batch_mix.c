#include "data/batch_mix.h"

/* The logarithm of a gamma variate: Marsaglia and Tsang, "A simple method for
 * generating gamma variables" (2000). *at is the next unused element of the
 * stream. */
static double log_gamma_draw(const struct cr_rng *rng, uint64_t *at, double a)
{
    double boost = 0, d, c;

    if (a < 1) {
        boost = log(1 - cr_rng_double(rng, *at)) / a;
        *at += 2;
        a += 1;
    }
    d = a - 1.0 / 3;
    c = 1 / sqrt(9 * d);
    for (;;) {
        double x = cr_rng_normal(rng, *at), v = 1 + c * x;
        double u = 1 - cr_rng_double(rng, *at + 2);

        *at += 4;
        v = v * v * v;
        if (v > 0 && log(u) < 0.5 * x * x + d - d * v + d * log(v))
            return log(d * v) + boost;
    }
}

/* x / (x + y) of two gamma variates, computed from their logarithms: with a
 * small alpha both would underflow. */
double cr_batch_mix_beta(const struct cr_rng *rng, double alpha)
{
    uint64_t at = 0;
    double x = log_gamma_draw(rng, &at, alpha);
    double y = log_gamma_draw(rng, &at, alpha);

    return 1 / (1 + exp(y - x));
}

void cr_batch_mix_label(const struct cr_batch_mix *m, int64_t i, double share)
{
    const cr_real *a = m->labels + i * m->classes;
    const cr_real *b = m->labels + m->order[i] * m->classes;
    cr_real s = (cr_real)share, *y = m->mixed + i * m->classes;
    int64_t k;

    for (k = 0; k < m->classes; k++)
        y[k] = s * a[k] + (1 - s) * b[k];
}
