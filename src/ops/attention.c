/* attention: out = drop(softmax(q k' / sqrt(d) + masks)) v for each head of d
 * features. Vaswani et al., "Attention is all you need" (2017), 3.2; MindSpore
 * divides q and k by the fourth root of d each. The factors of v are a second
 * result if they are asked for.
 *
 * With p the softmax, dp = drop(dout v'):
 *   ds = p (dp - sum_keys p dp)   dq = ds k / sqrt(d)   dk = ds' q / sqrt(d)
 *   dv = drop(p)' dout            dmask = ds, summed over broadcast axes */
#include "families/attention.h"

static const struct cr_opt attention_opts[] = {
    CR_ATTENTION_OPTS,
    CR_BOOL_DEFAULT(struct cr_attention, need_weights, false,
                    "Return a tuple of the output and the weights."),
    { 0 },
};

static bool attention_plan(struct cr_op_plan *p)
{
    const struct cr_attention *o = p->attr;
    struct cr_spec weights;

    if (!cr_attention_plan(p, &weights))
        return false;
    p->n_out = o->need_weights ? 2 : 1;
    if (o->need_weights)
        p->out[1] = weights;
    p->macs *= 2;
    p->out[0] = p->in[CR_ATTN_Q];
    if (p->n_in <= CR_ATTN_K || p->in[CR_ATTN_K].rank <= 0)
        p->out[0].dim[p->out[0].rank - 1] /= 3;
    else if (p->n_in <= CR_ATTN_V || p->in[CR_ATTN_V].rank <= 0)
        return cr_error(p->diag, p->pos, CR_E_NETWORK,
                        "key: found no value "
                        "with it, expected "
                        "both");
    return o->dropout < 1 || cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                                      "dropout: found 1, expected a number "
                                      "below 1");
}

static void attention_forward(const struct cr_op_ctx *s)
{
    struct cr_sdpa a = cr_attention(s);

    a.out = s->y[0];
    a.weights = s->y[1];
    cr_sdpa_forward(&a);
}

static void attention_backward(const struct cr_op_ctx *s)
{
    struct cr_sdpa a = cr_attention(s);

    a.dout = s->dy[0];
    a.dweights = s->dy[1];
    cr_attention_gradients(s, &a);
    cr_sdpa_backward(&a);
}

/* As in families/attention.h: h heads, from rows as they come, to (N, h, L, d)
 * and back. */
static const char attention_bprop[] =
    "if dropout > 0:\n"
    "    return refuse('dropout')\n"
    "dout = dy[0] if need_weights else dy\n"
    "dw = dy[1] if need_weights else None\n"
    "q, k, v = a, b, c\n"
    "pad = xs[3] if len(xs) > 3 else None\n"
    "mask = xs[4] if len(xs) > 4 else None\n"
    "if b is None:\n"
    "    q, k, v = split(a, a.shape[-1] // 3, -1)\n"
    "h = num_heads\n"
    "first = batch_first or a.ndim == 2\n"
    "n = 1 if a.ndim == 2 else a.shape[0 if batch_first else 1]\n"
    "l, s = q.shape[-2 if first else 0], k.shape[-2 if first else 0]\n"
    "to = (0, 2, 1, 3) if first else (1, 2, 0, 3)\n"
    "back = (0, 2, 1, 3) if first else (2, 0, 1, 3)\n"
    "ql = (n, l, h, -1) if first else (l, n, h, -1)\n"
    "ks = (n, s, h, -1) if first else (s, n, h, -1)\n"
    "rows, keys = q.shape, k.shape\n"
    "r = (rows[-1] / h) ** 0.25\n"
    "q = transpose(reshape(q, ql), to) / r\n"
    "k = transpose(reshape(k, ks), to) / r\n"
    "v = transpose(reshape(v, ks), to)\n"
    "z = q @ swapaxes(k, 2, 3)\n"
    "hides = ('bool', 'uint8')\n"
    "if mask is not None:\n"
    "    m = mask if mask.ndim == 2 else reshape(mask, (n, h, l, s))\n"
    "    z = masked_fill(z, m, -1e999) if m.dtype in hides else z + m\n"
    "if pad is not None:\n"
    "    m = reshape(pad, (n, 1, 1, s))\n"
    "    z = masked_fill(z, m, -1e999) if m.dtype in hides else z + m\n"
    "p = softmax(z, -1)\n"
    "dp, dv = zeros_like(p), zeros_like(v)\n"
    "if dout is not None:\n"
    "    o = transpose(reshape(dout, ql), to)\n"
    "    dp = o @ swapaxes(v, 2, 3)\n"
    "    dv = swapaxes(p, 2, 3) @ o\n"
    "if dw is not None:\n"
    "    w = 1 if average_attn_weights else h\n"
    "    dp = dp + reshape(dw, (n, w, l, s)) * (w / h)\n"
    "ds = p * (dp - sum(p * dp, -1, keepdims=True))\n"
    "dq = reshape(transpose(ds @ k / r, back), rows)\n"
    "dk = reshape(transpose(swapaxes(ds, 2, 3) @ q / r, back), keys)\n"
    "dv = reshape(transpose(dv, back), keys)\n"
    "dpad, dmask = None, None\n"
    "if pad is not None and pad.dtype not in hides:\n"
    "    dpad = reshape(sum(ds, (1, 2)), pad.shape)\n"
    "if mask is not None and mask.dtype not in hides:\n"
    "    dmask = sum(ds, (0, 1)) if mask.ndim == 2 else ds\n"
    "    dmask = reshape(dmask, mask.shape)\n"
    "if b is None:\n"
    "    return concat((dq, dk, dv), -1), None, None, dpad, dmask\n"
    "return dq, dk, dv, dpad, dmask\n";

const struct cr_op cr_op_attention = {
    .about = { .name = "attention",
               .summary = "Scaled dot-product attention.",
               .detail = "Takes query (N, L, E), key and value (N, S, E), or "
                         "query alone, (N, L, 3 E), which contains all "
                         "three; N is second without batch_first, and may be "
                         "absent. The features are divided among the heads, "
                         "without projections. Masks are those of "
                         "MultiheadAttention. Returns (N, L, E); with "
                         "need_weights also the weights, (N, L, S), or (N, "
                         "num_heads, L, S) with average_attn_weights=False.",
               .opts = attention_opts,
               .size = sizeof(struct cr_attention) },
    .rows = CR_ROWS_EACH,
    .rows_apart = cr_attention_rows_apart,
    .min_inputs = 1,
    .max_inputs = CR_ATTN_INPUTS,
    .outputs = 1,
    .inputs = cr_attention_inputs,
    .signature = CR_ATTENTION_SIGNATURE ", need_weights=False",
    .int_inputs = CR_X(CR_ATTN_PAD) | CR_X(CR_ATTN_MASK),
    .saved_for_backward = CR_X(CR_ATTN_Q) | CR_X(CR_ATTN_K) | CR_X(CR_ATTN_V) |
                          CR_X(CR_ATTN_PAD) | CR_X(CR_ATTN_MASK),
    .low = CR_X(CR_ATTN_Q) | CR_X(CR_ATTN_K) | CR_X(CR_ATTN_V) | CR_Y(0),
    .optional = CR_Y(0) | CR_Y(1),
    .algebra.packs = 3,
    .kernels = &cr_attention_kernels,
    .plan = attention_plan,
    .forward = attention_forward,
    .bprop = attention_bprop,
    .backward = attention_backward,
};
