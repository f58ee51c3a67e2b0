/*
 * Pooling by oneDNN 2, in the caller's layout: windows without dilation, none
 * of which is in the padding alone.
 *
 * Its maxima are the first of equals, and its workspace is the index in the
 * window in a byte, as ours are. But it passes over NaN and takes no number
 * below -FLT_MAX, so a block that holds NaN or an infinity is left to the
 * portable row. Masks and additions come after it, block by block.
 */
#include "kernels/pool.h"

#ifndef CR_DOUBLE

#include <string.h>

#include "base/compiler.h"
#include "base/thread_pool.h"
#include "kernels/onednn.h"
#include "kernels/parallel_for.h"

struct key {
    struct cr_window w[3];
    int64_t images, c; /* images: of a block */
    int alg;
    int last; /* channels last */
};

struct pool_primitives {
    dnn_md x, y;
    const dnn_md *index;
    struct cr_onednn_primitive forward, backward;
};

static bool primitives_make(const void *key, void *value)
{
    const struct key *k = key;
    const struct cr_onednn *dnnl = cr_onednn();
    struct pool_primitives *p = value;
    dnn_desc d;
    dnn_dims in = { 0 }, out = { 0 }, kernel = { 0 }, stride = { 0 };
    dnn_dims before = { 0 }, after = { 0 };
    int n = k->w[0].in == 1 && k->w[0].kernel == 1 ? 2 : 3, i;
    int64_t bytes = k->images * k->c;

    for (i = 0; i < n; i++) {
        const struct cr_window *w = &k->w[3 - n + i];

        in[i] = w->in;
        out[i] = w->out;
        kernel[i] = w->kernel;
        stride[i] = w->stride;
        before[i] = w->pad_before;
        after[i] = (w->out - 1) * w->stride + w->kernel - w->in - before[i];
        bytes *= w->out;
    }
    if (!cr_onednn_tensor(n, k->images, k->c, in, k->last, &p->x) ||
        !cr_onednn_tensor(n, k->images, k->c, out, k->last, &p->y) ||
        dnnl->pool_forward(&d, DNN_FORWARD, k->alg, &p->x, &p->y, stride,
                           kernel, before, after) != 0 ||
        !cr_onednn_make(&p->forward, &d, NULL) ||
        dnnl->pool_backward(&d, k->alg, &p->x, &p->y, stride, kernel, before,
                            after) != 0 ||
        !cr_onednn_make(&p->backward, &d, p->forward.desc))
        return false;
    if (k->alg != DNN_POOL_MAX)
        return true;
    p->index = dnnl->query_md(p->forward.desc, DNN_QUERY_WORKSPACE, 0);
    return dnnl->size_of(p->index) == (size_t)bytes;
}

static struct cr_onednn_cache cache = {
    .key = sizeof(struct key),
    .value = sizeof(struct pool_primitives),
    .make = primitives_make,
};

/* Sets the window that the library is given; false: it has none such. */
static bool window_of(const struct cr_window *w, struct cr_window *to)
{
    int64_t last = (w->out - 1) * w->stride - w->pad_before;

    *to = (struct cr_window){ .in = w->in,
                              .out = w->out,
                              .kernel = w->kernel,
                              .stride = w->stride,
                              .dilation = 1,
                              .pad_before = w->pad_before };
    if (w->adaptive) {
        to->kernel = to->stride = w->in / w->out;
        to->pad_before = 0;
        return w->in % w->out == 0;
    }
    return w->dilation == 1 && w->pad_before < w->kernel && last < w->in;
}

/* Whether a window ends after the padding. */
static bool exceeds(const struct cr_window *w)
{
    return !w->adaptive && (w->out - 1) * w->stride - w->pad_before +
                                   w->kernel >
                               w->in + w->pad_after;
}

/* NULL: it has no fast primitives for it, or with another meaning. */
static const struct pool_primitives *primitives_of(const struct cr_pool *p,
                                                   bool max)
{
    struct key k;
    int i;

    memset(&k, 0, sizeof k);
    for (i = 0; i < 3; i++) {
        if (!window_of(&p->w[i], &k.w[i]) || (max && p->w[i].adaptive))
            return NULL;
        if (!max && p->count_pad && exceeds(&p->w[i]))
            return NULL;
    }
    if (p->n < 1 || p->divisor || (max && cr_pool_volume(p) > 255))
        return NULL;
    k.images = cr_onednn_images(p->n);
    k.c = p->c;
    k.last = p->last;
    k.alg = max            ? DNN_POOL_MAX
            : p->count_pad ? DNN_POOL_MEAN_PAD
                           : DNN_POOL_MEAN;
    return cr_onednn_cached(&cache, &k);
}

static bool accepts_max(const void *what)
{
    return primitives_of(what, true);
}

static bool accepts_mean(const void *what)
{
    return primitives_of(what, false);
}

struct job {
    const struct cr_pool *p;
    const struct pool_primitives *of;
    bool max, add;
    const cr_real *x, *mask; /* in backward dy stands in x, dx in y */
    cr_real *y;
    uint8_t *index;
    int64_t images, in, out; /* elements of a block */
};

