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
    int n_vars;
    bool noted; /* the error has its shapes beside it */
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

#endif
