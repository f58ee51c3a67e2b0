/*
 * PReLU: y = max(x, 0) + w min(x, 0), one learned w, or one for each channel.
 * dx = dy where x > 0, else w dy;  dw = sum of dy min(x, 0).
 * He et al., "Delving deep into rectifiers", ICCV 2015.
 */
#include "math/each.h"
#include "net/cell.h"
#include "net/op.h"

enum { X, W };

/* A run is a sample, or a channel of one where each has its own w. */
struct runs {
    const struct cr_step *s;
    int64_t n, size, w; /* how many, of how many elements; values of w */
};

static struct runs prelu_runs(const struct cr_step *s)
{
    const struct cr_spec *x = &s->in[X];
    struct runs r = { s, 1, 1, s->in[W].dim[0] };
    int i;

    for (i = 0; i < x->rank; i++)
        if (i == 0 || (i == 1 && r.w > 1))
            r.n *= x->dim[i];
        else
            r.size *= x->dim[i];
    return r;
}

static bool prelu_plan(struct cr_plan *p)
{
    p->out[0] = p->in[X];
    /* a sum per run */
    p->scratch = (size_t)cr_count(&p->in[X]) * sizeof(double);
    return true;
}

static void prelu_range(void *ctx, int64_t from, int64_t to)
{
    const struct runs *r = ctx;
    const cr_real *x = r->s->x[X], *w = r->s->x[W];
    cr_real *y = r->s->y[0];
    int64_t run, i;

    for (run = from; run < to; run++)
        for (i = run * r->size; i < (run + 1) * r->size; i++)
            y[i] = x[i] > 0 ? x[i] : w[run % r->w] * x[i];
}

static void prelu_forward(const struct cr_step *s)
{
    struct runs r = prelu_runs(s);

    cr_each_few(r.n, (double)r.size, &r, prelu_range);
}

static void prelu_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct runs *r = ctx;
    const cr_real *x = r->s->x[X], *w = r->s->x[W], *dy = r->s->dy[0];
    cr_real *dx = r->s->dx[X];
    double *sums = r->s->scratch;
    int64_t run, i;

    for (run = from; run < to; run++) {
        double sum = 0;

        for (i = run * r->size; i < (run + 1) * r->size; i++) {
            cr_real d = x[i] > 0 ? dy[i] : w[run % r->w] * dy[i];

            sum += x[i] > 0 ? 0 : (double)dy[i] * (double)x[i];
            if (dx)
                dx[i] = r->s->add[X] ? dx[i] + d : d;
        }
        sums[run] = sum;
    }
}

static void prelu_backward(const struct cr_step *s)
{
    struct runs r = prelu_runs(s);
    const double *sums = s->scratch;
    cr_real *dw = s->dx[W];
    int64_t run, c;

    cr_each_few(r.n, 2 * (double)r.size, &r, prelu_back_range);
    for (c = 0; c < r.w && dw; c++) {
        double sum = s->add[W] ? (double)dw[c] : 0;

        for (run = c; run < r.n; run += r.w)
            sum += sums[run];
        dw[c] = (cr_real)sum;
    }
}

static const struct cr_op prelu_op = {
    .about = { .name = "prelu" },
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .amp = CR_AMP_WHITE | CR_AMP_LOW,
    .reads = CR_X(X) | CR_X(W),
    .plan = prelu_plan,
    .forward = prelu_forward,
    .backward = prelu_backward,
};

struct prelu {
    int64_t channel;
    struct cr_obj w;
};

static const struct cr_opt prelu_opts[] = {
    CR_INT_OR(struct prelu, channel, 1, 1, CR_DIM_MAX,
              "Slopes: 1, or one for each channel (second dimension)."),
    CR_OBJ_OR(struct prelu, w, CR_KIND_INIT, "0.25", "How the slopes begin."),
    { 0 },
};

static struct cr_val *prelu_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct prelu *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in[0]);
    struct cr_val *w;

    if (x->rank < 1 ||
        (o->channel > 1 && (x->rank < 2 || x->dim[1] != o->channel))) {
        cr_fail(b, CR_E_SHAPE, "input %s does not fit: channel is %lld",
                cr_show(cr_build_arena(b), x), (long long)o->channel);
        return NULL;
    }
    w = cr_param(b, cr_alone(b) ? "a" : "w", CR_SPEC(o->channel), &o->w,
                 CR_BEGIN_ZERO, 0);
    return CR_EMIT_OP(b, &prelu_op, NULL, in[0], w);
}

const struct cr_cell cr_cell_prelu = {
    .about = {
        .name = "PReLU",
        .summary = "x where x is positive, a learned w x elsewhere.",
        .detail = "Any shape with a batch. Parameter: w (channel).",
        .example = "network: [Flatten, {Dense: [784, 10]}, PReLU]\n",
        .opts = prelu_opts,
        .size = sizeof(struct prelu),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "prelu",
    .build = prelu_build,
};
