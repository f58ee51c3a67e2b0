/*
 * A run on several processes (mpi/mpi.h): process 0 has the run directory, the
 * log and the checkpoints; the others follow it. They have no run directory
 * (dir.path is NULL), print nothing, and get state and parameters from it.
 */
#ifndef CR_TRAIN_RANKS_H
#define CR_TRAIN_RANKS_H

#include "train/train.h"

/* What has to be equal in all processes, as text. The kernels and the version
 * of the program always have to be. False after reporting, in all of them, what
 * differs from process 0. */
struct cr_train_part {
    const char *what, *own;
};
bool cr_train_same(struct cr_diag *diag, const struct cr_train_part *part,
                   size_t n);
/* What is read of a data set, for it; NULL: nothing. */
const char *cr_train_data(struct cr_arena *arena,
                          const struct cr_data_loader *loader);
/* cr_train_prepare and cr_train_start in all processes, unless the config could
 * not be loaded. False after reporting. */
bool cr_train_start_all(struct cr_train *train);
/* Gives the state, the parameters and the optimizer's slots of process 0 to
 * all. False after reporting. */
bool cr_train_follow(struct cr_train *train);
/* What all processes have to say before a step. False if one of them has
 * failed. *now: the clock of process 0, in seconds. Without mpirun the result
 * is `ok`, and *now stays. */
bool cr_train_sync(struct cr_diag *diag, bool ok, double *now);
/* Whether process 0 says true. */
bool cr_train_first_says(bool ok);
/* cr_train_finish in process 0; returns its exit status in all. */
int cr_train_end_all(struct cr_train *train, enum cr_outcome end);
/* cr_mpi_fail of a process whose step failed. */
void cr_train_fail_alone(struct cr_train *train);

#endif
