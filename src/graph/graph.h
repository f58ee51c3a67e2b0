/*
 * The graph of a network, which cells emit and plans are made from. For
 * src/graph, src/families, src/construct, src/build and src/plan.
 *
 * Building runs every cell. It creates nodes (ops with their values) in the
 * order of computation, parameters in the order of the cells, and names for the
 * outputs of cells. A graph is valid for one batch size and one shape of the
 * columns; a plan for others builds all cells again, which find their
 * parameters by name. So cells and `construct` may compute with any shape,
 * including the batch size.
 *
 * Called by build/, which makes it, and by plan/, which reads it; net.h is what
 * the rooms above see of networks and of their plans. Knows nothing of memory,
 * of threads and of the training loop.
 *
 * Includes: base conf data kernels num.
 */
#ifndef CR_GRAPH_GRAPH_H
#define CR_GRAPH_GRAPH_H

#include "base/line_cursor.h"
#include "base/name_map.h"
#include "graph/amp.h"
#include "graph/cell.h"
#include "graph/init.h"
#include "graph/net.h"
#include "graph/op.h"

/* Limits */
#define CR_CELL_DEPTH 64      /* of nested cells */
#define CR_CALLS_MAX 200000   /* of cells, in a graph */
#define CR_GRAPH_NODES 500000 /* of a graph */

struct cr_opnode;
struct cr_call;
struct cr_hooked;
struct cr_hooks;

/* The hooks of the section `watch` in a graph. */
enum cr_hooks_on {
    CR_HOOKS_ALL,     /* hooks that replace values or gradients */
    CR_HOOKS_FORWARD, /* hooks that replace values */
    CR_HOOKS_OBSERVED, /* ALL, with observed values kept unfused */
    CR_HOOKS_NONE
};

/* A value: output of a node, column, parameter, or a tuple of values. */
struct cr_val {
    int id;                 /* index in order of creation; -1: a tuple */
    struct cr_spec spec;    /* of a tuple: of its first member */
    struct cr_opnode *producer; /* NULL: a column or a parameter */
    enum cr_type low_type;  /* CR_F16, CR_BF16: has such numbers only */
    bool cast;              /* low_type comes from an explicit cast */
    struct cr_val *read;    /* of a state: its copy (assign.c); or NULL */
    int feed;               /* index of the column; -1: none */
    int param;              /* index of the parameter; -1: none */
    int n_members;          /* of a tuple */
    struct cr_val **members;
    struct cr_val *next;
};

/* A custom gradient: a text that replaces the gradients of nodes (bprop.c). */
struct cr_custom_grad {
    struct cr_opnode *node;   /* the first node; it refers to the text */
    struct cr_opnode *nodes;  /* nodes of the text, in a separate list */
    int n_out;
    struct cr_val **out;      /* results of the nodes */
    struct cr_val **dout;     /* placeholders of their gradients; NULL: none */
    struct cr_val **zero;     /* used instead where there is no gradient */
    struct cr_val *grad[CR_OP_MAX]; /* of the node's inputs; NULL: none */
};

struct cr_opnode {
    const struct cr_op *op;
    const void *attr;
    struct cr_pos pos;
    int64_t batch;          /* of its graph */
    int cell;               /* row in net->cells */
    const struct cr_call *call;
    bool loss;              /* belongs to the loss, not to the network */
    bool metric;            /* belongs to a metric (then .loss is true too) */
    bool same;              /* y[0] has the bytes of x[0] */
    struct cr_precision precision; /* what its cell asks for, */
    enum cr_type low;       /* and what it computes in: CR_REAL, CR_F16 or
                               CR_BF16 */
    bool as_is;             /* computes in float32 whatever the cell asks for */
    bool hook;              /* belongs to a hook, not to the cell */
    bool predict;           /* in predict mode, even in training */
    int recompute;          /* number of the call whose values are computed
                               again for backward: mode.c; 0: none */
    uint64_t key;           /* hash of cell path and call, for random numbers */
    struct cr_custom_grad *custom; /* NULL: the op's backward */
    int n_in, n_out;
    struct cr_val *in[CR_OP_MAX];
    struct cr_val *out[CR_OP_MAX];
    double macs;
    struct cr_opnode *next;
};

