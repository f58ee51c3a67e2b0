/* Attention in low precision with random settings, on each implementation,
 * against plain loops, one step after the other, each of which rounds what it
 * gives. Numbers may differ where a sum in another order rounds to the number
 * next to it: few of them, and by little. */
#include "kernels/sdpa.h"
#include "num/low_precision.h"

#include "bernoulli.h"
#include "kernels.h"

/* Numbers that the kernel reads or writes, two bytes each or as they are. */
struct operand {
    cr_real *v;  /* as they are, or were */
    void *at;    /* what the kernel has */
    int64_t n;
    bool two_bytes;
};

struct setting {
    struct cr_sdpa a;
    bool packed;
    struct operand q, k, v, out, dq, dk, dv, mask, pad;
    double *size[4]; /* of dq, dk, dv, out: sums of absolute terms */
};

static struct setting t;
static double all_numbers, other_numbers;

static cr_real rounded(bool when, cr_real x)
{
    if (when)
        cr_round_to_type(t.a.low.type, 1, &x, &x);
    return x;
}

/* ---- settings ---- */

static struct operand operand_new(int64_t n, bool two_bytes)
{
    struct operand o = { .n = n, .two_bytes = two_bytes };

    o.v = numbers_new(n);
    o.at = fence_new((size_t)n * (two_bytes ? 2 : sizeof(cr_real)));
    if (two_bytes) {
        cr_round_to_type(t.a.low.type, n, o.v, o.v);
        cr_narrow(t.a.low.type, n, o.v, o.at);
    } else {
        memcpy(o.at, o.v, (size_t)n * sizeof(cr_real));
    }
    return o;
}

static void *element(const struct operand *o, int64_t i)
{
    return (char *)o->at + (size_t)i * (o->two_bytes ? 2 : sizeof(cr_real));
}

static bool two(unsigned of)
{
    return t.a.low.two_bytes & of;
}

/* A mask that hides no key from all. */
static struct operand mask_new(struct cr_sdpa_mask *m, int64_t rows)
{
    struct operand o = { 0 };
    unsigned char *hides;
    int64_t i;

    m->kind = draw_one_in(2) ? CR_MASK_BOOL : CR_MASK_ADDITIVE;
    o = operand_new(rows * t.a.keys, false);
    hides = fence_new((size_t)o.n);
    for (i = 0; i < o.n; i++) {
        bool hide = i % t.a.keys != 0 && draw_one_in(3);

        o.v[i] = hide ? -(cr_real)INFINITY
                      : m->kind == CR_MASK_BOOL ? 0
                                                : rounded(t.a.low.all, o.v[i]);
        hides[i] = hide;
        ((cr_real *)o.at)[i] = o.v[i];
    }
    m->x = m->kind == CR_MASK_BOOL ? (void *)hides : o.at;
    return o;
}

static cr_real root_of(int64_t dim)
{
    cr_real r = rounded(t.a.low.all, (cr_real)dim);

    r = rounded(t.a.low.all, cr_sqrt(r));
    return rounded(t.a.low.all, cr_sqrt(r));
}

static void draw_sizes(struct cr_sdpa *a)
{
    do {
        a->batch = draw(1, 3);
        a->heads = draw(1, 4);
        a->dim = draw_size(1, 70);
        a->queries = draw_size(1, 90);
        a->keys = t.packed ? a->queries : draw_size(1, 150);
    } while (a->batch * a->heads * a->dim * a->queries * a->keys > 100000);
}

static void draw_low(struct cr_sdpa_low *low, int64_t dim)
{
    low->type = draw_one_in(2) ? CR_F16 : CR_BF16;
    low->two_bytes = (unsigned)draw(0, 15);
    low->grads_two_bytes = (unsigned)draw(0, 15);
    low->rounds = (unsigned)draw(0, 15);
    if (t.packed) { /* one tensor is all three */
        unsigned qkv = CR_SDPA_Q | CR_SDPA_K | CR_SDPA_V;

        low->two_bytes |= low->two_bytes & CR_SDPA_Q ? qkv : 0;
        low->two_bytes &= low->two_bytes & CR_SDPA_Q ? ~0u : ~qkv;
        low->grads_two_bytes |= low->grads_two_bytes & CR_SDPA_Q ? qkv : 0;
        low->grads_two_bytes &= low->grads_two_bytes & CR_SDPA_Q ? ~0u : ~qkv;
        low->rounds |= low->rounds & CR_SDPA_Q ? qkv : 0;
        low->rounds &= low->rounds & CR_SDPA_Q ? ~0u : ~qkv;
    }
    low->steps = !draw_one_in(4);
    low->all = low->steps && draw_one_in(2);
    low->sums = low->all || (low->steps && draw_one_in(3));
    low->root = root_of(dim);
}

