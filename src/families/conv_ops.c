/*
 * Shapes of convolutions (MindSpore's, nn/layer/conv.py). Along one dimension
 * of size H, with kernel K, stride S, dilation D and Ke = D (K - 1) + 1:
 *
 *   same    out = ceil(H / S); T = max((out - 1) S + Ke - H, 0) zeros, half of
 *           them, rounded down, before
 *   valid   out = ceil((H - Ke + 1) / S)
 *   pad     out = floor((H + before + after - Ke) / S) + 1
 *
 * Transposed, with H the size that comes in:
 *
 *   same    out = H S, padding by the rule above of that size
 *   valid   out = H S + max(Ke - S, 0)
 *   pad     out = H S - (before + after) + Ke - S + output_padding
 *
 * output_padding is PyTorch's: rows that the convolution of which this is the
 * adjoint would not have seen the last of. MindSpore appends zeros instead.
 */
#include "families/conv_ops.h"

#include <string.h>

#include "base/str.h"
#include "base/thread_pool.h"
#include "families/nhwc.h"
#include "families/samples.h"
#include "graph/op_attrs.h"

const char *const cr_convolve_inputs[] = { "input", "weight", "bias", NULL };

/* Spatial dimensions lie at the end of the three; a tensor (N, C, L) is
 * (N, C, 1, L), and so is the weight. */
struct axis {
    int64_t in, kernel, stride, dilation, before, after, more;
};

static int64_t of(const struct cr_ints *list, int i, int64_t none)
{
    return list->n == 0 ? none : list->n == 1 ? list->v[0] : list->v[i];
}

static int64_t extent(const struct axis *a)
{
    return a->dilation * (a->kernel - 1) + 1;
}

static void pad_same(struct axis *a, int64_t in, int64_t out)
{
    int64_t all = (out - 1) * a->stride + extent(a) - in;

    a->before = all > 0 ? all / 2 : 0;
    a->after = all > 0 ? all - a->before : 0;
}

/* Both give a size of 0 or less where the kernel does not fit. */
static int64_t size_out(struct axis *a, int pad_mode)
{
    int64_t out;

    if (pad_mode == CR_PAD_SAME) {
        out = (a->in + a->stride - 1) / a->stride;
        pad_same(a, a->in, out);
        return out;
    }
    if (a->in + a->before + a->after < extent(a))
        return 0;
    return (a->in + a->before + a->after - extent(a)) / a->stride + 1;
}

static int64_t size_back(struct axis *a, int pad_mode)
{
    int64_t out = a->in * a->stride, over = extent(a) - a->stride;

    if (pad_mode == CR_PAD_SAME) {
        pad_same(a, out, a->in);
        return out;
    }
    if (pad_mode == CR_PAD_VALID)
        return out + (over > 0 ? over : 0);
    return out - (a->before + a->after) + over + a->more;
}

/* ---- an op's lists ---- */

static const char *or_one_each(int rank)
{
    return rank == 1 ? "" : rank == 2 ? " or 2" : " or 3";
}

static bool check_list(struct cr_op_plan *p, const char *name,
                       const struct cr_ints *list, int rank)
{
    if (list->n <= 1 || list->n == rank)
        return true;
    return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                    "%s: expected one number%s, found %d", name,
                    or_one_each(rank), list->n);
}

static bool check_padding(struct cr_op_plan *p, const struct cr_convolve *a,
                          int rank)
{
    int i;

    if (a->padding.n > 1 && a->padding.n != 2 * rank)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "padding: expected one number or %d (before and after "
                        "each dimension), found %d",
                        2 * rank, a->padding.n);
    if (a->pad_mode == CR_PAD_PAD)
        return true;
    for (i = 0; i < a->padding.n; i++)
        if (a->padding.v[i] != 0)
            return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                            "padding %lld requires pad_mode: pad",
                            (long long)a->padding.v[i]);
    for (i = 0; i < a->output_padding.n; i++)
        if (a->output_padding.v[i] != 0)
            return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                            "output_padding %lld requires pad_mode: pad",
                            (long long)a->output_padding.v[i]);
    return true;
}

