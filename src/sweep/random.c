/*
 * random: each value is a function of the seed, the key and the number of the
 * candidate, so that a larger count adds points and changes none.
 */
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "num/rng.h"
#include "sweep/sweep.h"

static double random_number(const struct cr_sweep_axis *axis, double u)
{
    double lo = axis->min, hi = axis->max;

    switch (axis->distribution) {
    case CR_DIST_LOG_UNIFORM:
        return fmin(lo * pow(hi / lo, u), hi);
    case CR_DIST_INT_UNIFORM:
        return fmin(floor(lo + u * (hi - lo + 1)), hi);
    case CR_DIST_INT_LOG_UNIFORM:
        return fmin(floor(lo * pow((hi + 1) / lo, u)), hi);
    default:
        return fmin(lo + u * (hi - lo), hi);
    }
}

static bool random_candidate(struct cr_sweep *sweep, int64_t k,
                             const char **value)
{
    for (int a = 0; a < sweep->n_axes; a++) {
        const struct cr_sweep_axis *axis = &sweep->axis[a];
        const char *key = sweep->column[axis->column];
        struct cr_rng rng =
            cr_rng((uint64_t)sweep->opts.seed, CR_STREAM_SWEEP, (uint64_t)k,
                   cr_hash(CR_HASH, key, strlen(key)));
        const char **choice;

        if (axis->distribution != CR_DIST_NONE) {
            value[axis->column] = cr_sweep_number_text(
                sweep->arena, axis,
                random_number(axis, cr_rng_double(&rng, 0)));
            continue;
        }
        choice = axis->choice +
                 (int64_t)cr_rng_below(&rng, 0, (uint64_t)axis->n) *
                     axis->n_columns;
        for (int c = 0; c < axis->n_columns; c++)
            value[axis->column + c] = choice[c];
    }
    return sweep->n_axes > 0;
}

static bool random_check(struct cr_sweep *sweep)
{
    sweep->counted = true;
    return true;
}

const struct cr_sweep_method cr_sweep_random = {
    .name = "random",
    .check = random_check,
    .candidate = random_candidate,
};
