/*
 * Settings that cells and losses hand to their ops, where both take the same
 * ones: the op's file defines the rows.
 */
#ifndef CR_NET_ATTR_H
#define CR_NET_ATTR_H

#include "conf/opt.h"

enum cr_reduction { CR_MEAN, CR_SUM, CR_NONE };

struct cr_cross_entropy {
    struct cr_reals weight;     /* per class; n == 0: all 1 */
    int64_t ignore_index;
    int reduction;              /* enum cr_reduction */
    double label_smoothing;
    int64_t axis;               /* of the classes */
};

struct cr_mse {
    int reduction;
};
extern const struct cr_opt cr_mse_opts[];

struct cr_batch_norm {
    double eps, momentum;
    unsigned char use_batch_statistics; /* CR_BOOL_NONE: in training */
};
extern const struct cr_opt cr_batch_norm_opts[];

struct cr_flatten {
    int64_t start_dim, end_dim;
};
extern const struct cr_opt cr_flatten_opts[];

struct cr_gelu {
    bool approximate;
};
extern const struct cr_opt cr_gelu_opts[];

struct cr_softmax {
    int64_t axis;
};
extern const struct cr_opt cr_softmax_opts[];

/* Axes that an op folds: sum, mean ... */
struct cr_over {
    struct cr_ints axis;        /* n == 0: all */
    bool keepdims;
};
extern const struct cr_opt cr_over_opts[];

#endif
