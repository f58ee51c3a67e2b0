/*
 * The state of a run: `cellrun.state` of its checkpoints, whose members
 * cellrun-checkpoint(5) describes.
 *
 * Everything that a resumed run needs besides parameters, slots and config to
 * go on as if nothing had happened. No times are in it, so that equal runs
 * write equal files; members that we do not know are kept.
 */
#ifndef CR_TRAIN_STATE_H
#define CR_TRAIN_STATE_H

#include "math/spec.h"
#include "train/loss_scale.h"
#include "train/plateau.h"
#include "train/score.h"

#define CR_STATE_COLUMNS 16
#define CR_STATE_CLASSES 100000000

/* What `train.nan` has done. */
struct cr_nan_state {
    int64_t skipped;        /* updates left out in all */
    int64_t consecutive;    /* and in a row */
    int64_t fallbacks;      /* times back */
    double factor;          /* of all rates, for that */
    int64_t good_step;      /* of the checkpoint to go back to; -1: none */
};

struct cr_state {
    int64_t step;           /* steps done, updates left out among them */
    int64_t per_epoch;      /* batches of a whole epoch */
    int64_t grad_accum;     /* batches of a step: train.grad_accumulation */
    int64_t samples;        /* seen since the beginning */
    int64_t cursor;         /* seen in the present epoch */
    int64_t legacy_records; /* records of older versions: the first ones of
                      metrics.jsonl */
    int64_t named_epoch;    /* since batches of another size came within that */
    int64_t ckpt_name_offset; /* epoch: what names of its checkpoints add to the
                           batches of the present size, so that they count
                           those of any */
    uint64_t seed;
    const char *config_dir; /* what relative paths of the config start from */
    const char *optimizer;  /* "SGD" */

    /* the data set: its files' fingerprint, and what it yields before any
     * transform, so that predict needs no data */
    uint32_t fingerprint, contents;
    bool has_contents;      /* older checkpoints do not */
    int n_columns;
    struct cr_column columns[CR_STATE_COLUMNS];
    int64_t classes;
    const char *const *class_names; /* NULL: none */

    const struct cr_node *fitted; /* what ops of the datapipe learnt from the
                               training data: {x.0: [...]}; NULL: nothing */

    const struct cr_node *plugins; /* hashes of the plug-ins' files, which the
                               run's steps come from: {scale.so: ...}; NULL:
                               none */

    int64_t eval_step;      /* of the last evaluation; -1: none yet */
    int64_t eval_epoch;     /* the epoch whose end it stands for, from 0 */
    struct cr_scores eval;  /* its results */

    const char *best_metric; /* NULL: none yet */
    bool best_max;
    double best;
    int64_t best_step;

    int64_t wait;           /* evaluations without gain: early stopping */
    double wait_best;       /* what they would have had to beat */
    bool wait_has_best;     /* wait_best means something */
    bool stopped_early;

    struct cr_loss_scale scale;
    struct cr_nan_state nan;
    struct cr_plateau plateau; /* of the optimizer's rate */

    const struct cr_node *other; /* members kept as they are; or NULL */
};

/* Epochs done, and batches done in the present one. */
int64_t cr_state_epoch(const struct cr_state *state);
int64_t cr_state_in_epoch(const struct cr_state *state);
/* The epoch in which a step ended, from 0, and its last batch there. */
int64_t cr_state_epoch_of(const struct cr_state *state, int64_t step);
int64_t cr_state_batch_of(const struct cr_state *state, int64_t step);
/* What the checkpoint of a step is named by: its epoch, from 0, and the batches
 * of any size that were done in it; they only rise. */
int64_t cr_state_name_of(const struct cr_state *state, int64_t step,
                         int64_t *batch);
/* Steps whose update was left out, and the others: where schedules stand. */
int64_t cr_state_skipped(const struct cr_state *state);
int64_t cr_state_updates(const struct cr_state *state);

/* As JSON, in the arena. */
const char *cr_state_write(struct cr_arena *arena,
                           const struct cr_state *state);
/* From JSON. False after reporting at `pos`: then the file is damaged. */
bool cr_state_read(struct cr_arena *arena, struct cr_diag *diag,
                   struct cr_pos pos, const char *text,
                   struct cr_state *to);

#endif
