/* linear: y = x W' + b    x (..., in)   W (out, in)   b (out), optional
 *
 * Leading dimensions count as rows. With few rows and a W that never changes,
 * forward reads a copy of W' (in, out): to transpose W would take longer than
 * to multiply. backward computes dx before it writes W,
 * because W may be updated in place (alpha = -lr, accumulated into W). */
#include "families/low.h"
#include "kernels/blas.h"

enum {
    X,
    W,
    B,
    TURNED, /* W', or none */
    MORE    /* an addend that the planner puts there */
};

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

/* Whether the processor multiplies the inputs, and dy in backward, as they
 * are: bfloat16. */
static bool linear_bf16(const struct cr_op_ctx *s, unsigned all)
{
    return s->low == CR_BF16 && ((s->holds | s->rounds) & all) == all &&
           cr_gemm_low();
}

/* What input i is to a product. */
static enum cr_low linear_low(const struct cr_op_ctx *s, int i)
{
    return s->two_bytes & CR_X(i) ? CR_LOW_TWO_BYTES
           : (s->rounds & ~s->holds) & CR_X(i) ? CR_LOW_ROUNDED
                                                : CR_LOW_NONE;
}

/* Operands that the processor rounds itself. */
static void linear_as_is(struct cr_gemm *g)
{
    g->bf16 = true;
    if (g->a_low == CR_LOW_ROUNDED)
        g->a_low = CR_LOW_NONE;
    if (g->b_low == CR_LOW_ROUNDED)
        g->b_low = CR_LOW_NONE;
}

static enum cr_low linear_two_bytes(unsigned which, unsigned bit)
{
    return which & bit ? CR_LOW_TWO_BYTES : CR_LOW_NONE;
}

/* The product as far as a turned W goes. */
static struct cr_gemm linear_turned(const struct cr_op_ctx *s)
{
    return (struct cr_gemm){ .m = cr_rows(&s->in[X]),
                             .n = s->in[W].dim[0],
                             .k = s->in[W].dim[1],
                             .b = s->x[W],
                             .low = ((s->holds | s->rounds) & CR_X(W))
                                        ? s->low
                                        : CR_REAL,
                             .bf16 = linear_bf16(s, CR_X(X) | CR_X(W)) };
}

static void linear_forward(const struct cr_op_ctx *s)
{
    struct cr_gemm g = { .ta = CR_N,
                         .tb = CR_T,
                         .m = cr_rows(&s->in[X]),
                         .n = s->in[W].dim[0],
                         .k = s->in[W].dim[1],
                         .a = s->x[X],
                         .b = s->x[W],
                         .alpha = s->scale,
                         .c = s->end.keeps ? s->saved : s->y[0],
                         .bias = s->end.late_bias ? NULL : s->x[B],
                         .act = s->end.act,
                         .map = s->end.map,
                         .map_is = s->end.map_is,
                         .map_attr = s->end.attr,
                         .map_to = s->end.keeps ? s->y[0] : NULL,
                         .late_bias = s->end.late_bias ? s->x[B] : NULL,
                         .drop = s->end.drop,
                         .add = s->x[MORE],
                         .low = s->low,
                         .a_low = linear_low(s, X),
                         .b_low = linear_low(s, W),
                         .c_low = linear_two_bytes(s->two_bytes, CR_Y(0)),
                         .add_low = linear_two_bytes(s->two_bytes, CR_X(MORE)),
                         .round = s->rounds & CR_Y(0) };

    if (linear_bf16(s, CR_X(X) | CR_X(W)))
        linear_as_is(&g);
    if (s->x[TURNED])
        cr_gemm_take_turned(&g, linear_turned(s).low, s->x[TURNED]);
    cr_gemms(&g, 1);
}

static size_t turned_bytes(const struct cr_op_ctx *s)
{
    struct cr_gemm g = linear_turned(s);

    return cr_gemm_turned(&g);
}

static void turn(const struct cr_op_ctx *s, void *to)
{
    struct cr_gemm g = linear_turned(s);

    cr_gemm_turn(&g, to);
}

static const struct cr_prepare linear_prepare = { W, TURNED, turned_bytes,
                                                  turn, true };

static const char *linear_kernel(const struct cr_op_ctx *s)
{
    return linear_bf16(s, CR_X(X) | CR_X(W)) ? "gemm_bf16"
                                             : cr_gemm_kernel_name();
}

/* A factor goes with the product, before the bias: not with one that the op
 * has from the start. What follows activation and rounding is rounded again. */