/* Rows (batch, length, width) or (length, batch, width). */
static struct cr_sdpa_at place(bool turned, int64_t length, int64_t width)
{
    return turned ? (struct cr_sdpa_at){ width, t.a.batch * width }
                  : (struct cr_sdpa_at){ length * width, width };
}

static void draw_setting(void)
{
    struct cr_sdpa *a = &t.a;
    bool turned = draw_one_in(3);
    int64_t e, each;

    memset(&t, 0, sizeof t);
    t.packed = draw_one_in(3);
    draw_sizes(a);
    draw_low(&a->low, a->dim);
    e = a->heads * a->dim;
    a->q_at = place(turned, a->queries, t.packed ? 3 * e : e);
    a->k_at = a->v_at = place(turned, a->keys, t.packed ? 3 * e : e);
    a->out_at = place(turned, a->queries, e);
    a->scale = 1 / cr_sqrt((cr_real)a->dim);
    a->keep_prob = draw_one_in(2) ? 0.7 : 1;
    a->rng = cr_rng(draw_word(), CR_STREAM_DROPOUT, draw_word(), draw_word());
    a->rows_before = draw(0, 2);
    a->mean = draw_one_in(2);
    t.q = operand_new(a->batch * a->queries * (t.packed ? 3 * e : e),
                      two(CR_SDPA_Q));
    a->q = t.q.at;
    if (t.packed) {
        t.k = t.v = t.q;
        a->k = element(&t.q, e);
        a->v = element(&t.q, 2 * e);
        t.k.v += e;
        t.v.v += 2 * e;
    } else {
        t.k = operand_new(a->batch * a->keys * e, two(CR_SDPA_K));
        t.v = operand_new(a->batch * a->keys * e, two(CR_SDPA_V));
        a->k = t.k.at;
        a->v = t.v.at;
    }
    each = a->queries * a->keys;
    a->mask.row = a->pad.batch = a->keys;
    if (draw_one_in(2)) {
        bool own = draw_one_in(2);

        a->mask.head = own ? each : 0;
        a->mask.batch = own ? a->heads * each : 0;
        t.mask = mask_new(&a->mask,
                          (own ? a->batch * a->heads : 1) * a->queries);
    }
    if (draw_one_in(3))
        t.pad = mask_new(&a->pad, a->batch);
    a->softmax_stats =
        a->low.steps ? NULL
                     : numbers_undefined(a->batch * a->heads * a->queries * 2);
    a->key_range = fence_new((size_t)cr_sdpa_blocks(a->queries, a->keys) *
                             sizeof *a->key_range);
    setting_is("%lld x %lld heads, %lld queries, %lld keys, dim %lld%s%s, "
               "mask %d%s, pad %d, keep %g, %s, steps %d, sums %d, all %d, two "
               "bytes %x, of gradients %x, rounds %x, %s",
               (long long)a->batch, (long long)a->heads, (long long)a->queries,
               (long long)a->keys, (long long)a->dim,
               t.packed ? ", packed" : "", turned ? ", turned" : "",
               (int)a->mask.kind, a->mask.head ? " of each head" : "",
               (int)a->pad.kind, a->keep_prob,
               a->low.type == CR_F16 ? "float16" : "bfloat16", a->low.steps,
               a->low.sums, a->low.all, a->low.two_bytes,
               a->low.grads_two_bytes, a->low.rounds, cr_isa_name(cr_isa()));
}

/* ---- the steps, for one head of one sample ---- */

struct head {
    int64_t n, h;
    cr_real *q, *k, *v;      /* [row][dim], as products take them */
    cr_real *p, *w, *drop;   /* [query][key]: softmax, weights, factors */
    cr_real *dout, *dw, *ds; /* gradients */
};

static int64_t at(struct cr_sdpa_at s, const struct head *x, int64_t row,
                  int64_t f)
{
    return x->n * s.batch + x->h * t.a.dim + row * s.row + f;
}

static cr_real *room(int64_t n)
{
    return calloc((size_t)n + 1, sizeof(cr_real));
}

