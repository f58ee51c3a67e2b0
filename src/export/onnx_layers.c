/*
 * ONNX nodes of products, convolution, pooling, normalisation and attention.
 */
#include "export/onnx.h"

#include <math.h>
#include <string.h>

#include "export/window.h"
#include "families/attention.h"
#include "graph/op_attrs.h"

enum { SPATIAL_MAX = 3 };

/* ---- Products */

static const char *linear(struct cr_onnx *o, const char *arg)
{
    const char *in[3] = { cr_onnx_in(o, 0), cr_onnx_in(o, 1),
                          cr_onnx_in(o, 2) };
    const char *y;

    if (cr_onnx_val(o, 0)->spec.rank == 2) {
        cr_onnx_int(o, "transB", 1);
        return cr_onnx_node(o, arg, 3, in, 2, 1)[0];
    }
    y = CR_ONNX(o, "MatMul", in[0],
                cr_onnx_transpose(o, in[1], 2, (const int64_t[]){ 1, 0 }));
    return in[2] ? CR_ONNX(o, "Add", y, in[2]) : y;
}

static const char *matmul(struct cr_onnx *o, const char *arg)
{
    return CR_ONNX(o, arg, cr_onnx_in(o, 0), cr_onnx_in(o, 1));
}

/* ---- Convolution */

/* Sets the attributes of a convolution with `rank` spatial dimensions. */
static void conv_attrs(struct cr_onnx *o, int rank, bool transposed)
{
    struct cr_ints stride = cr_inference_ints(o->node, "stride");
    struct cr_ints padding = cr_inference_ints(o->node, "padding");
    struct cr_ints dilation = cr_inference_ints(o->node, "dilation");
    const char *mode = cr_inference_enum(o->arena, o->node, "pad_mode");
    const struct cr_spec *x = &cr_onnx_val(o, 0)->spec;
    const struct cr_spec *w = &cr_onnx_val(o, 1)->spec;
    const struct cr_spec *y = &cr_onnx_out(o, 0)->spec;
    int64_t s[SPATIAL_MAX], d[SPATIAL_MAX], pads[2 * SPATIAL_MAX] = { 0 };
    int64_t more[SPATIAL_MAX];

    for (int i = 0; i < rank; i++) {
        int64_t in = x->dim[2 + i], out = y->dim[2 + i], reach, all;

        s[i] = cr_window_pick(&stride, i, 1);
        d[i] = cr_window_pick(&dilation, i, 1);
        reach = d[i] * (w->dim[w->rank - rank + i] - 1) + 1;
        if (strcmp(mode, "pad") == 0) {
            pads[i] = cr_window_pick(&padding, 2 * i, 0);
            pads[rank + i] = cr_window_pick(&padding, 2 * i + 1, 0);
        } else if (strcmp(mode, "same") == 0) {
            all = transposed ? (in - 1) * s[i] + reach - out
                             : (out - 1) * s[i] + reach - in;
            pads[i] = all > 0 ? all / 2 : 0;
            pads[rank + i] = all > 0 ? all - pads[i] : 0;
        }
        more[i] = out - (s[i] * (in - 1) + reach - pads[i] - pads[rank + i]);
    }
    cr_onnx_ints(o, "strides", rank, s);
    cr_onnx_ints(o, "dilations", rank, d);
    cr_onnx_ints(o, "pads", 2 * rank, pads);
    if (transposed)
        cr_onnx_ints(o, "output_padding", rank, more);
    cr_onnx_int(o, "group", cr_inference_int(o->node, "groups"));
}

static const char *conv(struct cr_onnx *o, const char *arg)
{
    int rank = cr_onnx_val(o, 0)->spec.rank - 2;
    const char *in[3] = { cr_onnx_in(o, 0), cr_onnx_in(o, 1),
                          cr_onnx_in(o, 2) };

    if (strcmp(cr_inference_enum(o->arena, o->node, "pad_mode"), "same") == 0 &&
        cr_onnx_varies(cr_onnx_val(o, 0), 2))
        return cr_onnx_no(o, "it pads the batch");
    if (rank == 1) /* the weight of a 1-D convolution is (o, c, 1, k) */
        in[1] = cr_onnx_squeeze(o, in[1], 2);
    conv_attrs(o, rank, strcmp(arg, "ConvTranspose") == 0);
    return cr_onnx_node(o, arg, 3, in, 2, 1)[0];
}

/* ---- Pooling */

