/*
 * The order of samples in an epoch. Private to src/data.
 */
#ifndef CR_DATA_SAMPLER_H
#define CR_DATA_SAMPLER_H

#include "data/dataset.h"

struct cr_sampler {
    const int64_t *pool; /* samples of this split; NULL: 0 .. n - 1 */
    int64_t n;           /* number of samples in the pool */
    int64_t take;        /* samples per epoch; <= n unless weighted */
    bool shuffle;
    int64_t buffer; /* size of the shuffle buffer; 0: all samples */
    bool fixed;     /* every epoch has the order of the first */
    uint64_t seed;
    /* Weighted sampling: cumulative weights; NULL: none. */
    const double *sums;
    bool replacement; /* a sample may be drawn several times */
};

/* Sets order[0 .. take) of an epoch; scratch has n entries. With weights,
 * `repeats` gets the number of earlier occurrences of the same sample (else
 * NULL). */
void cr_sampler_order(const struct cr_sampler *o, int64_t epoch, int64_t *order,
                      int64_t *repeats, int64_t *scratch);

#endif
