/*
 * Products of bfloat16 numbers, for processors with AVX512-BF16, and with
 * AMX-BF16 where that is too.
 *
 * Both sides are packed into pairs along k, two bfloat16 in 32 bits, from two
 * bytes per number or from float32 memory, whose numbers are rounded to
 * nearest, ties to even, unless they are bfloat16 already. vdpbf16ps then adds
 * two products to each of 16 sums, where a float32 multiply-add does one, and
 * tdpbf16ps (gemm_amx.c) 32 to each of 256. What differs from the float32
 * kernels on rounded numbers:
 *
 *   - a product of two bfloat16 is exact in float32; an output is one chain
 *     over the pairs of a block of at most 1024 of k, in rising order (with
 *     AMX over groups of 16 pairs), and blocks add up in order. So its bytes
 *     depend on the product and the processor alone, not on tile, part or
 *     number of threads; within a pair or a group the order is the
 *     instruction's
 *   - subnormal numbers (below 2^-126) count as zero, in and out
 *
 * which is float32 rounding of the sum, before the one rounding to bfloat16
 * that follows it. As in kernels/gemm.inc one side is broadcast, the other runs
 * in the lanes, and the cheaper orientation is taken; here both sides are
 * packed, a whole block of lanes at a time:
 *
 *   for each block of lanes, of rows (if the result is gathered), of k:
 *       pack the lanes' panels, [pairs of k][up to 4 vectors] each
 *       for each block of rows: pack it, [row][pairs of k]
 *           for each panel, for each tile of rows: multiply
 *
 * A result that must be transposed, or whose k has several blocks, is gathered
 * in float32 first; the others go out from the registers.
 */
#include "base/compiler.h"

CR_O3

#include "kernels/gemm_bf16.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/cpu.h"

#if defined(__x86_64__) && !defined(CR_DOUBLE)

#include "base/thread_pool.h"
#include "kernels/simd_avx512.h"

#define BF16 CR_TARGET("avx512f,avx512vl,avx512bw,avx512dq,avx512bf16,avx2,fma")
#define WIDE CR_BF16_WIDE
#define FEW 8            /* rows or columns: AVX-512 is faster than AMX */
#define BLOCK 512        /* pairs of k */
#define ROOM_A (1 << 15) /* pairs of the packed broadcast side, */
#define ROOM_B (1 << 17) /* of the panels */
#define ROOM_C (1 << 16) /* numbers of a gathered result, */
#define MAX_LANES 256    /* and its lanes */

/* Working room of one thread, lent by the pool. */
struct bf16_room {
    uint32_t a[ROOM_A];
    uint32_t b[ROOM_B];
    uint32_t turn[LANES * BLOCK];
    cr_real c[ROOM_C];
    cr_real tile[16 * WIDE * LANES];
};

const size_t cr_gemm_bf16_scratch = sizeof(struct bf16_room);

/* The product as the kernel sees it: (row, p) is broadcast, (p, lane) not. */
struct bf16_view {
    bool swap;
    int64_t rows, lanes, k;
    struct bf16_matrix {
        const cr_real *x;
        bool two_bytes;
    } a, b;
    int64_t a_row, a_p, b_p, b_lane; /* strides */
};

static int64_t bf16_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t bf16_up(int64_t n)
{
    return (n + LANES - 1) / LANES * LANES;
}

BF16 CR_INLINE vec bf16_round(vec x)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(
        _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(x)), 16));
}

/* ---- packing ---- */

/* m from number `at` on. */
static struct bf16_matrix bf16_at(struct bf16_matrix m, int64_t at)
{
    m.x = (const cr_real *)(const void *)((const char *)m.x +
                                          at * (m.two_bytes ? 2 : 4));
    return m;
}

/* The first n of 16 numbers, the others 0. */
BF16 CR_INLINE __m256i bf16_load(struct bf16_matrix m, int64_t at, int n)
{
    m = bf16_at(m, at);
    if (m.two_bytes)
        return _mm256_maskz_loadu_epi16(V_FIRST(n), m.x);
    return (__m256i)_mm512_cvtneps_pbh(V_LOAD_N(m.x, n));
}

