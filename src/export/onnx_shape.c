/*
 * ONNX nodes of ops that move elements.
 */
#include "export/onnx.h"

#include <string.h>

#include "graph/op_attrs.h"

/* ---- Shapes */

static const char *reshape(struct cr_onnx *o, const char *arg)
{
    (void)arg;
    return cr_onnx_reshape(o, cr_onnx_in(o, 0), cr_onnx_out(o, 0));
}

static const char *expand(struct cr_onnx *o, const char *arg)
{
    return CR_ONNX(o, arg, cr_onnx_in(o, 0),
                   cr_onnx_shape_of(o, cr_onnx_out(o, 0)));
}

/* A tensor of one value, whose shape depends on the batch size; others are
 * constants. */
static const char *filled(struct cr_onnx *o, double value)
{
    const struct cr_inference_val *y = cr_onnx_out(o, 0);

    return CR_ONNX(o, "Expand", cr_onnx_number(o, y->spec.type, value),
                   cr_onnx_shape_of(o, y));
}

static const char *zeros_like(struct cr_onnx *o, const char *arg)
{
    (void)arg;
    return filled(o, 0);
}

static const char *ones_like(struct cr_onnx *o, const char *arg)
{
    (void)arg;
    return filled(o, 1);
}

static const char *constant(struct cr_onnx *o, const char *arg)
{
    const struct cr_constant *a = o->node->attr, *b = o->node->other_attr;

    (void)arg;
    if (a->value.n != 1 || b->value.n != 1 || a->value.v[0] != b->value.v[0])
        return cr_onnx_no(o, "its values depend on the batch size");
    return filled(o, a->value.v[0]);
}

/* ---- Axes */

static const char *transpose(struct cr_onnx *o, const char *arg)
{
    struct cr_ints perm = cr_inference_ints(o->node, "input_perm");
    int rank = cr_onnx_val(o, 0)->spec.rank;
    int64_t to[CR_RANK_MAX];

    (void)arg;
    for (int i = 0; i < rank; i++) {
        to[i] = perm.n > 0 ? perm.v[i] : rank - 1 - i;
        to[i] += to[i] < 0 ? rank : 0;
    }
    return cr_onnx_transpose(o, cr_onnx_in(o, 0), rank, to);
}

static const char *channels_first(struct cr_onnx *o, const char *arg)
{
    int rank = cr_onnx_val(o, 0)->spec.rank;
    int64_t to[CR_RANK_MAX] = { 0, rank - 1 };

    (void)arg;
    for (int i = 2; i < rank; i++)
        to[i] = i - 1;
    return cr_onnx_transpose(o, cr_onnx_in(o, 0), rank, to);
}

static const char *channels_last(struct cr_onnx *o, const char *arg)
{
    int rank = cr_onnx_val(o, 0)->spec.rank;
    int64_t to[CR_RANK_MAX] = { 0 };

    (void)arg;
    to[rank - 1] = 1;
    for (int i = 1; i < rank - 1; i++)
        to[i] = i + 1;
    return cr_onnx_transpose(o, cr_onnx_in(o, 0), rank, to);
}

static const char *channel_shuffle(struct cr_onnx *o, const char *arg)
{
    static const int64_t perm[] = { 0, 2, 1, 3 };
    int64_t g = cr_inference_int(o->node, "groups");
    /* 0: the dimension of the input */
    int64_t to[] = { 0, g, cr_onnx_val(o, 0)->spec.dim[1] / g, -1 };
    const char *x = cr_onnx_to(o, cr_onnx_in(o, 0), 4, to);

    (void)arg;
    return cr_onnx_reshape(o, cr_onnx_transpose(o, x, 4, perm),
                           cr_onnx_out(o, 0));
}

/* ---- Joining and splitting */

static const char *concat(struct cr_onnx *o, const char *arg)
{
    const char *in[CR_OP_MAX];
    int64_t axis = cr_inference_int(o->node, "axis");

    for (int i = 0; i < o->node->n_in; i++)
        in[i] = cr_onnx_in(o, i);
    cr_onnx_int(o, "axis", axis);
    return cr_onnx_op(o, arg, o->node->n_in, in);
}

static const char *stack(struct cr_onnx *o, const char *arg)
{
    const char *in[CR_OP_MAX];
    int64_t axis = cr_inference_int(o->node, "axis");

    for (int i = 0; i < o->node->n_in; i++)
        in[i] = cr_onnx_unsqueeze(o, cr_onnx_in(o, i), axis);
    cr_onnx_int(o, "axis", axis);
    return cr_onnx_op(o, arg, o->node->n_in, in);
}

