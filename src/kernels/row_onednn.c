/*
 * Layer normalisation by oneDNN 2. A primitive computes one of the blocks over
 * whose rows gradients are summed; the last block may have fewer rows.
 */
#include "kernels/row_stats.h"

#ifndef CR_DOUBLE

#include <math.h>

#include "base/compiler.h"
#include "base/thread_pool.h"
#include "kernels/onednn.h"
#include "kernels/parallel_for.h"

struct key {
    int64_t rows, n;
    float eps;
    int none;
};

struct norm_primitives {
    dnn_md x, stats, params;
    struct cr_onednn_primitive forward, backward;
};

static bool primitives_make(const void *key, void *value)
{
    const struct key *k = key;
    const struct cr_onednn *dnnl = cr_onednn();
    struct norm_primitives *p = value;
    dnn_desc d;

    return cr_onednn_plain(k->rows, k->n, &p->x) &&
           cr_onednn_plain(k->rows, 0, &p->stats) &&
           cr_onednn_plain(k->n, 0, &p->params) &&
           dnnl->layer_norm_forward(&d, DNN_FORWARD, &p->x, &p->stats, k->eps,
                                    DNN_SCALE_SHIFT) == 0 &&
           cr_onednn_make(&p->forward, &d, NULL) &&
           dnnl->layer_norm_backward(&d, DNN_BACKWARD, &p->x, &p->x, &p->stats,
                                     0, DNN_SCALE_SHIFT) == 0 &&
           cr_onednn_make(&p->backward, &d, p->forward.desc);
}

static struct cr_onednn_cache cache = {
    .key = sizeof(struct key),
    .value = sizeof(struct norm_primitives),
    .make = primitives_make,
};

static int64_t rows_of(const struct cr_row_norm *n, int64_t block)
{
    int64_t per = cr_row_block(n->rows), left = n->rows - block * per;

    return left < per ? left : per;
}

static const struct norm_primitives *primitives_of(const struct cr_row_norm *n,
                                                   int64_t block)
{
    struct key k = { rows_of(n, block), n->n, (float)n->eps, 0 };

    return cr_onednn_cached(&cache, &k);
}

static bool accepts(const void *what)
{
    const struct cr_row_norm *n = what;

    return n && n->rows > 0 && n->n > 0 && primitives_of(n, 0) &&
           primitives_of(n, cr_row_blocks(n->rows) - 1);
}

static void forward_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_row_norm *n = ctx;

    for (; from < to; from++) {
        const struct norm_primitives *p = primitives_of(n, from);
        int64_t row = from * cr_row_block(n->rows), rows = rows_of(n, from), i;
        cr_real *r = n->r + row;
        const struct cr_onednn_arg of[] = {
            { DNN_SRC, &p->x, n->x + row * n->n },
            { DNN_MEAN, &p->stats, n->mean + row },
            { DNN_VARIANCE, &p->stats, r },
            { DNN_SCALE, &p->params, n->gamma },
            { DNN_SHIFT, &p->params, n->beta },
            { DNN_DST, &p->x, n->y + row * n->n },
        };

        cr_onednn_run(&p->forward, of, (int)CR_LEN(of),
                      cr_thread_scratch(p->forward.scratchpad_bytes));
        for (i = 0; i < rows; i++)
            r[i] = (cr_real)(1 / sqrt((double)r[i] + n->eps));
    }
}

static void forward(const struct cr_row_norm *n)
{
    cr_parallel_for_coarse(cr_row_blocks(n->rows),
                           (double)(cr_row_block(n->rows) * n->n), (void *)n,
                           forward_range);
}

/* Variances of a block. */
static size_t room_bytes(const struct cr_row_norm *n)
{
    return (size_t)cr_row_block(n->rows) * sizeof(cr_real);
}

static void backward_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_row_norm *n = ctx;

    for (; from < to; from++) {
        const struct norm_primitives *p = primitives_of(n, from);
        int64_t row = from * cr_row_block(n->rows), rows = rows_of(n, from), i;
        size_t pad = p->backward.scratchpad_bytes;
        char *room = cr_thread_scratch(pad + room_bytes(n));
        cr_real *variance = (cr_real *)(void *)(room + pad);
        cr_real *part = n->part + from * 2 * n->n;
        const struct cr_onednn_arg of[] = {
            { DNN_SRC, &p->x, n->x + row * n->n },
            { DNN_MEAN, &p->stats, n->mean + row },
            { DNN_VARIANCE, &p->stats, variance },
            { DNN_DIFF_DST, &p->x, n->dy + row * n->n },
            { DNN_SCALE, &p->params, n->gamma },
            { DNN_SHIFT, &p->params, n->beta },
            { DNN_DIFF_SRC, &p->x, n->dx + row * n->n },
            { DNN_DIFF_SCALE, &p->params, part },
            { DNN_DIFF_SHIFT, &p->params, part + n->n },
        };

        for (i = 0; i < rows; i++)
            variance[i] = 1 / (n->r[row + i] * n->r[row + i]);
        cr_onednn_run(&p->backward, of, (int)CR_LEN(of), room);
    }
}

static void backward(const struct cr_row_norm *n)
{
    cr_parallel_for_coarse(cr_row_blocks(n->rows),
                           2 * (double)(cr_row_block(n->rows) * n->n),
                           (void *)n, backward_range);
}

static size_t thread_scratch(const struct cr_row_norm *n)
{
    const struct norm_primitives *p = primitives_of(n, 0);
    size_t a = p->forward.scratchpad_bytes;
    size_t b = p->backward.scratchpad_bytes + room_bytes(n);

    return a > b ? a : b;
}

const struct cr_row_kernel cr_row_onednn = {
    .head = { .name = "row_onednn", .blas = "onednn", .accepts = accepts },
    .norm = forward,
    .norm_backward = backward,
    .thread_scratch = thread_scratch,
};

#endif
