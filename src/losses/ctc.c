/* CTCLoss: connectionist temporal classification (Graves et al., ICML 2006).
 *
 * log_probs lp (T, N, C), targets (N, S), lengths (N). The labels l of a sample
 * are extended by blanks to l' = - l1 - l2 ... -. The forward variable is
 *   a_t(s) = lp_t(l'_s) + log of a_t-1(s) + a_t-1(s - 1) + a_t-1(s - 2),
 * where the last term is omitted if l'_s is blank or l'_s-2. The backward
 * variable b_t(s) is the same from the end, without lp_t.
 *   l = -log(a_T(end) + a_T(end - 1))
 *   dl/dlp_t(c) = -the sum over s with l'_s = c of e^(a_t(s) + b_t(s) + l)
 * If no path exists, l = inf, or 0 with zero_infinity, and the gradient is 0.
 * mean divides each l by its number of labels, at least 1. */
#include "build/loss.h"
#include "kernels/parallel_for.h"

struct ctc {
    int64_t blank;
    int reduction;
    bool zero_infinity;
};

static const struct cr_opt ctc_opts[] = {
    CR_INT_DEFAULT(struct ctc, blank, 0, 0, CR_DIM_MAX,
                   "Index of the blank class."),
    CR_LOSS_REDUCTION(struct ctc, CR_MEAN),
    CR_BOOL_DEFAULT(struct ctc, zero_infinity, false,
                    "Samples whose labels do not fit into their steps give 0 "
                    "instead of infinity."),
    { 0 },
};

enum {
    LP,
    T,
    STEPS,
    LABELS
};

static bool ctc_plan(struct cr_op_plan *p)
{
    const struct cr_spec *lp = &p->in[LP], *t = &p->in[T];
    int64_t n = lp->dim[1], path;
    int i;

    if (lp->rank != 3 || t->rank != 2 || t->dim[0] != n)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "log_probs and targets: found %s and %s, expected "
                        "(steps, batch, classes) and (batch, labels)",
                        cr_diag_format(p->arena, lp),
                        cr_diag_format(p->arena, t));
    for (i = T; i <= LABELS; i++)
        if (p->in[i].type != CR_I32 ||
            (i > T && (p->in[i].rank != 1 || p->in[i].dim[0] != n)))
            return cr_error(p->diag, p->pos, CR_E_DTYPE,
                            "%s: found %s %s, expected int32 %s",
                            i == T ? "targets" : "lengths",
                            cr_type_name(p->in[i].type),
                            cr_diag_format(p->arena, &p->in[i]),
                            i == T ? "(batch, labels)" : "(batch)");
    if (((const struct ctc *)p->attr)->blank >= lp->dim[2])
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "blank: found %lld, expected an index below the number "
                        "of classes, %lld",
                        (long long)((const struct ctc *)p->attr)->blank,
                        (long long)lp->dim[2]);
    /* after its length a row of targets may contain -1 */
    p->bound[T] =
        (struct cr_bound){ .set = true, .low = -1, .high = lp->dim[2] };
    p->bound[STEPS] = (struct cr_bound){ .set = true, .high = lp->dim[0] + 1 };
    p->bound[LABELS] = (struct cr_bound){ .set = true, .high = t->dim[1] + 1 };
    p->out[0] = CR_SPEC(n);
    path = 2 * t->dim[1] + 1;
    p->saved = sizeof(double) * (size_t)(n * (lp->dim[0] * path + 1));
    p->scratch = sizeof(double) * (size_t)(n * 2 * path);
    return true;
}

/* One sample. */
struct sample {
    const struct cr_op_ctx *s;
    int64_t i, steps, path; /* of its own: T and 2 S + 1 */
    const int32_t *label;
    double *a, *loss; /* rows of `stride` */
    int64_t stride;
};

static int64_t clamp(int64_t v, int64_t max)
{
    return v < 0 ? 0 : v > max ? max : v;
}

static struct sample sample_at(const struct cr_op_ctx *s, int64_t i)
{
    const struct cr_spec *lp = &s->in[LP];
    int64_t labels = s->in[T].dim[1];
    struct sample m = { .s = s, .i = i, .stride = 2 * labels + 1 };

    m.label = (const int32_t *)s->x[T] + i * labels;
    m.steps = clamp(((const int32_t *)s->x[STEPS])[i], lp->dim[0]);
    m.path = 2 * clamp(((const int32_t *)s->x[LABELS])[i], labels) + 1;
    m.a = (double *)s->saved + i * (lp->dim[0] * m.stride + 1);
    m.loss = m.a + lp->dim[0] * m.stride;
    return m;
}

/* l'_s; log_prob returns -inf for a label out of range. */
static int64_t class_of(const struct sample *m, int64_t at)
{
    return at % 2 ? m->label[at / 2] : ((const struct ctc *)m->s->attr)->blank;
}

static double log_prob(const struct sample *m, int64_t t, int64_t at)
{
    const struct cr_spec *lp = &m->s->in[LP];
    int64_t c = class_of(m, at);

    if (c < 0 || c >= lp->dim[2])
        return -INFINITY;
    return (double)((const cr_real *)
                        m->s->x[LP])[(t * lp->dim[1] + m->i) * lp->dim[2] + c];
}

static double log_add(double a, double b)
{
    double top = a > b ? a : b;

    return isinf(top) ? top : top + log1p(exp(-fabs(a - b)));
}

/* True if a path may go from s - 2 to s. */
static bool can_skip_blank(const struct sample *m, int64_t at)
{
    return at % 2 && at > 1 && class_of(m, at) != class_of(m, at - 2);
}

