/*
 * An optimizer: option rows, slots, and an elementwise update rule.
 *
 * The engine owns the slots and calls update with a range of one parameter
 * (graph/net.h, struct cr_update). An update applies weight decay first, then
 * the rule at the learning rate of that update.
 */
#ifndef CR_TRAIN_OPTIM_H
#define CR_TRAIN_OPTIM_H

#include "graph/net.h"
#include "train/loss_scale.h"
#include "train/schedule.h"

/* A scalar that MindSpore's optimizer saves in checkpoints in addition to
 * slots: an option, or the option to the power of the number of updates, in
 * float32. */
struct cr_optim_number {
    const char *name; /* NULL ends a list */
    size_t at;        /* offset of the option, a double */
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
    void (*reduce)(const struct cr_update *u, double sum[CR_SUMS_MAX]);
    void (*finish)(const struct cr_update *u);
    /* Optional: the number of slots that these options need, and the initial
     * value of a slot. */
    int (*count)(const void *opts);
    double (*start)(const void *opts, int slot);
    /* Weight decay applies to all parameters, whatever their names. */
    bool decays_all;
    /* Optional: the wrapped optimizer (of LARS), which has the common options
     * and the slots. Parameters whose names contain one of the words
     * `excluded`, which NULL ends, are passed on unchanged. */
    const struct cr_obj *(*inner)(const void *opts);
    const char *const *excluded;
    /* Optional: checks that option rows cannot express. */
    bool (*check)(struct cr_diag *diag, struct cr_pos pos, const void *opts);
    const char *const *checked; /* options that it compares; ends with NULL */
    /* Optional: scalars of MindSpore's checkpoints in addition to slots,
     * global_step and learning_rate; and the name of a counter that replaces
     * these two. */
    const struct cr_optim_number *numbers;
    const char *counter;
    /* Optional: true if with these options the rule is w -= lr * g without
     * slots, so that a matrix product may write the update itself. */
    bool (*plain)(const void *opts);
    bool rows; /* as in struct cr_update_rule */
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
             "first matching group applies. Weight decay, the group's own or " \
             "the optimizer's, then covers beta and gamma, too." }

const struct cr_optim *cr_optim_find(const char *name);

/* A group of parameters with its own learning rate or weight decay. */
struct cr_optim_group {
    struct cr_patterns *patterns;
    const struct cr_node *node; /* of the patterns */
    bool has_lr;
    struct cr_lr lr;
    double weight_decay;        /* NaN: the optimizer's */
    int params;                 /* number of parameters in it */
};

/* The section `optimizer`, read. */
struct cr_optim_use {
    const struct cr_optim *optim;
    const void *own;                     /* its options */
    const struct cr_optim_common *opts;  /* own, or of the wrapped one */
    struct cr_lr lr;
    double factor;                       /* of all rates, at most 1 */
    struct cr_loss_scale_opts scale;
    int n_groups;
    struct cr_optim_group *group;
    int *group_of;                       /* of each parameter; -1: none */
};

/* Reads and checks the section; false after reporting, also when it is
 * missing. */
bool cr_optim_read(struct cr_config *config, struct cr_optim_use *to);

/* Reads the section and sets the network's rule, slots, and hyper-parameters
 * of each parameter: weight decay applies to parameters whose names contain
 * neither `beta` nor `gamma`, as in MindSpore, and to all members of a group.
 * Slots that a plain rule never changes are kept only with `keep_unused_slots`
 * (MindSpore has them, too). Call it before any plan with update is made. */
bool cr_optim_rule(struct cr_config *config, struct cr_net *net,
                   bool keep_unused_slots, struct cr_optim_use *to);

/* The scalars of MindSpore's checkpoints after `updates` updates, with which
 * MindSpore continues the run: global_step, learning_rate (times `factor`) if
 * it is a number, and the optimizer's `numbers`. `node` is the node of the
 * section `optimizer`. Memory is owned by the arena. NULL after reporting. */
const struct cr_tensor *cr_optim_numbers(struct cr_arena *arena,
                                         struct cr_diag *diag,
                                         const struct cr_node *node,
                                         int64_t updates, double factor,
                                         int *n);

/* Sets the lengths of the run for all rates; false after reporting. */
bool cr_optim_bind(struct cr_diag *diag, struct cr_optim_use *use,
                   const struct cr_run_steps *run);

/* The rate of an update, counted from 0. Also sets the rates of groups that
 * have their own. */
double cr_optim_lr(const struct cr_optim_use *use, struct cr_net *net,
                   int64_t update);

#endif
