/*
 * The frame of the recurrences; rnn.h has shapes and names.
 *
 * keep, R = real numbers, in order of time whatever the layout of x:
 *   h (L + 1, N, H)     state number t is that before step t; run backwards,
 *                       that after it
 *   c                   the same of an lstm; of a gru's steps, L of them
 *   g (L, N, g H)       the gates, where there are several
 *
 * scratch, forward
 *   wt (H, g H)         the weight packed, where the threads share samples,
 *                       or turned, so that no step has to
 *   none (g H)          a bias of zeros
 * backward
 *   wt (g H, H)         the weight packed, where the threads share samples
 *   dg (L, N, g H)      gradients of the gates; they take the place of g if
 *                       nothing else reads that
 *   dh, dc (N, H)
 * and in low precision
 *   dp (L, N, g H)      gradients of the products, which dg are rounded
 *   dx (N, g H)         of a row, the gradient of x
 *   part (N, H)         the product's part of dh
 *   low (L, N, H)       the states as products take them
 *
 * A thread takes its share of the samples through all steps, and waits for no
 * other. Of fewer than SHARE samples each, the threads share every step's rows
 * and product instead. The bytes do not depend on either: a row of a product
 * has the same in a batch of any size.
 */
#include "families/rnn.h"

#include "base/checked_math.h"
#include "base/thread_pool.h"
#include "graph/op_attrs.h"
#include "kernels/parallel_for.h"
#include "num/low_precision.h"

#include <assert.h>
#include <string.h>

#define SHARE 16 /* samples: below it, products take longer per sample */
#define ROW_NS(r) (2 * (double)(r)->gates)

enum {
    X = CR_RNN_X,
    W,
    B,
    H0,
    SEQ,
    C0
};

const struct cr_opt cr_rnn_opts[] = {
    CR_BOOL_DEFAULT(struct cr_rnn, batch_first, false,
                    "true: x is (N, L, gates). false: x is (L, N, gates)."),
    CR_BOOL_DEFAULT(struct cr_rnn, reverse, false, "Start at the last step."),
    CR_ENUM_DEFAULT(struct cr_rnn, nonlinearity, CR_RNN_TANH, "tanh|relu",
                    "Activation of the state of an rnn."),
    CR_ENUM_DEFAULT(struct cr_rnn, low, CR_RNN_FULL, "none|products|gates|all",
                    "Values that are rounded."),
    CR_ENUM_DEFAULT(struct cr_rnn, dtype, 0, CR_LOW_TYPES,
                    "Type that values are rounded to."),
    CR_BOOL_DEFAULT(struct cr_rnn, each_step, false,
                    "Round the weight's gradient step by step."),
    { 0 },
};

const char *const cr_rnn_inputs[] = { "x",   "weight_hh",  "bias_hh",
                                      "h_0", "seq_length", "c_0",
                                      NULL };

/* ---- planning ---- */

static bool state_fits(struct cr_op_plan *p, int i, const char *name,
                       const struct cr_spec *want)
{
    if (i >= p->n_in || p->in[i].rank < 0 || cr_spec_same(&p->in[i], want))
        return true;
    return cr_error(p->diag, p->pos, CR_E_SHAPE, "%s is %s, expected %s", name,
                    cr_diag_format(p->arena, &p->in[i]),
                    cr_diag_format(p->arena, want));
}

/* Whether a row's gradients of gates may take the place of its gates: no row
 * in low precision, and no other gradient, is made of these afterwards. */
static bool in_place(const struct cr_rnn_kind *kind, const struct cr_rnn *o)
{
    return kind->gates > 1 && !kind->to_product_grad && o->low == CR_RNN_FULL;
}

/* The more of n and what it takes packed. */
static int64_t packed_or_plain(int64_t n)
{
    int64_t packed = cr_gemm_packed_n(n);

    return packed > n ? packed : n;
}

