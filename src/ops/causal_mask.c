/* causal_mask: true where a position (row) must not attend to another
 * (column): the later ones. x (..., L, E); y (L, L), bool. */
#include "graph/op.h"

static bool causal_mask_plan(struct cr_op_plan *p)
{
    int64_t length;

    if (p->in[0].rank < 2)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %s, expected (..., L, E)",
                        cr_diag_format(p->arena, p->in));
    length = p->in[0].dim[p->in[0].rank - 2];
    p->out[0] = CR_SPEC(length, length);
    p->out[0].type = CR_BOOL;
    return true;
}

static void causal_mask_forward(const struct cr_op_ctx *s)
{
    int64_t row, col, n = s->out[0].dim[0];
    unsigned char *y = s->y[0];

    for (row = 0; row < n; row++)
        for (col = 0; col < n; col++)
            y[row * n + col] = col > row;
}

const struct cr_op cr_op_causal_mask = {
    .about = { .name = "causal_mask",
               .summary = "Causal attention mask: later positions are "
                          "excluded.",
               .detail = "For an input (..., L, E) a mask (L, L), true where "
                         "attention is blocked." },
    .rows = CR_ROWS_SHAPE,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .int_inputs = CR_X(0),
    .plan = causal_mask_plan,
    .forward = causal_mask_forward,
};
