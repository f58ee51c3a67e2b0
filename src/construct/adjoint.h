/*
 * A gradient as a value: a node whose forward pass runs the backward kernel of
 * another op. Private to src/construct.
 */
#ifndef CR_CONSTRUCT_ADJOINT_H
#define CR_CONSTRUCT_ADJOINT_H

#include "graph/op.h"

/* The attr of such a node. */
struct cr_adjoint {
    const struct cr_op *primal; /* has one output */
    const void *attr;
    int n_in, of;              /* the gradient is that of this input */
    struct cr_spec in[CR_OP_MAX], out; /* the primal's */
};

/* Inputs: those of the primal in which it is linear, or which are no numbers,
 * but that at `of`; after them, at n_in, the gradient of its output. */
extern const struct cr_op cr_op_adjoint;

#endif
