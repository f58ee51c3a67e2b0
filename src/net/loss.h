/*
 * What losses share: a value for each element or sample from the loss's own
 * op (made from formulas by the macros of net/broadcast.h) or from other ops;
 * then weights, and a reduction.
 */
#ifndef CR_NET_LOSS_H
#define CR_NET_LOSS_H

#include "net/attr.h"
#include "net/broadcast.h"
#include "net/cell.h"

/* The option `reduction` of struct T; `or` is enum cr_reduction. */
#define CR_LOSS_REDUCTION(T, or)                       \
    CR_ENUM_DEFAULT(T, reduction, or, "mean|sum|none", \
                    "How the values of the elements become the loss.")

/* An op of a loss: n operands of values l, from its loops name_real and
 * name_back. */
#define CR_LOSS_OP(op, n, ns) \
    CR_BROADCAST(op, n, .real = op##_real, .back = op##_back, \
                 .cost = (ns)) \
    CR_BROADCAST_BACK(op) \
    static const struct cr_op op##_op = { \
        .about = { .name = #op }, \
        CR_BROADCAST_OP(op, n, cr_inputs2), \
        .reads = CR_X(n) - 1, \
        .backward = op##_backward, \
    }

/* Mean, sum or none of the values. */
struct cr_val *cr_loss_reduce(struct cr_build *b, struct cr_val *v,
                              int reduction);
/* Sum, mean ... along an axis; and along all. */
struct cr_val *cr_loss_over(struct cr_build *b, const char *op,
                            struct cr_val *v, int64_t axis, bool keepdims);
struct cr_val *cr_loss_all(struct cr_build *b, const char *op,
                           struct cr_val *v);
/* A number. */
struct cr_val *cr_loss_number(struct cr_build *b, double value);
/* v times weights along an axis; v itself where none are given. */
struct cr_val *cr_loss_weigh(struct cr_build *b, struct cr_val *v,
                             const struct cr_reals *weight, int64_t axis);
/* 1 at the class along a new axis, 0 elsewhere; a label outside the classes
 * is an error of the data. */
struct cr_val *cr_loss_one_hot(struct cr_build *b, struct cr_val *label,
                               int64_t classes, int64_t axis);

/* (n, 1) and (n): one shape has a last axis of 1 more than the other. */
bool cr_loss_is_column(const struct cr_spec *a, const struct cr_spec *b);
/* Whether an output may broadcast with a label: shapes that differ by a last
 * axis of 1, which nobody means, are an error; others that differ are noted
 * for cr_net_check_loss_input to warn about. */
bool cr_loss_broadcast(struct cr_build *b, const struct cr_val *output,
                       const struct cr_val *label);
/* Whether the inputs have one shape; reports. */
bool cr_loss_same(struct cr_build *b, struct cr_val *const *in);

/* Weights of the classes from a list, from a map class: weight, or `balanced`,
 * which counts the column that `label` is; reports. NULL is none. */
bool cr_loss_classes(struct cr_build *b, const struct cr_node *node,
                     const struct cr_val *label, int64_t classes,
                     struct cr_reals *to);
/* What the row `weight` of such a loss says. */
#define CR_LOSS_CLASSES \
    "Weights of the classes: a list, one for each; a map class: weight, " \
    "where classes not named weigh 1; or balanced, n / (classes * count) " \
    "over the labels of the training data."

#endif
