/* Sparse: N(0, sigma^2) with ceil(sparsity * rows) zeros in every column. */
#include "graph/init.h"

struct sparse {
    double sparsity, sigma;
};

static const struct cr_opt sparse_opts[] = {
    CR_REAL(struct sparse, sparsity, 0, 1, "Fraction of zeros in a column."),
    CR_REAL_DEFAULT(struct sparse, sigma, 0.01, 0, 1e30, "Standard deviation."),
    { 0 },
};

static bool sparse_fill(const struct cr_init_args *f)
{
    const struct sparse *o = f->opts;
    int64_t rows, cols, zeros, i, j, count, *order;

    if (f->spec.rank != 2)
        return cr_error(f->diag, f->pos, CR_E_SHAPE,
                        "parameter '%s': found %s, expected 2 dimensions for "
                        "Sparse",
                        f->param, cr_diag_format(f->arena, &f->spec));
    if (!f->to)
        return true;
    count = cr_count(&f->spec);
    rows = f->spec.dim[0];
    cols = f->spec.dim[1];
    zeros = (int64_t)ceil(o->sparsity * (double)rows);
    order = CR_NEWS(f->arena, int64_t, rows);
    for (i = 0; i < count; i++)
        f->to[i] = (cr_real)(o->sigma * cr_rng_normal(&f->rng, (uint64_t)i));
    for (j = 0; j < cols; j++) {
        struct cr_rng column = f->rng;

        column.b = (uint64_t)j + 1;
        cr_rng_permute(&column, rows, order);
        for (i = 0; i < zeros; i++)
            f->to[order[i] * cols + j] = 0;
    }
    return true;
}

const struct cr_init cr_init_sparse = {
    .about = {
        .name = "Sparse",
        .summary = "Sparse: N(0, sigma^2) with random zeros in each column.",
        .detail = "Two dimensions; ceil(sparsity * rows) zeros per column.",
        .example = "init: [{match: \"*.weight\", Sparse: {sparsity: 0.5}}]\n",
        .opts = sparse_opts,
        .size = sizeof(struct sparse),
    },
    .fill = sparse_fill,
};
