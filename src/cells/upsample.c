/*
 * Upsample: interpolation to another size, x (N, C, L), (N, C, H, W) or
 * (N, C, D, H, W). s = in / out, or 1 / scale_factor:
 *   nearest: the element at floor(i s), in float32
 *   nearest-exact: the element at floor((i + 0.5) s), in float32
 *   linear, bilinear, trilinear: between the two nearest to (i + 0.5) s - 0.5,
 *   at least 0; with align_corners nearest to i (in - 1) / (out - 1)
 *   area: AdaptiveAvgPool; bicubic: families/bicubic.c
 * Backward adds each gradient to the inputs by the same weights.
 */
#include "families/bicubic.h"
#include "families/pool.h"

#include "base/compiler.h"
#include "base/thread_pool.h"
#include "kernels/parallel_for.h"

#include <string.h>

enum {
    NEAREST,
    LINEAR,
    BILINEAR,
    TRILINEAR,
    BICUBIC,
    AREA,
    NEAREST_EXACT
};

enum {
    DEPTH,
    ROW,
    COL
};

/* Attributes of the op: the output size (d, h, w), and steps between the
 * positions of neighbouring elements; 0: from the sizes. */
struct upsample_op {
    struct cr_ints size;
    struct cr_reals step;
    bool linear, align, exact;
};

/* The inputs of an output index: low with weight 1 - part, high with part. */
struct tap {
    int64_t low, high;
    cr_real part;
};

static struct tap upsample_tap(const struct upsample_op *o, int axis,
                               int64_t in, int64_t i)
{
    int64_t out = o->size.v[axis];
    double given = o->step.v[axis], at = 0;
    struct tap t = { 0 };

    if (!o->linear) {
        float step = given > 0 ? (float)given : (float)in / (float)out;

        t.low = (int64_t)(((float)i + (o->exact ? 0.5F : 0)) * step);
        t.low = t.high = t.low < in - 1 ? t.low : in - 1;
        return t;
    }
    if (!o->align)
        at =
            ((double)i + 0.5) * (given > 0 ? given : (double)in / (double)out) -
            0.5;
    else if (out > 1)
        at = (double)i * (double)(in - 1) / (double)(out - 1);
    at = at > 0 ? at : 0;
    t.low = (int64_t)at < in - 1 ? (int64_t)at : in - 1;
    t.high = t.low < in - 1 ? t.low + 1 : t.low;
    t.part = t.high > t.low ? (cr_real)(at - (double)t.low) : 0;
    return t;
}

/* (N, C, L) is (N, C, 1, 1, L). */
struct volumes {
    const struct cr_op_ctx *s;
    bool linear;
    int64_t in[3], out[3], n; /* sizes; number of volumes */
    struct tap *tap[3];       /* for each output index */
};

static struct volumes upsample_volumes(const struct cr_op_ctx *s)
{
    const struct upsample_op *o = s->attr;
    const struct cr_spec *x = &s->in[0];
    struct volumes p = { .s = s, .linear = o->linear };
    struct tap *tap = s->scratch;
    int64_t i;
    int k;

    p.n = x->dim[0] * x->dim[1];
    for (k = 0; k < 3; k++) {
        p.in[k] = x->rank + k >= 5 ? x->dim[x->rank - 3 + k] : 1;
        p.out[k] = o->size.v[k];
        p.tap[k] = tap;
        for (i = 0; i < p.out[k]; i++)
            *tap++ = upsample_tap(o, k, p.in[k], i);
    }
    return p;
}

/* Rows of the output: two each of two planes, and one. */
static size_t upsample_room(int64_t width)
{
    return 5 * (size_t)width * sizeof(cr_real);
}

static bool upsample_plan(struct cr_op_plan *p)
{
    const struct upsample_op *o = p->attr;
    int rank = p->in[0].rank, i;

    p->out[0] = p->in[0];
    for (i = 2; i < rank; i++)
        p->out[0].dim[i] = o->size.v[i + 3 - rank];
    p->scratch = (size_t)(o->size.v[DEPTH] + o->size.v[ROW] + o->size.v[COL]) *
                 sizeof(struct tap);
    p->thread_scratch = upsample_room(o->size.v[COL]);
    return true;
}

/* ---- rows ---- */

/* Rows of the input, or of its gradient, as wide as the output. Row i lies in
 * room[i % 2]: the two rows that an output row lies between are neighbours,
 * and mostly those of the row before. */
struct rows {
    cr_real *room[2];
    int64_t at[2]; /* which; -1: none */
};

static struct rows rows_in(cr_real *room, int64_t width)
{
    return (struct rows){ { room, room + width }, { -1, -1 } };
}

