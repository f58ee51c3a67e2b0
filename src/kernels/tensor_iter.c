#include "kernels/tensor_iter.h"

#include "base/compiler.h"
#include "kernels/parallel_for.h"

#include <assert.h>
#include <string.h>

void cr_tensor_iter_init(struct cr_tensor_iter *w, int rank, const int64_t *dim)
{
    int64_t step[CR_TENSOR_ITER_RANK], dense = 1;
    int i;

    assert(rank <= CR_TENSOR_ITER_RANK);
    w->rank = rank;
    w->operands = 0;
    memcpy(w->dim, dim, (size_t)rank * sizeof *dim);
    for (i = rank - 1; i >= 0; i--) {
        step[i] = dense;
        dense *= dim[i];
    }
    cr_tensor_iter_add_strides(w, step);
}

struct cr_spec cr_tensor_as_it_lies(const struct cr_spec *spec)
{
    struct cr_spec s = *spec;
    int i;

    if (s.layout != CR_CHANNELS_LAST)
        return s;
    for (i = 1; i + 1 < s.rank; i++)
        s.dim[i] = spec->dim[i + 1];
    s.dim[s.rank - 1] = spec->dim[1];
    s.layout = CR_ROW_MAJOR;
    return s;
}

void cr_tensor_iter_add(struct cr_tensor_iter *w, const struct cr_spec *spec)
{
    int64_t step[CR_TENSOR_ITER_RANK], dense = 1;
    int i, shift = w->rank - spec->rank;

    assert(shift >= 0);
    for (i = w->rank - 1; i >= 0; i--) {
        int64_t dim = i >= shift ? spec->dim[i - shift] : 1;

        assert(dim == 1 || dim == w->dim[i]);
        step[i] = dim == 1 ? 0 : dense;
        dense *= dim;
    }
    cr_tensor_iter_add_strides(w, step);
}

void cr_tensor_iter_add_strides(struct cr_tensor_iter *w, const int64_t *step)
{
    assert(w->operands < CR_TENSOR_ITER_MAX);
    memcpy(w->step[w->operands++], step, (size_t)w->rank * sizeof *step);
}

/* Whether dimension b, just inside a, continues a's stride everywhere. */
static bool walk_joins(const struct cr_tensor_iter *w, int a, int b)
{
    int k;

    for (k = 0; k < w->operands; k++)
        if (w->step[k][a] != w->step[k][b] * w->dim[b])
            return false;
    return true;
}

void cr_tensor_iter_merge(struct cr_tensor_iter *w)
{
    int i, k, n = 0;

    for (i = 0; i < w->rank; i++) {
        if (w->dim[i] == 1)
            continue;
        if (n > 0 && walk_joins(w, n - 1, i)) {
            w->dim[n - 1] *= w->dim[i];
            for (k = 0; k < w->operands; k++)
                w->step[k][n - 1] = w->step[k][i];
            continue;
        }
        w->dim[n] = w->dim[i];
        for (k = 0; k < w->operands; k++)
            w->step[k][n] = w->step[k][i];
        n++;
    }
    w->rank = n;
}

int64_t cr_tensor_iter_count(const struct cr_tensor_iter *w)
{
    int64_t n = 1;
    int i;

    for (i = 0; i < w->rank; i++)
        n *= w->dim[i];
    return n;
}

/* ---- a place in a nest of some of the dimensions ---- */

/* Dimensions of a walk, outermost first, and a place among them. */
struct nest {
    const struct cr_tensor_iter *walk;
    int rank, of[CR_TENSOR_ITER_RANK];
    int64_t at[CR_TENSOR_ITER_RANK], off[CR_TENSOR_ITER_MAX];
};

static int64_t nest_count(const struct nest *p)
{
    int64_t n = 1;
    int i;

    for (i = 0; i < p->rank; i++)
        n *= p->walk->dim[p->of[i]];
    return n;
}

/* Goes to element number `at`, with offsets relative to base. */
static void nest_seek(struct nest *p, int64_t at, const int64_t *base)
{
    const struct cr_tensor_iter *w = p->walk;
    int i, k;

    for (k = 0; k < w->operands; k++)
        p->off[k] = base ? base[k] : 0;
    for (i = p->rank - 1; i >= 0; i--) {
        int64_t dim = w->dim[p->of[i]];

        p->at[i] = at % dim;
        at /= dim;
        for (k = 0; k < w->operands; k++)
            p->off[k] += p->at[i] * w->step[k][p->of[i]];
    }
}

