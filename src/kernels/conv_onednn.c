/*
 * Convolutions by oneDNN 2: channels last, weights in the layouts that its
 * primitives ask for.
 *
 * A primitive computes a block of images whose number follows from the shape
 * alone. Threads share the blocks; what follows a convolution is done to a
 * block while it is in the caches (oneDNN's ReLU does not keep NaN). The
 * gradient of a weight is summed over chunks of blocks, as many as the shape
 * says. So bytes do not depend on the number of threads.
 */
#include "kernels/conv.h"

#ifndef CR_DOUBLE

#include <string.h>

#include "base/compiler.h"
#include "base/thread_pool.h"
#include "kernels/conv_simd.h"
#include "kernels/onednn.h"

/* ---- primitives ---- */

/* One of the three, with its reorder: of the weight before it, or of the
 * gradient of the weight after it. */
struct primitive {
    struct cr_onednn_primitive run, reorder;
    const dnn_md *weight;
    size_t weight_bytes;
};

struct key {
    struct cr_conv c;
    int64_t images; /* of a block */
};

struct conv_primitives {
    int64_t images;
    dnn_md x, y, w;
    struct primitive forward, input, weight;
};

static int axes(const struct cr_conv *c)
{
    return conv_is_flat(c) ? 2 : 3;
}

/* As it lies (plain), or in whatever layout a primitive wants. */
static bool weight_md(const struct cr_onednn *dnnl, const struct cr_conv *c,
                      bool plain, dnn_md *md)
{
    int n = axes(c), rank = 0, i;
    int64_t step = 1;
    dnn_dims d = { 0 }, strides = { 0 };

    if (c->group > 1)
        d[rank++] = c->group;
    d[rank++] = c->co / c->group;
    d[rank++] = c->ci / c->group;
    for (i = 0; i < n; i++)
        d[rank++] = c->kernel[3 - n + i];
    for (i = rank - 1; i >= 0; i--) {
        strides[i] = step;
        step *= d[i];
    }
    return (plain ? dnnl->by_strides(md, rank, d, DNN_F32, strides)
                  : dnnl->by_tag(md, rank, d, DNN_F32, DNN_TAG_ANY)) == 0;
}

/* before: the plain weight, whose reorder comes first; NULL: it comes last. */
static bool primitive_make(struct primitive *p, const dnn_desc *d,
                           const void *hint, const dnn_md *before,
                           const dnn_md *after)
{
    const struct cr_onednn *dnnl = cr_onednn();

    if (!cr_onednn_make(&p->run, d, hint))
        return false;
    p->weight = dnnl->query_md(
        p->run.desc, before ? DNN_QUERY_WEIGHTS : DNN_QUERY_DIFF_WEIGHTS, 0);
    p->weight_bytes = dnnl->size_of(p->weight);
    return before ? cr_onednn_reorder(&p->reorder, before, p->weight)
                  : cr_onednn_reorder(&p->reorder, p->weight, after);
}

static bool primitives_make(const void *key, void *value)
{
    const struct key *k = key;
    const struct cr_conv *c = &k->c;
    const struct cr_onednn *dnnl = cr_onednn();
    struct conv_primitives *p = value;
    dnn_md any;
    dnn_desc d;
    dnn_dims stride = { 0 }, dilation = { 0 }, before = { 0 }, after = { 0 };
    int n = axes(c), i;

    p->images = k->images;
    for (i = 0; i < n; i++) {
        int axis = 3 - n + i;
        int64_t reach = (c->kernel[axis] - 1) * c->dilation[axis] + 1;

        stride[i] = c->stride[axis];
        dilation[i] = c->dilation[axis] - 1;
        before[i] = c->pad_before[axis];
        after[i] = (c->out[axis] - 1) * c->stride[axis] + reach - c->in[axis] -
                   c->pad_before[axis];
    }
    return cr_onednn_tensor(n, p->images, c->ci, c->in + 3 - n, true, &p->x) &&
           cr_onednn_tensor(n, p->images, c->co, c->out + 3 - n, true, &p->y) &&
           weight_md(dnnl, c, true, &p->w) && weight_md(dnnl, c, false, &any) &&
           dnnl->conv_forward(&d, DNN_FORWARD, DNN_CONV_DIRECT, &p->x, &any,
                              NULL, &p->y, stride, dilation, before, after) ==
               0 &&
           primitive_make(&p->forward, &d, NULL, &p->w, NULL) &&
           dnnl->conv_data(&d, DNN_CONV_DIRECT, &p->x, &any, &p->y, stride,
                           dilation, before, after) == 0 &&
           primitive_make(&p->input, &d, p->forward.run.desc, &p->w, NULL) &&
           dnnl->conv_weights(&d, DNN_CONV_DIRECT, &p->x, &any, NULL, &p->y,
                              stride, dilation, before, after) == 0 &&
           primitive_make(&p->weight, &d, p->forward.run.desc, NULL, &p->w);
}

