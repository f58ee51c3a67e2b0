/*
 * RootMeanSquareDistance: the root of the mean squared distance from the
 * surface of the output to that of the label; with `symmetric` the mean squares
 * of both directions are averaged. The result is the mean over the samples;
 * MindSpore evaluates its last batch as one image. Without `symmetric`
 * MindSpore 2.10 omits the root that its documentation has; it is taken here.
 */
#include <math.h>

#include "score/surface_distance.h"

struct root_mean_square_distance {
    struct cr_surface surface;
    bool symmetric;
};

static const struct cr_opt root_mean_square_distance_opts[] = {
    CR_BOOL_DEFAULT(struct root_mean_square_distance, symmetric, false,
                    "Average with the distances from the label to the output."),
    CR_SURFACE(struct root_mean_square_distance),
    { 0 },
};

static double mean_square(int64_t n, const double *distance)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += distance[i] * distance[i];
    return n ? sum / (double)n : INFINITY;
}

static double root_mean_square_of(const void *opts,
                                  const struct cr_surfaces *between)
{
    const struct root_mean_square_distance *o = opts;
    double there = mean_square(between->n[0], between->distance[0]);

    if (!o->symmetric)
        return sqrt(there);
    return sqrt((there + mean_square(between->n[1], between->distance[1])) / 2);
}

static void root_mean_square_distance_add(const void *opts, void *state,
                                          int64_t classes,
                                          const struct cr_metric_batch *batch)
{
    (void)classes;
    cr_surface_add(opts, state, batch, root_mean_square_of);
}

const struct cr_metric cr_metric_root_mean_square_distance = {
    .about = {
        .name = "root_mean_square_distance",
        .aliases = CR_ALIASES("RootMeanSquareDistance"),
        .summary = "Root mean square distance between the surfaces of a class "
                   "in output and label.",
        .detail = "Distances are in positions, for outputs (n, classes, "
                  "height, width) or any number of spatial axes. The result is "
                  "the mean over the samples that contain the class; it is "
                  "infinite if only output or label contains it.",
        .example = "metrics: [{RootMeanSquareDistance: {symmetric: true}}]\n",
        .opts = root_mean_square_distance_opts,
        .size = sizeof(struct root_mean_square_distance),
    },
    .classifies = true,
    .mismatch = cr_surface_mismatch,
    .size = cr_metric_mean_size,
    .add = root_mean_square_distance_add,
    .value = cr_metric_mean_value,
};
