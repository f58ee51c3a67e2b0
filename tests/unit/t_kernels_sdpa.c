/* Attention with random settings, on each implementation, against plain loops
 * in double: layouts, masks, dropout, weights, and all gradients. */
#include "kernels/sdpa.h"

#include "bernoulli.h"
#include "kernels.h"

/* ---- settings ---- */

/* Rows of q, k or v: where they are, and how many numbers that takes. */
struct rows {
    struct cr_sdpa_at at;
    int64_t length, numbers;
};

enum layout {
    APART,  /* (batch, length, features), with gaps that belong to none */
    TURNED, /* (length, batch, features) */
    PACKED  /* (batch, length, 3 features): q, k and v side by side */
};

struct attention {
    struct cr_sdpa a;
    enum layout layout;
    struct rows q, k, out;
    int64_t mask_numbers;
    bool hides_row; /* one query sees nothing, or more if its keys before some
                       are hidden by the mask, and the others by the pad:
                       results are NaN */
};

static const cr_real *reals(const void *x)
{
    return x;
}

static struct rows rows_of(const struct cr_sdpa *a, enum layout layout,
                           int64_t length, int64_t gap)
{
    int64_t width = a->heads * a->dim;
    struct rows r = { .length = length };

    if (layout == TURNED) {
        r.at = (struct cr_sdpa_at){ width, a->batch * width };
        r.numbers = length * a->batch * width;
        return r;
    }
    r.at.row = layout == PACKED ? 3 * width : width + gap;
    r.at.batch = length * r.at.row + (layout == APART ? gap : 0);
    r.numbers = a->batch * r.at.batch;
    return r;
}

static double mask_value(const struct cr_sdpa_mask *m, int64_t at)
{
    if (m->kind == CR_MASK_BOOL)
        return ((const unsigned char *)m->x)[at] ? -(double)INFINITY : 0;
    return (double)((const cr_real *)m->x)[at];
}

static void mask_set(const struct cr_sdpa_mask *m, int64_t at, bool hide)
{
    if (m->kind == CR_MASK_BOOL)
        ((unsigned char *)(size_t)m->x)[at] =
            hide ? (unsigned char)draw(1, 255) : 0;
    else
        ((cr_real *)(size_t)m->x)[at] =
            hide ? -(cr_real)INFINITY : 2 * draw_real();
}

/* n rows of keys, of which key `seen` is hidden nowhere. Runs of hidden keys
 * at either end, as of sequences that are padded or not to look ahead, and
 * some in between. */
static void mask_draw(struct cr_sdpa_mask *m, int64_t n, int64_t keys,
                      int64_t seen)
{
    int64_t i, j;

    m->kind = draw_one_in(2) ? CR_MASK_BOOL : CR_MASK_ADDITIVE;
    m->x = fence_new((size_t)(n * keys) *
                     (m->kind == CR_MASK_BOOL ? 1 : sizeof(cr_real)));
    for (i = 0; i < n; i++) {
        int64_t from = draw_one_in(2) ? draw(0, seen) : 0;
        int64_t to = draw_one_in(2) ? draw(seen, keys - 1) : keys - 1;

        for (j = 0; j < keys; j++)
            mask_set(m, i * keys + j,
                     j != seen && (j < from || j > to || draw_one_in(9)));
    }
}

static struct attention draw_attention(void)
{
    struct attention t = { .layout = (enum layout)draw(0, 2) };
    struct cr_sdpa *a = &t.a;
    int64_t gap = draw(0, 2), seen, cut, n, j;

