/*
 * The learning rate of each update: a number, a list (value i at update i,
 * then the last value), a file of such numbers, or a schedule, optionally with
 * a `warmup` from 0 before it.
 *
 * A rate depends on the number of the update only, so a resumed run continues
 * exactly. (ReduceLROnPlateau depends on the evaluations too; its state is part
 * of the run's state, train/plateau.h.) Quantities in epochs or percent also
 * depend on the lengths of the run, which cr_lr_bind sets.
 */
#ifndef CR_TRAIN_SCHEDULE_H
#define CR_TRAIN_SCHEDULE_H

#include "conf/config.h"
#include "train/plateau.h"

/* The lengths of a run, in updates; 0 if unknown. */
struct cr_run_steps {
    double per_epoch;           /* not an integer if updates accumulate batches
                                   across epochs */
    int64_t total;
};

/* A typed schedule: a function of the number of updates done. */
struct cr_schedule {
    struct cr_descriptor about;
    double (*at)(const void *opts, const struct cr_run_steps *run,
                 int64_t update);
    /* Optional: checks that option rows cannot express. */
    bool (*check)(struct cr_diag *diag, struct cr_pos pos, const void *opts,
                  const struct cr_run_steps *run);
    /* Optional: the rule by which evaluations reduce the rate; `at` then
     * returns the initial rate. */
    const struct cr_plateau_rule *(*plateau)(const void *opts);
};

struct cr_lr {
    int64_t n;                  /* number of values; 0: a schedule */
    const double *values;
    const struct cr_schedule *schedule;
    const void *opts;
    struct cr_pos pos;          /* of the schedule, for messages */
    struct cr_quantity warmup;
    double warm;                /* length of the warmup in updates */
    const struct cr_plateau *plateau; /* state of ReduceLROnPlateau; or NULL */
    struct cr_run_steps run;
};

/* Reads the value of `learning_rate`; false after reporting. Memory is owned
 * by the config's arena. */
bool cr_lr_read(struct cr_config *config, const struct cr_obj *from,
                struct cr_lr *to);

/* Sets the lengths of the run, before the first cr_lr_at. False after
 * reporting, for example if the schedule needs a length that is unknown. */
bool cr_lr_bind(struct cr_diag *diag, struct cr_lr *lr,
                const struct cr_run_steps *run);

/* The rule by which evaluations reduce the rate; NULL: none. */
const struct cr_plateau_rule *cr_lr_plateau(const struct cr_lr *lr);

/* The rate of an update, counted from 0. */
double cr_lr_at(const struct cr_lr *lr, int64_t update);

/* ---- Helpers of schedules */

/* Converts a quantity to updates. */
double cr_run_updates(const struct cr_run_steps *run,
                      const struct cr_quantity *quantity);

/* MindSpore's functions (`cosine_decay_lr`) return a list of total_step rates
 * that change from epoch to epoch. Both lengths default to those of the run;
 * the last rate applies after the end. */
struct cr_by_epoch {
    int64_t total_step, step_per_epoch;
};
#define CR_BY_EPOCH(T) \
    { .name = "total_step", .at = offsetof(T, by.total_step), \
      .type = CR_OPT_INT, .need = CR_OPTIONAL, .min = 1, .max = 1e15, \
      .doc = "Number of updates; the last rate applies after them. Default: " \
             "the length of the run." }, \
    { .name = "step_per_epoch", .at = offsetof(T, by.step_per_epoch), \
      .type = CR_OPT_INT, .need = CR_OPTIONAL, .min = 1, .max = 1e15, \
      .doc = "Updates per epoch. Default: computed from the data." }
/* The epoch of an update, from 0. */
double cr_epoch_at(const struct cr_by_epoch *by, const struct cr_run_steps *run,
                   int64_t update);
bool cr_epoch_check(struct cr_diag *diag, struct cr_pos pos,
                    const struct cr_by_epoch *by,
                    const struct cr_run_steps *run);

/* Decays at position x, which rises from 0 to `end` and beyond. */
double cr_decay_exponential(double lr, double rate, double x, double end,
                            bool stair);
double cr_decay_natural(double lr, double rate, double x, double end,
                        bool stair);
double cr_decay_inverse(double lr, double rate, double x, double end,
                        bool stair);
double cr_decay_cosine(double low, double high, double x, double end);
/* `again`: extend `end` to its next multiple each time x passes it. */
double cr_decay_polynomial(double lr, double last, double power, double x,
                           double end, bool again);

#endif
