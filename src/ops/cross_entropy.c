/* cross_entropy: softmax and cross entropy in one op
 *
 * logits x (N, ..C at axis.., d...), labels t of the other dimensions, int32;
 * or probabilities of the logits' shape.  lp = x - logsumexp(x) along axis.
 *   classes:       a_c = (1 - e) w_t [c = t] + e/C w_c
 *   probabilities: a_c = w_c (y_c (1 - e) + e/C)
 *   l = -sum_c a_c lp_c       dl/dx_c = (sum_j a_j) p_c - a_c
 * mean divides by the sum of w_t over labels that are not ignored, or by the
 * number of positions; if all labels are ignored it is 0/0. With `negative`,
 * all a_c of a label below 0 are 0. With `logs`, lp = x, and the gradient is
 * -a_c. Labels that are computed by a network get the gradient
 * dl/dy_c = -w_c (1 - e) lp_c. */
#include "families/softmax.h"
#include "graph/op.h"
#include "graph/op_attrs.h"

#include "base/compiler.h"
#include "kernels/parallel_for.h"

#include <string.h>

enum { X, T };

static const struct cr_opt cross_entropy_opts[] = {
    CR_INT_DEFAULT(struct cr_cross_entropy, axis, 1, -CR_RANK_MAX,
                   CR_RANK_MAX - 1, "Axis of the classes."),
    CR_INT_DEFAULT(struct cr_cross_entropy, ignore_index, -100, INT32_MIN,
                   INT32_MAX,
                   "Label value to ignore: such samples contribute "
                   "neither loss nor gradient."),
    CR_ENUM_DEFAULT(struct cr_cross_entropy, reduction, CR_MEAN,
                    "mean|sum|none", "Reduction over the samples."),
    CR_REAL_DEFAULT(struct cr_cross_entropy, label_smoothing, 0, 0, 1,
                    "Label smoothing: the fraction of the target spread evenly "
                    "over all classes."),
    CR_REALS_OPTIONAL(struct cr_cross_entropy, weight, 0, 1e30,
                      "Weights of the classes."),
    CR_BOOL_DEFAULT(struct cr_cross_entropy, negative, false,
                    "Negative labels are ignored instead of being an error."),
    CR_BOOL_DEFAULT(struct cr_cross_entropy, logs, false,
                    "The input is log-probabilities instead of logits."),
    { 0 },
};

static int ce_axis(const struct cr_spec *x, const struct cr_cross_entropy *o)
{
    return (int)(o->axis < 0 ? o->axis + x->rank : o->axis);
}

static bool ce_fits(const struct cr_op_plan *p, int axis)
{
    const struct cr_spec *x = &p->in[X], *t = &p->in[T];
    int i, k = 0;

    if (t->rank != x->rank - 1)
        return false;
    for (i = 0; i < x->rank; i++)
        if (i != axis && x->dim[i] != t->dim[k++])
            return false;
    return true;
}

static bool cross_entropy_plan(struct cr_op_plan *p)
{
    const struct cr_cross_entropy *o = p->attr;
    const struct cr_spec *x = &p->in[X], *t = &p->in[T];
    int axis = ce_axis(x, o);
    int64_t positions, classes;

    if (axis < 0 || axis >= x->rank)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "logits: found %s, expected an axis %lld of classes",
                        cr_diag_format(p->arena, x), (long long)o->axis);
    classes = x->dim[axis];
    positions = cr_count(x) / classes;
    if (t->type == CR_REAL) {
        if (!cr_spec_same(x, t))
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "labels: found %s for logits %s, expected the same "
                            "shape: float labels are probabilities",
                            cr_diag_format(p->arena, t),
                            cr_diag_format(p->arena, x));
    } else {
        if (t->type != CR_I32) {
            cr_error(p->diag, p->pos, CR_E_DTYPE,
                     "labels: found %s, expected int32",
                     cr_type_name(t->type));
            cr_note(p->diag, "   write `label: [{TypeCast: {data_type: "
                             "int32}}]` under datapipe");
            return false;
        }
        if (!ce_fits(p, axis))
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "labels: found %s for logits %s, expected their "
                            "shape without axis %d",
                            cr_diag_format(p->arena, t),
                            cr_diag_format(p->arena, x), axis);
        p->bound[T] = (struct cr_bound){ .set = true,
                                         .computed = true,
                                         .low = o->negative ? INT32_MIN : 0,
                                         .high = classes,
                                         .has_except = true,
                                         .except = o->ignore_index };
    }
    if (o->weight.n > 0 && o->weight.n != classes)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "weight: found %d entries, expected one for each of "
                        "%lld classes",
                        o->weight.n, (long long)classes);
    p->out[0] = CR_SCALAR;
    if (o->reduction == CR_NONE) {
        p->out[0] = *t;
        p->out[0].type = CR_REAL;
        if (t->type == CR_REAL) {
            p->out[0].rank--;
            memmove(&p->out[0].dim[axis], &t->dim[axis + 1],
                    (size_t)(t->rank - axis - 1) * sizeof t->dim[0]);
        }
    }
    /* probabilities of each class, then value and weight of each position;
     * then, if labels are probabilities, the log-probabilities, because the
     * logarithm of a probability that underflowed to 0 is lost */
    p->saved =
        sizeof(cr_real) * (size_t)(cr_count(x) * (t->type == CR_REAL ? 2 : 1) +
                                   2 * positions + 1);
    return true;
}

