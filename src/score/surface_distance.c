#include "score/surface_distance.h"

#include <math.h>

#include "kernels/parallel_for.h"

struct points {
    int64_t n;
    int64_t (*at)[CR_RANK_MAX];
};

/* Spatial dimensions: the shape of the output without batch and classes. */
static int surface_shape(const struct cr_metric_batch *batch, int64_t *dim)
{
    int rank = 0;

    for (int i = 1; i < batch->spec->rank; i++)
        if (i != batch->axis)
            dim[rank++] = batch->spec->dim[i];
    return rank;
}

/* Axes that have neighbours: all, or, cropped to the bounding box of both
 * sets, those longer than one position. */
static void surface_axes(const unsigned char *a, const unsigned char *b,
                         int rank, const int64_t *dim, bool crop, bool *along)
{
    int64_t all = 1, first[CR_RANK_MAX] = { 0 };
    bool some = false;

    for (int k = 0; k < rank; k++) {
        along[k] = !crop;
        all *= dim[k];
    }
    for (int64_t i = 0; i < all && crop; i++) {
        int64_t rest = i;

        for (int k = rank - 1; k >= 0 && (a[i] || b[i]); k--) {
            if (!some)
                first[k] = rest % dim[k];
            along[k] = along[k] || rest % dim[k] != first[k];
            rest /= dim[k];
        }
        some = some || a[i] || b[i];
    }
}

static void surface_find(struct cr_arena *mem, const unsigned char *in,
                         int rank, const int64_t *dim, const bool *along,
                         struct points *to)
{
    int64_t all = 1, n = 0;

    for (int i = 0; i < rank; i++)
        all *= dim[i];
    to->at = cr_alloc(mem, (size_t)all + 1, sizeof *to->at);
    for (int64_t i = 0; i < all; i++) {
        int64_t rest = i, step = 1;
        bool edge = false;

        for (int k = rank - 1; k >= 0 && in[i]; k--) {
            int64_t x = rest % dim[k];

            edge = edge || (along[k] && (x == 0 || x == dim[k] - 1 ||
                                         !in[i - step] || !in[i + step]));
            to->at[n][k] = x;
            rest /= dim[k];
            step *= dim[k];
        }
        n += edge;
    }
    to->n = n;
}

struct surface_job {
    const struct points *from, *to;
    int rank, metric;
    double *distance;
};

/* Compares all pairs: surfaces are thin, so this costs little next to the
 * network. */
static void surface_range(void *ctx, int64_t first, int64_t last)
{
    const struct surface_job *j = ctx;

    for (int64_t i = first; i < last; i++) {
        double best = INFINITY;

        for (int64_t k = 0; k < j->to->n; k++) {
            double sum = 0, most = 0;

            for (int r = 0; r < j->rank; r++) {
                double d = fabs((double)(j->from->at[i][r] - j->to->at[k][r]));

                sum += j->metric == 0 ? d * d : d;
                most = fmax(most, d);
            }
            best = fmin(best, j->metric == 1 ? most : sum);
        }
        j->distance[i] = j->metric == 0 ? sqrt(best) : best;
    }
}

static double *surface_distances(struct cr_arena *mem,
                                 const struct points *from,
                                 const struct points *to, int rank, int metric)
{
    struct surface_job job = { from, to, rank, metric,
                               CR_NEWS(mem, double, from->n + 1) };

    cr_parallel_for_coarse(from->n, 2.0 * (double)to->n * rank, &job,
                           surface_range);
    return job.distance;
}

void cr_surface_add(const struct cr_surface *opts, struct cr_metric_mean *mean,
                    const struct cr_metric_batch *batch,
                    double (*of)(const void *opts,
                                 const struct cr_surfaces *between))
{
    int64_t dim[CR_RANK_MAX], samples = batch->spec->dim[0];
    int64_t n = cr_metric_positions(batch) / samples;
    int rank = surface_shape(batch, dim);

    for (int64_t i = 0; i < samples; i++) {
        struct cr_arena mem = { 0 };
        unsigned char *predicted = CR_NEWS(&mem, unsigned char, n);
        unsigned char *is = CR_NEWS(&mem, unsigned char, n);
        struct points edge[2];
        struct cr_surfaces between;
        bool along[CR_RANK_MAX], some = false;

        for (int64_t k = 0; k < n; k++) {
            predicted[k] =
                cr_metric_argmax(batch, i * n + k) == opts->label_idx;
            is[k] = cr_metric_label(batch, i * n + k) == opts->label_idx;
            some = some || predicted[k] || is[k];
        }
        surface_axes(predicted, is, rank, dim, opts->crop, along);
        surface_find(&mem, predicted, rank, dim, along, &edge[0]);
        surface_find(&mem, is, rank, dim, along, &edge[1]);
        for (int k = 0; k < 2; k++) {
            between.n[k] = edge[k].n;
            between.distance[k] = surface_distances(&mem, &edge[k],
                                                    &edge[1 - k], rank,
                                                    opts->distance_metric);
        }
        if (some) {
            mean->sum += of(opts, &between);
            mean->all++;
        }
        cr_arena_free(&mem);
    }
}

const char *cr_surface_mismatch(const void *opts, const struct cr_spec *output,
                                int axis)
{
    const struct cr_surface *o = opts;

    if (output->rank < 3)
        return "an output of shape (n, classes, height, width)";
    if (o->label_idx >= output->dim[axis])
        return "a 'label_idx' that is a class of the output";
    return NULL;
}
