#include "build/norm_cells.h"

#include "base/str.h"
#include "families/nhwc.h"
#include "graph/op_attrs.h"

#define BN_OPTS                                                           \
    CR_INT_OPTIONAL(struct cr_bn, num_features, 1, CR_DIM_MAX,            \
                    "Input channels. Default: inferred from the input."), \
        CR_REAL_POS_DEFAULT(struct cr_bn, eps, 1e-5, 1e30,                \
                            "Added to the variance."),                    \
        CR_REAL_DEFAULT(                                                  \
            struct cr_bn, momentum, 0.9, 0, 1,                            \
            "Momentum of the moving statistics: the weight of the old "   \
            "value (1 minus PyTorch's momentum)."),                       \
        CR_BOOL_DEFAULT(                                                  \
            struct cr_bn, affine, true,                                   \
            "Train gamma and beta; if false they keep their initial "     \
            "values."),                                                   \
        CR_OBJ_OPTIONAL(struct cr_bn, gamma_init, CR_KIND_INIT,           \
                        "Initial gamma. Default: ones."),                 \
        CR_OBJ_OPTIONAL(struct cr_bn, beta_init, CR_KIND_INIT,            \
                        "Initial beta. Default: zeros."),                 \
        CR_OBJ_OPTIONAL(struct cr_bn, moving_mean_init, CR_KIND_INIT,     \
                        "Initial moving mean. Default: zeros."),          \
        CR_OBJ_OPTIONAL(struct cr_bn, moving_var_init, CR_KIND_INIT,      \
                        "Initial moving variance. Default: ones."),       \
        CR_BOOL_OPTIONAL(                                                 \
            struct cr_bn, use_batch_statistics,                           \
            "true: use batch statistics in prediction too (moving "       \
            "statistics are updated in training only; MindSpore "         \
            "updates them in both). false: use the moving statistics "    \
            "in training too, without updating them. Default: batch "     \
            "statistics in training, moving ones in prediction.")

const struct cr_opt cr_sync_bn_opts[] = {
    BN_OPTS,
    { 0 },
};

const struct cr_opt cr_bn_opts[] = {
    BN_OPTS,
    CR_ENUM_DEFAULT(struct cr_bn, data_format, CR_NCHW, "NCHW",
                    "Channels are the second dimension."),
    { 0 },
};

const struct cr_opt cr_bn2d_opts[] = {
    BN_OPTS,
    CR_ENUM_DEFAULT(struct cr_bn, data_format, CR_NCHW, CR_DATA_FORMATS,
                    CR_NHWC_DOC),
    { 0 },
};

struct cr_val *cr_param_affine(struct cr_build *b, const char *name,
                               struct cr_spec spec, bool affine,
                               const struct cr_obj *given,
                               enum cr_default_init begin)
{
    return affine ? cr_param(b, name, spec, given, begin, 0)
                  : cr_param_untrained(b, name, spec, given, begin);
}

/* Inputs of `low` to `high` dimensions with that many channels. */
static bool channels_fit(struct cr_build *b, const struct cr_spec *x,
                         int64_t channels, int low, int high)
{
    static const char *const takes[] = { "(N, C)", "(N, C, L)", "(N, C, H, W)",
                                         "(N, C, D, H, W)" };
    const char *shape = cr_diag_format(cr_build_arena(b), x);

    if (x->rank < low || x->rank > high)
        return cr_fail(b, CR_E_SHAPE, "input is %s, expected %s%s%s", shape,
                       takes[low - 2], high > low ? " or " : "",
                       high > low ? takes[high - 2] : "");
    if (channels != CR_INT_NONE && channels != x->dim[1])
        return cr_fail(b, CR_E_SHAPE,
                       "input %s has %lld channels, but num_features is %lld",
                       shape, (long long)x->dim[1], (long long)channels);
    return true;
}