struct ce {
    const struct cr_op_ctx *s;
    const struct cr_cross_entropy *o;
    int64_t classes, inner, positions;
    cr_real *prob, *value, *weight, *divisor, *log_prob;
    cr_real spread; /* e/C */
};

static struct ce ce_open(const struct cr_op_ctx *s)
{
    const struct cr_spec *x = &s->in[X];
    int i, axis = ce_axis(x, s->attr);
    struct ce c = { .s = s, .o = s->attr, .classes = x->dim[axis],
                    .inner = 1 };

    for (i = axis + 1; i < x->rank && x->layout == CR_ROW_MAJOR; i++)
        c.inner *= x->dim[i];
    c.positions = cr_count(x) / c.classes;
    c.prob = s->saved;
    c.value = c.prob + cr_count(x);
    c.weight = c.value + c.positions;
    c.divisor = c.weight + c.positions;
    c.log_prob = c.divisor + 1;
    c.spread = (cr_real)(c.o->label_smoothing / (double)c.classes);
    return c;
}

static cr_real ce_weight(const struct ce *c, int64_t k)
{
    return c->o->weight.n > 0 ? (cr_real)c->o->weight.v[k] : 1;
}

/* a_k of one position, whose target class is t (or probabilities y). */
static cr_real ce_target(const struct ce *c, int64_t k, int64_t t,
                         const cr_real *y)
{
    cr_real sure = 1 - (cr_real)c->o->label_smoothing;

    if (y)
        return ce_weight(c, k) * (y[k * c->inner] * sure + c->spread);
    return (k == t ? sure * ce_weight(c, t) : 0) +
           c->spread * ce_weight(c, k);
}

static bool ce_ignored(const struct ce *c, int64_t t)
{
    return t == c->o->ignore_index || t < 0;
}

static int64_t ce_at(const struct ce *c, int64_t position)
{
    return position / c->inner * c->classes * c->inner + position % c->inner;
}

#define SIDE 256 /* positions side by side */

/* Of positions side by side: their labels and what forward finds. */
struct ce_side {
    int64_t n;
    cr_real top[SIDE], log_sum[SIDE]; /* logsumexp(x) - top */
};

/* Where classes lie apart, element c of position i at c * inner + i. */
CR_CLONES_WIDE static void ce_probs_apart(int64_t classes, int64_t inner,
                                          const cr_real *x, cr_real *p,
                                          struct ce_side *f)
{
    cr_real sum[SIDE];
    int64_t i, k, n = f->n;

    memcpy(f->top, x, (size_t)n * sizeof *x);
    for (k = 1; k < classes; k++)
        CR_SIMD
        for (i = 0; i < n; i++)
            f->top[i] = x[k * inner + i] > f->top[i] ? x[k * inner + i]
                                                     : f->top[i];
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (k = 0; k < classes; k++)
        CR_SIMD
        for (i = 0; i < n; i++)
            sum[i] += p[k * inner + i] = cr_exp(x[k * inner + i] - f->top[i]);
    for (k = 0; k < classes; k++)
        CR_SIMD
        for (i = 0; i < n; i++)
            p[k * inner + i] /= sum[i];
    for (i = 0; i < n; i++)
        f->log_sum[i] = cr_log(sum[i]);
}

CR_CLONES_WIDE static void ce_exp(int64_t n, const cr_real *x, cr_real *p)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        p[i] = cr_exp(x[i]);
}

/* Where x is log-probabilities. */
static void ce_probs_of_logs(const struct ce *c, const cr_real *x, cr_real *p,
                             struct ce_side *f)
{
    int64_t pieces = c->inner > 1 ? c->classes : 1, k;
    int64_t each = c->inner > 1 ? f->n : f->n * c->classes;

