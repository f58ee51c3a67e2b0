/*
 * A network ready to be planned: what the commands and the training loop see.
 *
 * cr_net_build turns the sections network, loss, init, freeze and load into
 * a graph with parameters. cr_net_exec plans it for a mode and a batch size:
 * train and predict are two plans over the same parameters. A plan allocates
 * everything it needs; running it allocates, locks and decides nothing.
 */
#ifndef CR_NET_NET_H
#define CR_NET_NET_H

#include "conf/config.h"
#include "math/spec.h"

struct cr_net;
struct cr_exec;
struct cr_print;

/* A parameter or moving statistic, in the network's order. */
struct cr_param {
    const char *name;       /* MindSpore's: "dense_relu_sequential.0.weight" */
    struct cr_spec spec;
    cr_real *data;
    int cell;               /* row of its cell */
    bool state;             /* a statistic that a construct assigns */
    bool statistic;         /* moved by the forward pass, never trained */
    bool never_trained;     /* never trained by its cell's own wish */
    bool frozen;            /* matched by freeze.patterns */
    bool unfrozen_later;    /* and by freeze.schedule: has slots already */
    bool stats_frozen;      /* a statistic that training leaves alone */
    bool trained;           /* gets a gradient and an update */
    const char *frozen_reason; /* why it is not trained; NULL if it is */
    const char *init;       /* "HeUniform(...)", for summary */
    const char *const *types; /* "Dense", those of the cells around; NULL */
    struct cr_pos pos;      /* of its cell in the config */
};

struct cr_net_opts {
    const struct cr_column *columns; /* what a batch holds, without batch */
    int n_columns;                   /* 0: shapes from `inputs` or cells */
    int64_t batch;                   /* the usual batch size */
    uint64_t seed;
    int64_t classes;                 /* of the data; 0: not known */
    bool loss;                       /* build the loss (section required) */
    bool metrics;                    /* and metrics that are blocks */
    bool force_float32;              /* float32, whatever amp and to_float
                               say; cr_net_amp_ignored tells */
    bool no_values;                  /* check, summary: do not initialise */
    bool loaded;                     /* a checkpoint's weights come next, so
                                        no file gives initial values */
    const struct cr_print *print;    /* takes what print(...) and plug-ins say
                                        when a plan runs; NULL: nobody */
};

/* Looks at plans as they run, with what the section watch names (as tap.* of
 * cr_exec_kept). A plan of a kind that `wants` asks for has another one beside
 * it, which runs first where `due` says so, and changes nothing. */
struct cr_observer {
    void *ctx;
    /* Whether plans of that kind are looked at; *grads: on the backward pass
     * too. */
    bool (*wants)(void *ctx, bool training, bool *grads);
    bool (*due)(void *ctx); /* this batch */
    void (*seen)(void *ctx, struct cr_exec *exec);
    void (*begin)(void *ctx); /* another pass over data begins */
};
/* For plans that are made from now on; must live as long as they. */
void cr_net_observe(struct cr_net *net, const struct cr_observer *observer);
void cr_net_observe_begin(const struct cr_net *net);

/* NULL after reporting all problems. Memory is the config's arena. */
struct cr_net *cr_net_build(struct cr_config *config,
                            const struct cr_net_opts *want);

/* The columns it was built for: those wanted, or of `inputs`. */
const struct cr_column *cr_net_columns(const struct cr_net *net, int *n);
/* The inputs of the network in their order, as numbers of columns. */
const int *cr_net_input_columns(const struct cr_net *net, int *n);

struct cr_param *cr_net_params(const struct cr_net *net, int *n);
struct cr_param *cr_net_param(const struct cr_net *net, const char *name);
/* All of them, as patterns are asked about them. */
const struct cr_subject *cr_net_subjects(const struct cr_net *net, int *n);

/* One line per cell, as summary prints it; depth first. */
struct cr_cell_row {
    const char *name;       /* full path; "" is the network itself */
    const char *type;
    const char *args;       /* "in_channels=2, has_bias=True"; NULL: none */
    int depth;
    struct cr_spec in, out;
    int64_t params, trained; /* values, own ones only */
    double macs;            /* per sample, own ops only */
    bool leaf;
    bool predict;           /* stays in predict mode in training too */
};
const struct cr_cell_row *cr_net_cells(const struct cr_net *net, int *n);

/* Warns when the network ends with an activation that the config's loss
 * applies itself, or that it cannot use, and when output and label
 * broadcast. */
void cr_net_check_loss_input(const struct cr_net *net);

/* The columns that the config's loss takes behind what this network gives:
 * their number and names; 0 without a loss. */
int cr_net_targets(const struct cr_net *net, const char *const **names);
/* Whether a loss or metric takes the column, so that `*args` of the network
 * does not: `label`, and what they name. */
