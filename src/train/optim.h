/*
 * An optimizer: option rows, slots, and an elementwise update rule.
 *
 * The engine owns the slots and calls update with one part of one parameter
 * (net/net.h, struct cr_update). The order of semantics.md 5.1 holds within:
 * weight decay, then the rule at the learning rate of that update.
 */
#ifndef CR_TRAIN_OPTIM_H
#define CR_TRAIN_OPTIM_H

#include "net/net.h"
#include "train/scale.h"
#include "train/schedule.h"

struct cr_optim {
    struct cr_about about;  /* opts begin with struct cr_optim_common */
    int slots;
    const char *slot_names[CR_SLOTS_MAX];
    double slot_start[CR_SLOTS_MAX];
    void (*update)(const struct cr_update *u);
    /* Optional: what the option rows cannot say. */
    bool (*check)(struct cr_diag *diag, struct cr_pos pos, const void *opts);
    /* Optional: with these options the rule is w -= lr * g and no slot ever
     * moves, so a product may write the update itself. */
    bool (*plain)(const void *opts);
};

/* The first members of every optimizer's options. */
struct cr_optim_common {
    struct cr_obj learning_rate; /* a number, list, file or schedule */
    double weight_decay;
    double loss_scale;
};

/* Their rows, for options whose first member is called `common`. */
#define CR_OPTIM_LR(T, ...) \
    { .name = "learning_rate", .at = offsetof(T, common.learning_rate), \
      .type = CR_OPT_OBJ, .kind = CR_KIND_SCHEDULE, \
      .doc = "Length of a step: a number, a list or a file of numbers.", \
      __VA_ARGS__ }
#define CR_OPTIM_DECAY(T) \
    { .name = "weight_decay", .at = offsetof(T, common.weight_decay), \
      .type = CR_OPT_REAL, .need = CR_DEFAULT, .high = DBL_MAX, \
      .doc = "Times the parameter, added to its gradient; not for names " \
             "with beta or gamma." }
#define CR_OPTIM_SCALE(T) \
    { .name = "loss_scale", .at = offsetof(T, common.loss_scale), \
      .type = CR_OPT_REAL, .need = CR_DEFAULT, .real_default = 1, \
      .above = true, .high = DBL_MAX, \
      .doc = "Factor of the loss that the update divides by." }

const struct cr_optim *cr_optim_find(const char *name);

/* The section `optimizer`, read. */
struct cr_optim_use {
    const struct cr_optim *optim;
    const struct cr_optim_common *opts;
    struct cr_lr lr;
    struct cr_scale_use scale;
};

/* Reads and checks the section; false after reporting, also when it is
 * missing. */
bool cr_optim_read(struct cr_config *config, struct cr_optim_use *to);

/* Reads the section and gives the network its rule, slots, and the
 * hyper-parameters of each parameter: weight decay is for those whose name
 * holds neither `beta` nor `gamma` (semantics.md 5.1). Slots that a plain
 * rule never moves are kept only with `still` (MindSpore has them too).
 * Before any plan with update is made. */
bool cr_optim_rule(struct cr_config *config, struct cr_net *net, bool still,
                   struct cr_optim_use *to);

#endif