/* a + (b - a) part; y may be a. */
CR_CLONES static void row_between(int64_t n, const cr_real *a, const cr_real *b,
                                  cr_real part, cr_real *y)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        y[i] = a[i] + (b[i] - a[i]) * part;
}

static const cr_real *rows_get(const struct volumes *p, struct rows *rows,
                               const cr_real *plane, int64_t i)
{
    const cr_real *x = plane + i * p->in[COL];
    cr_real *y = rows->room[i % 2];
    int64_t j;

    if (rows->at[i % 2] == i)
        return y;
    rows->at[i % 2] = i;
    for (j = 0; j < p->out[COL]; j++) {
        struct tap t = p->tap[COL][j];

        y[j] = p->linear ? x[t.low] + (x[t.high] - x[t.low]) * t.part
                         : x[t.low];
    }
    return y;
}

/* One row of the output, at `t` of a plane. */
static void rows_between(const struct volumes *p, struct rows *rows,
                         const cr_real *plane, struct tap t, cr_real *y)
{
    const cr_real *low = rows_get(p, rows, plane, t.low);

    if (t.high > t.low)
        row_between(p->out[COL], low, rows_get(p, rows, plane, t.high), t.part,
                    y);
    else
        memcpy(y, low, (size_t)p->out[COL] * sizeof *y);
}

static void upsample_plane(const struct volumes *p, const cr_real *x,
                           struct tap d, cr_real *y)
{
    int64_t plane = p->in[ROW] * p->in[COL], width = p->out[COL], i;
    cr_real *other = cr_thread_scratch(upsample_room(width));
    struct rows low = rows_in(other + width, width);
    struct rows high = rows_in(other + 3 * width, width);

    for (i = 0; i < p->out[ROW]; i++, y += width) {
        struct tap r = p->tap[ROW][i];

        rows_between(p, &low, x + d.low * plane, r, y);
        if (d.high == d.low)
            continue;
        rows_between(p, &high, x + d.high * plane, r, other);
        row_between(width, y, other, d.part, y);
    }
}

static void upsample_range(void *ctx, int64_t from, int64_t to)
{
    const struct volumes *p = ctx;
    int64_t plane = p->out[ROW] * p->out[COL], i;

    for (; from < to; from++) {
        const cr_real *x = cr_creals(p->s->x[0]) +
                           from * p->in[DEPTH] * p->in[ROW] * p->in[COL];
        cr_real *y = cr_reals(p->s->y[0]) + from * p->out[DEPTH] * plane;

        for (i = 0; i < p->out[DEPTH]; i++)
            upsample_plane(p, x, p->tap[DEPTH][i], y + i * plane);
    }
}

static double upsample_cost(const struct volumes *p, double each)
{
    return each * (double)(p->out[DEPTH] * p->out[ROW] * p->out[COL]) *
           (p->in[DEPTH] > 1 ? 2 : 1);
}

static void upsample_forward(const struct cr_op_ctx *s)
{
    struct volumes p = upsample_volumes(s);

    cr_parallel_for_coarse(p.n, upsample_cost(&p, 1), &p, upsample_range);
}

/* ---- backward ---- */

/* sum += weight dy */
CR_CLONES static void row_add(int64_t n, const cr_real *dy, cr_real weight,
                              cr_real *sum)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        sum[i] += weight * dy[i];
}

/* Adds what has been summed of a row to the gradient of a plane. */
static void rows_put(const struct volumes *p, const struct rows *rows, int k,
                     cr_real *plane)
{
    cr_real *dx = plane + rows->at[k] * p->in[COL];
    int64_t j;

    if (rows->at[k] < 0)
        return;
    for (j = 0; j < p->out[COL]; j++) {
        struct tap t = p->tap[COL][j];
        cr_real d = rows->room[k][j], high = d * t.part;

        dx[t.low] += d - high;
        if (t.high > t.low)
            dx[t.high] += high;
    }
}

static void rows_add(const struct volumes *p, struct rows *rows, int64_t i,
                     const cr_real *dy, cr_real weight, cr_real *plane)
{
    int k = (int)(i % 2);

    if (rows->at[k] != i) {
        rows_put(p, rows, k, plane);
        rows->at[k] = i;
        memset(rows->room[k], 0,
               (size_t)p->out[COL] * sizeof *rows->room[k]);
    }
    row_add(p->out[COL], dy, weight, rows->room[k]);
}

/* Adds dy times `weight` to the elements of a plane that it comes from. */
static void upsample_plane_back(const struct volumes *p, const cr_real *dy,
                                cr_real weight, cr_real *dx)
{
    int64_t width = p->out[COL], i;
    struct rows rows =
        rows_in(cr_thread_scratch(upsample_room(width)), width);

    for (i = 0; i < p->out[ROW]; i++, dy += width) {
        struct tap r = p->tap[ROW][i];

        rows_add(p, &rows, r.low, dy, weight * (1 - r.part), dx);
        if (r.high > r.low)
            rows_add(p, &rows, r.high, dy, weight * r.part, dx);
    }
    rows_put(p, &rows, 0, dx);
    rows_put(p, &rows, 1, dx);
}