static void pool_attrs(struct cr_onnx *o, int dims,
                       const struct cr_pool_window *w,
                       bool padded)
{
    int64_t kernel[SPATIAL_MAX] = { 0 }, stride[SPATIAL_MAX] = { 0 };
    int64_t dilation[SPATIAL_MAX] = { 0 }, pads[2 * SPATIAL_MAX] = { 0 };
    bool dilated = false;

    for (int i = 0; i < dims; i++) {
        kernel[i] = w[i].kernel;
        stride[i] = w[i].stride;
        dilation[i] = w[i].dilation;
        dilated = dilated || w[i].dilation > 1;
        pads[i] = padded ? w[i].before : 0;
        pads[dims + i] = padded ? w[i].after + w[i].beyond : 0;
    }
    cr_onnx_ints(o, "kernel_shape", dims, kernel);
    cr_onnx_ints(o, "strides", dims, stride);
    cr_onnx_ints(o, "pads", 2 * dims, pads);
    if (dilated)
        cr_onnx_ints(o, "dilations", dims, dilation);
}

/* The number of elements that window k counts. */
static double pool_counted(const struct cr_pool_window *w, int64_t k,
                           bool padding)
{
    int64_t from = k * w->stride - w->before, n = 0;

    for (int64_t i = 0; i < w->kernel; i++) {
        int64_t at = from + i * w->dilation;

        n += padding ? at < w->in + w->after : at >= 0 && at < w->in;
    }
    return (double)n;
}

/* Divides sums over windows: the input is the means over `volume` elements. */
static const char *pool_divide(struct cr_onnx *o, const char *x, int dims,
                               const struct cr_pool_window *w, bool padding,
                               int64_t divisor, double volume)
{
    struct cr_spec spec = { .type = CR_REAL, .rank = dims };
    int64_t n, left;
    cr_real *v;

    for (int i = 0; i < dims; i++)
        spec.dim[i] = w[i].out;
    n = cr_count(&spec);
    v = CR_NEWS(o->arena, cr_real, n);
    for (int64_t k = 0; k < n; k++) {
        double count = 1;

        left = k;
        for (int i = dims; i-- > 0; left /= w[i].out)
            count *= pool_counted(&w[i], left % w[i].out, padding);
        v[k] = (cr_real)(volume / (divisor > 0 ? (double)divisor : count));
    }
    return CR_ONNX(o, "Mul", x, cr_onnx_reals(o, &spec, v));
}

/* The matrix of adaptive means along one dimension: (in, out), or its
 * transpose. */
static const char *pool_matrix(struct cr_onnx *o, int64_t in, int64_t out,
                               bool transposed)
{
    struct cr_spec spec = transposed ? CR_SPEC(out, in) : CR_SPEC(in, out);
    cr_real *v = CR_NEWS(o->arena, cr_real, in * out);

    for (int64_t k = 0; k < out; k++) {
        int64_t from = k * in / out, to = ((k + 1) * in + out - 1) / out;

        for (int64_t i = from; i < to; i++)
            v[transposed ? k * in + i : i * out + k] =
                (cr_real)(1.0 / (double)(to - from));
    }
    return cr_onnx_reals(o, &spec, v);
}

/* Whether windows of adaptive pooling differ in size. */
static bool pool_uneven(const struct cr_pool_opts *a, int dims,
                        const struct cr_pool_window *w)
{
    for (int i = 0; i < dims && a->output_size.n > 0; i++)
        if (w[i].in % w[i].out != 0)
            return true;
    return false;
}

static const char *pool_mean(struct cr_onnx *o, const char *x, int dims,
                             const struct cr_pool_window *w)
{
    const struct cr_pool_opts *a = o->node->attr;
    bool padding = cr_pool_counts_pad(a);
    int64_t divisor = a->divisor_override == CR_INT_NONE ||
                              a->output_size.n > 0
                          ? 0
                          : a->divisor_override;
    int64_t pads[2 * (SPATIAL_MAX + 2)] = { 0 };
    double volume = 1;
    bool beyond = false, padded = false;
    int rank = dims + 2;

    for (int i = 0; i < dims; i++) {
        beyond = beyond || w[i].beyond > 0;
        padded = padded || w[i].before + w[i].after > 0;
        volume *= (double)w[i].kernel;
        pads[2 + i] = w[i].before;
        pads[rank + 2 + i] = w[i].after + w[i].beyond;
    }
    if (!beyond && divisor == 0) {
        pool_attrs(o, dims, w, true);
        cr_onnx_int(o, "count_include_pad", padding);
        return CR_ONNX(o, "AveragePool", x);
    }
    if (beyond || padded) {
        cr_onnx_text(o, "mode", "constant");
        x = CR_ONNX(o, "Pad", x, cr_onnx_list(o, 2 * rank, pads));
    }
    pool_attrs(o, dims, w, false);
    x = CR_ONNX(o, "AveragePool", x);
    return pool_divide(o, x, dims, w, padding, divisor, volume);
}

