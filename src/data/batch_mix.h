/*
 * Functions for transforms that mix the samples of a batch.
 */
#ifndef CR_DATA_BATCH_MIX_H
#define CR_DATA_BATCH_MIX_H

#include "data/transform.h"

/* A Beta(alpha, alpha) variate, as a function of the stream. */
double cr_batch_mix_beta(const struct cr_rng *rng, double alpha);
/* Sets the label of row i to share * its own label + (1 - share) * the label of
 * its partner. */
void cr_batch_mix_label(const struct cr_batch_mix *mix, int64_t i,
                        double share);

#endif
