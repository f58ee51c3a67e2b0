/*
 * A learning rate that is reduced when a metric stops improving: the options
 * and the state of the schedule ReduceLROnPlateau.
 *
 * Other schedules depend on the number of the update only; this one depends on
 * the evaluations too. Its state (struct cr_plateau) is part of the run's
 * state, so a resumed run continues exactly.
 */
#ifndef CR_TRAIN_PLATEAU_H
#define CR_TRAIN_PLATEAU_H

#include <stdbool.h>
#include <stdint.h>

struct cr_plateau_rule {
    const char *monitor;    /* a metric of the evaluation */
    int mode;               /* enum cr_mode */
    double factor;
    int64_t patience;       /* evaluations without improvement */
    double min_delta;       /* an improvement exceeds this */
    int64_t cooldown;       /* evaluations ignored after a reduction */
    double min_lr;
};

struct cr_plateau {
    bool begun;             /* if false, the rest is undefined */
    bool has_best;          /* `best` is defined */
    double rate;            /* the current rate */
    double best;
    int64_t wait, cooldown;
};

/* Updates the state after an evaluation with the value of the metric. `max`:
 * larger is better; `first`: the initial rate. True if the rate was reduced. */
bool cr_plateau_step(const struct cr_plateau_rule *rule, bool max,
                     double first, double value, struct cr_plateau *to);

#endif