static struct cr_onednn_cache cache = {
    .key = sizeof(struct key),
    .value = sizeof(struct conv_primitives),
    .make = primitives_make,
};

/* NULL: the library has no fast primitives for it. */
static const struct conv_primitives *primitives_of(const struct cr_conv *of)
{
    struct key k;
    struct cr_conv *c = &k.c;

    memset(&k, 0, sizeof k);
    k.images = cr_onednn_images(of->n);
    c->group = of->group;
    c->ci = of->ci;
    c->co = of->co;
    memcpy(c->in, of->in, sizeof c->in);
    memcpy(c->out, of->out, sizeof c->out);
    memcpy(c->kernel, of->kernel, sizeof c->kernel);
    memcpy(c->stride, of->stride, sizeof c->stride);
    memcpy(c->dilation, of->dilation, sizeof c->dilation);
    memcpy(c->pad_before, of->pad_before, sizeof c->pad_before);
    return cr_onednn_cached(&cache, &k);
}

/* oneDNN 2.6.3 writes elsewhere, or wrong gradients of the weight. */
static bool skips_padding(const struct cr_conv *c)
{
    return c->stride[0] > 1 && c->pad_before[0] > c->stride[0];
}

static bool accepts(const void *what)
{
    const struct cr_conv *c = what;

    return !skips_padding(c) && c->x == CR_CHANNELS_LAST &&
           c->y == CR_CHANNELS_LAST && c->n > 0 && primitives_of(c);
}

/* ---- running ---- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t aligned(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static size_t scratchpad_of(const struct primitive *p)
{
    return larger(p->run.scratchpad_bytes, p->reorder.scratchpad_bytes);
}

static void reorder(const struct primitive *p, const dnn_md *from,
                    const dnn_md *to, const void *x, void *y)
{
    const struct cr_onednn_arg of[] = { { DNN_SRC, from, x },
                                        { DNN_DST, to, y } };

    cr_onednn_run(&p->reorder, of, 2, cr_thread_scratch(scratchpad_of(p)));
}

struct job {
    const struct cr_conv *c;
    const struct conv_primitives *p;
    const cr_real *x, *dy, *w;
    cr_real *to;
    const struct cr_epilogue *end;
    int64_t blocks, in, out; /* numbers of an image of x and y */
};

static struct job job_of(const struct cr_conv *c)
{
    struct job j = { .c = c, .p = primitives_of(c) };

    j.blocks = c->n / j.p->images;
    j.in = c->ci * c->in[0] * c->in[1] * c->in[2];
    j.out = c->co * c->out[0] * c->out[1] * c->out[2];
    return j;
}

/* What follows the convolution, for `n` numbers of pixels with `channels` each.
 * A thread's caches hold them. */
