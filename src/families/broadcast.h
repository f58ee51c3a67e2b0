/*
 * What elementwise ops on one to three operands share: numpy's broadcasting,
 * types, threads, and gradients summed over what was repeated.
 *
 * Types: with a real operand all are computed with as real, else as int32
 * where the op has a loop for it (bool and uint8 are small integers then).
 * An op brings its loops, made from formulas by the macros below, in a struct
 * cr_broadcast.
 */
#ifndef CR_FAMILIES_BROADCAST_H
#define CR_FAMILIES_BROADCAST_H

#include "base/compiler.h"
#include "graph/op.h"
#include "kernels/tensor_iter.h"

#define CR_BROADCAST_MAX 3 /* operands */

/* n elements; operand k's are at in[k] + i * inc[k], inc being 0 or 1. */
typedef void cr_loop(const void *attr, int64_t n, const void *const *in,
                     const int64_t *inc, void *y);
/* d = the gradient with respect to operand `of`. Operands that
 * .saved_for_backward does not name are one 0; y is NULL unless it names it. */
typedef void cr_loop_grad(const void *attr, int64_t n, int of,
                          const void *const *in, const int64_t *inc,
                          const cr_real *y, const cr_real *dy, cr_real *d);

struct cr_broadcast {
    int operands;
    cr_loop *real;      /* operands cr_real */
    cr_loop *integer;   /* operands int32_t; NULL: they become real */
    cr_loop_grad *grad; /* NULL: no gradient */
    bool truth;         /* the result is bool: bytes 0 and 1 */
    unsigned masks;     /* CR_X: operands that come as bytes 0 and 1, whatever
                           their type; if all do, `real` takes them */
    double cost;        /* rough nanoseconds per element of the result */
};

bool cr_broadcast_plan(struct cr_op_plan *plan, const struct cr_broadcast *f);
void cr_broadcast(const struct cr_op_ctx *ctx, const struct cr_broadcast *f);
void cr_broadcast_backward(const struct cr_op_ctx *ctx,
                           const struct cr_broadcast *f);
extern const struct cr_op_kernels cr_broadcast_kernels;

/* The shape that shapes broadcast to; false, and reported, if there is none. */
bool cr_broadcast_shape(struct cr_op_plan *plan, struct cr_spec *to);

/* n elements as real, int32_t or bytes 0 and 1, where they lie or in room. */
const void *cr_elements(enum cr_type as, enum cr_type type, const void *data,
                        int64_t at, int64_t n, void *room);

/* Signed arithmetic that wraps around. */
#define CR_WRAP(op, a, b) ((int32_t)((uint32_t)(a) op (uint32_t)(b)))

/* Loops from formulas in a, b (type T) for a result of type U: one for each way
 * in which the operands move on. Of an operand that does not, everything is
 * computed once. */
#define CR_LOOP_OVER(to, U, once, each, formula) \
    { \
        once; \
        CR_SIMD \
        for (i = 0; i < n; i++) { \
            each; \
            to[i] = (U)(formula); \
        } \
    }
#define CR_LOOP_ANY1(T, to, U, bind, formula) \
    if (inc[0]) \
        CR_LOOP_OVER(to, U, (void)0, T a = pa[i]; (void)a; bind, formula) \
    else \
        CR_LOOP_OVER(to, U, T a = *pa; (void)a, bind, formula)
#define CR_LOOP_ANY2(T, to, U, bind, formula) \
    if (inc[0] && inc[1]) \
        CR_LOOP_OVER(to, U, (void)0, T a = pa[i]; T b = pb[i]; (void)a; \
                     (void)b; bind, formula) \
    else if (inc[0]) \
        CR_LOOP_OVER(to, U, T b = *pb; (void)b, T a = pa[i]; (void)a; bind, \
                     formula) \
    else if (inc[1]) \
        CR_LOOP_OVER(to, U, T a = *pa; (void)a, T b = pb[i]; (void)b; bind, \
                     formula) \
    else \
        CR_LOOP_OVER(to, U, T a = *pa; T b = *pb; (void)a; (void)b, bind, \
                     formula)

