/*
 * A plan: one mode of a network, compiled for one batch size.
 *
 * Passes (passes.c) turn the nodes of a graph into steps and change the list
 * of steps: unused nodes are pruned, layouts are chosen, neighbours are
 * fused, the backward pass and the updates are appended, every value gets its
 * place in memory. A step reads and writes values; a value knows the step that
 * writes it and all operands that read it, so a pass never searches for
 * readers. Each value is written once: a step that adds to a gradient, rounds
 * in place or updates a parameter reads one value and writes another in the
 * same memory. verify.c states what holds between passes.
 *
 * Used by src/run, which runs the steps. Knows nothing of configs, cells'
 * descriptors or the training loop.
 *
 * Includes: base families graph mpi num.
 */
#ifndef CR_PLAN_PLAN_H
#define CR_PLAN_PLAN_H

#include "graph/graph.h"
#include "mpi/mpi_calls.h"

struct cr_exec_step;

/* What a step reads at one place. Operands of a value form a list. */
struct cr_operand {
    struct cr_pval *val;      /* NULL: absent */
    struct cr_exec_step *step;
    struct cr_operand *prev, *next;
};

/* Which part of a value a process has, if several share a plan: split.c. */
enum cr_part {
    CR_PART_WHOLE, /* all rows, computed by each */
    CR_PART_ROWS,  /* its own rows */
    CR_PART_ALIKE  /* it has no rows; gradients are sums over processes */
};

/* A value: a tensor that one step writes, a column or a parameter. */
struct cr_pval {
    int id;                   /* in order of creation */
    struct cr_spec spec;
    size_t bytes;
    struct cr_exec_step *maker; /* writes it; NULL: a source, a seed, room of
                                 one step (x_again), or a value that passes
                                 have replaced */
    struct cr_operand *uses;  /* operands that read it */
    int n_uses;
    int feed, param;          /* index of the column or parameter; -1 */
    struct cr_pval *alias;    /* the value whose memory it shares; NULL. Once
                                 set it stays */
    struct cr_pval *up;       /* one that it shares memory with through several
                                 aliases, nearer to the base; NULL: alias */
    struct cr_pval *into;     /* what its maker makes instead, since it has
                                 taken over a step that read this; NULL */
    struct cr_pval *grad;     /* its gradient, as written last; NULL: none */
    struct cr_pval *other;    /* the same value in the other layout; NULL */
    enum cr_part part;
    bool root;                /* read from outside: never reused or fused */
    bool once;                /* a root for that alone: it is computed once */
    bool needs;               /* its gradient is wanted */
    enum cr_type low;         /* CR_F16, CR_BF16: holds such numbers only */
    bool seed;                /* a gradient that is given from outside */
    int first, last;          /* numbers of the steps between which it lives;
                                 first -1: it needs no memory */
    size_t offset;            /* in the block; buffers only */
    void *home;               /* in memory that other processes see, which have
                                 their parts of the sum there; NULL */
    size_t feed_offset;       /* in the column, of the rows of this process */
    void *data;
    struct cr_pval *next;
};

enum cr_exec_step_kind {
    CR_FORWARD,
    CR_BACKWARD,
    CR_UPDATE
};

/* What the kernels of a step do to y[0] before they store it, as far as they
 * have accepted it (fuse.c); in a backward step what forward did and it undoes.
 * A bias and an addend are operands. */
struct cr_step_end {
    unsigned parts;          /* enum cr_end */
    double scale;            /* with CR_END_SCALE */
    const struct cr_op *act; /* with CR_END_ACT or CR_END_MAP: the activation,
                              */
    const void *attr;        /* and its attributes */
    /* With CR_END_LATE_BIAS, CR_END_DROP, CR_END_ADD: the steps that it has
     * taken over. */
    const struct cr_exec_step *bias, *drop, *sum;
};

/*
 * A step. Forward, it reads x and writes y and `saved`. Backward, it reads x
 * and y as far as the op's gradient needs them, dy, `saved`, mask and acc, and
 * writes dx: dx[i] is acc[i] plus the gradient, in the memory of acc[i]. An
 * update reads the gradient dy[0] and writes dx[0], the parameter acc[0] after
 * the update.
 */
