/*
 * Who computes a product: the first row of the table below that the processor
 * and the installation allow.
 *
 * Our own kernels do wherever the processor has AVX2 or AVX-512, and in
 * double. Both libraries are made for large matrices: they pack both operands
 * in every call, which for a batch of 64 rows costs a tenth of the product and
 * more, know neither bias, ReLU nor mask, and do not promise the same bytes
 * for another split. Our kernels read a weight where it lies, apply the rest
 * of the formula to what is still in registers, and give the same bytes for
 * any number of threads. Elsewhere (ISA generic, float) a library's kernels
 * are better than ours in vectors of 16 bytes.
 *
 * The choice depends on the processor and the installation, never on a timing,
 * or the same run would not give the same bytes. CELLRUN_BLAS=own, onednn,
 * openblas or plain forces one.
 *
 * To add a kernel: a file with its row, and a line in the table.
 */
#include "kernels/blas.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/thread_pool.h"
#include "kernels/gemm.h"
#include "kernels/parallel_for.h"
#include "num/low_precision.h"

/* Multiply-adds below which a second thread costs more than it brings. */
#define SERIAL_MACS 150000
#define STRETCH 2048 /* numbers of a result that more is done to at once */

/* In order; the portable one is always available. */
static const struct cr_kernel *const rows[] = {
#if defined(__x86_64__) && !defined(CR_DOUBLE)
    &cr_gemm_avx512.head,   &cr_gemm_avx2.head,
#endif
#ifndef CR_DOUBLE
    &cr_gemm_onednn.head,
#endif
    &cr_gemm_openblas.head, &cr_gemm_portable.head, &cr_gemm_plain.head, NULL
};

static const struct cr_kernel *const low_rows[] = { &cr_gemm_bf16_kernel.head,
                                                    NULL };

const struct cr_kernels cr_kernels_gemm = { rows };
const struct cr_kernels cr_kernels_gemm_low = { low_rows };

static const struct cr_gemm_kernel *chosen;
static pthread_once_t choosing = PTHREAD_ONCE_INIT;

static const struct cr_gemm_kernel *row(int i)
{
    return (const struct cr_gemm_kernel *)(const void *)rows[i];
}

/* The first one of that name, its own or that in CELLRUN_BLAS, that is
 * available. */
static bool take_named(const char *want)
{
    int i;

    for (i = 0; rows[i]; i++)
        if ((strcmp(rows[i]->blas, want) == 0 ||
             strcmp(rows[i]->name, want) == 0) &&
            row(i)->is_available()) {
            chosen = row(i);
            return true;
        }
    return false;
}

static void choose(void)
{
    const char *want = getenv("CELLRUN_BLAS");
    int i;

    if (want && *want) {
        if (take_named(want))
            return;
        fprintf(stderr,
                "cellrun: CELLRUN_BLAS=%s is not available; use own or plain, "
                "or onednn or openblas where installed (they need an unlimited "
                "address space)\n",
                want);
        exit(1);
    }
    for (i = 0; !chosen; i++)
        if (!row(i)->only_asked && row(i)->is_available())
            chosen = row(i);
}

const char *cr_blas_name(void)
{
    pthread_once(&choosing, choose);
    return chosen->name;
}

const char *cr_gemm_kernel_name(void)
{
    pthread_once(&choosing, choose);
    return chosen->head.name;
}

bool cr_blas_own(void)
{
    pthread_once(&choosing, choose);
    return strcmp(chosen->head.blas, "own") == 0;
}

const char *cr_blas(void)
{
    pthread_once(&choosing, choose);
    return chosen->head.blas;
}

bool cr_blas_force(const char *name)
{
    pthread_once(&choosing, choose);
    return take_named(name);
}

bool cr_gemm_has_bf16(void)
{
    pthread_once(&choosing, choose);
    return chosen->has_bf16 && chosen->has_bf16();
}

bool cr_gemm_low(void)
{
    if (!cr_gemm_has_bf16() || cr_kernel_is_preferred(&chosen->head))
        return false;
    return cr_kernel_is_preferred(&cr_gemm_bf16_kernel.head) ||
           cr_kernel_compare(&chosen->head, &cr_gemm_bf16_kernel.head,
                             NULL) <= 0;
}

size_t cr_gemm_thread_scratch(void)
{
    return cr_gemm_has_bf16() && *chosen->thread_scratch < cr_gemm_bf16_scratch
               ? cr_gemm_bf16_scratch
               : *chosen->thread_scratch;
}

/* ---- products and sums ---- */

CR_CLONES_WIDE
static void drop(int64_t n, const unsigned char *keep, cr_real scale,
                 cr_real *c)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        c[i] = keep[i] ? c[i] * scale : 0;
}

