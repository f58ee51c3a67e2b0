/*
 * The planned transforms of one column: from a stored sample to the input of
 * the network. Private to src/data, except for cr_column_pipeline_plan and
 * _apply (data_loader.h).
 */
#ifndef CR_DATA_COLUMN_PIPELINE_H
#define CR_DATA_COLUMN_PIPELINE_H

#include "data/data_loader.h"
#include "data/transform.h"

struct cr_column_pipeline {
    struct cr_arena *arena;
    const char *name;
    struct cr_spec in, out;     /* of one sample */
    int n;
    const struct cr_transform **op;
    struct cr_transform_plan *plan;
    uint32_t *draws;      /* key of the random numbers of each */
    double *prob;         /* probability of applying each */
    size_t scratch_bytes; /* needed to apply it, per thread */
    size_t half;          /* bytes of each of two buffers in it */
    uint64_t seed;
    /* the last transform, of whole batches; NULL: none */
    const struct cr_transform *mix;
    struct cr_transform_plan mix_plan;
    /* Fused transforms, from `first` on: element i of the output is
     * table[class[i]][x[from[i]]], where x is their input. */
    bool fused;
    int first;
    int classes;
    cr_real *table;             /* classes x 256 */
    int32_t *from;              /* NULL: from[i] is i */
    unsigned char *class;       /* NULL: one class */
    void *own_scratch;          /* cr_column_pipeline_apply's */
    bool ragged;                /* some step has texts or lists */
    bool tabular;               /* of a table: NaN is a missing value */
    const struct cr_features *features; /* of the output; NULL: unknown */
    struct cr_strs names;               /* class names of output integers */
    bool fuse;                          /* fusing is allowed */
    bool chw;                           /* HWC2CHW has been applied */
    int size_index;                     /* index of the output shape */
    int n_sizes;                        /* number of output shapes */
    struct cr_column_pipeline *
        *of_size; /* one per shape; the first is this one */
};

/* Plans the transforms in `ops`, a list of the config or NULL for none, for
 * samples like *in. NULL after reporting. */
struct cr_column_pipeline *
cr_column_pipeline_make(struct cr_config *config, const char *name,
                        const struct cr_node *ops, const struct cr_spec *in,
                        bool train, bool fuse, uint64_t seed);
/* The same for a column whose integers are indices of `names`. */
struct cr_column_pipeline *
cr_column_pipeline_named(struct cr_config *config, const char *name,
                         const struct cr_node *ops, const struct cr_spec *in,
                         const struct cr_strs *names, bool train, bool fuse,
                         uint64_t seed);
/* Applies the transforms to a sample of `set` whose shape, in *spec, may differ
 * from the planned one: they are planned again, in mem, until a result has the
 * planned shape. If none has, that is an error. False after reporting. */
bool cr_column_pipeline_run_other(const struct cr_column_pipeline *pipeline,
                                  struct cr_diag *diag, struct cr_arena *mem,
                                  const struct cr_spec *spec,
                                  const struct cr_dataset *set, int column,
                                  int64_t epoch, int64_t index, const void *x,
                                  void *y, void *scratch);
/* The first transform that is not fitted yet; -1: none. */
int cr_column_pipeline_unfitted(const struct cr_column_pipeline *pipeline);
/* Fits that transform to one training sample. False after reporting. */
bool cr_column_pipeline_fit(const struct cr_column_pipeline *pipeline,
                            struct cr_diag *diag, int op, int64_t index,
                            const void *x, void *scratch);
/* Ends the fitting, after all samples or, if not `all`, after an error. False
 * after reporting. */
bool cr_column_pipeline_fit_end(const struct cr_column_pipeline *pipeline,
                                int op, bool all);
/* Applies the transforms to one sample; `scratch`: pipe->scratch_bytes bytes.
 * False after reporting. */
bool cr_column_pipeline_run(const struct cr_column_pipeline *pipeline,
                            struct cr_diag *diag, int64_t epoch, int64_t index,
                            const void *x, void *y, void *scratch);

#endif
