/*
 * What ops share that fold elements along axes: sum, mean, max, norm ...
 *
 * Without axes all elements are folded into one. A folded axis is dropped, or
 * stays with length 1 where keepdims is set; the memory is the same. In a walk
 * (kernels/tensor_iter.h), operand 0 is the input and operand 1 the result.
 */
#ifndef CR_FAMILIES_REDUCTION_H
#define CR_FAMILIES_REDUCTION_H

#include "base/compiler.h"
#include "graph/op.h"
#include "graph/op_attrs.h"
#include "kernels/tensor_iter.h"

/* Sets out[0]; its type is the input's, bool and uint8 becoming int32. */
bool cr_reduction_plan(struct cr_op_plan *plan, const struct cr_ints *axis,
                       bool keepdims);
void cr_reduction_walk(struct cr_tensor_iter *walk, const struct cr_spec *x,
                       const struct cr_ints *axis);

struct cr_reduction_desc {
    const struct cr_reducer *reducer;
    double (*value)(const void *attr, double x);  /* folded instead of x */
    double (*finish)(const void *attr, double sum, double n);
    double cost; /* nanoseconds per element of the input */
};

/* y from x, of any type. */
void cr_reduction(const struct cr_op_ctx *ctx, const struct cr_ints *axis,
                  const struct cr_reduction_desc *f);

/* to[result] = the sum of what values gives for n elements x with results y
 * (which moves on by inc). */
typedef void cr_reduction_values(const void *attr, int64_t n, const cr_real *x,
                                 const cr_real *y, int64_t inc, cr_real *to);
void cr_reduction_sums(const struct cr_op_ctx *ctx, const struct cr_ints *axis,
                       const struct cr_reducer *fold, double cost,
                       const cr_real *y, cr_reduction_values *values,
                       cr_real *to);

/* dx from x, y, g = dy and what the op worked out for each result: c. x and y
 * are NULL where .saved_for_backward does not name them, c where there is none.
 */
typedef void cr_reduction_loop(const void *attr, int64_t n, double count,
                               const cr_real *x, const cr_real *y,
                               const cr_real *g, const cr_real *c, int64_t inc,
                               cr_real *d);
void cr_reduction_backward(const struct cr_op_ctx *ctx,
                           const struct cr_ints *axis, double cost,
                           const cr_real *c, cr_reduction_loop *loop);

/* A loop from a formula in x[i], y[j], g[j], c[j] and count. */
#define CR_REDUCTION_LOOP(name, formula) \
    CR_CLONES static void name(const void *attr, int64_t n, double count, \
                     const cr_real *x, const cr_real *y, const cr_real *g, \
                     const cr_real *c, int64_t inc, cr_real *d) \
    { \
        int64_t i, j; \
        (void)attr, (void)count, (void)x, (void)y, (void)c; \
        if (inc) { \
            CR_SIMD \
            for (i = 0; i < n; i++) { \
                j = i; \
                d[i] = (formula); \
            } \
        } else { \
            CR_SIMD \
            for (i = 0; i < n; i++) { \
                j = 0; \
                d[i] = (formula); \
            } \
        } \
    }

/* Ops whose attr is a struct cr_reduce_attr: their functions, and what their
 * descriptors share.
 *   CR_REDUCE(sum, .fold = &cr_reducer_sum, .cost = 0.3)
 *   CR_REDUCE_BACKWARD(sum, 0.3, g[j]) */
bool cr_reduce_attr_plan(struct cr_op_plan *plan);
extern const char *const cr_reduce_attr_renamed[]; /* dim, keepdim */
const struct cr_ints *cr_reduce_attr_axis(const struct cr_op_ctx *ctx);
extern const struct cr_op_kernels cr_reduce_attr_kernels;
#define CR_REDUCE(op, ...)                                             \
    static const struct cr_reduction_desc op##_fold = { __VA_ARGS__ }; \
    static void op##_forward(const struct cr_op_ctx *s)                \
    {                                                                  \
        cr_reduction(s, cr_reduce_attr_axis(s), &op##_fold);           \
    }
#define CR_REDUCE_BACKWARD(op, cost, formula)                        \
    CR_REDUCTION_LOOP(op##_loop, formula)                            \
    static void op##_backward(const struct cr_op_ctx *s)             \
    {                                                                \
        cr_reduction_backward(s, cr_reduce_attr_axis(s), cost, NULL, \
                              op##_loop);                            \
    }
#define CR_REDUCE_OP(op, text)                        \
    .about = { .name = (op),                          \
               .summary = (text),                     \
               .opts = cr_reduce_attr_opts,           \
               .size = sizeof(struct cr_reduce_attr), \
               .renamed = cr_reduce_attr_renamed },   \
    .rows = CR_ROWS_EACH, .min_inputs = 1, .max_inputs = 1, .outputs = 1, \
    .inputs = cr_input, .kernels = &cr_reduce_attr_kernels

#endif