static cr_real *rows_of(const struct head *x, const struct operand *o,
                        struct cr_sdpa_at s, int64_t rows, unsigned of)
{
    bool divided = of == CR_SDPA_Q || of == CR_SDPA_K;
    const struct cr_sdpa_low *low = &t.a.low;
    cr_real *y = room(rows * t.a.dim);
    int64_t i, f;

    for (i = 0; i < rows; i++)
        for (f = 0; f < t.a.dim; f++) {
            cr_real v = rounded(low->rounds & of, o->v[at(s, x, i, f)]);

            if (low->steps && divided)
                v /= low->root;
            y[i * t.a.dim + f] = rounded(low->steps, v);
        }
    return y;
}

/* The sum of n products, one after the other; and rounded. */
static cr_real sum(int64_t n, const cr_real *a, int64_t a_step,
                   const cr_real *b, int64_t b_step)
{
    double y = 0;
    int64_t i;

    for (i = 0; i < n; i++)
        y = (double)(cr_real)fma((double)a[i * a_step], (double)b[i * b_step],
                                 y);
    return (cr_real)y;
}

static cr_real chain(int64_t n, const cr_real *a, int64_t a_step,
                     const cr_real *b, int64_t b_step)
{
    return rounded(t.a.low.steps, sum(n, a, a_step, b, b_step));
}

static cr_real masks_of(const struct head *x, int64_t i, int64_t j)
{
    const struct cr_sdpa *a = &t.a;
    cr_real m = 0, p = 0;

    if (a->mask.kind != CR_MASK_NONE)
        m = t.mask.v[x->n * a->mask.batch + x->h * a->mask.head +
                     i * a->mask.row + j];
    if (a->pad.kind != CR_MASK_NONE)
        p = t.pad.v[x->n * a->keys + j];
    return rounded(a->low.sums, m + p);
}

static cr_real dropped(const struct head *x, int64_t i, int64_t j)
{
    const struct cr_sdpa *a = &t.a;
    uint64_t row =
        (uint64_t)(((a->rows_before + x->n) * a->heads + x->h) * a->queries +
                   i);
    uint64_t e = row * (uint64_t)a->keys + (uint64_t)j;

    return a->keep_prob >= 1                       ? 1
           : bernoulli(&a->rng, e, a->keep_prob) ? (cr_real)(1 / a->keep_prob)
                                                 : 0;
}

static void head_forward(struct head *x)
{
    const struct cr_sdpa *a = &t.a;
    int64_t i, j, d = a->dim;

    x->q = rows_of(x, &t.q, a->q_at, a->queries, CR_SDPA_Q);
    x->k = rows_of(x, &t.k, a->k_at, a->keys, CR_SDPA_K);
    x->v = rows_of(x, &t.v, a->v_at, a->keys, CR_SDPA_V);
    x->p = room(a->queries * a->keys);
    x->w = room(a->queries * a->keys);
    x->drop = room(a->queries * a->keys);
    for (i = 0; i < a->queries; i++) {
        cr_real *p = x->p + i * a->keys, *w = x->w + i * a->keys;
        double top = -(double)INFINITY, all = 0;

        for (j = 0; j < a->keys; j++) {
            cr_real s = chain(d, x->q + i * d, 1, x->k + j * d, 1);

            s = a->low.steps ? s : a->scale * s;
            if (a->mask.kind != CR_MASK_NONE || a->pad.kind != CR_MASK_NONE)
                s = rounded(a->low.sums, s + masks_of(x, i, j));
            p[j] = s;
            top = fmax(top, (double)s);
        }
        for (j = 0; j < a->keys; j++)
            all += exp((double)p[j] - top);
        for (j = 0; j < a->keys; j++) {
            p[j] = (cr_real)(exp((double)p[j] - top) / all);
            w[j] = rounded(a->low.all, p[j]);
            x->drop[i * a->keys + j] = dropped(x, i, j);
            w[j] = rounded(a->low.all, w[j] * x->drop[i * a->keys + j]);
        }
    }
}

static void head_free(struct head *x)
{
    free(x->q);
    free(x->k);
    free(x->v);
    free(x->p);
    free(x->w);
    free(x->drop);
    free(x->dout);
    free(x->dw);
    free(x->ds);
}

/* ---- comparing ---- */

