/* One: ones. */
#include "graph/init.h"

static bool one_fill(const struct cr_init_args *f)
{
    int64_t i, count = cr_count(&f->spec);

    for (i = 0; f->to && i < count; i++)
        f->to[i] = 1;
    return true;
}

const struct cr_init cr_init_one = {
    .about = {
        .name = "One",
        .summary = "Ones.",
        .example = "init: [{match: \"*\", One: {}}]\n",
    },
    .alias = "ones",
    .fill = one_fill,
};
