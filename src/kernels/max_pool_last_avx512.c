/* Max pooling with channels last in vectors of AVX-512: windows of any kind, as
 * far as a byte holds their indices. */
#include "base/compiler.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include <immintrin.h>
#include <math.h>
#include <string.h>

#include "kernels/parallel_for.h"
#include "kernels/pool_window.h"
#include "kernels/simd_avx512.h"

#define PART 64    /* channels that a task of backward has */
#define MAX_VECS 4 /* of channels at once */

static bool accepts(const void *what)
{
    const struct cr_pool *p = what;

    return p->last && cr_pool_index(p) == 1;
}

struct run {
    const struct cr_pool *p;
    const float *x, *dy, *mask; /* mask: y, in backward; NULL: none */
    float *y, *dx;
    uint8_t *at;
    const uint8_t *from;
    bool add, alone, covered; /* an input has one window at most, at least */
    int64_t in, out;          /* elements of a plane */
    int64_t kw, khw;          /* strides of an index in its window */
    int64_t parts;            /* tasks per sample in backward */
};

static struct run run_of(const struct cr_pool *p)
{
    const struct cr_window *w = p->w;
    struct run r = { .p = p, .alone = true, .covered = true };
    int i;

    r.in = w[0].in * w[1].in * w[2].in;
    r.out = w[0].out * w[1].out * w[2].out;
    r.kw = widest(&w[2]);
    r.khw = widest(&w[1]) * r.kw;
    r.parts = (p->c + PART - 1) / PART;
    for (i = 0; i < 3; i++) {
        bool even = w[i].adaptive && w[i].in % w[i].out == 0;

        r.alone = r.alone && (even || (!w[i].adaptive && w[i].dilation == 1 &&
                                       w[i].stride >= w[i].kernel));
        r.covered = r.covered &&
                    (w[i].adaptive ||
                     (w[i].dilation == 1 && w[i].stride <= w[i].kernel &&
                      w[i].pad_before == 0 &&
                      (w[i].out - 1) * w[i].stride + w[i].kernel >= w[i].in));
    }
    return r;
}

static __mmask16 first(int64_t n)
{
    return (__mmask16)(n >= LANES ? 0xffff : (1u << n) - 1);
}

/* Place and index of the first element; false: there is none. */
static bool first_of(const struct run *r, const struct place *a, int64_t *at,
                     int *index)
{
    int64_t d = a->s[0].low, h = a->s[1].low, w = a->s[2].low;

    *at = a->at + d * a->step[0] + h * a->step[1] + w * a->step[2];
    *index = (int)(d * r->khw + h * r->kw + w);
    return d < a->s[0].high && h < a->s[1].high && w < a->s[2].high;
}

/* Of so many vectors of channels, side by side: each element waits for what the
 * one before gives. The first one counts whatever it is, a later one if it is
 * larger or NaN and the best is a number. */
KERNEL CR_INLINE void window_max(const struct run *r, const struct place *a,
                                 int vecs, __mmask16 lanes, const float *x,
                                 float *y, uint8_t *at)
{
    __m512 best[MAX_VECS];
    __m512i k[MAX_VECS];
    int64_t from;
    int index_from, v;
    bool some = first_of(r, a, &from, &index_from);

#pragma GCC unroll 4
    for (v = 0; v < vecs; v++) {
        best[v] =
            some ? _mm512_maskz_loadu_ps(lanes, x + from * r->p->c + v * LANES)
                 : _mm512_set1_ps(-INFINITY);
        k[v] = _mm512_set1_epi32(some ? index_from : 0);
    }
    EACH_ELEMENT(r, *a, i, index)
    {
        __m512i is = _mm512_set1_epi32((int)index);

#pragma GCC unroll 4
        for (v = 0; v < vecs; v++) {
            __m512 e =
                _mm512_maskz_loadu_ps(lanes, x + i * r->p->c + v * LANES);
            __mmask16 more = _mm512_mask_cmp_ps_mask(
                _mm512_cmp_ps_mask(best[v], best[v], _CMP_ORD_Q), e, best[v],
                _CMP_NLE_UQ);

            k[v] = _mm512_mask_mov_epi32(k[v], more, is);
            best[v] = _mm512_mask_mov_ps(best[v], more, e);
        }
    }
#pragma GCC unroll 4
    for (v = 0; v < vecs; v++) {
        _mm512_mask_storeu_ps(y + v * LANES, lanes, best[v]);
        _mm512_mask_cvtepi32_storeu_epi8(at + v * LANES, lanes, k[v]);
    }
}

