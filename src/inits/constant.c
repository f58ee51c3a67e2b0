/* Constant: one value for all elements. */
#include "graph/init.h"

struct constant {
    double value;
};

static const struct cr_opt constant_opts[] = {
    CR_REAL(struct constant, value, -1e30, 1e30, "The value."),
    { 0 },
};

static bool constant_fill(const struct cr_init_args *f)
{
    const struct constant *o = f->opts;
    int64_t i, count = cr_count(&f->spec);

    for (i = 0; f->to && i < count; i++)
        f->to[i] = (cr_real)o->value;
    return true;
}

const struct cr_init cr_init_constant = {
    .about = {
        .name = "Constant",
        .summary = "Constant value.",
        .example = "init: [{match: \"*\", Constant: {value: 0.1}}]\n",
        .opts = constant_opts,
        .size = sizeof(struct constant),
    },
    .fill = constant_fill,
};