/* Elements of what a step hands on, and of its working room. */
static bool sizes(struct cr_op_plan *p, const struct cr_rnn_kind *kind,
                  int64_t steps, int64_t n, int64_t size)
{
    const struct cr_rnn *o = p->attr;
    int64_t states = 0, gates = 0, one = 0, keep = 0, row = 0;
    bool fits = cr_checked_mul(&one, n, size) &&
                cr_checked_mul(&gates, one, kind->gates) &&
                cr_checked_mul(&gates, gates, steps) &&
                cr_checked_add(&states, steps, 1) &&
                cr_checked_mul(&states, states, one);

    if (fits && (kind->cell || kind->saves_cell))
        fits = cr_checked_add(&keep, keep, states);
    if (fits && kind->gates > 1)
        fits = cr_checked_add(&keep, keep, gates);
    fits = fits && cr_checked_add(&keep, keep, states) &&
           cr_checked_mul(&p->saved, keep, sizeof(cr_real)) &&
           cr_checked_mul(&row, one, kind->gates);
    if (fits && o->low != CR_RNN_FULL)
        fits = cr_checked_add(&gates, gates, gates) &&
               cr_checked_add(&gates, gates, row) &&
               cr_checked_add(&gates, gates, states);
    if (fits && in_place(kind, o))
        gates = 0;
    fits = fits && cr_checked_add(&gates, gates, one) &&
           cr_checked_add(&gates, gates, one) &&
           cr_checked_mul(&row, packed_or_plain(size),
                          packed_or_plain(kind->gates * size)) &&
           cr_checked_add(&gates, gates, row) &&
           cr_checked_add(&gates, gates, kind->gates * size) &&
           cr_checked_mul(&p->scratch, gates, sizeof(cr_real));
    return fits ||
           cr_error(p->diag, p->pos, CR_E_SHAPE,
                    "%lld steps of %lld samples with %lld features are too "
                    "many",
                    (long long)steps, (long long)n, (long long)size);
}

bool cr_rnn_rows_apart(const void *attr, const struct cr_spec *x, int in,
                       int out)
{
    bool second = x->rank == 3 && !((const struct cr_rnn *)attr)->batch_first;

    (void)out;
    return in == second;
}

bool cr_rnn_plan(struct cr_op_plan *p, const struct cr_rnn_kind *kind)
{
    const struct cr_rnn *o = p->attr;
    const struct cr_spec *x = &p->in[X], *w = &p->in[W];
    bool one = x->rank == 2;
    int64_t size = w->rank == 2 ? w->dim[1] : 0, steps, n;
    struct cr_spec state, bias;
    int i;

    if (size < 1 || w->dim[0] != kind->gates * size)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "weight is %s, expected (%d hidden, hidden)",
                        cr_diag_format(p->arena, w), kind->gates);
    if (x->rank < 2 || x->rank > 3 || x->dim[x->rank - 1] != w->dim[0])
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input %s does not fit weight %s: expected (%s, %lld)",
                        cr_diag_format(p->arena, x),
                        cr_diag_format(p->arena, w),
                        o->batch_first ? "batch, time" : "time, batch",
                        (long long)w->dim[0]);
    steps = one ? 1 : x->dim[o->batch_first];
    n = one ? x->dim[0] : x->dim[!o->batch_first];
    bias = CR_SPEC(o->low != CR_RNN_FULL && kind->cell ? 2 * w->dim[0]
                                                       : w->dim[0]);
    state = one ? CR_SPEC(n, size) : CR_SPEC(1, n, size);
    if (!state_fits(p, B, "bias", &bias) ||
        !state_fits(p, H0, "the first state", &state) ||
        (kind->cell && !state_fits(p, C0, "the first c", &state)))
        return false;
    if (SEQ < p->n_in && p->in[SEQ].rank >= 0) {
        struct cr_spec seq = CR_SPEC(n);

        seq.type = CR_I32;
        if (!state_fits(p, SEQ, "seq_length", &seq))
            return false;
        p->bound[SEQ] = (struct cr_bound){ .set = true,
                                           .computed = true,
                                           .high = steps + 1 };
    }
    p->out[0] = *x;
    p->out[0].dim[x->rank - 1] = size;
    for (i = 1; i < p->n_out; i++)
        p->out[i] = state;
    p->thread_scratch = cr_gemm_thread_scratch();
    p->macs = (double)cr_count(x) * (double)size;
    return sizes(p, kind, steps, n, size);
}

/* ---- running ---- */

struct run {
    const struct cr_op_ctx *s;
    const struct cr_rnn_kind *kind;
    const struct cr_rnn *o;
    const struct cr_rnn_kernel *rows;
    int64_t steps, n, size, gates; /* gates: all of a sample */
    cr_real *h, *c, *g;            /* kept */
    cr_real *wt, *none;            /* scratch */
    cr_real *dg, *dh, *dc;
    bool rounds; /* in low precision, with these: */
    cr_real *dp, *dx, *part, *low;
    bool direct; /* dg is dx */
    bool packed; /* wt is */
    /* what one thread has of it, and where it stands: */
    int64_t first, some; /* samples, from the first on */
    int64_t at;          /* the step */
};

