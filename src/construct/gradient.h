/*
 * Gradients as nodes: grad(y, x) in a construct. Private to src/construct.
 */
#ifndef CR_CONSTRUCT_GRADIENT_H
#define CR_CONSTRUCT_GRADIENT_H

#include "construct/script_interp.h"

/* The gradient of one node of the graph. */
struct cr_gradient {
    struct cr_build *b;            /* of the cell that calls grad, in float32 */
    const struct cr_opnode *node;
    struct cr_val *dy[CR_OP_MAX];  /* of its outputs; NULL: none arrives */
    struct cr_val *dx[CR_OP_MAX];  /* set, of its inputs; NULL: none leaves */
};

/* Emits the nodes of dx, as the op says (op.h: bprop, linear). False after
 * reporting, with the name of the op where it has no such gradient. */
bool cr_gradient_of(struct cr_gradient *g);

/* In the text of an op's bprop: whether e calls one of the words that it has
 * besides those of other texts of ops.
 *   kernel(i)         the gradient of input i by the op's own backward kernel
 *   again(g)          the op itself of g, with the same random numbers
 *   shaped(g, x)      g summed over what was broadcast, or broadcast, to the
 *                     shape of x; shaped(g, x, axis): x's axes are those of g
 *                     from there on
 *   pieces(g, axis)   g cut along an axis as the inputs of concat are long
 *   refuse('why')     an error: there is no gradient of the gradient */
bool cr_gradient_word(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to, bool *ok);

/* grad(y, x, sens=None) */
bool cr_interp_grad(struct cr_interp *m, const struct cr_script *e,
                    struct cr_script_value *to);

#endif
