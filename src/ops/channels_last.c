/*
 * channels_last: (N, C, ...) as (N, ..., C). The bytes are not moved if the
 * input has the memory format channels last. Cells with data_format NHWC apply
 * it to their output.
 */
#include "families/data_movement.h"
#include "families/nhwc.h"

#include <string.h>

static bool channels_last_plan(struct cr_op_plan *p)
{
    const struct cr_spec *x = &p->in[0];
    int i;

    if (x->rank < 3)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "channels_last: found input %s, expected (N, C, ...)",
                        cr_diag_format(p->arena, x));
    p->out[0] = *x;
    p->out[0].layout = CR_ROW_MAJOR;
    p->out[0].dim[x->rank - 1] = x->dim[1];
    for (i = 2; i < x->rank; i++)
        p->out[0].dim[i - 1] = x->dim[i];
    p->same = x->layout == CR_CHANNELS_LAST;
    return true;
}

static enum cr_channels_last channels_last_best(const struct cr_op_plan *p)
{
    (void)p;
    return CR_LAST_BEST;
}

static const struct cr_op_kernels channels_last_kernels = {
    .last = channels_last_best
};

/* For a row-major input: its axis 1 becomes the last one. */
static struct cr_data_move channels_last_move(const struct cr_op_ctx *s)
{
    int64_t of[CR_RANK_MAX], step[CR_RANK_MAX];
    struct cr_data_move m;
    int k, last = s->in[0].rank - 1;

    cr_data_move_dense(&s->in[0], of);
    for (k = 0; k <= last; k++)
        step[k] = of[k == 0 ? 0 : k == last ? 1 : k + 1];
    cr_data_move_open(&m, &s->out[0], step, 0);
    return m;
}

static void channels_last_forward(const struct cr_op_ctx *s)
{
    struct cr_data_move m;

    if (s->in[0].layout == CR_CHANNELS_LAST) {
        memcpy(s->y[0], s->x[0], cr_bytes(&s->in[0]));
        return;
    }
    m = channels_last_move(s);
    cr_data_move_gather(&m, s->in[0].type, s->x[0], s->y[0]);
}

static void channels_last_backward(const struct cr_op_ctx *s)
{
    const cr_real *dy = s->dy[0];
    cr_real *dx = s->dx[0];
    int64_t i, n = cr_count(&s->in[0]);
    struct cr_data_move m;

    if (s->in[0].layout != CR_CHANNELS_LAST) {
        m = channels_last_move(s);
        cr_data_move_scatter_add(&m, dy, dx, s->accumulate[0]);
        return;
    }
    for (i = 0; i < n; i++)
        dx[i] = s->accumulate[0] ? dx[i] + dy[i] : dy[i];
}

const struct cr_op cr_op_channels_last = {
    .about = { .name = "channels_last",
               .internal = true,
               .summary = "Moves the second axis, the channels, to the last "
                          "place." },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .kernels = &channels_last_kernels,
    .exact = true,
    .plan = channels_last_plan,
    .forward = channels_last_forward,
    .backward = channels_last_backward,
};
