/*
 * record.json, and the texts and numbers that the summary has, too.
 */
#ifndef CR_TRAIN_RUN_RECORD_H
#define CR_TRAIN_RUN_RECORD_H

#include "rundir/rundir.h"
#include "train/train.h"

/* Writes record.json; with `end` CR_RUNNING for a run that continues. False
 * after reporting. */
bool cr_train_write_record(struct cr_train *train, enum cr_outcome end,
                           int status);
/* Reads the results of a run that had already ended from its record. */
enum cr_outcome cr_train_load_record(struct cr_train *train);
/* "completed", "diverged" ... */
const char *cr_train_status(enum cr_outcome end);
/* Path of the run's best or else last checkpoint, relative to the directory;
 * NULL: none. */
const char *cr_run_ckpt(const struct cr_rundir *dir);

#endif
