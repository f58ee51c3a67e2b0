/*
 * Loops over a tensor and others that repeat along some of its dimensions.
 *
 * A walk is a nest of loops over a full, row-major shape, which is operand 0.
 * Further operands have a step for each dimension: 0 where they repeat, as
 * numpy broadcasts. Neighbouring dimensions that all operands go through in
 * one stride are merged, so most walks are one or two loops deep, and the
 * innermost step of a dense operand is 0 or 1.
 */
#ifndef CR_MATH_TENSOR_ITER_H
#define CR_MATH_TENSOR_ITER_H

#include "math/spec.h"

#define CR_TENSOR_ITER_RANK \
    (2 * CR_RANK_MAX)        /* tile splits each dimension in two */
#define CR_TENSOR_ITER_MAX 6 /* operands */
#define CR_ITER_RUN_MAX 512  /* longest run handed to a function */

struct cr_tensor_iter {
    int rank, operands;
    int64_t dim[CR_TENSOR_ITER_RANK];
    int64_t step[CR_TENSOR_ITER_MAX][CR_TENSOR_ITER_RANK]; /* in elements */
};

/* off: where the run starts in each operand; inc: from element to element. */
typedef void cr_tensor_iter_fn(void *ctx, int64_t n, const int64_t *off,
                               const int64_t *inc);

void cr_tensor_iter_init(struct cr_tensor_iter *walk, int rank,
                         const int64_t *dim);
/* An operand of this shape, aligned at the last dimension; its dimensions of
 * 1, and those it lacks, repeat. */
void cr_tensor_iter_add(struct cr_tensor_iter *walk,
                        const struct cr_spec *spec);
/* An operand with steps of its own, one per dimension. */
void cr_tensor_iter_add_strides(struct cr_tensor_iter *walk,
                                const int64_t *step);
/* After the last operand. */
void cr_tensor_iter_merge(struct cr_tensor_iter *walk);

int64_t cr_tensor_iter_count(const struct cr_tensor_iter *walk);
/* All elements from..to-1 of the full shape, in runs of at most
 * CR_ITER_RUN_MAX. */
void cr_tensor_iter_range(const struct cr_tensor_iter *walk, int64_t from,
                          int64_t to, void *ctx, cr_tensor_iter_fn *fn);
/* The whole, split over the pool; cost: nanoseconds per element. */
void cr_tensor_iter_parallel(const struct cr_tensor_iter *walk, double cost,
                             void *ctx, cr_tensor_iter_fn *fn);

/* What a run of values is folded into: a sum, a product, a largest one. */
struct cr_reducer {
    double start;
    double (*one)(double sum, double v);
    /* n values into one, and n values into n; NULL: by `one` */
    void (*rows)(int64_t n, const cr_real *v, double *sum);
    void (*cols)(int64_t n, const cr_real *v, double *sum);
};

extern const struct cr_reducer cr_reducer_sum, cr_reducer_max, cr_reducer_min;

/* Values of a run: returns them where they lie, or puts them into room. */
typedef const cr_real *cr_reduce_load(void *ctx, int64_t n, const int64_t *off,
                                      const int64_t *inc, cr_real *room);
/* The same for integers, as double. */
typedef void cr_reduce_load_int(void *ctx, int64_t n, const int64_t *off,
                                double *room);
/* Takes the results at..at+n-1, in order of the kept operand's memory. */
typedef void cr_reduce_store(void *ctx, int64_t at, int64_t n,
                             const double *sum);

/* For each element of the dense operand `kept`, folds all values at it. A sum
 * is never split by the number of threads: by elements of the result, or by
 * a fixed length where there is only one. */
struct cr_reduce {
    const struct cr_tensor_iter *walk;
    int kept;
    const struct cr_reducer *reducer;
    double cost; /* nanoseconds per value */
    void *ctx;
    cr_reduce_load *load;
    cr_reduce_load_int *load_int; /* instead of source */
    cr_reduce_store *store;
};

void cr_reduce(const struct cr_reduce *r);

#endif
