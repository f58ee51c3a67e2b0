#include "families/pool.h"

#include "base/compiler.h"

#include <string.h>

#include "families/nhwc.h"

#define SIZE_MAX_ 65536 /* of a window or step, along one dimension */
#define PAD_MODES "valid|same|pad"

#define POOL_KERNEL                                     \
    CR_INTS_OPTIONAL(                                   \
        struct cr_pool_opts, kernel_size, 1, SIZE_MAX_, \
        "Window size: one number, or one per dimension. Default: 1.")
#define POOL_STRIDE                                             \
    CR_INTS_OPTIONAL(struct cr_pool_opts, stride, 1, SIZE_MAX_, \
                     "Stride. Default: 1 (PyTorch: kernel_size).")
#define POOL_PAD_MODE                                                \
    CR_ENUM_DEFAULT(                                                 \
        struct cr_pool_opts, pad_mode, CR_POOL_VALID, PAD_MODES,     \
        "valid: no padding. same: output size is ceil(input size / " \
        "stride). pad: padding as the option padding says.")
#define POOL_PADDING                                               \
    CR_INTS_OPTIONAL(                                              \
        struct cr_pool_opts, padding, 0, SIZE_MAX_,                \
        "Padding on each side with pad_mode pad; at most half of " \
        "kernel_size.")
#define POOL_DILATION                                             \
    CR_INTS_OPTIONAL(struct cr_pool_opts, dilation, 1, SIZE_MAX_, \
                     "Dilation of the window, with pad_mode pad.")
#define POOL_INDICES                                                         \
    CR_BOOL_DEFAULT(struct cr_pool_opts, return_indices, false,              \
                    "Return a tuple: the maxima and their indices in their " \
                    "plane; with pad_mode pad.")
#define POOL_CEIL                                                           \
    CR_BOOL_DEFAULT(struct cr_pool_opts, ceil_mode, false,                  \
                    "Round the output size up: the last window may extend " \
                    "past the end.")
#define POOL_CEIL_MAX                                                       \
    CR_BOOL_DEFAULT(struct cr_pool_opts, ceil_mode, false,                  \
                    "Round the output size up: the last window may extend " \
                    "past the end; with pad_mode pad.")
#define POOL_INCLUDE                                              \
    CR_BOOL_DEFAULT(struct cr_pool_opts, count_include_pad, true, \
                    "With pad_mode pad: include the padding in the mean.")
#define POOL_INCLUDE_SAME                                                      \
    CR_BOOL_DEFAULT(struct cr_pool_opts, count_include_pad, true,              \
                    "With pad_mode pad or same: include the padding in "       \
                    "the mean. AvgPool1d and AvgPool2d never include that of " \
                    "same.")
#define POOL_DIVISOR                                                      \
    CR_INT_OPTIONAL(struct cr_pool_opts, divisor_override, 1, CR_DIM_MAX, \
                    "Divisor of the sum. Default: the number of elements.")
#define POOL_FORMAT                                            \
    CR_ENUM_DEFAULT(struct cr_pool_opts, data_format, CR_NCHW, \
                    CR_DATA_FORMATS, CR_NHWC_DOC)

const struct cr_opt cr_pool_opts[] = {
    POOL_KERNEL,
    POOL_STRIDE,
    POOL_PAD_MODE,
    POOL_PADDING,
    POOL_DILATION,
    POOL_CEIL,
    POOL_INCLUDE,
    POOL_DIVISOR,
    CR_INT_DEFAULT(struct cr_pool_opts, dims, 0, 0, 3,
                   "Number of dimensions of the windows; 0: all except the "
                   "first two."),
    CR_INTS_OPTIONAL(struct cr_pool_opts, output_size, 0, CR_DIM_MAX,
                     "Output size of adaptive pooling; 0 keeps the size."),
    { 0 },
};

const struct cr_opt cr_max_pool_opts[] = {
    POOL_KERNEL,   POOL_STRIDE,  POOL_PAD_MODE, POOL_PADDING,
    POOL_DILATION, POOL_INDICES, POOL_CEIL_MAX, { 0 },
};

const struct cr_opt cr_max_pool2d_opts[] = {
    POOL_KERNEL,  POOL_STRIDE,   POOL_PAD_MODE, POOL_PADDING, POOL_DILATION,
    POOL_INDICES, POOL_CEIL_MAX, POOL_FORMAT,   { 0 },
};

