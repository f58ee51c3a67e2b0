/*
 * Upsample: interpolation to another size, x (N, C, L) or (N, C, H, W).
 *   nearest: the element at floor(i s), s = in / out in float32
 *   linear, bilinear: between the two nearest to (i + 0.5) in / out - 0.5,
 *   at least 0; with align_corners nearest to i (in - 1) / (out - 1)
 * Backward adds each gradient to the inputs by the same weights.
 */
#include "graph/cell.h"
#include "graph/op.h"
#include "kernels/parallel_for.h"

#include <string.h>

enum { NEAREST, LINEAR, BILINEAR };

/* Attributes of the op: the output size (h, w). */
struct upsample_op {
    int64_t h, w;
    bool linear, align;
};

/* The inputs of an output index: low with weight 1 - part, high with part. */
struct tap {
    int64_t low, high;
    cr_real part;
};

static struct tap upsample_tap(const struct upsample_op *o, int64_t in,
                               int64_t out, int64_t i)
{
    struct tap t = { 0 };
    double at = 0;

    if (!o->linear) {
        t.low = (int64_t)((float)i * ((float)in / (float)out));
        t.low = t.high = t.low < in - 1 ? t.low : in - 1;
        return t;
    }
    if (!o->align)
        at = ((double)i + 0.5) * (double)in / (double)out - 0.5;
    else if (out > 1)
        at = (double)i * (double)(in - 1) / (double)(out - 1);
    at = at > 0 ? at : 0;
    t.low = (int64_t)at < in - 1 ? (int64_t)at : in - 1;
    t.high = t.low < in - 1 ? t.low + 1 : t.low;
    t.part = (cr_real)(at - (double)t.low);
    return t;
}

/* (N, C, L) is (N, C, 1, L). */
struct planes {
    const struct cr_op_ctx *s;
    const struct upsample_op *o;
    int64_t h, w, n; /* size of the input; number of planes */
    struct tap *row, *col;
};

static struct planes upsample_planes(const struct cr_op_ctx *s)
{
    const struct cr_spec *x = &s->in[0];
    struct planes p = { .s = s, .o = s->attr };
    int64_t i;

    p.h = x->rank == 4 ? x->dim[2] : 1;
    p.w = x->dim[x->rank - 1];
    p.n = x->dim[0] * x->dim[1];
    p.row = s->scratch;
    p.col = p.row + p.o->h;
    for (i = 0; i < p.o->h; i++)
        p.row[i] = upsample_tap(p.o, p.h, p.o->h, i);
    for (i = 0; i < p.o->w; i++)
        p.col[i] = upsample_tap(p.o, p.w, p.o->w, i);
    return p;
}

static bool upsample_plan(struct cr_op_plan *p)
{
    const struct upsample_op *o = p->attr;

    p->out[0] = p->in[0];
    if (p->in[0].rank == 4)
        p->out[0].dim[2] = o->h;
    p->out[0].dim[p->in[0].rank - 1] = o->w;
    p->scratch = (size_t)(o->h + o->w) * sizeof(struct tap);
    return true;
}

static void upsample_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    int64_t plane, i, j;

    for (plane = from; plane < to; plane++) {
        const cr_real *x = cr_creals(p->s->x[0]) + plane * p->h * p->w;
        cr_real *y = cr_reals(p->s->y[0]) + plane * p->o->h * p->o->w;

        for (i = 0; i < p->o->h; i++) {
            struct tap r = p->row[i];
            const cr_real *low = x + r.low * p->w, *high = x + r.high * p->w;

            for (j = 0; j < p->o->w; j++) {
                struct tap c = p->col[j];
                cr_real a = low[c.low], b = high[c.low];

                if (p->o->linear) {
                    a += (low[c.high] - a) * c.part;
                    b += (high[c.high] - b) * c.part;
                    a += (b - a) * r.part;
                }
                *y++ = a;
            }
        }
    }
}

static void upsample_forward(const struct cr_op_ctx *s)
{
    struct planes p = upsample_planes(s);

    cr_parallel_for_coarse(p.n, 3 * (double)(p.o->h * p.o->w), &p,
                           upsample_range);
}

static void upsample_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct planes *p = ctx;
    int64_t plane, i, j;

    for (plane = from; plane < to; plane++) {
        const cr_real *dy = cr_creals(p->s->dy[0]) + plane * p->o->h * p->o->w;
        cr_real *dx = cr_reals(p->s->dx[0]) + plane * p->h * p->w;

        if (!p->s->accumulate[0])
            memset(dx, 0, (size_t)(p->h * p->w) * sizeof *dx);
        for (i = 0; i < p->o->h; i++) {
            struct tap r = p->row[i];
            cr_real *low = dx + r.low * p->w, *high = dx + r.high * p->w;

            for (j = 0; j < p->o->w; j++) {
                struct tap c = p->col[j];
                cr_real d = *dy++, below = d * r.part, above = d - below;

                low[c.low] += above - above * c.part;
                if (!p->o->linear)
                    continue;
                low[c.high] += above * c.part;
                high[c.low] += below - below * c.part;
                high[c.high] += below * c.part;
            }
        }
    }
}

