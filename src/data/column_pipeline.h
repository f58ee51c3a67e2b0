/*
 * The ops of one column, planned: from a stored sample to what the network
 * gets. Private to src/data, except for cr_column_pipeline_plan and _apply
 * (data_loader.h).
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
    uint32_t *draws;            /* key of each op's random numbers */
    size_t scratch_bytes;       /* bytes that applying needs, per thread */
    size_t half;                /* of which two buffers have so many each */
    uint64_t seed;
    /* at the end, over the batch; NULL: none */
    const struct cr_transform *mix;
    struct cr_transform_plan mix_plan;
    /* Fused: element i of the output is table[class[i]][x[from[i]]] of the x
     * that the ops before the first fused one give. */
    bool fused;
    int first;
    int classes;
    cr_real *table;             /* classes x 256 */
    int32_t *from;              /* NULL: from[i] is i */
    unsigned char *class;       /* NULL: one class */
    void *own_scratch;          /* cr_column_pipeline_apply's */
    bool ragged;                /* somewhere between its ops */
    bool tabular;               /* a table's: NaN is a missing value */
    const struct cr_features *features; /* of what comes out; NULL */
    struct cr_strs names;       /* what its integers stand for, at the end */
    bool fuse;                  /* allowed to; tests compare both ways */
    int size_index;             /* which of several shapes comes out */
    int n_sizes;
    struct cr_column_pipeline *
        *of_size; /* of each shape; the first is this one */
};

/* ops: the list of the config; NULL: none. */
struct cr_column_pipeline *
cr_column_pipeline_make(struct cr_config *config, const char *name,
                        const struct cr_node *ops, const struct cr_spec *in,
                        bool train, bool fuse, uint64_t seed);
/* The same for a column whose integers stand for those words. */
struct cr_column_pipeline *
cr_column_pipeline_named(struct cr_config *config, const char *name,
                         const struct cr_node *ops, const struct cr_spec *in,
                         const struct cr_strs *names, bool train, bool fuse,
                         uint64_t seed);
/* A sample of `set` that may have another shape than the planned one (`spec`,
 * of its rank and type): its ops are planned for it, in mem, until what comes
 * out is what was planned. A shape that stays another is an error. */
bool cr_column_pipeline_run_other(const struct cr_column_pipeline *pipeline,
                                  struct cr_diag *diag, struct cr_arena *mem,
                                  const struct cr_spec *spec,
                                  const struct cr_dataset *set, int64_t epoch,
                                  int64_t index, const void *x, void *y,
                                  void *room);
/* The first op that has yet to learn from the training samples; -1: none. */
int cr_column_pipeline_unfitted(const struct cr_column_pipeline *pipeline);
/* One training sample for that op. */
bool cr_column_pipeline_fit(const struct cr_column_pipeline *pipeline,
                            struct cr_diag *diag, int op, int64_t index,
                            const void *x, void *room);
/* The last of them has been; or, not `all`, one could not be had. False after
 * reporting. */
bool cr_column_pipeline_fit_end(const struct cr_column_pipeline *pipeline,
                                int op, bool all);
/* One sample; room has pipeline->room bytes. */
bool cr_column_pipeline_run(const struct cr_column_pipeline *pipeline,
                            struct cr_diag *diag, int64_t epoch, int64_t index,
                            const void *x, void *y, void *room);

#endif