struct cr_exec_step {
    enum cr_exec_step_kind kind;
    int at;                   /* number in the list; cr_steps_number */
    const struct cr_opnode *node; /* NULL: made by a pass */
    const struct cr_op *op;
    const void *attr;
    int param;                /* CR_UPDATE: which */
    int n_in, n_out;
    struct cr_operand *x, *mask, *acc; /* n_in each */
    struct cr_operand *dy;    /* n_out */
    struct cr_operand *read_y; /* n_out: outputs that backward reads */
    struct cr_pval **y;       /* n_out; NULL but in forward steps */
    struct cr_pval **dx;      /* n_in; NULL: not wanted */
    int *direct;              /* n_in: parameter that dx[i] is; -1 */
    struct cr_pval *saved;    /* written by forward for backward; with
                                 CR_END_KEEP what end.act got; NULL */
    struct cr_operand read_saved; /* read by backward */
    size_t saved_bytes, scratch, thread_scratch;
    struct cr_spec *in, *out; /* of x and y, CR_OP_MAX each; a backward step
                                 has those of its forward step */
    struct cr_step_end end;
    const struct cr_op *map_grad; /* backward: the elementwise op whose gradient
                                 follows dx[0], at mask[0]; NULL: none */
    const void *map_attr;     /* its attributes */
    struct cr_pval *x_again;  /* where its result, which x[0] was, is computed
                                 again in this step; NULL: it is not */
    enum cr_type low;         /* see struct cr_op_ctx */
    unsigned rounds, partial, holds;
    unsigned two_bytes, mask_two_bytes, grads_two_bytes;
    bool training;
    bool same;                /* no work: y[0] is x[0] */
    bool once;                /* in the first forward only */
    bool constant;            /* y are the same for every batch */
    bool recomputed;          /* a forward step run again for backward */
    const struct cr_bound *bounds; /* of computed inputs; NULL: none */
    double macs;
    struct cr_exec_step *prev, *next;
    struct cr_op_ctx *run;    /* what the op gets, pointers filled in */
};

/* The part of a batch that this process computes: split.c. */
struct cr_split {
    int64_t first, n;         /* its rows */
    signed char *axis;        /* of rows, per value of the graph; -1: none */
    bool *total;              /* per value: made of the rows of all processes */
    const struct cr_opnode **node; /* per node: that of its rows, or of all */
    struct cr_pval **whole;   /* per value: all rows of it, where read */
};

struct cr_exec {
    struct cr_net *net;
    const struct cr_graph *graph;
    struct cr_exec_opts opts;
    struct cr_arena arena;
    struct cr_pval *vals, *last_val;
    int n_vals;
    struct cr_pval **of;      /* value of each value of the graph; NULL */
    struct cr_split *split;   /* NULL: this process computes all rows */
    bool fused;               /* the pass of fuse.c has run */
    bool summed;              /* gradients are those of all processes */
    bool parts;               /* processes read each other's */
    struct cr_exec_step *first, *last;
    struct cr_exec_step **steps; /* the list as an array, once it is complete */
    int n_steps;
    int n_forward;            /* steps before backward */
    int n_loss;               /* steps before those of the network's backward:
                                 none of them updates a parameter */
    struct cr_pval **loss_grads; /* gradients of parameters that the steps of
                                 the loss write */
    int n_loss_grads;
    struct cr_pval **output_grads; /* the same of the network's results, or
                                      given from outside */
    int n_output_grads;
    int n_backward;           /* steps before held-back updates */
    int meet;                 /* the first update of a parameter that processes
                                 share, after all that reads one; n_steps:
                                 those of rows are the only ones; -1: none */
    struct cr_exec_step *last_forward, *last_loss; /* NULL: none */
    struct cr_pval **outputs; /* several of a tuple */
    int n_outputs;
    bool local_outputs;       /* they are those of this process */
    struct cr_pval *loss;     /* NULL: none */
    struct cr_pval **aux;     /* what the loss returns next to it */
    int n_aux;
    struct cr_seed {
        struct cr_pval *val;  /* whose gradient is given, */
        struct cr_pval *grad; /* where it is written; NULL: not needed, */
        const cr_real *sens;  /* in elements; NULL: ones */
    } *seeds;
    int n_seeds;
    struct cr_pval *kept_at;  /* of opts.at; NULL: none */
    struct cr_pval **metrics; /* of the graph's */
    size_t bytes, scratch;
    size_t own_bytes;         /* of values that other plans leave alone */
    size_t thread_scratch;    /* of each thread */
    int threads;              /* that have it */
    char *block, *own;
    struct cr_room *room;     /* that block is in; NULL: none */
    const void **fed;         /* per column */
    struct {
        const void **slot;
        int column;
        size_t offset;
    } *patches;               /* pointers to set when a column is fed */
    int n_patches;
    struct {
        int column;
        struct cr_bound bound;
        const struct cr_opnode *node;
    } *bounds;
    int n_bounds;
    bool *pruned_cells;       /* per cell: one of the cuts; NULL: no backward */
    struct cr_pruned *pruned;
    int n_pruned;
    int64_t t;
    int64_t before;           /* outside of training: samples before this
                                 batch */
    bool ran;                 /* forward has run to its end */
    const struct cr_print *print; /* NULL: nothing is printed */
    bool prints;              /* it is a printer, which runs what print(...)
                                 needs */
    struct cr_exec *observed; /* what an observer looks at; NULL: none does */
    bool observing;           /* in this step */
    struct cr_exec *printer;  /* runs before it; NULL: nothing is printed */
    const struct cr_exec_step
        *fault;               /* where forward stopped; NULL: it did not */
    int32_t fault_value;
    struct cr_bound fault_bound;
    char stop[CR_STOP_MAX];   /* of a plug-in's cell; "": it did not */
    char stop_again[CR_STOP_MAX]; /* of steps after the fault */
    bool may_fault;           /* a step may fail in this process alone */
    struct cr_tensor *kept;
    int n_kept;
    struct cr_exec_step_cost *costs; /* per step; NULL: not wanted */
};