    do {
        a->batch = draw(1, 3);
        a->heads = draw(1, 4);
        a->dim = draw_size(1, 70);
        a->queries = draw_size(1, 90);
        a->keys = t.layout == PACKED ? a->queries
                  : draw_one_in(9)   ? draw(2000, 4500)
                                     : draw_size(1, 150);
    } while (a->batch * a->heads * a->dim * a->queries * a->keys > 150000);
    t.q = rows_of(a, t.layout, a->queries, gap);
    t.k = rows_of(a, t.layout, a->keys, gap);
    t.out = rows_of(a, t.layout == PACKED ? APART : t.layout, a->queries, 0);
    a->q_at = t.q.at;
    a->k_at = a->v_at = t.k.at;
    a->out_at = t.out.at;
    a->scale = draw_one_in(2) ? 1 / cr_sqrt((cr_real)a->dim) : draw_real();
    a->keep_prob = draw_one_in(3) ? 0.7 : 1;
    a->rng = cr_rng(draw_word(), CR_STREAM_DROPOUT, draw_word(), draw_word());
    seen = draw(0, a->keys - 1);
    a->mask.row = a->keys;
    a->pad.batch = a->keys;
    if (draw_one_in(2)) {
        bool own = draw_one_in(2);
        int64_t each = a->queries * a->keys;

        t.mask_numbers = own ? a->batch * a->heads * each : each;
        mask_draw(&a->mask, t.mask_numbers / a->keys, a->keys, seen);
        a->mask.head = own ? each : 0;
        a->mask.batch = own ? a->heads * each : 0;
        t.hides_row = draw_one_in(12);
    }
    if (draw_one_in(3))
        mask_draw(&a->pad, a->batch, a->keys, seen);
    cut = a->pad.x ? draw(0, a->keys) : a->keys;
    for (j = 0; j < a->keys && t.hides_row; j++) {
        mask_set(&a->mask, j, j < cut);
        for (n = 0; n < a->batch && a->pad.x; n++)
            mask_set(&a->pad, n * a->keys + j, j >= cut);
    }
    a->q = numbers_new(t.q.numbers);
    a->k = t.layout == PACKED ? reals(a->q) + a->heads * a->dim
                              : numbers_new(t.k.numbers);
    a->v = t.layout == PACKED ? reals(a->k) + a->heads * a->dim
                              : numbers_new(t.k.numbers);
    a->softmax_stats = numbers_undefined(a->batch * a->heads * a->queries * 2);
    a->key_range = fence_new((size_t)cr_sdpa_blocks(a->queries, a->keys) *
                             sizeof *a->key_range);
    setting_is("%lld x %lld heads, %lld queries, %lld keys, dim %lld, layout "
               "%d, mask %d%s, pad %d, keep %g%s, %s",
               (long long)a->batch, (long long)a->heads, (long long)a->queries,
               (long long)a->keys, (long long)a->dim, (int)t.layout,
               (int)a->mask.kind, a->mask.head ? " of each head" : "",
               (int)a->pad.kind, a->keep_prob,
               t.hides_row ? ", a row hidden" : "", cr_isa_name(cr_isa()));
    return t;
}

/* ---- plain loops ---- */

/* One query of one head of one batch: weights, what dropout makes of them,
 * and how far rounding may take a weight, relative to it. */
struct query {
    const struct attention *t;
    int64_t n, h, i;
    double *p, *drop, rough;
};

static int64_t place(const struct attention *t, struct cr_sdpa_at at, int64_t n,
                     int64_t h, int64_t l)
{
    return n * at.batch + h * t->a.dim + l * at.row;
}

static double dot(int64_t n, const cr_real *x, const cr_real *y, double *size)
{
    double sum = 0;
    int64_t i;

    for (i = 0, *size = 0; i < n; i++) {
        sum += (double)x[i] * (double)y[i];
        *size += fabs((double)x[i] * (double)y[i]);
    }
    return sum;
}

/* As of the op dropout, of weights (batch, heads, queries, keys). */
static double dropped(const struct attention *t, const struct query *q,
                      int64_t j)
{
    const struct cr_sdpa *a = &t->a;
    uint64_t row = (uint64_t)((q->n * a->heads + q->h) * a->queries + q->i);
    uint64_t at = row * (uint64_t)a->keys + (uint64_t)j;

    return a->keep_prob >= 1                        ? 1
           : bernoulli(&a->rng, at, a->keep_prob) ? 1 / a->keep_prob
                                                  : 0;
}

