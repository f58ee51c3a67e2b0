/*
 * What evaluations found for each sample: eval.npz and samples.json.
 */
#ifndef CR_TRAIN_OUTCOME_FILES_H
#define CR_TRAIN_OUTCOME_FILES_H

#include "data/data_loader.h"
#include "score/outcomes.h"

struct cr_train;

/* Where the evaluation puts its outcomes; NULL for runs that write none. */
struct cr_outcomes **cr_train_outcomes_open(struct cr_train *train);
void cr_train_outcomes_close(struct cr_train *train);
/* Keeps the outcomes of the evaluation just done if it is the best, or if there
 * is no best. */
void cr_train_outcomes_keep(struct cr_train *train);
/* Notes the samples of the first batch. */
void cr_train_outcomes_batch(struct cr_train *train,
                             const struct cr_batch *batch);
/* Writes eval.npz and samples.json if they have something new, and it is the
 * end of the run or some time has passed; eval.npz of a best evaluation at
 * once. */
void cr_train_outcomes_write(struct cr_train *train, bool end);

#endif
