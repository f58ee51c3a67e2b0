/*
 * channels_first: (N, ..., C) as (N, C, ...). The bytes are not moved: the
 * result has the memory format channels last. Cells with data_format NHWC
 * apply it to their input.
 */
#include "families/nhwc.h"

#include <string.h>

static bool channels_first_plan(struct cr_op_plan *p)
{
    const struct cr_spec *x = &p->in[0];
    int i;

    if (x->rank < 3)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "channels_first: found input %s, expected (N, ..., C)",
                        cr_diag_format(p->arena, x));
    p->out[0] = *x;
    p->out[0].layout = CR_CHANNELS_LAST;
    p->out[0].dim[1] = x->dim[x->rank - 1];
    for (i = 2; i < x->rank; i++)
        p->out[0].dim[i] = x->dim[i - 1];
    p->same = true;
    return true;
}

static void channels_first_forward(const struct cr_op_ctx *s)
{
    memcpy(s->y[0], s->x[0], cr_bytes(&s->in[0]));
}

static void channels_first_backward(const struct cr_op_ctx *s)
{
    const cr_real *dy = s->dy[0];
    cr_real *dx = s->dx[0];
    int64_t i, n = cr_count(&s->in[0]);

    for (i = 0; i < n; i++)
        dx[i] = s->accumulate[0] ? dx[i] + dy[i] : dy[i];
}

const struct cr_op cr_op_channels_first = {
    .about = { .name = "channels_first",
               .internal = true,
               .summary = "Moves the last axis, the channels, to the second "
                          "place." },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .exact = true,
    .plan = channels_first_plan,
    .forward = channels_first_forward,
    .backward = channels_first_backward,
};
