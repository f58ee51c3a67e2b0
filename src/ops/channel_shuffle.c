/* channel_shuffle: channel i C / g + j of x, j < C / g, becomes channel
 * j g + i: planes move or, where channels are last, the matrix (g, C / g) at
 * each place is transposed. */
#include "families/data_movement.h"
#include "graph/op_attrs.h"
#include "kernels/parallel_for.h"
#include "kernels/transpose.h"

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

/* ---- channels last ---- */

struct shuffle {
    struct cr_transposed t; /* at a place */
    cr_transpose_run *run;
    const char *x;
    char *y;
};

static void places_range(void *ctx, int64_t from, int64_t to)
{
    const struct shuffle *h = ctx;
    size_t bytes = (size_t)(h->t.rows * h->t.cols) * h->t.size;

    for (; from < to; from++)
        h->run(&h->t, h->x + (size_t)from * bytes, h->y + (size_t)from * bytes);
}

/* Of matrices with so many rows. */
static void places_shuffle(const struct cr_spec *spec, int64_t rows,
                           enum cr_type type, const void *x, void *y)
{
    int64_t all = spec->dim[1], cols = all / rows;
    struct shuffle h = { .t = { .rows = rows,
                                .cols = cols,
                                .x_stride = cols,
                                .y_stride = rows,
                                .size = cr_type_size(type) },
                         .x = x,
                         .y = y };

    h.run = cr_transpose_kernel(&h.t);
    cr_parallel_for_coarse(cr_count(spec) / all, 0.4 * (double)all, &h,
                           places_range);
}

static void shuffle_forward(const struct cr_op_ctx *s)
{
    if (s->in[0].layout == CR_CHANNELS_LAST)
        places_shuffle(&s->in[0],
                       ((const struct cr_channel_shuffle *)s->attr)->groups,
                       cr_data_move_type(s), s->x[0], s->y[0]);
    else
        channel_shuffle_forward(s);
}

static void shuffle_backward(const struct cr_op_ctx *s)
{
    int64_t g = ((const struct cr_channel_shuffle *)s->attr)->groups;
    bool low = s->grads_two_bytes & CR_X(0);

    if (s->in[0].layout != CR_CHANNELS_LAST || (s->accumulate[0] && !low)) {
        channel_shuffle_backward(s);
        return;
    }
    places_shuffle(&s->in[0], s->in[0].dim[1] / g, low ? s->low : CR_REAL,
                   s->dy[0], s->dx[0]);
    if (!low)
        cr_data_move_round(s);
}

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
    .forward = shuffle_forward,
    .algebra.linear = CR_X(0),
    .backward = shuffle_backward,
};