static void ctc_forward_rows(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const struct ctc *o = s->attr;
    int64_t i, t, at;

    for (i = from; i < to; i++) {
        struct sample m = sample_at(s, i);
        double l = m.path == 1 ? 0 : INFINITY; /* without steps */

        for (t = 0; t < m.steps; t++) {
            double *a = m.a + t * m.stride, *before = a - m.stride;

            for (at = 0; at < m.path; at++) {
                double v = at < 2 ? 0 : -INFINITY;

                if (t > 0) {
                    v = before[at];
                    if (at > 0)
                        v = log_add(v, before[at - 1]);
                    if (can_skip_blank(&m, at))
                        v = log_add(v, before[at - 2]);
                }
                a[at] = v + log_prob(&m, t, at);
            }
            l = -log_add(a[m.path - 1], m.path > 1 ? a[m.path - 2] : -INFINITY);
        }
        *m.loss = l;
        ((cr_real *)s->y[0])[i] =
            (cr_real)(isinf(l) && o->zero_infinity ? 0 : l);
    }
}

static void ctc_forward(const struct cr_op_ctx *s)
{
    struct cr_op_ctx own = *s;
    double cells = (double)(s->in[LP].dim[0] * (2 * s->in[T].dim[1] + 1));

    cr_parallel_for_coarse(s->in[T].dim[0], 40 * cells, &own, ctc_forward_rows);
}

/* b_t from b_t+1 and the probabilities of step t + 1. */
static void ctc_back_step(const struct sample *m, int64_t t,
                          const double *after, double *b)
{
    int64_t at, last = m->path - 1;

    for (at = 0; at < m->path; at++) {
        double v = t == m->steps - 1 ? (at >= last - 1 ? 0 : -INFINITY)
                                     : after[at] + log_prob(m, t + 1, at);

        if (t < m->steps - 1 && at < last)
            v = log_add(v, after[at + 1] + log_prob(m, t + 1, at + 1));
        if (t < m->steps - 1 && at + 2 <= last && can_skip_blank(m, at + 2))
            v = log_add(v, after[at + 2] + log_prob(m, t + 1, at + 2));
        b[at] = v;
    }
}

static void ctc_back_rows(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const struct cr_spec *lp = &s->in[LP];
    int64_t i, t, at, c, all = lp->dim[0], classes = lp->dim[2];

    for (i = from; i < to; i++) {
        struct sample m = sample_at(s, i);
        double *b = (double *)s->scratch + i * 2 * m.stride;
        double *after = b + m.stride, *other;
        cr_real g = ((const cr_real *)s->dy[0])[i];

        for (t = all - 1; t >= 0; t--) {
            cr_real *dx = (cr_real *)s->dx[LP] + (t * lp->dim[1] + i) * classes;

            for (c = 0; c < classes && !s->accumulate[LP]; c++)
                dx[c] = 0;
            if (t >= m.steps || isinf(*m.loss))
                continue;
            ctc_back_step(&m, t, after, b);
            for (at = 0; at < m.path; at++) {
                double v = m.a[t * m.stride + at] + b[at] + *m.loss;

                if (v > -1000)
                    dx[class_of(&m, at)] -= g * (cr_real)exp(v);
            }
            other = after;
            after = b;
            b = other;
        }
    }
}

static void ctc_backward(const struct cr_op_ctx *s)
{
    struct cr_op_ctx own = *s;
    double cells = (double)(s->in[LP].dim[0] * (2 * s->in[T].dim[1] + 1));

    if (s->dx[LP])
        cr_parallel_for_coarse(s->in[T].dim[0], 60 * cells, &own,
                               ctc_back_rows);
}

static const struct cr_op ctc_op = {
    .about = { .name = "ctc_loss" },
    .min_inputs = 4,
    .max_inputs = 4,
    .outputs = 1,
    .saved_for_backward = CR_X(LP) | CR_X(T) | CR_X(STEPS) | CR_X(LABELS),
    .int_inputs = CR_X(T) | CR_X(STEPS) | CR_X(LABELS),
    .plan = ctc_plan,
    .forward = ctc_forward,
    .backward = ctc_backward,
};

static struct cr_val *ctc_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct ctc *o = cr_opts(b);
    struct cr_val *v = CR_EMIT_OP(b, &ctc_op, o, in[0], in[1], in[2], in[3]);

    if (o->reduction == CR_MEAN)
        v = CR_EMIT(b, "div", NULL, v,
                    CR_EMIT(b, "maximum", NULL, in[3], cr_loss_number(b, 1)));
    return cr_loss_reduce(b, v, o->reduction);
}

const struct cr_cell cr_loss_ctc = {
    .about = {
        .name = "CTCLoss",
        .summary = "CTC loss: label sequences without alignment.",
        .detail = "The network returns log-probabilities (steps, batch, "
                  "classes), the number of steps of each sample and the number "
                  "of its labels, both int32 (batch). Labels are int32 (batch, "
                  "labels).",
        .example = "network:\n"
                   "  inputs:\n"
                   "    x: {shape: [6, 8]}\n"
                   "    n_labels: {shape: [], type: int32}\n"
                   "    n_steps: {shape: [], type: int32}\n"
                   "  cells: {classes: {Dense: [8, 4]}}\n"
                   "  construct: |\n"
                   "    y = log_softmax(classes(x), 2)\n"
                   "    return transpose(y, (1, 0, 2)), n_steps, n_labels\n"
                   "loss: {CTCLoss: {zero_infinity: true}}\n",
        .opts = ctc_opts,
        .size = sizeof(struct ctc),
    },
    .min_inputs = 4,
    .max_inputs = 4,
    .inputs = (const char *const[]){ "log_probs", "targets", "input_lengths",
                                     "target_lengths", NULL },
    .targets = (const char *const[]){ "label", NULL },
    .columns = 1u << 1,
    .build = ctc_build,
};