const struct cr_opt cr_avg_pool1d_opts[] = {
    POOL_KERNEL, POOL_STRIDE,  POOL_PAD_MODE, POOL_PADDING,
    POOL_CEIL,   POOL_INCLUDE, { 0 },
};

const struct cr_opt cr_avg_pool2d_opts[] = {
    POOL_KERNEL,  POOL_STRIDE,  POOL_PAD_MODE, POOL_PADDING, POOL_CEIL,
    POOL_INCLUDE, POOL_DIVISOR, POOL_FORMAT,   { 0 },
};

const struct cr_opt cr_avg_pool3d_opts[] = {
    POOL_KERNEL, POOL_STRIDE,       POOL_PAD_MODE, POOL_PADDING,
    POOL_CEIL,   POOL_INCLUDE_SAME, POOL_DIVISOR,  { 0 },
};

/* ---- windows ---- */

static int64_t pick(const struct cr_ints *list, int i, int64_t otherwise)
{
    return list->n == 0 ? otherwise : list->v[list->n == 1 ? 0 : i];
}

/* Windows of dimension i out of `dims`. out is 0 when none fits. */
static struct cr_window window_of(const struct cr_pool_opts *o, int i,
                                  int64_t in)
{
    struct cr_window w = { .in = in, .stride = 1, .dilation = 1 };
    int64_t reach, room;

    if (o->output_size.n > 0) {
        w.adaptive = true;
        w.out = pick(&o->output_size, i, 0);
        w.out = w.out == 0 ? in : w.out;
        return w;
    }
    w.kernel = pick(&o->kernel_size, i, 1);
    w.stride = pick(&o->stride, i, 1);
    w.dilation = pick(&o->dilation, i, 1);
    if (o->pad_mode == CR_POOL_SAME) {
        w.out = (in + w.stride - 1) / w.stride;
        room = (w.out - 1) * w.stride + w.kernel - in;
        w.pad_before = room > 0 ? room / 2 : 0;
        w.pad_after = room > 0 ? room - w.pad_before : 0;
        return w;
    }
    if (o->pad_mode == CR_POOL_PAD)
        w.pad_before = w.pad_after = pick(&o->padding, i, 0);
    reach = w.dilation * (w.kernel - 1) + 1;
    room = in + w.pad_before + w.pad_after - reach;
    if (room < 0)
        return w;
    w.out = (room + (o->ceil_mode ? w.stride - 1 : 0)) / w.stride + 1;
    if (o->ceil_mode && (w.out - 1) * w.stride >= in + w.pad_before)
        w.out--;
    return w;
}

bool cr_pool_counts_pad(const struct cr_pool_opts *o)
{
    return o->count_include_pad &&
           (o->pad_mode == CR_POOL_PAD ||
            (o->pad_mode == CR_POOL_SAME && o->dims == 3));
}

static struct cr_pool pool_of(const struct cr_pool_opts *o,
                              const struct cr_spec *x)
{
    struct cr_pool p = { .n = 1, .c = 1 };
    int i, dims = o->dims > 0 ? (int)o->dims : x->rank - 2;

    for (i = 0; i < 3 - dims; i++)
        p.w[i] = (struct cr_window){
            .in = 1, .out = 1, .kernel = 1, .stride = 1, .dilation = 1
        };
    for (i = 0; i < dims; i++)
        p.w[3 - dims + i] = window_of(o, i, x->dim[x->rank - dims + i]);
    p.n = x->dim[0];
    if (x->rank == dims + 2) {
        p.c = x->dim[1];
        p.last = x->layout == CR_CHANNELS_LAST;
    } else if (x->layout == CR_CHANNELS_LAST) {
        /* (C, D, H, W) of one sample lies as (C, H, W, D) */
        struct cr_window first = p.w[3 - dims];

        for (i = 3 - dims; i < 2; i++)
            p.w[i] = p.w[i + 1];
        p.w[2] = first;
    }
    p.count_pad = cr_pool_counts_pad(o);
    p.divisor = o->divisor_override == CR_INT_NONE ? 0 : o->divisor_override;
    return p;
}

struct cr_pool cr_pool_of(const struct cr_op_ctx *s)
{
    return pool_of(s->attr, &s->in[0]);
}

