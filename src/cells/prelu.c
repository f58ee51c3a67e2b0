/*
 * PReLU: y = max(x, 0) + w min(x, 0), with one learned w, or one per channel.
 * He et al., "Delving deep into rectifiers", ICCV 2015.
 */
#include "graph/cell.h"

struct prelu {
    int64_t channel;
    struct cr_obj w;
};

static const struct cr_opt prelu_opts[] = {
    CR_INT_DEFAULT(struct prelu, channel, 1, 1, CR_DIM_MAX,
                   "Number of slopes: 1, or the number of channels (second "
                   "dimension)."),
    CR_OBJ_DEFAULT(struct prelu, w, CR_KIND_INIT, "0.25", "Initial slopes."),
    { 0 },
};

static struct cr_val *prelu_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct prelu *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in[0]);
    struct cr_val *w;

    if (x->rank < 1 ||
        (o->channel > 1 && (x->rank < 2 || x->dim[1] != o->channel))) {
        cr_fail(b, CR_E_SHAPE, "input: found %s, expected channel %lld",
                cr_diag_format(cr_build_arena(b), x), (long long)o->channel);
        return NULL;
    }
    w = cr_param(b, cr_is_root_cell(b) ? "a" : "w", CR_SPEC(o->channel), &o->w,
                 CR_DEFAULT_INIT_ZERO, 0);
    return CR_EMIT(b, "prelu", NULL, in[0], w);
}

const struct cr_cell cr_cell_prelu = {
    .about = {
        .name = "PReLU",
        .summary = "PReLU: x if x > 0, else a learned slope w times x.",
        .detail = "Any shape with a batch. Parameter: w (channel).",
        .example = "network: [Flatten, {Dense: [784, 10]}, PReLU]\n",
        .opts = prelu_opts,
        .size = sizeof(struct prelu),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "prelu",
    .build = prelu_build,
};
