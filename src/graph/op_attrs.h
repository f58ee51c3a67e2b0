/*
 * Settings that cells and losses hand to their ops, where both take the same
 * ones: the op's file defines the rows.
 */
#ifndef CR_GRAPH_OP_ATTRS_H
#define CR_GRAPH_OP_ATTRS_H

#include "conf/opt.h"
#include "num/spec.h"

enum cr_reduction {
    CR_MEAN,
    CR_SUM,
    CR_NONE
};

struct cr_cross_entropy {
    struct cr_reals weight; /* per class; n == 0: all 1 */
    int64_t ignore_index;
    int reduction; /* enum cr_reduction */
    double label_smoothing;
    int64_t axis;  /* of the classes */
    bool negative; /* labels below 0 are no class */
    bool logs;     /* x are log-probabilities already */
};

struct cr_one_hot {
    int64_t depth;
    double on_value, off_value;
    int64_t axis;
    bool strict; /* a number out of range is an error */
};

/* What negative indices mean: places from the end, an error, or, as all that
 * are out of range, a result of 0. */
enum cr_index_mode {
    CR_INDEX_WRAP,
    CR_INDEX_ERROR,
    CR_INDEX_ZERO
};

struct cr_gather {
    int64_t axis;
    enum cr_index_mode negative;
};

struct cr_channel_shuffle {
    int64_t groups;
};
extern const struct cr_opt cr_channel_shuffle_opts[];

struct cr_group_norm {
    int64_t num_groups;
    double eps;
};
extern const struct cr_opt cr_group_norm_opts[];

struct cr_layer_norm {
    int64_t begin_norm_axis, begin_params_axis;
    double epsilon;
};
extern const struct cr_opt cr_layer_norm_opts[];

struct cr_batch_norm {
    double eps, momentum;
    unsigned char use_batch_statistics; /* CR_BOOL_NONE: in training */
    bool sync; /* of all processes, whatever train.batch_norm says */
};
extern const struct cr_opt cr_batch_norm_opts[];

enum cr_pad_mode {
    CR_PAD_CONSTANT,
    CR_PAD_REFLECT,
    CR_PAD_REPLICATE,
    CR_PAD_CIRCULAR
};

struct cr_pad {
    struct cr_ints padding; /* pairs (before, after), the last axis first */
    int mode;               /* enum cr_pad_mode */
    double value;           /* of CR_PAD_CONSTANT */
};

struct cr_flatten {
    int64_t start_dim, end_dim;
};
extern const struct cr_opt cr_flatten_opts[];

enum cr_gelu_form {
    CR_GELU_EXACT,
    CR_GELU_TANH
};

struct cr_gelu {
    int approximate; /* enum cr_gelu_form */
};

struct cr_softmax {
    int64_t axis;
};
extern const struct cr_opt cr_softmax_opts[];

/* Axes that an op folds: sum, mean ... */
struct cr_reduce_attr {
    struct cr_ints axis; /* n == 0: all */
    bool keepdims;
};
extern const struct cr_opt cr_reduce_attr_opts[];

struct cr_norm {
    double ord;
    struct cr_ints axis; /* n == 0: all */
    bool keepdims;
};

struct cr_attention {
    int64_t num_heads;
    bool batch_first, average_attn_weights;
    double dropout; /* of the weights, in training */
    /* In low precision, of a cell: CR_F16 or CR_BF16, and which steps round to
     * it (struct cr_sdpa_low). CR_REAL: none between inputs and results. */
    enum cr_type low;
    bool low_sums, low_all;
    bool need_weights; /* the op attention gives them as a second result */
};

/* x scale + table, over the last two axes. */
struct cr_encode {
    int64_t dim;
    cr_real scale;
    const cr_real *table; /* (L, dim) */
};

/* One number everywhere, or all elements in order of memory. */
struct cr_constant {
    struct cr_reals value;
    struct cr_ints shape; /* n == 0: a single number */
    int dtype;            /* enum cr_dtype */
};

enum cr_dtype {
    CR_FLOAT32,
    CR_INT32,
    CR_DTYPE_BOOL
}; /* CR_DTYPES, in order */
#define CR_DTYPES "float32|int32|bool"
enum cr_type cr_dtype_type(int dtype);

struct cr_reshape {
    struct cr_ints shape; /* broadcast_to's too */
};

struct cr_transpose {
    struct cr_ints input_perm; /* n == 0: all axes turned round */
};

/* What `half` rounds to, and when. */
struct cr_fake_cast {
    int type; /* CR_LOW_TYPES, in order */
    bool predict;
    bool result; /* of the op before it: backward passes read it rounded */
    bool sum;    /* its gradient is a float32 sum of rounded ones */
};
#define CR_LOW_TYPES "float16|bfloat16"
CR_UNUSED static inline enum cr_type
cr_fake_cast_type(const struct cr_fake_cast *o)
{
    return o->type == 0 ? CR_F16 : CR_BF16;
}

/* begin:end:step of the first axes as in Python: negative bounds count from
 * the end, and what lies outside is cut off. */
struct cr_slice {
    struct cr_ints begin, end, step; /* no step: 1 */
};

#endif
