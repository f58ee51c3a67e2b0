/* Zero: zeros. */
#include "graph/init.h"

static bool zero_fill(const struct cr_init_args *f)
{
    int64_t i, count = cr_count(&f->spec);

    for (i = 0; f->to && i < count; i++)
        f->to[i] = 0;
    return true;
}

const struct cr_init cr_init_zero = {
    .about = {
        .name = "Zero",
        .summary = "Zeros.",
        .example = "init: [{match: \"*\", Zero: {}}]\n",
    },
    .alias = "zeros",
    .fill = zero_fill,
};
