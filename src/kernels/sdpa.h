/*
 * Scaled dot-product attention of many heads over a batch, tiled, without a
 * matrix of all weights:
 *
 *   s = scale q k' + mask + pad      p = softmax(s) over keys
 *   out = drop(p) v
 *
 * In low precision (struct cr_sdpa_low) with r the fourth root of dim, and each
 * result rounded, as MindSpore's single functions round theirs:
 *
 *   s = (q / r) (k / r)' + (mask + pad)      ds = p (dp - sum_j p dp)
 *
 * and the gradients of q / r, k / r and v, before those of q and k.
 *
 * A task is one head of one sample. It processes blocks of queries with all
 * their keys, so that the scores s of a block fit into the cache. Backward
 * recomputes the scores from q, k and two numbers per query. Keys that a mask
 * hides from all queries of a block are skipped.
 */
#ifndef CR_KERNELS_SDPA_H
#define CR_KERNELS_SDPA_H

#include "kernels/kernel.h"
#include "num/real.h"
#include "num/rng.h"
#include "num/spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Strides in elements: row l of head h of sample n starts at
 * n * batch + h * dim + l * row. */
struct cr_sdpa_at {
    int64_t batch, row;
};

enum cr_mask_kind {
    CR_MASK_NONE,
    CR_MASK_BOOL,    /* bytes: not 0 hides the key */
    CR_MASK_ADDITIVE /* cr_real: added to the scores */
};

struct cr_sdpa_mask {
    enum cr_mask_kind kind;
    const void *x;
    int64_t batch, head, row; /* strides in elements; 0: shared */
};

/* Bounds of the keys of a block of queries. */
struct cr_sdpa_range {
    int64_t from, to;
};

/* What may take two bytes per element. */
enum {
    CR_SDPA_Q = 1,
    CR_SDPA_K = 2,
    CR_SDPA_V = 4,
    CR_SDPA_OUT = 8
};

struct cr_sdpa_low {
    enum cr_type type; /* CR_F16 or CR_BF16; CR_REAL: all is float32 */
    unsigned two_bytes, grads_two_bytes; /* of q, k, v, out; dq .. dout */
    unsigned rounds;   /* q, k, v when read, their gradients; out */
    /* What is between is rounded: q / r, k / r, v, products, the weights that
     * the values are multiplied by, and their gradients. */
    bool steps;
    bool sums;         /* the sum of masks, and scores with masks, too; */
    bool all;          /* and softmax, dropout, means, and their gradients */
    cr_real root;      /* r */
};

/* Inputs and buffers, which belong to the caller. Numbers are cr_real but for
 * those of .low that take two bytes. */
struct cr_sdpa {
    int64_t batch, heads, queries, keys, dim; /* dim: of a head */
    cr_real scale; /* without low.steps */
    struct cr_sdpa_low low;
    const void *q, *k, *v;
    struct cr_sdpa_at q_at, k_at, v_at, out_at;
    struct cr_sdpa_mask mask, pad; /* pad: one row for all queries */
    double keep_prob;              /* 1 - dropout probability */
    int64_t rows_before; /* of the batch, before row 0: they key the random
                            numbers, as of the op dropout */
    struct cr_rng rng;
    cr_real *softmax_stats; /* (batch, heads, queries, 2): maximum score and
                               1 / sum of exponentials, for backward; NULL
                               with low.steps */
    struct cr_sdpa_range *key_range; /* of each block, for backward */

    void *out;        /* result of forward; NULL: weights only */
    cr_real *weights; /* after dropout: (batch, heads, queries, keys), or with
                         `mean` their mean over heads; NULL: not needed */
    bool mean;

    const void *dout; /* backward: gradient of out; NULL: none */
    const cr_real *dweights; /* and of weights */
    void *dq, *dk, *dv; /* in the layout of q, k, v; NULL: not needed */
    bool add_q, add_k, add_v;
    cr_real *dmask, *dpad; /* in the shape of the masks */
    bool add_mask, add_pad;
};

/* Number of blocks of queries. */
int64_t cr_sdpa_blocks(int64_t queries, int64_t keys);
/* Bytes that forward and backward take from cr_thread_scratch; depends on
 * queries, keys and dim only. */
size_t cr_sdpa_thread_scratch(const struct cr_sdpa *a);
void cr_sdpa_forward(struct cr_sdpa *a);
void cr_sdpa_backward(struct cr_sdpa *a);
/* Name of the kernel that computes both. */
const char *cr_sdpa_kernel_name(void);

/* ---- private to src/kernels ---- */

/* Queries of the largest block. */
int64_t cr_sdpa_most_rows(const struct cr_sdpa *a);
/* Bytes for what dropout keeps of a block. */
size_t cr_sdpa_keep_bytes(const struct cr_sdpa *a);

#define CR_SDPA_STEP 16 /* ranges and score rows are multiples of it */

typedef void cr_sdpa_part(const struct cr_sdpa *a, int task, int n_tasks);

struct cr_sdpa_kernel {
    struct cr_kernel head;
    cr_sdpa_part *forward, *backward, *masks;
};

extern const struct cr_sdpa_kernel cr_sdpa_avx512, cr_sdpa_avx2,
    cr_sdpa_portable;

/* Index of the first query of a block. */
int64_t cr_sdpa_first(int64_t queries, int64_t keys, int64_t block);
/* Whether a row of a mask hides key j. */
bool cr_sdpa_hidden(const struct cr_sdpa_mask *m, const void *row, int64_t j);
/* Sets the range of keys of each block that the mask does not hide. */
void cr_sdpa_ranges(const struct cr_sdpa *a, const void *mask,
                    struct cr_sdpa_range *range);

#endif