static bool check_more(struct cr_op_plan *p, const struct axis *a)
{
    int64_t limit = a->stride > a->dilation ? a->stride : a->dilation;

    if (a->more < limit)
        return true;
    return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                    "output_padding %lld must be less than the stride or the "
                    "dilation, whichever is larger: %lld",
                    (long long)a->more, (long long)limit);
}

/* Axis i of `rank`; dims of x and weight stand at 2 and 2 (+ 1: 1-D). */
static struct axis axis(const struct cr_convolve *a, int i,
                        const struct cr_spec *x, const struct cr_spec *w)
{
    int rank = x->rank - 2;

    return (struct axis){ .in = x->dim[2 + i],
                          .kernel = w->dim[w->rank - rank + i],
                          .stride = of(&a->stride, i, 1),
                          .dilation = of(&a->dilation, i, 1),
                          .before = of(&a->padding, 2 * i, 0),
                          .after = of(&a->padding, 2 * i + 1, 0),
                          .more = of(&a->output_padding, i, 0) };
}

/* ---- geometry ---- */

enum {
    X,
    W,
    B,
    MORE,  /* an addend that the planner puts there, in prediction */
    PACKED /* the weight as cr_conv_pack makes it, or none */
};

/* As the convolution from `x` to `y`, whichever of them comes in. */
static struct cr_conv geometry(const struct cr_convolve *a,
                               const struct cr_spec *x, const struct cr_spec *w,
                               const struct cr_spec *y, bool transposed)
{
    int rank = x->rank - 2, i;
    struct cr_conv c = { .n = x->dim[0],
                         .group = a->groups,
                         .ci = x->dim[1],
                         .co = y->dim[1],
                         .in = { 1, 1, 1 },
                         .out = { 1, 1, 1 },
                         .kernel = { 1, 1, 1 },
                         .stride = { 1, 1, 1 },
                         .dilation = { 1, 1, 1 },
                         .x = x->layout,
                         .y = y->layout };

    for (i = 0; i < rank; i++) {
        struct axis v = axis(a, i, transposed ? y : x, w);
        int at = 3 - rank + i;

        if (transposed)
            size_back(&v, a->pad_mode);
        else
            size_out(&v, a->pad_mode);
        c.in[at] = x->dim[2 + i];
        c.out[at] = y->dim[2 + i];
        c.kernel[at] = v.kernel;
        c.stride[at] = v.stride;
        c.dilation[at] = v.dilation;
        c.pad_before[at] = v.before;
    }
    return c;
}

static bool check_inputs(struct cr_op_plan *p, const struct cr_convolve *a,
                         bool transposed)
{
    const struct cr_spec *x = &p->in[X], *w = &p->in[W];
    int rank = x->rank - 2;
    int64_t takes = transposed ? w->dim[0] : w->dim[1] * a->groups;
    int64_t gives = transposed ? w->dim[1] * a->groups : w->dim[0];

    if (rank < 1 || rank > 3 || w->rank != (rank == 1 ? 4 : rank + 2) ||
        (rank == 1 && w->dim[2] != 1))
        return cr_error(
            p->diag, p->pos, CR_E_SHAPE,
            "input %s does not fit weight %s: expected (batch, channels, ...) "
            "with one dimension for each dimension of the kernel",
            cr_diag_format(p->arena, x), cr_diag_format(p->arena, w));
    if (x->dim[1] != takes || gives % a->groups != 0 || takes % a->groups != 0)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input %s does not fit weight %s: expected %lld "
                        "channels in %lld groups",
                        cr_diag_format(p->arena, x),
                        cr_diag_format(p->arena, w), (long long)takes,
                        (long long)a->groups);
    if (p->n_in > B && p->in[B].rank >= 0 &&
        (p->in[B].rank != 1 || p->in[B].dim[0] != gives))
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "bias is %s, expected (%lld,)",
                        cr_diag_format(p->arena, &p->in[B]), (long long)gives);
    return check_list(p, "stride", &a->stride, rank) &&
           check_list(p, "dilation", &a->dilation, rank) &&
           check_list(p, "output_padding", &a->output_padding, rank) &&
           check_padding(p, a, rank);
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Scratch memory, also where bfloat16 is multiplied: perhaps by another kernel.
 */
