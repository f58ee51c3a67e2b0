/*
 * MeanSurfaceDistance: the mean distance from the surface of the output to that
 * of the label; with `symmetric` the average of both directions. The result is
 * the mean over the samples; MindSpore evaluates its last batch as one image.
 */
#include <math.h>

#include "score/surface_distance.h"

struct mean_surface_distance {
    struct cr_surface surface;
    bool symmetric;
};

static const struct cr_opt mean_surface_distance_opts[] = {
    CR_BOOL_DEFAULT(struct mean_surface_distance, symmetric, false,
                    "Average with the distances from the label to the output."),
    CR_SURFACE(struct mean_surface_distance),
    { 0 },
};

static double mean_surface_one(int64_t n, const double *distance)
{
    double sum = 0;

    for (int64_t i = 0; i < n; i++)
        sum += distance[i];
    return n ? sum / (double)n : INFINITY;
}

static double mean_surface_of(const void *opts,
                              const struct cr_surfaces *between)
{
    const struct mean_surface_distance *o = opts;
    double there = mean_surface_one(between->n[0], between->distance[0]);

    if (!o->symmetric)
        return there;
    return (there + mean_surface_one(between->n[1], between->distance[1])) / 2;
}

static void mean_surface_distance_add(const void *opts, void *state,
                                      int64_t classes,
                                      const struct cr_metric_batch *batch)
{
    (void)classes;
    cr_surface_add(opts, state, batch, mean_surface_of);
}

const struct cr_metric cr_metric_mean_surface_distance = {
    .about = {
        .name = "mean_surface_distance",
        .aliases = CR_ALIASES("MeanSurfaceDistance"),
        .summary = "Mean distance between the surfaces of a class in output "
                   "and label.",
        .detail = "Distances are in positions, for outputs (n, classes, "
                  "height, width) or any number of spatial axes. The result is "
                  "the mean over the samples that contain the class; it is "
                  "infinite if only output or label contains it.",
        .example = "metrics: [{MeanSurfaceDistance: {symmetric: true}}]\n",
        .opts = mean_surface_distance_opts,
        .size = sizeof(struct mean_surface_distance),
    },
    .classifies = true,
    .mismatch = cr_surface_mismatch,
    .size = cr_metric_mean_size,
    .add = mean_surface_distance_add,
    .value = cr_metric_mean_value,
};
