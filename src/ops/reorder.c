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
#include "num/low_precision.h"

#include <string.h>

#define TILE 16

struct reorder {
    int64_t rows, cols;     /* of the source matrix of each sample */
    const void *x;
    void *y;
    int64_t stripes, all;   /* of TILE source columns: per sample, in total */
    void (*stripe)(const struct reorder *r, int64_t stripe);
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

/* n rows of TILE columns, or of those that are left. A constant n is a loop
 * that is unrolled: twice as fast. */
#define REORDER_ROWS(n, put)                                       \
    for (k = from; k < to; k++)                                    \
        _Pragma("GCC unroll 16") for (i = low; i < low + (n); i++) \
            y[k * r->rows + i] put x[i * r->cols + k]
#define REORDER_CASE(n, put)  \
    case n:                   \
        REORDER_ROWS(n, put); \
        break;

#define REORDER_STRIPE(name, type, put, cases)                              \
    static void name(const struct reorder *r, int64_t stripe)               \
    {                                                                       \
        int64_t n = stripe / r->stripes, from = stripe % r->stripes * TILE; \
        int64_t to = from + TILE < r->cols ? from + TILE : r->cols;         \
        const type *x = (const type *)r->x + n * r->rows * r->cols;         \
        type *y = (type *)r->y + n * r->rows * r->cols;                     \
        int64_t i, k, low, some;                                            \
                                                                            \
        for (low = 0; low < r->rows; low += some) {                         \
            some = low + TILE < r->rows ? TILE : r->rows - low;             \
            switch (some) {                                                 \
                cases                                                       \
            default:                                                        \
                REORDER_ROWS(some, put);                                    \
            }                                                               \
        }                                                                   \
    }

#define REORDER_CASES                                           \
    REORDER_CASE(1, =) REORDER_CASE(2, =) REORDER_CASE(3, =)    \
    REORDER_CASE(4, =) REORDER_CASE(5, =) REORDER_CASE(6, =)    \
    REORDER_CASE(7, =) REORDER_CASE(8, =) REORDER_CASE(9, =)    \
    REORDER_CASE(10, =) REORDER_CASE(11, =) REORDER_CASE(12, =) \
    REORDER_CASE(13, =) REORDER_CASE(14, =) REORDER_CASE(15, =) \
    REORDER_CASE(16, =)

REORDER_STRIPE(reorder_real, cr_real, =, REORDER_CASES)
REORDER_STRIPE(reorder_add, cr_real, +=, )
REORDER_STRIPE(reorder_1, unsigned char, =, )
REORDER_STRIPE(reorder_2, uint16_t, =, REORDER_CASES)
REORDER_STRIPE(reorder_4, int32_t, =, )
REORDER_STRIPE(reorder_8, int64_t, =, )

static void reorder_part(void *ctx, int task, int n_tasks)
{
    const struct reorder *r = ctx;
    int64_t i, to = r->all * (task + 1) / n_tasks;

    for (i = r->all * task / n_tasks; i < to; i++)
        r->stripe(r, i);
}

/* Converts x from the format of `from` to the other one. */
static void reorder_run(const struct cr_spec *from, const void *x, void *y,
                        void (*stripe)(const struct reorder *, int64_t))
{
    struct reorder r = { .x = x, .y = y, .stripe = stripe };
    int64_t c, space;

    reorder_shape(from, &c, &space);
    r.rows = from->layout == CR_CHANNELS_LAST ? space : c;
    r.cols = from->layout == CR_CHANNELS_LAST ? c : space;
    r.stripes = (r.cols + TILE - 1) / TILE;
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
        reorder_run(from, x, y,
                    type == CR_REAL ? reorder_real
                    : size == 1     ? reorder_1
                    : size == 2     ? reorder_2
                    : size == 4     ? reorder_4
                                    : reorder_8);
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
        reorder_run(&s->out[0], dy, dx, reorder_add);
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
