/* GroupNorm: normalisation of groups of channels of each sample. */
#include "build/norm_cells.h"
#include "graph/op_attrs.h"

struct group_norm {
    int64_t num_groups, num_channels;
    double eps;
    bool affine;
    struct cr_obj gamma_init, beta_init;
};

static const struct cr_opt group_norm_opts[] = {
    CR_INT(struct group_norm, num_groups, 1, CR_DIM_MAX,
           "Number of groups; must divide num_channels."),
    CR_INT_OPTIONAL(struct group_norm, num_channels, 1, CR_DIM_MAX,
                    "Input channels. Default: inferred from the input."),
    CR_REAL_POS_DEFAULT(struct group_norm, eps, 1e-5, 1e30,
                        "Added to the variance."),
    CR_BOOL_DEFAULT(struct group_norm, affine, true,
                    "Train gamma and beta; if false they keep their initial "
                    "values."),
    CR_OBJ_OPTIONAL(struct group_norm, gamma_init, CR_KIND_INIT,
                    "Initial gamma. Default: ones."),
    CR_OBJ_OPTIONAL(struct group_norm, beta_init, CR_KIND_INIT,
                    "Initial beta. Default: zeros."),
    { 0 },
};

static struct cr_val *group_norm_build(struct cr_build *b,
                                       struct cr_val *const *in)
{
    const struct group_norm *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in[0]);
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_group_norm *attr = CR_NEW(arena, struct cr_group_norm);
    struct cr_val *gamma, *beta;
    struct cr_spec c;

    if (x->rank < 2) {
        cr_fail(b, CR_E_SHAPE, "input: found %s, expected (N, C, ...)",
                cr_diag_format(arena, x));
        return NULL;
    }
    if (o->num_channels != CR_INT_NONE && o->num_channels != x->dim[1]) {
        cr_fail(b, CR_E_SHAPE,
                "input: found %s with %lld channels, expected num_channels "
                "%lld",
                cr_diag_format(arena, x), (long long)x->dim[1],
                (long long)o->num_channels);
        return NULL;
    }
    c = CR_SPEC(x->dim[1]);
    gamma = cr_param_affine(b, "gamma", c, o->affine, &o->gamma_init,
                            CR_DEFAULT_INIT_ONE);
    beta = cr_param_affine(b, "beta", c, o->affine, &o->beta_init,
                           CR_DEFAULT_INIT_ZERO);
    attr->num_groups = o->num_groups;
    attr->eps = o->eps;
    return CR_EMIT(b, "group_norm", attr, in[0], gamma, beta);
}

const struct cr_cell cr_cell_group_norm = {
    .about = {
        .name = "GroupNorm",
        .summary = "Group normalisation: normalises groups of channels of each "
                   "sample.",
        .detail = "Input (N, C, ...). y = (x - mean) / sqrt(variance + eps) "
                  "gamma + beta, with the mean and biased variance of each "
                  "group of C / num_groups consecutive channels of each "
                  "sample. Parameters: gamma, beta (C).",
        .example = "network: {norm: {GroupNorm: {num_groups: 2, "
                   "num_channels: 4}}, flatten: Flatten, fc: {Dense: "
                   "{out_channels: 10}}}\n",
        .opts = group_norm_opts,
        .size = sizeof(struct group_norm),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = group_norm_build,
};
