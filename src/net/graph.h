/*
 * The graph behind a network: what cells emit and plans are made from.
 * Private to src/net.
 *
 * Building runs every cell; it leaves nodes (ops with their values) in the
 * order of computation, parameters in the order of the cells, and the name of
 * every cell's output. A graph holds for one batch size and one shape of the
 * columns: a plan for others builds all cells again, which then find their
 * parameters by name. So whatever a cell or a `construct` computes from a
 * shape, the batch included, holds in every plan.
 */
#ifndef CR_NET_GRAPH_H
#define CR_NET_GRAPH_H

#include "base/name_map.h"
#include "net/amp.h"
#include "net/cell.h"
#include "net/init.h"
#include "net/net.h"
#include "net/op.h"

#define CR_CELL_DEPTH 64      /* of nested cells */
#define CR_CALLS_MAX 50000    /* of cells in a graph */
#define CR_GRAPH_NODES 200000 /* of a graph */

struct cr_opnode;
struct cr_call;
struct cr_hooked;
struct cr_hooks;

/* Which hooks of the section `watch` a graph has. */
enum cr_hooks_on {
    CR_HOOKS_ALL,     /* those that replace something */
    CR_HOOKS_FORWARD, /* of these, those on the way forward */
    CR_HOOKS_OBSERVED, /* all, and what is looked at stands by itself */
    CR_HOOKS_NONE
};

/* A value: made by a node, fed, a parameter, or a tuple of such. */
struct cr_val {
    int id;                 /* dense, in order of creation; -1: a tuple */
    struct cr_spec spec;    /* of a tuple: that of its first member */
    struct cr_opnode *producer; /* its node; NULL: fed or a parameter */
    enum cr_type low_type;      /* CR_F16, CR_BF16: holds such numbers only, */
    bool cast;              /* because the network casts them so itself */
    struct cr_val *rounded; /* what goes in instead in low precision, */
    struct cr_val *result;  /* and what comes out */
    struct cr_val *read;    /* of state: its copy (assign.c); or NULL */
    int feed;               /* column, or -1 */
    int param;              /* index, or -1 */
    int n_members;          /* of a tuple */
    struct cr_val **members;
    struct cr_val *next;
};

/* What stands behind the nodes of a `bprop` (bprop.c). */
struct cr_custom_grad {
    struct cr_opnode *node;   /* the first one: the text hangs on it */
    struct cr_opnode *nodes;  /* the text's own, in a list apart */
    int n_out;
    struct cr_val **out;      /* results, behind the nodes */
    struct cr_val **dout;     /* what stands for their gradients; NULL: none */
    struct cr_val **zero;     /* taken where no gradient arrives */
    struct cr_val *grad[CR_OP_MAX]; /* of the node's inputs; NULL: none */
};

struct cr_opnode {
    const struct cr_op *op;
    const void *attr;
    struct cr_pos pos;
    int cell;               /* row in cells */
    const struct cr_call *call;
    bool loss;              /* belongs to the loss, not to the network; */
    bool metric;            /* or to a metric, and then to both */
    bool same;              /* y[0] has x[0]'s bytes */
    bool hook;              /* a hook's, not the cell's own */
    bool predict;           /* behaves as in prediction, in training too */
    uint64_t key;           /* of cell path and call: keys random numbers */
    struct cr_custom_grad *custom; /* NULL: the op's own backward */
    int n_in, n_out;
    struct cr_val *in[CR_OP_MAX];
    struct cr_val *out[CR_OP_MAX];
    double macs;
    struct cr_opnode *next;
};

/* One call of a cell, while the graph was built; in order of their begin. */
struct cr_call {
    int cell;               /* row in cells */
    int number;             /* 1, 2, ... of that cell */
    const char *block;      /* "Block(width=3)" where the cell is one */
    bool loss;
    struct cr_val *out;     /* NULL until it returns */
    const struct cr_call *parent; /* NULL: the network, or its loss */
    struct cr_call *next;
};

/* The output of one call of a cell, under the cell's full path. */
struct cr_named {
    const char *name;
    struct cr_val *val;
    struct cr_named *next;
};