    for (k = 0; k < pieces; k++)
        ce_exp(each, x + k * c->inner, p + k * c->inner);
    memset(f->top, 0, (size_t)f->n * sizeof *f->top);
    memset(f->log_sum, 0, (size_t)f->n * sizeof *f->log_sum);
}

static void ce_probs(const struct ce *c, const cr_real *x, cr_real *p,
                     struct ce_side *f)
{
    int64_t i, n = c->classes;

    if (c->o->logs)
        ce_probs_of_logs(c, x, p, f);
    else if (c->inner > 1)
        ce_probs_apart(n, c->inner, x, p, f);
    else
        for (i = 0; i < f->n; i++)
            f->log_sum[i] = (cr_real)cr_softmax_line(n, x + i * n, p + i * n,
                                                     &f->top[i]);
}

/* The positions from..to-1 that lie side by side, or after one another. */
static int64_t ce_adjacent(const struct ce *c, int64_t from, int64_t to)
{
    int64_t n = c->inner > 1 ? c->inner - from % c->inner : to - from;

    n = n < to - from ? n : to - from;
    return n < SIDE ? n : SIDE;
}

/* Sums go in LANES, one number of each in turn. */
#define LANES 16
#define CE_SUM(n, term)                                                \
    double lane[LANES] = { 0 }, sum = 0;                               \
    int64_t k, j, whole = (n) - (n) % LANES;                           \
                                                                       \
    for (k = 0; k < whole; k += LANES)                                 \
        CR_SIMD                                                        \
        for (j = 0; j < LANES; j++)                                    \
            lane[j] += (double)(term);                                 \
    for (k = whole, j = 0; k + j < (n); j++)                           \
        lane[j] += (double)(term);                                     \
    for (j = 0; j < LANES; j++)                                        \
        sum += lane[j];                                                \
    return (cr_real)sum

/* Sum of -log p of n classes side by side. */
CR_CLONES static cr_real ce_sum(int64_t n, const cr_real *x, cr_real log_sum,
                                cr_real top)
{
    CE_SUM(n, log_sum - (x[k + j] - top));
}

/* The same of probabilities y of the classes, mixed with an even spread; and
 * the logarithms. */
CR_CLONES static cr_real ce_sum_mixed(int64_t n, const cr_real *x,
                                      cr_real log_sum, cr_real top,
                                      const cr_real *y, cr_real sure,
                                      cr_real spread, cr_real *log_prob)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        log_prob[i] = (x[i] - top) - log_sum;
    {
        CE_SUM(n, (y[k + j] * sure + spread) * -log_prob[k + j]);
    }
}

CR_CLONES static cr_real ce_sum_targets(int64_t n, const cr_real *y,
                                        cr_real sure, cr_real spread)
{
    CE_SUM(n, y[k + j] * sure + spread);
}

/* Whether the classes of a position lie side by side, without weights. */
static bool ce_even(const struct ce *c)
{
    return c->inner == 1 && c->o->weight.n == 0;
}

/* Value and weight of a position, whose logits lie from `at` on. */
static void ce_value(const struct ce *c, int64_t i, int64_t at,
                     cr_real log_sum, cr_real top)
{
    bool dense = c->s->in[T].type == CR_REAL;
    int64_t in = c->inner, k;
    const cr_real *x = (const cr_real *)c->s->x[X] + at;
    const cr_real *y = dense ? (const cr_real *)c->s->x[T] + at : NULL;
    int64_t t = dense ? 0 : ((const int32_t *)c->s->x[T])[i];

    c->value[i] = 0;
    c->weight[i] = 0;
    if (!dense && ce_ignored(c, t))
        return;
    c->weight[i] = dense ? 1 : ce_weight(c, t);
    if (!dense && c->spread == 0) {
        c->value[i] = c->weight[i] * (log_sum - (x[t * in] - top));
        return;
    }
    if (ce_even(c)) {
        cr_real sure = 1 - (cr_real)c->o->label_smoothing;

        c->value[i] =
            dense ? ce_sum_mixed(c->classes, x, log_sum, top, y, sure,
                                 c->spread, c->log_prob + at)
                  : sure * (log_sum - (x[t] - top)) +
                        c->spread * ce_sum(c->classes, x, log_sum, top);
        return;
    }
    for (k = 0; k < c->classes; k++) {
        cr_real minus_log = log_sum - (x[k * in] - top);

        c->value[i] += ce_target(c, k, t, y) * minus_log;
        if (dense)
            c->log_prob[at + k * in] = -minus_log;
    }
}

