/*
 * Shared by our own convolution kernels and what includes their .inc: length of
 * vectors, distribution of work, layout of scratch memory, maps.
 * Private to src/kernels.
 */
#ifndef CR_KERNELS_CONV_SIMD_H
#define CR_KERNELS_CONV_SIMD_H

#include "base/compiler.h"
#include "base/cpu.h"
#include "base/thread_pool.h"
#include "kernels/conv.h"

#include <stdint.h>

#define CONV_SUM_BYTES (32 << 10) /* of what a tile of sums passes over */
#define CONV_PARTIAL_BYTES (256 << 10)
/* Maximum size of a copy of an image: in bytes, and in images where that is
 * more. */
#define CONV_COPY_BYTES (64 << 20)
#define CONV_COPY_IMAGES 16
#define CONV_CHUNKS 8 /* of a batch */

enum {
    H = 1,
    W = 2
}; /* axes of struct cr_conv */

/* 0: there is no kernel for the processor. */
CR_INLINE int conv_lanes(void)
{
#ifdef CR_DOUBLE
    return 0;
#else
    switch (cr_isa()) {
    case CR_ISA_AVX512:
        return 16;
    case CR_ISA_AVX2:
        return 8;
    case CR_ISA_GENERIC:
        break;
    }
    return 0;
#endif
}

/* NAME_part, for cr_parallel_run: the kernel cr_KIND_NAME of the vectors'
 * length. */
#if defined(__x86_64__) && !defined(CR_DOUBLE)
#define CONV_PART(kind, name)                                                 \
    static void name##_part(void *ctx, int task, int n_tasks)                 \
    {                                                                         \
        (conv_lanes() == 16 ? cr_##kind##_##name##_avx512                     \
                            : cr_##kind##_##name##_avx2)(ctx, task, n_tasks); \
    }
#else
#define CONV_PART(kind, name)                                              \
    static void name##_part(void *ctx, int task, int n_tasks)              \
    {                                                                      \
        (void)ctx, (void)task, (void)n_tasks; /* nothing comes this far */ \
    }
#endif

CR_INLINE int64_t conv_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

CR_INLINE int64_t conv_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* a / b, rounded up. */
CR_INLINE int64_t conv_up(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

/* Whether depth plays no part: one plane in, and that plane is what each
 * output sees (padding before it may be all that an output sees). */
CR_INLINE bool conv_is_flat(const struct cr_conv *c)
{
    return c->in[0] == 1 && c->out[0] == 1 && c->kernel[0] == 1 &&
           c->pad_before[0] == 0;
}

/* Whether a copy of an image, with the zeros that outputs see around it, is no
 * more than a few images. Those of a far dilation see zeros almost everywhere,
 * which a kernel that copies no image skips. */
CR_INLINE bool conv_copy_fits(const struct cr_conv *c)
{
    double image = (double)c->in[H] * (double)c->in[W] +
                   (double)c->out[H] * (double)c->out[W];
    double copy = (double)(c->ci > c->co ? c->ci : c->co) / (double)c->group;

    image *= copy;
    for (int i = H; i <= W; i++)
        copy *= (double)c->in[i] + (double)c->out[i] * (double)c->stride[i] +
                (double)(c->kernel[i] - 1) * (double)c->dilation[i];
    return copy * sizeof(cr_real) <= CONV_COPY_BYTES ||
           copy <= CONV_COPY_IMAGES * image;
}

/* Memory that a thread asks for while it computes, a little at a time, because
 * it comes from beyond its caches: what it will read next, and write. */
struct conv_ahead {
    const char *at, *end;
    int64_t step; /* bytes at a time */
    bool write;
};

/* In N steps. */
CR_INLINE struct conv_ahead conv_ahead(const void *at, int64_t bytes,
                                       int64_t steps, bool write)
{
    return (struct conv_ahead){
        .at = at,
        .end = (const char *)at + bytes,
        .step = (bytes / (steps > 0 ? steps : 1) + 64) / 64 * 64,
        .write = write
    };
}

CR_INLINE void conv_look_ahead(struct conv_ahead *a)
{
    const char *to = a->end - a->at > a->step ? a->at + a->step : a->end;

    if (a->write)
        for (; a->at < to; a->at += 64)
            __builtin_prefetch(a->at, 1, 2);
    else
        for (; a->at < to; a->at += 64)
            __builtin_prefetch(a->at, 0, 2);
}

/* The map of an epilogue for some pixels of y from `at` on, n numbers of each,
 * `step` apart: they are complete, and in a near cache still. */
CR_INLINE void conv_map(const struct cr_epilogue *end, cr_real *y, int64_t at,
                        int64_t pixels, int64_t n, int64_t step)
{
    cr_real *to = end->map_to ? end->map_to : y;

    if (n == step) {
        n *= pixels;
        pixels = 1;
    }
    for (; pixels > 0; pixels--, at += step)
        end->map(end->attr, n, y + at, to + at);
}

/* An epilogue of y for kernels that know ReLU6 in registers. */
CR_INLINE struct cr_epilogue conv_end(const struct cr_epilogue *end,
                                      const void *y)
{
    struct cr_epilogue e = *end;

    if (e.map && e.map_is == CR_ACT_RELU6 &&
        (!e.map_to || e.map_to == y)) {
        e.map = NULL;
        e.act = CR_ACT_RELU6;
    }
    return e;
}

CR_INLINE int64_t conv_taps(const struct cr_conv *c)
{
    return c->kernel[H] * c->kernel[W];
}

CR_INLINE int conv_threads(const struct cr_conv *c)
{
    double macs = (double)(c->n * c->out[H] * c->out[W]) * (double)c->co *
                  (double)(c->ci / c->group * conv_taps(c));

    return macs < 150000 ? 1 : cr_thread_count();
}

/* Pieces of the scratch, each at a multiple of 64 bytes. */
CR_INLINE void *conv_carve(char **at, int64_t bytes)
{
    char *piece = *at + (64 - (uintptr_t)*at % 64) % 64;

    *at = piece + bytes;
    return piece;
}

#endif
