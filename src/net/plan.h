/*
 * A plan: the flat list of steps of one mode and batch size, and where every
 * tensor lies. Private to src/net.
 *
 * Made in this order: drop what nobody reads, infer shapes and choose layouts
 * (reorder steps go in where they must), fuse activations into producers, lay
 * out backward in reverse (the first writer of a gradient stores, the others
 * add), fuse masks and plain updates into the writers of gradients, place all
 * tensors by the time they live.
 */
#ifndef CR_NET_PLAN_H
#define CR_NET_PLAN_H

#include "net/graph.h"

/* A tensor of the plan. */
struct cr_pval {
    struct cr_spec spec;
    size_t bytes;
    int feed, param;        /* column or parameter it is; -1 */
    int alias;              /* shares the memory of that one; -1 */
    int grad;               /* its gradient; -1 */
    int writers, writer;    /* of a gradient: how many, and the last */
    int maker;              /* the step whose y[0] it is, until fused steps
                               are dropped; -1 */
    int uses;               /* forward steps that read it */
    int other;              /* the same value in the other layout; -1 */
    bool root;              /* read from outside: never reused or fused */
    bool needs;             /* somebody wants its gradient */
    bool bf16;              /* holds bfloat16 numbers only; not of gradients */
    bool seed;              /* the gradient of the loss or of a result, given
                               from outside */
    int first, last;        /* steps between which it lives */
    size_t offset;          /* in the block; buffers only */
    void *data;
};

enum cr_exec_step_kind {
    CR_FORWARD,
    CR_BACKWARD,
    CR_UPDATE
};

struct cr_exec_step {
    enum cr_exec_step_kind kind;
    const struct cr_opnode *node;
    const struct cr_op *op;
    int param;              /* CR_UPDATE: which */
    int n_in, n_out;
    int x[CR_OP_MAX], y[CR_OP_MAX];     /* pvals; -1: absent */
    int dy[CR_OP_MAX], dx[CR_OP_MAX];   /* backward */
    int mask[CR_OP_MAX];
    int direct[CR_OP_MAX];  /* parameter that dx updates directly; -1 */
    bool accumulate[CR_OP_MAX];
    int saved; /* pval; -1 */
    size_t saved_bytes, scratch, thread_scratch;
    enum cr_act act;
    bool same;              /* no work: y[0] is x[0] */
    bool once;              /* in the first forward only */
    const struct cr_bound *bounds; /* of computed inputs; NULL: none */
    double macs;
    struct cr_op_ctx run; /* what the op gets, pointers filled in */
};

struct cr_exec {
    struct cr_net *net;
    const struct cr_graph *graph;
    struct cr_exec_opts opts;
    struct cr_arena arena;
    struct cr_pval *vals;
    int n_vals, cap_vals;
    int *of;                /* pval of each value of the graph; -1 */
    struct cr_exec_step *steps;
    int n_steps, cap_steps;
    int n_forward;          /* steps before backward */
    int n_loss;             /* steps before those of the network's backward:
                               none of them updates a parameter */
    int *loss_grads, n_loss_grads; /* gradients of parameters that the steps
                               of the loss write */
    int n_backward;         /* steps before held-back updates */
    int *outputs, n_outputs; /* pvals; several of a tuple */
    int loss;               /* pval; -1 */
    int *aux, n_aux;        /* pvals of what the loss returns beside it */
    struct cr_seed {
        int val;            /* whose gradient is given, */
        const cr_real *sens; /* in elements; NULL: ones */
    } *seeds;
    int n_seeds;
    int at;                 /* pval of want.at; -1 */
    int *metrics;           /* pvals of the graph's */
    size_t bytes, scratch;
    size_t thread_scratch;  /* of each thread */
    int threads;            /* that have it */
    char *block;
    const void **fed;       /* per column */
    struct {
        const void **slot;
        int column;
    } *patches;             /* pointers to set when a column is fed */
    int n_patches;
    struct {
        int column;
        struct cr_bound bound;
        const struct cr_opnode *node;
    } *bounds;
    int n_bounds;
    bool *pruned_cells; /* per cell: one of the cuts; NULL: no backward */
    struct cr_pruned *pruned;
    int n_pruned;
    int64_t t;
    int64_t before;         /* samples before this batch, outside of training */
    bool ran;               /* forward has run to its end */
    const struct cr_print *print; /* NULL: nothing is printed */
    bool prints;            /* it is a printer: it runs what print(...) needs */
    struct cr_exec *observed; /* what an observer looks at; NULL: none does */
    bool observing;         /* in this step */
    struct cr_exec *printer; /* runs before it; NULL: nothing is printed */
    const struct cr_exec_step
        *fault; /* where forward stopped; NULL: it did not */
    int32_t fault_value;
    struct cr_bound fault_bound;
    char stop[CR_STOP_MAX]; /* of a plug-in's cell; "": it did not */
    struct cr_tensor *kept;
    int n_kept;
    struct cr_exec_step_cost *costs; /* per step; NULL: nobody asked */
};

/* exec.c: a plan of that graph; `prints`: of what print(...) needs alone. NULL
 * after reporting. */
