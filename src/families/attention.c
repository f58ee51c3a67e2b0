#include "families/attention.h"

#include "num/low_precision.h"

const char *const cr_attention_inputs[] = { "query",     "key",
                                            "value",     "key_padding_mask",
                                            "attn_mask", NULL };

/* A tensor of rows: (L, E), (N, L, E) or (L, N, E). */
struct seq {
    int64_t batch, length, width;
    struct cr_sdpa_at at;
};

static struct seq attention_seq(const struct cr_attention *o,
                                const struct cr_spec *x)
{
    struct seq s = { .batch = 1, .width = x->dim[x->rank - 1] };

    if (x->rank == 2) {
        s.length = x->dim[0];
        s.at = (struct cr_sdpa_at){ s.length * s.width, s.width };
    } else if (o->batch_first) {
        s.batch = x->dim[0];
        s.length = x->dim[1];
        s.at = (struct cr_sdpa_at){ s.length * s.width, s.width };
    } else {
        s.batch = x->dim[1];
        s.length = x->dim[0];
        s.at = (struct cr_sdpa_at){ s.width, s.batch * s.width };
    }
    return s;
}

/* An absent input has no dimensions. */
static bool attention_packed(const struct cr_spec *in)
{
    return in[CR_ATTN_K].rank <= 0;
}

/* Query, key and value as they lie; those of a packed one are its thirds. */
static struct cr_sdpa attention_shape(const struct cr_attention *o,
                                      const struct cr_spec *in)
{
    bool packed = attention_packed(in);
    struct seq q = attention_seq(o, &in[CR_ATTN_Q]);
    struct seq k = packed ? q : attention_seq(o, &in[CR_ATTN_K]);
    int64_t e = packed ? q.width / 3 : q.width;
    struct cr_sdpa a = { .batch = q.batch,
                         .heads = o->num_heads,
                         .queries = q.length,
                         .keys = k.length,
                         .dim = e / o->num_heads,
                         .q_at = q.at,
                         .k_at = k.at,
                         .v_at = k.at,
                         .keep_prob = 1 };

    a.out_at =
        (struct cr_sdpa_at){ q.at.batch / q.width * e, q.at.row / q.width * e };
    a.scale = 1 / cr_sqrt((cr_real)a.dim);
    return a;
}

static bool attention_mask_type(struct cr_op_plan *p, int i, enum cr_type type)
{
    return type == CR_REAL || type == CR_BOOL || type == CR_U8 ||
           cr_error(p->diag, p->pos, CR_E_WRONG_TYPE,
                    "%s is %s: bool hides keys, float32 is added to scores",
                    cr_attention_inputs[i], cr_type_name(type));
}

static bool attention_masks(struct cr_op_plan *p, const struct cr_sdpa *a,
                            const struct cr_spec *in)
{
    const struct cr_spec *pad = &in[CR_ATTN_PAD], *mask = &in[CR_ATTN_MASK];
    bool batched = in[CR_ATTN_Q].rank == 3;
    struct cr_spec want;

    if (pad->rank > 0) {
        want = batched ? CR_SPEC(a->batch, a->keys) : CR_SPEC(a->keys);
        want.type = pad->type;
        if (!attention_mask_type(p, CR_ATTN_PAD, pad->type))
            return false;
        if (!cr_spec_same(pad, &want))
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "key_padding_mask is %s, expected %s: one row of "
                            "keys for each sample",
                            cr_diag_format(p->arena, pad),
                            cr_diag_format(p->arena, &want));
    }
    if (mask->rank > 0) {
        struct cr_spec each = CR_SPEC(a->batch * a->heads, a->queries, a->keys);

        want = CR_SPEC(a->queries, a->keys);
        want.type = each.type = mask->type;
        if (!attention_mask_type(p, CR_ATTN_MASK, mask->type))
            return false;
        if (!cr_spec_same(mask, &want) && !cr_spec_same(mask, &each))
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "attn_mask is %s, expected %s, or %s with one "
                            "matrix for each head and sample",
                            cr_diag_format(p->arena, mask),
                            cr_diag_format(p->arena, &want),
                            cr_diag_format(p->arena, &each));
    }
    return true;
}

