/*
 * What a run has computed and written so far, as far as checkpoints do not hold
 * it (train/state.h).
 */
#ifndef CR_TRAIN_RESULTS_H
#define CR_TRAIN_RESULTS_H

#include "base/diag.h"
#include "console/trend.h"

/* The last step. */
struct cr_step_result {
    double loss, lr;
    double *aux; /* means of the auxiliary values of the loss */
    const char *const *aux_names;
    int n_aux;
    struct cr_trend trend; /* losses of this process */
};

/* Why a run diverges. */
struct cr_run_fault {
    const char *why, *fix; /* with CR_OUTCOME_DIVERGED: what is not finite, and
                              a suggested fix */
    double overflow_scale; /* loss scale of the last overflow; 0: none yet */
};

/* Progress of cr_train_reopen through metrics.jsonl. */
struct cr_metrics_trim {
    int64_t step, eval_step;  /* of the checkpoint, for records of older
                                 versions, which have steps but no samples */
    int64_t n_read, n_legacy; /* records read; legacy records kept */
    int64_t n_unreadable;     /* lines that are not records */
};

/* The best checkpoint so far. */
struct cr_best {
    const char *metric;     /* NULL: none yet */
    double value;
    int64_t step;
};

struct cr_run_files {
    const char *resumed; /* file the run was resumed from; NULL: a new run */
    const char *newest;  /* newest file written or resumed from */
    const char *good;    /* file train.nan may fall back to; or NULL */
    const char *best_waits;  /* file still to be linked as best; NULL: none */
    int64_t step, eval_step; /* of the newest file; -1: none */
    struct cr_best best;     /* the best checkpoint that is saved */
    bool unsaved;            /* a checkpoint could not be written */
    struct cr_metrics_trim trim;
};

/* Earlier processes of the run, and the start of this one. */
struct cr_run_history {
    double started;         /* cr_now() when the command began */
    long long started_at;   /* the time of day then */
    int64_t started_step;
    const char *started_text; /* of a resumed run: when it was first started */
    double seconds_before;  /* of a resumed run: seconds of earlier processes */
    const struct cr_node *vars; /* of the config, for the record; or NULL */
    const struct cr_node *old_record; /* of a run that had already ended */
};

#endif
