/* Parameter: a trainable tensor that is used by its name. */
#include "conf/opt.h"
#include "graph/cell.h"

struct parameter {
    struct cr_ints shape;
    struct cr_obj init;
    bool requires_grad;
};

static const struct cr_opt parameter_opts[] = {
    CR_SHAPE(struct parameter, shape, "Shape; [] for a scalar."),
    CR_OBJ_OPTIONAL(
        struct parameter, init, CR_KIND_INIT,
        "Initial values. Default: normally distributed with standard deviation "
        "0.01."),
    CR_BOOL_DEFAULT(
        struct parameter, requires_grad, true,
        "Train it. false: state, initialised with zeros unless init sets "
        "otherwise, which assign(NAME, value) updates in training."),
    { 0 },
};

static struct cr_val *parameter_build(struct cr_build *b,
                                      struct cr_val *const *in)
{
    const struct parameter *o = cr_opts(b);

    struct cr_spec spec;

    (void)in;
    if (o->shape.n > CR_RANK_MAX) {
        cr_fail(b, CR_E_SHAPE,
                "shape: found too many dimensions, expected at "
                "most %d",
                CR_RANK_MAX);
        return NULL;
    }
    spec = cr_spec_make(CR_REAL, o->shape.n, o->shape.v);
    if (!o->requires_grad)
        return cr_param_read(
            b, cr_param_state(b, "", spec, &o->init, CR_DEFAULT_INIT_ZERO));
    return cr_param(b, "", spec, &o->init, CR_DEFAULT_INIT_NORMAL, 0);
}

const struct cr_cell cr_cell_parameter = {
    .about = {
        .name = "Parameter",
        .summary = "Parameter: a learned tensor.",
        .detail = "A member of `cells` that `construct` uses by its name, "
                  "without a call. It has no input; its parameter has the "
                  "member's name. With requires_grad false it is state: "
                  "assign(NAME, value), on a line of its own, gives it a new "
                  "value each time training computes the forward pass, once "
                  "per micro-batch, and the name reads the value before that. "
                  "It is saved in checkpoints; evaluation and prediction do "
                  "not change it.",
        .example = "network:\n"
                   "  cells: {scale: {Parameter: {shape: [4], init: One}}}\n"
                   "  inputs: {x: {shape: [4]}}\n"
                   "  construct: return x * scale\n",
        .opts = parameter_opts,
        .size = sizeof(struct parameter),
    },
    .build = parameter_build,
};