static size_t scratch(const struct cr_conv *c)
{
    struct cr_conv real = *c, bf16 = *c;

    real.bf16 = false;
    bf16.bf16 = true;
    return larger(cr_conv_scratch(&real), cr_conv_scratch(&bf16));
}

/* Room of a thread, likewise. In low precision samples come some at a time, and
 * a thread may take more room where there are fewer of them than threads. */
static size_t room(const struct cr_conv *c)
{
    struct cr_conv some = *c;
    int64_t threads = cr_thread_count();
    size_t most = 0;
    int i;

    for (i = 0; i < 2; i++) {
        some.bf16 = i == 1;
        for (some.n = 1; some.n <= c->n && some.n <= threads; some.n++)
            most = larger(most, cr_conv_thread_scratch(&some));
        some.n = c->n;
        most = larger(most, cr_conv_thread_scratch(&some));
    }
    return most;
}

static bool plan(struct cr_op_plan *p, bool transposed)
{
    const struct cr_convolve *a = p->attr;
    const struct cr_spec *x = &p->in[X], *w = &p->in[W];
    struct cr_spec *y = &p->out[0];
    double taps = 1;
    struct cr_conv c;
    int i;

    if (!check_inputs(p, a, transposed))
        return false;
    *y = *x;
    y->dim[1] = transposed ? w->dim[1] * a->groups : w->dim[0];
    for (i = 0; i < x->rank - 2; i++) {
        struct axis v = axis(a, i, x, w);

        y->dim[2 + i] =
            transposed ? size_back(&v, a->pad_mode) : size_out(&v, a->pad_mode);
        if (transposed && !check_more(p, &v))
            return false;
        if (y->dim[2 + i] < 1 && transposed)
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "input %s gives an output of size %lld along "
                            "dimension %d",
                            cr_diag_format(p->arena, x),
                            (long long)y->dim[2 + i], 2 + i);
        if (y->dim[2 + i] < 1)
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "input %s is too small: it has %lld positions with "
                            "padding, but the kernel spans %lld",
                            cr_diag_format(p->arena, x),
                            (long long)(v.in + v.before + v.after),
                            (long long)extent(&v));
        taps *= (double)v.kernel;
    }
    if (!cr_spec_fits(y))
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "output %s is too large for memory",
                        cr_diag_format(p->arena, y));
    c = transposed ? geometry(a, y, w, x, true) : geometry(a, x, w, y, false);
    p->scratch = transposed ? cr_conv_scratch(&c) : scratch(&c);
    p->thread_scratch = transposed ? cr_conv_thread_scratch(&c) : room(&c);
    p->macs = (double)cr_count(transposed ? x : y) * (double)w->dim[1] * taps;
    return true;
}

bool cr_convolve_plan(struct cr_op_plan *p)
{
    return plan(p, false);
}

bool cr_deconvolve_plan(struct cr_op_plan *p)
{
    return plan(p, true);
}

static enum cr_channels_last takes_last(const struct cr_op_plan *p,
                                        bool transposed)
{
    struct cr_spec out;
    struct cr_op_plan again = *p;
    struct cr_conv c;

    again.out = &out;
    if (p->in[X].layout == CR_CHANNELS_LAST || !plan(&again, transposed))
        return CR_LAST_TOO;
    c = transposed ? geometry(p->attr, &out, &p->in[W], &p->in[X], true)
                   : geometry(p->attr, &p->in[X], &p->in[W], &out, false);
    return cr_conv_prefers_last(&c) ? CR_LAST_BEST : CR_LAST_TOO;
}

static enum cr_channels_last convolve_last(const struct cr_op_plan *p)
{
    return takes_last(p, false);
}

static enum cr_channels_last deconvolve_last(const struct cr_op_plan *p)
{
    return takes_last(p, true);
}

/* ---- what the kernels of a step do besides ---- */

/* `operands`: those that are multiplied. */
static struct cr_conv geometry_of(const struct cr_op_ctx *s, unsigned operands)
{
    struct cr_conv c =
        geometry(s->attr, &s->in[X], &s->in[W], &s->out[0], false);