bool cr_pool_plan(struct cr_op_plan *p, struct cr_pool *pool)
{
    const struct cr_pool_opts *o = p->attr;
    const struct cr_spec *x = &p->in[0];
    int i, dims = o->dims > 0 ? (int)o->dims : x->rank - 2;

    if (dims < 1 || dims > 3 || x->rank < dims + 1 || x->rank > dims + 2)
        return cr_error(
            p->diag, p->pos, CR_E_SHAPE,
            "input %s has the wrong rank for pooling over %d dimensions",
            cr_diag_format(p->arena, x), dims);
    p->out[0] = *x;
    for (i = 0; i < dims; i++) {
        int at = x->rank - dims + i;
        struct cr_window w = window_of(o, i, x->dim[at]);

        if (w.out < 1)
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "input %s is too small: the window spans %lld, but "
                            "the input has %lld positions with padding",
                            cr_diag_format(p->arena, x),
                            (long long)(w.dilation * (w.kernel - 1) + 1),
                            (long long)(w.in + w.pad_before + w.pad_after));
        p->out[0].dim[at] = w.out;
    }
    *pool = pool_of(o, x);
    if (pool->w[0].out > INT32_MAX / pool->w[1].out ||
        pool->w[0].out * pool->w[1].out > INT32_MAX / pool->w[2].out ||
        cr_pool_volume(pool) > INT32_MAX)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input %s is too large for pooling",
                        cr_diag_format(p->arena, x));
    return true;
}

/* ---- cells ---- */

static bool pool_shape(struct cr_build *b, const struct cr_pool_opts *o,
                       struct cr_val *x, int dims)
{
    const struct {
        const char *name;
        const struct cr_ints *list;
    } lists[] = { { "kernel_size", &o->kernel_size },
                  { "stride", &o->stride },
                  { "padding", &o->padding },
                  { "dilation", &o->dilation },
                  { "output_size", &o->output_size } };
    static const char *const shapes[] = { "(N, C, L)", "(N, C, H, W)",
                                          "(N, C, D, H, W)" };
    static const char *const counts[] = { "one number", "one number or two",
                                          "one number or three" };
    const struct cr_spec *spec = cr_val_spec(x);
    size_t i;

    if (spec->rank != dims + 1 && spec->rank != dims + 2)
        return cr_fail(b, CR_E_SHAPE, "input is %s, expected %s",
                       cr_diag_format(cr_build_arena(b), spec),
                       shapes[dims - 1]);
    for (i = 0; i < CR_LEN(lists); i++)
        if (lists[i].list->n > 1 && lists[i].list->n != dims)
            return cr_fail(b, CR_E_OUT_OF_RANGE,
                           "%s: expected %s, found %d numbers", lists[i].name,
                           counts[dims - 1], lists[i].list->n);
    return true;
}

static struct cr_pool_opts *pool_attr(struct cr_build *b, int dims)
{
    struct cr_pool_opts *attr = CR_NEW(cr_build_arena(b), struct cr_pool_opts);

    memcpy(attr, cr_opts(b), sizeof *attr);
    attr->dims = dims;
    return attr;
}

/* Indices count in a plane of (N, C, H, W). */
static bool pool_indices(struct cr_build *b, int format, bool indices)
{
    return format == CR_NCHW || !indices ||
           cr_fail(b, CR_E_CONFLICT,
                   "return_indices requires data_format NCHW");
}

struct cr_val *cr_max_pool_build(struct cr_build *b, struct cr_val *x, int dims)
{
    struct cr_pool_opts *o = pool_attr(b, dims);
    bool alone = cr_val_spec(x)->rank == dims + 1;
    struct cr_val *y;

    o->divisor_override = CR_INT_NONE;
    if (!pool_indices(b, o->data_format, o->return_indices))
        return NULL;
    x = cr_nhwc_in(b, o->data_format, x);
    if (!x || !pool_shape(b, o, x, dims))
        return NULL;
    /* a single sample (C, H, W) is no matter of layouts */
    y = CR_EMIT(b, o->return_indices || alone ? "max_pool_indices" : "max_pool",
                o, x);
    return y && o->return_indices ? CR_TUPLE(b, y, cr_output(y, 1))
                                  : cr_nhwc_out(b, o->data_format, y);
}

struct cr_val *cr_avg_pool_build(struct cr_build *b, struct cr_val *x, int dims)
{
    struct cr_pool_opts *o = pool_attr(b, dims);

