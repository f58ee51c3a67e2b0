/*
 * Convolutions by oneDNN 2: channels last, weights in the layouts that its
 * primitives ask for.
 *
 * A primitive computes a block of images whose number follows from the shape
 * alone. Threads share the blocks; what follows a convolution is done to a
 * block while it is in the caches (oneDNN's ReLU does not keep NaN). The
 * gradient of a weight is summed over chunks of blocks, as many as the shape
 * says. So bytes do not depend on the number of threads.
 *
 * Primitives are made at the first plan that needs them and kept.
 */
#include "kernels/conv.h"

#ifndef CR_DOUBLE

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/thread_pool.h"
#include "kernels/conv_simd.h"
#include "kernels/gemm_library.h"
#include "kernels/onednn.h"

/* ---- the library's interface, of version 2 ---- */

typedef int64_t dims[12];
/* Structs of the library's, larger than they are. */
typedef union {
    int64_t align;
    char bytes[1024];
} memory_desc;
typedef union {
    int64_t align;
    char bytes[8192];
} conv_desc;
typedef struct {
    int arg;
    void *memory;
} exec_arg;

enum {
    CPU = 1,
    F32 = 3,
    TAG_ANY = 1,
    FORWARD = 64,
    DIRECT = 1,
    QUERY_WEIGHTS = 131,
    QUERY_DIFF_WEIGHTS = 132,
    QUERY_SCRATCHPAD = 136,
    QUERY_NAME = 8,
    USER_SCRATCHPAD = 1,
    SRC = 1,
    DST = 17,
    WEIGHTS = 33,
    SCRATCHPAD = 80,
    DIFF_SRC = 129,
    DIFF_DST = 145,
    DIFF_WEIGHTS = 161
};

static struct {
    int (*engine_create)(void **engine, int kind, size_t index);
    int (*stream_create)(void **stream, void *engine, unsigned flags);
    int (*by_strides)(memory_desc *md, int n, const dims d, int type,
                      const dims strides);
    int (*by_tag)(memory_desc *md, int n, const dims d, int type, int tag);
    int (*forward_desc)(conv_desc *d, int prop, int alg, const memory_desc *src,
                        const memory_desc *weights, const memory_desc *bias,
                        const memory_desc *dst, const dims strides,
                        const dims dilates, const dims before,
                        const dims after);
    int (*data_desc)(conv_desc *d, int alg, const memory_desc *diff_src,
                     const memory_desc *weights, const memory_desc *diff_dst,
                     const dims strides, const dims dilates, const dims before,
                     const dims after);
    int (*weights_desc)(conv_desc *d, int alg, const memory_desc *src,
                        const memory_desc *diff_weights,
                        const memory_desc *diff_bias,
                        const memory_desc *diff_dst, const dims strides,
                        const dims dilates, const dims before,
                        const dims after);
    int (*attr_create)(void **attr);
    int (*attr_scratchpad)(void *attr, int mode);
    int (*desc_create)(void **desc, const conv_desc *d, void *attr,
                       void *engine, const void *hint);
    const memory_desc *(*query_md)(const void *desc, int what, int index);
    int (*query)(const void *desc, int what, int index, void *result);
    size_t (*size_of)(const memory_desc *md);
    int (*reorder_create)(void **desc, const memory_desc *from,
                          void *from_engine, const memory_desc *to,
                          void *to_engine, void *attr);
    int (*primitive_create)(void **primitive, const void *desc);
    int (*execute)(const void *primitive, void *stream, int n,
                   const exec_arg *args);
    int (*memory_create)(void **memory, const memory_desc *md, void *engine,
                         void *data);
    int (*memory_destroy)(void *memory);
} dnnl;

static void *engine, *stream, *attr;
static bool works;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_library(void)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        { "dnnl_engine_create", &dnnl.engine_create },
        { "dnnl_stream_create", &dnnl.stream_create },
        { "dnnl_memory_desc_init_by_strides", &dnnl.by_strides },
        { "dnnl_memory_desc_init_by_tag", &dnnl.by_tag },
        { "dnnl_dilated_convolution_forward_desc_init", &dnnl.forward_desc },
        { "dnnl_dilated_convolution_backward_data_desc_init", &dnnl.data_desc },
        { "dnnl_dilated_convolution_backward_weights_desc_init",
          &dnnl.weights_desc },
        { "dnnl_primitive_attr_create", &dnnl.attr_create },
        { "dnnl_primitive_attr_set_scratchpad_mode", &dnnl.attr_scratchpad },
        { "dnnl_primitive_desc_create", &dnnl.desc_create },
        { "dnnl_primitive_desc_query_md", &dnnl.query_md },
        { "dnnl_primitive_desc_query", &dnnl.query },
        { "dnnl_memory_desc_get_size", &dnnl.size_of },
        { "dnnl_reorder_primitive_desc_create", &dnnl.reorder_create },
        { "dnnl_primitive_create", &dnnl.primitive_create },
        { "dnnl_primitive_execute", &dnnl.execute },
        { "dnnl_memory_create", &dnnl.memory_create },
        { "dnnl_memory_destroy", &dnnl.memory_destroy },
    };
    void *library = cr_onednn_open();
    size_t i;

    for (i = 0; i < CR_LEN(functions); i++)
        if (!library || !cr_gemm_library_find(library, functions[i].name,
                                              functions[i].function))
            return;
    cr_onednn_alone();
    works = dnnl.engine_create(&engine, CPU, 0) == 0 &&
            dnnl.stream_create(&stream, engine, 1) == 0 &&
            dnnl.attr_create(&attr) == 0 &&
            dnnl.attr_scratchpad(attr, USER_SCRATCHPAD) == 0;
}

