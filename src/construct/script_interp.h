/*
 * A `construct` or `bprop` text while it is walked. script_eval.c computes its
 * expressions, script_run.c its lines. Private to src/construct.
 */
#ifndef CR_CONSTRUCT_SCRIPT_INTERP_H
#define CR_CONSTRUCT_SCRIPT_INTERP_H

#include "base/name_map.h"
#include "construct/script.h"
#include "construct/script_value.h"

struct cr_gradient;

struct cr_var {
    const char *name;
    struct cr_script_value value;
};

struct cr_interp {
    struct cr_build *b;
    const struct cr_node *cells, *text;
    struct cr_var *vars;
    int n_vars, room_vars;
    struct cr_name_map var_names; /* name to index */
    const struct cr_node **cell;  /* members of cells; NULL: not listed yet */
    struct cr_name_map cell_names;
    int n_run; /* lines that were run */
    const struct cr_script_line *lines;
    bool noted;             /* the error has its shapes next to it */
    const struct cr_op *op; /* whose text it is, NULL: it is the config's; */
    struct cr_pos at;       /* then where it is called */
    struct cr_gradient *gradient; /* whose it is: a text bprop of an op */
};

/* False after reporting, as all of these. */
bool cr_interp_eval(struct cr_interp *m, const struct cr_script *e,
                    struct cr_script_value *to);
struct cr_var *cr_interp_var(struct cr_interp *m, const char *name);
/* The cell with this name, or NULL. */
const struct cr_node *cr_interp_cell(struct cr_interp *m, const char *name);
/* At the expression, with the shapes of what it names. */
bool cr_interp_fail(struct cr_interp *m, const struct cr_script *e,
                    const char *what);
/* As a value of the graph; NULL after reporting. */
struct cr_val *cr_interp_val(struct cr_interp *m, const struct cr_script *e,
                             const struct cr_script_value *t);

/* function.c: a call of an op that has a signature. */
bool cr_function_call(struct cr_interp *m, const struct cr_script *e,
                      const struct cr_op *op, struct cr_script_value *to);
/* cell('ELU', x, alpha=a) in the text of an op. */
bool cr_function_cell(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to);
/* pair(a) there: (a, a) if a is a number, else a. */
bool cr_function_pair(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to);
/* expect(CONDITION, 'NAME', VALUE, 'WHAT') there, on a line of its own. */
bool cr_function_expect(struct cr_interp *m, const struct cr_script *call);
/* The place of an expression, for messages. */
struct cr_pos cr_interp_place(const struct cr_interp *m,
                              const struct cr_script *e);
/* After an error was reported below: notes the shapes that went in. */
bool cr_interp_trouble(struct cr_interp *m, const struct cr_script *e);
/* After a tuple was made: whether it is not too large, told otherwise. */
bool cr_interp_weigh(struct cr_interp *m, const struct cr_script *e,
                     struct cr_script_value *tuple);
/* A whole number; `absent` where None stands, an error if that is CR_INT_NONE.
 */
bool cr_interp_int(struct cr_interp *m, const struct cr_script *e,
                   int64_t absent, int64_t *to);
/* What an op's option rows read from a map of the call's arguments; NULL after
 * reporting. */
const void *cr_interp_options(struct cr_interp *m, const struct cr_script *e,
                              const struct cr_op *op,
                              const struct cr_node *given);

/* Reports that nothing has the name; call: that could be called. */
bool cr_interp_unknown(struct cr_interp *m, const struct cr_script *e,
                       bool call);
/* Calls of a cell and of an op, e for messages. */
bool cr_interp_call_cell(struct cr_interp *m, const struct cr_script *e,
                         const struct cr_script *args, const char *name,
                         const struct cr_node *node,
                         struct cr_script_value *to);
bool cr_interp_call_op(struct cr_interp *m, const struct cr_script *e,
                       const struct cr_op *op, struct cr_script_value *to);