    if (dims == 1)
        o->divisor_override = CR_INT_NONE;
    x = cr_nhwc_in(b, o->data_format, x);
    return x && pool_shape(b, o, x, dims)
               ? cr_nhwc_out(b, o->data_format, CR_EMIT(b, "avg_pool", o, x))
               : NULL;
}

struct cr_val *cr_adaptive_build(struct cr_build *b, struct cr_val *x, int dims,
                                 bool largest)
{
    const struct cr_adaptive_opts *o = cr_opts(b);
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_pool_opts *attr = CR_NEW(arena, struct cr_pool_opts);
    int64_t *size = CR_NEWS(arena, int64_t, o->output_size.n);
    struct cr_val *y;
    int i;

    attr->dims = dims;
    attr->divisor_override = CR_INT_NONE;
    attr->output_size = (struct cr_ints){ o->output_size.n, size };
    if (!pool_indices(b, o->data_format, o->return_indices))
        return NULL;
    x = cr_nhwc_in(b, o->data_format, x);
    if (!x || !pool_shape(b, attr, x, dims))
        return NULL;
    for (i = 0; i < o->output_size.n; i++)
        size[i] = o->output_size.v[i] == CR_INT_NONE ? 0 : o->output_size.v[i];
    if (!largest)
        return cr_nhwc_out(b, o->data_format, CR_EMIT(b, "avg_pool", attr, x));
    y = CR_EMIT(b,
                o->return_indices || cr_val_spec(x)->rank == dims + 1
                    ? "max_pool_indices"
                    : "max_pool",
                attr, x);
    return y && o->return_indices ? CR_TUPLE(b, y, cr_output(y, 1))
                                  : cr_nhwc_out(b, o->data_format, y);
}

struct cr_val *cr_adaptive1d_build(struct cr_build *b, struct cr_val *x,
                                   bool largest)
{
    const int64_t *size = cr_opts(b);
    const struct cr_spec *spec = cr_val_spec(x);
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_pool_opts *attr = CR_NEW(arena, struct cr_pool_opts);

    attr->dims = 1;
    attr->divisor_override = CR_INT_NONE;
    attr->output_size = (struct cr_ints){ 1, size };
    if (spec->rank != 3) {
        cr_fail(b, CR_E_SHAPE, "input is %s, expected (N, C, L)",
                cr_diag_format(arena, spec));
        return NULL;
    }
    if (spec->dim[2] % *size != 0) {
        cr_fail(b, CR_E_SHAPE,
                "input %s does not fit: its length must be a multiple of "
                "output_size %lld",
                cr_diag_format(arena, spec), (long long)*size);
        return NULL;
    }
    return CR_EMIT(b, largest ? "max_pool" : "avg_pool", attr, x);
}

static bool pool_padding(struct cr_diag *diag, struct cr_pos pos,
                         const struct cr_pool_opts *o)
{
    int i;

    for (i = 0; i < o->padding.n; i++) {
        if (o->pad_mode != CR_POOL_PAD && o->padding.v[i] != 0)
            return cr_error(diag, pos, CR_E_CONFLICT,
                            "padding requires pad_mode: pad");
        if (o->padding.v[i] > pick(&o->kernel_size, i, 1) / 2)
            return cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                            "padding %lld is more than half of kernel_size "
                            "%lld",
                            (long long)o->padding.v[i],
                            (long long)pick(&o->kernel_size, i, 1));
    }
    return true;
}

bool cr_avg_pool_check(struct cr_diag *diag, struct cr_pos pos,
                       const void *opts)
{
    return pool_padding(diag, pos, opts);
}

bool cr_max_pool_check(struct cr_diag *diag, struct cr_pos pos,
                       const void *opts)
{
    const struct cr_pool_opts *o = opts;
    const char *what = o->ceil_mode        ? "ceil_mode"
                       : o->return_indices ? "return_indices"
                                           : NULL;
    int i;

    for (i = 0; i < o->dilation.n; i++)
        if (o->dilation.v[i] != 1)
            what = "dilation";
    if (what && o->pad_mode != CR_POOL_PAD)
        return cr_error(diag, pos, CR_E_CONFLICT, "%s requires pad_mode: pad",
                        what);
    return pool_padding(diag, pos, opts);
}