CR_CLONES static void finish(const struct cr_epilogue *end, int64_t channels,
                             int64_t at, int64_t n, const cr_real *from,
                             cr_real *to)
{
    const cr_real *add = end->add ? end->add + at : NULL;
    const cr_real *mask = end->mask ? end->mask + at : NULL;
    int64_t i, k;

    to += at;
    if (add) {
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] = from[i] + add[i];
        from = to;
    }
    for (i = 0; i < n && end->bias; i += channels) {
        CR_SIMD
        for (k = 0; k < channels; k++)
            to[i + k] = from[i + k] + end->bias[k];
    }
    if (end->bias)
        from = to;
    if (end->act == CR_ACT_RELU) {
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] = from[i] < 0 ? 0 : from[i];
        from = to;
    }
    if (mask) {
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] = mask[i] <= 0 ? 0 : from[i];
    }
}

static void blocks_part(const struct job *j, bool forward, int task,
                        int n_tasks)
{
    const struct conv_primitives *p = j->p;
    const struct primitive *run = forward ? &p->forward : &p->input;
    int64_t from = p->images * (forward ? j->in : j->out);
    int64_t to = p->images * (forward ? j->out : j->in);
    const struct cr_epilogue *end = j->end;
    bool in_place = end->add == j->to,
         ends = end->add || end->bias || end->act != CR_ACT_NONE || end->mask;
    size_t bytes = scratchpad_of(run);
    char *room = cr_thread_scratch(
        bytes + (in_place ? (size_t)to * sizeof(cr_real) : 0));
    struct cr_range range;
    int64_t b, last;

    cr_range_split(&range, task, n_tasks, j->blocks, 1);
    for (b = last = 0; b < last || cr_range_next(&range, &b, &last); b++) {
        cr_real *y =
            in_place ? (cr_real *)(void *)(room + bytes) : j->to + b * to;
        const struct cr_onednn_arg of[] = {
            { forward ? DNN_SRC : DNN_DIFF_DST, forward ? &p->x : &p->y,
              j->x + b * from },
            { DNN_WEIGHTS, run->weight, j->w },
            { forward ? DNN_DST : DNN_DIFF_SRC, forward ? &p->y : &p->x, y },
        };

        cr_onednn_run(&run->run, of, (int)CR_LEN(of), room);
        if (ends)
            finish(end, forward ? j->c->co : j->c->ci, b * to, to, y, j->to);
    }
}

static void forward_part(void *ctx, int task, int n_tasks)
{
    blocks_part(ctx, true, task, n_tasks);
}

static void input_part(void *ctx, int task, int n_tasks)
{
    blocks_part(ctx, false, task, n_tasks);
}

static size_t packed_bytes(const struct cr_conv *c)
{
    return aligned(primitives_of(c)->forward.weight_bytes) + 64;
}

static void pack(const struct cr_conv *c, const cr_real *w, cr_real *packed)
{
    const struct conv_primitives *p = primitives_of(c);
    char *at = (char *)packed;

    reorder(&p->forward, &p->w, p->forward.weight, w, conv_carve(&at, 0));
}

static void forward(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                    const cr_real *packed, const struct cr_epilogue *end,
                    cr_real *y, void *scratch)
{
    struct job j = job_of(c);
    char *at = packed ? (char *)packed : scratch;

    if (!packed)
        pack(c, w, scratch);
    j.x = x;
    j.w = conv_carve(&at, 0);
    j.to = y;
    j.end = end;
    cr_parallel_run(forward_part, &j, conv_threads(c));
}

static void input(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                  const struct cr_epilogue *end, cr_real *dx, void *scratch)
{
    struct job j = job_of(c);
    char *at = scratch;
    void *packed = conv_carve(&at, 0);

    reorder(&j.p->input, &j.p->w, j.p->input.weight, w, packed);
    j.x = dy;
    j.w = packed;
    j.to = dx;
    j.end = end;
    cr_parallel_run(input_part, &j, conv_threads(c));
}

/* ---- the gradient of the weight ---- */

static int64_t chunks(const struct conv_primitives *p, int64_t blocks)
{
    return p->weight.weight_bytes <= CONV_PARTIAL_BYTES
               ? conv_min(blocks, CONV_CHUNKS)
               : 1;
}

/* Numbers of a sum of a chunk, in the layout of the primitive. */
static int64_t sum_numbers(const struct conv_primitives *p)
{
    return (int64_t)(aligned(p->weight.weight_bytes) / sizeof(cr_real));
}

