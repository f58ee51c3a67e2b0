/*
 * Surfaces of what is found in pictures and volumes, for the metrics that
 * measure how far they are apart.
 *
 * The surface of a set of positions is what binary erosion takes away: those
 * of the set with a neighbour along an axis that is not in it, or outside of
 * the picture. Distances go from each position of one surface to the nearest
 * of the other.
 */
#ifndef CR_TRAIN_SURFACE_DISTANCE_H
#define CR_TRAIN_SURFACE_DISTANCE_H

#include "train/metric.h"

/* Options that begin with this. */
struct cr_surface {
    int distance_metric;
    int64_t label_idx;
    bool crop; /* a picture with one row left is a line */
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

/* Distances from the surface of the output, and from that of the label. One
 * without positions has none; to it, all are infinite. */
struct cr_surfaces {
    int64_t n[2];
    double *distance[2];
};

/* Adds to a mean over samples (struct cr_metric_mean) what `of` makes of each
 * sample's surfaces; a sample in which neither output nor label has the class
 * does not count. */
void cr_surface_add(const struct cr_surface *opts,
                    struct cr_metric_mean *mean,
                    const struct cr_metric_batch *batch,
                    double (*of)(const void *opts,
                                 const struct cr_surfaces *between));

const char *cr_surface_mismatch(const void *opts, const struct cr_spec *output,
                                int axis);

#endif