/* The next place when dimension i of the nest moves on. */
static void nest_next(struct nest *p, int i)
{
    const struct cr_tensor_iter *w = p->walk;
    int k;

    for (; i >= 0; i--) {
        int d = p->of[i];

        for (k = 0; k < w->operands; k++)
            p->off[k] += w->step[k][d];
        if (++p->at[i] < w->dim[d])
            return;
        p->at[i] = 0;
        for (k = 0; k < w->operands; k++)
            p->off[k] -= w->dim[d] * w->step[k][d];
    }
}

/* Steps of the innermost dimension; none in a nest of none. */
static void walk_inc(const struct cr_tensor_iter *w, int64_t *inc)
{
    int k;

    for (k = 0; k < w->operands; k++)
        inc[k] = w->rank > 0 ? w->step[k][w->rank - 1] : 0;
}

/* One run of `length` elements in pieces. */
static void run_pieces(const struct cr_tensor_iter *w, int64_t length,
                       const int64_t *off, const int64_t *inc, void *ctx,
                       cr_tensor_iter_fn *fn)
{
    int64_t place[CR_TENSOR_ITER_MAX], i, n;
    int k;

    for (i = 0; i < length; i += n) {
        n = length - i > CR_ITER_RUN_MAX ? CR_ITER_RUN_MAX : length - i;
        for (k = 0; k < w->operands; k++)
            place[k] = off[k] + i * inc[k];
        fn(ctx, n, place, inc);
    }
}

void cr_tensor_iter_range(const struct cr_tensor_iter *w, int64_t from,
                          int64_t to, void *ctx, cr_tensor_iter_fn *fn)
{
    struct nest p = { .walk = w, .rank = w->rank };
    int64_t inc[CR_TENSOR_ITER_MAX], n,
        last = w->rank > 0 ? w->dim[w->rank - 1] : 1;
    int i;

    if (from >= to)
        return;
    for (i = 0; i < w->rank; i++)
        p.of[i] = i;
    walk_inc(w, inc);
    nest_seek(&p, from, NULL);
    for (; from < to; from += n) {
        int64_t at = w->rank > 0 ? p.at[w->rank - 1] : 0;

        n = last - at < to - from ? last - at : to - from;
        run_pieces(w, n, p.off, inc, ctx, fn);
        if (at > 0)
            nest_seek(&p, from + n, NULL);
        else
            nest_next(&p, w->rank - 2);
    }
}

struct walk_part {
    const struct cr_tensor_iter *walk;
    void *ctx;
    cr_tensor_iter_fn *fn;
};

static void walk_part(void *ctx, int64_t from, int64_t to)
{
    const struct walk_part *p = ctx;

    cr_tensor_iter_range(p->walk, from, to, p->ctx, p->fn);
}

void cr_tensor_iter_parallel(const struct cr_tensor_iter *w, double cost,
                             void *ctx, cr_tensor_iter_fn *fn)
{
    struct walk_part p = { w, ctx, fn };

    cr_parallel_for(cr_tensor_iter_count(w), cost, &p, walk_part);
}

/* ---- reduction ---- */

/* Sixteen sums side by side, the same ones with any instruction set. */
CR_CLONES static void sum_rows(int64_t n, const cr_real *v, double *sum)
{
    cr_real lane[16] = { 0 };
    int64_t i;
    int k, half;

    for (i = 0; i + 16 <= n; i += 16) {
        CR_SIMD
        for (k = 0; k < 16; k++)
            lane[k] += v[i + k];
    }
    for (k = 0; i < n; i++, k++)
        lane[k] += v[i];
    for (half = 8; half > 0; half /= 2)
        for (k = 0; k < half; k++)
            lane[k] += lane[k + half];
    *sum += (double)lane[0];
}

CR_CLONES static void sum_cols(int64_t n, const cr_real *v, double *sum)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        sum[i] += (double)v[i];
}

static double sum_one(double sum, double v)
{
    return sum + v;
}