static const char *pool_max(struct cr_onnx *o, const char *x, int dims,
                            const struct cr_pool_window *w)
{
    int64_t plane = 1;
    const char **y;

    pool_attrs(o, dims, w, true);
    if (o->node->n_out == 1)
        return CR_ONNX(o, "MaxPool", x);
    /* ONNX counts through all planes */
    for (int i = 0; i < dims; i++)
        plane *= w[i].in;
    y = cr_onnx_node(o, "MaxPool", 1, &x, 1, 2);
    cr_onnx_result(
        o, 1,
        cr_onnx_cast(o,
                     CR_ONNX(o, "Mod", y[1],
                             cr_onnx_number(o, CR_I64, (double)plane)),
                     CR_I32));
    return y[0];
}

static const char *pool(struct cr_onnx *o, const char *arg)
{
    const struct cr_pool_opts *a = o->node->attr;
    const struct cr_spec *x = &cr_onnx_val(o, 0)->spec;
    const struct cr_spec *y = &cr_onnx_out(o, 0)->spec;
    int dims = a->dims > 0 ? (int)a->dims : x->rank - 2;
    bool mean = strcmp(arg, "mean") == 0, whole = x->rank == dims + 1;
    struct cr_pool_window w[SPATIAL_MAX];
    const char *in = cr_onnx_in(o, 0);

    if (cr_onnx_varies(cr_onnx_val(o, 0), x->rank - dims))
        return cr_onnx_no(o, "it pools the batch");
    for (int i = 0; i < dims; i++)
        w[i] = cr_window_of_pool(a, i, x->dim[x->rank - dims + i],
                           y->dim[x->rank - dims + i]);
    if (pool_uneven(a, dims, w) && (!mean || dims > 2))
        return cr_onnx_no(o, "the windows differ in size");
    if (pool_uneven(a, dims, w)) {
        in = CR_ONNX(o, "MatMul", in,
                     pool_matrix(o, w[dims - 1].in, w[dims - 1].out, false));
        return dims == 1 ? in
                         : CR_ONNX(o, "MatMul",
                                   pool_matrix(o, w[0].in, w[0].out, true), in);
    }
    if (whole && o->node->n_out > 1)
        return cr_onnx_no(o, "it pools without a batch");
    if (whole)
        in = cr_onnx_unsqueeze(o, in, 0);
    in = mean ? pool_mean(o, in, dims, w) : pool_max(o, in, dims, w);
    return whole ? cr_onnx_squeeze(o, in, 0) : in;
}

/* The factors of the sizes for positions that come from them, or NULL. */
static const char *upsample_scales(struct cr_onnx *o)
{
    struct cr_reals step = cr_inference_reals(o->node, "step");
    struct cr_spec spec = CR_SPEC(cr_onnx_val(o, 0)->spec.rank);
    cr_real scale[CR_RANK_MAX] = { 1, 1 };
    int64_t i, at;

    if (step.v[step.n - 1] <= 0)
        return NULL;
    for (i = 2; i < spec.dim[0]; i++) {
        at = step.n - spec.dim[0] + i;
        scale[i] = (cr_real)(1 / step.v[at]);
    }
    return cr_onnx_reals(o, &spec, scale);
}

static const char *upsample(struct cr_onnx *o, const char *arg)
{
    bool linear = cr_inference_bool(o->node, "linear");
    bool exact = cr_inference_bool(o->node, "exact");
    const char *scales = upsample_scales(o);
    const char *in[4] = { cr_onnx_in(o, 0), "", scales ? scales : "" };

    if (!scales)
        in[3] = cr_onnx_shape_of(o, cr_onnx_out(o, 0));
    cr_onnx_text(o, "mode", linear ? "linear" : "nearest");
    cr_onnx_text(o, "coordinate_transformation_mode",
                 cr_inference_bool(o->node, "align") ? "align_corners"
                 : linear || exact                   ? "half_pixel"
                                                     : "asymmetric");
    cr_onnx_text(o, "nearest_mode", exact ? "round_prefer_ceil" : "floor");
    return cr_onnx_node(o, arg, scales ? 3 : 4, in, 1, 1)[0];
}

