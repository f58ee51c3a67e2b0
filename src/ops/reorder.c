/*
 * reorder: the same values in the other memory format. Plans insert it between
 * ops that need channels last and ops that need row-major tensors; no cell
 * emits it.
 *
 * With S the product of the spatial dimensions, row-major is (N, C, S) and
 * channels last (N, S, C): one matrix is transposed per sample.
 */
#include "base/compiler.h"
#include "base/thread_pool.h"
#include "families/data_movement.h"
#include "kernels/transpose.h"
#include "num/low_precision.h"

#include <string.h>

struct reorder {
    struct cr_transposed t; /* of each sample */
    const char *x;
    char *y;
    int64_t rows, cols;        /* of a tile */
    int64_t down, across, all; /* tiles: of a sample, in total */
    cr_transpose_run *run;
    bool add; /* to y */
};

static void reorder_shape(const struct cr_spec *s, int64_t *c, int64_t *space)
{
    int i;

    *c = s->dim[1];
    *space = 1;
    for (i = 2; i < s->rank; i++)
        *space *= s->dim[i];
}

static bool reorder_plan(struct cr_op_plan *p)
{
    int64_t c, space;

    p->out[0] = p->in[0];
    p->out[0].layout =
        p->in[0].layout == CR_CHANNELS_LAST ? CR_ROW_MAJOR : CR_CHANNELS_LAST;
    if (p->in[0].rank >= 2) {
        reorder_shape(&p->in[0], &c, &space);
        p->same = c == 1 || space == 1;
    } else {
        p->same = true;
    }
    return true;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void tile_add(cr_transpose_run *run, struct cr_transposed *t,
                     const void *x, cr_real *sum)
{
    cr_real room[CR_TRANSPOSE_TILE];
    int64_t i, k, stride = t->y_stride;

    t->y_stride = t->rows;
    run(t, x, room);
    for (k = 0; k < t->cols; k++) {
        CR_SIMD
        for (i = 0; i < t->rows; i++)
            sum[k * stride + i] += room[k * t->rows + i];
    }
}

static void reorder_tile(const struct reorder *r, int64_t tile)
{
    int64_t row = tile / r->across % r->down * r->rows;
    int64_t col = tile % r->across * r->cols;
    int64_t at = tile / r->across / r->down * r->t.rows * r->t.cols;
    const char *x = r->x + (size_t)(at + row * r->t.cols + col) * r->t.size;
    char *y = r->y + (size_t)(at + col * r->t.rows + row) * r->t.size;
    struct cr_transposed t = r->t;

    t.rows = least(t.rows - row, r->rows);
    t.cols = least(t.cols - col, r->cols);
    if (r->add)
        tile_add(r->run, &t, x, (cr_real *)(void *)y);
    else
        r->run(&t, x, y);
}

static void reorder_part(void *ctx, int task, int n_tasks)
{
    const struct reorder *r = ctx;
    int64_t i, to;
    struct cr_range range;

    cr_range_split(&range, task, n_tasks, r->all, 1);
    for (i = to = 0; i < to || cr_range_next(&range, &i, &to); i++)
        reorder_tile(r, i);
}

static struct cr_transposed reorder_matrix(const struct cr_spec *from,
                                           size_t size)
{
    struct cr_transposed t = { .size = size };
    bool last = from->layout == CR_CHANNELS_LAST;

    reorder_shape(from, last ? &t.cols : &t.rows, last ? &t.rows : &t.cols);
    t.x_stride = t.cols;
    t.y_stride = t.rows;
    return t;
}

/* Converts x from the format of `from` to the other one. */
static void reorder_run(const struct cr_spec *from, size_t size, const void *x,
                        void *y, bool add)
{
    struct reorder r = {
        .t = reorder_matrix(from, size), .x = x, .y = y, .add = add
    };

    r.run = cr_transpose_kernel(&r.t);
    cr_transpose_tile(&r.t, &r.rows, &r.cols);
    r.down = (r.t.rows + r.rows - 1) / r.rows;
    r.across = (r.t.cols + r.cols - 1) / r.cols;
    r.all = r.down * r.across * from->dim[0];
    cr_parallel_run(reorder_part, &r,
                    cr_count(from) < 16384 ? 1 : cr_thread_count());
}

/* Elements of that type, as they are. */
static void reorder_move(const struct cr_spec *from, enum cr_type type,
                         const void *x, void *y)
{
    size_t size = cr_type_size(type);

    if (from->rank < 3)
        memcpy(y, x, (size_t)cr_count(from) * size);
    else
        reorder_run(from, size, x, y, false);
}

static void reorder_forward(const struct cr_op_ctx *s)
{
    reorder_move(&s->in[0], cr_data_move_type(s), s->x[0], s->y[0]);
}

static void reorder_backward(const struct cr_op_ctx *s)
{
    int64_t i, n = cr_count(&s->in[0]);
    const cr_real *dy = s->dy[0];
    cr_real *dx = s->dx[0];

    if (s->grads_two_bytes & CR_X(0)) {
        reorder_move(&s->out[0], s->low, dy, dx);
        return;
    }
    if (!s->accumulate[0])
        reorder_move(&s->out[0], CR_REAL, dy, dx);
    else if (s->in[0].rank < 3)
        for (i = 0; i < n; i++)
            dx[i] += dy[i];
    else
        reorder_run(&s->out[0], sizeof *dx, dy, dx, true);
    if (s->rounds & CR_X(0))
        cr_round_to_type(s->low, n, dx, dx);
}

static const struct cr_op_kernels reorder_kernels = { .last = cr_last_too };

const struct cr_op cr_op_reorder = {
    .about = { .name = "reorder",
               .internal = true,
               .summary = "Converts between channels first and channels "
                          "last." },
    .rows = CR_ROWS_FIRST,
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .kernels = &reorder_kernels,
    .int_inputs = CR_X(0),
    .exact = true,
    .low = CR_X(0) | CR_Y(0),
    .plan = reorder_plan,
    .forward = reorder_forward,
    .backward = reorder_backward,
};