/* Apart from drop, so that its product is rounded as in an op of its own. */
CR_CLONES_WIDE
static void add(int64_t n, const cr_real *x, cr_real *c)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        c[i] += x[i];
}

/* What lies in two bytes is widened into `room`. */
static const cr_real *numbers(const struct cr_gemm *g, enum cr_low low,
                              const cr_real *x, int64_t at, int64_t n,
                              cr_real *room)
{
    if (low != CR_LOW_TWO_BYTES)
        return x + at;
    cr_widen(g->low, n, (const uint16_t *)x + at, room);
    return room;
}

static void round_again(const struct cr_gemm *g, int64_t n, cr_real *c)
{
    if (g->round)
        cr_round_to_type(g->low, n, c, c);
}

/* The map of n numbers x, from number `at` on, to where its result lies. */
static void map_apart(const struct cr_gemm *g, int64_t at, int64_t n,
                      const cr_real *x)
{
    cr_real room[STRETCH];

    if (g->c_low == CR_LOW_NONE) {
        g->map(g->map_attr, n, x, g->map_to + at);
        round_again(g, n, g->map_to + at);
        return;
    }
    g->map(g->map_attr, n, x, room);
    cr_narrow(g->low, n, room, (uint16_t *)g->map_to + at);
}

/* c as numbers, in columns from j on of one row, or of rows from 0 on. */
static void add_bias(const struct cr_gemm *g, int64_t j, int64_t n, cr_real *c)
{
    int64_t m;

    for (; n > 0; n -= m, c += m, j = 0) {
        m = n < g->n - j ? n : g->n - j;
        add(m, g->late_bias + j, c);
    }
}

/* c, n numbers of the result from number `at` on. */
static void post_op(const struct cr_gemm *g, int64_t at, int64_t n, cr_real *c)
{
    const struct cr_drop *d = g->drop;
    unsigned char keep[STRETCH];
    cr_real room[STRETCH];
    const cr_real *x;

    if (g->map_grad) {
        x = numbers(g, g->mask_low, g->seen, at, n, room);
        if (g->map)
            map_apart(g, at, n, x);
        g->map_grad(g->map_attr, n, x, x, c, c);
        round_again(g, n, c);
    }
    if (g->late_bias) {
        add_bias(g, at % g->n, n, c);
        round_again(g, n, c);
    }
    if (g->map_to && !g->map_grad) {
        map_apart(g, at, n, c);
    } else if (g->map && !g->map_grad) {
        g->map(g->map_attr, n, c, c);
        round_again(g, n, c);
    }
    if (d) {
        cr_rng_bernoulli(&d->rng, (uint64_t)(d->first + at), n, d->keep, keep);
        drop(n, keep, d->keep > 0 ? (cr_real)(1 / d->keep) : 0, c);
        round_again(g, n, c);
    }
    if (g->add) {
        add(n, numbers(g, g->add_low, g->add, at, n, room), c);
        round_again(g, n, c);
    }
}

/* n elements of c from `at` on. */
static void post_ops(const struct cr_gemm *g, int64_t at, int64_t n)
{
    cr_real room[STRETCH];
    int64_t m;

    for (; n > 0; n -= m, at += m) {
        m = n < STRETCH ? n : STRETCH;
        if (g->c_low != CR_LOW_TWO_BYTES) {
            post_op(g, at, m, g->c + at);
            continue;
        }
        cr_widen(g->low, m, (const uint16_t *)g->c + at, room);
        post_op(g, at, m, room);
        /* what the map got is there, unless a bias was added */
        if (!g->map_to || g->map_grad || g->late_bias)
            cr_narrow(g->low, m, room, (uint16_t *)g->c + at);
    }
}

bool cr_gemm_has_post_ops(const struct cr_gemm *g)
{
    return g->map || g->map_grad || g->late_bias || g->drop || g->add;
}

void cr_gemm_post_ops(const struct cr_gemm *g, int64_t i, int64_t i_end,
                      int64_t j, int64_t j_end)
{
    int64_t n = j_end - j;

    if (!cr_gemm_has_post_ops(g) || n <= 0)
        return;
    if (n == g->n && i < i_end) {
        post_ops(g, i * n, (i_end - i) * n);
        return;
    }
    for (; i < i_end; i++)
        post_ops(g, i * g->n + j, n);
}

void cr_gemm_range(int64_t n, int64_t step, int part, int parts, int64_t *from,
                   int64_t *to)
{
    int64_t steps = (n + step - 1) / step;

    *from = steps * part / parts * step;
    *to = steps * (part + 1) / parts * step;
    if (*from > n)
        *from = n;
    if (*to > n)
        *to = n;
}

struct job {
    const struct cr_gemm *g;
    int count;
};

