/*
 * CosineSimilarity: the mean similarity of the outputs of different samples.
 *
 * MindSpore computes the matrix s_ij = u_i . u_j of the rows of its last batch,
 * u = x / |x|, with zeros on the diagonal, and reduces each row by mean or
 * sum. Over n samples the mean of the reduced rows needs no matrix:
 *
 *   sum_ij u_i . u_j = |sum_i u_i|^2, minus sum_i |u_i|^2 for the diagonal,
 *
 * divided by n for the sum, by n^2 for the mean.
 */
#include "score/metric.h"

#include <math.h>

enum { COSINE, DOT };
enum { MEAN, SUM };

struct cosine_similarity {
    int similarity, reduction;
    bool zero_diagonal;
};

static const struct cr_opt cosine_similarity_opts[] = {
    CR_ENUM_DEFAULT(struct cosine_similarity, similarity, COSINE, "cosine|dot",
                    "Similarity of two outputs: cosine of their angle, or dot "
                    "product."),
    CR_ENUM_DEFAULT(struct cosine_similarity, reduction, MEAN, "mean|sum",
                    "Reduction over all other samples; the result is the mean "
                    "over the samples."),
    CR_BOOL_DEFAULT(struct cosine_similarity, zero_diagonal, true,
                    "Set the similarity of a sample with itself to 0."),
    { 0 },
};

struct likeness {
    int64_t samples, n; /* numbers of each */
    double own;         /* sum of |u|^2 */
    double *sum;        /* of all u */
};

static size_t cosine_similarity_size(const void *opts, int64_t classes)
{
    (void)opts;
    (void)classes;
    return sizeof(struct likeness);
}

static void cosine_similarity_add(const void *opts, void *state,
                                  int64_t classes,
                                  const struct cr_metric_batch *batch)
{
    const struct cosine_similarity *o = opts;
    struct likeness *all = state;
    int64_t samples = batch->spec->dim[0];
    int64_t n = cr_count(batch->spec) / samples;

    (void)classes;
    if (!all->sum) {
        all->sum = CR_NEWS(batch->mem, double, n);
        all->n = n;
    }
    for (int64_t i = 0; i < samples; i++) {
        const cr_real *x = batch->output + i * n;
        double norm = 0, by = 1;

        for (int64_t k = 0; k < n; k++)
            norm += (double)x[k] * (double)x[k];
        if (o->similarity == COSINE)
            by = 1 / sqrt(norm);
        for (int64_t k = 0; k < n; k++)
            all->sum[k] += by * (double)x[k];
        all->own += by * by * norm;
    }
    all->samples += samples;
}

static double cosine_similarity_value(const void *opts, const void *state,
                                      int64_t classes)
{
    const struct cosine_similarity *o = opts;
    const struct likeness *all = state;
    double sum = 0, n = (double)all->samples;

    (void)classes;
    for (int64_t k = 0; k < all->n; k++)
        sum += all->sum[k] * all->sum[k];
    if (o->zero_diagonal)
        sum -= all->own;
    return sum / n / (o->reduction == MEAN ? n : 1);
}

const struct cr_metric cr_metric_cosine_similarity = {
    .about = {
        .name = "cosine_similarity",
        .aliases = CR_ALIASES("CosineSimilarity"),
        .summary = "Mean cosine similarity of the outputs of different "
                   "samples.",
        .detail = "The similarities of a sample to all samples are reduced to "
                  "one number; the result is the mean of these numbers.",
        .example = "metrics: [loss, {CosineSimilarity: {similarity: dot}}]\n",
        .opts = cosine_similarity_opts,
        .size = sizeof(struct cosine_similarity),
    },
    .size = cosine_similarity_size,
    .add = cosine_similarity_add,
    .value = cosine_similarity_value,
};
