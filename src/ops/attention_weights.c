/* attention_weights: drop(softmax(q k' / sqrt(d) + masks)), or its mean over
 * heads: the factors of the values in the op attention, directly after it.
 *
 * Backward as for attention, with dp = drop(dy), or dp = drop(dy / heads) for
 * the mean. */
#include "families/attention.h"

static const struct cr_opt attention_weights_opts[] = {
    CR_ATTENTION_OPTS,
    { 0 },
};

static bool attention_weights_plan(struct cr_op_plan *p)
{
    return cr_attention_plan(p, &p->out[0]);
}

/* Uses the random numbers of the op before, whose key is one less. */
static struct cr_sdpa attention_weights(const struct cr_op_ctx *s)
{
    struct cr_sdpa a = cr_attention(s);

    a.rng.a--;
    return a;
}

static void attention_weights_forward(const struct cr_op_ctx *s)
{
    struct cr_sdpa a = attention_weights(s);

    a.weights = s->y[0];
    cr_sdpa_forward(&a);
}

static void attention_weights_backward(const struct cr_op_ctx *s)
{
    struct cr_sdpa a = attention_weights(s);

    a.dweights = s->dy[0];
    cr_attention_gradients(s, &a);
    cr_sdpa_backward(&a);
}

const struct cr_op cr_op_attention_weights = {
    .about = { .name = "attention_weights",
               .summary = "The weights of scaled dot-product attention.",
               .opts = attention_weights_opts,
               .size = sizeof(struct cr_attention) },
    .rows = CR_ROWS_EACH,
    .rows_apart = cr_attention_rows_apart,
    .min_inputs = 1,
    .max_inputs = CR_ATTN_INPUTS,
    .outputs = 1,
    .inputs = cr_attention_inputs,
    .signature = CR_ATTENTION_SIGNATURE,
    .int_inputs = CR_X(CR_ATTN_PAD) | CR_X(CR_ATTN_MASK),
    .saved_for_backward = CR_X(CR_ATTN_Q) | CR_X(CR_ATTN_K) |
                          CR_X(CR_ATTN_PAD) | CR_X(CR_ATTN_MASK),
    .low = CR_X(CR_ATTN_Q) | CR_X(CR_ATTN_K),
    .kernels = &cr_attention_kernels,
    .plan = attention_weights_plan,
    .forward = attention_weights_forward,
    .backward = attention_weights_backward,
};
