/* Warnings about data that are likely to mislead training. */
#ifndef CR_DATA_LINT_H
#define CR_DATA_LINT_H

#include "data/data_loader.h"

/* Checks some samples of the training data, which must be prepared, and of the
 * evaluation data (NULL: none), and warns at their position in the config
 * (CR_E_DATA_MISLEADS). `label` is the column of labels, -1: none;
 * `normalises`: the network begins with a normalisation. False after reporting
 * that the data cannot be read. */
bool cr_data_loader_lint(struct cr_data_loader *train,
                         struct cr_data_loader *eval, struct cr_diag *diag,
                         int label, bool normalises);

#endif
