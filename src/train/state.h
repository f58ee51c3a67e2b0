/*
 * The state of a run: `cellrun.state` of its checkpoints, whose members
 * cellrun-checkpoint(5) describes.
 *
 * It holds everything that a resumed run needs, in addition to parameters,
 * slots and config, to continue exactly. It contains no times, so that equal
 * runs write equal files; unknown members are kept.
 */
#ifndef CR_TRAIN_STATE_H
#define CR_TRAIN_STATE_H

#include "num/spec.h"
#include "score/score.h"
#include "train/loss_scale.h"
#include "train/plateau.h"

#define CR_STATE_COLUMNS 16
#define CR_STATE_CLASSES 100000000

/* Counters of `train.nan`. */
struct cr_nan_state {
    int64_t skipped;     /* skipped updates in total */
    int64_t consecutive; /* consecutive skipped updates */
    int64_t fallbacks;   /* number of fallbacks */
    double factor;       /* of all learning rates, from the fallbacks */
    int64_t good_step;   /* step of the checkpoint to fall back to; -1: none */
};

/* Sum over batches of the loss times the samples, and of the samples: the
 * training loss of an epoch. Batches without a finite loss are skipped. */
struct cr_loss_sum {
    double sum;
    int64_t samples;
};

struct cr_state {
    int64_t step;           /* steps done, including skipped updates */
    int64_t per_epoch;      /* batches of a whole epoch */
    int64_t grad_accum;     /* batches of a step: train.grad_accumulation */
    int64_t samples;        /* samples seen since the start */
    int64_t cursor;         /* samples seen in the current epoch */
    struct cr_loss_sum epoch_loss; /* of the current epoch; at its end until it
                                      is reported */
    int64_t legacy_records; /* number of records of older versions, the first
                               ones of metrics.jsonl */
    int64_t named_epoch;    /* epoch in which the batch size changed */
    int64_t ckpt_name_offset; /* added to the batches of named_epoch in names
                                 of checkpoints, so that they count batches of
                                 any size */
    uint64_t seed;
    const char *config_dir; /* folder of relative paths in the config */
    const char *optimizer;  /* "SGD" */

    /* The data set: the fingerprint of its files, and the columns it yields
     * before any transform, so that predict needs no data. */
    uint32_t fingerprint, contents;
    bool has_contents;      /* false for older checkpoints */
    int n_columns;
    struct cr_column columns[CR_STATE_COLUMNS];
    int64_t classes;
    const char *const *class_names; /* NULL: none */

    const struct cr_node *fitted; /* values that transforms fitted on the
                                     training data: {x.0: [...]}; NULL: none */

    const struct cr_node *plugins; /* hashes of the plug-in files used by the
                                      run: {scale.so: ...}; NULL: none */

    int64_t eval_step;      /* of the last evaluation; -1: none yet */
    int64_t eval_epoch;     /* the epoch at whose end it was done, from 0 */
    struct cr_scores eval;  /* its results */

    const char *best_metric; /* NULL: none yet */
    bool best_max;
    double best;
    int64_t best_step;

    int64_t wait;       /* evaluations without improvement: early stopping */
    double wait_best;   /* best value of early stopping */
    bool wait_has_best; /* wait_best is valid */
    bool stopped_early;

    struct cr_loss_scale scale;
    struct cr_nan_state nan;
    struct cr_plateau plateau; /* of the optimizer's learning rate */

    const struct cr_node *other; /* members kept as they are; or NULL */
};

/* Epochs done, and batches done in the current one. */
int64_t cr_state_epoch(const struct cr_state *state);
int64_t cr_state_in_epoch(const struct cr_state *state);
/* The epoch in which a step ended, from 0, and its last batch there. */
int64_t cr_state_epoch_of(const struct cr_state *state, int64_t step);
int64_t cr_state_batch_of(const struct cr_state *state, int64_t step);
/* The epoch of the best evaluation, from 1; 0: none. */
int64_t cr_state_best_epoch(const struct cr_state *state);
/* Numbers in the name of a step's checkpoint: its epoch, from 0, and the
 * batches of any size done in it. They never decrease. */
int64_t cr_state_name_of(const struct cr_state *state, int64_t step,
                         int64_t *batch);
/* Steps whose update was skipped, and the other ones, which are the argument
 * of schedules. */
int64_t cr_state_skipped(const struct cr_state *state);
int64_t cr_state_updates(const struct cr_state *state);

/* The mean; NAN without samples. */
double cr_loss_mean(const struct cr_loss_sum *sum);

/* The state as JSON, in the arena. */
const char *cr_state_write(struct cr_arena *arena,
                           const struct cr_state *state);
/* Reads the state from JSON. False after reporting at `pos` that the file is
 * damaged. */
bool cr_state_read(struct cr_arena *arena, struct cr_diag *diag,
                   struct cr_pos pos, const char *text,
                   struct cr_state *to);

#endif
