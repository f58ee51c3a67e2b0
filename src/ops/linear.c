/* linear: y = x W' + b    x (..., in)   W (out, in)   b (out), optional
 *
 * Leading dimensions count as rows. With few rows and a W that never changes,
 * forward reads a copy of W' (in, out): to transpose W would take longer than
 * to multiply. backward computes dx before it writes W,
 * because W may be updated in place (alpha = -lr, accumulated into W). */
#include "graph/op.h"
#include "kernels/blas.h"

enum {
    X,
    W,
    B,
    TURNED /* W', or none */
};

#define FEW_ROWS 16

static bool linear_plan(struct cr_op_plan *p)
{
    const struct cr_spec *x = &p->in[X], *w = &p->in[W];
    int last = x->rank - 1;

    if (last < 0 || x->dim[last] != w->dim[1])
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %s for weight %s, expected a last "
                        "dimension of %lld",
                        cr_diag_format(p->arena, x),
                        cr_diag_format(p->arena, w), (long long)w->dim[1]);
    p->out[0] = *x;
    p->out[0].dim[last] = w->dim[0];
    p->thread_scratch = cr_gemm_thread_scratch();
    p->macs = (double)cr_count(x) * (double)w->dim[0];
    return true;
}

static void linear_forward(const struct cr_op_ctx *s)
{
    struct cr_gemm g = { .ta = CR_N,
                         .tb = s->x[TURNED] ? CR_N : CR_T,
                         .m = cr_rows(&s->in[X]),
                         .n = s->in[W].dim[0],
                         .k = s->in[W].dim[1],
                         .a = s->x[X],
                         .b = s->x[TURNED] ? s->x[TURNED] : s->x[W],
                         .alpha = 1,
                         .c = s->y[0],
                         .bias = s->x[B],
                         .act = s->act,
                         .bf16 = s->bf16,
                         .round = s->rounds & CR_Y(0) };

    cr_gemms(&g, 1);
}

static size_t turned_bytes(const struct cr_op_ctx *s)
{
    return cr_rows(&s->in[X]) < FEW_ROWS && cr_blas_own()
               ? cr_bytes(&s->in[W])
               : 0;
}

static void turn(const struct cr_op_ctx *s, void *to)
{
    int64_t n = s->in[W].dim[0], k = s->in[W].dim[1], i, j;
    const cr_real *w = s->x[W];
    cr_real *turned = to;

    for (i = 0; i < n; i++)
        for (j = 0; j < k; j++)
            turned[j * n + i] = w[i * k + j];
}

static const struct cr_prepare linear_prepare = { W, TURNED, turned_bytes,
                                                  turn };

static const char *linear_kernel(const struct cr_op_ctx *s)
{
    return s->bf16 ? "gemm_bf16" : cr_gemm_kernel_name();
}

/* dx = dy W;  dW = dy' x;  db = column sums of dy */
static void linear_backward(const struct cr_op_ctx *s)
{
    int64_t n = cr_rows(&s->in[X]), in = s->in[W].dim[1], out = s->in[W].dim[0];
    struct cr_gemm g[2];
    int count = 0, held = 0;

    if (s->dx[X])
        g[count++] = (struct cr_gemm){ .ta = CR_N,
                                       .tb = CR_N,
                                       .m = n,
                                       .n = in,
                                       .k = out,
                                       .a = s->dy[0],
                                       .b = s->x[W],
                                       .alpha = 1,
                                       .accumulate = s->accumulate[X],
                                       .c = s->dx[X],
                                       .mask = s->mask[X],
                                       .bf16 = s->bf16,
                                       .round = s->rounds & CR_X(X) };
    if (count > 0 && s->dx[W] == s->x[W]) {
        cr_gemms(g, count); /* reads W before it is updated */
        held = count;
    }
    if (s->dx[W])
        g[count++] = (struct cr_gemm){ .ta = CR_T,
                                       .tb = CR_N,
                                       .m = out,
                                       .n = in,
                                       .k = n,
                                       .a = s->dy[0],
                                       .b = s->x[X],
                                       .alpha = (cr_real)s->alpha[W],
                                       .accumulate = s->accumulate[W],
                                       .c = s->dx[W],
                                       .bf16 = s->bf16,
                                       .round = s->rounds & CR_X(W) };
    if (count > held)
        cr_gemms(g + held, count - held);
    if (s->dx[B])
        cr_sum_rows(n, out, s->dy[0], (cr_real)s->alpha[B], s->accumulate[B],
                    s->dx[B]);
}

static const char *const linear_inputs[] = { "input", "weight", "bias", NULL };

const struct cr_op cr_op_linear = {
    .about = { .name = "linear", .summary = "Linear layer: y = x W' + b." },
    .min_inputs = 2,
    .max_inputs = 3,
    .outputs = 1,
    .inputs = linear_inputs,
    .saved_for_backward = CR_X(X) | CR_X(W),
    .scales = CR_X(W) | CR_X(B),
    .masks = CR_X(X),
    .fuses_act = true,
    .bf16 = CR_X(X) | CR_X(W),
    .rounds = CR_X(X) | CR_X(W) | CR_Y(0),
    .bn_foldable = -1,
    .prepare = &linear_prepare,
    .amp = CR_AMP_WHITE | CR_AMP_LOW,
    .plan = linear_plan,
    .kernel = linear_kernel,
    .forward = linear_forward,
    .bprop = "return (kernel(0), kernel(1),\n"
             "        None if c is None else shaped(dy, c))",
    .linear = CR_X(X) | CR_X(W),
    .backward = linear_backward,
};