static const char *split(struct cr_onnx *o, const char *arg)
{
    int64_t size[CR_OP_MAX], axis = cr_inference_int(o->node, "axis");
    const char *in[2] = { cr_onnx_in(o, 0) }, **y;

    axis += axis < 0 ? cr_onnx_val(o, 0)->spec.rank : 0;
    for (int i = 0; i < o->node->n_out; i++) {
        size[i] = cr_onnx_out(o, i)->spec.dim[axis];
        if (cr_onnx_out(o, i)->per_sample[axis] != 0)
            return cr_onnx_no(o, "it splits the batch");
    }
    in[1] = cr_onnx_list(o, o->node->n_out, size);
    cr_onnx_int(o, "axis", axis);
    y = cr_onnx_node(o, arg, 2, in, 2, o->node->n_out);
    for (int i = 1; i < o->node->n_out; i++)
        cr_onnx_result(o, i, y[i]);
    return y[0];
}

/* Bounds of slices have the same meaning in ONNX; one that is the batch size is
 * the end. */
static const char *strided_slice(struct cr_onnx *o, const char *arg)
{
    const struct cr_slice *a = o->node->attr, *b = o->node->other_attr;
    const struct cr_inference_val *x = cr_onnx_val(o, 0);
    int64_t from[CR_RANK_MAX], to[CR_RANK_MAX], axis[CR_RANK_MAX];
    int64_t step[CR_RANK_MAX];

    for (int i = 0; i < a->begin.n; i++) {
        axis[i] = i;
        from[i] = a->begin.v[i];
        to[i] = a->end.v[i];
        step[i] = a->step.n > 0 ? a->step.v[i] : 1;
        if (a->end.v[i] >= x->spec.dim[i] &&
            b->end.v[i] >= x->fixed[i] +
                               CR_INFERENCE_OTHER_BATCH * x->per_sample[i])
            to[i] = INT64_MAX;
        else if (step[i] < 0 && to[i] < -x->spec.dim[i])
            to[i] = INT64_MIN + 1;
        else if (a->end.v[i] != b->end.v[i])
            return cr_onnx_no(o, "its end depends on the batch size");
        if (a->begin.v[i] != b->begin.v[i])
            return cr_onnx_no(o, "its begin depends on the batch size");
    }
    return CR_ONNX(o, arg, cr_onnx_in(o, 0),
                   cr_onnx_list(o, a->begin.n, from),
                   cr_onnx_list(o, a->begin.n, to),
                   cr_onnx_list(o, a->begin.n, axis),
                   cr_onnx_list(o, a->begin.n, step));
}

static const char *tile(struct cr_onnx *o, const char *arg)
{
    struct cr_ints dims = cr_inference_ints(o->node, "dims");
    const struct cr_inference_val *x = cr_onnx_val(o, 0);
    int64_t copies[CR_RANK_MAX];
    int rank = cr_onnx_out(o, 0)->spec.rank;
    const char *in = cr_onnx_in(o, 0);

    for (int i = 0; i < rank; i++) {
        int at = i - (rank - dims.n);

        copies[i] = at < 0 ? 1 : dims.v[at];
    }
    for (int i = x->spec.rank; i < rank; i++)
        in = cr_onnx_unsqueeze(o, in, 0);
    return CR_ONNX(o, arg, in, cr_onnx_list(o, rank, copies));
}

/* ---- Padding */

/* Elements of the other end, axis by axis. */
static const char *pad_circular(struct cr_onnx *o, const struct cr_ints *pad)
{
    const struct cr_inference_val *x = cr_onnx_val(o, 0);
    const char *y = cr_onnx_in(o, 0);

    for (int k = 0; k < pad->n / 2; k++) {
        int64_t axis = x->spec.rank - 1 - k, n = x->spec.dim[axis];
        int64_t before = pad->v[2 * k], after = pad->v[2 * k + 1];
        const char *part[3];
        int parts = 0;

        if (before > 0)
            part[parts++] = cr_onnx_slice(o, y, axis, n - before, n);
        part[parts++] = y;
        if (after > 0)
            part[parts++] = cr_onnx_slice(o, y, axis, 0, after);
        cr_onnx_int(o, "axis", axis);
        y = cr_onnx_op(o, "Concat", parts, part);
    }
    return y;
}

