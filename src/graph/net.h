/*
 * A network, as the commands and the training loop use it.
 *
 * cr_net_build turns the sections network, loss, init, freeze and load into
 * a graph with parameters. cr_net_exec plans it for a mode and a batch size:
 * training and prediction are two plans over the same parameters. A plan
 * allocates everything it needs; running it neither allocates nor locks.
 */
#ifndef CR_GRAPH_NET_H
#define CR_GRAPH_NET_H

#include "conf/config.h"
#include "num/spec.h"

struct cr_net;
struct cr_exec;
struct cr_print;

/* A parameter or moving statistic; the order is that of the network. */
struct cr_param {
    const char *name;       /* MindSpore's: "dense_relu_sequential.0.weight" */
    struct cr_spec spec;
    cr_real *data;
    int cell;               /* row of its cell */
    bool state;             /* assigned by a construct, not trained */
    bool statistic;         /* updated by the forward pass, not trained */
    bool rows;              /* a table of which batches use a few rows */
    bool never_trained;     /* its cell never trains it (affine: false) */
    bool frozen;            /* matched by freeze.patterns */
    bool unfrozen_later;    /* also by freeze.schedule: it has slots */
    bool stats_frozen;      /* a statistic that training does not update */
    bool trained;           /* gets a gradient and an update */
    const char *frozen_reason; /* why it is not trained; NULL: it is */
    const char *init;       /* "HeUniform(...)", for summary */
    const char *const *types; /* types of its cell and the enclosing cells,
                                 innermost first; NULL-terminated */
    struct cr_pos pos;      /* of its cell in the config */
};

struct cr_net_opts {
    const struct cr_column *columns; /* of a sample; NULL with n_columns 0 */
    int n_columns;                   /* 0: infer from `inputs` or cells */
    int64_t batch;                   /* the usual batch size */
    uint64_t seed;
    int64_t classes;                 /* of the data set; 0: unknown */
    bool loss;                       /* build the loss (section required) */
    bool metrics;                    /* and the metric blocks */
    bool force_float32;              /* ignore amp and to_float; see
                                        cr_net_amp_ignored */
    bool no_values;                  /* do not initialise (check, summary) */
    bool loaded;                     /* weights of a checkpoint follow: do not
                                        read initial values from files */
    const struct cr_print *print;    /* receives the output of print(...) and
                                        of plug-ins; NULL: discard it */
};

/* Observes running plans for the section watch (tensors tap.* of cr_exec_kept).
 * A plan of a kind for which `wants` returns true gets a second plan, which
 * runs before it if `due` returns true, and has no side effects. */
struct cr_observer {
    void *ctx;
    /* Whether to observe plans of that kind; *grads: their backward pass
     * too. */
    bool (*wants)(void *ctx, bool training, bool *grads);
    bool (*due)(void *ctx); /* whether to observe this batch */
    void (*seen)(void *ctx, struct cr_exec *exec);
    void (*begin)(void *ctx); /* a new pass over the data begins */
};
/* Sets the observer of plans made later; it must outlive them. */
void cr_net_observe(struct cr_net *net, const struct cr_observer *observer);
void cr_net_observe_begin(const struct cr_net *net);

/* NULL after reporting all errors. The network lives in the config's arena. */
struct cr_net *cr_net_build(struct cr_config *config,
                            const struct cr_net_opts *want);

/* The columns that the network was built for: those of the options, or of
 * `inputs`. */
const struct cr_column *cr_net_columns(const struct cr_net *net, int *n);
/* The column index of each input of the network. */
const int *cr_net_input_columns(const struct cr_net *net, int *n);

/* All parameters and statistics; one of them by name, NULL: not found. */
struct cr_param *cr_net_params(const struct cr_net *net, int *n);
struct cr_param *cr_net_param(const struct cr_net *net, const char *name);
/* The same as subjects of patterns. */
const struct cr_subject *cr_net_subjects(const struct cr_net *net, int *n);

/* A line of summary; one per cell, depth first. */
struct cr_cell_row {
    const char *name;       /* full path; "": the network itself */
    const char *type;
    const char *args;       /* "in_channels=2, has_bias=True"; NULL: none */
    int depth;
    struct cr_spec in, out;
    int64_t params, trained; /* numbers of values, without subcells */
    double macs;            /* per sample, without subcells */
    bool leaf;
    bool predict;           /* in predict mode in training too */
    bool recompute;         /* computed again for the backward pass */
};
const struct cr_cell_row *cr_net_cells(const struct cr_net *net, int *n);

/* Warns if the network ends with an activation that the loss applies itself or
 * that does not suit it, and if output and label are broadcast. */