/* The distances are exact here, and multiples of 1/1024 in the op. */
static const char *bicubic(struct cr_onnx *o, const char *arg)
{
    bool align = cr_inference_bool(o->node, "align");
    const char *in[4] = { cr_onnx_in(o, 0), "", "",
                          cr_onnx_shape_of(o, cr_onnx_out(o, 0)) };

    cr_onnx_text(o, "mode", "cubic");
    cr_onnx_text(o, "coordinate_transformation_mode",
                 align ? "align_corners" : "half_pixel");
    cr_onnx_float(o, "cubic_coeff_a", align ? -0.75 : -0.5);
    cr_onnx_int(o, "exclude_outside", !align);
    return cr_onnx_node(o, arg, 4, in, 1, 1)[0];
}

/* ---- Normalisation */

/* (x - mean) / sqrt(variance + eps) over axes. */
static const char *standardized(struct cr_onnx *o, const char *x, int n,
                                const int64_t *axes, double eps)
{
    const char *mean, *var;

    cr_onnx_ints(o, "axes", n, axes);
    cr_onnx_int(o, "keepdims", 1);
    mean = CR_ONNX(o, "ReduceMean", x);
    x = CR_ONNX(o, "Sub", x, mean);
    var = CR_ONNX(o, "Mul", x, x);
    cr_onnx_ints(o, "axes", n, axes);
    cr_onnx_int(o, "keepdims", 1);
    var = CR_ONNX(o, "ReduceMean", var);
    var = CR_ONNX(o, "Add", var, cr_onnx_number(o, CR_REAL, eps));
    return CR_ONNX(o, "Div", x, CR_ONNX(o, "Sqrt", var));
}

/* x gamma + beta, inputs 1 and 2 of the node, per channel. */
static const char *affine(struct cr_onnx *o, const char *x)
{
    int64_t shape[CR_RANK_MAX];
    int n = cr_onnx_val(o, 0)->spec.rank - 1;

    for (int i = 0; i < n; i++)
        shape[i] = i == 0 ? -1 : 1;
    x = CR_ONNX(o, "Mul", x, cr_onnx_to(o, cr_onnx_in(o, 1), n, shape));
    return CR_ONNX(o, "Add", x, cr_onnx_to(o, cr_onnx_in(o, 2), n, shape));
}

static const char *batch_norm(struct cr_onnx *o, const char *arg)
{
    const struct cr_batch_norm *a = o->node->attr;
    int64_t axes[CR_RANK_MAX] = { 0 };
    int rank = cr_onnx_val(o, 0)->spec.rank;
    const char *in[5];

    for (int i = 0; i < 5; i++)
        in[i] = cr_onnx_in(o, i);
    if (a->use_batch_statistics == 1) {
        for (int i = 2; i < rank; i++)
            axes[i - 1] = i;
        return affine(o, standardized(o, in[0], rank - 1, axes, a->eps));
    }
    cr_onnx_float(o, "epsilon", a->eps);
    return cr_onnx_op(o, arg, 5, in);
}

/* Groups of channels are the channels of an InstanceNormalization. */
static const char *group_norm(struct cr_onnx *o, const char *arg)
{
    const struct cr_group_norm *a = o->node->attr;
    const struct cr_inference_val *x = cr_onnx_val(o, 0);
    struct cr_spec groups = CR_SPEC(a->num_groups);
    cr_real *one = CR_NEWS(o->arena, cr_real, a->num_groups);
    cr_real *zero = CR_NEWS(o->arena, cr_real, a->num_groups);
    const char *y = cr_onnx_in(o, 0);
    const char *scale, *bias;

    if (x->spec.rank > 2 && a->num_groups == x->spec.dim[1]) {
        scale = cr_onnx_in(o, 1);
        bias = cr_onnx_in(o, 2);
        cr_onnx_float(o, "epsilon", a->eps);
        return CR_ONNX(o, arg, y, scale, bias);
    }
    for (int64_t i = 0; i < a->num_groups; i++)
        one[i] = 1;
    y = cr_onnx_to(o, y, 3, (const int64_t[]){ 0, a->num_groups, -1 });
    scale = cr_onnx_reals(o, &groups, one);
    bias = cr_onnx_reals(o, &groups, zero);
    cr_onnx_float(o, "epsilon", a->eps);
    y = CR_ONNX(o, arg, y, scale, bias);
    return affine(o, cr_onnx_reshape(o, y, cr_onnx_out(o, 0)));
}