bool cr_is_truth_column(const struct cr_config *config, const char *name);

/* How parameters are updated; made by train/optim from the config. The
 * learning rate and such stand in the hyper-parameters of each step. */
#define CR_SLOTS_MAX 4
#define CR_SUMS_MAX 2
struct cr_update {
    const void *opts;       /* the optimizer's */
    int64_t n;              /* elements of this part */
    cr_real *w;
    const cr_real *g;       /* gradient, before weight decay */
    cr_real *slot[CR_SLOTS_MAX];
    double lr, weight_decay;
    double scale;           /* multiply the gradient by this first (clip) */
    int64_t t;              /* number of this update, from 1 */
    bool excluded;          /* cr_hyper's */
    double sum[CR_SUMS_MAX]; /* rule->measure's, over the whole parameter */
};

struct cr_update_rule {
    const void *opts;
    int slots;
    const char *const *slot_names;  /* "moments": slot is moments.PARAM */
    const double *slot_init;        /* initial value of each */
    unsigned scalars;       /* bits: slots of one number, called NAMEPARAM */
    void (*update)(const struct cr_update *u); /* elementwise */
    /* Optional: before the update of a parameter, `sums` sums over the part:
     * what a rule must know of a parameter as a whole. */
    int sums;
    void (*reduce)(const struct cr_update *u, double sum[CR_SUMS_MAX]);
    /* Optional: once per parameter, after all parts: for scalar slots. */
    void (*finish)(const struct cr_update *u);
    bool is_plain_sgd; /* w -= lr * g, no more: products may write it */
};

/* Whether opts.force_float32 left something out. */
bool cr_net_amp_ignored(const struct cr_net *net);

/* The entries of freeze.schedule, in the order of the config. A plan made
 * before cr_net_unfreeze must be made again after it. */
struct cr_unfreeze_rule {
    struct cr_quantity at;
    struct cr_pos pos;
    const char *text;       /* the patterns, as written */
    int params;             /* frozen parameters that it lets go */
    int64_t values;
};
const struct cr_unfreeze_rule *cr_net_unfreeze_rules(const struct cr_net *net,
                                                     int *n);
void cr_net_unfreeze(struct cr_net *net, int i);
/* As before the first of them. */
void cr_net_freeze_again(struct cr_net *net);

/* Gives the network its slots; call once, before planning with update. */
void cr_net_set_rule(struct cr_net *net, const struct cr_update_rule *rule);
/* Slots as tensors under the checkpoint's names; n == 0 without a rule. */
const struct cr_tensor *cr_net_slots(const struct cr_net *net, int *n);

struct cr_exec_opts {
    bool training;          /* training behaviour, else predict */
    bool loss;              /* compute the loss too, */
    bool metrics;           /* and the metrics that are blocks */
    bool backward;
    bool update;            /* implies backward; needs a rule */
    bool eager;             /* op by op, unfused, unpruned, keeps all */
    bool keep_outputs;      /* keep outputs of all named cells and their
                       gradients (trace); fused values stay apart */
    bool separate_update;   /* gradients stay apart so that clip, grad_norm
                    and scale can act before the update */
    bool const_params;      /* parameters stay as they are at the first
                        forward: what follows from them alone is
                        computed once */
    bool freeze_stats;      /* moving statistics stay where they are */
    bool hold;              /* what no gradient passes (stop_gradient) stays as
                               in the first forward, and hooks replace no
                               gradient: what gradients are derivatives of */
    bool results;           /* backward begins at the network's results, with
                               cr_exec_sens, and not at the loss */
    bool inputs;            /* gradients of the columns too: grad.COLUMN */
    const bool *wrt_params, *wrt_columns; /* gradients of these instead; or
                               NULL. Copied by nobody */
    bool observe;           /* with keep: what hooks look at, as tap.ENTRY.WHAT.
                            CELL, and gradients of the network's inputs */
    bool no_hooks;          /* as if no hook replaced anything */
    const char *at;         /* a further value to keep, for cr_exec_at: the
                               output of the cell of that name, or CR_EMBED;
                               NULL: none */
    bool silent;            /* print(...) and plug-ins say nothing, nor do they
                               with hold and taps */
    int64_t batch;
    const struct cr_column *columns; /* other shapes than the usual ones */
};

struct cr_exec *cr_net_exec(struct cr_net *net,
                            const struct cr_exec_opts *want);
void cr_exec_free(struct cr_exec *exec);

/* The columns of one batch, in the order of cr_net_opts.columns; columns that
 * the plan does not use are ignored. Not copied: must live through the
 * step. */
void cr_exec_feed(struct cr_exec *exec, int column, const void *data);
/* Checks integer inputs of the fed batch against their bounds (labels,
 * indices); reports E0204 with column, value and sample number. */
