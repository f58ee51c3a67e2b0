/*
 * Batch normalisation by oneDNN 2, in the caller's layout. The sums of a
 * channel cannot be had of blocks of images, so its statistics and gradients
 * are one primitive, which the calling thread runs; given statistics are
 * applied to blocks, which threads share.
 */
#include "kernels/channel.h"

#ifndef CR_DOUBLE

#include <string.h>

#include "base/compiler.h"
#include "base/thread_pool.h"
#include "kernels/onednn.h"
#include "kernels/parallel_for.h"

struct key {
    int64_t n, c, s;
    int last, batch;
    float eps;
    int none;
};

struct norm_primitives {
    dnn_md x, channels;
    struct cr_onednn_primitive forward, backward;
};

static bool primitives_make(const void *key, void *value)
{
    const struct key *k = key;
    const struct cr_onednn *dnnl = cr_onednn();
    struct norm_primitives *p = value;
    unsigned flags = DNN_SCALE_SHIFT | (k->batch ? 0u : DNN_GLOBAL_STATS);
    int64_t space[2] = { 1, k->s };
    dnn_desc d;

    return cr_onednn_tensor(2, k->n, k->c, space, k->last, &p->x) &&
           cr_onednn_plain(k->c, 0, &p->channels) &&
           dnnl->batch_norm_forward(&d, DNN_FORWARD, &p->x, k->eps, flags) ==
               0 &&
           cr_onednn_make(&p->forward, &d, NULL) &&
           dnnl->batch_norm_backward(&d, DNN_BACKWARD, &p->x, &p->x, 0,
                                     flags) == 0 &&
           cr_onednn_make(&p->backward, &d, p->forward.desc);
}

static struct cr_onednn_cache cache = {
    .key = sizeof(struct key),
    .value = sizeof(struct norm_primitives),
    .make = primitives_make,
};

/* For that number of images. */
static const struct norm_primitives *
primitives_of(const struct cr_channel_norm *n, int64_t images)
{
    struct key k = { images,   n->ch.c,        n->ch.s, n->ch.last,
                     n->batch, (float)n->eps, 0 };

    return cr_onednn_cached(&cache, &k);
}

/* Those of forward; backward takes all images. */
static int64_t images_of(const struct cr_channel_norm *n)
{
    return n->batch ? n->ch.n : cr_onednn_images(n->ch.n);
}

/* In training and in evaluation alike, so that they agree on what is fused. */
static bool accepts(const void *what)
{
    const struct cr_channel_norm *n = what;
    struct cr_channel_norm of;
    int batch;

    if (!n || n->ch.low || n->ch.n * n->ch.c * n->ch.s == 0)
        return false;
    of = *n;
    for (batch = 0; batch < 2; batch++) {
        of.batch = batch;
        if (!primitives_of(&of, of.ch.n) || !primitives_of(&of, images_of(&of)))
            return false;
    }
    return true;
}

static void forward_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_channel_norm *n = ctx;
    const struct norm_primitives *p = primitives_of(n, images_of(n));
    int64_t size = images_of(n) * n->ch.c * n->ch.s;
    void *room = cr_thread_scratch(p->forward.scratchpad_bytes);

    for (; from < to; from++) {
        const struct cr_onednn_arg of[] = {
            { DNN_SRC, &p->x, n->x + from * size },
            { DNN_MEAN, &p->channels, n->mean },
            { DNN_VARIANCE, &p->channels, n->variance },
            { DNN_SCALE, &p->channels, n->gamma },
            { DNN_SHIFT, &p->channels, n->beta },
            { DNN_DST, &p->x, n->y + from * size },
        };

        cr_onednn_run(&p->forward, of, (int)CR_LEN(of), room);
    }
}

static void forward(const struct cr_channel_norm *n)
{
    int64_t images = images_of(n);

    cr_parallel_for_coarse(n->ch.n / images,
                           (double)(images * n->ch.c * n->ch.s), (void *)n,
                           forward_range);
}

static void backward(const struct cr_channel_norm *n)
{
    const struct norm_primitives *p = primitives_of(n, n->ch.n);
    const struct cr_onednn_arg of[] = {
        { DNN_SRC, &p->x, n->x },
        { DNN_MEAN, &p->channels, n->mean },
        { DNN_VARIANCE, &p->channels, n->variance },
        { DNN_DIFF_DST, &p->x, n->dy },
        { DNN_SCALE, &p->channels, n->gamma },
        { DNN_SHIFT, &p->channels, n->beta },
        { DNN_DIFF_SRC, &p->x, n->dx },
        { DNN_DIFF_SCALE, &p->channels, n->dgamma },
        { DNN_DIFF_SHIFT, &p->channels, n->dbeta },
    };

    cr_onednn_run(&p->backward, of, (int)CR_LEN(of),
                  cr_thread_scratch(p->backward.scratchpad_bytes));
}

static size_t thread_scratch(const struct cr_channel_norm *n)
{
    size_t a = primitives_of(n, images_of(n))->forward.scratchpad_bytes;
    size_t b = primitives_of(n, n->ch.n)->backward.scratchpad_bytes;

    return a > b ? a : b;
}

const struct cr_channel_kernel cr_channel_onednn = {
    .head = { .name = "channel_onednn", .blas = "onednn", .accepts = accepts },
    .norm = forward,
    .norm_backward = backward, //x
    .thread_scratch = thread_scratch,
};

#endif