static const char *layer_norm(struct cr_onnx *o, const char *arg)
{
    const struct cr_layer_norm *a = o->node->attr;
    int rank = cr_onnx_val(o, 0)->spec.rank;
    int64_t from = a->begin_norm_axis, params = a->begin_params_axis;
    int64_t axes[CR_RANK_MAX];
    const char *in[3] = { cr_onnx_in(o, 0), cr_onnx_in(o, 1),
                          cr_onnx_in(o, 2) };

    from += from < 0 ? rank : 0;
    params += params < 0 ? rank : 0;
    if (from == params) {
        cr_onnx_int(o, "axis", from);
        cr_onnx_float(o, "epsilon", a->epsilon);
        return cr_onnx_op(o, arg, 3, in);
    }
    for (int i = (int)from; i < rank; i++)
        axes[i - from] = i;
    in[0] = standardized(o, in[0], rank - (int)from, axes, a->epsilon);
    return CR_ONNX(o, "Add", CR_ONNX(o, "Mul", in[0], in[1]), in[2]);
}

/* D = bias + alpha sum; ONNX divides alpha by the number of channels. */
static const char *lrn(struct cr_onnx *o, const char *arg)
{
    int64_t size = 2 * cr_inference_int(o->node, "depth_radius") + 1;

    cr_onnx_float(o, "alpha",
                  cr_inference_real(o->node, "alpha") * (double)size);
    cr_onnx_float(o, "beta", cr_inference_real(o->node, "beta"));
    cr_onnx_float(o, "bias", cr_inference_real(o->node, "bias"));
    cr_onnx_int(o, "size", size);
    return CR_ONNX(o, arg, cr_onnx_in(o, 0));
}

/* ---- Attention */

/* (N, L, E) as (N, heads, L, E / heads), or with the last two swapped. */
static const char *attention_heads(struct cr_onnx *o, const char *x,
                                   int64_t heads, int64_t dim, bool swapped)
{
    x = cr_onnx_to(o, x, 4, (const int64_t[]){ 0, 0, heads, dim });
    return cr_onnx_transpose(o, x, 4,
                             swapped ? (const int64_t[]){ 0, 2, 3, 1 }
                                     : (const int64_t[]){ 0, 2, 1, 3 });
}

/* An input as (N, L, E). */
static const char *attention_rows(struct cr_onnx *o, const char *x)
{
    if (cr_onnx_val(o, 0)->spec.rank == 2)
        return cr_onnx_unsqueeze(o, x, 0);
    if (cr_inference_bool(o->node, "batch_first"))
        return x;
    return cr_onnx_transpose(o, x, 3, (const int64_t[]){ 1, 0, 2 });
}

/* Scores with a mask, input i of the node, which `x` has been made of: hidden
 * keys become -inf, real numbers are added. */
static const char *attention_masked(struct cr_onnx *o, int i, const char *x,
                                    const char *scores)
{
    if (cr_onnx_val(o, i)->spec.type == CR_REAL)
        return CR_ONNX(o, "Add", scores, x);
    return CR_ONNX(o, "Where", cr_onnx_cast(o, x, CR_BOOL),
                   cr_onnx_number(o, CR_REAL, -(double)INFINITY), scores);
}

static const char *attention_masks(struct cr_onnx *o, int64_t heads,
                                   const char *scores)
{
    const struct cr_inference_val *pad = cr_onnx_val(o, CR_ATTN_PAD);
    const struct cr_inference_val *mask = cr_onnx_val(o, CR_ATTN_MASK);
    const char *x;

    if (mask) {
        int64_t shape[] = { -1, heads, mask->spec.dim[mask->spec.rank - 2],
                            mask->spec.dim[mask->spec.rank - 1] };

        x = cr_onnx_in(o, CR_ATTN_MASK);
        if (mask->spec.rank == 3)
            x = cr_onnx_to(o, x, 4, shape);
        scores = attention_masked(o, CR_ATTN_MASK, x, scores);
    }
    if (pad) {
        int64_t shape[] = { -1, 1, 1, pad->spec.dim[pad->spec.rank - 1] };

        x = cr_onnx_to(o, cr_onnx_in(o, CR_ATTN_PAD), 4, shape);
        scores = attention_masked(o, CR_ATTN_PAD, x, scores);
    }
    return scores;
}