void cr_net_check_loss_input(const struct cr_net *net);

/* The target columns of the loss: their number and names; 0 without a loss. */
int cr_net_targets(const struct cr_net *net, const char *const **names);
/* Whether a loss or metric takes the column, so that `*args` of the network
 * does not: `label`, and what they name. */
bool cr_is_truth_column(const struct cr_config *config, const char *name);

/* One call of an update rule: a range of the elements of a parameter. */
#define CR_SLOTS_MAX 4
#define CR_SUMS_MAX 2
struct cr_update {
    const void *opts;       /* the optimizer's */
    int64_t n;              /* elements in the range */
    cr_real *w;
    const cr_real *g;       /* gradient, before weight decay */
    cr_real *slot[CR_SLOTS_MAX];
    double lr, weight_decay;
    double scale;           /* of the gradient, applied first (clip) */
    int64_t t;              /* number of the update, from 1 */
    bool excluded;          /* cr_hyper's */
    double sum[CR_SUMS_MAX]; /* of rule->reduce, over the whole parameter */
};

/* An optimizer, made by train/optim from the config. */
struct cr_update_rule {
    const void *opts;
    int slots;
    const char *const *slot_names;  /* "moments": the slot is moments.PARAM */
    const double *slot_init;        /* initial value of each */
    unsigned scalars;       /* bits: slots with one element, called NAMEPARAM */
    void (*update)(const struct cr_update *u); /* elementwise */
    /* Optional, before the update of a parameter: adds to `sums` sums over the
     * parameter, such as its norm. */
    int sums;
    void (*reduce)(const struct cr_update *u, double sum[CR_SUMS_MAX]);
    /* Optional, once per parameter after all ranges: updates scalar slots. */
    void (*finish)(const struct cr_update *u);
    bool rows;         /* of a parameter with .rows, rows whose gradient is 0
                          stay as they are, and so do their slots */
    bool is_plain_sgd; /* w -= lr * g: may be fused into the gradient */
};

/* Whether opts.force_float32 ignored a setting of amp or to_float. */
bool cr_net_amp_ignored(const struct cr_net *net);

/* The entries of freeze.schedule, in the order of the config. Plans made before
 * cr_net_unfreeze must be made again after it. */
struct cr_unfreeze_rule {
    struct cr_quantity at;
    struct cr_pos pos;
    const char *text;       /* the patterns, as written */
    int params;             /* number of parameters that it unfreezes */
    int64_t values;         /* their elements */
};
const struct cr_unfreeze_rule *cr_net_unfreeze_rules(const struct cr_net *net,
                                                     int *n);
void cr_net_unfreeze(struct cr_net *net, int i);
/* Undoes all calls of cr_net_unfreeze. */
void cr_net_freeze_again(struct cr_net *net);

/* Sets the update rule and allocates its slots; call once, before the first
 * plan with update. */
void cr_net_set_rule(struct cr_net *net, const struct cr_update_rule *rule);
/* Before cr_net_set_rule: whether the processes of mpirun share out the slots,
 * as they do where they see each other's memory, and drop gradients as soon as
 * they are used. Then cr_net_slots has the whole slots only between the
 * following calls, in process 0, before it reads or writes a checkpoint: */
void cr_net_shard(struct cr_net *net, bool slots, bool gradients);
/* After cr_net_set_rule, before the first plan, collective: where processes see
 * each other's memory, large parameters are there, once for all of them. */
void cr_net_share(struct cr_net *net);
/* zeros, to be read into; not collective; */
void cr_net_slots_open(struct cr_net *net);
/* what the processes have. */
void cr_net_slots_gather(struct cr_net *net);
/* Ends this: without and with giving the slots of process 0 to all. The second
 * one is for slots that are not shared out, too. */
void cr_net_slots_close(struct cr_net *net);
void cr_net_slots_share(struct cr_net *net);
/* The slots under their names in checkpoints; n == 0 without a rule. */
const struct cr_tensor *cr_net_slots(const struct cr_net *net, int *n);

/* Receiver of a plan's list of steps after each pass; NULL: it is as it was. */
struct cr_pass_report {
    void (*pass)(void *ctx, const char *name, const char *steps);
    void *ctx;
};

