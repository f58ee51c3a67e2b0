/*
 * The gradient of a table as rows: of each row that a gather along axis 0 has
 * read, the sum of the gradients that arrive at its results.
 */
#ifndef CR_FAMILIES_ROW_GRADIENT_H
#define CR_FAMILIES_ROW_GRADIENT_H

#include "graph/op.h"

struct cr_row_gradient {
    const cr_real *dy;     /* (number of indices, width) */
    const uint64_t *order; /* row << 32 | number of the index, in order */
    double *room;          /* n numbers, for what is made of the rows */
    int64_t n;             /* indices that are rows of the table */
    int64_t width;         /* elements of a row */
    enum cr_type rounds;   /* sums are rounded to it; CR_REAL: they are not */
};

/* Bytes of scratch memory for n indices. */
size_t cr_row_gradient_scratch(int64_t n);
/* Of the backward step of a gather along axis 0, in its scratch memory: rows
 * first, first + step, first + 2 step and so on. */
struct cr_row_gradient cr_row_gradient_of(const struct cr_op_ctx *gather,
                                          int first, int step);
/* Calls `each` for every row that occurs, in parallel, with its sum and the
 * place where it begins in the order; equal indices are added in their order.
 * Takes scratch memory of a row's bytes per thread. */
typedef void cr_row_gradient_fn(void *ctx, int64_t at, int64_t row,
                                const cr_real *sum);
void cr_row_gradient_each(const struct cr_row_gradient *gradient, void *ctx,
                          cr_row_gradient_fn *each);
/* The sum of the squares of all rows, the same for any number of threads, and
 * whether all numbers are finite. */
double cr_row_gradient_squares(struct cr_row_gradient *gradient);
bool cr_row_gradient_finite(struct cr_row_gradient *gradient);

#endif
