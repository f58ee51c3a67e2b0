/*
 * A transform: one op of a column's datapipe, planned like an op of a
 * network. plan sees type and shape that come in and sets those that go out;
 * apply computes one sample. Neighbours over uint8 fuse: a transform whose
 * result depends on the value and the channel alone gives `value`, and the
 * planner turns a run of such into one table of 256 entries per channel.
 */
#ifndef CR_DATA_TRANSFORM_H
#define CR_DATA_TRANSFORM_H

#include "conf/config.h"
#include "data/dataset.h"
#include "math/rng.h"
#include "math/spec.h"

/* The first dimension of a list whose length differs between samples. It and
 * CR_STRING are in memory as a struct cr_ragged; elements of a list of texts
 * are such spans too. */
#define CR_DIM_RAGGED (-1)

static inline bool cr_is_ragged(const struct cr_spec *spec)
{
    return spec->type == CR_STRING ||
           (spec->rank > 0 && spec->dim[0] == CR_DIM_RAGGED);
}

struct cr_features;

/* What a transform learns from the training samples: numbers, of which all
 * data loaders of a config and its checkpoints have the same. */
struct cr_fitted {
    const char *name;       /* "x.0": column, and which of its ops */
    bool ready;
    int64_t seen;           /* samples so far */
    int64_t n;
    double *value;          /* sums at first, then what they tell */
    struct cr_fitted *next;
};

struct cr_transform_plan {
    const void *opts;
    struct cr_pos pos;
    struct cr_diag *diag;
    struct cr_arena *arena;
    struct cr_config *config;
    struct cr_strs classes; /* the words that integers stand for, if they do;
                               of what goes out when plan returns */
    const struct cr_features *features; /* what stands where along the last
                               axis (data/features.h); of what goes out when
                               plan returns; NULL: not known */
    const char *column;     /* of the data set */
    const char *place;      /* name of what is fitted here */
    int64_t fits;           /* numbers to be fitted, set by plan */
    struct cr_fitted *fitted;
    struct cr_spec in;
    struct cr_spec out;     /* to be set */
    void *self;             /* the transform's own, made by plan; or NULL */
    int size_index;         /* plan for this one of `scales` shapes */
    int n_sizes;            /* set by plan: so many shapes may come out, one
                              for each batch of training; 0: one */
    size_t scratch;         /* bytes that apply may use, per thread */
};

struct cr_sample {
    const struct cr_transform_plan *plan;
    const void *x;
    void *y;
    void *scratch;
    struct cr_rng rng;      /* a function of seed, epoch, sample, column (or
                               the one beside `with`), op and its number */
    struct cr_diag *diag;   /* for data out of range (E0204) */
    int64_t index;          /* of the sample in its data set, for messages */
    struct cr_arena *mem;   /* for what spans of y point at */
};

/* What an op that mixes the samples of a batch sees: all of them, and their
 * labels, rows of classes. x and labels are what was; y and mixed the same
 * now, to be changed. */
struct cr_batch_mix {
    const struct cr_transform_plan *plan;
    int64_t n, each, classes;   /* rows; elements of one; of one's label */
    const cr_real *x, *labels;
    cr_real *y, *mixed;
    int64_t *order;             /* room for n */
    struct cr_rng rng;          /* of seed, epoch and batch; b + 1 + i is
                                   free for row i */
};

struct cr_transform {
    struct cr_descriptor about;
    bool (*plan)(struct cr_transform_plan *plan);
    bool (*apply)(struct cr_sample *sample);
    /* Instead of apply: stands last, and serves training only. */
    void (*mix)(struct cr_batch_mix *mix);
    /* Optional: the value for a stored value x in channel c: what apply
     * would give, to the last bit. channel tells which one element i of the
     * input is in; NULL: there is but one. */
    double (*value)(const struct cr_transform_plan *plan, double x, int64_t c);
    int64_t (*channel)(const struct cr_transform_plan *plan, int64_t i);
    /* Optional: the result is a permutation of the elements: from[i] is the
     * input element that goes to output element i (HWC2CHW). */
    void (*order)(const struct cr_transform_plan *plan, int64_t *from);
    /* Optional: learns from a training sample x, number fitted->seen from 1
     * on; and makes of all of them what apply needs, or, where that is 0,
     * only frees what fit has allocated. False after reporting. */
    void (*fit)(const struct cr_transform_plan *plan, const void *x);
    bool (*fit_end)(const struct cr_transform_plan *plan);
    bool fills;             /* takes missing values away */
    bool random;            /* differs between epochs */
    bool ragged;            /* takes texts and lists of any length too */
    const char *for_lists;  /* what does not span: the op that lists have
                               instead; NULL: none */
};

/* The numbers fitted under that name; made with the first call. NULL: there
 * are not n of them. */
struct cr_fitted *cr_fitted_find(struct cr_config *config, const char *name,
                                 int64_t n);

const struct cr_transform *cr_transform_find(const char *name);

#endif
