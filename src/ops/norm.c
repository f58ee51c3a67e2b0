/* norm: y = (sum |x|^p)^(1/p) along axes, p = ord; the largest |x| for inf
 *   dx = dy sign(x) (|x| / y)^(p - 1), 0 where y is 0;
 *   for inf, dy sign(x) divided equally among equal maxima. */
#include "families/reduction.h"
#include "graph/op_attrs.h"

static const struct cr_opt norm_opts[] = {
    CR_REAL_POS_DEFAULT(struct cr_norm, ord, 2, INFINITY,
                        "Order of the norm; inf for the maximum."),
    CR_INTS_OPTIONAL(struct cr_norm, axis, -CR_RANK_MAX, CR_RANK_MAX - 1,
                     "Axes to reduce. Default: all."),
    CR_BOOL_DEFAULT(struct cr_norm, keepdims, false,
                    "Keep reduced axes, with length 1."),
    { 0 },
};

static bool norm_plan(struct cr_op_plan *p)
{
    const struct cr_norm *o = p->attr;

    if (!cr_reduction_plan(p, &o->axis, o->keepdims))
        return false;
    p->scratch = sizeof(cr_real) * (size_t)cr_count(&p->out[0]);
    return true;
}

static void norm_squares(const void *attr, int64_t n, const cr_real *x,
                         const cr_real *y, int64_t inc, cr_real *to)
{
    int64_t i;

    (void)attr, (void)y, (void)inc;
    CR_SIMD
    for (i = 0; i < n; i++)
        to[i] = x[i] * x[i];
}

CR_CLONES_WIDE static void norm_powers(const void *attr, int64_t n,
                                       const cr_real *x, const cr_real *y,
                                       int64_t inc, cr_real *to)
{
    cr_real p = (cr_real)((const struct cr_norm *)attr)->ord;
    int64_t i;

    (void)y, (void)inc;
    if (p == 1 || isinf(p))
        CR_SIMD
    for (i = 0; i < n; i++)
        to[i] = cr_abs(x[i]);
    else CR_SIMD for (i = 0; i < n; i++) to[i] = cr_pow(cr_abs(x[i]), p);
}

static void norm_forward(const struct cr_op_ctx *s)
{
    const struct cr_norm *o = s->attr;
    int64_t i, n = cr_count(&s->out[0]);
    cr_real *y = s->y[0];

    if (o->ord == 2) {
        cr_reduction_sums(s, &o->axis, &cr_reducer_sum, 0.5, NULL, norm_squares,
                          y);
        for (i = 0; i < n; i++)
            y[i] = cr_sqrt(y[i]);
        return;
    }
    cr_reduction_sums(s, &o->axis,
                      isinf(o->ord) ? &cr_reducer_max : &cr_reducer_sum,
                      o->ord == 1 ? 1 : 20, NULL, norm_powers, y);
    for (i = 0; i < n && o->ord != 1 && !isinf(o->ord); i++)
        y[i] = cr_pow(y[i], (cr_real)(1 / o->ord));
}

static cr_real sign_of(cr_real x)
{
    return x > 0 ? 1 : x < 0 ? -1 : x;
}

static cr_real power_of(const void *attr, cr_real part)
{
    return cr_pow(part, (cr_real)(((const struct cr_norm *)attr)->ord - 1));
}

static void norm_largest(const void *attr, int64_t n, const cr_real *x,
                         const cr_real *y, int64_t inc, cr_real *to)
{
    int64_t i;

    (void)attr;
    for (i = 0; i < n; i++)
        to[i] = cr_abs(x[i]) == y[i * inc] ? 1 : 0;
}

CR_REDUCTION_LOOP(norm_one, g[j] * sign_of(x[i]))
CR_REDUCTION_LOOP(norm_two, y[j] == 0 ? 0 : g[j] * (x[i] / y[j]))
CR_REDUCTION_LOOP(norm_inf,
                  cr_abs(x[i]) == y[j] ? g[j] * sign_of(x[i]) / c[j] : 0)
CR_REDUCTION_LOOP(norm_any, y[j] == 0 || x[i] == 0
                                ? 0
                                : g[j] * sign_of(x[i]) *
                                      power_of(attr, cr_abs(x[i]) / y[j]))

static void norm_backward(const struct cr_op_ctx *s)
{
    const struct cr_norm *o = s->attr;

    if (isinf(o->ord))
        cr_reduction_sums(s, &o->axis, &cr_reducer_sum, 1, s->y[0],
                          norm_largest, s->scratch);
    cr_reduction_backward(s, &o->axis, o->ord == 2 ? 1 : 20, s->scratch,
                          o->ord == 1     ? norm_one
                          : o->ord == 2   ? norm_two
                          : isinf(o->ord) ? norm_inf
                                          : norm_any);
}

const struct cr_op cr_op_norm = {
    .about = { .name = "norm",
               .summary = "Vector norm along axes.",
               .opts = norm_opts,
               .size = sizeof(struct cr_norm),
               .renamed = cr_reduce_attr_renamed },
    .rows = CR_ROWS_EACH,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .saved_for_backward = CR_X(0) | CR_Y(0),
    .plan = norm_plan,
    .forward = norm_forward,
    .bprop = "axes = None if len(axis) == 0 else axis\n"
             "if ord > 1e30:\n"
             "    return refuse('ord inf')\n"
             "n = norm(a, ord, axes, keepdims=True)\n"
             "g = reshape(dy, n.shape)\n"
             "if ord == 1:\n"
             "    return g * sign(a)\n"
             "safe = where(n == 0, 1.0, n)\n"
             "if ord == 2:\n"
             "    return where(n == 0, 0.0, g * a / safe)\n"
             "zero = logical_or(n == 0, a == 0)\n"
             "part = where(zero, 1.0, abs(a) / safe)\n"
             "return where(zero, 0.0, g * sign(a) * part ** (ord - 1))",
    .backward = norm_backward,
};