bool cr_exec_check(struct cr_exec *exec, struct cr_diag *diag,
                   const int64_t *samples);

/* What an integer column may hold, low <= value < high; false: all it can. */
bool cr_exec_range(const struct cr_exec *exec, int column, int64_t *low,
                   int64_t *high);

/* Outside of training: how many samples came before the batch that is fed;
 * random numbers are keyed by a sample's number there. */
void cr_exec_before(struct cr_exec *exec, int64_t samples);
/* Forward and loss of update number `t` (from 1; keys the random numbers). */
void cr_exec_forward(struct cr_exec *exec, int64_t t);
/* After forward: false, after reporting E0204, when an index that the network
 * computed was out of its range, or E0604, when a plug-in's cell cannot go on;
 * then nothing of this forward counts. After backward: the latter, when
 * parameters may have been updated in part. */
bool cr_exec_check_faults(const struct cr_exec *exec, struct cr_diag *diag);
/* The loss as a number: the mean of its elements if it is no scalar. */
double cr_exec_loss(const struct cr_exec *exec);
/* The number that the gradients differentiate: the sum of the elements of the
 * loss and, with has_aux: false, of its auxiliary values. */
double cr_exec_objective(const struct cr_exec *exec);
/* What the loss returns beside it (aux): the names, which plans for training
 * and such that keep all compute; how many these are, and the mean of one. */
const char *const *cr_net_aux(const struct cr_net *net, int *n);
int cr_exec_aux(const struct cr_exec *exec);
double cr_exec_aux_mean(const struct cr_exec *exec, int i);
/* The metrics of the config that are blocks, in its order: how many; what the
 * i-th gives, one number, or as many for each sample. */
int cr_exec_metrics(const struct cr_exec *exec);
const cr_real *cr_exec_metric(const struct cr_exec *exec, int i,
                              struct cr_spec *spec);
/* Whether a node of the section `metrics` is a block, or the name of what the
 * config's loss returns beside it (aux); its name in results, NULL: it says
 * none. */
bool cr_is_metric_block(const struct cr_node *root,
                        const struct cr_node *metric);
bool cr_is_metric_aux(const struct cr_node *root, const struct cr_node *metric);
const char *cr_metric_block_name(const struct cr_node *metric);
/* Backward; with opts.update (without opts.separate_update) the updates too, at
 * that learning rate. `sens` multiplies the gradient of the loss (1 unless
 * scaled). Returns false, before anything was updated, when the gradient of the
 * network's output, or one that the loss gives a parameter, is not finite
 * (with opts.keep or opts.separate_update all gradients are computed
 * nevertheless); or when a plug-in's cell cannot go on, which
 * cr_exec_check_faults reports. */
bool cr_exec_backward(struct cr_exec *exec, double sens, double lr);
/* With opts.results: the gradient that arrives at result i, which must live
 * through the step; NULL: ones. */
void cr_exec_sens(struct cr_exec *exec, int i, const cr_real *sens);
/* With opts.separate_update, after backward: what may happen to the gradients
 * (all of them, or elements beyond a bound), their global norm, then the
 * updates. */
void cr_exec_clip_value(struct cr_exec *exec, double low, double high);
/* Makes each parameter's gradient shorter by itself where its norm is more. */
void cr_exec_clip_per_param(struct cr_exec *exec, double norm);
/* Every gradient times `scale`, then normal noise of that deviation on each
 * element: a function of the seed, the parameter's name and `update`. */
void cr_exec_noise(struct cr_exec *exec, double scale, double deviation,
                   int64_t update);
double cr_exec_norm(struct cr_exec *exec);
void cr_exec_update(struct cr_exec *exec, double scale, double lr);
/* Updates left out until now: rules that count do not count them. */
void cr_net_skipped(struct cr_net *net, int64_t n);

/* Several micro-batches make one update: their number is told once, before
 * the first plan with opts.separate_update. After each backward
 * cr_exec_accumulate adds the gradients to those before; behind the last of an
 * update norm and update see the sums. The `t` of cr_exec_forward counts
 * micro-batches. */
void cr_net_grad_accum(struct cr_net *net, int64_t micro_batches);
void cr_exec_accumulate(struct cr_exec *exec);

/* Hyper-parameters of one parameter. */
struct cr_hyper {
    double lr;              /* its own rate; NaN: the step's */
    double weight_decay;
    bool excluded; /* the rule's exception (LARS: not adapted) */
};
void cr_net_hyper(struct cr_net *net, int param,
                  const struct cr_hyper *hyper);

/* Moving means of all parameters and statistics, which begin as copies:
 * mean = decay * mean + (1 - decay) * value. cr_net_ema_swap exchanges them
 * with the values. */
