/*
 * Building blocks of losses. A loss computes one value per element or sample,
 * by its own op (made from formulas by the macros of families/broadcast.h) or
 * from other ops, then applies weights and a reduction. Functions that return a
 * value return NULL after reporting an error.
 */
#ifndef CR_BUILD_LOSS_H
#define CR_BUILD_LOSS_H

#include "families/broadcast.h"
#include "graph/cell.h"
#include "graph/op_attrs.h"

/* The option `reduction` of struct T; `or` is enum cr_reduction. */
#define CR_LOSS_REDUCTION(T, or)                       \
    CR_ENUM_DEFAULT(T, reduction, or, "mean|sum|none", \
                    "Reduction over the elements.")

/* Defines the op of a loss with n operands, from its loops op_real (the values)
 * and op_back (their gradients). */
#define CR_LOSS_OP(op, n, ns)                                               \
    CR_BROADCAST(op, n, .real = op##_real, .grad = op##_grad, .cost = (ns)) \
    CR_BROADCAST_BACKWARD(op)                                               \
    static const struct cr_op op##_op = {                                   \
        .about = { .name = #op },                                           \
        CR_BROADCAST_OP(op, n, cr_inputs2),                                 \
        .saved_for_backward = CR_X(n) - 1,                                  \
        .backward = op##_backward,                                          \
    }

/* Returns the mean or sum of the values, or v itself for none. In level auto
 * those of float16 values are float16, sums too, as MindSpore's losses cast
 * them back. */
struct cr_val *cr_loss_reduce(struct cr_build *b, struct cr_val *v,
                              int reduction);
/* Reduces along one axis, or along all, by the op sum, mean ... */
struct cr_val *cr_loss_over(struct cr_build *b, const char *op,
                            struct cr_val *v, int64_t axis, bool keepdims);
struct cr_val *cr_loss_all(struct cr_build *b, const char *op,
                           struct cr_val *v);
/* Returns the square of each difference. */
struct cr_val *cr_loss_squares(struct cr_build *b, struct cr_val *x,
                               struct cr_val *y);
/* Returns a constant. */
struct cr_val *cr_loss_number(struct cr_build *b, double value);
/* Multiplies v by weights along an axis; without weights returns v itself. */
struct cr_val *cr_loss_weigh(struct cr_build *b, struct cr_val *v,
                             const struct cr_reals *weight, int64_t axis);
/* Returns one-hot rows along a new axis; a label outside the classes is an
 * error of the data. */
struct cr_val *cr_loss_one_hot(struct cr_build *b, struct cr_val *label,
                               int64_t classes, int64_t axis);

/* True for (n, 1) and (n): one shape has an additional last axis of 1. */
bool cr_loss_is_column(const struct cr_spec *a, const struct cr_spec *b);
/* True if an output may broadcast with a label. Shapes that differ by a last
 * axis of 1 only are an error; other differences are recorded, and
 * cr_net_check_loss_input warns about them. */
bool cr_loss_broadcast(struct cr_build *b, const struct cr_val *output,
                       const struct cr_val *label);
/* True if both inputs have the same shape; reports if not. */
bool cr_loss_same(struct cr_build *b, struct cr_val *const *in);

/* Reads class weights: a list, a map class: weight, or `balanced`, which counts
 * the labels of the data column `label`. A NULL node leaves `to` empty. False
 * after reporting an error. */
bool cr_loss_classes(struct cr_build *b, const struct cr_node *node,
                     const struct cr_val *label, int64_t classes,
                     struct cr_reals *to);
/* The help text of their option `weight`. */
#define CR_LOSS_CLASSES \
    "Weights of the classes: a list with one number per class; a map class: " \
    "weight, with 1 for all other classes; or balanced, n / (classes * " \
    "count) over the labels of the training data."

#endif
