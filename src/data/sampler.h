/*
 * Which samples stand where in an epoch. Private to src/data.
 */
#ifndef CR_DATA_SAMPLER_H
#define CR_DATA_SAMPLER_H

#include "data/dataset.h"

struct cr_sampler {
    const int64_t *pool; /* samples of this split; NULL: 0 .. n - 1 */
    int64_t n;           /* of the pool */
    int64_t take;        /* per epoch; <= n unless drawn with weights */
    bool shuffle;
    int64_t buffer; /* samples mixed at a time; 0: all */
    bool fixed;     /* every epoch has the order of the first */
    uint64_t seed;
    /* Drawn at random with weights: the sums of the first 1, 2, ... n weights;
     * NULL: none. */
    const double *sums;
    bool replacement; /* a sample may be drawn several times */
};

/* order[0 .. take) of an epoch; room has n entries. With weights `repeats`
 * gets how often the same sample stands before in the epoch (else NULL). */
void cr_sampler_order(const struct cr_sampler *o, int64_t epoch, int64_t *order,
                      int64_t *repeats, int64_t *room);

#endif