void cr_net_ema(struct cr_net *net);
void cr_net_ema_update(struct cr_net *net, double decay);
void cr_net_ema_swap(struct cr_net *net);
/* Named cellrun.ema.PARAM; n == 0 without. */
const struct cr_tensor *cr_net_ema_tensors(const struct cr_net *net, int *n);

/* How many results the network gives, and one of them for the fed batch. */
int cr_exec_results(const struct cr_exec *exec);
const cr_real *cr_exec_result(const struct cr_exec *exec, int i,
                              struct cr_spec *spec);
/* Whether it was built with its loss, whose parameters are loss.NAME. */
bool cr_net_has_loss(const struct cr_net *net);
/* The value that opts.at names: NULL if there is none of that name. */
#define CR_EMBED "<embed>" /* the input of the last op of the network that has
                              a weight of at least two dimensions */
const cr_real *cr_exec_at(const struct cr_exec *exec, struct cr_spec *spec);
/* The name of result i as the `return` of the network's construct has it;
 * NULL: it has none. */
const char *cr_net_result_name(const struct cr_net *net, int i);
/* Type and shape of result i; NULL: there is no such result. */
const struct cr_spec *cr_net_result_spec(const struct cr_net *net, int i);
/* The op that computes result i, less what only changes its shape or type:
 * "softmax" ...; "" for an input. */
const char *cr_net_result_op(const struct cr_net *net, int i);
/* The names of the values that opts.at may have, but CR_EMBED;
 * NULL-terminated. */
const char *const *cr_net_at_names(const struct cr_net *net);
/* The first one: the network's output. */
const cr_real *cr_exec_output(const struct cr_exec *exec,
                              struct cr_spec *spec);
/* Where the batch fed last first holds a value that is not finite: the output
 * of a cell; the loss; or, on the backward pass with `sens`, the gradient of
 * a cell's output or of a parameter. A sens of 0 looks at the forward pass
 * alone. Computes the batch again. */
struct cr_nonfinite {
    const char *name;       /* full name of the cell or parameter, "the loss";
                               "": all is finite */
    const char *type;       /* of the cell; "": it is none */
    bool backward;          /* its gradient, not its output */
};
struct cr_nonfinite cr_exec_first_nonfinite(struct cr_exec *exec, double sens);
/* The first column of the batch that is not finite; NULL: all are. */
const char *cr_exec_bad_column(const struct cr_exec *exec);
/* The first parameter or slot that is not finite, with the type of its cell. */
struct cr_nonfinite cr_net_nonfinite(const struct cr_net *net);

/* Moving statistics: saved at the start of a step, and put back where the
 * step fails or is skipped. */
void cr_net_statistics_save(struct cr_net *net);
void cr_net_statistics_restore(struct cr_net *net);

/* What a keep plan kept, in order of computation: output, output.CELL,
 * loss, grad.PARAM, grad.COLUMN, grad.output.CELL (those that exist). Other
 * plans have output and loss, and with opts.separate_update grad.PARAM. */
const struct cr_tensor *cr_exec_kept(struct cr_exec *exec, int *n);

/* Facts for summary and bench: bytes of a step's working memory, and how many
 * of them are the kernels' on all threads; its multiply-adds, both ways, for
 * the whole batch; what was cut. */
size_t cr_exec_bytes(const struct cr_exec *exec);
size_t cr_exec_thread_scratch(const struct cr_exec *exec);
double cr_exec_macs(const struct cr_exec *exec);
/* Those of the way back, and of one on which nothing is cut: every parameter
 * trained, gradients through every op. */
double cr_exec_backward_macs(const struct cr_exec *exec, double *all);
struct cr_pruned {
    const char *name;       /* cell */
    const char *reason;
    bool hook;              /* not the cell: its hook */
};
const struct cr_pruned *cr_exec_pruned(const struct cr_exec *exec, int *n);
/* What every step costs. The first call starts the clock: `seconds` are those
 * of all runs after it. `bytes` counts each operand once per step. */
struct cr_exec_step_cost {
    const char *cell;       /* an update: parameter; a reorder: "" */
    const char *op;
    bool back;
    int64_t runs;
    double seconds, macs, bytes; /* seconds of all runs, the rest of one */
};
const struct cr_exec_step_cost *cr_exec_costs(struct cr_exec *exec, int *n);
/* What is done apart because of hooks, and was part of another step in
 * `without`, a plan of the same kind with opts.no_hooks. */
struct cr_unfused_step {
    const char *cell, *op;  /* what stands by itself now, */
    const char *of, *with;  /* and the cell and op that did it; "" where */
    bool back;              /* that was the next one on the way back */
};
const struct cr_unfused_step *
cr_exec_unfused_steps(struct cr_exec *exec, const struct cr_exec *without,
                      int *n);
/* The flat list of steps as text, one per line (summary -v, tests). */
const char *cr_exec_dump(const struct cr_exec *exec, struct cr_arena *arena);

#endif