static void upsample_backward(const struct cr_op_ctx *s)
{
    struct planes p = upsample_planes(s);

    cr_parallel_for_coarse(p.n, 5 * (double)(p.o->h * p.o->w), &p,
                           upsample_back_range);
}

static const struct cr_opt upsample_op_opts[] = {
    CR_INT_DEFAULT(struct upsample_op, h, 1, 1, CR_DIM_MAX, "Output height."),
    CR_INT(struct upsample_op, w, 1, CR_DIM_MAX, "Output width."),
    CR_BOOL_DEFAULT(struct upsample_op, linear, false,
                    "Interpolate; if false take the nearest element."),
    CR_BOOL_DEFAULT(struct upsample_op, align, false,
                    "Align the first and last elements."),
    { 0 },
};

static const struct cr_op upsample_op = {
    .about = { .name = "upsample",
               .opts = upsample_op_opts,
               .size = sizeof(struct upsample_op) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .plan = upsample_plan,
    .forward = upsample_forward,
    .backward = upsample_backward,
};

struct upsample {
    struct cr_ints size;
    struct cr_reals scale_factor;
    int mode;
    unsigned char align_corners, recompute_scale_factor;
};

static const struct cr_opt upsample_opts[] = {
    CR_INTS_OPTIONAL(struct upsample, size, 1, CR_DIM_MAX,
                     "Output size: one number, or one per dimension."),
    CR_REALS_OPTIONAL(struct upsample, scale_factor, 1e-6, 1e6,
                      "Factor of the size, instead of size."),
    CR_ENUM_DEFAULT(struct upsample, mode, NEAREST, "nearest|linear|bilinear",
                    "Interpolation; linear is for (N, C, L), bilinear for (N, "
                    "C, H, W)."),
    CR_BOOL_OPTIONAL(
        struct upsample, align_corners,
        "With linear and bilinear: align the corner elements, which keep their "
        "values."),
    CR_BOOL_OPTIONAL(
        struct upsample, recompute_scale_factor,
        "Must be true with scale_factor: the output size is floor(input size * "
        "scale_factor), and positions are computed from the sizes."),
    { 0 },
};

static bool upsample_check(struct cr_diag *diag, struct cr_pos pos,
                           const void *opts)
{
    const struct upsample *o = opts;

    if ((o->size.n > 0) == (o->scale_factor.n > 0))
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "Upsample: expected either size or scale_factor");
    if (o->scale_factor.n > 0 && o->recompute_scale_factor != 1)
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "scale_factor requires recompute_scale_factor: true");
    if (o->size.n > 0 && o->recompute_scale_factor == 1)
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "recompute_scale_factor requires scale_factor");
    if (o->mode == NEAREST && o->align_corners != CR_BOOL_NONE)
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "align_corners requires mode linear or bilinear");
    return true;
}

/* Output size in dimension i of `dims`. */
static int64_t upsample_size(const struct upsample *o, int i, int64_t in)
{
    if (o->size.n > 0)
        return o->size.v[o->size.n == 1 ? 0 : i];
    return (int64_t)floor((double)in *
                          o->scale_factor.v[o->scale_factor.n == 1 ? 0 : i]);
}

static struct cr_val *upsample_build(struct cr_build *b,
                                     struct cr_val *const *in)
{
    const struct upsample *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in[0]);
    struct cr_arena *arena = cr_build_arena(b);
    struct upsample_op *attr = CR_NEW(arena, struct upsample_op);
    int dims = x->rank - 2;
    int n = o->size.n > 0 ? o->size.n : o->scale_factor.n;

    if ((dims != 1 && dims != 2) || (o->mode == LINEAR && dims != 1) ||
        (o->mode == BILINEAR && dims != 2)) {
        cr_fail(b, CR_E_SHAPE, "input: found %s, expected %s%s%s",
                cr_diag_format(arena, x),
                o->mode != BILINEAR ? "(N, C, L)" : "",
                o->mode == NEAREST ? " or " : "",
                o->mode != LINEAR ? "(N, C, H, W)" : "");
        return NULL;
    }
    if (n > 1 && n != dims) {
        cr_fail(b, CR_E_SHAPE,
                "input: found %s with %d dimensions to resize, "
                "expected %d",
                cr_diag_format(arena, x), dims, n);
        return NULL;
    }
    attr->h = dims == 2 ? upsample_size(o, 0, x->dim[2]) : 1;
    attr->w = upsample_size(o, dims - 1, x->dim[x->rank - 1]);
    attr->linear = o->mode != NEAREST;
    attr->align = o->align_corners == 1;
    if (attr->h < 1 || attr->w < 1) {
        cr_fail(b, CR_E_SHAPE, "input: found %s, which leaves no elements",
                cr_diag_format(arena, x));
        return NULL;
    }
    return CR_EMIT_OP(b, &upsample_op, attr, in[0]);
}

const struct cr_cell cr_cell_upsample = {
    .about = {
        .name = "Upsample",
        .summary = "Upsampling by interpolation.",
        .detail = "Input (N, C, L) or (N, C, H, W).",
        .example = "network: {up: {Upsample: {size: [14, 14], mode: "
                   "bilinear}}, flatten: Flatten, fc: {Dense: {out_channels: "
                   "10}}}\n",
        .opts = upsample_opts,
        .size = sizeof(struct upsample),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = upsample_check,
    .build = upsample_build,
};