/* Whether each thread takes samples through all steps. */
static bool samples_apart(const struct run *r)
{
    return r->n >= SHARE * cr_thread_count();
}

static struct run run_of(const struct cr_op_ctx *s,
                         const struct cr_rnn_kind *kind)
{
    const struct cr_spec *x = &s->in[X];
    const struct cr_rnn *o = s->attr;
    struct run r = { .s = s, .kind = kind, .o = o, .rows = cr_rnn_kernel() };
    int64_t states;

    r.size = s->in[W].dim[1];
    r.gates = s->in[W].dim[0];
    r.steps = x->rank == 2 ? 1 : x->dim[o->batch_first];
    r.n = x->rank == 2 ? x->dim[0] : x->dim[!o->batch_first];
    states = (r.steps + 1) * r.n * r.size;
    r.h = s->saved;
    r.c = r.h + states;
    r.g = kind->cell || kind->saves_cell ? r.c + states : r.c;
    r.wt = s->scratch;
    r.none = r.wt + packed_or_plain(r.size) * packed_or_plain(r.gates);
    r.dg = r.none + r.gates;
    r.dh = r.dg + (in_place(kind, o) ? 0 : r.steps * r.n * r.gates);
    if (in_place(kind, o))
        r.dg = r.g;
    r.dc = r.dh + r.n * r.size;
    r.packed = r.steps > 1 && samples_apart(&r) && cr_gemm_packed_n(1) > 0;
    r.rounds = o->low != CR_RNN_FULL;
    if (r.rounds) {
        r.dp = r.dc + r.n * r.size;
        r.dx = r.dp + r.steps * r.n * r.gates;
        r.part = r.dx + r.n * r.gates;
        r.low = r.part + r.n * r.size;
    }
    return r;
}

/* Numbers of the states before and after step `at`, and of its gates. */
static int64_t before(const struct run *r)
{
    return r->o->reverse ? r->steps - r->at : r->at;
}

static int64_t state_after(const struct run *r)
{
    return r->o->reverse ? r->steps - r->at - 1 : r->at + 1;
}

static int64_t slab(const struct run *r)
{
    return r->o->reverse ? r->steps - r->at - 1 : r->at;
}

static cr_real *state(const struct run *r, cr_real *of, int64_t t)
{
    return of + t * r->n * r->size;
}

/* The product's result: kept, or, where a row needs it no more, one for all */
static cr_real *gates_at(const struct run *r)
{
    return r->kind->gates == 1 ? r->dg : r->g + slab(r) * r->n * r->gates;
}

/* Steps of sample i. The column was checked; a computed one is cut. */
static int64_t steps_of(const struct run *r, int64_t i)
{
    const int32_t *seq = r->s->x[SEQ];
    int64_t n = seq ? seq[i] : r->steps;

    return n < 0 ? 0 : n < r->steps ? n : r->steps;
}

/* Which row of x and y sample i takes at this step. */
static int64_t row_of(const struct run *r, int64_t i, int64_t steps)
{
    int64_t t = r->at < steps && r->o->reverse ? steps - 1 - r->at : r->at;

    return r->o->batch_first ? i * r->steps + t : t * r->n + i;
}

/* x of the sample after i, or of i, the last one. */
static const cr_real *next_x(const struct run *r, const cr_real *x, int64_t i,
                           int64_t to)
{
    i += i + 1 < to;
    return x + row_of(r, i, steps_of(r, i)) * r->gates;
}

/* What low precision adds to a row; i is its sample. */
static void lower(const struct run *r, int64_t i, struct cr_rnn_row *row)
{
    if (!r->rounds)
        return;
    row->low = r->o->dtype == 0 ? CR_F16 : CR_BF16;
    row->rounds = cr_rnn_rounds(r->o->low, r->s->in[B].rank > 0);
    row->b = r->s->x[B];
    row->dx = r->dx + i * r->gates;
}

/* Calls fn for parts of all samples, or, if they are few, for all at once:
 * it shares the work of a step then. */