const struct cr_reducer cr_reducer_sum = { 0, sum_one, sum_rows, sum_cols };

/* Largest and smallest; NaN wins over all. Of a run, sixteen side by side. */
#define FOLD_EXTREME(name, BETTER, worst)                                 \
    static double name##_one(double sum, double v)                        \
    {                                                                     \
        return v BETTER sum || v != v ? v : sum;                          \
    }                                                                     \
    CR_CLONES static void name##_cols(int64_t n, const cr_real *v,        \
                                      double *sum)                        \
    {                                                                     \
        int64_t i;                                                        \
        CR_SIMD                                                           \
        for (i = 0; i < n; i++)                                           \
            sum[i] = name##_one(sum[i], (double)v[i]);                    \
    }                                                                     \
    CR_CLONES static void name##_rows(int64_t n, const cr_real *v,        \
                                      double *sum)                        \
    {                                                                     \
        cr_real lane[16];                                                 \
        int64_t i;                                                        \
        int k;                                                            \
        for (k = 0; k < 16; k++)                                          \
            lane[k] = (cr_real)*sum;                                      \
        for (i = 0; i + 16 <= n; i += 16) {                               \
            CR_SIMD                                                       \
            for (k = 0; k < 16; k++) {                                    \
                cr_real a = v[i + k], b = lane[k];                        \
                lane[k] = a BETTER b || a != a ? a : b;                   \
            }                                                             \
        }                                                                 \
        for (; i < n; i++)                                                \
            lane[0] = (cr_real)name##_one((double)lane[0], (double)v[i]); \
        for (k = 0; k < 16; k++)                                          \
            *sum = name##_one(*sum, (double)lane[k]);                     \
    }                                                                     \
    const struct cr_reducer cr_reducer_##name = { worst, name##_one,      \
                                                  name##_rows, name##_cols }

FOLD_EXTREME(max, >, -INFINITY);
FOLD_EXTREME(min, <, INFINITY);

/* One run of values into one sum or, where to n sums, into each its own. */
static void reduce_run(const struct cr_reduce *r, int64_t n, const int64_t *off,
                       const int64_t *inc, bool cols, double *sum)
{
    const struct cr_reducer *f = r->reducer;
    cr_real room[CR_ITER_RUN_MAX];
    double wide[CR_ITER_RUN_MAX];
    const cr_real *v = NULL;
    int64_t i;

    if (r->load_int)
        r->load_int(r->ctx, n, off, wide);
    else
        v = r->load(r->ctx, n, off, inc, room);
    if (v && cols && f->cols) {
        f->cols(n, v, sum);
        return;
    }
    if (v && !cols && f->rows) {
        f->rows(n, v, sum);
        return;
    }
    for (i = 0; i < n; i++) {
        double *to = &sum[cols ? i : 0];

        *to = f->one(*to, v ? (double)v[i] : wide[i]);
    }
}

struct reduce_rows {
    const struct cr_reduce *r;
    double *sum;
};

static void reduce_piece(void *ctx, int64_t n, const int64_t *off,
                         const int64_t *inc)
{
    struct reduce_rows *f = ctx;

    reduce_run(f->r, n, off, inc, false, f->sum);
}

/* Dimensions along which the kept operand moves, and the others. The
 * innermost one is no part of the nests: it is the run. */
static void nests_open(const struct cr_reduce *r, struct nest *kept,
                       struct nest *folded)
{
    const struct cr_tensor_iter *w = r->walk;
    int i;

    *kept = (struct nest){ .walk = w };
    *folded = (struct nest){ .walk = w };
    for (i = 0; i < w->rank - 1; i++) {
        struct nest *p = w->step[r->kept][i] != 0 ? kept : folded;

        p->of[p->rank++] = i;
    }
}

/* Results from..to-1 where the innermost dimension is kept: stretches of
 * results, each a column sum. */