/* One call of a cell; calls are listed in the order of their start. */
struct cr_call {
    int cell;               /* row in cells */
    int number;             /* 1, 2, ... of that cell */
    const char *block;      /* "Block(width=3)" for a block; else NULL */
    bool loss;
    struct cr_val *out;     /* result; NULL until the call returns */
    const struct cr_call *parent; /* NULL: it is the network or its loss */
    struct cr_call *next;
};

/* A named value: the output of one call of a cell, under its full path. */
struct cr_named {
    const char *name;
    struct cr_val *val;
    struct cr_named *next;
};

struct cr_names {
    struct cr_named *first, *last;
    int n;
};

/* The initialiser of a parameter, see param_init.c. */
struct cr_param_init {
    const struct cr_init *init;
    const void *opts;
    struct cr_pos pos;
    const char *text;
    const char *key;       /* name that keys the random numbers */
    int64_t zero_row;      /* 1 + the row that is zeroed; 0: none */
};

struct cr_graph {
    int64_t batch;
    enum cr_hooks_on hooks;
    bool training;           /* value of the name `training` in texts */
    const struct cr_column *columns; /* of one sample */
    struct cr_opnode *nodes, *last_node;
    int n_nodes, n_vals;
    struct cr_val *vals, *last_val;
    struct cr_names named;   /* outputs of cells */
    struct cr_names results; /* of the network: "", or "#.0", "#.1.0" */
    struct cr_names seen,
        seen_grads; /* observed values; hook_graph.c */
    struct cr_call *calls, *last_call;
    int n_calls;
    int n_recomputed;       /* calls with `recompute: true` in no other one */
    struct cr_val **feeds;  /* per column; NULL: unused */
    struct cr_val **params; /* per parameter; NULL: unused so far */
    int cap_params;
    struct cr_val *output, *loss;
    struct cr_names aux;    /* auxiliary values of the loss */
    struct cr_val **metrics; /* results of the metric blocks */
    int n_metrics;
    struct cr_graph *next;
};

/* The calls of a cell, for building; one per row. */
struct cr_cell_calls {
    const struct cr_node *node;
    const struct cr_graph *graph; /* of the last call */
    int calls;                    /* number of calls in that graph */
    uint64_t emitted[2]; /* number of its nodes except fake casts: of the cell,
                            and of its hooks */
};

struct cr_net {
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_config *config;
    struct cr_net_opts opts;
    struct cr_graph *graph; /* the usual graph; while building, the new one */
    bool built;             /* the first graph is complete */
    int noted;              /* number of errors with notes on shapes */
    bool phased;            /* some text reads the name `training` */
    bool in_backward;       /* building nodes of the backward pass */
    struct cr_mentions *mentions; /* of reference.c */
    struct cr_param *params;
    struct cr_param_init *param_inits;
    struct cr_hyper *hyper;
    int n_params, cap_params;
    int *input_columns, n_input_columns;
    struct cr_name_map param_names; /* name to index */
    struct cr_cell_row *cells;
    struct cr_cell_calls *cell_calls;
    int n_cells, cap_cells;
    struct cr_name_map cell_names;
    const struct cr_observer *observer; /* NULL: none */
    struct cr_text_place place; /* of the last part of a construct */
    int n_shown;            /* rows of the network; those of the loss follow */
    struct cr_unfreeze_rule *unfreeze_rules; /* freeze.c */
    struct cr_patterns **unfreeze_patterns;
    int n_unfreeze_rules;
    bool stats_frozen;
    struct cr_patterns *predict_mode; /* mode.c; NULL: none */
    bool joint;             /* has_aux: false */
    struct cr_amp *amp;     /* amp.c: section amp, */
    bool amp_ignored;       /* and whether opts.force_float32 overrode it */
    struct cr_hooks *hooks; /* hook_config.c: section watch */
    struct {
        const char *text;   /* warning; NULL: the loss does not broadcast */
        struct cr_pos pos;
    } broadcast;
    const struct cr_update_rule *rule;
    int64_t skipped;        /* number of skipped updates so far */
    struct cr_tensor *slots;
    int *slot_of;           /* first slot of each parameter */
    int n_slots;
    bool shard;             /* processes share out slots: run/shard.c */
    bool shard_gradients;   /* gradients are dropped as early as possible */
    bool reduce_bf16;       /* processes send gradients as bfloat16 */
    cr_real **parts;        /* memory that processes see: of each parameter in
                               it, this process's part of the gradient; NULL */
    bool parts_read;        /* processes may be reading those */
    bool *slot_is_part;     /* per slot: it is that of a range of elements */
    cr_real **slot_parts;   /* its part, while it is whole; NULL */
    size_t *shard_at;       /* buffer: bytes before each process's range */
    double *sums;           /* buffer for sums over blocks of a parameter */
    int64_t grad_accum;     /* micro-batches per update */
    cr_real **accumulated;  /* their gradients so far; NULL: grad_accum is 1 */
    cr_real *all_accumulated; /* the block that they are in, */
    int64_t n_accumulated;  /* and its elements */
    struct cr_room *rooms;  /* memory of plans that run in turn; NULL */
    struct cr_tensor *ema;  /* moving means of all parameters; or NULL */
    bool split_noted;       /* that an op mixes rows */
    bool local_statistics;  /* each process normalises its samples alone */
    cr_real *statistics;    /* saved before the step; NULL: not yet */
    bool statistics_undone; /* restored, in all processes */
};