static void samples_run(struct run *r,
                        void (*fn)(void *ctx, int64_t from, int64_t to))
{
    double cost = (double)(r->steps * r->gates) * (2 + 0.05 * (double)r->size);

    if (samples_apart(r))
        cr_parallel_for_static(r->n, 1, cost, r, fn);
    else
        fn(r, 0, r->n);
}

/* A thread's share of the run. */
static struct run share(const void *ctx, int64_t from, int64_t to)
{
    struct run r = *(const struct run *)ctx;

    r.first = from;
    r.some = to - from;
    return r;
}

static void round_to(const struct run *r, int64_t n, const cr_real *x,
                     cr_real *y)
{
    cr_round_to_type(r->o->dtype == 0 ? CR_F16 : CR_BF16, n, x, y);
}

/* n numbers of states, from number `at` of the states' on, as the product
 * takes them. */
static const cr_real *operand(const struct run *r, int64_t at, int64_t n)
{
    const cr_real *h = r->h + at;

    if (!r->rounds || r->o->low == CR_RNN_ALL)
        return h;
    at %= r->n * r->size;
    round_to(r, n, h, r->low + at);
    return r->low + at;
}

static void forward_rows(void *ctx, int64_t from, int64_t to)
{
    const struct run *r = ctx;
    const cr_real *x = r->s->x[X];
    cr_real *y = r->s->y[0];
    size_t bytes = (size_t)r->size * sizeof(cr_real);
    int64_t i, own = r->kind->cell ? state_after(r) : slab(r);

    to += r->first;
    for (i = from + r->first; i < to; i++) {
        int64_t steps = steps_of(r, i), at = row_of(r, i, steps);
        struct cr_rnn_row row = {
            .k = r->rows,
            .n = r->size,
            .act = r->o->nonlinearity,
            .x = x + at * r->gates,
            .next_x = next_x(r, x, i, to),
            .b = r->s->x[B] ? r->s->x[B] : r->none,
            .h0 = state(r, r->h, before(r)) + i * r->size,
            .c0 = state(r, r->c, before(r)) + i * r->size,
            .g = gates_at(r) + i * r->gates,
            .h = state(r, r->h, state_after(r)) + i * r->size,
            .c = state(r, r->c, own) + i * r->size,
        };

        lower(r, i, &row);
        if (r->at < steps) {
            if (r->rounds) {
                cr_rnn_prefetch(&row, r->gates);
                r->kind->low_forward(&row);
            } else
                r->kind->forward(&row);
            memcpy(y + at * r->size, row.h, bytes);
            continue;
        }
        memcpy(row.h, row.h0, bytes);
        if (r->kind->cell)
            memcpy(row.c, row.c0, bytes);
        memset(y + at * r->size, 0, bytes);
    }
}

static void first_state(const struct run *r, const cr_real *from, cr_real *to)
{
    size_t bytes = (size_t)(r->n * r->size) * sizeof *to;

    to = state(r, to, r->o->reverse ? r->steps : 0);
    if (from)
        memcpy(to, from, bytes);
    else
        memset(to, 0, bytes);
}

static void last_state(const struct run *r, cr_real *from, cr_real *to)
{
    if (to)
        memcpy(to, state(r, from, r->o->reverse ? 0 : r->steps),
               (size_t)(r->n * r->size) * sizeof *to);
}

/* wt = w', in squares that stay in the first cache */
static void turn_rows(void *ctx, int64_t from, int64_t to)
{
    const struct run *r = ctx;
    const cr_real *w = r->s->x[W];
    int64_t square = 16, i, j, jj;

    for (jj = 0; jj < r->gates; jj += square)
        for (i = from; i < to; i++)
            for (j = jj; j < r->gates && j < jj + square; j++)
                r->wt[i * r->gates + j] = w[j * r->size + i];
}

static void forward_samples(void *ctx, int64_t from, int64_t to)
{
    struct run r = share(ctx, from, to);
    bool turned = r.steps > 1;

    for (r.at = 0; r.at < r.steps; r.at++) {
        int64_t at = (before(&r) * r.n + from) * r.size;
        struct cr_gemm g = { .ta = CR_N,
                             .tb = turned ? CR_N : CR_T,
                             .m = r.some,
                             .n = r.gates,
                             .k = r.size,
                             .a = operand(&r, at, r.some * r.size),
                             .b = turned ? r.wt : r.s->x[W],
                             .alpha = 1,
                             .packed = r.packed,
                             .c = gates_at(&r) + from * r.gates };

        cr_gemms(&g, 1);
        cr_parallel_for_coarse(r.some, ROW_NS(&r), &r, forward_rows);
    }
}