#define CR_LOOP1(...) CR_LOOP1_AS(CR_CLONES, __VA_ARGS__)
#define CR_LOOP1_AS(clones, name, T, U, formula) \
    clones static void name(const void *attr, int64_t n, \
                            const void *const *in, const int64_t *inc, \
                            void *out) \
    { \
        const T *pa = in[0]; \
        U *to = out; \
        int64_t i; \
        (void)attr; \
        CR_LOOP_ANY1(T, to, U, (void)0, formula) \
    }
#define CR_LOOP2(...) CR_LOOP2_AS(CR_CLONES, __VA_ARGS__)
#define CR_LOOP2_AS(clones, name, T, U, formula) \
    clones static void name(const void *attr, int64_t n, \
                            const void *const *in, const int64_t *inc, \
                            void *out) \
    { \
        const T *pa = in[0], *pb = in[1]; \
        U *to = out; \
        int64_t i; \
        (void)attr; \
        CR_LOOP_ANY2(T, to, U, (void)0, formula) \
    }

/* Gradients, from formulas in a, b and g = dy; GRAD1_Y's in y and g. */
#define CR_GRAD_HEAD(clones, name)                                  \
    clones static void name(                                        \
        const void *attr, int64_t n, int of, const void *const *in, \
        const int64_t *inc, const cr_real *y_, const cr_real *dy, cr_real *d)
#define CR_GRAD1_BOUND(clones, name, bind, formula)      \
    CR_GRAD_HEAD(clones, name)                           \
    {                                                    \
        const cr_real *pa = in[0];                       \
        int64_t i;                                       \
        (void)attr;                                      \
        (void)of;                                        \
        (void)y_;                                        \
        CR_LOOP_ANY1(cr_real, d, cr_real, bind, formula) \
    }
#define CR_GRAD1(...) CR_GRAD1_AS(CR_CLONES, __VA_ARGS__)
#define CR_GRAD1_AS(clones, name, formula) \
    CR_GRAD1_BOUND(clones, name, cr_real g = dy[i], formula)
#define CR_GRAD1_Y(name, formula)                                            \
    CR_GRAD1_BOUND(CR_CLONES, name, cr_real g = dy[i]; cr_real y = y_[i], \
                   formula)
#define CR_GRAD2(...) CR_GRAD2_AS(CR_CLONES, __VA_ARGS__)
#define CR_GRAD2_AS(clones, name, formula_a, formula_b)                     \
    CR_GRAD_HEAD(clones, name)                                              \
    {                                                                       \
        const cr_real *pa = in[0], *pb = in[1];                             \
        int64_t i;                                                          \
        (void)attr;                                                         \
        (void)y_;                                                           \
        if (of == 0) {                                                      \
            CR_LOOP_ANY2(cr_real, d, cr_real, cr_real g = dy[i], formula_a) \
        } else {                                                            \
            CR_LOOP_ANY2(cr_real, d, cr_real, cr_real g = dy[i], formula_b) \
        }                                                                   \
    }

/* From its loops, the functions of an op, and what descriptors of such ops of
 * n operands share:
 *   CR_BROADCAST(add, 2, .real = add_real, .cost = 0.3) */
#define CR_BROADCAST(op, n, ...)                                        \
    static const struct cr_broadcast op##_loops = { (n), __VA_ARGS__ }; \
    static bool op##_plan(struct cr_op_plan *p)                         \
    {                                                                   \
        return cr_broadcast_plan(p, &op##_loops);                       \
    }                                                                   \
    static void op##_forward(const struct cr_op_ctx *s)                 \
    {                                                                   \
        cr_broadcast(s, &op##_loops);                                   \
    }
#define CR_BROADCAST_BACKWARD(op)                        \
    static void op##_backward(const struct cr_op_ctx *s) \
    {                                                    \
        cr_broadcast_backward(s, &op##_loops);           \
    }
#define CR_BROADCAST_OP(op, n, names) \
    CR_BROADCAST_OP_OF(CR_ELEMENTWISE, op, n, names)
#define CR_BROADCAST_OP_OF(is, op, n, names)                               \
    .min_inputs = (n), .max_inputs = (n), .outputs = 1, .inputs = (names), \
    .int_inputs = CR_X(n) - 1, .low = (CR_X(n) - 1) | CR_Y(0),             \
    .algebra = { .kind = (is) }, .rows = CR_ROWS_ALIGN,                    \
    .kernels = &cr_broadcast_kernels, .plan = op##_plan,                   \
    .forward = op##_forward

#endif
