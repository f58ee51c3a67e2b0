/*
 * A rate that falls when a metric stops getting better: what the schedule
 * ReduceLROnPlateau asks for, and where it stands.
 *
 * A schedule is a function of the number of the update; this one is one of
 * the evaluations too. Where they have brought it is part of the run's state
 * (struct cr_plateau), so a resumed run goes on exactly.
 */
#ifndef CR_TRAIN_PLATEAU_H
#define CR_TRAIN_PLATEAU_H

#include <stdbool.h>
#include <stdint.h>

struct cr_plateau_rule {
    const char *monitor;    /* a metric of the evaluation */
    int mode;               /* enum cr_mode */
    double factor;
    int64_t patience;       /* evaluations without gain until the rate falls */
    double min_delta;       /* a gain is more than this */
    int64_t cooldown;       /* evaluations after that that do not count */
    double min_lr;
};

struct cr_plateau {
    bool begun;             /* else nothing below means anything */
    bool has_best;          /* `best` means something */
    double rate;            /* the present one */
    double best;
    int64_t wait, cooldown;
};

/* After an evaluation: what the metric's value means. `max`: more is better;
 * `first`: the rate that it begins with. True when the rate has fallen. */
bool cr_plateau_step(const struct cr_plateau_rule *rule, bool max,
                     double first, double value, struct cr_plateau *to);

#endif