static void query_open(struct query *q)
{
    const struct attention *t = q->t;
    const struct cr_sdpa *a = &t->a;
    const cr_real *x = reals(a->q) + place(t, a->q_at, q->n, q->h, q->i);
    double top = -(double)INFINITY, sum = 0, size, worst = 0;
    int64_t j;

    for (j = 0; j < a->keys; j++) {
        const cr_real *k = reals(a->k) + place(t, a->k_at, q->n, q->h, j);
        double s = (double)a->scale * dot(a->dim, x, k, &size);
        double m = 0;

        if (a->mask.kind != CR_MASK_NONE)
            m += mask_value(&a->mask, q->n * a->mask.batch +
                                          q->h * a->mask.head +
                                          q->i * a->mask.row + j);
        if (a->pad.kind != CR_MASK_NONE)
            m += mask_value(&a->pad, q->n * a->pad.batch + j);
        worst = fmax(worst, fabs((double)a->scale) * size + fabs(s) + 8);
        q->p[j] = s + m;
        top = fmax(top, q->p[j]);
    }
    for (j = 0; j < a->keys; j++)
        sum += q->p[j] = exp(q->p[j] - top);
    for (j = 0; j < a->keys; j++) {
        q->p[j] /= sum;
        q->drop[j] = dropped(t, q, j);
    }
    q->rough = EPS * (2 * worst * (double)(a->dim + 4) + (double)a->keys + 20);
}

/* A sum and the size of its terms, for each number of an output. */
struct sums {
    double *sum, *size;
    int64_t n;
};

static struct sums sums_new(int64_t n)
{
    return (struct sums){ calloc((size_t)n, sizeof(double)),
                          calloc((size_t)n, sizeof(double)), n };
}

static void sums_add(struct sums *s, int64_t at, double x, double size)
{
    s->sum[at] += x;
    s->size[at] += size;
}

/* got = old + sum where something was added up, what it was elsewhere. */
static bool sums_near(const char *what, const struct sums *s,
                      const cr_real *got, const cr_real *old, bool add,
                      double rough)
{
    int64_t i;

    for (i = 0; i < s->n; i++) {
        bool touched = s->size[i] != 0; /* or NaN */
        double want = s->sum[i] + (add ? (double)old[i] : 0);

        if (!touched &&
            !bytes_same("what is between", &got[i], &old[i], sizeof *got))
            return false;
        if (touched && !number_near(what, i, (double)got[i], want,
                                    rough * s->size[i] + 2 * EPS))
            return false;
    }
    return true;
}

static void sums_free(struct sums *s)
{
    free(s->sum);
    free(s->size);
}

/* ---- comparing ---- */

static enum verdict forward(void)
{
    struct attention t = draw_attention();
    struct cr_sdpa *a = &t.a;
    struct sums out = sums_new(t.out.numbers);
    struct sums weights;
    struct query q = { .t = &t };
    cr_real *old, *old_weights;
    double rough = 0;
    int64_t at, f, j, each = a->queries * a->keys;
    bool good = true;

    a->mean = draw_one_in(2);
    weights = sums_new(a->batch * (a->mean ? 1 : a->heads) * each);
    old = numbers_undefined(t.out.numbers);
    old_weights = numbers_undefined(weights.n);
    at = draw(0, 2);
    a->out = at == 1 ? NULL : numbers_copy(old, t.out.numbers);
    a->weights = at == 0 ? NULL : numbers_copy(old_weights, weights.n);
    cr_thread_pool_start(3);
    cr_sdpa_forward(a);
    if (cr_thread_scratch_size() > cr_sdpa_thread_scratch(a) + 63) {
        printf("# takes more room than planned\n");
        good = false;
    }
    q.p = calloc((size_t)a->keys, sizeof *q.p);
    q.drop = calloc((size_t)a->keys, sizeof *q.drop);
    for (q.n = 0; q.n < a->batch; q.n++)
        for (q.h = 0; q.h < a->heads; q.h++)
            for (q.i = 0; q.i < a->queries; q.i++) {
                query_open(&q);
                rough = fmax(rough, q.rough);
                for (j = 0; j < a->keys; j++) {
                    const cr_real *v =
                        reals(a->v) + place(&t, a->v_at, q.n, q.h, j);
                    double p = q.p[j] * q.drop[j];

                    at = place(&t, a->out_at, q.n, q.h, q.i);
                    for (f = 0; f < a->dim; f++)
                        sums_add(&out, at + f, p * (double)v[f],
                                 fabs(p * (double)v[f]) + 1e-30);
                    at = a->mean ? q.n : q.n * a->heads + q.h;
                    p /= a->mean ? (double)a->heads : 1;
                    sums_add(&weights, (at * a->queries + q.i) * a->keys + j, p,
                             p + 1e-30);
                }
            }
    if (a->out)
        good = sums_near("out", &out, a->out, old, false, rough);
    if (a->weights)
        good = sums_near("weight", &weights, a->weights, old_weights, false,
                         rough) &&
               good;
    free(q.p);
    free(q.drop);
    sums_free(&out);
    sums_free(&weights);
    return good ? RIGHT : WRONG;
}

