/*
 * Surfaces of segmented regions in pictures and volumes, for metrics of the
 * distance between two surfaces.
 *
 * The surface of a region is the set of positions that binary erosion removes:
 * those with a neighbour along an axis that is outside the region or the
 * picture. Distances are measured from each position of one surface to the
 * nearest one of the other.
 */
#ifndef CR_SCORE_SURFACE_DISTANCE_H
#define CR_SCORE_SURFACE_DISTANCE_H

#include "score/metric.h"

/* The first members of the options of these metrics. */
struct cr_surface {
    int distance_metric;
    int64_t label_idx;
    bool crop; /* a cropped picture with one row is treated as a line */
};
#define CR_SURFACE(T)                                                       \
    { .name = "distance_metric",                                            \
      .at = offsetof(T, surface.distance_metric),                           \
      .type = CR_OPT_ENUM,                                                  \
      .need = CR_DEFAULT,                                                   \
      .choices = "euclidean|chessboard|taxicab",                            \
      .doc = "Distance of two positions." },                                \
    {                                                                       \
        .name = "label_idx", .at = offsetof(T, surface.label_idx),          \
        .type = CR_OPT_INT, .need = CR_DEFAULT, .int_default = 1, .min = 0, \
        .max = INT32_MAX,                                                   \
        .doc = "Index of the class whose surface is measured."              \
    }

/* Distances from the surface of the output and from the surface of the label.
 * An empty surface has no distances; distances to it are infinite. */
struct cr_surfaces {
    int64_t n[2];
    double *distance[2];
};

/* Adds the value of `of` for each sample's surfaces to a mean over samples; a
 * sample without the class in output and label does not count. */
void cr_surface_add(const struct cr_surface *opts,
                    struct cr_metric_mean *mean,
                    const struct cr_metric_batch *batch,
                    double (*of)(const void *opts,
                                 const struct cr_surfaces *between));

const char *cr_surface_mismatch(const void *opts, const struct cr_spec *output,
                                int axis);

#endif