struct cr_exec_opts {
    bool training;          /* training mode, else predict mode */
    bool loss;              /* compute the loss too */
    bool metrics;           /* compute the metric blocks too */
    bool backward;
    bool update;            /* implies backward; requires a rule */
    bool eager;             /* op by op: no fusion, no pruning, keep all */
    bool keep_outputs;      /* keep outputs of all named cells and their
                               gradients (trace), which prevents fusion */
    bool separate_update;   /* store gradients, so that clip, grad_norm and
                               scale can act before the update */
    bool private_gradients; /* with separate_update: cr_exec_norm,
                               cr_exec_update and cr_exec_accumulate alone read
                               the gradients of parameters, and nothing changes
                               them: they may take two bytes per element */
    bool accumulates;       /* with separate_update: those of several batches
                               are added up */
    bool const_params;      /* parameters do not change after the first
                               forward: compute once what depends on
                               parameters only */
    bool freeze_stats;      /* do not update moving statistics */
    bool hold;              /* for finite differences: values that block
                               gradients (stop_gradient) keep the value of the
                               first forward, and hooks do not replace
                               gradients */
    bool results;           /* start backward at the results of the network,
                               with cr_exec_sens, instead of at the loss */
    bool inputs;            /* compute gradients of columns: grad.COLUMN */
    const bool *wrt_params, *wrt_columns; /* compute gradients of these only;
                               NULL: all. Must outlive the plan */
    bool observe;           /* with keep_outputs: keep what hooks observe, as
                               tap.ENTRY.WHAT.CELL, and gradients of the
                               inputs of the network */
    bool no_hooks;          /* ignore hooks that replace */
    const char *at;         /* a further value to keep, for cr_exec_at: the
                               output of this cell, or CR_EMBED; NULL: none */
    bool silent;            /* discard output of print(...) and plug-ins, as
                               with hold and observe */
    bool in_turn;           /* no other plan with this option runs between this
                               one's forward pass and the last look at its
                               values: they lie in the same memory */
    bool shared;            /* all processes of mpirun run this plan on the
                               same batch, and may share out its rows */
    const struct cr_pass_report *passes; /* NULL: none */
    int64_t batch;
    const struct cr_column *columns; /* of other shapes; NULL: the usual */
};

/* Plans the network; NULL after reporting. Free it with cr_exec_free. */
struct cr_exec *cr_net_exec(struct cr_net *net,
                            const struct cr_exec_opts *want);
void cr_exec_free(struct cr_exec *exec);

/* Sets column `column` of cr_net_opts.columns for the next step; columns that
 * the plan does not use are ignored. The data are not copied. */
void cr_exec_feed(struct cr_exec *exec, int column, const void *data);
/* Whether the plan reads only those rows of the column that this process
 * computes: cr_mpi_rows. */
bool cr_exec_local_column(const struct cr_exec *exec, int column);
/* Checks the integer columns of the fed batch (labels, indices) against their
 * bounds; false after reporting E0204 with column, value and sample. */
bool cr_exec_check(struct cr_exec *exec, struct cr_diag *diag,
                   const int64_t *samples);

/* Bounds of an integer column, low <= value < high; false: it has none. */
bool cr_exec_range(const struct cr_exec *exec, int column, int64_t *low,
                   int64_t *high);

/* Outside of training: sets the number of samples before this batch; random
 * numbers are keyed by the number of a sample there. */
void cr_exec_before(struct cr_exec *exec, int64_t samples);
/* Runs the forward pass of update `t` (from 1; keys the random numbers). */
void cr_exec_forward(struct cr_exec *exec, int64_t t);
/* After forward: false after reporting E0204, an index computed by the network
 * out of range, or E0604, a failed plug-in cell; then its results are invalid.
 * After backward: false after reporting E0604; then some parameters may have
 * been updated. */
bool cr_exec_check_faults(const struct cr_exec *exec, struct cr_diag *diag);
/* The loss; the mean of its elements if it is not a scalar. */
double cr_exec_loss(const struct cr_exec *exec);
/* The number that the gradients differentiate: the sum of the elements of the
 * loss and, with has_aux: false, of its auxiliary values. */
double cr_exec_objective(const struct cr_exec *exec);
/* Auxiliary values of the loss (aux): their names; their number in this plan
 * (plans for training, and plans that keep all values, compute them); the mean
 * of one of them. */
const char *const *cr_net_aux(const struct cr_net *net, int *n);
int cr_exec_aux(const struct cr_exec *exec);
double cr_exec_aux_mean(const struct cr_exec *exec, int i);
/* The metric blocks in the order of the config: their number, and the value of
 * the i-th: one number, or one or more per sample. */
int cr_exec_metrics(const struct cr_exec *exec);
const cr_real *cr_exec_metric(const struct cr_exec *exec, int i,
                              struct cr_spec *spec);
/* Whether a node of the section `metrics` is a metric block; whether it is the
 * name of an auxiliary value of the loss; its name in results, NULL: none. */