static void ce_range(void *ctx, int64_t from, int64_t to)
{
    const struct ce *c = ctx;
    int64_t step = c->inner > 1 ? 1 : c->classes, at, i;
    struct ce_side f;

    for (; from < to; from += f.n) {
        f.n = ce_adjacent(c, from, to);
        at = ce_at(c, from);
        ce_probs(c, (const cr_real *)c->s->x[X] + at, c->prob + at, &f);
        for (i = 0; i < f.n; i++)
            ce_value(c, from + i, at + i * step, f.log_sum[i], f.top[i]);
    }
}

static void cross_entropy_forward(const struct cr_op_ctx *s)
{
    struct ce c = ce_open(s);
    double sum = 0, weight = 0;
    cr_real *out = s->y[0];
    int64_t i;

    cr_parallel_for(c.positions, 1.5 * (double)c.classes, &c, ce_range);
    *c.divisor = 1;
    if (c.o->reduction == CR_NONE) {
        memcpy(out, c.value, (size_t)c.positions * sizeof *out);
        return;
    }
    for (i = 0; i < c.positions; i++) {
        sum += c.value[i];
        weight += c.weight[i];
    }
    if (s->sum) {
        double all[2] = { sum, weight };

        s->sum(all, 2);
        sum = all[0];
        weight = all[1];
    }
    if (c.o->reduction == CR_MEAN) {
        sum /= weight;
        *c.divisor = (cr_real)weight;
    }
    out[0] = (cr_real)sum;
}

/* Gradient for one label with contiguous classes: dx = g w (p - a), with a =
 * spread, and 1 - label smoothing more for the target. */
CR_CLONES static void ce_back_line(int64_t n, const cr_real *p, int64_t t,
                                   cr_real g, cr_real w, cr_real spread,
                                   cr_real sure, bool add, cr_real *dx)
{
    cr_real was = dx[t], own;
    int64_t k;

    if (add) {
        CR_SIMD
        for (k = 0; k < n; k++)
            dx[k] += g * (w * p[k] - spread);
    } else {
        CR_SIMD
        for (k = 0; k < n; k++)
            dx[k] = g * (w * p[k] - spread);
    }
    own = g * (w * p[t] - (spread + sure * w));
    dx[t] = add ? was + own : own;
}

/* The same for probabilities y of the classes, which add up to `all`. */
CR_CLONES static void ce_back_mixed(int64_t n, const cr_real *p,
                                    const cr_real *y, cr_real g, cr_real all,
                                    cr_real spread, cr_real sure, bool add,
                                    cr_real *dx)
{
    int64_t k;

    if (add) {
        CR_SIMD
        for (k = 0; k < n; k++)
            dx[k] += g * (all * p[k] - (y[k] * sure + spread));
    } else {
        CR_SIMD
        for (k = 0; k < n; k++)
            dx[k] = g * (all * p[k] - (y[k] * sure + spread));
    }
}

/* As ce_back_line for n positions side by side, without what the targets get of
 * it: dx = g w p. w below 0: the label is ignored. */
CR_CLONES static void ce_back_apart(int64_t classes, int64_t inner, int64_t n,
                                    const cr_real *p, const cr_real *g,
                                    const cr_real *w, bool add, cr_real *dx)
{
    int64_t i, k;

    for (k = 0; k < classes; k++, p += inner, dx += inner)
        if (add)
            CR_SIMD
            for (i = 0; i < n; i++)
                dx[i] += w[i] < 0 ? 0 : g[i] * (w[i] * p[i]);
        else
            CR_SIMD
            for (i = 0; i < n; i++)
                dx[i] = w[i] < 0 ? 0 : g[i] * (w[i] * p[i]);
}

static cr_real ce_dy(const struct ce *c, int64_t i)
{
    const cr_real *dy = c->s->dy[0];

    return dy[c->o->reduction == CR_NONE ? i : 0] / *c->divisor;
}

/* Some positions with labels, whose classes lie apart. */
static void ce_back_side(const struct ce *c, int64_t from, int64_t n)
{
    int64_t at = ce_at(c, from), in = c->inner, i;
    const int32_t *t = (const int32_t *)c->s->x[T] + from;
    const cr_real *p = c->prob + at;
    cr_real *dx = (cr_real *)c->s->dx[X] + at;
    cr_real g[SIDE] = { 0 }, w[SIDE] = { 0 }, was[SIDE];
    bool add = c->s->accumulate[X];

    for (i = 0; i < n; i++) {
        bool ignored = ce_ignored(c, t[i]);

        g[i] = ce_dy(c, from + i);
        w[i] = ignored ? -1 : ce_weight(c, t[i]);
        was[i] = add && !ignored ? dx[t[i] * in + i] : 0;
    }
    ce_back_apart(c->classes, in, n, p, g, w, add, dx);
    for (i = 0; i < n; i++)
        if (w[i] >= 0)
            dx[t[i] * in + i] =
                was[i] + g[i] * (w[i] * p[t[i] * in + i] - w[i]);
}