struct cr_exec *cr_exec_new(struct cr_net *net, const struct cr_exec_opts *want,
                            const struct cr_graph *graph, bool prints);
/* observe.c: the plan that an observer looks at, if there is one; the same
 * step of it. */
bool cr_plan_observed(struct cr_exec *exec);
void cr_plan_observe_forward(struct cr_exec *exec, int64_t t);
void cr_plan_observe_backward(struct cr_exec *exec, double sens, double lr);
/* print.c: the printer of a plan, if it needs one. False after reporting. */
bool cr_plan_printer(struct cr_exec *exec);
/* layout.c: gives every buffer its offset; returns the size of the block. */
size_t cr_plan_layout(struct cr_exec *exec);
/* plan.c: fills exec->steps; false after reporting. */
bool cr_plan_make(struct cr_exec *exec);
int cr_plan_base(const struct cr_exec *exec, int val);
/* Plans a step whose x are set, and makes its outputs. */
bool cr_plan_step(struct cr_exec *exec, struct cr_exec_step *step,
                  const struct cr_opnode *node);
/* The step before `before` that makes val for one reader alone; -1. */
int cr_plan_producer(const struct cr_exec *exec, int val, int before);
/* Step number `at` makes val as its y[0] now. */
void cr_plan_takes(struct cr_exec *exec, int at, int val);
/* update.c: updates the parameter of a step; the rate it has in a step that
 * has `lr`. */
void cr_plan_update(struct cr_exec *exec, const struct cr_exec_step *step,
                    double scale, double lr);
double cr_plan_rate(const struct cr_exec *exec, int param, double lr);
/* A step for that node of the graph, in the layout it takes best. */
bool cr_plan_node(struct cr_exec *exec, const struct cr_opnode *node);
/* The same value in that layout: itself, or what a reorder makes of it. */
int cr_plan_in_layout(struct cr_exec *exec, int val, enum cr_layout layout);
struct cr_exec_step *cr_plan_new(struct cr_exec *exec,
                                 enum cr_exec_step_kind kind,
                                 const struct cr_opnode *node);
/* Registers step number `step` as a writer of val's gradient: its dx[i]. */
void cr_plan_write(struct cr_exec *exec, int step, int i, int val);
/* custom_grad.c: the backward pass of a cell with bprop, at its first node's
 * step. *cut: a gradient arrives, and nobody wants what it gives. False after
 * reporting. */
bool cr_plan_custom_grad(struct cr_exec *exec, const struct cr_exec_step *step,
                         bool *cut);
/* live.c: whether the plan keeps what is in between; whether it computes
 * results and loss, which one for prints alone does not. */
bool cr_plan_keeps_all(const struct cr_exec *exec);
bool cr_plan_ends(const struct cr_exec *exec);
/* The value that a node's result is, turned there and back (nhwc.h), so that
 * no step is needed; NULL: there is none, or the plan keeps both. */
const struct cr_val *cr_plan_shortcut(const struct cr_exec *exec,
                                      const struct cr_opnode *node);
/* Marks the nodes whose values somebody reads; eager plans run them all. */
bool *cr_plan_live(struct cr_exec *exec);
/* fuse.c: additions and activations, into what makes their operands. */
void cr_plan_fuse(struct cr_exec *exec);
/* The ReLU between a producer and its consumers, in the backward pass: done
 * by the one writer of the gradient if it can, else by a step in place. */
void cr_plan_act_backward(struct cr_exec *exec,
                          const struct cr_exec_step *step);
/* low.c: products of bfloat16 numbers, and steps that round for them. */
void cr_plan_low(struct cr_exec *exec);
/* Before the backward pass of step f: whether its product is one of bfloat16
 * there too. What arrives is rounded if f has taken the `half` behind it. */
bool cr_plan_low_backward(struct cr_exec *exec, const struct cr_exec_step *f);
/* After the backward pass of step f, step number `at`: a gradient that it alone
 * reads is rounded where it lies. */
void cr_plan_low_gave(struct cr_exec *exec, const struct cr_exec_step *f,
                      int at);
/* The gradient of a value, made if there is none yet. */
int cr_plan_grad(struct cr_exec *exec, int val);
/* seeds.c: whether the gradient of that column or parameter is read from
 * outside; and whether it is computed. */
bool cr_plan_wrt(const struct cr_exec *exec, const struct cr_val *v);
bool cr_plan_source_needs(const struct cr_exec *exec, const struct cr_val *v);
/* Whether the values beside the loss are computed: in training, and where all
 * are kept. */
bool cr_plan_aux(const struct cr_exec *exec);
/* Makes the gradients at which the backward pass begins; later, in each step,
 * fills them. False: nothing wants them. */
bool cr_plan_seeds(struct cr_exec *exec);
bool cr_plan_seeds_fill(struct cr_exec *exec, double sens);
/* nonfinite.c */
bool cr_all_finite(const cr_real *x, int64_t n);
/* bn_folding.c: false after reporting. */
bool cr_plan_fold(struct cr_exec *exec);

#endif
