#include "kernels/pool.h"

#include "kernels/parallel_for.h"
#include "kernels/pool_window.h"

static const struct cr_kernel *const max_rows[] = {
#ifndef CR_DOUBLE
    &cr_max_pool_onednn.head,
#endif
#if defined(__x86_64__) && !defined(CR_DOUBLE)
    &cr_max_pool_2x2_avx512.head,
    &cr_max_pool_2x2_avx2.head,
    &cr_max_pool_last_avx512.head,
#endif
#ifdef __x86_64__
    &cr_pool_avx2.head,
#endif
    &cr_pool_portable.head,
    NULL
};

static const struct cr_kernel *const mean_rows[] = {
#ifndef CR_DOUBLE
    &cr_mean_pool_onednn.head,
#endif
#ifdef __x86_64__
    &cr_pool_avx2.head,
#endif
    &cr_pool_portable.head, NULL
};

const struct cr_kernels cr_kernels_max_pool = { max_rows },
                        cr_kernels_mean_pool = { mean_rows };

static const struct cr_pool_kernel *kernel_of(const struct cr_kernels *family,
                                              const struct cr_pool *p)
{
    return (const struct cr_pool_kernel *)(const void *)cr_kernel_choose(family,
                                                                         p);
}

const char *cr_pool_max_kernel_name(const struct cr_pool *p)
{
    return kernel_of(&cr_kernels_max_pool, p)->head.name;
}

const char *cr_pool_mean_kernel_name(const struct cr_pool *p)
{
    return kernel_of(&cr_kernels_mean_pool, p)->head.name;
}

static size_t thread_scratch(const struct cr_pool_kernel *k,
                             const struct cr_pool *p)
{
    return k->thread_scratch ? k->thread_scratch(p) : 0;
}

size_t cr_pool_max_thread_scratch(const struct cr_pool *p)
{
    return thread_scratch(kernel_of(&cr_kernels_max_pool, p), p);
}

size_t cr_pool_mean_thread_scratch(const struct cr_pool *p)
{
    return thread_scratch(kernel_of(&cr_kernels_mean_pool, p), p);
}

int64_t cr_pool_volume(const struct cr_pool *p)
{
    return widest(&p->w[0]) * widest(&p->w[1]) * widest(&p->w[2]);
}

size_t cr_pool_index(const struct cr_pool *p)
{
    int64_t volume = cr_pool_volume(p);

    return volume <= 256 ? 1 : volume <= 65536 ? 2 : 4;
}

/* ---- places ---- */

struct places {
    const struct cr_pool *p;
    const void *at;
    int32_t *to;
};

/* Outputs `from` to `to`, in the order of y. */
static void places_range(void *ctx, int64_t from, int64_t to)
{
    const struct places *r = ctx;
    const struct cr_pool *p = r->p;
    const struct cr_window *w = p->w;
    int64_t out = w[0].out * w[1].out * w[2].out, i;
    int64_t kw = widest(&w[2]), khw = widest(&w[1]) * kw;
    size_t size = cr_pool_index(p);

    for (i = from; i < to; i++) {
        int64_t o = p->last ? i / p->c % out : i % out;
        int64_t index = get_index(r->at, size, i);
        struct place a = place_of(p, o / (w[1].out * w[2].out),
                                  o / w[2].out % w[1].out, o % w[2].out);

        r->to[i] =
            (int32_t)(a.at + index / khw * a.step[0] +
                      index % khw / kw * a.step[1] + index % kw * a.step[2]);
    }
}

void cr_pool_places(const struct cr_pool *p, const void *at, int32_t *to)
{
    struct places r = { p, at, to };
    int64_t out = p->w[0].out * p->w[1].out * p->w[2].out;

    cr_parallel_for(p->n * p->c * out, 10, &r, places_range);
}

/* ---- the functions ---- */

void cr_pool_max(const struct cr_pool *p, const cr_real *x, cr_real *y,
                 void *at)
{
    kernel_of(&cr_kernels_max_pool, p)->max(p, x, y, at);
}

void cr_pool_max_backward(const struct cr_pool *p, const cr_real *dy,
                          const void *at, const cr_real *y, bool add,
                          cr_real *dx)
{
    kernel_of(&cr_kernels_max_pool, p)->max_backward(p, dy, at, y, add, dx);
}

bool cr_pool_max_has_low(const struct cr_pool *p)
{
    return kernel_of(&cr_kernels_max_pool, p)->max_low;
}

void cr_pool_max_low(const struct cr_pool *p, enum cr_type type,
                     const uint16_t *x, uint16_t *y, void *at)
{
    kernel_of(&cr_kernels_max_pool, p)->max_low(p, type, x, y, at);
}

void cr_pool_max_backward_low(const struct cr_pool *p, enum cr_type type,
                              const void *dy, bool dy_low, const void *at,
                              const uint16_t *y, uint16_t *dx)
{
    kernel_of(&cr_kernels_max_pool, p)
        ->max_backward_low(p, type, dy, dy_low, at, y, dx);
}

void cr_pool_mean(const struct cr_pool *p, const cr_real *x, cr_real *y)
{
    kernel_of(&cr_kernels_mean_pool, p)->mean(p, x, y);
}

void cr_pool_mean_backward(const struct cr_pool *p, const cr_real *dy, bool add,
                           cr_real *dx)
{
    kernel_of(&cr_kernels_mean_pool, p)->mean_backward(p, dy, add, dx);
}
