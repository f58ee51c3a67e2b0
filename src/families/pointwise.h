/*
 * What ops on single elements share: y = f(x), with dx a function of dy and
 * of x or y at the same place. The op brings the two functions, or two loops
 * over a stretch of elements; splitting them over threads, and adding to what
 * is there, is done here.
 */
#ifndef CR_FAMILIES_POINTWISE_H
#define CR_FAMILIES_POINTWISE_H

#include "base/compiler.h"
#include "graph/op.h"
#include "kernels/exp.h"

bool cr_pointwise_plan(struct cr_op_plan *plan);
/* cost: rough nanoseconds per element, as for cr_parallel_for. */
void cr_pointwise(const struct cr_op_ctx *ctx, double cost, cr_map *f);
void cr_pointwise_backward(const struct cr_op_ctx *ctx, double cost,
                           cr_map_grad *f);

/* Names the kernel of kernels/exp.h, for ops that compute by way of it. */
extern const struct cr_op_kernels cr_pointwise_kernels;

/* LEAF_forward and LEAF_backward of two functions for one element,
 *   y = LEAF_y(o, x)   dx = LEAF_dx(o, v, dy)
 * where o are the options (void: there are none) and v is `seen`: x or y. */
#define CR_POINTWISE(leaf, options, seen, cost, grad_cost) \
    CR_POINTWISE_MAP(leaf, options)                        \
    CR_POINTWISE_GRAD(leaf, options, seen)                 \
    CR_POINTWISE_STEPS(leaf, cost, grad_cost)

#define CR_POINTWISE_STEPS(leaf, cost, grad_cost)             \
    static void leaf##_forward(const struct cr_op_ctx *s)     \
    {                                                         \
        cr_pointwise(s, cost, leaf##_map);                    \
    }                                                         \
                                                              \
    static void leaf##_backward(const struct cr_op_ctx *s)    \
    {                                                         \
        cr_pointwise_backward(s, grad_cost, leaf##_map_grad); \
    }

#define CR_POINTWISE_MAP(leaf, options)                                 \
    CR_CLONES_WIDE static void leaf##_map(const void *attr, int64_t n,  \
                                          const cr_real *x, cr_real *y) \
    {                                                                   \
        const options *o = attr;                                        \
        int64_t i;                                                      \
                                                                        \
        CR_SIMD                                                         \
        for (i = 0; i < n; i++)                                         \
            y[i] = leaf##_y(o, x[i]);                                   \
    }

#define CR_POINTWISE_GRAD(leaf, options, seen)                     \
    CR_CLONES_WIDE static void leaf##_map_grad(                    \
        const void *attr, int64_t n, CR_UNUSED const cr_real *x,   \
        CR_UNUSED const cr_real *y, const cr_real *dy, cr_real *d) \
    {                                                              \
        const options *o = attr;                                   \
        int64_t i;                                                 \
                                                                   \
        CR_SIMD                                                    \
        for (i = 0; i < n; i++)                                    \
            d[i] = leaf##_dx(o, seen[i], dy[i]);                   \
    }

/* The same maps by way of t = OF(x) or, where `from` is not x but `of`,
 * OF(LEAF_of(o, x)), with OF in kernels/exp.h, a stretch at a time:
 *   y = LEAF_y(o, x, t)   dx = LEAF_dx(o, x, t, dy) */
#define CR_POINTWISE_BY_MAP(leaf, options, OF, from)                    \
    CR_CLONES_WIDE static void leaf##_map(const void *attr, int64_t n,  \
                                          const cr_real *x, cr_real *y) \
    {                                                                   \
        CR_POINTWISE_BY(leaf, options, OF, from,                        \
                        y[i + k] = leaf##_y(o, x[i + k], t[k]))         \
    }

#define CR_POINTWISE_BY_GRAD(leaf, options, OF, from)                       \
    CR_CLONES_WIDE static void leaf##_map_grad(                             \
        const void *attr, int64_t n, const cr_real *x,                      \
        CR_UNUSED const cr_real *y, const cr_real *dy, cr_real *d)          \
    {                                                                       \
        CR_POINTWISE_BY(leaf, options, OF, from,                            \
                        d[i + k] = leaf##_dx(o, x[i + k], t[k], dy[i + k])) \
    }

#define CR_POINTWISE_BY(leaf, options, OF, from, assign)         \
    const options *o = attr;                                     \
    cr_exp_map *by = cr_exp_kernel()->OF;                        \
    _Alignas(64) cr_real t[CR_POINTWISE_STRETCH];                \
    int64_t i, k, m;                                             \
                                                                 \
    for (i = 0; i < n; i += m) {                                 \
        m = n - i;                                               \
        m = m < CR_POINTWISE_STRETCH ? m : CR_POINTWISE_STRETCH; \
        CR_POINTWISE_FROM_##from(leaf);                          \
        CR_SIMD                                                  \
        for (k = 0; k < m; k++)                                  \
            assign;                                              \
    }

#define CR_POINTWISE_FROM_x(leaf) by(m, x + i, t)
#define CR_POINTWISE_FROM_of(leaf)     \
    CR_SIMD                            \
    for (k = 0; k < m; k++)            \
        t[k] = leaf##_of(o, x[i + k]); \
    by(m, t, t)

#define CR_POINTWISE_STRETCH 1024 /* three times fits level 1 */

#define CR_POINTWISE_READS_x CR_X(0)
#define CR_POINTWISE_READS_y CR_Y(0)

/* The same, with an op that is the cell's own, and LEAF_build for the cell's
 * descriptor (a file that uses it includes graph/cell.h). The arguments
 * after these are fields of the op, such as .bprop and the options that its
 * text names. */
#define CR_POINTWISE_CELL(leaf, options, seen, cost, grad_cost, ...) \
    CR_POINTWISE(leaf, options, seen, cost, grad_cost)               \
    CR_POINTWISE_OP(leaf, seen, __VA_ARGS__)

#define CR_POINTWISE_CELL_BY(leaf, options, OF, from, cost, grad_cost, ...) \
    CR_POINTWISE_BY_MAP(leaf, options, OF, from)                            \
    CR_POINTWISE_BY_GRAD(leaf, options, OF, from)                           \
    CR_POINTWISE_STEPS(leaf, cost, grad_cost)                               \
    CR_POINTWISE_OP(leaf, x, .kernels = &cr_pointwise_kernels, __VA_ARGS__)

#define CR_POINTWISE_OP(leaf, seen, ...)                         \
    static const struct cr_op leaf##_op = {                      \
        .about.name = #leaf,                                     \
        .min_inputs = 1,                                         \
        .max_inputs = 1,                                         \
        .outputs = 1,                                            \
        .saved_for_backward = CR_POINTWISE_READS_##seen,         \
        .algebra = { .kind = CR_ELEMENTWISE,                     \
                     .map = leaf##_map,                          \
                     .map_grad = leaf##_map_grad },              \
        .plan = cr_pointwise_plan,                               \
        .forward = leaf##_forward,                               \
        .backward = leaf##_backward,                             \
        __VA_ARGS__                                              \
    };                                                           \
                                                                 \
    static struct cr_val *leaf##_build(struct cr_build *b,       \
                                       struct cr_val *const *in) \
    {                                                            \
        return CR_EMIT_OP(b, &leaf##_op, cr_opts(b), in[0]);     \
    }

#endif
