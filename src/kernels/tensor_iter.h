/*
 * Tensor iterators: loops over a tensor and others that are broadcast to it.
 *
 * An iterator is a nest of loops over a row-major shape, that of operand 0.
 * Further operands have a stride for each dimension, 0 where they are
 * broadcast. Neighbouring dimensions with a common stride are merged, so most
 * iterators have one or two loops, and the innermost stride of a dense operand
 * is 0 or 1.
 */
#ifndef CR_KERNELS_TENSOR_ITER_H
#define CR_KERNELS_TENSOR_ITER_H

#include "num/spec.h"

#define CR_TENSOR_ITER_RANK \
    (2 * CR_RANK_MAX)        /* tile splits each dimension in two */
#define CR_TENSOR_ITER_MAX 6 /* operands */
#define CR_ITER_RUN_MAX 512  /* maximum length of a run */

struct cr_tensor_iter {
    int rank, operands;
    int64_t dim[CR_TENSOR_ITER_RANK];
    int64_t step[CR_TENSOR_ITER_MAX][CR_TENSOR_ITER_RANK]; /* in elements */
};

/* Processes n elements. off: start in each operand; inc: stride in each. */
typedef void cr_tensor_iter_fn(void *ctx, int64_t n, const int64_t *off,
                               const int64_t *inc);

/* The dimensions of a tensor in the order of its memory, as row-major ones. */
struct cr_spec cr_tensor_as_it_lies(const struct cr_spec *spec);

void cr_tensor_iter_init(struct cr_tensor_iter *walk, int rank,
                         const int64_t *dim);
/* Adds a dense operand, aligned at the last dimension; dimensions of size 1 and
 * missing ones are broadcast. */
void cr_tensor_iter_add(struct cr_tensor_iter *walk,
                        const struct cr_spec *spec);
/* Adds an operand with one stride per dimension. */
void cr_tensor_iter_add_strides(struct cr_tensor_iter *walk,
                                const int64_t *step);
/* Merges dimensions; call it after the last operand. */
void cr_tensor_iter_merge(struct cr_tensor_iter *walk);

int64_t cr_tensor_iter_count(const struct cr_tensor_iter *walk);
/* Calls fn for the elements from..to-1, in runs of at most CR_ITER_RUN_MAX. */
void cr_tensor_iter_range(const struct cr_tensor_iter *walk, int64_t from,
                          int64_t to, void *ctx, cr_tensor_iter_fn *fn);
/* Calls fn for all elements, in parallel; cost: nanoseconds per element. */
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

/* Loads the values of a run: returns a pointer to them, or copies them into
 * room. */
typedef const cr_real *cr_reduce_load(void *ctx, int64_t n, const int64_t *off,
                                      const int64_t *inc, cr_real *room);
/* The same for integers, as double. */
typedef void cr_reduce_load_int(void *ctx, int64_t n, const int64_t *off,
                                double *room);
/* Stores the results at..at+n-1, in the memory order of the kept operand. */
typedef void cr_reduce_store(void *ctx, int64_t at, int64_t n,
                             const double *sum);

/* Reduces all values at each element of the dense operand `kept`. Work is split
 * by elements of the result or, if there is only one, into chunks of a fixed
 * length, so results do not depend on the number of threads. */
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