static struct job job_of(const struct cr_pool *p, bool max, const cr_real *x,
                         cr_real *y)
{
    const struct cr_window *w = p->w;
    struct job j = {
        .p = p, .of = primitives_of(p, max), .max = max, .x = x, .y = y
    };

    j.images = cr_onednn_images(p->n);
    j.in = j.images * p->c * w[0].in * w[1].in * w[2].in;
    j.out = j.images * p->c * w[0].out * w[1].out * w[2].out;
    return j;
}

static size_t scratchpad(const struct pool_primitives *p)
{
    return p->forward.scratchpad_bytes > p->backward.scratchpad_bytes
               ? p->forward.scratchpad_bytes
               : p->backward.scratchpad_bytes;
}

static size_t bytes_of(const struct job *j)
{
    return scratchpad(j->of) + (size_t)(j->in + j->out) * sizeof(cr_real);
}

static void forward_range(void *ctx, int64_t from, int64_t to)
{
    const struct job *j = ctx;
    char *room = cr_thread_scratch(bytes_of(j));

    for (; from < to; from++) {
        const cr_real *x = j->x + from * j->in;
        cr_real *y = j->y + from * j->out;
        uint8_t *index = j->max ? j->index + from * j->out : NULL;
        const struct cr_onednn_arg of[] = { { DNN_SRC, &j->of->x, x },
                                            { DNN_DST, &j->of->y, y },
                                            { DNN_WORKSPACE, j->of->index,
                                              index } };

        if (j->max && !cr_onednn_finite(j->in, x)) {
            struct cr_pool part = *j->p;

            part.n = j->images;
            cr_pool_portable.max(&part, x, y, index);
        } else {
            cr_onednn_run(&j->of->forward, of, j->max ? 3 : 2, room);
        }
    }
}

CR_CLONES static void add_to(int64_t n, const cr_real *d, cr_real *dx)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        dx[i] += d[i];
}

/* d, but 0 where mask <= 0 */
CR_CLONES static void above(int64_t n, const cr_real *d, const cr_real *mask,
                            cr_real *to)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        to[i] = mask[i] <= 0 ? 0 : d[i];
}

static void backward_range(void *ctx, int64_t from, int64_t to)
{
    const struct job *j = ctx;
    char *room = cr_thread_scratch(bytes_of(j));
    cr_real *sum = (cr_real *)(void *)(room + scratchpad(j->of));
    cr_real *masked = sum + j->in;

    for (; from < to; from++) {
        cr_real *dx = j->y + from * j->in, *d = j->add ? sum : dx;
        const cr_real *dy = j->x + from * j->out;
        const struct cr_onednn_arg of[] = {
            { DNN_DIFF_DST, &j->of->y, j->mask ? masked : dy },
            { DNN_DIFF_SRC, &j->of->x, d },
            { DNN_WORKSPACE, j->of->index,
              j->max ? j->index + from * j->out : NULL },
        };

        if (j->mask)
            above(j->out, dy, j->mask + from * j->out, masked);
        cr_onednn_run(&j->of->backward, of, j->max ? 3 : 2, room);
        if (j->add)
            add_to(j->in, d, dx);
    }
}

static void blocks_run(struct job *j,
                       void (*fn)(void *ctx, int64_t from, int64_t to))
{
    cr_parallel_for_coarse(j->p->n / j->images, (double)j->in, j, fn);
}

static void max(const struct cr_pool *p, const cr_real *x, cr_real *y, void *at)
{
    struct job j = job_of(p, true, x, y);

    j.index = at;
    blocks_run(&j, forward_range);
}

static void max_backward(const struct cr_pool *p, const cr_real *dy,
                         const void *at, const cr_real *y, bool add,
                         cr_real *dx)
{
    struct job j = job_of(p, true, dy, dx);

    j.index = (void *)at;
    j.mask = y;
    j.add = add;
    blocks_run(&j, backward_range);
}

static void mean(const struct cr_pool *p, const cr_real *x, cr_real *y)
{
    struct job j = job_of(p, false, x, y);

    blocks_run(&j, forward_range);
}

static void mean_backward(const struct cr_pool *p, const cr_real *dy, bool add,
                          cr_real *dx)
{
    struct job j = job_of(p, false, dy, dx);

    j.add = add;
    blocks_run(&j, backward_range);
}

static size_t max_scratch(const struct cr_pool *p)
{
    struct job j = job_of(p, true, NULL, NULL);

    return bytes_of(&j);
}

static size_t mean_scratch(const struct cr_pool *p)
{
    struct job j = job_of(p, false, NULL, NULL);

    return bytes_of(&j);
}

const struct cr_pool_kernel cr_max_pool_onednn = {
    .head = { .name = "max_pool_onednn",
              .blas = "onednn",
              .accepts = accepts_max },
    .thread_scratch = max_scratch,
    .max = max,
    .max_backward = max_backward,
};

const struct cr_pool_kernel cr_mean_pool_onednn = {
    .head = { .name = "mean_pool_onednn",
              .blas = "onednn",
              .accepts = accepts_mean },
    .thread_scratch = mean_scratch,
    .mean = mean,
    .mean_backward = mean_backward,
};

#endif
