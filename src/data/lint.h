/* Warnings about data that mislead a training. */
#ifndef CR_DATA_LINT_H
#define CR_DATA_LINT_H

#include "data/data_loader.h"

/* Looks at some samples of the training data, which are prepared, and of the
 * evaluation's (NULL: there are none), and warns at their place in the config
 * (CR_E_DATA_MISLEADS). `label` is the column of labels, -1: none;
 * `normalises`: the network does so itself before anything else. False after
 * reporting that the data cannot be read. */
bool cr_data_loader_lint(struct cr_data_loader *train,
                         struct cr_data_loader *eval, struct cr_diag *diag,
                         int label, bool normalises);

#endif