static const char *pad(struct cr_onnx *o, const char *arg)
{
    struct cr_ints padding = cr_inference_ints(o->node, "padding");
    const char *mode = cr_inference_enum(o->arena, o->node, "mode");
    const struct cr_inference_val *x = cr_onnx_val(o, 0);
    int64_t pads[2 * CR_RANK_MAX] = { 0 };
    int rank = x->spec.rank;
    const char *list;

    for (int k = 0; k < padding.n / 2; k++) {
        pads[rank - 1 - k] = padding.v[2 * k];
        pads[2 * rank - 1 - k] = padding.v[2 * k + 1];
        if (x->per_sample[rank - 1 - k] != 0 && strcmp(mode, "circular") == 0 &&
            padding.v[2 * k] + padding.v[2 * k + 1] > 0)
            return cr_onnx_no(o, "it pads the batch");
    }
    if (strcmp(mode, "circular") == 0)
        return pad_circular(o, &padding);
    list = cr_onnx_list(o, 2 * rank, pads);
    cr_onnx_text(o, "mode", strcmp(mode, "replicate") == 0 ? "edge" : mode);
    if (strcmp(mode, "constant") != 0)
        return CR_ONNX(o, arg, cr_onnx_in(o, 0), list);
    return CR_ONNX(o, arg, cr_onnx_in(o, 0), list,
                   cr_onnx_number(o, x->spec.type,
                                  cr_inference_real(o->node, "value")));
}

/* The first n elements along an axis, or the last n, in reverse order. */
static const char *reversed(struct cr_onnx *o, const char *x, int64_t axis,
                            bool last, int64_t n, int64_t size)
{
    int64_t from = last ? -1 : n - 1, to = last ? size - n - 1 : -1;

    return CR_ONNX(o, "Slice", x, cr_onnx_one(o, from),
                   cr_onnx_one(o, to < 0 ? INT64_MIN + 1 : to),
                   cr_onnx_one(o, axis), cr_onnx_one(o, -1));
}

/* The cell Pad: pairs from the first axis on. */
static const char *mirror(struct cr_onnx *o, const char *arg)
{
    struct cr_ints pairs = cr_inference_ints(o->node, "paddings");
    const char *mode = cr_inference_enum(o->arena, o->node, "mode");
    const struct cr_inference_val *x = cr_onnx_val(o, 0);
    int64_t pads[2 * CR_RANK_MAX];
    int rank = x->spec.rank;
    const char *y = cr_onnx_in(o, 0);

    for (int i = 0; i < rank; i++) {
        pads[i] = pairs.v[2 * i];
        pads[rank + i] = pairs.v[2 * i + 1];
        if (x->per_sample[i] != 0 && pads[i] + pads[rank + i] > 0)
            return cr_onnx_no(o, "it pads the batch");
    }
    if (strcmp(mode, "SYMMETRIC") != 0) {
        cr_onnx_text(o, "mode",
                     strcmp(mode, "REFLECT") == 0 ? "reflect" : "constant");
        return CR_ONNX(o, arg, y, cr_onnx_list(o, 2 * rank, pads));
    }
    for (int i = 0; i < rank; i++) {
        const char *part[3];
        int parts = 0;

        if (pads[i] > 0)
            part[parts++] = reversed(o, y, i, false, pads[i], x->spec.dim[i]);
        part[parts++] = y;
        if (pads[rank + i] > 0)
            part[parts++] =
                reversed(o, y, i, true, pads[rank + i], x->spec.dim[i]);
        if (parts == 1)
            continue;
        cr_onnx_int(o, "axis", i);
        y = cr_onnx_op(o, "Concat", parts, part);
    }
    return y;
}

/* ---- Indices */

static const char *gather(struct cr_onnx *o, const char *arg)
{
    const struct cr_gather *a = o->node->attr;
    const struct cr_inference_val *x = cr_onnx_val(o, 0);
    const struct cr_inference_val *index = cr_onnx_val(o, 1);
    int64_t axis = cr_inference_int(o->node, "axis");
    const char *i = cr_onnx_in(o, 1), *valid, *y;

    axis += axis < 0 ? x->spec.rank : 0;
    if (!a || a->negative != CR_INDEX_ZERO) {
        cr_onnx_int(o, "axis", axis);
        return CR_ONNX(o, arg, cr_onnx_in(o, 0), i);
    }
    valid = CR_ONNX(
        o, "And",
        CR_ONNX(o, "GreaterOrEqual", i, cr_onnx_number(o, CR_I32, 0)),
        CR_ONNX(o, "Less", i,
                cr_onnx_number(o, CR_I32, (double)x->spec.dim[axis])));
    i = CR_ONNX(o, "Where", valid, i, cr_onnx_number(o, CR_I32, 0));
    y = cr_onnx_in(o, 0);
    cr_onnx_int(o, "axis", axis);
    y = CR_ONNX(o, arg, y, i);
    for (int k = (int)axis + 1; k < x->spec.rank; k++)
        valid = cr_onnx_unsqueeze(o, valid, index->spec.rank + k - 1 - axis);
    return CR_ONNX(o, "Where", valid, y, cr_onnx_number(o, x->spec.type, 0));
}

/* An index out of range gives off_value everywhere; OneHot counts negative
 * ones from the end. */
