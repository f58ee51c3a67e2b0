/*
 * Tree-structured Parzen estimator (Bergstra, Bardenet, Bengio and Kegl,
 * "Algorithms for hyper-parameter optimization", NIPS 2011, section 4): where
 * to look next, given the results so far. Independent of sweeps.
 */
#ifndef CR_SWEEP_PARZEN_H
#define CR_SWEEP_PARZEN_H

#include "base/arena.h"
#include "num/rng.h"

#include <stdbool.h>

struct cr_parzen_axis {
    int n;             /* choices 0 .. n-1; 0: a number */
    bool integer, log; /* of a number */
    double min, max;
};

/* A mixture with equal weights: a component for each observation, the product
 * over the axes of a Gaussian that is cut off at min and max, or of a
 * probability for each choice; and a wide component, the prior, which is the
 * last one. */
struct cr_parzen {
    const struct cr_parzen_axis *axis;
    int n_axes;
    int64_t n;            /* components */
    const double *mean;   /* n * n_axes; NAN: not observed, uniform here */
    const double *sigma;
    const double *mass;   /* of the Gaussian between min and max */
};

/* Estimates the density of n observations of n_axes values each. A value that
 * is NAN is not observed. The result uses `axis` and memory of the arena. */
struct cr_parzen cr_parzen_fit(struct cr_arena *arena,
                               const struct cr_parzen_axis *axis, int n_axes,
                               const double *x, int64_t n);
/* Logarithm of the density at x; of numbers on a logarithmic axis the density
 * of their logarithm, of integers and choices the probability. */
double cr_parzen_log_density(const struct cr_parzen *p, const double *x);
/* Draws a value for each axis; *element is the next element of rng. */
void cr_parzen_draw(const struct cr_parzen *p, const struct cr_rng *rng,
                    uint64_t *element, double *x);

struct cr_tpe_opts {
    int64_t startup;    /* results before the first estimate */
    int64_t candidates; /* draws of which the best is taken */
    double gamma;       /* fraction of the points that counts as good */
};

/* Number of the best points among n that form the good ones. */
int64_t cr_tpe_good(const struct cr_tpe_opts *opts, int64_t n);
/* Of several draws from the density of the good points the one with the largest
 * ratio to the density of the others. Observations are sorted, best first. */
void cr_tpe_suggest(struct cr_arena *arena, const struct cr_tpe_opts *opts,
                    const struct cr_parzen_axis *axis, int n_axes,
                    const double *x, int64_t n, const struct cr_rng *rng,
                    double *to);

#endif