/* passes.c: runs all passes; then exec->steps is complete and every value has
 * its place. False after reporting. */
bool cr_plan_make(struct cr_exec *exec);

/* ---- steps.c: the list ---- */

struct cr_pval *cr_pval_new(struct cr_exec *exec, const struct cr_spec *spec);
/* The value whose memory this one has; NULL for NULL. */
struct cr_pval *cr_pval_base(struct cr_pval *val);
/* A step with room for the operands of its op, not in the list yet. */
struct cr_exec_step *cr_step_new(struct cr_exec *exec,
                                 enum cr_exec_step_kind kind,
                                 const struct cr_op *op, int n_in, int n_out);
/* Number of inputs with those that passes may add. */
int cr_step_room(const struct cr_op *op, int n_in);
void cr_step_append(struct cr_exec *exec, struct cr_exec_step *step);
/* Puts a step, which may stand elsewhere in the list, before or after
 * another. */
void cr_step_before(struct cr_exec *exec, struct cr_exec_step *step,
                    struct cr_exec_step *other);
void cr_step_after(struct cr_exec *exec, struct cr_exec_step *step,
                   struct cr_exec_step *other);
/* Takes a step out of the list and all its operands from their values. */
void cr_step_remove(struct cr_exec *exec, struct cr_exec_step *step);
/* The operand reads that value from now on; NULL: none. */
void cr_operand_set(struct cr_operand *operand, struct cr_pval *val);
/* The step writes val as its y[0] from now on. */
void cr_step_takes(struct cr_exec_step *step, struct cr_pval *val);
/* The forward step that writes val as its y[0] for one operand alone; NULL:
 * there is none, or val is read from outside. */
struct cr_exec_step *cr_step_producer(const struct cr_pval *val);
/* Whether both belong to one block that is computed again, or to none; NULL
 * does not. */
bool cr_step_same_block(const struct cr_exec_step *a,
                        const struct cr_exec_step *b);
/* Numbers all steps in order: step->at. */
void cr_steps_number(struct cr_exec *exec);
/* Whether the kernels of the step do these parts of an epilogue too, next to
 * those that they do already: to y[0] (of: CR_Y(0)) or to dx[i] (CR_X(i)). */
bool cr_step_accepts(const struct cr_exec_step *step, unsigned of,
                     unsigned parts);
/* Calls `each` for every operand of the step that has a value. */
void cr_step_operands(struct cr_exec_step *step, void *ctx,
                      void (*each)(void *ctx, struct cr_operand *operand));

/* ---- split.c: one plan for several processes ---- */

/* Decides which rows each node computes. False after reporting. */
bool cr_plan_split(struct cr_exec *exec);
/* Input k of a node, with as many rows as the node has; NULL: absent. */
struct cr_pval *cr_plan_operand(struct cr_exec *exec,
                                const struct cr_opnode *node, int k);
/* All rows of a value. */
struct cr_pval *cr_plan_whole(struct cr_exec *exec, const struct cr_val *val);
/* A result of the network: all rows, unless the plan trains, whose results are
 * not read from outside. */
struct cr_pval *cr_plan_output(struct cr_exec *exec, const struct cr_val *val);
/* Notes which part exec->of has of a value that the node (NULL: none) makes. */
void cr_plan_part(struct cr_exec *exec, const struct cr_opnode *node,
                  const struct cr_val *val);