struct cr_names {
    struct cr_named *first, *last;
    int n;
};

/* What fills a parameter. */
struct cr_param_init {
    const struct cr_init *init;
    const void *opts;
    struct cr_pos pos;
    const char *text;
    const char *key;       /* name that keys its random numbers */
    int64_t zero_row;      /* 1 + the row that is set to 0; 0: none */
};

struct cr_graph {
    int64_t batch;
    enum cr_hooks_on hooks;
    bool training;           /* what the name `training` says in it */
    const struct cr_column *columns; /* of one sample, as net->want's */
    struct cr_opnode *nodes, *last_node;
    int n_nodes, n_vals;
    struct cr_val *vals, *last_val;
    struct cr_names named;   /* what the cells give, */
    struct cr_names results; /* and the network: "", or "#.0", "#.1.0" */
    struct cr_names seen,
        seen_grads; /* with CR_HOOKS_OBSERVED (hook_graph.c) */
    struct cr_call *calls, *last_call;
    int n_calls;
    struct cr_val **feeds;  /* per column; NULL: not used */
    struct cr_val **params; /* per parameter; NULL: not used yet */
    int cap_params;
    struct cr_val *output, *loss;
    struct cr_names aux;    /* what the loss returns beside it */
    struct cr_val **metrics; /* metrics of the config that are blocks */
    int n_metrics;
    struct cr_graph *next;
};

/* What only building knows of a cell, beside its row. */
struct cr_cell_calls {
    const struct cr_node *node;
    const struct cr_graph *graph; /* in which it was called last, */
    int calls;                    /* so many times */
    uint64_t emitted[2]; /* its nodes in the graph's list, but `half`s: the
                            cell's own, and its hooks' */
};

struct cr_net {
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_config *config;
    struct cr_net_opts opts;
    struct cr_graph *graph; /* the usual one; while building, that one */
    bool built;             /* the first graph is complete */
    int noted;              /* errors that have shapes beside them */
    bool phased;            /* some text asks for `training` */
    bool in_backward;       /* what is built now runs on the way back */
    struct cr_param *params;
    struct cr_param_init *param_inits;
    struct cr_hyper *hyper;
    int n_params, cap_params;
    int *input_columns, n_input_columns;
    struct cr_name_map param_names; /* names of params, to their numbers */
    struct cr_cell_row *cells;
    struct cr_cell_calls *cell_calls;
    int n_cells, cap_cells;
    struct cr_name_map cell_names;
    const struct cr_observer *observer; /* NULL: nobody looks */
    int n_shown;            /* rows of the network; the loss's come behind */
    struct cr_unfreeze_rule *unfreeze_rules; /* freeze.c */
    struct cr_patterns **unfreeze_patterns;
    int n_unfreeze_rules;
    bool stats_frozen;
    struct cr_patterns *predict_mode; /* mode.c; NULL: none */
    bool joint;             /* has_aux: false */
    struct cr_amp *amp;     /* amp.c: section amp, */
    bool amp_ignored;       /* and whether opts.force_float32 overruled it */
    struct cr_hooks *hooks; /* hook_config.c: section watch */
    struct {
        const char *text;   /* NULL: the loss does not broadcast */
        struct cr_pos pos;
    } broadcast;
    const struct cr_update_rule *rule;
    int64_t skipped;        /* updates left out until now */
    struct cr_tensor *slots;
    int *slot_of;           /* first slot of each parameter */
    int n_slots;
    double *sums;           /* room for the sums of one parameter's blocks */
    int64_t grad_accum;     /* micro-batches of an update */
    cr_real **accumulated;  /* their gradients so far; NULL: gather is 1 */
    struct cr_tensor *ema;  /* moving means of all parameters; or NULL */
    cr_real *statistics;    /* copies at the start of a step; NULL: none yet */
};