static void reduce_cols(void *ctx, int64_t from, int64_t to)
{
    const struct cr_reduce *r = ctx;
    const struct cr_tensor_iter *w = r->walk;
    int64_t inc[CR_TENSOR_ITER_MAX], base[CR_TENSOR_ITER_MAX], n, i, count;
    int64_t last = w->dim[w->rank - 1];
    double sum[CR_ITER_RUN_MAX];
    struct nest kept, folded;
    int k;

    nests_open(r, &kept, &folded);
    walk_inc(w, inc);
    count = nest_count(&folded);
    for (; from < to; from += n) {
        int64_t at = from % last;

        n = last - at < to - from ? last - at : to - from;
        n = n > CR_ITER_RUN_MAX ? CR_ITER_RUN_MAX : n;
        nest_seek(&kept, from / last, NULL);
        for (k = 0; k < w->operands; k++)
            base[k] = kept.off[k] + at * inc[k];
        for (i = 0; i < n; i++)
            sum[i] = r->reducer->start;
        nest_seek(&folded, 0, base);
        for (i = 0; i < count; i++) {
            reduce_run(r, n, folded.off, inc, true, sum);
            nest_next(&folded, folded.rank - 1);
        }
        r->store(r->ctx, from, n, sum);
    }
}

/* Results from..to-1 where the innermost dimension is folded. */
static void reduce_rows(void *ctx, int64_t from, int64_t to)
{
    const struct cr_reduce *r = ctx;
    const struct cr_tensor_iter *w = r->walk;
    int64_t inc[CR_TENSOR_ITER_MAX], i, count;
    int64_t last = w->rank > 0 ? w->dim[w->rank - 1] : 1;
    struct nest kept, folded;
    double sum;
    struct reduce_rows f = { r, &sum };

    nests_open(r, &kept, &folded);
    walk_inc(w, inc);
    count = nest_count(&folded);
    for (; from < to; from++) {
        nest_seek(&kept, from, NULL);
        nest_seek(&folded, 0, kept.off);
        sum = r->reducer->start;
        for (i = 0; i < count; i++) {
            run_pieces(w, last, folded.off, inc, &f, reduce_piece);
            nest_next(&folded, folded.rank - 1);
        }
        r->store(r->ctx, from, 1, &sum);
    }
}

/* One result of many values: in parts of a fixed length, added in order. */
#define FOLD_PARTS 256

struct reduce_part {
    const struct cr_reduce *r;
    int64_t n, length;
    double sum[FOLD_PARTS];
};

static void reduce_parts(void *ctx, int64_t from, int64_t to)
{
    struct reduce_part *p = ctx;
    int64_t i, end;

    for (i = from; i < to; i++) {
        struct reduce_rows f = { p->r, &p->sum[i] };

        p->sum[i] = p->r->reducer->start;
        end = (i + 1) * p->length < p->n ? (i + 1) * p->length : p->n;
        cr_tensor_iter_range(p->r->walk, i * p->length, end, &f, reduce_piece);
    }
}

static void reduce_all(const struct cr_reduce *r, int64_t n)
{
    struct reduce_part p = { .r = r, .n = n };
    int64_t i, parts;
    double sum = r->reducer->start;

    p.length = (n + FOLD_PARTS - 1) / FOLD_PARTS;
    p.length =
        (p.length + CR_ITER_RUN_MAX - 1) / CR_ITER_RUN_MAX * CR_ITER_RUN_MAX;
    parts = p.length > 0 ? (n + p.length - 1) / p.length : 0;
    cr_parallel_for_coarse(parts, r->cost * (double)p.length, &p, reduce_parts);
    for (i = 0; i < parts; i++)
        sum = r->reducer->one(sum, p.sum[i]);
    r->store(r->ctx, 0, 1, &sum);
}

void cr_reduce(const struct cr_reduce *r)
{
    const struct cr_tensor_iter *w = r->walk;
    int64_t n = cr_tensor_iter_count(w), results = 1;
    bool cols = w->rank > 0 && w->step[r->kept][w->rank - 1] != 0;
    double cost;
    int i;

    for (i = 0; i < w->rank; i++)
        if (w->step[r->kept][i] != 0)
            results *= w->dim[i];
    if (results == 1) {
        reduce_all(r, n);
        return;
    }
    cost = results > 0 ? r->cost * (double)n / (double)results : 0;
    (cols ? cr_parallel_for : cr_parallel_for_coarse)(
        results, cost, (void *)(uintptr_t)r, cols ? reduce_cols : reduce_rows);
}