/* The factors of values as the node gives them. */
static const char *attention_weights(struct cr_onnx *o, const char *p)
{
    if (cr_inference_bool(o->node, "average_attn_weights")) {
        cr_onnx_ints(o, "axes", 1, (const int64_t[]){ 1 });
        cr_onnx_int(o, "keepdims", 0);
        p = CR_ONNX(o, "ReduceMean", p);
    }
    return cr_onnx_val(o, CR_ATTN_Q)->spec.rank == 2
               ? cr_onnx_squeeze(o, p, 0)
               : p;
}

/* The sum of values, with its factors as a second result if somebody reads
 * them, or with arg "weights" the factors alone. */
static const char *attention(struct cr_onnx *o, const char *arg)
{
    const struct cr_spec *q = &cr_onnx_val(o, CR_ATTN_Q)->spec;
    const struct cr_inference_val *key = cr_onnx_val(o, CR_ATTN_K);
    const struct cr_inference_val *mask = cr_onnx_val(o, CR_ATTN_MASK);
    const struct cr_inference_val *pad = cr_onnx_val(o, CR_ATTN_PAD);
    int64_t heads = cr_inference_int(o->node, "num_heads");
    int64_t e = q->dim[q->rank - 1] / (key ? 1 : 3), dim = e / heads;
    const char *part[3], **third, *y;

    for (int i = 0; i < 3; i++)
        part[i] = cr_onnx_in(o, i);
    if ((mask && cr_onnx_varies(mask, mask->spec.rank - 2)) ||
        (pad && cr_onnx_varies(pad, pad->spec.rank - 1)))
        return cr_onnx_no(o, "the size of its mask depends on the batch size");
    if (!key) {
        cr_onnx_int(o, "axis", -1);
        third = cr_onnx_node(o, "Split", 1, part, 1, 3);
        memcpy(part, third, sizeof part);
    }
    part[2] = part[2] ? part[2] : part[1];
    for (int i = 0; i < 3; i++)
        part[i] = attention_heads(o, attention_rows(o, part[i]), heads, dim,
                                  i == CR_ATTN_K);
    y = CR_ONNX(o, "MatMul", part[0], part[1]);
    y = CR_ONNX(o, "Mul", y,
                cr_onnx_number(o, CR_REAL, 1 / sqrt((double)dim)));
    y = attention_masks(o, heads, y);
    cr_onnx_int(o, "axis", -1);
    y = CR_ONNX(o, "Softmax", y);
    if (strcmp(arg, "weights") == 0)
        return attention_weights(o, y);
    if (o->node->n_out > 1 && cr_onnx_out(o, 1)->uses > 0)
        cr_onnx_result(o, 1, attention_weights(o, y));
    y = CR_ONNX(o, "MatMul", y, part[2]);
    y = cr_onnx_transpose(o, y, 4, (const int64_t[]){ 0, 2, 1, 3 });
    y = cr_onnx_to(o, y, 3, (const int64_t[]){ 0, 0, e });
    if (q->rank == 2)
        return cr_onnx_squeeze(o, y, 0);
    return cr_inference_bool(o->node, "batch_first")
               ? y
               : cr_onnx_transpose(o, y, 3, (const int64_t[]){ 1, 0, 2 });
}

const struct cr_onnx_emitter cr_onnx_layers[] = {
    { "attention", attention, "sum", false },
    { "attention_weights", attention, "weights", false },
    { "avg_pool", pool, "mean", false },
    { "batch_norm", batch_norm, "BatchNormalization", false },
    { "conv2d", conv, "Conv", false },
    { "conv2d_transpose", conv, "ConvTranspose", false },
    { "conv3d_transpose", conv, "ConvTranspose", false },
    { "conv3d", conv, "Conv", false },
    { "group_norm", group_norm, "InstanceNormalization", false },
    { "layer_norm", layer_norm, "LayerNormalization", false },
    { "linear", linear, "Gemm", false },
    { "lrn", lrn, "LRN", false },
    { "matmul", matmul, "MatMul", false },
    { "max_pool", pool, "max", false },
    { "max_pool_indices", pool, "max", false },
    { "upsample", upsample, "Resize", false },
    { "bicubic", bicubic, "Resize", false },
    { 0 },
};