/* Twice the distance of a number from the next one, relative to it. */
static double step_of_type(void)
{
    return t.a.low.type == CR_F16 ? 0x1p-10 : 0x1p-7;
}

/* size: of the terms of what `want` is the sum of; low: it is rounded. */
static bool near(const char *what, int64_t i, bool low, double got, double want,
                 double size)
{
    bool same = got == want || (isnan(got) && isnan(want));

    if (!low)
        same = same || fabs(got - want) <= 64 * EPS * size;
    all_numbers++;
    other_numbers += !same;
    return same || number_near(what, i, got, want,
                               4 * step_of_type() * size + 0x1p-20);
}

static double got_of(const struct operand *o, int64_t i)
{
    cr_real x;

    if (!o->two_bytes)
        return (double)((cr_real *)o->at)[i];
    cr_widen(t.a.low.type, 1, (uint16_t *)o->at + i, &x);
    return (double)x;
}

static bool out_near(const struct head *x)
{
    const struct cr_sdpa *a = &t.a;
    bool low = a->low.two_bytes & CR_SDPA_OUT, good = true;
    cr_real *w = room(a->keys);
    int64_t i, j, f;

    for (i = 0; i < a->queries && good; i++) {
        for (j = 0; j < a->keys; j++)
            w[j] = rounded(a->low.steps, x->w[i * a->keys + j]);
        for (f = 0; f < a->dim && good; f++) {
            cr_real want = chain(a->keys, w, 1, x->v + f, a->dim);
            double size = 0;

            for (j = 0; j < a->keys; j++)
                size += fabs((double)w[j] * (double)x->v[j * a->dim + f]);
            want = rounded(low || a->low.rounds & CR_SDPA_OUT, want);
            good = near("out", at(a->out_at, x, i, f), a->low.steps,
                        got_of(&t.out, at(a->out_at, x, i, f)), (double)want,
                        size);
        }
    }
    free(w);
    return good;
}

static enum verdict forward(void)
{
    struct cr_sdpa *a = &t.a;
    struct head x = { 0 };
    cr_real *means, *given;
    int64_t each, n;
    bool good = true;

    draw_setting();
    each = a->queries * a->keys;
    t.out = operand_new(a->batch * a->queries * a->heads * a->dim,
                        two(CR_SDPA_OUT));
    a->out = draw_one_in(4) ? NULL : t.out.at;
    n = a->batch * (a->mean ? 1 : a->heads) * each;
    given = numbers_undefined(n);
    a->weights = a->out && draw_one_in(2) ? NULL : given;
    cr_thread_pool_start(3);
    cr_sdpa_forward(a);
    if (cr_thread_scratch_size() > cr_sdpa_thread_scratch(a) + 63) {
        printf("# takes more room than planned\n");
        good = false;
    }
    means = room(a->batch * each);
    for (x.n = 0; x.n < a->batch; x.n++)
        for (x.h = 0; x.h < a->heads; x.h++) {
            int64_t i, to = (x.n * a->heads + x.h) * each;

            head_forward(&x);
            good = good && (!a->out || out_near(&x));
            for (i = 0; i < each; i++) {
                means[x.n * each + i] += x.w[i];
                if (a->weights && !a->mean)
                    good = good && near("weight", to + i, a->low.all,
                                        (double)a->weights[to + i],
                                        (double)x.w[i], (double)x.w[i]);
            }
            head_free(&x);
        }
    for (n = 0; n < a->batch * each && a->weights && a->mean; n++) {
        cr_real w = rounded(a->low.all, means[n]) / (cr_real)a->heads;

        w = rounded(a->low.all, w);
        good = good && near("mean weight", n, a->low.all,
                            (double)a->weights[n], (double)w,
                            (double)w + 64 * EPS);
    }
    free(means);
    return good ? RIGHT : WRONG;
}

/* ---- gradients ---- */

static struct operand gradient_new(const struct operand *x, unsigned of,
                                   bool *add)
{
    struct operand g = operand_new(x->n, t.a.low.grads_two_bytes & of);

    *add = !g.two_bytes && draw_one_in(2);
    return g;
}

/* The gradient of the weights of one query, before dropout: in low precision
 * one sum, in float32 after a product. */