bool cr_is_metric_block(const struct cr_node *root,
                        const struct cr_node *metric);
bool cr_is_metric_aux(const struct cr_node *root, const struct cr_node *metric);
const char *cr_metric_block_name(const struct cr_node *metric);
/* Runs the backward pass; with opts.update (without opts.separate_update) the
 * updates too, at that learning rate. `sens` is the gradient of the loss, 1 or
 * the loss scale. Returns false, before any update, if the gradient of the
 * network's output, or a gradient that the loss passes to a parameter, is not
 * finite (with opts.keep_outputs or opts.separate_update all gradients are
 * computed nevertheless), or if a plug-in cell fails, which
 * cr_exec_check_faults reports. */
bool cr_exec_backward(struct cr_exec *exec, double sens, double lr);
/* With opts.results: sets the gradient of result i; NULL: ones. It is not
 * copied. */
void cr_exec_sens(struct cr_exec *exec, int i, const cr_real *sens);
/* With opts.separate_update, after backward: clips the elements of all
 * gradients; */
void cr_exec_clip_value(struct cr_exec *exec, double low, double high);
/* scales down the gradient of each parameter whose norm exceeds `norm`; */
void cr_exec_clip_per_param(struct cr_exec *exec, double norm);
/* multiplies all gradients by `scale`, then adds normal noise with that
 * standard deviation, keyed by seed, parameter name and `update`; */
void cr_exec_noise(struct cr_exec *exec, double scale, double deviation,
                   int64_t update);
/* returns the global norm of the gradients, or only whether they are finite;
 * multiplies them by `scale` and updates the parameters. */
double cr_exec_norm(struct cr_exec *exec);
bool cr_exec_gradients_finite(struct cr_exec *exec);
void cr_exec_update(struct cr_exec *exec, double scale, double lr);
/* Sets the number of skipped updates, which update rules do not count. */
void cr_net_skipped(struct cr_net *net, int64_t n);

/* Gradient accumulation: sets the number of micro-batches per update, once,
 * before the first plan with opts.separate_update. cr_exec_accumulate, after
 * each backward, adds up the gradients; after the last micro-batch the
 * functions above act on the sums. The `t` of cr_exec_forward counts
 * micro-batches. */
void cr_net_grad_accum(struct cr_net *net, int64_t micro_batches);
void cr_exec_accumulate(struct cr_exec *exec);
/* Before those functions: the sums over all processes of mpirun. */
void cr_exec_sum_accumulated(struct cr_exec *exec);

/* Hyper-parameters of one parameter, see section optimizer. */
struct cr_hyper {
    double lr;              /* its own rate; NaN: that of the step */
    double weight_decay;
    bool excluded; /* exempt from the rule's adaptation (LARS) */
};
void cr_net_hyper(struct cr_net *net, int param,
                  const struct cr_hyper *hyper);

/* Exponential moving averages (EMA) of all parameters and statistics, at first
 * copies: ema = decay * ema + (1 - decay) * value. cr_net_ema_swap exchanges
 * them with the values. */
void cr_net_ema(struct cr_net *net);
void cr_net_ema_update(struct cr_net *net, double decay);
void cr_net_ema_swap(struct cr_net *net);
/* The averages, named cellrun.ema.PARAM; n == 0: none. */
const struct cr_tensor *cr_net_ema_tensors(const struct cr_net *net, int *n);

/* The number of results of the network, and one of them for the fed batch. */
int cr_exec_results(const struct cr_exec *exec);
const cr_real *cr_exec_result(const struct cr_exec *exec, int i,
                              struct cr_spec *spec);
/* Whether the network has a loss, whose parameters are called loss.NAME. */
bool cr_net_has_loss(const struct cr_net *net);
/* The value that opts.at names; NULL: not found. */
#define CR_EMBED "<embed>" /* the input of the last op of the network with a
                              weight of at least two dimensions */
const cr_real *cr_exec_at(const struct cr_exec *exec, struct cr_spec *spec);
/* The name of result i in the `return` of the network's construct; NULL:
 * none. */
const char *cr_net_result_name(const struct cr_net *net, int i);
/* Type and shape of result i; NULL: not found. */
const struct cr_spec *cr_net_result_spec(const struct cr_net *net, int i);
/* The op that computes result i, ignoring changes of shape or type: "softmax";
 * "": it is an input. */
const char *cr_net_result_op(const struct cr_net *net, int i);
/* The possible values of opts.at except CR_EMBED; NULL-terminated. */
const char *const *cr_net_at_names(const struct cr_net *net);
/* The first result: the output of the network. */
const cr_real *cr_exec_output(const struct cr_exec *exec,
                              struct cr_spec *spec);