/* collectives.c: sums up the gradients of parameters over the processes. */
bool cr_plan_collectives(struct cr_exec *exec);
/* The same, at once, of what a cast's backward step rounds: the step then adds
 * up the parts, and process 0 has the sum, rounded, and the others 0. */
void cr_plan_sum_first(struct cr_exec *exec, struct cr_exec_step *cast,
                       enum cr_type type);
/* The rows of x of all processes, which a step before that one gathers. */
struct cr_pval *cr_plan_all_rows(struct cr_exec *exec, struct cr_pval *x,
                                 int axis, struct cr_exec_step *before);
/* The type in which the processes add them up: train.reduce_dtype. */
enum cr_mpi_type cr_plan_sum_type(const struct cr_net *net);

/* ---- lower.c: from nodes to forward steps ---- */

/* Sources, then a forward step per live node, in the layouts that ops prefer.
 * False after reporting. */
bool cr_plan_lower(struct cr_exec *exec);
/* A step for that node of the graph, in the layout it takes best. */
bool cr_plan_node(struct cr_exec *exec, const struct cr_opnode *node);
/* Plans a step whose x are set, and makes its outputs; `node` says what op and
 * where. False after reporting. */
bool cr_plan_step(struct cr_exec *exec, struct cr_exec_step *step,
                  const struct cr_opnode *node);
/* The same value in that layout: itself, or what a reorder makes of it. */
struct cr_pval *cr_plan_in_layout(struct cr_exec *exec, struct cr_pval *val,
                                  enum cr_layout layout);

/* ---- live.c: what a plan computes ---- */

/* Whether the plan keeps what is in between; whether it computes results and
 * loss, which one for prints alone does not. */
bool cr_plan_keeps_all(const struct cr_exec *exec);
bool cr_plan_ends(const struct cr_exec *exec);
/* The value that a node's result is, turned there and back (nhwc.h), so that
 * no step is needed; NULL: there is none, or the plan keeps both. */
const struct cr_val *cr_plan_shortcut(const struct cr_exec *exec,
                                      const struct cr_opnode *node);
/* Marks the nodes whose values somebody reads; eager plans run them all. */
bool *cr_plan_live(struct cr_exec *exec);

/* ---- passes over forward steps ---- */

bool cr_plan_constants(struct cr_exec *exec);        /* constants.c */
/* Marks a step that gives the same for every batch; where parameters do not
 * change it is run once. */
void cr_plan_constant(struct cr_exec *exec, struct cr_exec_step *step);
bool cr_plan_fold(struct cr_exec *exec);             /* bn_folding.c */
bool cr_plan_casts(struct cr_exec *exec);            /* casts.c */
bool cr_plan_fuse(struct cr_exec *exec);             /* fuse.c */
bool cr_plan_prepare(struct cr_exec *exec);          /* constants.c */

/* ---- the backward pass ---- */

/* gradient.c: appends the backward steps. */
bool cr_plan_gradient(struct cr_exec *exec);
/* The gradient of a value, a new one if there is none yet: a placeholder that
 * cr_plan_write or a seed fills. */
struct cr_pval *cr_plan_grad(struct cr_exec *exec, struct cr_pval *val);
/* Step writes dx[i], the gradient of val: it stores it, or adds to what other
 * steps have written. */
void cr_plan_write(struct cr_exec *exec, struct cr_exec_step *step, int i,
                   struct cr_pval *val);
/* fuse_gradient.c: the gradient of an activation that is part of a forward
 * step: done by the one writer of the gradient if it can, else by a step in
 * place. CR_END_DROP if the writer undoes dropout after it, too; else 0. */
unsigned cr_plan_act_backward(struct cr_exec *exec,
                              const struct cr_exec_step *step);
/* fuse_gradient.c: makes the gradient of an elementwise step a part of the one
 * step that writes the gradient of its result. False: it cannot. */
bool cr_plan_map_backward(struct cr_exec *exec, const struct cr_exec_step *f);
/* fuse_gradient.c: the gradients of dropout, a late bias and an addend that are
 * parts of a forward step, but for the parts that are undone. */
void cr_plan_apart_backward(struct cr_exec *exec,
                            const struct cr_exec_step *step, unsigned undone);
/* Computes equal casts of a value once, when no gradient is to come. */
void cr_plan_casts_share(struct cr_exec *exec);
/* Result i of a forward step as its backward pass reads it: as it is stored,
 * rounded, if a cast rounds it. */
