/*
 * Opening a run directory, and resuming from a checkpoint.
 */
#ifndef CR_TRAIN_RUN_START_H
#define CR_TRAIN_RUN_START_H

#include <stdbool.h>

struct cr_arena;
struct cr_diag;
struct cr_tensor_file;
struct cr_train;

/* The run directory: the flag, or RUNS/NAME/ID. */
const char *cr_train_folder(struct cr_train *train);
/* The state of a run that has done nothing. */
void cr_train_start_fresh(struct cr_train *train);
/* Restores parameters, slots, state and learning rates from a checkpoint.
 * False after reporting. */
bool cr_train_restore(struct cr_train *train, struct cr_tensor_file *file);
/* Removes checkpoints of later steps. False after reporting. */
bool cr_train_drop_newer_ckpts(struct cr_train *train);
/* Opens metrics.jsonl for appending, with only the records that belong to the
 * current state. False after reporting. */
bool cr_train_reopen(struct cr_train *train);
/* Opens the newest undamaged checkpoint of a run directory; damaged ones are
 * reported and skipped. NULL, after reporting, if all are damaged. *none is
 * set if there is no checkpoint at all. */
struct cr_tensor_file *cr_train_newest(struct cr_arena *arena,
                                       struct cr_diag *diag,
                                       const char *ckpt_dir, bool *none);

#endif
