/* Parameter: a tensor that is learned and called by its name alone. */
#include "net/cell.h"
#include "conf/opt.h"

struct parameter {
    struct cr_ints shape;
    struct cr_obj init;
    bool requires_grad;
};

static const struct cr_opt parameter_opts[] = {
    CR_SHAPE(struct parameter, shape, "Its shape; [] for a single number."),
    CR_OBJ_OPTIONAL(
        struct parameter, init, CR_KIND_INIT,
        "Initial values; normally distributed with deviation 0.01 if "
        "not given."),
    CR_BOOL_DEFAULT(
        struct parameter, requires_grad, true,
        "Train it. false: state, which begins with zeros unless init "
        "says otherwise, and which assign(NAME, value) moves in "
        "training."),
    { 0 },
};

static struct cr_val *parameter_build(struct cr_build *b,
                                      struct cr_val *const *in)
{
    const struct parameter *o = cr_opts(b);

    struct cr_spec spec;

    (void)in;
    if (o->shape.n > CR_RANK_MAX) {
        cr_fail(b, CR_E_SHAPE, "a tensor has at most %d dimensions",
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
        .summary = "A learned tensor.",
        .detail = "A member of `cells` that `construct` uses by its name, "
                  "without a call. No input; its parameter has the member's "
                  "own name. assign(NAME, value), alone on its line, gives "
                  "one with requires_grad false another value when training "
                  "computes the forward pass, for each micro-batch; the name "
                  "reads the value before. It is saved in checkpoints, and "
                  "evaluation and prediction leave it alone.",
        .example = "network:\n"
                   "  cells: {scale: {Parameter: {shape: [4], init: One}}}\n"
                   "  inputs: {x: {shape: [4]}}\n"
                   "  construct: return x * scale\n",
        .opts = parameter_opts,
        .size = sizeof(struct parameter),
    },
    .build = parameter_build,
};
