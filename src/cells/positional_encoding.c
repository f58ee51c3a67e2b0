/* PositionalEncoding: y = dropout(x sqrt(dim) + table[0 .. L-1]),
 *
 *   table[p][2i] = sin(p f_i)   table[p][2i + 1] = cos(p f_i)
 *   f_i = exp(-2i ln(10000) / dim)
 *
 * x (..., L, dim). Vaswani et al., "Attention is all you need" (2017), 3.5.
 * The table depends on the length only, so it is computed when the graph is
 * built. */
#include "graph/cell.h"
#include "graph/op.h"
#include "graph/op_attrs.h"
#include "kernels/parallel_for.h"

struct positional_encoding {
    int64_t dim, maxlen;
    double dropout_rate;
};

static const struct cr_opt positional_encoding_opts[] = {
    CR_INT_OPTIONAL(
        struct positional_encoding, dim, 1, CR_DIM_MAX,
        "Features of each position, an even number. Default: inferred from the "
        "input."),
    CR_INT_DEFAULT(struct positional_encoding, maxlen, 10000, 1, CR_DIM_MAX,
                   "Maximum number of positions."),
    CR_REAL_DEFAULT(struct positional_encoding, dropout_rate, 0.1, 0,
                    1 - DBL_EPSILON, "Probability that an element is zeroed."),
    { 0 },
};

static bool encode_plan(struct cr_op_plan *p)
{
    p->out[0] = p->in[0];
    return true;
}

static void encode_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const struct cr_encode *o = s->attr;
    int64_t length = s->in[0].dim[s->in[0].rank - 2], dim = o->dim, i, j;
    cr_real scale = o->scale;

    for (i = from; i < to; i++) {
        const cr_real *x = cr_creals(s->x[0]) + i * dim;
        const cr_real *t = o->table + i % length * dim;
        cr_real *y = cr_reals(s->y[0]) + i * dim;

        CR_SIMD
        for (j = 0; j < dim; j++)
            y[j] = x[j] * scale + t[j];
    }
}

static void encode_forward(const struct cr_op_ctx *s)
{
    const struct cr_encode *o = s->attr;

    cr_parallel_for_coarse(cr_count(&s->in[0]) / o->dim, 0.3 * (double)o->dim,
                           (void *)(uintptr_t)s, encode_range);
}

static void encode_back_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    cr_real scale = ((const struct cr_encode *)s->attr)->scale;
    const cr_real *dy = s->dy[0];
    cr_real *dx = s->dx[0];
    int64_t i;

    if (s->accumulate[0]) {
        CR_SIMD
        for (i = from; i < to; i++)
            dx[i] += dy[i] * scale;
    } else {
        CR_SIMD
        for (i = from; i < to; i++)
            dx[i] = dy[i] * scale;
    }
}

static void encode_backward(const struct cr_op_ctx *s)
{
    cr_parallel_for(cr_count(&s->in[0]), 0.3, (void *)(uintptr_t)s,
                    encode_back_range);
}

static const struct cr_op encode_op = {
    .about = { .name = "positional_encoding",
               .summary = "Adds the sinusoidal table of positions." },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .plan = encode_plan,
    .forward = encode_forward,
    .backward = encode_backward,
};

static cr_real *encode_table(struct cr_arena *arena, int64_t length,
                             int64_t dim)
{
    cr_real *table = cr_alloc(arena, (size_t)(length * dim), sizeof *table);
    int64_t p, i;

    for (i = 0; i < dim / 2; i++) {
        double f = exp(-2 * (double)i * log(10000) / (double)dim);

        for (p = 0; p < length; p++) {
            table[p * dim + 2 * i] = (cr_real)sin((double)p * f);
            table[p * dim + 2 * i + 1] = (cr_real)cos((double)p * f);
        }
    }
    return table;
}

static struct cr_val *positional_encoding_build(struct cr_build *b,
                                                struct cr_val *const *in)
{
    const struct positional_encoding *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in[0]);
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_encode *attr = CR_NEW(arena, struct cr_encode);
    double *keep = CR_NEW(arena, double);
    int64_t length;

    if (x->rank < 3) {
        cr_fail(b, CR_E_SHAPE, "input: found %s, expected (N, L, dim)",
                cr_diag_format(arena, x));
        return NULL;
    }
    length = x->dim[x->rank - 2];
    attr->dim = x->dim[x->rank - 1];
    if (o->dim != CR_INT_NONE && o->dim != attr->dim) {
        cr_fail(b, CR_E_SHAPE,
                "input: found %s with %lld features, expected "
                "dim %lld",
                cr_diag_format(arena, x), (long long)attr->dim,
                (long long)o->dim);
        return NULL;
    }
    if (attr->dim % 2 != 0) {
        cr_fail(b, CR_E_SHAPE,
                "found %lld features, expected an even number: sines and "
                "cosines come in pairs",
                (long long)attr->dim);
        return NULL;
    }
    if (length > o->maxlen) {
        cr_fail(b, CR_E_SHAPE,
                "input: found %s with %lld positions, expected at most maxlen "
                "%lld",
                cr_diag_format(arena, x), (long long)length,
                (long long)o->maxlen);
        return NULL;
    }
    attr->scale = cr_sqrt((cr_real)attr->dim);
    attr->table = encode_table(arena, length, attr->dim);
    *keep = 1 - o->dropout_rate;
    return CR_EMIT(b, "dropout", keep, CR_EMIT_OP(b, &encode_op, attr, in[0]));
}

const struct cr_cell cr_cell_positional_encoding = {
    .about = {
        .name = "PositionalEncoding",
        .summary = "Sinusoidal positional encoding (Vaswani et al. 2017).",
        .detail = "Input (N, L, dim), output the same: dropout(x sqrt(dim) + "
                  "table), where row p of the table has sin(p f) and cos(p f) "
                  "for the dim / 2 frequencies f = 10000^(-2i / dim). No "
                  "parameters.",
        .example = "network:\n"
                   "  inputs: {tokens: {shape: [16], type: int32}}\n"
                   "  cells:\n"
                   "    tok: {Embedding: {vocab_size: 65, "
                   "embedding_size: 32}}\n"
                   "    pos: {PositionalEncoding: {dim: 32}}\n"
                   "  construct: return pos(tok(tokens))\n",
        .opts = positional_encoding_opts,
        .size = sizeof(struct positional_encoding),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = positional_encoding_build,
};