static struct cr_val *bn_build(struct cr_build *b, struct cr_val *x,
                               const char *prefix, int low, int high, bool sync)
{
    const struct cr_bn *o = cr_opts(b);
    const struct cr_spec *spec;
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_batch_norm *attr = CR_NEW(arena, struct cr_batch_norm);
    bool alone = cr_is_root_cell(b) && !prefix[0];
    struct cr_val *mean, *variance, *gamma, *beta;
    struct cr_spec c;

    x = cr_nhwc_in(b, o->data_format, x);
    if (!x)
        return NULL;
    spec = cr_val_spec(x);
    if (!channels_fit(b, spec, o->num_features, low, high))
        return NULL;
    c = CR_SPEC(spec->dim[1]);
    mean = cr_param_state(
        b, alone ? "mean" : cr_strf(arena, "%smoving_mean", prefix), c,
        &o->moving_mean_init, CR_DEFAULT_INIT_ZERO);
    variance = cr_param_state(
        b, alone ? "variance" : cr_strf(arena, "%smoving_variance", prefix), c,
        &o->moving_var_init, CR_DEFAULT_INIT_ONE);
    gamma = cr_param_affine(b, cr_strf(arena, "%sgamma", prefix), c, o->affine,
                            &o->gamma_init, CR_DEFAULT_INIT_ONE);
    beta = cr_param_affine(b, cr_strf(arena, "%sbeta", prefix), c, o->affine,
                           &o->beta_init, CR_DEFAULT_INIT_ZERO);
    attr->eps = o->eps;
    attr->momentum = o->momentum;
    attr->use_batch_statistics = o->use_batch_statistics;
    attr->sync = sync;
    return cr_nhwc_out(
        b, o->data_format,
        CR_EMIT(b, "batch_norm", attr, x, gamma, beta, mean, variance));
}

struct cr_val *cr_bn_build(struct cr_build *b, struct cr_val *x,
                           const char *prefix, int low, int high)
{
    return bn_build(b, x, prefix, low, high, false);
}

struct cr_val *cr_sync_bn_build(struct cr_build *b, struct cr_val *x)
{
    const struct cr_spec *spec = cr_val_spec(x);

    if (spec->rank != 2 && spec->rank != 4) {
        cr_fail(b, CR_E_SHAPE, "input is %s, expected (N, C) or (N, C, H, W)",
                cr_diag_format(cr_build_arena(b), spec));
        return NULL;
    }
    return bn_build(b, x, "", 2, 4, true);
}

const struct cr_opt cr_instance_norm_opts[] = {
    CR_INT_OPTIONAL(struct cr_instance_norm, num_features, 1, CR_DIM_MAX,
                    "Input channels. Default: inferred from the input."),
    CR_REAL_POS_DEFAULT(struct cr_instance_norm, eps, 1e-5, 1e30,
                        "Added to the variance."),
    CR_REAL_DEFAULT(struct cr_instance_norm, momentum, 0.1, 0, 1,
                    "Momentum of the moving statistics; has no effect, because "
                    "nothing uses them."),
    CR_BOOL_DEFAULT(struct cr_instance_norm, affine, true,
                    "Train gamma and beta; if false they keep their initial "
                    "values."),
    CR_OBJ_OPTIONAL(struct cr_instance_norm, gamma_init, CR_KIND_INIT,
                    "Initial gamma. Default: ones."),
    CR_OBJ_OPTIONAL(struct cr_instance_norm, beta_init, CR_KIND_INIT,
                    "Initial beta. Default: zeros."),
    { 0 },
};

/* GroupNorm with groups of one channel. The moving statistics exist because
 * MindSpore's checkpoints contain them; the results depend on them neither
 * there nor here. */
struct cr_val *cr_instance_norm_build(struct cr_build *b, struct cr_val *x,
                                      int rank)
{
    const struct cr_instance_norm *o = cr_opts(b);
    const struct cr_spec *spec = cr_val_spec(x);
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_group_norm *attr = CR_NEW(arena, struct cr_group_norm);
    struct cr_val *gamma, *beta;
    struct cr_spec c;

    if (!channels_fit(b, spec, o->num_features, rank, rank))
        return NULL;
    c = CR_SPEC(spec->dim[1]);
    if (!cr_param_state(b, cr_is_root_cell(b) ? "mean" : "moving_mean", c, NULL,
                        CR_DEFAULT_INIT_ZERO) ||
        !cr_param_state(b, cr_is_root_cell(b) ? "variance" : "moving_variance",
                        c, NULL, CR_DEFAULT_INIT_ONE))
        return NULL;
    gamma = cr_param_affine(b, "gamma", c, o->affine, &o->gamma_init,
                            CR_DEFAULT_INIT_ONE);
    beta = cr_param_affine(b, "beta", c, o->affine, &o->beta_init,
                           CR_DEFAULT_INIT_ZERO);
    attr->num_groups = spec->dim[1];
    attr->eps = o->eps;
    return CR_EMIT(b, "group_norm", attr, x, gamma, beta);
}
