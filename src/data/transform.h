/*
 * Transforms: each is one step of a datapipe, planned like an op of a network.
 * plan gets the type and shape of the input and sets those of the output; apply
 * computes one sample. Consecutive transforms of uint8 are fused: a transform
 * whose result depends only on the value and the channel has `value`, and the
 * planner turns such transforms into one table of 256 entries per channel.
 */
#ifndef CR_DATA_TRANSFORM_H
#define CR_DATA_TRANSFORM_H

#include "conf/config.h"
#include "data/dataset.h"
#include "num/rng.h"
#include "num/spec.h"

/* The first dimension of lists of varying length. Such lists and texts
 * (CR_STRING) are stored as struct cr_ragged; so are the elements of a list of
 * texts. */
#define CR_DIM_RAGGED (-1)

static inline bool cr_is_ragged(const struct cr_spec *spec)
{
    return spec->type == CR_STRING ||
           (spec->rank > 0 && spec->dim[0] == CR_DIM_RAGGED);
}

struct cr_features;

/* Values that a transform fits to the training samples. All data sets of a
 * config share them, and checkpoints contain them. */
struct cr_fitted {
    const char *name; /* "x.0": column, and index of the transform */
    bool ready;
    int64_t seen;           /* samples so far */
    int64_t n;
    double *value; /* sums at first, then the fitted values */
    struct cr_fitted *next;
};

struct cr_transform_plan {
    const void *opts;
    struct cr_pos pos;
    struct cr_diag *diag;
    struct cr_arena *arena;
    struct cr_config *config;
    struct cr_strs classes; /* names of integer values, if any; plan updates
                               them for the output */
    const struct cr_features *features; /* of the last axis (data/features.h);
                               NULL: unknown; plan updates them for the
                               output */
    const char *column;     /* of the data set */
    const char *place;      /* cr_fitted.name of this transform */
    int64_t fits;           /* number of values to fit, set by plan */
    struct cr_fitted *fitted;
    struct cr_spec in;
    bool chw;               /* HWC2CHW came before: channels are the first
                               axis; plan updates it for the output */
    struct cr_spec out;     /* to be set */
    void *self;             /* state of the transform, set by plan, or NULL */
    int size_index;         /* index of the output shape to plan for */
    int n_sizes;            /* set by plan: number of output shapes, of which
                              each training batch has one; 0 means 1 */
    size_t scratch;         /* bytes of scratch for apply, per thread */
};

struct cr_sample {
    const struct cr_transform_plan *plan;
    const void *x;
    void *y;
    void *scratch;
    struct cr_rng rng;      /* a function of seed, epoch, sample, column (or
                               that of `with`), name and number of the
                               transform */
    struct cr_diag *diag;   /* for data out of range (E0204) */
    int64_t index;          /* of the sample in its data set, for messages */
    struct cr_arena *mem;   /* holds the elements of texts and lists in y */
};

/* The batch that a mixing transform gets. x and labels (rows of class weights)
 * are the inputs; y and mixed are copies of them, to be changed. */
struct cr_batch_mix {
    const struct cr_transform_plan *plan;
    int64_t n, each, classes; /* samples; elements of one; of its label */
    const cr_real *x, *labels;
    cr_real *y, *mixed;
    int64_t *order;    /* scratch for n indices */
    struct cr_rng rng; /* of seed, epoch and batch; b + 1 + i is
                          free for sample i */
};

struct cr_transform {
    struct cr_descriptor about;
    bool (*plan)(struct cr_transform_plan *plan);
    bool (*apply)(struct cr_sample *sample);
    /* In place of apply: the last transform, applied in training only. */
    void (*mix)(struct cr_batch_mix *mix);
    /* Optional: the result for a stored value x in channel c, bit-identical to
     * apply. channel is the channel of element i of the input; NULL: there is
     * only one. */
    double (*value)(const struct cr_transform_plan *plan, double x, int64_t c);
    int64_t (*channel)(const struct cr_transform_plan *plan, int64_t i);
    /* Optional: the result is a permutation of the elements: from[i] is the
     * input element that goes to output element i (HWC2CHW). */
    void (*order)(const struct cr_transform_plan *plan, int64_t *from);
    /* Optional: fit adds a training sample x, number fitted->seen from 1 on;
     * fit_end computes the fitted values or, if `seen` is 0, only frees what
     * fit has allocated. False after reporting. */
    void (*fit)(const struct cr_transform_plan *plan, const void *x);
    bool (*fit_end)(const struct cr_transform_plan *plan);
    bool fills;            /* replaces missing values */
    bool random;           /* depends on the epoch */
    bool ragged;           /* accepts texts and lists too */
    const char *for_lists; /* if it does not: the transform to use for lists;
                              NULL: none */
};

/* The fitted values of that name, created by the first call; NULL if their
 * number is not n. */
struct cr_fitted *cr_fitted_find(struct cr_config *config, const char *name,
                                 int64_t n);

const struct cr_transform *cr_transform_find(const char *name);

#endif