/* Rows of windows. */
KERNEL static void max_range(void *ctx, int64_t from, int64_t to)
{
    const struct run *r = ctx;
    const struct cr_pool *p = r->p;
    int64_t rows = p->w[0].out * p->w[1].out, ow, c;

    for (; from < to; from++) {
        const float *x = r->x + from / rows * r->in * p->c;
        int64_t row = from % rows, to_y = from * p->w[2].out * p->c;

        for (ow = 0; ow < p->w[2].out; ow++, to_y += p->c) {
            struct place a =
                place_of(p, row / p->w[1].out, row % p->w[1].out, ow);

            for (c = 0; c + MAX_VECS * LANES <= p->c; c += MAX_VECS * LANES)
                window_max(r, &a, MAX_VECS, 0xffff, x + c, r->y + to_y + c,
                           r->at + to_y + c);
            for (; c < p->c; c += LANES)
                window_max(r, &a, 1, first(p->c - c), x + c, r->y + to_y + c,
                           r->at + to_y + c);
        }
    }
}

/* The gradient of 16 channels of a window, to the element that was largest. */
KERNEL CR_INLINE void window_back(const struct run *r, const struct place *a,
                                  __mmask16 lanes, int64_t y, float *dx)
{
    __m512i k = _mm512_cvtepu8_epi32(_mm_maskz_loadu_epi8(lanes, r->from + y));
    __mmask16 above = lanes;
    __m512 d;

    if (r->mask)
        above = _mm512_mask_cmp_ps_mask(
            lanes, _mm512_maskz_loadu_ps(lanes, r->mask + y),
            _mm512_setzero_ps(), _CMP_NLE_UQ);
    d = _mm512_maskz_loadu_ps(above, r->dy + y);
    EACH_ELEMENT(r, *a, i, index)
    {
        float *to = dx + i * r->p->c;
        __m512 v = _mm512_maskz_mov_ps(
            _mm512_cmpeq_epi32_mask(k, _mm512_set1_epi32((int)index)), d);

        if (r->add || !r->alone)
            v = _mm512_add_ps(_mm512_maskz_loadu_ps(lanes, to), v);
        _mm512_mask_storeu_ps(to, lanes, v);
    }
}

/* A task has channels c to `end` of one sample. */
KERNEL static void back_range(void *ctx, int64_t from, int64_t to)
{
    const struct run *r = ctx;
    const struct cr_pool *p = r->p;
    int64_t windows = p->w[1].out * p->w[2].out, i, o, c, begin, end, n;

    for (; from < to; from++) {
        float *dx = r->dx + from / r->parts * r->in * p->c;

        begin = from % r->parts * PART;
        end = p->c - begin < PART ? p->c : begin + PART;
        n = from / r->parts * r->out * p->c;
        for (i = 0; i < r->in && !r->add && !(r->alone && r->covered); i++)
            memset(dx + i * p->c + begin, 0,
                   (size_t)(end - begin) * sizeof *dx);
        for (o = 0; o < r->out; o++) {
            struct place a = place_of(
                p, o / windows, o / p->w[2].out % p->w[1].out, o % p->w[2].out);

            for (c = begin; c < end; c += LANES)
                window_back(r, &a, first(end - c), n + o * p->c + c, dx + c);
        }
    }
}

static void max(const struct cr_pool *p, const cr_real *x, cr_real *y, void *at)
{
    struct run r = run_of(p);
    int64_t n = p->n * p->w[0].out * p->w[1].out;

    r.x = x;
    r.y = y;
    r.at = at;
    cr_parallel_for_coarse(n, (double)(p->n * p->c * r.in) / (double)n, &r,
                           max_range);
}

static void max_backward(const struct cr_pool *p, const cr_real *dy,
                         const void *at, const cr_real *y, bool add,
                         cr_real *dx)
{
    struct run r = run_of(p);
    int64_t n = p->n * r.parts;

    r.dy = dy;
    r.from = at;
    r.mask = y;
    r.add = add;
    r.dx = dx;
    cr_parallel_for_coarse(n, (double)(p->n * p->c * r.in) / (double)n, &r,
                           back_range);
}

const struct cr_pool_kernel cr_max_pool_last_avx512 = {
    .head = { .name = "max_pool_last_avx512",
              .isa = CR_ISA_AVX512,
              .accepts = accepts },
    .max = max,
    .max_backward = max_backward,
};

#endif