/* A cell that is being built; lives on the stack. */
struct cr_build {
    struct cr_net *net;
    struct cr_init_rules *init_rules;
    struct cr_build *parent;
    const struct cr_cell *cell;   /* NULL: a map or list of cells */
    const struct cr_node *node;   /* its arguments */
    const struct cr_node *block;  /* node, if it has construct, cells or bprop:
                                     a wide map is asked once; else NULL */
    const void *opts;
    const struct cr_node *call_args; /* options of the next subcell's call, then
                                     of this call; NULL: none */
    const void *call_opts;
    const char *path;             /* "" for the network itself */
    const char *like;             /* take initial values of parameters below */
    size_t like_len;              /* this path, which replaces path[0..len) */
    bool xavier;                  /* cr_xavier_subcells */
    struct cr_pos pos;
    struct cr_obj control_init;   /* modifier `init` */
    bool *control_used;           /* whether a weight used it */
    struct cr_precision precision;
    bool frozen, loss, metric, hook;
    bool predict;                 /* in predict mode: mode.c */
    int recompute;                /* see struct cr_opnode */
    struct cr_hooked *hooked;     /* hooks of this call; or NULL */
    bool is_repeat_call;          /* its parameters exist already */
    const struct cr_node *share;  /* modifier: parameter -> other name */
    int shared;                   /* number of shared parameters */
    int n_in, row, depth;
    struct cr_call *call;
    uint64_t key;
};

/* aux.c: sets loss and auxiliary values from the result of a loss that is
 * written in the config. False after reporting. */
bool cr_aux_read(struct cr_net *net, const struct cr_node *node,
                 struct cr_val *out);

/* metric_block.c: the metrics that are blocks, where the net is to have them.
 */
bool cr_metric_blocks_build(struct cr_net *net, const struct cr_build *root);

/* emit.c: a node that computes in float32 whatever the cell asks for. */
struct cr_val *cr_emit_as_is(struct cr_build *b, const struct cr_op *op,
                             const void *attr, int n,
                             struct cr_val *const *in);
/* A node of the same cell and call as another, for the caller to put into the
 * list. */
struct cr_opnode *cr_node_in_call_of(struct cr_net *net,
                                 const struct cr_opnode *other,
                                 const struct cr_op *op, const void *attr,
                                 int n, struct cr_val *const *in);
/* subject.c: a cell as the subject of patterns. */
struct cr_subject cr_net_cell_subject(const struct cr_net *net, int row);
/* Whether patterns over cell names match the cell being built; "fc.*" matches
 * fc too. */
bool cr_cell_matches(const struct cr_build *b,
                     const struct cr_patterns *patterns);
