/*
 * HausdorffDistance: the maximum distance from one surface to the other, or a
 * percentile of the distances (interpolated linearly, as in NumPy); in both
 * directions unless `directed`. The result is the mean over the samples;
 * MindSpore evaluates its last batch as one image. `crop` reduces the image to
 * the bounding box of both. That changes distances only if the box is one
 * position wide: a line has its ends as surface, and a single position has no
 * surface, so its distance is infinite, as in MindSpore.
 */
#include <math.h>
#include <stdlib.h>

#include "score/surface_distance.h"

struct hausdorff_distance {
    struct cr_surface surface;
    double percentile;
    bool directed;
};

static const struct cr_opt hausdorff_distance_opts[] = {
    CR_SURFACE(struct hausdorff_distance),
    CR_REAL_OPTIONAL(struct hausdorff_distance, percentile, 0, 100,
                     "Percentile of the distances to use instead of the "
                     "maximum."),
    CR_BOOL_DEFAULT(struct hausdorff_distance, directed, false,
                    "Use only the distances from the output to the label."),
    { .name = "crop",
      .at = offsetof(struct hausdorff_distance, surface.crop),
      .type = CR_OPT_BOOL,
      .need = CR_DEFAULT,
      .int_default = true,
      .doc = "Crop to the bounding box of output and label; along an axis on "
             "which the box is one position wide there is no border." },
    { 0 },
};

static int hausdorff_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double hausdorff_one(const struct hausdorff_distance *o, int64_t n,
                            double *distance)
{
    double at, share;
    int64_t below;

    if (n == 0)
        return INFINITY;
    qsort(distance, (size_t)n, sizeof *distance, hausdorff_order);
    /* as in MindSpore, a percentile of 0 means none */
    if (isnan(o->percentile) || o->percentile == 0)
        return distance[n - 1];
    at = o->percentile / 100 * (double)(n - 1);
    below = (int64_t)floor(at);
    share = at - (double)below;
    if (share == 0)
        return distance[below];
    return distance[below] + share * (distance[below + 1] - distance[below]);
}

static double hausdorff_of(const void *opts, const struct cr_surfaces *between)
{
    const struct hausdorff_distance *o = opts;
    double there = hausdorff_one(o, between->n[0], between->distance[0]);

    if (o->directed)
        return there;
    return fmax(there, hausdorff_one(o, between->n[1], between->distance[1]));
}

static void hausdorff_distance_add(const void *opts, void *state,
                                   int64_t classes,
                                   const struct cr_metric_batch *batch)
{
    (void)classes;
    cr_surface_add(opts, state, batch, hausdorff_of);
}

const struct cr_metric cr_metric_hausdorff_distance = {
    .about = {
        .name = "hausdorff_distance",
        .aliases = CR_ALIASES("HausdorffDistance"),
        .summary = "Hausdorff distance between the surfaces of a class in "
                   "output and label.",
        .detail = "Distances are in positions, for outputs (n, classes, "
                  "height, width) or any number of spatial axes. The result is "
                  "the mean over the samples that contain the class; it is "
                  "infinite if only output or label contains it.",
        .example = "metrics: [accuracy, {HausdorffDistance: {label_idx: 1, "
                   "percentile: 95.0}}]\n",
        .opts = hausdorff_distance_opts,
        .size = sizeof(struct hausdorff_distance),
    },
    .classifies = true,
    .mismatch = cr_surface_mismatch,
    .size = cr_metric_mean_size,
    .add = hausdorff_distance_add,
    .value = cr_metric_mean_value,
};
