/*
 * The settings of a run: the sections of its config that the training loop
 * reads, and its seed.
 */
#ifndef CR_TRAIN_OPTS_H
#define CR_TRAIN_OPTS_H

#include "train/section.h"

struct cr_train_opts {
    struct cr_train_section train;
    struct cr_eval_section eval;
    struct cr_checkpoint_section checkpoint;
    struct cr_log_section log;
    struct cr_run_section run;
    uint64_t seed;
};

#endif