/* A cell while it is built. */
struct cr_build {
    struct cr_net *net;
    struct cr_init_rules *init_rules;
    struct cr_build *parent;
    const struct cr_cell *cell;   /* NULL: a map or list of the config */
    const struct cr_node *node;   /* its arguments */
    const void *opts;
    const struct cr_node *call_args; /* options of the next child's call, then
                                   of this one's; NULL: none */
    const void *call_opts;
    const char *path;             /* "" for the network itself */
    const char *like;             /* parameters begin as those below this */
    size_t like_len;              /* path instead of below path[0..len) */
    struct cr_pos pos;
    struct cr_obj control_init;   /* control word `init` */
    bool *control_used;           /* some weight took it */
    struct cr_precision precision;
    bool frozen, loss, metric, hook;
    bool predict;                 /* stays in predict mode: mode.c */
    struct cr_hooked *hooked;     /* what hooks this call has; or NULL */
    bool is_repeat_call;          /* its parameters exist */
    const struct cr_node *share;  /* control word: parameter -> another's */
    int shared;                   /* parameters that took one */
    int n_in, row, depth;
    struct cr_call *call;
    uint64_t key;
};

/* aux.c: takes the loss, and what is named beside it, from what a loss written
 * in the config returns. False after reporting. */
bool cr_aux_read(struct cr_net *net, const struct cr_node *node,
                 struct cr_val *out);

/* metric_block.c: the metrics that are blocks, where the net is to have them.
 */
bool cr_metric_blocks_build(struct cr_net *net, const struct cr_build *root);

/* emit.c */
struct cr_val *cr_emit_as_is(struct cr_build *b, const struct cr_op *op,
                             const void *attr, int n,
                             struct cr_val *const *in);
/* subject.c: a cell, as patterns are asked about it. */
struct cr_subject cr_net_cell_subject(const struct cr_net *net, int row);
/* Whether patterns over names of cells match the one being built; "fc.*"
 * speaks of fc too. */
bool cr_cell_matches(const struct cr_build *b,
                     const struct cr_patterns *patterns);
/* Whether all of them have matched a cell of the network; reports. */
bool cr_cells_used(struct cr_net *net, const struct cr_patterns *patterns);
/* Notes below an error: the cell, and the block it comes from. */
void cr_build_where(const struct cr_build *b, const char *type);
const char *cr_path_of(struct cr_arena *arena, const char *path,
                       const char *name);
struct cr_val *cr_net_feed(struct cr_net *net, const char *column,
                           struct cr_pos pos);
/* A value that no step makes: a plan says what it is. */
struct cr_val *cr_val_detached(struct cr_net *net, const struct cr_spec *spec,
                               struct cr_opnode *by);
/* build.c: the graph for that batch size, those columns (NULL: the usual
 * ones), hooks and, where a text asks for it, training or not; built if there
 * is none yet. NULL after reporting. */
struct cr_graph *cr_net_graph(struct cr_net *net, int64_t batch,
                              const struct cr_column *columns,
                              enum cr_hooks_on hooks, bool training);
/* results.c: the value that opts.at names; NULL: there is none. */
const struct cr_val *cr_graph_at(const struct cr_graph *graph,
                                 const char *at);
/* One name, or one for each member of a tuple: name.0, name.1.0, ... */
void cr_name_values(struct cr_net *net, struct cr_names *to, const char *name,
                    struct cr_val *v);
/* "CELL", "CELL#2" in its second call, "CELL#" where v is a tuple. */
const char *cr_name_call(struct cr_build *b, const struct cr_val *v);
bool cr_op_infer(struct cr_arena *arena, struct cr_diag *diag,
                 const struct cr_opnode *node, bool training,
                 const struct cr_spec *in, struct cr_op_plan *plan,
                 struct cr_spec *out);
/* inputs.c: sees to it that opts.columns is set */
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
/* What is wrong with n inputs for the cell of that name; NULL: nothing. */
const char *cr_cell_inputs_wrong(const struct cr_net *net, const char *name,
                                 struct cr_cell_inputs inputs, int n);
/* The options of a call, if the cell has such; else NULL. */
const struct cr_opt *cr_cell_call(const struct cr_node *node,
                                  const char *name);
/* A map with `cells` or `construct`; and whether its keys are right. */
bool cr_is_construct(const struct cr_node *node);
bool cr_construct_keys(struct cr_build *b, const struct cr_node *node);
/* scope.c: what a member of a map or list is called: its key, its `name`, or
 * its place. */
