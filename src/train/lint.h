/*
 * Warnings about settings that are valid but have no effect.
 */
#ifndef CR_TRAIN_LINT_H
#define CR_TRAIN_LINT_H

#include <stdbool.h>

struct cr_train;

/* Warns about settings without effect. False after reporting that the length
 * of predict.labels is not the number of classes. */
bool cr_train_lint(struct cr_train *train);
/* Warns about the samples, which must be prepared; used at the start of a run
 * and in check --data. False after reporting that they cannot be read. */
bool cr_train_lint_samples(struct cr_train *train);

#endif