static const char *one_hot(struct cr_onnx *o, const char *arg)
{
    struct cr_spec two = CR_SPEC(2);
    cr_real values[2] = { (cr_real)cr_inference_real(o->node, "off_value"),
                          (cr_real)cr_inference_real(o->node, "on_value") };
    double depth = (double)cr_inference_int(o->node, "depth");
    const char *i = cr_onnx_cast(o, cr_onnx_in(o, 0), CR_I64), *n, *v;

    n = cr_onnx_number(o, CR_I64, depth);
    i = CR_ONNX(o, "Where",
                CR_ONNX(o, "Less", i, cr_onnx_number(o, CR_I64, 0)), n, i);
    v = cr_onnx_reals(o, &two, values);
    cr_onnx_int(o, "axis", cr_inference_int(o->node, "axis"));
    return CR_ONNX(o, arg, i, n, v);
}

/* The k first of the elements in order, and their indices. */
static const char *top(struct cr_onnx *o, int64_t k, int64_t axis, bool largest)
{
    const char *in[2] = { cr_onnx_in(o, 0), cr_onnx_one(o, k) }, **y;

    if (cr_onnx_val(o, 0)->spec.type != CR_REAL)
        in[0] = cr_onnx_cast(o, in[0], CR_REAL);
    cr_onnx_int(o, "axis", axis);
    cr_onnx_int(o, "largest", largest);
    y = cr_onnx_node(o, "TopK", 2, in, 2, 2);
    cr_onnx_result(o, 1, cr_onnx_cast(o, y[1], CR_I32));
    return y[0];
}

static const char *topk(struct cr_onnx *o, const char *arg)
{
    (void)arg;
    return top(o, cr_inference_int(o->node, "k"),
               cr_inference_int(o->node, "dim"),
               cr_inference_bool(o->node, "largest"));
}

static const char *sort(struct cr_onnx *o, const char *arg)
{
    const struct cr_inference_val *x = cr_onnx_val(o, 0);
    int64_t axis = cr_inference_int(o->node, "axis");

    (void)arg;
    axis += axis < 0 ? x->spec.rank : 0;
    if (x->per_sample[axis] != 0)
        return cr_onnx_no(o, "it sorts the batch");
    return top(o, x->spec.dim[axis], axis,
               cr_inference_bool(o->node, "descending"));
}

/* Segments of no index get a row more, which is cut off again. */
static const char *segment_sum(struct cr_onnx *o, const char *arg)
{
    const struct cr_inference_val *y = cr_onnx_out(o, 0);
    const char *i = cr_onnx_cast(o, cr_onnx_in(o, 1), CR_I64);
    int64_t n = y->spec.dim[0];
    struct cr_inference_val more = *y;
    const char *zeros, *sum;

    if (y->per_sample[0] != 0)
        return cr_onnx_no(o, "the number of segments depends on the batch");
    more.spec.dim[0]++;
    more.fixed[0]++;
    i = CR_ONNX(o, "Where",
                CR_ONNX(o, "Less", i, cr_onnx_number(o, CR_I64, 0)),
                cr_onnx_number(o, CR_I64, (double)n), i);
    i = cr_onnx_unsqueeze(o, i, -1);
    zeros = CR_ONNX(o, "Expand", cr_onnx_number(o, y->spec.type, 0),
                    cr_onnx_shape_of(o, &more));
    cr_onnx_text(o, "reduction", "add");
    sum = CR_ONNX(o, arg, zeros, i, cr_onnx_in(o, 0));
    return cr_onnx_slice(o, sum, 0, 0, n);
}

const struct cr_onnx_emitter cr_onnx_shape[] = {
    { "broadcast_to", expand, "Expand", true },
    { "channel_shuffle", channel_shuffle, NULL, false },
    { "channels_first", channels_first, NULL, false },
    { "channels_last", channels_last, NULL, false },
    { "concat", concat, "Concat", false },
    { "constant", constant, NULL, true },
    { "expand_dims", reshape, NULL, true },
    { "flatten", reshape, NULL, true },
    { "gather", gather, "Gather", false },
    { "mirror", mirror, "Pad", false },
    { "one_hot", one_hot, "OneHot", false },
    { "ones_like", ones_like, NULL, true },
    { "pad", pad, "Pad", false },
    { "reshape", reshape, NULL, true },
    { "sort", sort, NULL, false },
    { "split", split, "Split", true },
    { "squeeze", reshape, NULL, true },
    { "stack", stack, "Concat", false },
    { "strided_slice", strided_slice, "Slice", true },
    { "tile", tile, "Tile", false },
    { "topk", topk, NULL, false },
    { "transpose", transpose, NULL, false },
    { "unsorted_segment_sum", segment_sum, "ScatterND", true },
    { "zeros_like", zeros_like, NULL, true },
    { 0 },
};