    c.low = s->low;
    c.bf16 = s->low == CR_BF16 && (s->holds & operands) == operands;
    c.x_low = s->two_bytes & CR_X(X);
    c.dy_low = s->grads_two_bytes & CR_Y(0);
    return c;
}

static struct cr_conv forward_geometry(const struct cr_op_ctx *s)
{
    return geometry_of(s, CR_X(X) | CR_X(W));
}

/* Its forward pass is the input gradient of this one. */
static struct cr_conv transposed_geometry(const struct cr_op_ctx *s)
{
    return geometry(s->attr, &s->out[0], &s->in[W], &s->in[X], true);
}

/* As inputs a bias and an addend come next to the kernel's own epilogue. */
static bool accepts(const struct cr_op_ctx *s, const struct cr_conv *c,
                    unsigned of, unsigned parts)
{
    unsigned takes = cr_conv_takes(c);

    if (of == CR_Y(0))
        takes &= CR_END_BIAS | CR_END_ADD | CR_END_ACT | CR_END_MAP |
                 (s->rounds & CR_Y(0) ? 0 : CR_END_KEEP);
    else
        takes &= of == CR_X(X) ? CR_END_MASK : CR_END_SCALE;
    return !(parts & ~takes);
}

static bool convolve_accepts(const struct cr_op_ctx *s, unsigned of,
                             unsigned parts)
{
    struct cr_conv c = forward_geometry(s);

    return accepts(s, &c, of, parts);
}

static bool deconvolve_accepts(const struct cr_op_ctx *s, unsigned of,
                               unsigned parts)
{
    struct cr_conv c = transposed_geometry(s);

    return !(of == CR_Y(0) && parts & (CR_END_BIAS | CR_END_ADD)) &&
           accepts(s, &c, of, parts);
}

/* ---- the steps ---- */

/* What is stored in two bytes is left so if all kernels that it goes to read
 * it. Sums for the bias do not. */
static struct cr_samples samples(const struct cr_op_ctx *s,
                                 void (*run)(const struct cr_op_ctx *part))
{
    struct cr_conv c = forward_geometry(s);
    struct cr_conv input = geometry_of(s, CR_X(W) | CR_Y(0));
    struct cr_conv sums = geometry_of(s, CR_X(X) | CR_Y(0));
    bool low =
        cr_conv_low_x(&c) && cr_conv_low_x(&input) && cr_conv_low_x(&sums);

    return (struct cr_samples){ .inputs = B + 1,
                                .scratch = scratch(&c),
                                .addend = MORE,
                                .run = run,
                                .low_x = low,
                                .low_to = low && cr_conv_low_to(&c) &&
                                          cr_conv_low_to(&input),
                                .low_dy =
                                    low && cr_conv_low_dy(&sums) && !s->dx[B] };
}

/* Where what the kernel makes goes, and what follows it. */
static cr_real *end_of(const struct cr_op_ctx *s, struct cr_epilogue *end)
{
    *end = s->end;
    end->bias = s->x[B];
    if (!end->keeps)
        return s->y[0];
    end->map_to = s->y[0];
    return s->saved;
}

static void part_forward(const struct cr_op_ctx *s)
{
    struct cr_conv c = forward_geometry(s);
    struct cr_epilogue end;
    cr_real *y = end_of(s, &end);

    end.add = s->x[MORE];
    c.to_low = s->two_bytes & CR_Y(0);
    cr_conv_forward(&c, s->x[X], s->x[W], s->x[PACKED], &end, y, s->scratch);
}

void cr_convolve_forward(const struct cr_op_ctx *s)
{
    struct cr_samples parts = samples(s, part_forward);

    if (s->low == CR_REAL)
        part_forward(s);
    else
        cr_samples_forward(s, &parts);
}

static const char *convolve_name(const struct cr_op_ctx *s)
{
    struct cr_conv c = forward_geometry(s);

    return cr_conv_kernel_name(&c);
}

static const char *deconvolve_name(const struct cr_op_ctx *s)
{
    struct cr_conv c = transposed_geometry(s);

    return cr_conv_kernel_name(&c);
}

/* In low precision as its parts have it (samples.c). */
static struct cr_conv packed_geometry(const struct cr_op_ctx *s)
{
    struct cr_conv c = forward_geometry(s);

