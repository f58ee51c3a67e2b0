/*
 * Checkpoints and records of a run.
 */
#ifndef CR_TRAIN_SAVE_H
#define CR_TRAIN_SAVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "train/train.h"

/* The path of the checkpoint of a step. */
const char *cr_train_ckpt_name(const struct cr_train *train, int64_t step);
/* Saves the current state. False if the run must end because of it: then *end
 * is set, and train->fault.why if it has diverged. */
bool cr_train_save(struct cr_train *train, enum cr_outcome *end);
/* Notes that the best state is in a file. */
void cr_train_keep_best(struct cr_train *train);
/* Whether records have the norm of the gradients. */
bool cr_train_records_norm(const struct cr_train *train);
/* Writes a record of the step just done, or with `ahead` of the current one. */
void cr_train_record(struct cr_train *train, bool ahead, double grad_norm,
                     double rate);
/* Writes a record of the current step, whose update is skipped at that loss
 * scale. */
void cr_train_record_overflow(struct cr_train *train, double scale);
void cr_train_record_eval(struct cr_train *train);
/* Writes another record of the step just done, or with `ahead` of the next
 * one; `members` begin with a comma. */
void cr_train_record_more(struct cr_train *train, const char *split, bool ahead,
                          const char *members);
/* Writes a record of a text generated after the current step. */
void cr_train_record_text(struct cr_train *train, const char *text, size_t n);
/* Writes buffered records and log lines. */
void cr_train_flush(struct cr_train *train);
/* The same at the end of the run; reports lost lines. */
void cr_train_close_records(struct cr_train *train);

#endif
