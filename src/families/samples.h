/*
 * Low precision for ops whose kernels know float32 only, and whose samples are
 * independent: some samples at a time, which are widened into scratch memory
 * before, and rounded, narrowed or added after; or all at once, where the
 * kernels do that themselves. Input 0, the result and their gradients have
 * samples as dimension 0; the other inputs, their gradients and scratch memory
 * are the same for all parts, and so are their addresses.
 */
#ifndef CR_FAMILIES_SAMPLES_H
#define CR_FAMILIES_SAMPLES_H

#include "graph/op.h"

/* About the op of a step. */
struct cr_samples {
    int inputs;     /* specs of .in that it reads */
    size_t scratch; /* bytes of its own scratch memory */
    size_t saved;   /* bytes that forward saves for each sample */
    int addend;     /* an input with the shape of the result; 0: none */
    /* Its forward or backward function, for float32, without the map of an
     * epilogue, which follows each part; but for what it reads as
     * it lies, perhaps in two bytes per number (part->low, .two_bytes): x, and
     * dy for the gradient of x; and dy for the other gradients; and for y and
     * the gradient of x, with its mask, if it writes them so. */
    void (*run)(const struct cr_op_ctx *part);
    bool low_x, low_dy, low_to;
};

/* .low_scratch of struct cr_op. */
size_t cr_samples_scratch(const struct cr_op_ctx *step);
void cr_samples_forward(const struct cr_op_ctx *s, const struct cr_samples *op);
/* Gradients of inputs from 1 on accumulate from part to part; .run is called
 * for these, after it was for that of x. */
void cr_samples_backward(const struct cr_op_ctx *s,
                         const struct cr_samples *op);

#endif