    if (s->low != CR_REAL && !samples(s, part_forward).low_x) {
        c.low = CR_REAL;
        c.bf16 = false;
    }
    return c;
}

/* A library packs a weight for a number of samples, and parts have some. */
static size_t packed_bytes(const struct cr_op_ctx *s)
{
    struct cr_conv c = packed_geometry(s);

    return s->low != CR_REAL && !cr_blas_own() ? 0 : cr_conv_packed(&c);
}

static void pack(const struct cr_op_ctx *s, void *to)
{
    struct cr_conv c = packed_geometry(s);

    cr_conv_pack(&c, s->x[W], to);
}

static const struct cr_prepare convolve_prepare = { W, PACKED, packed_bytes,
                                                    pack, false };

const struct cr_op_kernels cr_convolve_kernels = {
    .name = convolve_name,
    .accepts = convolve_accepts,
    .addend = MORE,
    .last = convolve_last,
    .prepare = &convolve_prepare,
};

const struct cr_op_kernels cr_deconvolve_kernels = {
    .name = deconvolve_name,
    .accepts = deconvolve_accepts,
    .last = deconvolve_last,
};

void cr_deconvolve_forward(const struct cr_op_ctx *s)
{
    struct cr_conv c = transposed_geometry(s);
    struct cr_epilogue end;
    cr_real *y = end_of(s, &end);

    cr_conv_input(&c, s->x[X], s->x[W], &end, y, s->scratch);
}

static void bias_backward(const struct cr_op_ctx *s)
{
    const struct cr_spec *y = &s->out[0];

    if (s->dx[B])
        cr_conv_bias(y->dim[0], y->dim[1],
                     cr_count(y) / (y->dim[0] * y->dim[1]), y->layout, s->dy[0],
                     (cr_real)s->alpha[B], s->accumulate[B], s->dx[B]);
}

static void part_backward(const struct cr_op_ctx *s)
{
    struct cr_conv c = geometry_of(s, CR_X(W) | CR_Y(0));
    struct cr_conv sums = geometry_of(s, CR_X(X) | CR_Y(0));
    struct cr_epilogue end = { .add = s->accumulate[X] ? s->dx[X] : NULL,
                               .mask = s->mask[X] };

    c.to_low = s->grads_two_bytes & CR_X(X);
    c.mask_low = s->mask_two_bytes & CR_X(X);
    if (s->dx[X])
        cr_conv_input(&c, s->dy[0], s->x[W], &end, s->dx[X], s->scratch);
    if (s->dx[W])
        cr_conv_weight(&sums, s->x[X], s->dy[0], (cr_real)s->alpha[W],
                       s->accumulate[W], s->dx[W], s->scratch);
    bias_backward(s);
}

/* dx goes before dW, because W may be updated in place (alpha = -lr). */
static void low_backward(const struct cr_op_ctx *s)
{
    struct cr_samples parts = samples(s, part_backward);
    struct cr_op_ctx one = *s;

    if (s->dx[W] != s->x[W]) {
        cr_samples_backward(s, &parts);
        return;
    }
    one.dx[W] = one.dx[B] = NULL;
    if (s->dx[X])
        cr_samples_backward(&one, &parts);
    one = *s;
    one.dx[X] = NULL;
    if (s->dx[W] || s->dx[B])
        cr_samples_backward(&one, &parts);
}

void cr_convolve_backward(const struct cr_op_ctx *s)
{
    if (s->low == CR_REAL)
        part_backward(s);
    else
        low_backward(s);
}

/* The convolution's x is our y: dx is a forward, dW has x and dy exchanged. */
void cr_deconvolve_backward(const struct cr_op_ctx *s)
{
    struct cr_conv c = transposed_geometry(s);
    struct cr_epilogue end = { .add = s->accumulate[X] ? s->dx[X] : NULL,
                               .mask = s->mask[X] };

    if (s->dx[X])
        cr_conv_forward(&c, s->dy[0], s->x[W], NULL, &end, s->dx[X],
                        s->scratch);
    if (s->dx[W])
        cr_conv_weight(&c, s->dy[0], s->x[X], (cr_real)s->alpha[W],
                       s->accumulate[W], s->dx[W], s->scratch);
    bias_backward(s);
}

