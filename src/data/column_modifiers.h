/*
 * The modifiers next to a transform: only, with and prob. Private to src/data.
 */
#ifndef CR_DATA_COLUMN_MODIFIERS_H
#define CR_DATA_COLUMN_MODIFIERS_H

#include "data/column_pipeline.h"

/* Whether `only: train` or `only: eval` lets a transform apply. False after
 * reporting. */
bool cr_modifier_only(struct cr_config *config, const struct cr_node *node,
                      bool train, bool *yes);

/* Sets the key of the random numbers of the next transform, of that name. */
bool cr_modifier_with(const struct cr_column_pipeline *pipeline,
                      struct cr_config *config, const struct cr_node *node,
                      const char *transform, bool train);
/* Checks that each `with` of a column names one that has the transform too,
 * with the same probability. False after reporting. */
bool cr_modifier_check_peers(struct cr_config *config,
                             const struct cr_node *ops, bool train);
/* Sets the probability of applying it, and checks when it is planned that it
 * can be omitted. False after reporting. */
bool cr_modifier_prob(const struct cr_column_pipeline *pipeline,
                      struct cr_config *config, const struct cr_node *node,
                      const char *transform);
bool cr_modifier_prob_fits(const struct cr_column_pipeline *pipeline,
                           struct cr_config *config,
                           const struct cr_node *node);

/* Whether transform i is omitted for a sample. */
bool cr_modifier_skips(const struct cr_column_pipeline *pipeline, int i,
                       int64_t epoch, int64_t index);

#endif