void cr_rnn_forward(const struct cr_op_ctx *s, const struct cr_rnn_kind *kind)
{
    struct run r = run_of(s, kind);

    if (r.packed)
        cr_gemm_pack(CR_T, r.gates, r.size, s->x[W], r.wt);
    else if (r.steps > 1)
        cr_parallel_for_static(r.size, 16, (double)r.gates, &r, turn_rows);
    memset(r.none, 0, (size_t)r.gates * sizeof *r.none);

    first_state(&r, s->x[H0], r.h);
    if (kind->cell)
        first_state(&r, s->x[C0], r.c);
    samples_run(&r, forward_samples);
    last_state(&r, r.h, s->y[1]);
    if (kind->cell)
        last_state(&r, r.c, s->y[2]);
}

/* x += y */
CR_CLONES static void more(int64_t n, const cr_real *y, cr_real *x)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        x[i] += y[i];
}

/* To dx of one row, stored or added; NULL: 0. */
static void give(const struct run *r, const cr_real *dg, int64_t at)
{
    cr_real *dx = r->s->dx[X];
    size_t bytes = (size_t)r->gates * sizeof *dx;

    if (!dx || r->direct)
        return;
    dx += at * r->gates;
    if (r->s->accumulate[X] && dg)
        more(r->gates, dg, dx);
    else if (!r->s->accumulate[X] && dg)
        memcpy(dx, dg, bytes);
    else if (!r->s->accumulate[X])
        memset(dx, 0, bytes);
}

/* One row in low precision: the gradient of x, and the product's. */
static void backward_low(const struct run *r, int64_t i, struct cr_rnn_row *row,
                         int64_t at)
{
    lower(r, i, row);
    r->kind->low_backward(row);
    give(r, row->dx, at);
    round_to(r, r->gates, row->dg, r->dp + (row->dg - r->dg));
}

/* Asks for the rows of dy and dx of sample i. */
static void prefetch_backward(const struct run *r, const cr_real *dy, int64_t i)
{
    int64_t at = row_of(r, i, steps_of(r, i)), line = 64 / sizeof(cr_real), k;
    cr_real *dx = r->s->dx[X];

    for (k = 0; dy && k < r->size; k += line)
        __builtin_prefetch(dy + at * r->size + k);
    for (k = 0; dx && !r->direct && k < r->gates; k += line)
        __builtin_prefetch(dx + at * r->gates + k, 1);
}

static void backward_rows(void *ctx, int64_t from, int64_t to)
{
    const struct run *r = ctx;
    const cr_real *dy = r->s->dy[0];
    int64_t i, own = r->kind->cell ? state_after(r) : slab(r);
    cr_real *g = r->kind->gates == 1 ? NULL : gates_at(r);

    to += r->first;
    for (i = from + r->first; i < to; i++) {
        int64_t steps = steps_of(r, i), at = row_of(r, i, steps);
        struct cr_rnn_row row = {
            .k = r->rows,
            .n = r->size,
            .act = r->o->nonlinearity,
            .h0 = state(r, r->h, before(r)) + i * r->size,
            .c0 = state(r, r->c, before(r)) + i * r->size,
            .g = g ? g + i * r->gates : NULL,
            .h = state(r, r->h, state_after(r)) + i * r->size,
            .c = state(r, r->c, own) + i * r->size,
            .dh = r->dh + i * r->size,
            .dc = r->dc + i * r->size,
            .dg = r->dg + (slab(r) * r->n + i) * r->gates,
        };

        if (r->at >= steps) { /* the state rested */
            memset(row.dg, 0, (size_t)r->gates * sizeof *row.dg);
            if (r->rounds)
                memset(r->dp + (row.dg - r->dg), 0,
                       (size_t)r->gates * sizeof *row.dg);
            give(r, NULL, at);
            continue;
        }
        if (i + 1 < to)
            prefetch_backward(r, dy, i + 1);
        if (dy)
            more(r->size, dy + at * r->size, row.dh);
        if (r->rounds) {
            if (r->o->low == CR_RNN_ALL)
                round_to(r, r->size, row.dh, row.dh);
            backward_low(r, i, &row, at);
            continue;
        }
        r->kind->backward(&row);
        give(r, row.dg, at);
        if (r->kind->to_product_grad)
            r->kind->to_product_grad(&row);
    }
}

