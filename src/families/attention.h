/*
 * What the ops attention and attention_weights share: their inputs, and what
 * these are to kernels/sdpa.h.
 *
 * Inputs: query (N, L, E), key (N, S, E), value (N, S, E), or all three in
 * query (N, L, 3 E), as one product makes them; (L, N, ...) unless
 * batch_first; without N where there is no batch. key_padding_mask (N, S),
 * attn_mask (L, S) or (N * heads, L, S): bool or uint8 hides keys, real
 * numbers are added to the scores.
 *
 * Query, key, value and what is made of them may take two bytes per element.
 */
#ifndef CR_FAMILIES_ATTENTION_H
#define CR_FAMILIES_ATTENTION_H

#include "graph/cell.h"
#include "graph/op.h"
#include "graph/op_attrs.h"
#include "kernels/sdpa.h"

enum {
    CR_ATTN_Q,
    CR_ATTN_K,
    CR_ATTN_V,
    CR_ATTN_PAD,
    CR_ATTN_MASK,
    CR_ATTN_INPUTS
};

#define CR_ATTENTION_OPTS                                                 \
    CR_INT(struct cr_attention, num_heads, 1, CR_DIM_MAX,                 \
           "Number of heads; must divide the number of features."),       \
        CR_BOOL_DEFAULT(struct cr_attention, batch_first, true,           \
                        "Inputs are (N, L, E) instead of (L, N, E)."),    \
        CR_BOOL_DEFAULT(struct cr_attention, average_attn_weights, true,  \
                        "Average the weights over the heads."),           \
        CR_REAL_DEFAULT(struct cr_attention, dropout, 0, 0, 1,            \
                        "Probability that a weight is zeroed in training.")
extern const char *const cr_attention_inputs[];
#define CR_ATTENTION_SIGNATURE \
    "query, key=None, value=None, key_padding_mask=None, attn_mask=None, *, " \
    "num_heads, batch_first=True, average_attn_weights=True, dropout=0.0"

/* Checks the inputs; sets keep, scratch and macs, and where and what the
 * weights are: (N, L, S), or (N, heads, L, S) unless averaged. */
bool cr_attention_plan(struct cr_op_plan *plan, struct cr_spec *weights);
bool cr_attention_rows_apart(const void *attr, const struct cr_spec *x, int in,
                             int out);
/* All but results and gradients. */
struct cr_sdpa cr_attention(const struct cr_op_ctx *ctx);
void cr_attention_gradients(const struct cr_op_ctx *ctx, struct cr_sdpa *a);

extern const struct cr_op_kernels cr_attention_kernels;

#endif
