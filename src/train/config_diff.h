/*
 * What makes two configs another: the first key whose value differs, of those
 * that a run's ID is made of.
 */
#ifndef CR_TRAIN_CONFIG_DIFF_H
#define CR_TRAIN_CONFIG_DIFF_H

#include "conf/config.h"

/* "'optimizer.learning_rate' was 0.05 and is 0.1 now", when `old` is the text
 * of the other one's resolved.yaml; NULL if nothing is found. */
const char *cr_config_diff(struct cr_config *config, const char *old,
                           size_t len);

#endif