static void query_given(const struct head *x, int64_t i,
                        const struct operand *dout, const cr_real *dweights)
{
    const struct cr_sdpa *a = &t.a;
    int64_t w = (a->mean ? x->n : x->n * a->heads + x->h) * a->queries + i, j;
    cr_real heads = (cr_real)(a->mean ? a->heads : 1);

    for (j = 0; j < a->keys; j++) {
        cr_real *dw = &x->dw[i * a->keys + j];

        if (dout)
            *dw = rounded(a->low.steps && !(a->low.all && dweights),
                          sum(a->dim, x->dout + i * a->dim, 1,
                              x->v + j * a->dim, 1));
        if (dweights)
            *dw = rounded(a->low.all,
                          *dw + rounded(a->low.all,
                                        dweights[w * a->keys + j] / heads));
    }
}

static void query_backward(const struct head *x, int64_t i)
{
    const struct cr_sdpa *a = &t.a;
    const cr_real *p = x->p + i * a->keys, *drop = x->drop + i * a->keys;
    cr_real *dw = x->dw + i * a->keys, *ds = x->ds + i * a->keys;
    double delta = 0;
    int64_t j;

    for (j = 0; j < a->keys; j++) {
        dw[j] = rounded(a->low.all && a->keep_prob < 1, dw[j] * drop[j]);
        delta += (double)(p[j] * dw[j]);
    }
    for (j = 0; j < a->keys; j++)
        ds[j] = rounded(a->low.sums, p[j] * (dw[j] - (cr_real)delta));
}

/* One gradient of rows: the sum over n terms u[i][m] v[m]. */
static bool rows_near(const char *what, const struct head *x, unsigned of,
                      const struct operand *g, struct cr_sdpa_at s, bool add,
                      int64_t rows, int64_t n, const cr_real *u, int64_t u_row,
                      int64_t u_step, const cr_real *v, double size)
{
    const struct cr_sdpa_low *low = &t.a.low;
    bool divided = of != CR_SDPA_V, good = true;
    int64_t i, f;

    for (i = 0; i < rows && good; i++)
        for (f = 0; f < t.a.dim && good; f++) {
            int64_t to = at(s, x, i, f);
            cr_real want = chain(n, u + i * u_row, u_step, v + f, t.a.dim);

            if (divided)
                want = low->steps ? want / low->root : want * t.a.scale;
            want = rounded(g->two_bytes || low->rounds & of, want);
            if (add)
                want += g->v[to];
            good = near(what, to, low->steps, got_of(g, to), (double)want,
                        size + fabs((double)want));
        }
    return good;
}

/* The largest sum of absolute terms that any gradient of this head has. */
static double terms(const struct head *x)
{
    const struct cr_sdpa *a = &t.a;
    double most = 0, dw = 0, row;
    int64_t i, j;

    for (i = 0; i < a->queries * a->keys; i++)
        dw = fmax(dw, fabs((double)x->dw[i]));
    for (i = 0; i < a->queries * a->dim; i++)
        most = fmax(most, fabs((double)x->q[i]));
    for (i = 0; i < a->keys * a->dim; i++)
        most = fmax(most, fabs((double)x->k[i]));
    for (i = 0; i < a->queries * a->dim && x->dout; i++)
        most = fmax(most, fabs((double)x->dout[i]));
    dw = fmax(2 * dw, 1) * most;
    for (j = 0, most = 1; j < a->keys; j++) {
        for (i = 0, row = 0; i < a->queries; i++)
            row += (double)fmax((double)x->p[i * a->keys + j],
                                (double)x->w[i * a->keys + j]);
        most = fmax(most, row);
    }
    return dw * most;
}

static enum verdict backward(void)
{
    struct cr_sdpa *a = &t.a;
    struct operand dout = { 0 };
    struct head x = { 0 };
    cr_real *dweights = NULL, *dmask = NULL;
    int64_t i, j, each, e;
    double most = 1;
    bool good = true;
    int which; /* gradients that arrive: of out, of weights, of both */