/* The first value of the last fed batch that is not finite: the output of a
 * cell, the loss or, in the backward pass with `sens`, the gradient of a cell's
 * output or of a parameter. sens 0: forward pass only. Computes the batch
 * again. */
struct cr_nonfinite {
    const char *name;       /* full name of the cell or parameter, "the loss";
                               "": all values are finite */
    const char *type;       /* of the cell; "": not a cell */
    bool backward;          /* the gradient, not the output */
};
struct cr_nonfinite cr_exec_first_nonfinite(struct cr_exec *exec, double sens);
/* The first column of the batch with a value that is not finite; NULL: none. */
const char *cr_exec_bad_column(const struct cr_exec *exec);
/* Whether all labels of the batch, or of this process's part of it, have the
 * value that a loss ignores (ignore_index). A mean of no labels is NaN. */
struct cr_ignored {
    const char *column;
    int64_t label;
    struct cr_pos pos;      /* of the loss */
};
bool cr_exec_all_ignored(const struct cr_exec *exec, struct cr_ignored *to);
/* The first parameter or slot with a value that is not finite. */
struct cr_nonfinite cr_net_nonfinite(const struct cr_net *net);

/* Save the moving statistics before a step; restore them if the step fails or
 * is skipped. */
void cr_net_statistics_save(struct cr_net *net);
void cr_net_statistics_restore(struct cr_net *net);
/* Whether each process of mpirun normalises its samples alone, before the first
 * plan; then, after a step that was saved before: the moving statistics become
 * the means of those of all processes. */
void cr_net_local_statistics(struct cr_net *net, bool local);
void cr_net_statistics_average(struct cr_net *net);
/* Whether the processes of mpirun send gradients as bfloat16; before the first
 * plan. */
void cr_net_reduce_bf16(struct cr_net *net, bool bf16);

/* Values of the last step in order of computation. With opts.keep_outputs:
 * output, output.CELL, loss, grad.PARAM, grad.COLUMN, grad.output.CELL, as far
 * as they exist; else output and loss, and with opts.separate_update
 * grad.PARAM. */
const struct cr_tensor *cr_exec_kept(struct cr_exec *exec, int *n);

/* For summary and bench: bytes of working memory of a step; how many of them
 * are scratch memory of threads; multiply-adds of forward and backward pass for
 * the whole batch. */
size_t cr_exec_bytes(const struct cr_exec *exec);
size_t cr_exec_thread_scratch(const struct cr_exec *exec);
double cr_exec_macs(const struct cr_exec *exec);
/* Multiply-adds of the backward pass; *all: of an unpruned one, with all
 * parameters trained and gradients through every op. */
double cr_exec_backward_macs(const struct cr_exec *exec, double *all);
/* A cell without a backward pass. */
struct cr_pruned {
    const char *name;       /* of the cell */
    const char *reason;
    bool hook;              /* only its hook is pruned */
};
const struct cr_pruned *cr_exec_pruned(const struct cr_exec *exec, int *n);
/* Cost of a step of the plan. The first call of cr_exec_costs starts the
 * measurement. */
struct cr_exec_step_cost {
    const char *cell;       /* of an update: the parameter; a reorder: "" */
    const char *op;
    int node;               /* the id of its first output, of that of its
                               forward pass in backward; -1: none */
    const char *kernel;     /* that computes it; NULL: the op has only one */
    bool back;              /* in the backward pass */
    int64_t runs;
    double seconds, macs, bytes; /* seconds: of all runs; others: of one run,
                                    each operand counted once */
};
const struct cr_exec_step_cost *cr_exec_costs(struct cr_exec *exec, int *n);
/* A step that hooks keep from being fused: in `without`, a plan of the same
 * kind with opts.no_hooks, it is part of another step. */
struct cr_unfused_step {
    const char *cell, *op;  /* the unfused step */
    const char *of, *with;  /* cell and op of the step it was fused into; "":
                               the next one */
    bool back;              /* in the backward pass */
};
const struct cr_unfused_step *
cr_exec_unfused_steps(struct cr_exec *exec, const struct cr_exec *without,
                      int *n);
/* The steps as text, one per line, for summary -v; in the arena. `at`: those
 * of this cell and its subcells, or NULL. */
const char *cr_exec_dump(const struct cr_exec *exec, const char *at,
                         struct cr_arena *arena);
/* Bytes of the plan's values, and in *live the largest sum of those that are
 * in use at the same time: what they take at least. */
size_t cr_exec_value_bytes(const struct cr_exec *exec, size_t *live);

#endif
