/* attention: out = drop(softmax(q k' / sqrt(d) + masks)) v for each head of d
 * features. Vaswani et al., "Attention is all you need" (2017), 3.2; MindSpore
 * divides q and k by the fourth root of d each. The factors of v are a second
 * result for a cell that asks for them.
 *
 * With p the softmax, dp = drop(dout v'):
 *   ds = p (dp - sum_keys p dp)   dq = ds k / sqrt(d)   dk = ds' q / sqrt(d)
 *   dv = drop(p)' dout            dmask = ds, summed over broadcast axes */
#include "families/attention.h"

static bool attention_plan(struct cr_op_plan *p)
{
    const struct cr_attention *o = p->attr;
    struct cr_spec weights;

    if (!cr_attention_plan(p, &weights))
        return false;
    p->n_out = o->weights ? 2 : 1;
    if (o->weights)
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

const struct cr_op cr_op_attention = {
    .about = { .name = "attention",
               .summary = "Scaled dot-product attention.",
               .opts = cr_attention_opts,
               .size = sizeof(struct cr_attention) },
    .min_inputs = 1,
    .max_inputs = CR_ATTN_INPUTS,
    .outputs = 1,
    .inputs = cr_attention_inputs,
    .signature = CR_ATTENTION_SIGNATURE,
    .int_inputs = CR_X(CR_ATTN_PAD) | CR_X(CR_ATTN_MASK),
    .saved_for_backward = CR_X(CR_ATTN_Q) | CR_X(CR_ATTN_K) | CR_X(CR_ATTN_V) |
                          CR_X(CR_ATTN_PAD) | CR_X(CR_ATTN_MASK),
    .low = CR_X(CR_ATTN_Q) | CR_X(CR_ATTN_K) | CR_X(CR_ATTN_V) | CR_Y(0),
    .optional = CR_Y(0) | CR_Y(1),
    .kernels = &cr_attention_kernels,
    .plan = attention_plan,
    .forward = attention_forward,
    .backward = attention_backward,
};