static void upsample_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct volumes *p = ctx;
    int64_t plane = p->in[ROW] * p->in[COL], size = p->in[DEPTH] * plane, i;

    for (; from < to; from++) {
        const cr_real *dy = cr_creals(p->s->dy[0]) +
                            from * p->out[DEPTH] * p->out[ROW] * p->out[COL];
        cr_real *dx = cr_reals(p->s->dx[0]) + from * size;

        if (!p->s->accumulate[0])
            memset(dx, 0, (size_t)size * sizeof *dx);
        for (i = 0; i < p->out[DEPTH]; i++) {
            struct tap d = p->tap[DEPTH][i];

            upsample_plane_back(p, dy, 1 - d.part, dx + d.low * plane);
            if (d.high > d.low)
                upsample_plane_back(p, dy, d.part, dx + d.high * plane);
            dy += p->out[ROW] * p->out[COL];
        }
    }
}

static void upsample_backward(const struct cr_op_ctx *s)
{
    struct volumes p = upsample_volumes(s);

    cr_parallel_for_coarse(p.n, upsample_cost(&p, 2), &p, upsample_back_range);
}

static const struct cr_opt upsample_op_opts[] = {
    CR_INTS(struct upsample_op, size, 1, CR_DIM_MAX,
            "Output depth, height and width."),
    CR_REALS(struct upsample_op, step, 0, 1e6,
             "Distances of neighbouring outputs in the input; 0: from the "
             "sizes."),
    CR_BOOL_DEFAULT(struct upsample_op, linear, false,
                    "Interpolate; if false take the nearest element."),
    CR_BOOL_DEFAULT(struct upsample_op, align, false,
                    "Align the first and last elements."),
    CR_BOOL_DEFAULT(struct upsample_op, exact, false,
                    "The nearest element to the middle of each output."),
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
    CR_ENUM_DEFAULT(struct upsample, mode, NEAREST,
                    "nearest|linear|bilinear|trilinear|bicubic|area|"
                    "nearest-exact",
                    "Interpolation. nearest and area: any input. linear: (N, "
                    "C, L). bilinear and bicubic: (N, C, H, W). trilinear: (N, "
                    "C, D, H, W). nearest-exact: (N, C, L) or (N, C, H, W). "
                    "nearest: the element at floor(i * in / out). "
                    "nearest-exact: the element at floor((i + 0.5) * in / "
                    "out). area: adaptive average pooling. bicubic: Keys' "
                    "convolution with a = -0.5 over the elements inside, or a "
                    "= -0.75 with align_corners, as in MindSpore (PyTorch: "
                    "always -0.75); distances are rounded to 1/1024, as in "
                    "MindSpore, but not in an exported ONNX file."),
    CR_BOOL_OPTIONAL(
        struct upsample, align_corners,
        "With linear, bilinear, trilinear and bicubic: align the corner "
        "elements, which keep their values."),
    CR_BOOL_OPTIONAL(
        struct upsample, recompute_scale_factor,
        "true: the output size is floor(input size * scale_factor), and "
        "positions are computed from the sizes. Must be true with "
        "scale_factor, except in mode area and over (N, C, D, H, W): there "
        "positions are computed from scale_factor if it is false."),
    { 0 },
};

static bool is_linear(const struct upsample *o)
{
    return o->mode == LINEAR || o->mode == BILINEAR || o->mode == TRILINEAR;
}

static bool upsample_check(struct cr_diag *diag, struct cr_pos pos,
                           const void *opts)
{
    const struct upsample *o = opts;

    if ((o->size.n > 0) == (o->scale_factor.n > 0))
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "Upsample: expected either size or scale_factor");
    if (o->scale_factor.n > 0 && o->recompute_scale_factor != 1 &&
        o->mode != AREA && o->mode != NEAREST && o->mode != TRILINEAR)
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "scale_factor requires recompute_scale_factor: true");
    if (o->size.n > 0 && o->recompute_scale_factor == 1)
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "recompute_scale_factor requires scale_factor");
    if (!is_linear(o) && o->mode != BICUBIC && o->align_corners != CR_BOOL_NONE)
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "align_corners requires mode linear, bilinear, "
                        "trilinear or bicubic");
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