static bool is_installed(void)
{
    pthread_once(&once, find_library);
    return works;
}

/* ---- primitives ---- */

/* One of the three, with its reorder: of the weight before it, or of the
 * gradient of the weight after it. */
struct primitive {
    void *desc, *run, *reorder_desc, *reorder;
    const memory_desc *weight, *scratchpad, *reorder_scratchpad;
    size_t weight_bytes, scratchpad_bytes, reorder_bytes;
};

/* The primitives of a convolution of `images`; kept in a list that only
 * grows. */
struct conv_primitives {
    struct conv_primitives *next;
    struct cr_conv c;
    int64_t images; /* of a block */
    bool usable;
    memory_desc x, y, w;
    struct primitive forward, input, weight;
};

static struct conv_primitives *_Atomic made;
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

/* Blocks are large enough that a call costs little, and enough for threads. */
static int64_t images_of(int64_t n)
{
    int64_t images = 1;

    while (images < 8 && n % (2 * images) == 0 && n / (2 * images) >= 8)
        images *= 2;
    return images;
}

static int axes(const struct cr_conv *c)
{
    return conv_is_flat(c) ? 2 : 3;
}

/* (images, channels, space), channels last. */
static bool tensor_md(const struct cr_conv *c, int64_t images, int64_t channels,
                      const int64_t space[3], memory_desc *md)
{
    int n = axes(c), i;
    dims d = { images, channels }, strides = { 0, 1 };
    int64_t step = channels;

    for (i = n - 1; i >= 0; i--) {
        d[2 + i] = space[3 - n + i];
        strides[2 + i] = step;
        step *= d[2 + i];
    }
    strides[0] = step;
    return dnnl.by_strides(md, 2 + n, d, F32, strides) == 0;
}

/* As it lies (plain), or in whatever layout a primitive wants. */
static bool weight_md(const struct cr_conv *c, bool plain, memory_desc *md)
{
    int n = axes(c), rank = 0, i;
    int64_t step = 1;
    dims d = { 0 }, strides = { 0 };

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
    return (plain ? dnnl.by_strides(md, rank, d, F32, strides)
                  : dnnl.by_tag(md, rank, d, F32, TAG_ANY)) == 0;
}

static bool primitive_make(struct primitive *p, const conv_desc *d,
                           const void *hint, int weight)
{
    const char *name = NULL;

    if (dnnl.desc_create(&p->desc, d, attr, engine, hint) != 0 ||
        dnnl.query(p->desc, QUERY_NAME, 0, &name) != 0 || !name ||
        strncmp(name, "ref", 3) == 0 ||
        dnnl.primitive_create(&p->run, p->desc) != 0)
        return false;
    p->weight = dnnl.query_md(p->desc, weight, 0);
    p->scratchpad = dnnl.query_md(p->desc, QUERY_SCRATCHPAD, 0);
    p->weight_bytes = dnnl.size_of(p->weight);
    p->scratchpad_bytes = dnnl.size_of(p->scratchpad);
    return true;
}

static bool reorder_make(struct primitive *p, const memory_desc *from,
                         const memory_desc *to)
{
    if (dnnl.reorder_create(&p->reorder_desc, from, engine, to, engine, attr) !=
            0 ||
        dnnl.primitive_create(&p->reorder, p->reorder_desc) != 0)
        return false;
    p->reorder_scratchpad = dnnl.query_md(p->reorder_desc, QUERY_SCRATCHPAD, 0);
    p->reorder_bytes = dnnl.size_of(p->reorder_scratchpad);
    return true;
}