bool cr_attention_rows_apart(const void *attr, const struct cr_spec *x, int in,
                             int out)
{
    (void)x;
    (void)in;
    return ((const struct cr_attention *)attr)->batch_first && out == 0;
}

bool cr_attention_plan(struct cr_op_plan *p, struct cr_spec *weights)
{
    const struct cr_attention *o = p->attr;
    struct cr_spec in[CR_ATTN_INPUTS] = { 0 };
    const struct cr_spec *q = &in[CR_ATTN_Q], *k = &in[CR_ATTN_K],
                         *v = &in[CR_ATTN_V];
    struct cr_sdpa a;
    bool packed;
    int64_t e;
    int i;

    for (i = 0; i < p->n_in; i++)
        in[i] = p->in[i];
    packed = attention_packed(in);

    if (q->rank != 2 && q->rank != 3)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "query is %s, expected (N, L, E) or (L, E)",
                        cr_diag_format(p->arena, q));
    e = q->dim[q->rank - 1];
    if (e % (o->num_heads * (packed ? 3 : 1)) != 0)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "%lld features cannot be divided among %lld heads",
                        (long long)(packed ? e / 3 : e),
                        (long long)o->num_heads);
    if (!packed && (k->rank != q->rank || k->dim[k->rank - 1] != e))
        return cr_error(
            p->diag, p->pos, CR_E_SHAPE, "key %s does not fit query %s",
            cr_diag_format(p->arena, k), cr_diag_format(p->arena, q));
    if (v->rank > 0 && !cr_spec_same(k, v))
        return cr_error(
            p->diag, p->pos, CR_E_SHAPE, "value %s does not fit key %s",
            cr_diag_format(p->arena, v), cr_diag_format(p->arena, k));
    a = attention_shape(o, in);
    if (!packed && attention_seq(o, k).batch != a.batch)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "key %s and query %s have different batch sizes",
                        cr_diag_format(p->arena, k),
                        cr_diag_format(p->arena, q));
    if (!attention_masks(p, &a, in))
        return false;
    if (o->low == CR_REAL)
        p->saved =
            (size_t)(a.batch * a.heads * a.queries * 2) * sizeof(cr_real);
    p->scratch =
        (size_t)cr_sdpa_blocks(a.queries, a.keys) * sizeof *a.key_range;
    p->thread_scratch = cr_sdpa_thread_scratch(&a);
    p->macs = (double)(a.batch * a.heads) * (double)(a.queries * a.keys) *
              (double)a.dim;
    if (o->average_attn_weights)
        *weights = CR_SPEC(a.batch, a.queries, a.keys);
    else
        *weights = CR_SPEC(a.batch, a.heads, a.queries, a.keys);
    if (q->rank == 2) {
        *weights = o->average_attn_weights
                       ? CR_SPEC(a.queries, a.keys)
                       : CR_SPEC(a.heads, a.queries, a.keys);
    }
    return true;
}

static struct cr_sdpa_mask attention_mask(const struct cr_spec *spec,
                                          const void *x)
{
    struct cr_sdpa_mask m = { .x = x };

    if (x)
        m.kind = spec->type == CR_REAL ? CR_MASK_ADDITIVE : CR_MASK_BOOL;
    return m;
}

/* Operand i of a step: a packed one is query, key and value. */
static unsigned attention_low_bits(const struct cr_op_ctx *s, unsigned bits)
{
    unsigned all = CR_SDPA_Q | CR_SDPA_K | CR_SDPA_V;

    if (attention_packed(s->in))
        all = bits & CR_X(CR_ATTN_Q) ? all : 0;
    else
        all = (bits & CR_X(CR_ATTN_Q) ? CR_SDPA_Q : 0) |
              (bits & CR_X(CR_ATTN_K) ? CR_SDPA_K : 0) |
              (bits & CR_X(CR_ATTN_V) ? CR_SDPA_V : 0);
    return all | (bits & CR_Y(0) ? CR_SDPA_OUT : 0);
}

