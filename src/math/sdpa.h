/*
 * Attention of many heads over many batches, without a matrix of all weights:
 *
 *   s = scale q k' + mask + pad      p = softmax(s) over keys
 *   out = drop(p) v
 *
 * One thread works on one head of one batch at a time. It takes queries block
 * by block with all their keys, so a block's rows of s lie whole in its
 * caches, and backward computes them again from q, k and two numbers per
 * query. Keys that a mask hides from all queries of a block are skipped.
 */
#ifndef CR_MATH_SDPA_H
#define CR_MATH_SDPA_H

#include "math/real.h"
#include "math/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where rows of numbers lie: row l of head h of batch n begins at
 * n * batch + h * dim + l * row. */
struct cr_sdpa_at {
    int64_t batch, row;
};

enum cr_mask_kind {
    CR_MASK_NONE,
    CR_MASK_BOOL,    /* bytes: what is not 0 hides the key */
    CR_MASK_ADDITIVE /* numbers, added to the scores */
};

struct cr_sdpa_mask {
    enum cr_mask_kind kind;
    const void *x;
    int64_t batch, head, row; /* distances in elements; 0: shared */
};

/* Bounds of the keys that a block of queries looks at. */
struct cr_sdpa_range {
    int64_t from, to;
};

struct cr_sdpa {
    int64_t batch, heads, queries, keys, dim; /* dim: of a head */
    cr_real scale;
    const cr_real *q, *k, *v;
    struct cr_sdpa_at q_at, k_at, v_at, out_at;
    struct cr_sdpa_mask mask, pad; /* pad: one row for all queries */
    double keep_prob;              /* of the dropout; 1: none */
    struct cr_rng rng;
    cr_real *softmax_stats; /* (batch, heads, queries, 2): largest score,
                      1 / sum of exponentials */
    struct cr_sdpa_range *key_range; /* cr_sdpa_blocks of them */

    cr_real *out;     /* forward; NULL where only weights are due */
    cr_real *weights; /* (batch, heads, queries, keys), dropped out,
                         or their mean over heads; NULL */
    bool mean;

    const cr_real *dout; /* backward: one of both is NULL */
    const cr_real *dweights;
    cr_real *dq, *dk, *dv; /* at q_at, k_at, v_at; NULL: nobody asks */
    bool add_q, add_k, add_v;
    cr_real *dmask, *dpad; /* shaped as the masks */
    bool add_mask, add_pad;
};

int64_t cr_sdpa_blocks(int64_t queries, int64_t keys);
/* Bytes that both below ask cr_thread_scratch for: of queries, keys and dim
 * alone. */
size_t cr_sdpa_thread_scratch(const struct cr_sdpa *a);
void cr_sdpa_forward(struct cr_sdpa *a);
void cr_sdpa_backward(struct cr_sdpa *a);

/* ---- private to src/math ---- */

#define CR_SDPA_STEP 16 /* ranges and rows of scores are multiples of it */

typedef void cr_sdpa_part(const struct cr_sdpa *a, int task, int n_tasks);

struct cr_sdpa_code {
    cr_sdpa_part *forward, *backward, *masks;
};

extern const struct cr_sdpa_code cr_sdpa_avx512, cr_sdpa_avx2, cr_sdpa_portable;

/* Queries of block i begin at cr_sdpa_first(.., i). */
int64_t cr_sdpa_first(int64_t queries, int64_t keys, int64_t block);
/* The range of each block that a mask's rows leave. */
void cr_sdpa_ranges(const struct cr_sdpa *a, const void *mask,
                    struct cr_sdpa_range *range);

#endif