/* ---- cells ---- */

/* The weight; with NHWC a parameter of MindSpore's shape for that, (out, h, w,
 * in), which the op takes as (out, in, h, w). */
static struct cr_val *conv_weight(struct cr_build *b, struct cr_spec spec)
{
    static const int64_t perm[] = { 0, 3, 1, 2 };
    const struct cr_conv_cell *o = cr_opts(b);
    struct cr_transpose *attr;
    int64_t in = spec.dim[1];

    if (o->data_format == CR_NCHW)
        return cr_param(b, "weight", spec, &o->weight_init,
                        CR_DEFAULT_INIT_WEIGHT, 0);
    attr = CR_NEW(cr_build_arena(b), struct cr_transpose);
    attr->input_perm = (struct cr_ints){ (int)CR_LEN(perm), perm };
    spec.dim[1] = spec.dim[2];
    spec.dim[2] = spec.dim[3];
    spec.dim[3] = in;
    return CR_EMIT(b, "transpose", attr,
                   cr_param(b, "weight", spec, &o->weight_init,
                            CR_DEFAULT_INIT_WEIGHT, 0));
}

struct cr_val *cr_conv_cell_build(struct cr_build *b, struct cr_val *in,
                                  const char *name, int rank, const char *op)
{
    const struct cr_conv_cell *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in);
    struct cr_arena *a = cr_build_arena(b);
    bool transposed = cr_ends(op, "_transpose");
    struct cr_convolve *attr = CR_NEW(a, struct cr_convolve);
    struct cr_spec spec = { .type = CR_REAL };
    struct cr_val *w, *bias = NULL;
    double fan = 1;
    int64_t ci;
    int i;

    in = cr_nhwc_in(b, o->data_format, in);
    if (!in)
        return NULL;
    x = cr_val_spec(in);
    if (x->rank != rank + 2) {
        cr_fail(b, CR_E_SHAPE,
                "%s: expected an input (batch, channels%s), found %s", name,
                rank == 1   ? ", length"
                : rank == 2 ? ", height, width"
                            : ", depth, height, width",
                cr_diag_format(a, x));
        return NULL;
    }
    ci = x->dim[1];
    if (o->in_channels != CR_INT_NONE && o->in_channels != ci) {
        cr_fail(b, CR_E_SHAPE,
                "input %s does not fit %s: expected in_channels %lld",
                cr_diag_format(a, x), name, (long long)o->in_channels);
        return NULL;
    }
    if (ci % o->group != 0 || o->out_channels % o->group != 0) {
        cr_fail(
            b, CR_E_OUT_OF_RANGE,
            "group %lld must divide in_channels (%lld) and out_channels (%lld)",
            (long long)o->group, (long long)ci, (long long)o->out_channels);
        return NULL;
    }
    if (o->kernel_size.n != 1 && o->kernel_size.n != rank) {
        cr_fail(b, CR_E_OUT_OF_RANGE,
                "kernel_size: expected one number%s, found %d",
                or_one_each(rank), o->kernel_size.n);
        return NULL;
    }
    spec.dim[spec.rank++] = transposed ? ci : o->out_channels;
    spec.dim[spec.rank++] = (transposed ? o->out_channels : ci) / o->group;
    if (rank == 1)
        spec.dim[spec.rank++] = 1;
    for (i = 0; i < rank; i++)
        spec.dim[spec.rank++] = of(&o->kernel_size, i, 1);
    for (i = 1; i < spec.rank; i++)
        fan *= (double)spec.dim[i];
    *attr = (struct cr_convolve){ .stride = o->stride,
                                  .padding = o->padding,
                                  .dilation = o->dilation,
                                  .output_padding = o->output_padding,
                                  .pad_mode = o->pad_mode,
                                  .groups = o->group };
    w = conv_weight(b, spec);
    if (o->has_bias) {
        bias = cr_param(b, "bias", CR_SPEC(o->out_channels), &o->bias_init,
                        CR_DEFAULT_INIT_FAN_IN, fan);
        if (!bias)
            return NULL;
    }
    return cr_nhwc_out(b, o->data_format, CR_EMIT(b, op, attr, in, w, bias));
}
