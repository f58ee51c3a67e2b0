/* linear_steps: y = x W'   x (steps, n, in)   W (out, in)
 *
 * A product over all steps of a sequence, whose weight has the gradient that
 * products step by step would give it in low precision: each step's is rounded,
 * and their sum is float32 (RNN and GRU of MindSpore 2.10 in level auto). Of
 * several processes each rounds its own part. */
#include "families/rnn.h"
#include "graph/op_attrs.h"
#include "kernels/blas.h"

enum {
    X,
    W
};

static const struct cr_opt steps_opts[] = {
    CR_ENUM_DEFAULT(struct cr_rnn_product, dtype, 0, CR_LOW_TYPES,
                    "Type that the gradient of each step is rounded to."),
    { 0 },
};

static bool steps_plan(struct cr_op_plan *p)
{
    const struct cr_spec *x = &p->in[X], *w = &p->in[W];

    if (x->rank != 3 || w->rank != 2 || x->dim[2] != w->dim[1])
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input %s does not fit weight %s",
                        cr_diag_format(p->arena, x),
                        cr_diag_format(p->arena, w));
    p->out[0] = *x;
    p->out[0].dim[2] = w->dim[0];
    p->scratch = cr_bytes(w);
    p->thread_scratch = cr_gemm_thread_scratch();
    p->macs = (double)cr_count(x) * (double)w->dim[0];
    return true;
}

static void steps_forward(const struct cr_op_ctx *s)
{
    cr_gemm(CR_N, CR_T, cr_rows(&s->in[X]), s->in[W].dim[0], s->in[W].dim[1],
            s->x[X], s->x[W], false, s->y[0]);
}

static void steps_backward(const struct cr_op_ctx *s)
{
    const struct cr_rnn_product *o = s->attr;
    int64_t out = s->in[W].dim[0], in = s->in[W].dim[1];

    if (s->dx[X])
        cr_gemm(CR_N, CR_N, cr_rows(&s->in[X]), in, out, s->dy[0], s->x[W],
                s->accumulate[X], s->dx[X]);
    if (s->dx[W])
        cr_rnn_rounded_sum(s, W, o->dtype, s->in[X].dim[0], s->in[X].dim[1],
                           s->dy[0], s->x[X], s->scratch);
}

static const char *const steps_inputs[] = { "input", "weight", NULL };

const struct cr_op cr_op_linear_steps = {
    .about = { .name = "linear_steps",
               .summary = "Product of all steps of a sequence with one weight, "
                          "whose gradient is rounded step by step.",
               .internal = true,
               .opts = steps_opts,
               .size = sizeof(struct cr_rnn_product) },
    .rows = CR_ROWS_EACH,
    .min_inputs = 2,
    .max_inputs = 2,
    .outputs = 1,
    .inputs = steps_inputs,
    .saved_for_backward = CR_X(X) | CR_X(W),
    .plan = steps_plan,
    .forward = steps_forward,
    .backward = steps_backward,
};
