/*
 * The learning rate of every update: a number, a list (value i at update i,
 * the last one stands after its end), a file of such numbers, or a schedule.
 */
#ifndef CR_TRAIN_SCHEDULE_H
#define CR_TRAIN_SCHEDULE_H

#include "conf/config.h"

/* A typed schedule: a function of the number of updates done. */
struct cr_schedule {
    struct cr_about about;
    double (*at)(const void *opts, int64_t update);
};

struct cr_lr {
    int64_t n;                  /* values; 0: a schedule */
    const double *values;
    const struct cr_schedule *schedule;
    const void *opts;
};

/* Reads what stands under `learning_rate`; false after reporting. Memory is
 * the config's arena. */
bool cr_lr_read(struct cr_config *config, const struct cr_obj *from,
                struct cr_lr *to);

/* The rate of an update, counted from 0. */
double cr_lr_at(const struct cr_lr *lr, int64_t update);

#endif
