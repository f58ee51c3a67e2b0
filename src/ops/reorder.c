/*
 * reorder: the same values in the other memory format. Plans insert it between
 * ops that need channels last and ops that need row-major tensors; no cell
 * emits it.
 *
 * With S the product of the spatial dimensions, row-major is (N, C, S) and
 * channels last (N, S, C): one matrix is transposed per sample.
 */
#include "base/thread_pool.h"
#include "families/data_movement.h"
#include "kernels/transpose.h"
#include "num/low_precision.h"

#include <string.h>

struct reorder {
    struct cr_transpose t; /* of each sample */
    const char *x;
    char *y;
    int64_t stripes, all; /* per sample, in total */
    cr_transpose_stripe *stripe;
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

/* Adds instead of storing. */
static void stripe_add(const struct cr_transpose *t, int64_t from, int64_t to,
                       const void *x, void *y)
{
    const cr_real *source = x;
    cr_real *sum = y;
    int64_t i, k;

    for (i = 0; i < t->rows; i++)
        for (k = from; k < to; k++)
            sum[k * t->rows + i] += source[i * t->cols + k];
}

static void reorder_part(void *ctx, int task, int n_tasks)
{
    const struct reorder *r = ctx;
    int64_t i, to, cols = r->t.cols;
    size_t image = (size_t)(r->t.rows * cols) * r->t.size;
    struct cr_range range;

    cr_range_split(&range, task, n_tasks, r->all, 1);
    for (i = to = 0; i < to || cr_range_next(&range, &i, &to); i++) {
        int64_t from = i % r->stripes * CR_TRANSPOSE_STRIPE;
        int64_t end = from + CR_TRANSPOSE_STRIPE;
        size_t at = (size_t)(i / r->stripes) * image;

        r->stripe(&r->t, from, end < cols ? end : cols, r->x + at, r->y + at);
    }
}

static struct cr_transpose reorder_matrix(const struct cr_spec *from,
                                          size_t size)
{
    struct cr_transpose t = { .size = size };
    bool last = from->layout == CR_CHANNELS_LAST;

    reorder_shape(from, last ? &t.cols : &t.rows, last ? &t.rows : &t.cols);
    return t;
}

/* Converts x from the format of `from` to the other one; stripe NULL: the
 * fastest. */
static void reorder_run(const struct cr_spec *from, size_t size, const void *x,
                        void *y, cr_transpose_stripe *stripe)
{
    struct reorder r = { .t = reorder_matrix(from, size), .x = x, .y = y };

    r.stripe = stripe ? stripe : cr_transpose_kernel(&r.t);
    r.stripes = (r.t.cols + CR_TRANSPOSE_STRIPE - 1) / CR_TRANSPOSE_STRIPE;
    r.all = r.stripes * from->dim[0];
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
        reorder_run(from, size, x, y, NULL);
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
        reorder_run(&s->out[0], sizeof *dx, dy, dx, stripe_add);
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
