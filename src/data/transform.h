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
#include "math/rng.h"
#include "math/spec.h"

struct cr_tplan {
    const void *opts;
    struct cr_pos pos;
    struct cr_diag *diag;
    struct cr_arena *arena;
    struct cr_spec in;
    struct cr_spec out;     /* to be set */
    void *self;             /* the transform's own, made by plan; or NULL */
    int scale;              /* plan for this one of `scales` shapes */
    int scales;             /* set by plan: so many shapes may come out, one
                               for each batch of training; 0: one */
    size_t scratch;         /* bytes that apply may use, per thread */
};

struct cr_sample {
    const struct cr_tplan *plan;
    const void *x;
    void *y;
    void *scratch;
    struct cr_rng rng;      /* a function of seed, epoch, sample, column (or
                               the one beside `with`), op and its number */
    struct cr_diag *diag;   /* for data out of range (E0204) */
    int64_t index;          /* of the sample in its data set, for messages */
};

/* What an op that mixes the samples of a batch sees: all of them, and their
 * labels, rows of classes. x and labels are what was; y and mixed the same
 * now, to be changed. */
struct cr_mix {
    const struct cr_tplan *plan;
    int64_t n, each, classes;   /* rows; elements of one; of one's label */
    const cr_real *x, *labels;
    cr_real *y, *mixed;
    int64_t *order;             /* room for n */
    struct cr_rng rng;          /* of seed, epoch and batch; b + 1 + i is
                                   free for row i */
};

struct cr_transform {
    struct cr_about about;
    bool (*plan)(struct cr_tplan *plan);
    bool (*apply)(struct cr_sample *sample);
    /* Instead of apply: stands last, and serves training only. */
    void (*mix)(struct cr_mix *mix);
    /* Optional: the value for a stored value x in channel c: what apply
     * would give, to the last bit. channel tells which one element i of the
     * input is in; NULL: there is but one. */
    double (*value)(const struct cr_tplan *plan, double x, int64_t c);
    int64_t (*channel)(const struct cr_tplan *plan, int64_t i);
    /* Optional: the result is a permutation of the elements: from[i] is the
     * input element that goes to output element i (HWC2CHW). */
    void (*order)(const struct cr_tplan *plan, int64_t *from);
    bool random;            /* differs between epochs */
};

const struct cr_transform *cr_transform_find(const char *name);

#endif