/* The first n of 16 numbers, then the first `more` of 16. */
BF16 CR_INLINE __m512i bf16_load_2(struct bf16_matrix m, int64_t at, int n,
                                   int64_t then, int more)
{
    if (m.two_bytes)
        return _mm512_inserti64x4(
            _mm512_castsi256_si512(bf16_load(m, at, n)),
            more > 0 ? bf16_load(m, then, more) : _mm256_setzero_si256(), 1);
    return (__m512i)_mm512_cvtne2ps_pbh(
        more > 0 ? V_LOAD_N(m.x + then, more) : V_ZERO(),
        V_LOAD_N(m.x + at, n));
}

/* Rows of k numbers that lie side by side: to[row][pair]. A row is filled up
 * with zeros to full vectors. */
BF16 static void bf16_along(struct bf16_matrix from, int64_t from_row,
                            int64_t rows, int64_t k, uint32_t *to, int64_t ld)
{
    int64_t r, p;

    for (r = 0; r < rows; r++) {
        int64_t x = r * from_row;
        uint32_t *y = to + r * ld;

        for (p = 0; p + 2 * LANES <= k; p += 2 * LANES)
            _mm512_storeu_si512(y + p / 2, bf16_load_2(from, x + p, LANES,
                                                       x + p + LANES, LANES));
        if (p < k) {
            int low = (int)bf16_min(k - p, LANES);
            int high = (int)(k - p) - low;

            _mm512_storeu_si512(
                y + p / 2, bf16_load_2(from, x + p, low, x + p + LANES, high));
        }
    }
}

/* n numbers side by side for each of k: to[pair][lane], filled up with zeros
 * to full vectors. */
BF16 static void bf16_across(struct bf16_matrix from, int64_t from_p, int64_t k,
                             int64_t n, uint32_t *to, int64_t ld)
{
    static const uint16_t order[32] = { 0,  16, 1,  17, 2,  18, 3,  19,
                                        4,  20, 5,  21, 6,  22, 7,  23,
                                        8,  24, 9,  25, 10, 26, 11, 27,
                                        12, 28, 13, 29, 14, 30, 15, 31 };
    const __m512i pairs = _mm512_loadu_si512(order);
    int64_t p, v;

    for (p = 0; p < k; p += 2, to += ld) {
        int64_t x = p * from_p, y = x + from_p;

        for (v = 0; v < n; v += LANES) {
            int some = (int)bf16_min(n - v, LANES);

            _mm512_storeu_si512(
                to + v,
                _mm512_permutexvar_epi16(
                    pairs, bf16_load_2(from, x + v, some, y + v,
                                       p + 1 < k ? some : 0)));
        }
    }
}

/* to[c][r] = from[r][c], of words. Up to 16 rows, c to full vectors. */
BF16 static void bf16_turn(const uint32_t *from, int64_t from_row, int64_t rows,
                           int64_t cols, uint32_t *to, int64_t ld)
{
    int64_t c;

    for (c = 0; c < cols; c += LANES)
        simd_transpose((const cr_real *)from + c, from_row, (int)rows,
                       (int)bf16_min(cols - c, LANES), (cr_real *)to + c * ld,
                       ld);
}

/* Rows row.. of the broadcast side, k numbers from p on: [row][pair]. */
BF16 static void bf16_rows(const struct bf16_view *w, struct bf16_room *room,
                           int64_t row, int64_t rows, int64_t p, int64_t k,
                           int64_t ld)
{
    struct bf16_matrix a = bf16_at(w->a, row * w->a_row + p * w->a_p);
    int64_t r, q;

    if (w->a_p == 1) {
        bf16_along(a, w->a_row, rows, k, room->a, ld);
        return;
    }
    /* a stretch of pairs at a time, each for all rows of a vector */
    for (r = 0; r < rows; r += LANES) {
        int64_t n = bf16_min(rows - r, LANES);

        for (q = 0; q < k; q += 2 * LANES) {
            int64_t some = bf16_min(k - q, 2 * LANES);

            bf16_across(bf16_at(a, r + q * w->a_p), w->a_p, some, n,
                        room->turn, LANES);
            simd_transpose((const cr_real *)room->turn, LANES,
                           (int)((some + 1) / 2), (int)n,
                           (cr_real *)room->a + r * ld + q / 2, ld);
        }
    }
}