CR_CLONES static void add_up(int64_t n, const cr_real *x, cr_real *sum)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        sum[i] += x[i];
}

static void weight_part(void *ctx, int task, int n_tasks)
{
    const struct job *j = ctx;
    const struct conv_primitives *p = j->p;
    const struct primitive *run = &p->weight;
    int64_t n = chunks(p, j->blocks), size = sum_numbers(p), i, b;
    size_t bytes = scratchpad_of(run);
    char *room = cr_thread_scratch(bytes + (size_t)size * sizeof(cr_real));
    cr_real *one = (cr_real *)(void *)(room + bytes);

    for (i = n * task / n_tasks; i < n * (task + 1) / n_tasks; i++) {
        cr_real *sum = j->to + i * size;
        int64_t first = j->blocks * i / n;

        for (b = first; b < j->blocks * (i + 1) / n; b++) {
            const struct cr_onednn_arg of[] = {
                { DNN_SRC, &p->x, j->x + b * p->images * j->in },
                { DNN_DIFF_WEIGHTS, run->weight, b == first ? sum : one },
                { DNN_DIFF_DST, &p->y, j->dy + b * p->images * j->out },
            };

            cr_onednn_run(&run->run, of, (int)CR_LEN(of), room);
            if (b > first)
                add_up(size, one, sum);
        }
    }
}

static void weight(const struct cr_conv *c, const cr_real *x, const cr_real *dy,
                   cr_real alpha, bool add, cr_real *dw, void *scratch)
{
    struct job j = job_of(c);
    int64_t n = chunks(j.p, j.blocks), size = sum_numbers(j.p), i, k;
    int64_t weights = c->co * (c->ci / c->group) * c->kernel[0] * conv_taps(c);
    char *at = scratch;
    cr_real *sums = conv_carve(&at, n * size * (int64_t)sizeof *sums);
    cr_real *plain = conv_carve(&at, 0);

    j.x = x;
    j.dy = dy;
    j.to = sums;
    cr_parallel_run(weight_part, &j, conv_threads(c));
    for (i = 1; i < n; i++)
        add_up(size, sums + i * size, sums);
    reorder(&j.p->weight, j.p->weight.weight, &j.p->w, sums, plain);
    for (k = 0; k < weights; k++)
        dw[k] = alpha * plain[k] + (add ? dw[k] : 0);
}

/* ---- memory ---- */

static size_t scratch_bytes(const struct cr_conv *c)
{
    const struct conv_primitives *p = primitives_of(c);
    int64_t blocks = c->n / p->images;
    size_t packed =
        aligned(larger(p->forward.weight_bytes, p->input.weight_bytes));
    size_t sums =
        (size_t)(chunks(p, blocks) * sum_numbers(p)) * sizeof(cr_real) +
        aligned(cr_onednn()->size_of(&p->w));

    return larger(packed, sums) + 128;
}

static size_t thread_scratch(const struct cr_conv *c)
{
    const struct conv_primitives *p = primitives_of(c);
    int64_t in = c->ci * c->in[0] * c->in[1] * c->in[2];
    int64_t out = c->co * c->out[0] * c->out[1] * c->out[2];
    size_t image = (size_t)p->images * sizeof(cr_real);

    return larger(larger(scratchpad_of(&p->forward) + image * (size_t)out,
                         scratchpad_of(&p->input) + image * (size_t)in),
                  scratchpad_of(&p->weight) +
                      (size_t)sum_numbers(p) * sizeof(cr_real));
}

const struct cr_conv_kernel cr_conv_onednn = {
    .head = { .name = "conv_onednn", .blas = "onednn", .accepts = accepts },
    .takes = CR_END_SCALE | CR_END_BIAS | CR_END_ADD | CR_END_ACT | CR_END_MASK,
    .scratch = scratch_bytes,
    .thread_scratch = thread_scratch,
    .packed = packed_bytes,
    .pack = pack,
    .forward = forward,
    .input = input,
    .weight = weight,
};

#endif