static void ce_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct ce *c = ctx;
    bool dense = c->s->in[T].type == CR_REAL;
    bool simple = !dense && c->spread == 0 && !c->o->logs;
    cr_real sure = 1 - (cr_real)c->o->label_smoothing;
    int64_t i, k, n, in = c->inner;

    for (; simple && in > 1 && from < to; from += n) {
        n = ce_adjacent(c, from, to);
        ce_back_side(c, from, n);
    }
    for (i = from; i < to; i++) {
        const cr_real *p = c->prob + ce_at(c, i);
        const cr_real *y =
            dense ? (const cr_real *)c->s->x[T] + ce_at(c, i) : NULL;
        int64_t t = dense ? 0 : ((const int32_t *)c->s->x[T])[i];
        bool ignored = !dense && ce_ignored(c, t);
        cr_real *dx = (cr_real *)c->s->dx[X] + ce_at(c, i), all = 0;
        cr_real g = ce_dy(c, i);

        if (!ignored && !c->o->logs && (ce_even(c) || simple)) {
            if (dense)
                ce_back_mixed(c->classes, p, y, g,
                              ce_sum_targets(c->classes, y, sure, c->spread),
                              c->spread, sure, c->s->accumulate[X], dx);
            else
                ce_back_line(c->classes, p, t, g, ce_weight(c, t), c->spread,
                             sure, c->s->accumulate[X], dx);
            continue;
        }
        for (k = 0; k < c->classes && !ignored && !c->o->logs; k++)
            all += ce_target(c, k, t, y);
        for (k = 0; k < c->classes; k++) {
            cr_real d =
                ignored ? 0 : g * (all * p[k * in] - ce_target(c, k, t, y));

            dx[k * in] = c->s->accumulate[X] ? dx[k * in] + d : d;
        }
    }
}

static void cross_entropy_backward(const struct cr_op_ctx *s)
{
    struct ce c = ce_open(s);

    if (s->dx[X])
        cr_parallel_for(c.positions, 2 * (double)c.classes, &c, ce_back_range);
    if (s->dx[T]) { /* labels may be computed by a network, too */
        cr_real *dt = s->dx[T];
        int64_t i, k;

        for (i = 0; i < c.positions; i++)
            for (k = 0; k < c.classes; k++) {
                int64_t at = ce_at(&c, i) + k * c.inner;
                cr_real d = -ce_dy(&c, i) * ce_weight(&c, k) *
                            (1 - (cr_real)c.o->label_smoothing) *
                            c.log_prob[at];

                dt[at] = s->accumulate[T] ? dt[at] + d : d;
            }
    }
}

static bool cross_entropy_rows_apart(const void *attr, const struct cr_spec *x,
                                     int in, int out)
{
    const struct cr_cross_entropy *o = attr;

    return in == 0 && (out < 0 ? o->reduction != CR_NONE : out == 0) &&
           cr_axis_place(o->axis, x->rank) != 0;
}

/* Channels last, where classes are the channels, they lie together. Labels lie
 * alike in both layouts, but for probabilities. */
static enum cr_channels_last cross_entropy_last(const struct cr_op_plan *p)
{
    return p->in[T].type == CR_I32 && ce_axis(&p->in[X], p->attr) == 1
               ? CR_LAST_TOO
               : CR_LAST_NEVER;
}

static const struct cr_op_kernels cross_entropy_kernels = {
    .last = cross_entropy_last
};

const struct cr_op cr_op_cross_entropy = {
    .about = { .name = "cross_entropy",
               .summary = "Softmax cross entropy with class indices or class "
                          "probabilities.",
               .detail = "Classes are axis 1 of the input; weight is a tuple "
                         "with one number per class.",
               .opts = cross_entropy_opts,
               .size = sizeof(struct cr_cross_entropy) },
    .rows = CR_ROWS_SUM,
    .rows_apart = cross_entropy_rows_apart,
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .inputs = cr_targets2,
    .signature = "input, target, weight=None, ignore_index=-100, "
                 "reduction='mean', label_smoothing=0.0",
    .saved_for_backward = CR_X(T),
    .int_inputs = CR_X(T),
    .plan = cross_entropy_plan,
    .kernels = &cross_entropy_kernels,
    .forward = cross_entropy_forward,
    .backward = cross_entropy_backward,
};