struct cr_pval *cr_plan_casts_stored(const struct cr_exec_step *step, int i);
/* casts.c: before the backward pass of step f: rounds what arrives, if f has
 * taken the cast after it; true if f is a cast whose gradient its writer
 * rounds, so that no step is left to do. After it: a gradient that the step
 * alone reads is rounded where it lies. */
bool cr_plan_casts_backward(struct cr_exec *exec, const struct cr_exec_step *f);
/* Whether the one writer of the gradient of f's result rounds it from now on,
 * as f's rounding asks for. */
bool cr_plan_casts_by_writer(const struct cr_exec *exec,
                             const struct cr_exec_step *f);
void cr_plan_casts_done(struct cr_exec *exec, const struct cr_exec_step *f,
                        struct cr_exec_step *step);
/* Whether f has taken the cast before input i, and the gradient has parts; then
 * this is in place of cr_plan_write, after all others of the step. */
bool cr_plan_casts_partial(const struct cr_exec *exec,
                           const struct cr_exec_step *f, int i);
void cr_plan_casts_write(struct cr_exec *exec, const struct cr_exec_step *f,
                         struct cr_exec_step *step, int i);
/* custom_grad.c: the backward pass of a cell with bprop, at its first node's
 * step. *cut: a gradient arrives, but what it gives is not wanted. False after
 * reporting. */
bool cr_plan_custom_grad(struct cr_exec *exec, const struct cr_exec_step *step,
                         bool *cut);
/* seeds.c: whether the gradient of that column or parameter is read from
 * outside; and whether it is computed. */
bool cr_plan_wrt(const struct cr_exec *exec, const struct cr_val *v);
bool cr_plan_source_needs(const struct cr_exec *exec, const struct cr_val *v);
/* Whether the auxiliary values of the loss are computed: in training, and
 * where all are kept. */
bool cr_plan_aux(const struct cr_exec *exec);
/* Makes the gradients at which the backward pass begins; later, in each step,
 * fills them. False: nothing wants them. */
bool cr_plan_seeds(struct cr_exec *exec);
bool cr_plan_seeds_fill(struct cr_exec *exec, double sens);

/* ---- updates and memory ---- */

bool cr_plan_fuse_kept(struct cr_exec *exec);        /* fuse.c */
bool cr_plan_recompute(struct cr_exec *exec);        /* recompute.c */
bool cr_plan_two_bytes(struct cr_exec *exec);        /* two_bytes.c */
/* two_bytes.c: whether the op moves elements, whatever they are: x and y lie in
 * memory the same way, and nothing is rounded. */
bool cr_plan_moves(const struct cr_op *op);
/* Sets the types of numbers that forward values hold only. */
void cr_plan_low_types(struct cr_exec *exec);
bool cr_plan_update_steps(struct cr_exec *exec);     /* update_steps.c */
/* Whether no parameter is updated before all gradients are there. */
bool cr_plan_updates_last(const struct cr_exec *exec);
/* table_rows.c: the last step of the backward pass that reads each parameter,
 * or a view of it; NULL: none. A step may read one whose gradient it does not
 * write: after stop_gradient, or in a bprop's text. */
struct cr_exec_step **cr_plan_last_reads(struct cr_exec *exec);
/* Whether the one writer of a table's gradient, of a gather, may update the
 * rows that it takes instead, if there are fewer than the table has. `read` and
 * `loss` are the last steps that read the table, and of the loss; NULL. */
bool cr_plan_takes_rows(const struct cr_exec *exec, const struct cr_pval *table,
                        const struct cr_exec_step *read,
                        const struct cr_exec_step *loss);
/* The same in collectives.c, with the rows of all processes; and the step reads
 * these from then on. */
bool cr_plan_takes_rows_of_all(const struct cr_exec *exec,
                               const struct cr_pval *table,
                               const struct cr_exec_step *read,
                               const struct cr_exec_step *loss);
void cr_plan_take_rows_of_all(struct cr_exec *exec, struct cr_exec_step *step);
bool cr_plan_memory(struct cr_exec *exec);           /* memory.c */
/* Whether the value lies where no other plan writes. */
bool cr_plan_is_own(const struct cr_exec *exec, const struct cr_pval *val);

/* The largest sum of bytes that values of one step need. */
size_t cr_plan_live_bytes(const struct cr_exec *exec); /* memory.c */

/* dump.c: the list of steps, a line for each. */
const char *cr_plan_text(struct cr_exec *exec, struct cr_arena *arena);

/* verify.c: checks what holds between passes; aborts with a message that names
 * the pass otherwise. */
void cr_plan_verify(struct cr_exec *exec, const char *pass);

#endif
