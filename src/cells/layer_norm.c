/* LayerNorm: normalisation over the last axes of each sample, with a learned
 * scale and shift per element. */
#include "graph/cell.h"
#include "graph/op_attrs.h"

#include <string.h>

struct layer_norm {
    struct cr_ints normalized_shape;
    int64_t begin_norm_axis, begin_params_axis;
    struct cr_obj gamma_init, beta_init;
    double epsilon;
};

static const struct cr_opt layer_norm_opts[] = {
    CR_INTS_OPTIONAL(
        struct layer_norm, normalized_shape, 1, CR_DIM_MAX,
        "Shape of gamma and beta. Default: inferred from the input."),
    CR_INT_DEFAULT(struct layer_norm, begin_norm_axis, -1, -CR_RANK_MAX,
                   CR_RANK_MAX - 1,
                   "First axis to normalise; all axes after "
                   "it are normalised too."),
    CR_INT_DEFAULT(struct layer_norm, begin_params_axis, -1, -CR_RANK_MAX,
                   CR_RANK_MAX - 1,
                   "First axis of normalized_shape in the input."),
    CR_OBJ_OPTIONAL(struct layer_norm, gamma_init, CR_KIND_INIT,
                    "Initial gamma. Default: ones."),
    CR_OBJ_OPTIONAL(struct layer_norm, beta_init, CR_KIND_INIT,
                    "Initial beta. Default: zeros."),
    CR_REAL_POS_DEFAULT(struct layer_norm, epsilon, 1e-7, 1e30,
                        "Added to the variance (PyTorch's default: 1e-5)."),
    { 0 },
};

/* The axis counted from the front; -1 if the input does not have it. */
static int layer_norm_axis(const struct cr_spec *x, int64_t axis)
{
    axis = axis < 0 ? axis + x->rank : axis;
    return axis < 0 || axis >= x->rank ? -1 : (int)axis;
}

static struct cr_val *layer_norm_build(struct cr_build *b,
                                       struct cr_val *const *in)
{
    const struct layer_norm *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in[0]);
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_layer_norm *attr = CR_NEW(arena, struct cr_layer_norm);
    int axis = layer_norm_axis(x, o->begin_params_axis), i;
    struct cr_spec shape = { .type = CR_REAL };
    struct cr_val *gamma, *beta;

    if (axis < 1 || layer_norm_axis(x, o->begin_norm_axis) < 0) {
        cr_fail(
            b, CR_E_SHAPE,
            "input: found %s, expected an axis %lld after the batch",
            cr_diag_format(arena, x),
            (long long)(axis < 1 ? o->begin_params_axis : o->begin_norm_axis));
        return NULL;
    }
    shape.rank = x->rank - axis;
    memcpy(shape.dim, x->dim + axis,
           (size_t)shape.rank * sizeof shape.dim[0]);
    for (i = 0; i < o->normalized_shape.n && shape.rank > 0; i++)
        if (o->normalized_shape.n != shape.rank ||
            o->normalized_shape.v[i] != shape.dim[i]) {
            cr_fail(b, CR_E_SHAPE,
                    "input: found %s, which ends in %s from begin_params_axis "
                    "%lld on, expected normalized_shape",
                    cr_diag_format(arena, x), cr_diag_format(arena, &shape),
                    (long long)o->begin_params_axis);
            return NULL;
        }
    gamma = cr_param(b, "gamma", shape, &o->gamma_init, CR_DEFAULT_INIT_ONE, 0);
    beta = cr_param(b, "beta", shape, &o->beta_init, CR_DEFAULT_INIT_ZERO, 0);
    attr->begin_norm_axis = o->begin_norm_axis;
    attr->begin_params_axis = o->begin_params_axis;
    attr->epsilon = o->epsilon;
    return CR_EMIT(b, "layer_norm", attr, in[0], gamma, beta);
}

const struct cr_cell cr_cell_layer_norm = {
    .about = {
        .name = "LayerNorm",
        .summary = "Layer normalisation over the last axes.",
        .detail = "y = (x - mean) / sqrt(variance + epsilon) gamma + beta, "
                  "with the mean and biased variance over the axes from "
                  "begin_norm_axis on. Parameters: gamma, beta "
                  "(normalized_shape), the shape of the axes from "
                  "begin_params_axis on.",
        .example = "network: [Flatten, {Dense: [784, 10]}, {LayerNorm: "
                   "{normalized_shape: [10]}}]\n",
        .opts = layer_norm_opts,
        .size = sizeof(struct layer_norm),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = layer_norm_build,
};