static bool primitives_make(struct conv_primitives *p)
{
    const struct cr_conv *c = &p->c;
    memory_desc any;
    conv_desc d;
    dims stride = { 0 }, dilation = { 0 }, before = { 0 }, after = { 0 };
    int n = axes(c), i;

    for (i = 0; i < n; i++) {
        int axis = 3 - n + i;
        int64_t reach = (c->kernel[axis] - 1) * c->dilation[axis] + 1;

        stride[i] = c->stride[axis];
        dilation[i] = c->dilation[axis] - 1;
        before[i] = c->pad_before[axis];
        after[i] = (c->out[axis] - 1) * c->stride[axis] + reach - c->in[axis] -
                   c->pad_before[axis];
    }
    return tensor_md(c, p->images, c->ci, c->in, &p->x) &&
           tensor_md(c, p->images, c->co, c->out, &p->y) &&
           weight_md(c, true, &p->w) && weight_md(c, false, &any) &&
           dnnl.forward_desc(&d, FORWARD, DIRECT, &p->x, &any, NULL, &p->y,
                             stride, dilation, before, after) == 0 &&
           primitive_make(&p->forward, &d, NULL, QUERY_WEIGHTS) &&
           reorder_make(&p->forward, &p->w, p->forward.weight) &&
           dnnl.data_desc(&d, DIRECT, &p->x, &any, &p->y, stride, dilation,
                          before, after) == 0 &&
           primitive_make(&p->input, &d, p->forward.desc, QUERY_WEIGHTS) &&
           reorder_make(&p->input, &p->w, p->input.weight) &&
           dnnl.weights_desc(&d, DIRECT, &p->x, &any, NULL, &p->y, stride,
                             dilation, before, after) == 0 &&
           primitive_make(&p->weight, &d, p->forward.desc,
                          QUERY_DIFF_WEIGHTS) &&
           reorder_make(&p->weight, p->weight.weight, &p->w);
}

static const struct conv_primitives *find(const struct cr_conv *c,
                                          int64_t images)
{
    const struct conv_primitives *p = atomic_load(&made);

    for (; p; p = p->next)
        if (p->images == images && memcmp(&p->c, c, sizeof *c) == 0)
            return p;
    return NULL;
}

/* NULL: the library has no fast primitives for it. */
static const struct conv_primitives *primitives_of(const struct cr_conv *of)
{
    int64_t images = images_of(of->n);
    struct cr_conv c;
    const struct conv_primitives *found;

    memset(&c, 0, sizeof c); /* no padding of the struct is compared */
    c.group = of->group;
    c.ci = of->ci;
    c.co = of->co;
    memcpy(c.in, of->in, sizeof c.in);
    memcpy(c.out, of->out, sizeof c.out);
    memcpy(c.kernel, of->kernel, sizeof c.kernel);
    memcpy(c.stride, of->stride, sizeof c.stride);
    memcpy(c.dilation, of->dilation, sizeof c.dilation);
    memcpy(c.pad_before, of->pad_before, sizeof c.pad_before);
    found = find(&c, images);
    if (!found) {
        pthread_mutex_lock(&making);
        found = find(&c, images);
        if (!found) {
            struct conv_primitives *p = calloc(1, sizeof *p);

            if (!p)
                abort();
            cr_onednn_alone();
            p->c = c;
            p->images = images;
            p->usable = primitives_make(p);
            p->next = atomic_load(&made);
            atomic_store(&made, p);
            found = p;
        }
        pthread_mutex_unlock(&making);
    }
    return found->usable ? found : NULL;
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
           c->y == CR_CHANNELS_LAST && c->n > 0 && is_installed() &&
           primitives_of(c);
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
    return aligned(larger(p->scratchpad_bytes, p->reorder_bytes));
}

static void *memory(const memory_desc *md, const void *data)
{
    void *m;

    if (dnnl.memory_create(&m, md, engine, (void *)data) != 0)
        abort(); /* out of memory */
    return m;
}

struct operand {
    int arg;
    const memory_desc *md;
    const void *data;
};

static void execute(const void *primitive, const struct operand *of, int n)
{
    exec_arg args[4];
    int i;

    cr_onednn_alone();
    for (i = 0; i < n; i++)
        args[i] = (exec_arg){ of[i].arg, memory(of[i].md, of[i].data) };
    if (dnnl.execute(primitive, stream, n, args) != 0)
        abort(); /* what was accepted cannot fail */
    for (i = 0; i < n; i++)
        dnnl.memory_destroy(args[i].memory);
}

static void reorder(const struct primitive *p, const memory_desc *from,
                    const memory_desc *to, const void *x, void *y)
{
    const struct operand of[] = {
        { SRC, from, x },
        { DST, to, y },
        { SCRATCHPAD, p->reorder_scratchpad,
          cr_thread_scratch(scratchpad_of(p)) },
    };

    execute(p->reorder, of, (int)CR_LEN(of));
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
    int64_t b, last = j->blocks * (task + 1) / n_tasks;

    for (b = j->blocks * task / n_tasks; b < last; b++) {
        cr_real *y =
            in_place ? (cr_real *)(void *)(room + bytes) : j->to + b * to;
        const struct operand of[] = {
            { forward ? SRC : DIFF_DST, forward ? &p->x : &p->y,
              j->x + b * from },
            { WEIGHTS, run->weight, j->w },
            { forward ? DST : DIFF_SRC, forward ? &p->y : &p->x, y },
            { SCRATCHPAD, run->scratchpad, room },
        };

        execute(run->run, of, (int)CR_LEN(of));
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
            const struct operand of[] = {
                { SRC, &p->x, j->x + b * p->images * j->in },
                { DIFF_WEIGHTS, run->weight, b == first ? sum : one },
                { DIFF_DST, &p->y, j->dy + b * p->images * j->out },
                { SCRATCHPAD, run->scratchpad, room },
            };

            execute(run->run, of, (int)CR_LEN(of));
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
        aligned(dnnl.size_of(&p->w));

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
