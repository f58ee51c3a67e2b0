/* What BatchNorm1d, 2d and 3d share, InstanceNorm1d, 2d and 3d, and GroupNorm
 * in part. */
#ifndef CR_BUILD_NORM_CELLS_H
#define CR_BUILD_NORM_CELLS_H

#include "graph/cell.h"

struct cr_bn {
    int64_t num_features;
    double eps, momentum;
    bool affine;
    struct cr_obj gamma_init, beta_init, moving_mean_init, moving_var_init;
    unsigned char use_batch_statistics;
    int data_format;
};
extern const struct cr_opt cr_bn_opts[], cr_bn2d_opts[], cr_sync_bn_opts[];

/* A parameter that is trained where `affine` holds, and else only exists. */
struct cr_val *cr_param_affine(struct cr_build *b, const char *name,
                               struct cr_spec spec, bool affine,
                               const struct cr_obj *given,
                               enum cr_default_init begin);

/* prefix: "" or "bn2d.", put before the names of the parameters. Inputs have
 * `low` to `high` dimensions. */
struct cr_val *cr_bn_build(struct cr_build *b, struct cr_val *x,
                           const char *prefix, int low, int high);
/* With the statistics of all processes; inputs have 2 or 4 dimensions. */
struct cr_val *cr_sync_bn_build(struct cr_build *b, struct cr_val *x);

struct cr_instance_norm {
    int64_t num_features;
    double eps, momentum;
    bool affine;
    struct cr_obj gamma_init, beta_init;
};
extern const struct cr_opt cr_instance_norm_opts[];
struct cr_val *cr_instance_norm_build(struct cr_build *b, struct cr_val *x,
                                      int rank);

#endif