/* A gradient that may be asked for, and may be added to. */
struct asked {
    cr_real *to, *old;
    bool add;
    struct sums s;
};

static struct asked ask(int64_t n)
{
    struct asked g = { .s = sums_new(n) };

    if (draw_one_in(4))
        return g;
    g.add = draw_one_in(2);
    g.old = g.add ? numbers_new(n) : numbers_undefined(n);
    g.to = numbers_copy(g.old, n);
    return g;
}

/* One query's part of all gradients. */
static void query_backward(const struct query *q, struct asked *dq,
                           struct asked *dk, struct asked *dv,
                           struct asked *dmask, struct asked *dpad, double *dp,
                           double *size)
{
    const struct attention *t = q->t;
    const struct cr_sdpa *a = &t->a;
    const cr_real *x = reals(a->q) + place(t, a->q_at, q->n, q->h, q->i);
    const cr_real *o = reals(a->dout) + place(t, a->out_at, q->n, q->h, q->i);
    int64_t qi = place(t, a->q_at, q->n, q->h, q->i), j, f;
    double delta = 0, deltas = 0, scale = (double)a->scale;

    for (j = 0; j < a->keys; j++) {
        const cr_real *v = reals(a->v) + place(t, a->v_at, q->n, q->h, j);
        int64_t w = (a->mean ? q->n : q->n * a->heads + q->h) * a->queries;

        dp[j] = a->dout ? dot(a->dim, o, v, &size[j]) : 0;
        size[j] = a->dout ? size[j] : 0;
        if (a->dweights) {
            double d = (double)a->dweights[(w + q->i) * a->keys + j] /
                       (a->mean ? (double)a->heads : 1);

            dp[j] += d;
            size[j] += fabs(d);
        }
        dp[j] *= q->drop[j];
        size[j] *= q->drop[j];
        delta += q->p[j] * dp[j];
        deltas += q->p[j] * size[j];
    }
    for (j = 0; j < a->keys; j++) {
        int64_t kj = place(t, a->k_at, q->n, q->h, j);
        double ds = q->p[j] * (dp[j] - delta), p = q->p[j] * q->drop[j];
        double s = q->p[j] * (size[j] + deltas) + 1e-30;

        for (f = 0; f < a->dim; f++) {
            double kf = scale * (double)reals(a->k)[kj + f];
            double xf = scale * (double)x[f];

            sums_add(&dq->s, qi + f, ds * kf, s * (fabs(kf) + 1e-9));
            sums_add(&dk->s, kj + f, ds * xf, s * (fabs(xf) + 1e-9));
            if (a->dout)
                sums_add(&dv->s, kj + f, p * (double)o[f],
                         p * fabs((double)o[f]) + 1e-30);
            else
                sums_add(&dv->s, kj + f, 0, 1e-30);
        }
        if (dmask->to)
            sums_add(&dmask->s,
                     q->n * a->mask.batch + q->h * a->mask.head +
                         q->i * a->mask.row + j,
                     ds, s);
        if (dpad->to)
            sums_add(&dpad->s, q->n * a->keys + j, ds, s);
    }
}

