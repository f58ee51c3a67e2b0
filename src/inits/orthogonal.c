/* Orthogonal: gain times a matrix with orthonormal rows or columns.
 *
 * A normal matrix (d0 rows; transposed if it has fewer rows than columns) is
 * decomposed into Q R, the columns of Q are multiplied by the signs of the
 * diagonal of R, and the result is transposed back.
 * Saxe, McClelland and Ganguli, arXiv:1312.6120. */
#include "graph/init.h"

struct orthogonal {
    double gain;
};

static const struct cr_opt orthogonal_opts[] = {
    CR_REAL_DEFAULT(struct orthogonal, gain, 1, -1e30, 1e30, "Factor."),
    { 0 },
};

/* Gram-Schmidt, applied twice for accuracy. Its R has a positive diagonal, so
 * its Q equals Q sign(diag R) of any other decomposition. q is rows x cols with
 * rows >= cols, in column-major order. */
static void orthonormalize(double *q, int64_t rows, int64_t cols)
{
    int64_t i, j, r;
    int pass;

    for (j = 0; j < cols; j++) {
        double *v = q + j * rows, norm = 0;

        for (pass = 0; pass < 2; pass++)
            for (i = 0; i < j; i++) {
                const double *u = q + i * rows;
                double dot = 0;

                for (r = 0; r < rows; r++)
                    dot += u[r] * v[r];
                for (r = 0; r < rows; r++)
                    v[r] -= dot * u[r];
            }
        for (r = 0; r < rows; r++)
            norm += v[r] * v[r];
        norm = sqrt(norm);
        for (r = 0; r < rows; r++)
            v[r] /= norm;
    }
}

static bool orthogonal_fill(const struct cr_init_args *f)
{
    const struct orthogonal *o = f->opts;
    int64_t d0, rest, rows, cols, i;
    double *q;

    if (f->spec.rank < 2)
        return cr_error(f->diag, f->pos, CR_E_SHAPE,
                        "parameter '%s': found %s, expected at least 2 "
                        "dimensions for Orthogonal",
                        f->param, cr_diag_format(f->arena, &f->spec));
    if (!f->to)
        return true;
    d0 = f->spec.dim[0];
    rest = cr_count(&f->spec) / d0;
    rows = d0 > rest ? d0 : rest;
    cols = d0 > rest ? rest : d0;
    q = CR_NEWS(f->arena, double, rows * cols);
    for (i = 0; i < rows * cols; i++)
        q[i] = cr_rng_normal(&f->rng, (uint64_t)i);
    orthonormalize(q, rows, cols);
    for (i = 0; i < rows * cols; i++) {
        int64_t a = i / rest, b = i % rest; /* element (a, b) of (d0, rest) */

        f->to[i] = (cr_real)(o->gain *
                             (d0 > rest ? q[b * rows + a] : q[a * rows + b]));
    }
    return true;
}

const struct cr_init cr_init_orthogonal = {
    .about = {
        .name = "Orthogonal",
        .summary = "Orthogonal: orthonormal rows or columns, times gain.",
        .example = "init: [{match: \"*.weight\", Orthogonal: {gain: 1.0}}]\n",
        .opts = orthogonal_opts,
        .size = sizeof(struct orthogonal),
    },
    .alias = "orthogonal",
    .fill = orthogonal_fill,
};