/* Libraries do not know low precision. */
static cr_gemm_part *part_of(const struct cr_gemm *g)
{
    bool low = g->round || g->a_low != CR_LOW_NONE || g->b_low != CR_LOW_NONE ||
               g->c_low != CR_LOW_NONE || g->mask_low != CR_LOW_NONE ||
               g->add_low != CR_LOW_NONE;

    return g->bf16               ? cr_gemm_bf16
           : low && !chosen->low ? cr_gemm_portable_part
                                 : chosen->part;
}

/* Whether what computes the product computes its sums, too. */
static bool has_sums(const struct cr_gemm *g)
{
    return g->m > 0 && g->n > 0 &&
           (part_of(g) == cr_gemm_portable_part || (chosen->sums && !g->bf16));
}

/* The sums of a product whose kernel has none. */
static void sums_part(const struct cr_gemm *g, int task, int n_tasks)
{
    enum cr_type stored = g->a_low == CR_LOW_TWO_BYTES ? g->low : CR_REAL;
    size_t size = stored == CR_REAL ? sizeof(cr_real) : 2;
    int64_t from, to;

    cr_gemm_range(g->m, 64, task, n_tasks, &from, &to);
    chosen->sum(g->k, to - from, stored,
                (const char *)g->a + (size_t)from * size, g->m, g->sums_alpha,
                g->sums_accumulate, g->sums + from);
}

static void gemms_part(void *ctx, int task, int n_tasks)
{
    const struct job *job = ctx;
    int i;

    for (i = 0; i < job->count; i++) {
        const struct cr_gemm *g = &job->g[i];

        if (g->m > 0 && g->n > 0)
            part_of(g)(g, task, n_tasks);
        if (g->sums && !has_sums(g))
            sums_part(g, task, n_tasks);
    }
}

void cr_gemms(const struct cr_gemm *g, int count)
{
    struct job job = { g, count };
    double macs = 0;
    int i;

    pthread_once(&choosing, choose);
    for (i = 0; i < count; i++) {
        assert(g[i].m >= 0 && g[i].n >= 0 && g[i].k >= 0);
        assert(!g[i].bf16 ||
               (cr_gemm_has_bf16() && g[i].a_low != CR_LOW_ROUNDED &&
                g[i].b_low != CR_LOW_ROUNDED));
        assert(g[i].c_low == CR_LOW_NONE || !g[i].accumulate);
        assert(!g[i].packed || g[i].bf16 ||
               (chosen->pack && part_of(&g[i]) == chosen->part &&
                g[i].b_low == CR_LOW_NONE));
        assert(!g[i].sums ||
               (g[i].ta == CR_T && g[i].a_low != CR_LOW_ROUNDED));
        macs += (double)g[i].m * (double)g[i].n * (double)g[i].k;
    }
    cr_parallel_run(gemms_part, &job,
                    macs < SERIAL_MACS ? 1 : cr_thread_count());
}

struct cr_gemm cr_product(enum cr_trans ta, enum cr_trans tb, int64_t m,
                          int64_t n, int64_t k, const cr_real *a,
                          const cr_real *b, bool add, cr_real *c)
{
    return (struct cr_gemm){ .ta = ta,
                             .tb = tb,
                             .m = m,
                             .n = n,
                             .k = k,
                             .a = a,
                             .b = b,
                             .alpha = 1,
                             .accumulate = add,
                             .c = c };
}

void cr_gemm(enum cr_trans ta, enum cr_trans tb, int64_t m, int64_t n,
             int64_t k, const cr_real *a, const cr_real *b, bool add,
             cr_real *c)
{
    struct cr_gemm g = cr_product(ta, tb, m, n, k, a, b, add, c);

    cr_gemms(&g, 1);
}

int64_t cr_gemm_packed_n(int64_t n)
{
    pthread_once(&choosing, choose);
    if (!chosen->pack)
        return 0;
    return (n + chosen->lanes - 1) / chosen->lanes * chosen->lanes;
}

struct pack {
    enum cr_trans tb;
    int64_t n, k;
    const cr_real *b;
    cr_real *packed;
};

static void pack_rows(void *ctx, int64_t from, int64_t to)
{
    const struct pack *p = ctx;

    chosen->pack(p->tb, p->n, p->k, p->b, from, to, p->packed);
}

void cr_gemm_pack(enum cr_trans tb, int64_t n, int64_t k, const cr_real *b,
                  cr_real *packed)
{
    struct pack p = { tb, n, k, b, packed };

    assert(cr_gemm_packed_n(n) >= n);
    cr_parallel_for_static(k, 16, (double)n, &p, pack_rows);
}

void cr_sum_rows(int64_t n, int64_t cols, enum cr_type stored, const void *x,
                 cr_real alpha, bool add, cr_real *to)
{
    pthread_once(&choosing, choose);
    chosen->sum(n, cols, stored, x, cols, alpha, add, to);
}