static bool asked_near(const char *what, struct asked *g, double rough)
{
    bool good = !g->to || sums_near(what, &g->s, g->to, g->old, g->add, rough);

    sums_free(&g->s);
    return good;
}

static enum verdict backward(void)
{
    struct attention t = draw_attention();
    struct cr_sdpa *a = &t.a;
    int64_t each = a->queries * a->keys, w;
    struct asked g[5] = { 0 };
    struct query q = { .t = &t };
    double rough = 0, *dp, *size;
    bool good, packed = t.layout == PACKED;
    int i;

    if (t.hides_row)
        return DECLINED;
    a->mean = draw_one_in(2);
    w = a->batch * (a->mean ? 1 : a->heads) * each;
    i = (int)draw(0, 2);
    if (i > 0)
        a->dout = numbers_new(t.out.numbers);
    if (i != 1)
        a->dweights = numbers_new(w);
    g[0] = ask(t.q.numbers);
    g[1] = packed ? (struct asked){ .s = sums_new(t.k.numbers) }
                  : ask(t.k.numbers);
    g[2] = packed ? (struct asked){ .s = sums_new(t.k.numbers) }
                  : ask(t.k.numbers);
    if (a->mask.kind == CR_MASK_ADDITIVE)
        g[3] = ask(t.mask_numbers);
    if (a->pad.kind == CR_MASK_ADDITIVE)
        g[4] = ask(a->batch * a->keys);
    a->dq = g[0].to;
    a->dk = packed && g[0].to ? g[0].to + a->heads * a->dim : g[1].to;
    a->dv = packed && g[0].to ? g[0].to + 2 * a->heads * a->dim : g[2].to;
    a->add_q = g[0].add;
    a->add_k = packed ? g[0].add : g[1].add;
    a->add_v = packed ? g[0].add : g[2].add;
    a->dmask = g[3].to;
    a->add_mask = g[3].add;
    a->dpad = g[4].to;
    a->add_pad = g[4].add;
    a->weights = numbers_undefined(w);
    cr_sdpa_forward(a);
    cr_sdpa_backward(a);
    q.p = calloc((size_t)a->keys, sizeof *q.p);
    q.drop = calloc((size_t)a->keys, sizeof *q.drop);
    dp = calloc((size_t)a->keys, sizeof *dp);
    size = calloc((size_t)a->keys, sizeof *size);
    for (q.n = 0; q.n < a->batch; q.n++)
        for (q.h = 0; q.h < a->heads; q.h++)
            for (q.i = 0; q.i < a->queries; q.i++) {
                query_open(&q);
                rough = fmax(rough, q.rough);
                query_backward(&q, &g[0], &g[1], &g[2], &g[3], &g[4], dp, size);
            }
    /* packed: the three are side by side in one gradient */
    for (w = 0; w < t.k.numbers && packed; w++)
        for (i = 1; i < 3; i++) {
            int64_t at = w + i * a->heads * a->dim;

            if (g[i].s.size[w] != 0)
                sums_add(&g[0].s, at, g[i].s.sum[w], g[i].s.size[w]);
        }
    rough = 4 * rough + EPS * (double)(a->batch * a->heads * a->queries + 9);
    good = asked_near("dq", &g[0], rough);
    good = asked_near("dk", &g[1], rough) && good;
    good = asked_near("dv", &g[2], rough) && good;
    good = asked_near("dmask", &g[3], rough) && good;
    good = asked_near("dpad", &g[4], rough) && good;
    free(q.p);
    free(q.drop);
    free(dp);
    free(size);
    return good ? RIGHT : WRONG;
}

int main(void)
{
    int i, last = sizeof(cr_real) == sizeof(float) ? OWN : 1;

    kernels_begin(120);
    cr_thread_pool_start(3);
    for (i = 0; i < last; i++) {
        kernel_compare("attention: out and weights", i, forward);
        kernel_compare("attention: gradients", i, backward);
    }
    cr_thread_pool_stop();
    return done();
}