/* Whether each pattern matches a cell of the network; false after reporting. */
bool cr_cells_used(struct cr_net *net, const struct cr_patterns *patterns);
/* Adds notes to an error: the cell, and its block. */
void cr_build_where(const struct cr_build *b, const char *type);
const char *cr_path_of(struct cr_arena *arena, const char *path,
                       const char *name);
struct cr_val *cr_net_feed(struct cr_net *net, const char *column,
                           struct cr_pos pos);
/* A value that no step computes; the plan sets its address. */
struct cr_val *cr_val_detached(struct cr_net *net, const struct cr_spec *spec,
                               struct cr_opnode *by);
/* build.c: the graph for a batch size, columns (NULL: the usual ones), hooks
 * and, if a text reads it, `training`; builds it unless it exists. NULL after
 * reporting. */
struct cr_graph *cr_net_graph(struct cr_net *net, int64_t batch,
                              const struct cr_column *columns,
                              enum cr_hooks_on hooks, bool training);
/* results.c: the value that opts.at names; NULL: not found. */
const struct cr_val *cr_graph_at(const struct cr_graph *graph,
                                 const char *at);
/* Adds a name for v, or for each member of a tuple: name.0, name.1.0, ... */
void cr_name_values(struct cr_net *net, struct cr_names *to, const char *name,
                    struct cr_val *v);
/* The name of a call's result: "CELL"; second call: "CELL#2"; a tuple:
 * "CELL#". */
const char *cr_name_call(struct cr_build *b, const struct cr_val *v);
bool cr_op_infer(struct cr_arena *arena, struct cr_diag *diag,
                 const struct cr_opnode *node, bool training,
                 const struct cr_spec *in, struct cr_op_plan *plan,
                 struct cr_spec *out);
/* inputs.c: sets opts.columns, if necessary inferred from the network. False
 * after reporting. */
bool cr_net_inputs(struct cr_net *net, const struct cr_node *network);
/* inputs.c: the inputs of a cell of the config, typed or not. `inputs:
 * [a, "*args"]` has one name and the rest `args`. */
struct cr_cell_inputs {
    int min, max;
    const char *const *names; /* NULL after the last */
    const char *rest;         /* a tuple of the inputs after those with names;
                                 NULL: there is none, and names has max */
};
struct cr_cell_inputs cr_cell_inputs(const struct cr_net *net,
                                     const struct cr_node *node);
/* The name of input i in messages: "x" or "args[0]". */
const char *cr_input_name(const struct cr_net *net,
                          const struct cr_cell_inputs *inputs, int i);
/* The columns that go into the network: its `inputs`, else the data's single
 * column that is not a label, else x; max 0 after reporting. */
struct cr_cell_inputs cr_net_input_names(struct cr_net *net,
                                         const struct cr_node *network);
/* After the n inputs of a loss or metric, of which `names` have
 * names: the column `label` for `*args`, if the data has it. The new n. */
int cr_rest_label(struct cr_net *net, const struct cr_cell_inputs *inputs,
                  int names, int n, struct cr_val **in);
/* Message about n inputs for the cell of that name; NULL: n is valid. */
const char *cr_cell_inputs_wrong(const struct cr_net *net, const char *name,
                                 struct cr_cell_inputs inputs, int n);
/* The options of a call of the cell; NULL: it has none. */
const struct cr_opt *cr_cell_call(const struct cr_node *node,
                                  const char *name);
/* Whether a node is a map with `cells` or `construct`; whether its keys are
 * valid (false after reporting). */
bool cr_is_construct(const struct cr_node *node);
bool cr_construct_keys(struct cr_build *b, const struct cr_node *node);
/* scope.c: the name of a member of a map or list: its key, its `name`, or its
 * index. */
const char *cr_member_name(struct cr_arena *arena, const struct cr_node *member,
                           int index);
/* Whether the key of a member can be its name (false after reporting). */
bool cr_member_key(struct cr_build *b, const struct cr_node *member);
/* As cr_member_name; NULL after reporting an invalid key or `name`. */
const char *cr_member_checked(struct cr_build *b, const struct cr_node *member,
                              int index);
