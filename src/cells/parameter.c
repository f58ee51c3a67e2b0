/* Parameter: a tensor that is learned and called by its name alone. */
#include "net/cell.h"
#include "conf/opt.h"

struct parameter {
    struct cr_ints shape;
    struct cr_obj init;
};

static const struct cr_opt parameter_opts[] = {
    CR_INTS(struct parameter, shape, 1, CR_DIM_MAX, "Its shape."),
    CR_OBJ_MAY(struct parameter, init, CR_KIND_INIT,
               "Initial values; normally distributed with deviation 0.01 if "
               "not given."),
    { 0 },
};

static struct cr_val *parameter_build(struct cr_build *b,
                                      struct cr_val *const *in)
{
    const struct parameter *o = cr_opts(b);

    (void)in;
    if (o->shape.n > CR_RANK_MAX) {
        cr_fail(b, CR_E_SHAPE, "a tensor has at most %d dimensions",
                CR_RANK_MAX);
        return NULL;
    }
    return cr_param(b, "", cr_spec_make(CR_REAL, o->shape.n, o->shape.v),
                    &o->init, CR_BEGIN_NORMAL, 0);
}

const struct cr_cell cr_cell_parameter = {
    .about = {
        .name = "Parameter",
        .summary = "A learned tensor.",
        .detail = "A member of `cells` that `construct` uses by its name, "
                  "without a call. No input; its parameter has the member's "
                  "own name.",
        .example = "network:\n"
                   "  cells: {scale: {Parameter: {shape: [4], init: One}}}\n"
                   "  inputs: {x: {shape: [4]}}\n"
                   "  construct: return x * scale\n",
        .opts = parameter_opts,
        .size = sizeof(struct parameter),
    },
    .build = parameter_build,
};