/* Whether the mode is for inputs of `dims` more dimensions than (N, C). */
static bool upsample_fits(struct cr_build *b, const struct cr_spec *x, int dims)
{
    static const struct {
        int low, high;
        const char *shapes;
    } of[] = {
        [NEAREST] = { 1, 3, "(N, C, L), (N, C, H, W) or (N, C, D, H, W)" },
        [LINEAR] = { 1, 1, "(N, C, L)" },
        [BILINEAR] = { 2, 2, "(N, C, H, W)" },
        [TRILINEAR] = { 3, 3, "(N, C, D, H, W)" },
        [BICUBIC] = { 2, 2, "(N, C, H, W)" },
        [AREA] = { 1, 3, "(N, C, L), (N, C, H, W) or (N, C, D, H, W)" },
        [NEAREST_EXACT] = { 1, 2, "(N, C, L) or (N, C, H, W)" },
    };
    const struct upsample *o = cr_opts(b);
    int n = o->size.n > 0 ? o->size.n : o->scale_factor.n;

    if (dims < of[o->mode].low || dims > of[o->mode].high)
        return cr_fail(b, CR_E_SHAPE, "input: found %s, expected %s",
                       cr_diag_format(cr_build_arena(b), x),
                       of[o->mode].shapes);
    if (n > 1 && n != dims)
        return cr_fail(b, CR_E_SHAPE,
                       "input: found %s with %d dimension%s to resize, "
                       "expected %d",
                       cr_diag_format(cr_build_arena(b), x), dims,
                       dims == 1 ? "" : "s", n);
    if (o->scale_factor.n > 0 && o->recompute_scale_factor != 1 &&
        o->mode == NEAREST && dims < 3)
        return cr_fail(b, CR_E_CONFLICT,
                       "scale_factor requires recompute_scale_factor: true");
    return true;
}

/* MindSpore's adaptive_avg_pool1d takes no other sizes. */
static struct cr_val *upsample_area(struct cr_build *b, struct cr_val *x,
                                    int dims, const int64_t *size)
{
    struct cr_pool_opts *attr = CR_NEW(cr_build_arena(b), struct cr_pool_opts);
    const struct cr_spec *s = cr_val_spec(x);

    if (dims == 1 && s->dim[2] % *size != 0) {
        cr_fail(b, CR_E_SHAPE,
                "input %s does not fit: its length must be a multiple of the "
                "output size %lld in mode area",
                cr_diag_format(cr_build_arena(b), s), (long long)*size);
        return NULL;
    }
    attr->dims = dims;
    attr->divisor_override = CR_INT_NONE;
    attr->output_size = (struct cr_ints){ dims, size };
    return CR_EMIT(b, "avg_pool", attr, x);
}

static struct cr_val *upsample_bicubic(struct cr_build *b, struct cr_val *x,
                                       const int64_t *size)
{
    const struct upsample *o = cr_opts(b);
    struct cr_bicubic *attr = CR_NEW(cr_build_arena(b), struct cr_bicubic);

    *attr = (struct cr_bicubic){ size[0], size[1], o->align_corners == 1 };
    return CR_EMIT_OP(b, &cr_bicubic_op, attr, x);
}

static struct cr_val *upsample_build(struct cr_build *b,
                                     struct cr_val *const *in)
{
    const struct upsample *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in[0]);
    struct cr_arena *arena = cr_build_arena(b);
    struct upsample_op *attr = CR_NEW(arena, struct upsample_op);
    int64_t *size = CR_NEWS(arena, int64_t, 3);
    double *step = CR_NEWS(arena, double, 3);
    int dims = x->rank - 2, i;

    if (!upsample_fits(b, x, dims))
        return NULL;
    for (i = 0; i < 3; i++) {
        int at = i + dims - 3;

        size[i] = at < 0 ? 1 : upsample_size(o, at, x->dim[2 + at]);
        if (at >= 0 && o->scale_factor.n > 0 && o->recompute_scale_factor != 1)
            step[i] = 1 / o->scale_factor.v[o->scale_factor.n == 1 ? 0 : at];
        if (size[i] < 1) {
            cr_fail(b, CR_E_SHAPE, "input: found %s, which leaves no elements",
                    cr_diag_format(arena, x));
            return NULL;
        }
    }
    if (o->mode == AREA)
        return upsample_area(b, in[0], dims, size + 3 - dims);
    if (o->mode == BICUBIC)
        return upsample_bicubic(b, in[0], size + 1);
    attr->size = (struct cr_ints){ 3, size };
    attr->step = (struct cr_reals){ 3, step };
    attr->linear = is_linear(o);
    attr->align = o->align_corners == 1;
    attr->exact = o->mode == NEAREST_EXACT;
    return CR_EMIT_OP(b, &upsample_op, attr, in[0]);
}

const struct cr_cell cr_cell_upsample = {
    .about = {
        .name = "Upsample",
        .summary = "Upsampling by interpolation.",
        .detail = "Input (N, C, L), (N, C, H, W) or (N, C, D, H, W).",
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