static cr_real attention_root(const struct cr_sdpa_low *low, int64_t dim)
{
    cr_real r = (cr_real)dim;
    int i;

    for (i = 0; i < 3; i++) {
        r = i > 0 ? cr_sqrt(r) : r;
        if (low->all)
            cr_round_to_type(low->type, 1, &r, &r);
    }
    return r;
}

static struct cr_sdpa_low attention_low(const struct cr_op_ctx *s, int64_t dim)
{
    const struct cr_attention *o = s->attr;
    struct cr_sdpa_low low = {
        .type = o->low != CR_REAL ? o->low : s->low,
        .two_bytes = attention_low_bits(s, s->two_bytes),
        .grads_two_bytes = attention_low_bits(s, s->grads_two_bytes),
        .rounds = attention_low_bits(s, s->rounds),
        .steps = o->low != CR_REAL,
        .sums = o->low_sums,
        .all = o->low_all,
    };

    low.root = attention_root(&low, dim);
    return low;
}

/* Element n of what takes two bytes per element, or is real. */
static const void *attention_from(const void *x, bool two_bytes, int64_t n)
{
    return x ? (const char *)x + (size_t)n * (two_bytes ? sizeof(uint16_t)
                                                        : sizeof(cr_real))
             : NULL;
}

struct cr_sdpa cr_attention(const struct cr_op_ctx *s)
{
    const struct cr_attention *o = s->attr;
    struct cr_sdpa a = attention_shape(o, s->in);
    bool packed = attention_packed(s->in);
    bool two = s->two_bytes & CR_X(CR_ATTN_Q);
    int64_t e = a.heads * a.dim;

    a.low = attention_low(s, a.dim);
    a.q = s->x[CR_ATTN_Q];
    a.k = packed ? attention_from(a.q, two, e) : s->x[CR_ATTN_K];
    a.v = packed ? attention_from(a.q, two, 2 * e) : s->x[CR_ATTN_V];
    a.pad = attention_mask(&s->in[CR_ATTN_PAD], s->x[CR_ATTN_PAD]);
    a.pad.batch = a.keys;
    a.mask = attention_mask(&s->in[CR_ATTN_MASK], s->x[CR_ATTN_MASK]);
    a.mask.row = a.keys;
    if (a.mask.x && s->in[CR_ATTN_MASK].rank == 3) {
        a.mask.head = a.queries * a.keys;
        a.mask.batch = a.heads * a.mask.head;
    }
    if (s->training)
        a.keep_prob = 1 - o->dropout;
    a.rng = s->rng;
    a.rows_before =
        s->rows_before > 0 ? a.batch / s->batch * s->rows_before : 0;
    a.softmax_stats = s->saved;
    a.key_range = s->scratch;
    a.mean = o->average_attn_weights;
    return a;
}

void cr_attention_gradients(const struct cr_op_ctx *s, struct cr_sdpa *a)
{
    bool packed = attention_packed(s->in);
    bool two = s->grads_two_bytes & CR_X(CR_ATTN_Q);
    char *dq = s->dx[CR_ATTN_Q];
    size_t e = (size_t)(a->heads * a->dim) *
               (two ? sizeof(uint16_t) : sizeof(cr_real));

    a->dq = dq;
    a->dk = packed && dq ? dq + e : s->dx[CR_ATTN_K];
    a->dv = packed && dq ? dq + 2 * e : s->dx[CR_ATTN_V];
    a->add_q = s->accumulate[CR_ATTN_Q];
    a->add_k = s->accumulate[packed ? CR_ATTN_Q : CR_ATTN_K];
    a->add_v = s->accumulate[packed ? CR_ATTN_Q : CR_ATTN_V];
    a->dmask = s->dx[CR_ATTN_MASK];
    a->dpad = s->dx[CR_ATTN_PAD];
    a->add_mask = s->accumulate[CR_ATTN_MASK];
    a->add_pad = s->accumulate[CR_ATTN_PAD];
}

static const char *attention_kernel(const struct cr_op_ctx *s)
{
    (void)s;
    return cr_sdpa_kernel_name();
}

const struct cr_op_kernels cr_attention_kernels = { .name = attention_kernel };
