/*
 * What the recurrences share: rnn, gru and lstm differ in one row of gates.
 *
 *   x    (L, N, g H) or (N, L, g H): W_ih x + b_ih of all steps, g gates; or
 *        (N, g H): one step
 *   w    (g H, H), b (g H): the state's weight and bias; b optional
 *   h0   (1, N, H), of one step (N, H): the first state; zeros if absent
 *   seq  (N), int32: steps of each sample; all if absent. Beyond its steps a
 *        sample's results are 0 and its state rests; backwards in time it
 *        begins with its own last step.
 *   c0   as h0, of an lstm
 *   y    as x with H features, and the last h (and c), shaped as h0
 *
 * A step is one product, g = h W' + b, and one row of gates per sample. The
 * frame keeps the states in order of time, so that dW is one product over all
 * steps, and dx is left to the product in front.
 *
 * In low precision (.low) each sum, product and activation rounds as it does
 * in MindSpore, whose steps are written out (kernels/rnn_low.inc). Of an lstm,
 * b is then b_ih and b_hh, one after the other: both are added after the sum
 * of the products, and x is the product alone.
 */
#ifndef CR_FAMILIES_RNN_H
#define CR_FAMILIES_RNN_H

#include "graph/cell.h"
#include "graph/op.h"
#include "kernels/rnn.h"

enum cr_rnn_in {
    CR_RNN_X,
    CR_RNN_W,
    CR_RNN_B,
    CR_RNN_H,
    CR_RNN_SEQ,
    CR_RNN_C
};

/* The ops' attr. */
struct cr_rnn {
    bool batch_first, reverse;
    int nonlinearity; /* of an rnn: enum cr_rnn_act */
    int low;          /* enum cr_rnn_low */
    int dtype;        /* what is rounded to: CR_LOW_TYPES */
    bool each_step;   /* the gradient of the weight is rounded step by step */
};
/* linear_steps' */
struct cr_rnn_product {
    int dtype;
};
enum cr_rnn_low {
    CR_RNN_FULL,
    CR_RNN_PRODUCTS, /* level auto */
    CR_RNN_GATES,    /* O1: the products and the activations */
    CR_RNN_ALL       /* O2, O3: every result */
};
extern const struct cr_opt cr_rnn_opts[];
extern const char *const cr_rnn_inputs[];

struct cr_rnn_kind {
    int gates;
    bool cell; /* c is a state (lstm); else it is kept of every step
                  where `keeps` says so (gru) */
    bool saves_cell;
    void (*forward)(const struct cr_rnn_row *row);
    void (*backward)(const struct cr_rnn_row *row);
    /* Makes of x's gradient in dg that of the product; NULL: the same. */
    void (*to_product_grad)(const struct cr_rnn_row *row);
    void (*low_forward)(const struct cr_rnn_row *row);
    void (*low_backward)(const struct cr_rnn_row *row);
};

/* ---- rnn_low_precision.c ---- */

/* Which results a row rounds, of an `enum cr_rnn_low` and with or without a
 * bias. */
struct cr_rnn_rounds cr_rnn_rounds(int low, bool biased);

/* The gradient of input w, (m, k), of steps that are the first dimension of dy
 * (steps, n, m) and x (steps, n, k): that of each step is rounded, and their
 * sum is float32. room: (m, k) */
void cr_rnn_rounded_sum(const struct cr_op_ctx *s, int w, int dtype,
                        int64_t steps, int64_t n, const cr_real *dy,
                        const cr_real *x, cr_real *room);

bool cr_rnn_plan(struct cr_op_plan *p, const struct cr_rnn_kind *kind);
bool cr_rnn_rows_apart(const void *attr, const struct cr_spec *x, int in,
                       int out);
void cr_rnn_forward(const struct cr_op_ctx *s, const struct cr_rnn_kind *kind);
void cr_rnn_backward(const struct cr_op_ctx *s, const struct cr_rnn_kind *kind);
extern const struct cr_op_kernels cr_rnn_kernels;

/* Every op of the family but for names and functions. */
#define CR_RNN_OP(INPUTS, OUTPUTS)                             \
    .min_inputs = 2, .max_inputs = INPUTS, .outputs = OUTPUTS, \
    .saved_for_backward = CR_X(CR_RNN_W) | CR_X(CR_RNN_SEQ),   \
    .int_inputs = CR_X(CR_RNN_SEQ), .inputs = cr_rnn_inputs,   \
    .kernels = &cr_rnn_kernels, .rows = CR_ROWS_EACH,          \
    .rows_apart = cr_rnn_rows_apart

/* ---- rnn_cell.c: the cells around them ---- */

struct cr_rnn_cell {
    int64_t input_size, hidden_size, num_layers;
    bool has_bias, batch_first, bidirectional;
    double dropout;
    int nonlinearity;
};

/* MindSpore's cells over sequences and over one step. `op` is "rnn", "gru" or
 * "lstm". */
struct cr_val *cr_rnn_build(struct cr_build *b, struct cr_val *const *in,
                            const char *op, int gates);
struct cr_val *cr_rnn_build_one(struct cr_build *b, struct cr_val *const *in,
                                const char *op, int gates);
/* Their rows of options; nonlinearity, of an RNN, may follow. */
#define CR_RNN_OPTS                                                         \
    CR_RNN_SIZES,                                                           \
        CR_INT_DEFAULT(struct cr_rnn_cell, num_layers, 1, 1, 1000,          \
                       "Number of stacked layers."),                        \
        CR_BOOL_DEFAULT(struct cr_rnn_cell, has_bias, true,                 \
                        "Add bias_ih and bias_hh to the gates."),           \
        CR_BOOL_DEFAULT(struct cr_rnn_cell, batch_first, false,             \
                        "The input is (batch, time, features) instead of "  \
                        "(time, batch, features)."),                        \
        CR_REAL_DEFAULT(struct cr_rnn_cell, dropout, 0, 0, 1 - DBL_EPSILON, \
                        "Probability of dropout between two layers."),      \
        CR_BOOL_DEFAULT(struct cr_rnn_cell, bidirectional, false,           \
                        "Add a second, reverse direction.")
#define CR_RNN_ONE_OPTS                                               \
    CR_RNN_SIZES, CR_BOOL_DEFAULT(struct cr_rnn_cell, has_bias, true, \
                                  "Add bias_ih and bias_hh to the gates.")
#define CR_RNN_SIZES                                                      \
    CR_INT_OPTIONAL(struct cr_rnn_cell, input_size, 1, CR_DIM_MAX,        \
                    "Input features. Default: inferred from the input."), \
        CR_INT(struct cr_rnn_cell, hidden_size, 1, CR_DIM_MAX,            \
               "Features of the hidden state.")
#define CR_RNN_NONLINEARITY                                        \
    CR_ENUM_DEFAULT(struct cr_rnn_cell, nonlinearity, CR_RNN_TANH, \
                    "tanh|relu", "Activation of the hidden state.")

#endif
