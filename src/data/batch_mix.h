/*
 * What ops that mix the samples of a batch share.
 */
#ifndef CR_DATA_BATCH_MIX_H
#define CR_DATA_BATCH_MIX_H

#include "data/transform.h"

/* Beta(alpha, alpha), as a function of the stream. */
double cr_batch_mix_beta(const struct cr_rng *rng, double alpha);
/* Row i's label becomes share * its own + (1 - share) * its partner's. */
void cr_batch_mix_label(const struct cr_batch_mix *mix, int64_t i,
                        double share);

#endif