    draw_setting();
    each = a->queries * a->keys;
    e = a->heads * a->dim;
    which = (int)draw(0, 2);
    if (which > 0) {
        dweights = numbers_new(a->batch * (a->mean ? 1 : a->heads) * each);
        cr_round_to_type(a->low.type,
                         a->batch * (a->mean ? 1 : a->heads) * each, dweights,
                         dweights);
        a->dweights = dweights;
    }
    if (which != 1) {
        dout = operand_new(a->batch * a->queries * e,
                           a->low.grads_two_bytes & CR_SDPA_OUT);
        if (!dout.two_bytes) { /* what arrives is rounded */
            cr_round_to_type(a->low.type, dout.n, dout.v, dout.v);
            memcpy(dout.at, dout.v, (size_t)dout.n * sizeof(cr_real));
        }
        a->dout = dout.at;
    }
    t.dq = gradient_new(&t.q, CR_SDPA_Q, &a->add_q);
    a->dq = t.dq.at;
    if (t.packed) {
        t.dk = t.dv = t.dq;
        a->dk = element(&t.dq, e);
        a->dv = element(&t.dq, 2 * e);
        a->add_k = a->add_v = a->add_q;
    } else {
        t.dk = gradient_new(&t.k, CR_SDPA_K, &a->add_k);
        t.dv = gradient_new(&t.v, CR_SDPA_V, &a->add_v);
        a->dk = t.dk.at;
        a->dv = t.dv.at;
    }
    if (a->mask.kind == CR_MASK_ADDITIVE) {
        a->dmask = numbers_undefined(t.mask.n);
        dmask = room(t.mask.n);
    }
    a->weights = numbers_undefined(a->batch * a->heads * each);
    cr_sdpa_forward(a);
    cr_sdpa_backward(a);
    for (x.n = 0; x.n < a->batch; x.n++)
        for (x.h = 0; x.h < a->heads && good; x.h++) {
            double size;

            head_forward(&x);
            x.dout = a->dout ? rows_of(&x, &dout, a->out_at, a->queries,
                                       CR_SDPA_OUT)
                             : NULL;
            x.dw = room(each);
            x.ds = room(each);
            for (i = 0; i < a->queries; i++) {
                query_given(&x, i, a->dout ? &dout : NULL, dweights);
                query_backward(&x, i);
            }
            for (i = 0; i < a->queries && dmask; i++)
                for (j = 0; j < a->keys; j++)
                    dmask[x.n * a->mask.batch + x.h * a->mask.head +
                          i * a->mask.row + j] += x.ds[i * a->keys + j];
            for (i = 0; i < each; i++) {
                x.ds[i] = rounded(a->low.steps, x.ds[i]);
                x.w[i] = rounded(a->low.steps, x.w[i]);
            }
            size = terms(&x);
            most = fmax(most, size);
            good = rows_near("dq", &x, CR_SDPA_Q, &t.dq, a->q_at, a->add_q,
                             a->queries, a->keys, x.ds, a->keys, 1, x.k, size);
            /* packed: k and v follow q */
            t.dk.at = t.packed ? a->dk : t.dk.at;
            t.dk.v = t.packed ? t.dq.v + e : t.dk.v;
            good = good &&
                   rows_near("dk", &x, CR_SDPA_K, &t.dk, a->k_at, a->add_k,
                             a->keys, a->queries, x.ds, 1, a->keys, x.q, size);
            t.dv.at = t.packed ? a->dv : t.dv.at;
            t.dv.v = t.packed ? t.dq.v + 2 * e : t.dv.v;
            good = good && (!a->dout ||
                            rows_near("dv", &x, CR_SDPA_V, &t.dv, a->v_at,
                                      a->add_v, a->keys, a->queries, x.w, 1,
                                      a->keys, x.dout, size));
            head_free(&x);
            x.dout = NULL;
        }
    for (i = 0; i < t.mask.n && dmask && good; i++)
        good = number_near("dmask", i, (double)a->dmask[i], (double)dmask[i],
                           4 * step_of_type() * most);
    free(dmask);
    return good ? RIGHT : WRONG;
}

/* Of what is compared, all but few numbers are the same. */
static void same_numbers(const char *what, int i)
{
    if (all_numbers > 0)
        ok(other_numbers < all_numbers / 30, "%s, %s: the same numbers", what,
           implementations[i].name);
    printf("# %.0f of %.0f differ\n", other_numbers, all_numbers);
    all_numbers = other_numbers = 0;
}

int main(void)
{
    int i, last = sizeof(cr_real) == sizeof(float) ? OWN : 1;

    kernels_begin(150);
    cr_thread_pool_start(3);
    for (i = 0; i < last; i++) {
        kernel_compare("attention in low precision: out and weights", i,
                       forward);
        same_numbers("out and weights", i);
        kernel_compare("attention in low precision: gradients", i, backward);
        same_numbers("gradients", i);
    }
    cr_thread_pool_stop();
    return done();
}