static bool linear_accepts(const struct cr_op_ctx *s, unsigned of,
                           unsigned parts)
{
    unsigned last = CR_END_LATE_BIAS | CR_END_DROP | CR_END_ADD;
    unsigned takes = CR_END_SCALE;

    if (of == CR_X(X))
        takes = CR_END_MASK | CR_END_MAP_GRAD | CR_END_AGAIN;
    else if (of == CR_Y(0) && (parts & CR_END_BACKWARD))
        takes |= CR_END_BIAS | CR_END_BACKWARD;
    else if (of == CR_Y(0) && (parts & last) && (parts & CR_END_MAP))
        takes |= CR_END_LATE_BIAS | CR_END_APART | CR_END_MAP;
    else if (of == CR_Y(0) && (parts & last))
        takes |= CR_END_BIAS | last | CR_END_APART |
                 (parts & CR_END_ADD ? 0 : CR_END_ACT);
    else if (of == CR_Y(0))
        takes |= CR_END_BIAS | CR_END_ACT | CR_END_MAP | CR_END_KEEP;
    if (of == CR_Y(0) && s->in[B].rank > 0 && !(parts & CR_END_BIAS))
        takes &= ~(unsigned)CR_END_SCALE;
    return !(parts & ~takes);
}

/* What is multiplied as bfloat16 is packed, from either. */
static bool linear_rounds_for_free(const struct cr_op_ctx *s, int i)
{
    return i != B && s->low == CR_BF16 && cr_gemm_low();
}

static const struct cr_op_kernels linear_kernels = {
    .name = linear_kernel,
    .accepts = linear_accepts,
    .addend = MORE,
    .prepare = &linear_prepare,
    .rounds_for_free = linear_rounds_for_free,
};

/* dx = dy W;  dW = dy' x;  db = column sums of dy */
static void linear_backward(const struct cr_op_ctx *s)
{
    int64_t n = cr_rows(&s->in[X]), in = s->in[W].dim[1], out = s->in[W].dim[0];
    struct cr_gemm g[2];
    enum cr_low dy = linear_two_bytes(s->grads_two_bytes, CR_Y(0));
    enum cr_low mask = linear_two_bytes(s->mask_two_bytes, CR_X(X));
    cr_real *again = s->x_again;
    int count = 0, held = 0;

    if (s->dx[X])
        g[count++] = (struct cr_gemm){ .ta = CR_N,
                                       .tb = CR_N,
                                       .m = n,
                                       .n = in,
                                       .k = out,
                                       .a = s->dy[0],
                                       .b = s->x[W],
                                       .alpha = s->scale,
                                       .accumulate = s->accumulate[X],
                                       .c = s->dx[X],
                                       .map_grad = s->map_grad,
                                       .map_attr = s->map_attr,
                                       .seen = s->mask[X],
                                       .map = s->map_again,
                                       .map_to = again,
                                       .mask = s->map_grad ? NULL : s->mask[X],
                                       .low = s->low,
                                       .a_low = dy,
                                       .b_low = linear_low(s, W),
                                       .c_low = linear_two_bytes(
                                           s->grads_two_bytes, CR_X(X)),
                                       .mask_low = mask,
                                       .round = s->rounds & CR_X(X) };
    if (count > 0 && linear_bf16(s, CR_X(W) | CR_Y(0)))
        linear_as_is(&g[0]);
    if (count > 0 && (again || s->dx[W] == s->x[W])) {
        cr_gemms(g, count); /* reads W before it is updated; writes x */
        held = count;
    }
    if (s->dx[W])
        g[count++] = (struct cr_gemm){ .ta = CR_T,
                                       .tb = CR_N,
                                       .m = out,
                                       .n = in,
                                       .k = n,
                                       .a = s->dy[0],
                                       .b = again ? again : s->x[X],
                                       .alpha = (cr_real)s->alpha[W] * s->scale,
                                       .accumulate = s->accumulate[W],
                                       .c = s->dx[W],
                                       .low = s->low,
                                       .a_low = dy,
                                       .b_low = linear_low(s, X),
                                       .c_low = linear_two_bytes(
                                           s->grads_two_bytes, CR_X(W)),
                                       .round = cr_low_rounds_dx(s, W),
                                       .sums = s->dx[B],
                                       .sums_alpha = (cr_real)s->alpha[B],
                                       .sums_accumulate = s->accumulate[B] };
    if (s->dx[W] && linear_bf16(s, CR_X(X) | CR_Y(0)))
        linear_as_is(&g[count - 1]);
    if (count > held)
        cr_gemms(g + held, count - held);
    if (s->dx[B] && !s->dx[W])
        cr_sum_rows(n, out, dy == CR_LOW_TWO_BYTES ? s->low : CR_REAL,
                    s->dy[0], (cr_real)s->alpha[B], s->accumulate[B],
                    s->dx[B]);
}

static const char *const linear_inputs[] = { "input", "weight", "bias", NULL };

const struct cr_op cr_op_linear = {
    .about = { .name = "linear", .summary = "Linear layer: y = x W' + b." },
    .rows = CR_ROWS_EACH,
    .min_inputs = 2,
    .max_inputs = 3,
    .outputs = 1,
    .inputs = linear_inputs,
    .saved_for_backward = CR_X(X) | CR_X(W),
    .algebra = { .linear = CR_X(X) | CR_X(W), .channels = -1 },
    .kernels = &linear_kernels,
    .low = CR_X(X) | CR_X(W) | CR_X(MORE) | CR_Y(0),
    .plan = linear_plan,
    .forward = linear_forward,
    .bprop = "return (kernel(0), kernel(1),\n"
             "        None if c is None else shaped(dy, c))",
    .backward = linear_backward,
};
