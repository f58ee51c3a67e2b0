/*
 * The TensorBoard events of a run: its records, samples, network and settings,
 * as event files in the run directory. They do not affect the run.
 *
 * Every function does nothing if `tb` is NULL: without log.tensorboard nothing
 * of this is done.
 *
 * Called by train/ at the points where it writes records; rundir/ finds the
 * files by CR_EVENT_FILE. Knows nothing of steps and of the training loop.
 *
 * Includes: base ckpt conf draw.
 */
#ifndef CR_TENSORBOARD_TENSORBOARD_H
#define CR_TENSORBOARD_TENSORBOARD_H

#include "conf/config.h"

/* What the names of event files begin with. Ten digits follow, by which readers
 * order the files of a run. */
#define CR_EVENT_FILE "events.out.tfevents."

struct cr_net;
struct cr_tensorboard;

/* What the events of a process of a run begin with. */
struct cr_tensorboard_run {
    const char *folder; /* the run directory */
    struct cr_config *config;
    const char *yaml;   /* the resolved config */
    struct cr_net *net; /* complete */
    int64_t resumed;    /* step of the state it continues from; -1: it is new */
};

/* Opens a new file. NULL after reporting. All memory is the arena's except the
 * buffer of the file, which cr_tensorboard_close frees. */
struct cr_tensorboard *
cr_tensorboard_open(struct cr_arena *arena, struct cr_diag *diag,
                    const struct cr_tensorboard_run *run);
/* Lets readers drop what was written for later steps: the run returned to this
 * one. */
void cr_tensorboard_rewind(struct cr_tensorboard *tb, int64_t step);
/* Adds a record: a line of metrics.jsonl. */
void cr_tensorboard_record(struct cr_tensorboard *tb, const char *json,
                           size_t n);
/* Adds the pictures of a samples.json. */
void cr_tensorboard_samples(struct cr_tensorboard *tb, const char *json,
                            size_t n);
/* Writes what is buffered; reports failures as warnings. */
void cr_tensorboard_flush(struct cr_tensorboard *tb, struct cr_diag *diag);
/* Adds the end of the run. */
void cr_tensorboard_end(struct cr_tensorboard *tb, bool success);
/* Closes the file; reports records that are lost. */
void cr_tensorboard_close(struct cr_tensorboard *tb, struct cr_diag *diag);

#endif
