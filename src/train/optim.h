/*
 * An optimizer: option rows, slots, and an elementwise update rule.
 *
 * The engine owns the slots and calls update with one part of one parameter
 * (net/net.h, struct cr_update). An update applies weight decay first, then
 * the rule at the learning rate of that update.
 */
#ifndef CR_TRAIN_OPTIM_H
#define CR_TRAIN_OPTIM_H

#include "net/net.h"
#include "train/loss_scale.h"
#include "train/schedule.h"

/* A number that MindSpore's optimizer keeps in its checkpoints besides slots:
 * an option, or its power to the number of updates, in float32. */
struct cr_optim_number {
    const char *name; /* NULL ends a list */
    size_t at;        /* of the option, a double */
    bool power;
    int rank;         /* 0, or 1 for a shape of (1,) */
};

struct cr_optim {
    struct cr_descriptor about; /* opts begin with struct cr_optim_common */
    int slots;
    const char *slot_names[CR_SLOTS_MAX];
    double slot_start[CR_SLOTS_MAX];
    unsigned scalars; /* these and the next: as in struct cr_update_rule */
    void (*update)(const struct cr_update *u);
    int sums;
    void (*measure)(const struct cr_update *u, double sum[CR_SUMS_MAX]);
    void (*finish)(const struct cr_update *u);
    /* Optional: slots that are needed with these options, the first of all;
     * where they start. */
    int (*count)(const void *opts);
    double (*start)(const void *opts, int slot);
    /* Weight decay is for all parameters, whatever their names. */
    bool decays_all;
    /* Optional: the optimizer within (LARS), whose options hold what all
     * optimizers have and whose slots these are. A parameter whose name holds
     * one of the words, up to NULL, is left alone (cr_update's `apart`). */
    const struct cr_obj *(*inner)(const void *opts);
    const char *const *excluded;
    /* Optional: what the option rows cannot say. */
    bool (*check)(struct cr_diag *diag, struct cr_pos pos, const void *opts);
    /* Optional: what MindSpore's checkpoints have besides slots, global_step
     * and learning_rate; or, instead of those two, the name of the counter. */
    const struct cr_optim_number *numbers;
    const char *counter;
    /* Optional: with these options the rule is w -= lr * g and no slot ever
     * moves, so a product may write the update itself. */
    bool (*plain)(const void *opts);
};

/* The first members of every optimizer's options. */
struct cr_optim_common {
    struct cr_obj learning_rate; /* a number, list, file or schedule */
    double weight_decay;
    double loss_scale;
    const struct cr_node *group_params;
};

/* Their rows, for options whose first member is called `common`. */
#define CR_OPTIM_LR(T, ...) \
    { .name = "learning_rate", .at = offsetof(T, common.learning_rate), \
      .type = CR_OPT_OBJ, .kind = CR_KIND_SCHEDULE, \
      .doc = "Learning rate: a number, a list, a file of numbers or a " \
             "schedule.", \
      __VA_ARGS__ }
#define CR_OPTIM_DECAY_ROW(T, text) \
    { .name = "weight_decay", .at = offsetof(T, common.weight_decay), \
      .type = CR_OPT_REAL, .need = CR_DEFAULT, .max = DBL_MAX, .doc = text }
#define CR_OPTIM_DECAY(T) \
    CR_OPTIM_DECAY_ROW(T, "Weight decay: weight_decay * parameter is added " \
                          "to the gradient, except for names with beta or " \
                          "gamma.")
#define CR_OPTIM_DECOUPLED_DECAY(T) \
    CR_OPTIM_DECAY_ROW(T, "Decoupled weight decay, except for names with " \
                          "beta or gamma.")
#define CR_OPTIM_SCALE(T) \
    { .name = "loss_scale", .at = offsetof(T, common.loss_scale), \
      .type = CR_OPT_REAL, .need = CR_DEFAULT, .real_default = 1, \
      .min_exclusive = true, .max = DBL_MAX, \
      .doc = "Loss scale; the update divides gradients by it." }

#define CR_OPTIM_GROUPS(T) \
    { .name = "group_params", .at = offsetof(T, common.group_params), \
      .type = CR_OPT_NODE, .need = CR_OPTIONAL, \
      .doc = "Overrides for groups of parameters: a list of {params: " \
             "PATTERNS, learning_rate: RATE, weight_decay: NUMBER}. The " \
             "first matching group applies; weight decay in a group covers " \
             "every name." }

const struct cr_optim *cr_optim_find(const char *name);

/* Parameters with a rate or a weight decay of their own. */
struct cr_optim_group {
    struct cr_patterns *patterns;
    const struct cr_node *node; /* of the patterns */
    bool has_lr;
    struct cr_lr lr;
    double weight_decay;        /* NaN: the optimizer's */
    int params;                 /* that it holds for */
};

/* The section `optimizer`, read. */
struct cr_optim_use {
    const struct cr_optim *optim;
    const void *own;                     /* its options */
    const struct cr_optim_common *opts;  /* the same, or those within */
    struct cr_lr lr;
    double factor;                       /* of all rates: 1, or less */
    struct cr_loss_scale_opts scale;
    int n_groups;
    struct cr_optim_group *group;
    int *group_of;                       /* of each parameter; -1: none */
};

/* Reads and checks the section; false after reporting, also when it is
 * missing. */
bool cr_optim_read(struct cr_config *config, struct cr_optim_use *to);

/* Reads the section and gives the network its rule, slots, and the
 * hyper-parameters of each parameter: weight decay is for those whose name
 * contains neither `beta` nor `gamma`, as in MindSpore, and for all members
 * of a group. Slots that a plain rule never moves are kept only with
 * `keep_unused_slots` (MindSpore has them too). Before any plan with update is
 * made. */
bool cr_optim_rule(struct cr_config *config, struct cr_net *net,
                   bool keep_unused_slots, struct cr_optim_use *to);

/* What MindSpore's optimizer has in its checkpoints besides slots, after that
 * many updates, so that it goes on where the run is: global_step, learning_rate
 * (times `factor`) where it is a number, and what the optimizer's `numbers`
 * say. `node` is the one node of the section `optimizer`. NULL after
 * reporting. */
const struct cr_tensor *cr_optim_numbers(struct cr_arena *arena,
                                         struct cr_diag *diag,
                                         const struct cr_node *node,
                                         int64_t updates, double factor,
                                         int *n);

/* Tells all rates how long the run is; false after reporting. */
bool cr_optim_bind(struct cr_diag *diag, struct cr_optim_use *use,
                   const struct cr_run_steps *run);

/* The rate of an update, counted from 0; groups with rates of their own get
 * theirs too. */
double cr_optim_lr(const struct cr_optim_use *use, struct cr_net *net,
                   int64_t update);

#endif