/* The list or map of cells of a node whose members can be called one by one;
 * NULL: the node is a single cell. */
const struct cr_node *cr_cell_list(const struct cr_node *node);
/* reference.c: references between members of `cells`. */
/* Follows references; returns the node itself if it is not one. */
const struct cr_node *cr_reference(const struct cr_node *cells,
                                   const struct cr_node *node);
/* The member that a node in b refers to, and its path; NULL: none. */
const struct cr_node *cr_reference_at(const struct cr_build *b,
                                      const struct cr_node *node,
                                      const char **path);
/* The path below the cell of the member NAME, or of its member NAME.0. */
const char *cr_reference_name(const struct cr_build *b, const char *name);
/* Whether other members refer to it. */
bool cr_reference_held(struct cr_net *net, const struct cr_node *cells,
                       const char *name);
/* The name of the parameter with this path below the network, without the
 * prefixes that auto_prefix omits. */
const char *cr_param_name(const struct cr_build *b, const char *path);
/* Whether all references are valid; call it before the functions above. False
 * after reporting. */
bool cr_references_right(struct cr_build *b);
/* script_run.c: the result of a cell with construct. NULL after reporting. */
struct cr_val *cr_construct(struct cr_build *b, const struct cr_node *node,
                            struct cr_val *const *in);
/* amp.c: reads the section; the precision of a cell, whose modifier
 * to_float is `word` (NULL: none), within one of `outer`. */
bool cr_amp_read(struct cr_net *net);
bool cr_precision_of(struct cr_build *b, const struct cr_node *word);
/* Whether each pattern of amp.cast matches a cell. */
bool cr_amp_used(struct cr_net *net);
/* mode.c: patterns of freeze.predict_mode; whether a cell stays in predict
 * mode, whose modifier `mode` is `word` (NULL: none); whether all patterns
 * have matched a cell. */
bool cr_modes_read(struct cr_net *net);
bool cr_mode_of(struct cr_build *b, const struct cr_node *word);
/* The modifier `recompute`; NULL: as the cell around it. */
bool cr_recompute_of(struct cr_build *b, const struct cr_node *word);
bool cr_modes_used(struct cr_net *net);
/* precision.c: sets what a new node computes in and the types of its results;
 * later, casts wherever types differ. */
void cr_precision_infer(struct cr_opnode *node);
void cr_precision_pass(struct cr_net *net, struct cr_graph *graph);
extern const struct cr_op cr_op_fake_cast;
/* print.c: reads the arguments of print(...); it has no result. */
extern const struct cr_op cr_op_print;
/* assign.c: updates a state; it has no result. */
extern const struct cr_op cr_op_assign;
/* hook_config.c: reads the section; later, once all cells are known, whether it
 * was right and all its patterns have matched. */
void cr_hooks_read(struct cr_net *net);
bool cr_hooks_used(struct cr_net *net);
/* The hooks that a plan with these options has. */
enum cr_hooks_on cr_hooks_for(const struct cr_net *net,
                              const struct cr_exec_opts *want);
/* hook_graph.c: between a call's inputs and what is computed with them, which
 * takes others then; and between that and what the call gives. */
bool cr_hook_enter(struct cr_build *b, struct cr_val *const **in);
struct cr_val *cr_hook_leave(struct cr_build *b, struct cr_val *out);
/* `hook_backward(x, name)` in a construct. */
struct cr_val *cr_hook_point(struct cr_build *b, struct cr_val *x,
                             const char *name);
/* freeze.c */
bool cr_net_freeze(struct cr_net *net);
/* param_init.c: chooses initialisers by the section init; initialises
 * parameters. The functions return NULL or false after reporting. */
struct cr_init_rules;
struct cr_init_rules *cr_init_rules_read(struct cr_net *net);
bool cr_init_choose(struct cr_init_rules *starter, struct cr_net *net,
                    const struct cr_param *param, const struct cr_obj *control,
                    const struct cr_obj *given, enum cr_default_init begin,
                    double bound, struct cr_param_init *to);
bool cr_init_rules_check(struct cr_init_rules *starter, struct cr_net *net);
bool cr_net_init_params(struct cr_net *net);

#endif