const char *cr_member_name(struct cr_arena *arena, const struct cr_node *member,
                           int index);
/* The same; NULL after reporting that the `name` is none. */
const char *cr_member_checked(struct cr_build *b, const struct cr_node *member,
                              int index);
/* The members of a list or map of cells that stands for them, one by one;
 * NULL: the node is a cell of its own. */
const struct cr_node *cr_cell_list(const struct cr_node *node);
/* reference.c: members of `cells` that others name. */
/* The member that a node names, or that names which ...; else the node. */
const struct cr_node *cr_reference(const struct cr_node *cells,
                                   const struct cr_node *node);
/* The member that a node names within b, and its path; NULL: it names none. */
const struct cr_node *cr_reference_at(const struct cr_build *b,
                                      const struct cr_node *node,
                                      const char **path);
/* What the member NAME, or its own member NAME.0, is called below the cell. */
const char *cr_reference_name(const struct cr_build *b, const char *name);
/* Whether others hold it. */
bool cr_reference_held(struct cr_arena *arena, const struct cr_node *cells,
                       const char *name);
/* The name of a parameter, whose path below the network is `path`, in a cell
 * or a member of it: without what auto_prefix leaves out. */
const char *cr_param_name(const struct cr_build *b, const char *path);
/* Whether what names a member may; before anything else of the above. */
bool cr_references_right(struct cr_build *b);
/* script_run.c: such a cell's forward pass. */
struct cr_val *cr_construct(struct cr_build *b, const struct cr_node *node,
                            struct cr_val *const *in);
/* amp.c: reads the section; the precision of a cell, whose control word
 * to_float is `word` (NULL: none), within one of `outer`. */
bool cr_amp_read(struct cr_net *net);
bool cr_precision_of(struct cr_build *b, const struct cr_node *word);
/* Whether all patterns of amp.cast have matched a cell. */
bool cr_amp_used(struct cr_net *net);
/* mode.c: patterns of freeze.predict_mode; whether a cell stays in predict
 * mode, whose control word `mode` is `word` (NULL: none); whether all patterns
 * have matched a cell. */
bool cr_modes_read(struct cr_net *net);
bool cr_mode_of(struct cr_build *b, const struct cr_node *word);
bool cr_modes_used(struct cr_net *net);
/* Inputs and results of an op in the precision of the cell being built. */
enum cr_type cr_amp_type_of(const struct cr_build *b, const struct cr_op *op,
                            int n, struct cr_val *const *in);
struct cr_val *cr_amp_cast_in(struct cr_build *b, const struct cr_op *op,
                              enum cr_type type, int i, struct cr_val *x);
struct cr_val *cr_amp_cast_out(struct cr_build *b, enum cr_type type,
                               struct cr_val *y);
/* An op with a bias (.folds) in level auto, which adds that in float32. */
struct cr_val *cr_amp_biased(struct cr_build *b, const struct cr_op *op,
                             const void *attr, enum cr_type type,
                             struct cr_val *const *in);
extern const struct cr_op cr_op_fake_cast;
/* print.c: reads what print(...) names, and gives nothing. */
extern const struct cr_op cr_op_print;
/* assign.c: moves state, wanted by no value. */
extern const struct cr_op cr_op_assign;
/* hook_config.c: reads the section; later, once all cells are known, whether it
 * was right and all its patterns have matched. */
void cr_hooks_read(struct cr_net *net);
bool cr_hooks_used(struct cr_net *net);
/* The hooks that a plan of that kind needs. */
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
/* param_init.c: chooses initialisers (section init) and fills parameters */
struct cr_init_rules;
struct cr_init_rules *cr_init_rules_read(struct cr_net *net);
bool cr_init_choose(struct cr_init_rules *starter, struct cr_net *net,
                    const struct cr_param *param, const struct cr_obj *control,
                    const struct cr_obj *given, enum cr_default_init begin,
                    double bound, struct cr_param_init *to);
bool cr_init_rules_check(struct cr_init_rules *starter, struct cr_net *net);
bool cr_net_init_params(struct cr_net *net);

#endif
