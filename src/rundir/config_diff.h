/*
 * The first difference of two configs, among the keys that determine a run's
 * ID.
 */
#ifndef CR_RUNDIR_CONFIG_DIFF_H
#define CR_RUNDIR_CONFIG_DIFF_H

#include "conf/config.h"

/* "'optimizer.learning_rate' changed from 0.05 to 0.1", where `old` is the
 * text of the older run's resolved.yaml; NULL if no key differs. */
const char *cr_config_diff(struct cr_config *config, const char *old,
                           size_t len);

#endif