static void begin(const struct run *r, const cr_real *dy, cr_real *d)
{
    size_t bytes = (size_t)(r->n * r->size) * sizeof *d;

    if (dy)
        memcpy(d, dy, bytes);
    else
        memset(d, 0, bytes);
}

static void end(const struct run *r, int i, const cr_real *d)
{
    cr_real *dx = r->s->dx[i];

    if (dx && r->s->accumulate[i])
        more(r->n * r->size, d, dx);
    else if (dx)
        memcpy(dx, d, (size_t)(r->n * r->size) * sizeof *dx);
}

/* dh += dg W, of the step */
static void into_state(const struct run *r)
{
    const cr_real *dg =
        (r->rounds ? r->dp : r->dg) + (slab(r) * r->n + r->first) * r->gates;
    int64_t n = r->some * r->size;
    cr_real *dh = r->dh + r->first * r->size;
    cr_real *part = r->rounds ? r->part + r->first * r->size : dh;
    struct cr_gemm g = cr_product(CR_N, CR_N, r->some, r->size, r->gates, dg,
                                  r->packed ? r->wt : r->s->x[W], !r->rounds,
                                  part);

    g.packed = r->packed;
    cr_gemms(&g, 1);
    if (!r->rounds)
        return;
    round_to(r, n, part, part);
    more(n, part, dh);
    if (r->o->low == CR_RNN_ALL)
        round_to(r, n, dh, dh);
}

static void backward_samples(void *ctx, int64_t from, int64_t to)
{
    struct run r = share(ctx, from, to);

    for (r.at = r.steps - 1; r.at >= 0; r.at--) {
        cr_parallel_for_coarse(r.some, ROW_NS(&r), &r, backward_rows);
        if (r.at > 0 || r.s->dx[H0])
            into_state(&r);
    }
}

void cr_rnn_backward(const struct cr_op_ctx *s, const struct cr_rnn_kind *kind)
{
    struct run r = run_of(s, kind);
    int64_t one = r.n * r.size, at;
    const cr_real *states;

    /* in order of time and of the product's gradient, dx needs no copy */
    r.direct = s->dx[X] && !s->accumulate[X] && !kind->to_product_grad &&
               !r.o->batch_first && !s->x[SEQ] && !r.rounds;
    if (r.direct)
        r.dg = s->dx[X];
    if (r.packed)
        cr_gemm_pack(CR_N, r.size, r.gates, s->x[W], r.wt);
    begin(&r, s->dy[1], r.dh);
    if (kind->cell)
        begin(&r, s->dy[2], r.dc);
    samples_run(&r, backward_samples);
    end(&r, H0, r.dh);
    if (kind->cell)
        end(&r, C0, r.dc);
    for (at = 0; s->dx[B] && at < s->in[B].dim[0]; at += r.gates)
        cr_sum_rows(r.steps * r.n, r.gates, CR_REAL, r.dg, (cr_real)s->alpha[B],
                    s->accumulate[B], cr_reals(s->dx[B]) + at);
    states = operand(&r, r.o->reverse ? one : 0, r.steps * one);
    if (s->dx[W] && r.o->each_step)
        cr_rnn_rounded_sum(s, W, r.o->dtype, r.steps, r.n, r.dp, states, r.wt);
    else if (s->dx[W])
        cr_gemms(&(struct cr_gemm){ .ta = CR_T,
                                    .tb = CR_N,
                                    .m = r.gates,
                                    .n = r.size,
                                    .k = r.steps * r.n,
                                    .a = r.rounds ? r.dp : r.dg,
                                    .b = states,
                                    .alpha = (cr_real)s->alpha[W],
                                    .accumulate = s->accumulate[W],
                                    .c = s->dx[W] },
                 1);
}

/* The update of a weight and a bias may be part of their gradients. */
static bool rnn_accepts(const struct cr_op_ctx *s, unsigned of, unsigned parts)
{
    (void)s;
    return (of == CR_X(W) || of == CR_X(B)) &&
           !(parts & ~(unsigned)CR_END_SCALE);
}

static const char *rnn_kernel(const struct cr_op_ctx *s)
{
    (void)s;
    return cr_rnn_kernel()->head.name;
}

const struct cr_op_kernels cr_rnn_kernels = {
    .name = rnn_kernel,
    .accepts = rnn_accepts,
};