/* A panel: lanes lane.., k numbers from p on: [pair][vecs * 16]. */
BF16 static void bf16_panel(const struct bf16_view *w, struct bf16_room *room,
                            int64_t lane, int64_t lanes, int64_t p, int64_t k,
                            uint32_t *to, int64_t ld)
{
    struct bf16_matrix b = bf16_at(w->b, p * w->b_p + lane * w->b_lane);
    int64_t pairs = (k + 1) / 2, v;

    if (w->b_lane == 1) {
        bf16_across(b, w->b_p, k, lanes, to, ld);
        return;
    }
    for (v = 0; v < lanes; v += LANES) {
        int64_t n = bf16_min(lanes - v, LANES);

        bf16_along(bf16_at(b, v * w->b_lane), w->b_lane, n, k, room->turn,
                   bf16_up(pairs));
        bf16_turn(room->turn, bf16_up(pairs), n, pairs, to + v, ld);
    }
}

/* ---- multiplying ---- */

BF16 CR_INLINE void bf16_tile_of(const struct cr_bf16_tile *t, int rows,
                                 int vecs)
{
    vec acc[12][WIDE], alpha;
    __m512i b[WIDE];
    const uint32_t *ap = t->a, *bp = t->b;
    int64_t a_row = t->a_row, pairs = t->pairs, c_row = t->c_row, p, q, end;
    cr_real *c = t->c;
    const cr_real *soon = c, *c_end = t->narrow ? c : c + rows * c_row;
    int i, r, v;

#pragma GCC unroll 12
    for (r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (v = 0; v < vecs; v++)
            acc[r][v] = V_ZERO();
    for (p = 0; p < pairs; p = end) {
        end = p + 16 < pairs ? p + 16 : pairs;
        /* c comes in while the sums are made, a few rows at a time */
        for (i = 0; i < 4 && soon < c_end; i++, soon += c_row)
#pragma GCC unroll 4
            for (v = 0; v < vecs; v++)
                __builtin_prefetch(soon + v * LANES, 1);
        for (q = p; q < end; q++) {
#pragma GCC unroll 4
            for (v = 0; v < vecs; v++)
                b[v] = _mm512_loadu_si512(bp + v * LANES);
            bp += vecs * LANES;
#pragma GCC unroll 12
            for (r = 0; r < rows; r++) {
                __m512i x = _mm512_set1_epi32((int)ap[r * a_row + q]);

#pragma GCC unroll 4
                for (v = 0; v < vecs; v++)
                    acc[r][v] = _mm512_dpbf16_ps(acc[r][v], (__m512bh)x,
                                                 (__m512bh)b[v]);
            }
        }
    }
    if (t->narrow) {
#pragma GCC unroll 12
        for (r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (v = 0; v < vecs; v++)
                _mm256_storeu_si256(
                    (__m256i *)(void *)((uint16_t *)c + r * c_row + v * LANES),
                    (__m256i)_mm512_cvtneps_pbh(acc[r][v]));
        return;
    }
    alpha = V_SET(t->alpha);
#pragma GCC unroll 12
    for (r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (v = 0; v < vecs; v++) {
            cr_real *to = c + r * c_row + v * LANES;
            vec y = acc[r][v];

            if (t->round)
                y = bf16_round(y);
            V_STORE(to, t->add ? V_FMA(alpha, y, V_LOAD(to)) : V_MUL(alpha, y));
        }
}

#define TILES                                                                  \
    T(1, 1)                                                                    \
    T(2, 1) T(3, 1) T(4, 1) T(5, 1) T(6, 1) T(7, 1) T(8, 1) T(9, 1) T(10, 1)   \
        T(11, 1) T(12, 1) T(1, 2) T(2, 2) T(3, 2) T(4, 2) T(5, 2) T(6, 2)      \
            T(7, 2) T(8, 2) T(9, 2) T(10, 2) T(11, 2) T(12, 2) T(1, 3) T(2, 3) \
                T(3, 3) T(4, 3) T(5, 3) T(6, 3) T(7, 3) T(8, 3) T(1, 4)        \
                    T(2, 4) T(3, 4) T(4, 4) T(5, 4) T(6, 4)

#define T(rows, vecs)                                                     \
    BF16 static void bf16_tile_##rows##_##vecs(const struct cr_bf16_tile *t) \
    {                                                                     \
        bf16_tile_of(t, rows, vecs);                                      \
    }
TILES
#undef T

static void (*const bf16_tiles[WIDE + 1][13])(const struct cr_bf16_tile *t) = {
#define T(rows, vecs) [vecs][rows] = bf16_tile_##rows##_##vecs,
    TILES
#undef T
};

static void avx512_tile(const struct cr_bf16_tile *t, int rows, int vecs)
{
    bf16_tiles[vecs][rows](t);
}

static bool avx512_available(void)
{
    return cr_isa() == CR_ISA_AVX512 && __builtin_cpu_supports("avx512bf16");
}

const struct cr_bf16_kernel cr_bf16_avx512 = {
    .name = "avx512_bf16",
    .wide = WIDE,
    .max_rows = { 1, 12, 12, 8, 6 },
    .unit = 1,
    .narrows = true,
    .macs = 64,
    .available = avx512_available,
    .tile = avx512_tile,
};

/* ---- the choice ---- */

/* In order of preference. AMX computes 16 rows at least, so it loses where
 * there are few. */
static const struct cr_bf16_kernel *const bf16_kernels[] = { &cr_bf16_amx,
                                                             &cr_bf16_avx512 };
static bool bf16_has[CR_LEN(bf16_kernels)];
static pthread_once_t bf16_once = PTHREAD_ONCE_INIT;

static void bf16_find(void)
{
    size_t i;

    for (i = 0; i < CR_LEN(bf16_kernels); i++)
        bf16_has[i] = bf16_kernels[i]->available();
}

static const struct cr_bf16_kernel *bf16_kernel(const struct cr_gemm *g)
{
    pthread_once(&bf16_once, bf16_find);
    return bf16_has[0] && g->m >= FEW && g->n >= FEW ? bf16_kernels[0]
                                                     : bf16_kernels[1];
}

bool cr_gemm_bf16_amx(bool use)
{
    pthread_once(&bf16_once, bf16_find);
    bf16_has[0] = use && cr_bf16_amx.available();
    return bf16_has[0];
}

/* Vectors of the next panel when `left` are to come: no thin rest. */
static int bf16_width(const struct cr_bf16_kernel *kernel, int64_t left)
{
    if (left <= kernel->wide)
        return (int)left;
    return left % kernel->wide == 0 || kernel->wide < 3 ? kernel->wide
                                                        : kernel->wide - 1;
}

/* ---- what follows the product ---- */

/* One row of c: cols numbers from x on, at element `at` of c, column j. */
BF16 static void bf16_finish_row(const struct cr_gemm *g, int64_t at, int64_t j,
                                 int64_t cols, const cr_real *x)
{
    vec alpha = V_SET(g->alpha);
    int64_t q;

    for (q = 0; q < cols; q += LANES) {
        int n = (int)bf16_min(cols - q, LANES);
        vec y = V_LOAD_N(x + q, n);
        vec bias = g->bias ? V_LOAD_N(g->bias + j + q, n) : V_ZERO();

        if (g->round)
            y = bf16_round(g->bias ? V_ADD(y, bias) : y);
        y = g->accumulate ? V_FMA(alpha, y, V_LOAD_N(g->c + at + q, n))
                          : V_MUL(alpha, y);
        if (g->bias && !g->round)
            y = V_ADD(y, bias);
        if (g->act == CR_ACT_RELU)
            y = V_RELU(y);
        if (g->mask)
            y = V_MASK(y, g->mask_low != CR_LOW_NONE
                              ? simd_widen(CR_BF16, (const uint16_t *)g->mask +
                                                        at + q, n)
                              : V_LOAD_N(g->mask + at + q, n));
        if (g->c_low != CR_LOW_NONE)
            simd_narrow(CR_BF16, (uint16_t *)g->c + at + q, n, y);
        else
            V_STORE_N(g->c + at + q, n, y);
    }
}

static void bf16_finish(const struct cr_gemm *g, int64_t i, int64_t j,
                        int64_t rows, int64_t cols, const cr_real *x,
                        int64_t ld)
{
    int64_t r;

    for (r = 0; r < rows; r++)
        bf16_finish_row(g, (i + r) * g->n + j, j, cols, x + r * ld);
}

/* ---- blocks ---- */

/* The rectangle at hand, and the block of k. */
struct bf16_span {
    const struct cr_gemm *g;
    const struct cr_bf16_kernel *kernel;
    const struct bf16_view *w;
    struct bf16_room *room;
    int64_t row, rows, lane, lanes, p, k;
    bool gathers;
};

BF16 static void bf16_panels(const struct bf16_span *s)
{
    int64_t pairs = (s->k + 1) / 2, left = bf16_up(s->lanes) / LANES, at = 0;

    while (left > 0) {
        int vecs = bf16_width(s->kernel, left);
        int64_t wide = (int64_t)vecs * LANES;
        uint32_t *to = s->room->b + at * bf16_up(pairs);

        bf16_panel(s->w, s->room, s->lane + at, bf16_min(s->lanes - at, wide),
                   s->p, s->k, to, wide);
        memset(to + pairs * wide, 0,
               (size_t)((bf16_up(pairs) - pairs) * wide) * sizeof *to);
        at += wide;
        left -= vecs;
    }
}

/* Some rows of the rectangle, those that are packed at a time. */
BF16 static void bf16_block(const struct bf16_span *s, int64_t row,
                            int64_t rows)
{
    const struct cr_gemm *g = s->g;
    const int *max_rows = s->kernel->max_rows, unit = s->kernel->unit;
    int64_t pairs = (s->k + 1) / 2, ld = bf16_up(pairs), at = 0, i, r;
    int64_t left = bf16_up(s->lanes) / LANES;
    bool narrow = g->c_low != CR_LOW_NONE && g->round && g->alpha == 1 &&
                  s->kernel->narrows;
    bool plain = !g->bias && !g->mask && g->act == CR_ACT_NONE &&
                 (g->c_low == CR_LOW_NONE || narrow);
    struct cr_bf16_tile t = { .pairs = pairs, .a_row = ld };

    bf16_rows(s->w, s->room, row, rows, s->p, s->k, ld);
    while (left > 0) {
        int vecs = bf16_width(s->kernel, left), most = max_rows[vecs];
        int64_t wide = (int64_t)vecs * LANES;
        int64_t lanes = bf16_min(s->lanes - at, wide);
        int64_t tiles = (rows + most - 1) / most;
        bool straight = !s->gathers && plain && lanes == wide;

        t.b = s->room->b + at * ld;
        t.alpha = straight ? g->alpha : 1;
        t.round = straight && g->round;
        t.narrow = straight && narrow;
        t.add = straight ? g->accumulate : s->gathers && s->p > 0;
        t.c_row = straight ? g->n : s->gathers ? bf16_up(s->lanes) : wide;
        for (i = 0, r = 0; r < rows; i++) {
            int64_t next = rows * (i + 1) / tiles;

            next = bf16_min(rows, (next + unit - 1) / unit * unit);
            t.a = s->room->a + r * ld;
            t.c = t.narrow ? (cr_real *)((uint16_t *)g->c + (row + r) * g->n +
                                         s->lane + at)
                  : straight   ? g->c + (row + r) * g->n + s->lane + at
                  : s->gathers ? s->room->c + (row - s->row + r) * t.c_row + at
                               : s->room->tile;
            s->kernel->tile(&t, (int)(next - r), vecs);
            if (!s->gathers && !straight)
                bf16_finish(g, row + r, s->lane + at, next - r, lanes,
                            s->room->tile, wide);
            r = next;
        }
        at += wide;
        left -= vecs;
    }
}

/* A gathered rectangle goes out, transposed if rows of it are columns. */
BF16 static void bf16_scatter(const struct bf16_span *s)
{
    int64_t ld = bf16_up(s->lanes), r, v;

    if (!s->w->swap) {
        bf16_finish(s->g, s->row, s->lane, s->rows, s->lanes, s->room->c, ld);
        return;
    }
    for (v = 0; v < s->lanes; v += LANES)
        for (r = 0; r < s->rows; r += LANES) {
            int nr = (int)bf16_min(s->rows - r, LANES);
            int nv = (int)bf16_min(s->lanes - v, LANES);

            simd_transpose(s->room->c + r * ld + v, ld, nr, nv, s->room->tile,
                           LANES);
            bf16_finish(s->g, s->lane + v, s->row + r, nv, nr, s->room->tile,
                        LANES);
        }
}

/* The cheaper orientation, in cycles per number as measured on Zen 5. */
static struct bf16_view bf16_view(const struct cr_gemm *g,
                                  const struct cr_bf16_kernel *kernel)
{
    double m = (double)g->m, n = (double)g->n, k = (double)g->k;
    double up_m = (double)bf16_up(g->m), up_n = (double)bf16_up(g->n);
    double flat = 0.1, turned = 0.4, macs = 1 / kernel->macs;
    double a = (g->ta == CR_N ? flat : turned) * m * k;
    double b = (g->tb == CR_N ? flat : turned) * k * n;
    double a_swapped = (g->ta == CR_N ? turned : flat) * m * k;
    double b_swapped = (g->tb == CR_N ? turned : flat) * k * n;
    double direct = macs * m * up_n * k + a + b;
    double swapped =
        macs * n * up_m * k + a_swapped + b_swapped + turned * m * n;
    int64_t a_k = g->ta == CR_N ? 1 : g->m, a_m = g->ta == CR_N ? g->k : 1;
    int64_t b_k = g->tb == CR_N ? g->n : 1, b_n = g->tb == CR_N ? 1 : g->k;

    struct bf16_matrix ma = { g->a, g->a_low != CR_LOW_NONE };
    struct bf16_matrix mb = { g->b, g->b_low != CR_LOW_NONE };

    if (swapped < direct && !g->packed)
        return (struct bf16_view){ true, g->n, g->m, g->k, mb,
                                   ma,   b_n,  b_k,  a_k,  a_m };
    return (struct bf16_view){ false, g->m, g->n, g->k, ma,
                               mb,    a_m,  a_k,  b_k,  b_n };
}

/* ---- few rows, and a b that is packed ---- */

#define DEPTH 8 /* pairs of k that a sum takes on its way through level 1 */
#define FEW_LANES (ROOM_C / 2 / 16)

/* sum[j] += x[0] b[0][j] + ... of so many pairs of k. */
BF16 CR_INLINE void bf16_row_of(int depth, const uint32_t *x, const uint32_t *b,
                                int64_t ld, int64_t lanes, cr_real *sum)
{
    __m512i a[DEPTH];
    int64_t j;
    vec y;
    int i;

#pragma GCC unroll 8
    for (i = 0; i < depth; i++)
        a[i] = _mm512_set1_epi32((int)x[i]);
    for (j = 0; j < lanes; j += LANES) {
        y = V_LOAD(sum + j);
#pragma GCC unroll 8
        for (i = 0; i < depth; i++)
            y = _mm512_dpbf16_ps(
                y, (__m512bh)a[i],
                (__m512bh)_mm512_loadu_si512(b + i * ld + j));
        V_STORE(sum + j, y);
    }
}

/* b is read once, as it lies, for all rows; the sums wait in level 1. */
BF16 static void bf16_few(const struct cr_gemm *g, struct bf16_room *room,
                          int64_t lane, int64_t lanes, int64_t blocks)
{
    const struct bf16_view w = {
        .rows = g->m, .k = g->k, .a = { g->a, g->a_low != CR_LOW_NONE },
        .a_row = g->ta == CR_N ? g->k : 1, .a_p = g->ta == CR_N ? 1 : g->m
    };
    int64_t pairs = (g->k + 1) / 2, ld = bf16_up(g->n), up = bf16_up(lanes);
    cr_real *sum = room->c, *all = room->c + ROOM_C / 2;
    int64_t q, i, r, p, end, row, some;

    for (q = 0; q < blocks; q++) {
        p = pairs * q / blocks;
        end = pairs * (q + 1) / blocks;
        row = bf16_up(end - p);
        bf16_rows(&w, room, 0, g->m, 2 * p,
                  bf16_min(g->k, 2 * end) - 2 * p, row);
        memset(sum, 0, (size_t)(g->m * up) * sizeof *sum);
        for (i = 0; p < end; i += some, p += some) {
            const uint32_t *b = (const uint32_t *)(const void *)g->b + p * ld;

            some = p + DEPTH <= end ? DEPTH : 1;
            for (r = 0; r < g->m; r++)
                if (some == DEPTH)
                    bf16_row_of(DEPTH, room->a + r * row + i, b + lane, ld, up,
                                sum + r * up);
                else
                    bf16_row_of(1, room->a + r * row + i, b + lane, ld, up,
                                sum + r * up);
        }
        for (i = 0; i < g->m * up; i++)
            all[i] = q > 0 ? sum[i] + all[i] : sum[i];
    }
    bf16_finish(g, 0, lane, g->m, lanes, all, up);
}

BF16 void cr_gemm_bf16(const struct cr_gemm *g, int task, int n_tasks)
{
    const struct cr_bf16_kernel *kernel = bf16_kernel(g);
    struct bf16_view w = bf16_view(g, kernel);
    int64_t from = 0, to = w.rows, begin = 0, end = w.lanes;
    int64_t pairs = (w.k + 1) / 2, blocks = (pairs + BLOCK - 1) / BLOCK;
    int64_t max_lanes, max_rows, some, q, r;
    struct bf16_span s = {
        .g = g,
        .kernel = kernel,
        .w = &w,
        .room = cr_thread_scratch(cr_gemm_bf16_scratch),
    };

    if (!g->packed &&
        (w.rows >= 64 * n_tasks || w.lanes < LANES * n_tasks))
        cr_gemm_range(w.rows, w.swap ? 16 : 1, task, n_tasks, &from, &to);
    else
        cr_gemm_range(w.lanes, LANES, task, n_tasks, &begin, &end);
    if (blocks == 0)
        blocks = 1; /* k = 0: the rest of the formula is still due */
    if (g->packed) {
        for (q = begin; q < end; q += FEW_LANES)
            bf16_few(g, s.room, q, bf16_min(end - q, FEW_LANES), blocks);
        cr_gemm_post_ops(g, from, to, begin, end);
        return;
    }
    s.gathers = w.swap || blocks > 1;
    some = bf16_up((pairs + blocks - 1) / blocks) + LANES; /* of a packed row */
    max_lanes = s.gathers ? MAX_LANES : ROOM_B / some / LANES * LANES;
    if (kernel->begin)
        kernel->begin();
    for (s.lane = begin; s.lane < end; s.lane += s.lanes) {
        s.lanes = bf16_min(end - s.lane, max_lanes);
        max_rows = s.gathers ? ROOM_C / bf16_up(s.lanes) : to - from;
        for (s.row = from; s.row < to; s.row += s.rows) {
            s.rows = bf16_min(to - s.row, max_rows);
            for (q = 0; q < blocks; q++) {
                s.p = 2 * (pairs * q / blocks);
                s.k = bf16_min(w.k, 2 * (pairs * (q + 1) / blocks)) - s.p;
                if (s.row == from || blocks > 1)
                    bf16_panels(&s);
                for (r = 0; r < s.rows; r += ROOM_A / some / LANES * LANES)
                    bf16_block(
                        &s, s.row + r,
                        bf16_min(s.rows - r, ROOM_A / some / LANES * LANES));
            }
            if (s.gathers)
                bf16_scatter(&s);
        }
    }
    if (kernel->end)
        kernel->end();
    if (w.swap)
        cr_gemm_post_ops(g, begin, end, from, to);
    else
        cr_gemm_post_ops(g, from, to, begin, end);
}

int64_t cr_gemm_bf16_few(void)
{
    return cr_gemm_bf16_has_amx() ? FEW : 16;
}

bool cr_gemm_bf16_available(void)
{
    return avx512_available();
}

bool cr_gemm_bf16_has_amx(void)
{
    pthread_once(&bf16_once, bf16_find);
    return bf16_has[0];
}

#else

const size_t cr_gemm_bf16_scratch = 0;

void cr_gemm_bf16(const struct cr_gemm *g, int task, int n_tasks)
{
    (void)g, (void)task, (void)n_tasks;
    assert(false);
}

bool cr_gemm_bf16_amx(bool use)
{
    (void)use;
    return false;
}

int64_t cr_gemm_bf16_few(void)
{
    return 0;
}

bool cr_gemm_bf16_available(void)
{
    return false;
}

bool cr_gemm_bf16_has_amx(void)
{
    return false;
}

#endif

const struct cr_gemm_kernel cr_gemm_bf16_kernel = {
    .head = { .name = "gemm_bf16", .isa = CR_ISA_AVX512, .blas = "own" },
    .part = cr_gemm_bf16,
    .thread_scratch = &cr_gemm_bf16_scratch,
};