/* method.c: x.NAME(...), layers[0](...) */
bool cr_interp_method(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to);
bool cr_interp_apply(struct cr_interp *m, const struct cr_script *e,
                     struct cr_script_value *to);
/* A copy of the arguments with the members of each *TUPLE in its place. */
bool cr_interp_splat(struct cr_interp *m, const struct cr_script *args,
                     struct cr_script **to);
/* qualified.c: reports every name with a prefix of another language, such as
 * self.conv or ops.relu, where nothing in the text has the name of the prefix;
 * false if there is one. */
bool cr_interp_no_prefixes(struct cr_interp *m);

/* index.c: t[...] */
bool cr_interp_index(struct cr_interp *m, const struct cr_script *e,
                     struct cr_script_value *to);

/* known.c: what is known while the graph is built. */
/* Whether a condition holds, whose value is t. */
bool cr_interp_truth(struct cr_interp *m, const struct cr_script *e,
                     const struct cr_script_value *t, bool *to);
/* a if c else b */
bool cr_interp_choice(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to);
/* is, is not, in, not in, and == != of what is no number; *done: it was one
 * of these. */
bool cr_interp_compare(struct cr_interp *m, const struct cr_script *e,
                       const char *sign, const struct cr_script_value *a,
                       const struct cr_script_value *b,
                       struct cr_script_value *to, bool *done);
/* x.shape ... */
bool cr_interp_member(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to);
/* A function of such values, such as range; NULL: there is none. */
typedef bool cr_interp_known(struct cr_interp *m, const struct cr_script *e,
                             struct cr_script_value *to);
cr_interp_known *cr_interp_function(const char *name);
/* What a `for` goes over, as a tuple. */
bool cr_interp_items(struct cr_interp *m, const struct cr_script *e,
                     struct cr_script_value *to);
/* The cells of a list or map of such, as a tuple. */
bool cr_cell_members(struct cr_interp *m, const struct cr_script *e,
                     const struct cr_script_value *cells,
                     struct cr_script_value *to);

/* script_run.c: runs the lines of m->text; the value and expression of its
 * return.
 */
bool cr_interp_run(struct cr_interp *m, struct cr_script_value *value,
                   const struct cr_script **returned);
/* script_run.c: whether a call of that name stands alone on its line. */
bool cr_is_statement(const char *name);
/* Adds a variable; false where the cell has a member of that name. */
bool cr_interp_input(struct cr_interp *m, const char *name,
                     struct cr_script_value value);

/* Adds the n inputs of a cell by their names, the rest as a tuple. */
bool cr_interp_inputs(struct cr_interp *m, const struct cr_cell_inputs *inputs,
                      struct cr_val *const *in, int n);

/* bprop.c: what the cell gives, with the gradients of the text next to it. */
struct cr_val *cr_bprop(struct cr_build *b, const struct cr_node *node,
                        struct cr_val *const *in, struct cr_val *out);

/* print.c: the statement print(...) */
bool cr_interp_print(struct cr_interp *m, const struct cr_script *call);

/* grad_boundary.c: the nodes before the backward pass. */
extern const struct cr_op cr_op_bprop, cr_op_hook, cr_op_observe;

/* assign.c: assign(NAME, value) */
bool cr_interp_assign(struct cr_interp *m, const struct cr_script *call);

/* What building leaves in lists of the graph; kept while the text runs. */
struct cr_graph_lists {
    struct cr_opnode *nodes, *last_node;
    struct cr_names named;
    struct cr_call *calls, *last_call;
    struct cr_cell_calls *cell_calls;
    int n_seen;
};

/* Nodes that are emitted from here on stand apart; cr_graph_restore gives
 * them, and the graph its own lists. Calls among them leave no names and are
 * not counted. */
struct cr_graph_lists cr_graph_detach(struct cr_net *net);
struct cr_opnode *cr_graph_restore(struct cr_net *net,
                                   const struct cr_graph_lists *l);
/* Sets dout and zero of all real results. */
bool cr_grad_boundary_dout(struct cr_build *b, struct cr_custom_grad *c);

#endif
