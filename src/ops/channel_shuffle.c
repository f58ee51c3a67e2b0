/* channel_shuffle: channel i C / g + j of x, j < C / g, becomes channel
 * j g + i: planes move or, where channels are last, the matrix (g, C / g) at
 * each place is transposed. */
#include "families/data_movement.h"
#include "graph/op_attrs.h"

const struct cr_opt cr_channel_shuffle_opts[] = {
    CR_INT(struct cr_channel_shuffle, groups, 1, CR_DIM_MAX,
           "Number of groups; must divide the number of channels."),
    { 0 },
};

static bool channel_shuffle_plan(struct cr_op_plan *p)
{
    const struct cr_spec *x = &p->in[0];
    int64_t g = ((const struct cr_channel_shuffle *)p->attr)->groups;

    if (x->rank < 2 || x->dim[1] % g != 0)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input: found %s, expected (N, C, ...) with C a "
                        "multiple of groups %lld",
                        cr_diag_format(p->arena, x), (long long)g);
    p->out[0] = *x;
    p->same = g == 1 || g == x->dim[1];
    return true;
}

static struct cr_data_move channel_shuffle_move(const struct cr_op_ctx *s)
{
    const struct cr_spec *x = &s->in[0];
    int64_t g = ((const struct cr_channel_shuffle *)s->attr)->groups;
    int64_t each = x->dim[1] / g, places = cr_count(x) / x->dim[0] / x->dim[1];
    bool last = x->layout == CR_CHANNELS_LAST;
    struct cr_spec first_y = { .rank = 4,
                               .dim = { x->dim[0], each, g, places } };
    struct cr_spec last_y = { .rank = 4,
                              .dim = { x->dim[0], places, each, g } };
    int64_t first_step[] = { g * each * places, places, each * places, 1 };
    int64_t last_step[] = { g * each * places, g * each, 1, each };
    struct cr_data_move m;

    cr_data_move_open(&m, last ? &last_y : &first_y,
                      last ? last_step : first_step, 0);
    return m;
}

CR_MOVE(channel_shuffle, cr_data_move_scatter_add)

static const struct cr_op_kernels channel_shuffle_kernels = { .last =
                                                                  cr_last_too };

const struct cr_op cr_op_channel_shuffle = {
    .about = { .name = "channel_shuffle",
               .summary = "Shuffles channels: takes one of each group in turn.",
               .opts = cr_channel_shuffle_opts,
               .size = sizeof(struct cr_channel_shuffle) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = (const char *const[]){ "x", NULL },
    .rows = CR_ROWS_FIRST,
    .int_inputs = CR_X(0),
    .exact = true,
    .low = CR_X(0) | CR_Y(0),
    .kernels = &channel_shuffle_kernels,
    .plan = channel_shuffle_plan,
    .forward = channel_shuffle_forward,
    .algebra.linear = CR_X(0),
    .backward = channel_shuffle_backward,
};
