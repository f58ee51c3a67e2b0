/* Identity: the identity matrix. */
#include "graph/init.h"

static bool identity_fill(const struct cr_init_args *f)
{
    int64_t i, cols;

    if (f->spec.rank != 2)
        return cr_error(f->diag, f->pos, CR_E_SHAPE,
                        "parameter '%s': found %s, expected 2 dimensions for "
                        "Identity",
                        f->param, cr_diag_format(f->arena, &f->spec));
    cols = f->spec.dim[1];
    for (i = 0; f->to && i < cr_count(&f->spec); i++)
        f->to[i] = i / cols == i % cols;
    return true;
}

const struct cr_init cr_init_identity = {
    .about = {
        .name = "Identity",
        .summary = "The identity matrix.",
        .detail = "Two dimensions; ones on the diagonal, zeros elsewhere.",
        .example = "init: [{match: \"*.weight\", Identity: {}}]\n",
    },
    .alias = "identity",
    .fill = identity_fill,
};
