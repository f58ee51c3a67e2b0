/*
 * A `construct` or `bprop` text while it is walked. construct.c computes its
 * expressions, lines.c its lines. Private to src/net.
 */
#ifndef CR_NET_MAKER_H
#define CR_NET_MAKER_H

#include "net/script.h"
#include "net/thing.h"

struct cr_var {
    const char *name;
    struct cr_thing value;
};

struct cr_maker {
    struct cr_build *b;
    const struct cr_node *cells, *text;
    struct cr_var *vars;
    int n_vars, room_vars;
    bool noted; /* the error has its shapes beside it */
    const struct cr_op *op; /* whose text it is, NULL: it is the config's; */
    struct cr_pos at;       /* then where it is called */
};

/* False after reporting, as all of these. */
bool cr_maker_eval(struct cr_maker *m, const struct cr_script *e,
                   struct cr_thing *to);
struct cr_var *cr_maker_var(struct cr_maker *m, const char *name);
/* At the expression, with the shapes of what it names. */
bool cr_maker_fail(struct cr_maker *m, const struct cr_script *e,
                   const char *what);
/* As a value of the graph; NULL after reporting. */
struct cr_val *cr_maker_val(struct cr_maker *m, const struct cr_script *e,
                            const struct cr_thing *t);

/* The place of an expression, for messages. */
struct cr_pos cr_maker_place(const struct cr_maker *m,
                             const struct cr_script *e);

/* function.c: a call of an op that has a signature. */
bool cr_function_call(struct cr_maker *m, const struct cr_script *e,
                      const struct cr_op *op, struct cr_thing *to);
/* Whether e calls a word that only texts of ops know; *ok: as the others. */
bool cr_function_word(struct cr_maker *m, const struct cr_script *e,
                      struct cr_thing *to, bool *ok);

/* lines.c: runs the lines of m->text; the value and expression of its return.
 */
bool cr_maker_run(struct cr_maker *m, struct cr_thing *value,
                  const struct cr_script **returned);
/* Adds a variable; false where the cell has a member of that name. */
bool cr_maker_input(struct cr_maker *m, const char *name,
                    struct cr_thing value);

/* bprop.c: what the cell gives, with the gradients of the text beside it. */
struct cr_val *cr_bprop(struct cr_build *b, const struct cr_node *node,
                        struct cr_val *const *in, struct cr_val *out);

/* boundary.c: the nodes in front of the way back. */
extern const struct cr_op cr_op_bprop, cr_op_hook, cr_op_look;

/* What building leaves in lists of the graph; kept while the text runs. */
struct cr_lists {
    struct cr_opnode *nodes, *last_node;
    struct cr_names named;
    struct cr_call *calls, *last_call;
    struct cr_cell_seen *seen;
    int n_seen;
    struct cr_val **rounded; /* of the values until then */
    int n_vals;
};

/* Nodes that are emitted from here on stand apart; cr_lists_return gives
 * them, and the graph its own lists. Calls among them leave no names and are
 * not counted. */
struct cr_lists cr_lists_take(struct cr_net *net);
struct cr_opnode *cr_lists_return(struct cr_net *net, const struct cr_lists *l);
/* Sets dout and zero of all real results. */
bool cr_boundary_dout(struct cr_build *b, struct cr_custom *c);

#endif
