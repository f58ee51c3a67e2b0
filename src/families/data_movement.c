#include "families/data_movement.h"

#include "base/compiler.h"
#include "kernels/parallel_for.h"
#include "kernels/transpose.h"
#include "num/low_precision.h"

#include <string.h>

#define MOVE_COST 0.4 /* nanoseconds per element */
#define SMALL 32      /* elements that a kernel takes longer to start than to
                       * move */

/* The dimension of a spec that is the i-th one in memory. */
static int dimension_at(const struct cr_spec *spec, int i)
{
    if (spec->layout == CR_ROW_MAJOR || i == 0)
        return i;
    return i == spec->rank - 1 ? 1 : i + 1;
}

void cr_data_move_dense(const struct cr_spec *spec, int64_t *step)
{
    int64_t dense = 1;
    int i, k;

    for (i = spec->rank - 1; i >= 0; i--) {
        k = dimension_at(spec, i);
        step[k] = dense;
        dense *= spec->dim[k];
    }
}

void cr_data_move_open(struct cr_data_move *m, const struct cr_spec *dense,
                       const int64_t *step, int64_t at)
{
    struct cr_spec lies = cr_tensor_as_it_lies(dense);
    int64_t by[CR_RANK_MAX];
    int i;

    for (i = 0; i < dense->rank; i++)
        by[i] = step[dimension_at(dense, i)];
    cr_tensor_iter_init(&m->walk, lies.rank, lies.dim);
    cr_tensor_iter_add_strides(&m->walk, by);
    cr_tensor_iter_merge(&m->walk);
    m->at = at;
}

struct moving {
    const struct cr_data_move *m;
    size_t size;
    const char *from;
    char *to;
    int of, into; /* operands */
    bool add;
};

#define MOVE_STRIDED(T)                  \
    {                                    \
        const T *x = (const void *)from; \
        T *y = (void *)to;               \
        for (i = 0; i < n; i++)          \
            y[i * step] = x[i * pace];   \
    }

static void move_run(void *ctx, int64_t n, const int64_t *off,
                     const int64_t *inc)
{
    const struct moving *c = ctx;
    const char *from = c->from + (size_t)off[c->of] * c->size;
    char *to = c->to + (size_t)off[c->into] * c->size;
    int64_t i, pace = inc[c->of], step = inc[c->into];

    if (pace == 1 && step == 1)
        memcpy(to, from, (size_t)n * c->size);
    else if (c->size == 4)
        MOVE_STRIDED(uint32_t)
    else if (c->size == 8)
        MOVE_STRIDED(uint64_t)
    else if (c->size == 2)
        MOVE_STRIDED(uint16_t)
    else if (c->size == 1)
        MOVE_STRIDED(uint8_t)
    else
        for (i = 0; i < n; i++)
            memcpy(to + (size_t)(i * step) * c->size,
                   from + (size_t)(i * pace) * c->size, c->size);
}

static void add_run(void *ctx, int64_t n, const int64_t *off,
                    const int64_t *inc)
{
    const struct moving *c = ctx;
    const cr_real *from = (const cr_real *)(const void *)c->from + off[c->of];
    cr_real *to = (cr_real *)(void *)c->to + off[c->into];
    int64_t i, pace = inc[c->of], step = inc[c->into];

    if (pace == 1 && step == 1) {
        CR_SIMD
        for (i = 0; i < n; i++)
            to[i] += from[i];
    } else {
        for (i = 0; i < n; i++)
            to[i * step] += from[i * pace];
    }
}

/* ---- matrices that are transposed ---- */

/* A walk in which one dimension is dense on the side that is read and another
 * one on the side that is written: a matrix for each index of the others. */
struct turn {
    struct moving c;
    struct cr_transposed t;
    cr_transpose_run *run;
    int dim[2];              /* of the walk: t's rows and columns */
    int64_t tile[2];         /* rows, columns */
    int64_t tiles[2], count; /* of a matrix: down, across; of all matrices */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The dimension that is dense on that side, -1 for none. */
static int dense_at(const struct cr_tensor_iter *w, int side)
{
    int i = w->rank - 1;

    while (i >= 0 && (w->step[side][i] != 1 || w->dim[i] == 1))
        i--;
    return i;
}

static bool turn_open(struct turn *t, const struct cr_tensor_iter *w)
{
    int of = t->c.of, into = t->c.into, i;
    int row = t->dim[0] = dense_at(w, into), col = t->dim[1] = dense_at(w, of);

    if (row < 0 || col < 0 || row == col ||
        w->dim[row] * w->dim[col] < SMALL || t->c.size > sizeof(uint64_t))
        return false;
    t->t = (struct cr_transposed){ .rows = w->dim[row],
                                   .cols = w->dim[col],
                                   .x_stride = w->step[of][row],
                                   .y_stride = w->step[into][col],
                                   .size = t->c.size };
    t->run = cr_transpose_kernel(&t->t);
    cr_transpose_tile(&t->t, &t->tile[0], &t->tile[1]);
    t->count = cr_tensor_iter_count(w);
    for (i = 0; i < 2; i++) {
        int64_t dim = w->dim[t->dim[i]];

        t->tile[i] = least(t->tile[i], dim);
        t->tiles[i] = (dim + t->tile[i] - 1) / t->tile[i];
        t->count = t->count / dim * t->tiles[i];
    }
    return true;
}

static void turn_add(const struct turn *t, struct cr_transposed *part,
                     const char *x, char *y)
{
    cr_real room[CR_TRANSPOSE_TILE], *sum = (cr_real *)(void *)y;
    int64_t i, k, stride = part->y_stride;

    part->y_stride = part->rows;
    t->run(part, x, room);
    for (k = 0; k < part->cols; k++) {
        CR_SIMD
        for (i = 0; i < part->rows; i++)
            sum[k * stride + i] += room[k * part->rows + i];
    }
}

static void turn_tile(const struct turn *t, int64_t tile)
{
    const struct moving *c = &t->c;
    const struct cr_tensor_iter *w = &c->m->walk;
    struct cr_transposed part = t->t;
    int64_t row = tile / t->tiles[1] % t->tiles[0] * t->tile[0];
    int64_t col = tile % t->tiles[1] * t->tile[1];
    int64_t rest = tile / t->tiles[1] / t->tiles[0];
    int64_t x = row * part.x_stride + col, y = col * part.y_stride + row;
    int d;

    for (d = w->rank - 1; d >= 0; d--)
        if (d != t->dim[0] && d != t->dim[1]) {
            x += rest % w->dim[d] * w->step[c->of][d];
            y += rest % w->dim[d] * w->step[c->into][d];
            rest /= w->dim[d];
        }
    part.rows = least(part.rows - row, t->tile[0]);
    part.cols = least(part.cols - col, t->tile[1]);
    if (c->add)
        turn_add(t, &part, c->from + x * (int64_t)c->size,
                 c->to + y * (int64_t)c->size);
    else
        t->run(&part, c->from + x * (int64_t)c->size,
               c->to + y * (int64_t)c->size);
}

static void turn_range(void *ctx, int64_t from, int64_t to)
{
    for (; from < to; from++)
        turn_tile(ctx, from);
}

/* Places are those of operand 1; `of` is the operand that is read. */
static void move(const struct cr_data_move *m, enum cr_type type,
                 const void *from, void *to, int of, bool add)
{
    size_t size = cr_type_size(type), skip = (size_t)m->at * size;
    struct turn t = { .c = { .m = m,
                             .size = size,
                             .from = (const char *)from + (of ? skip : 0),
                             .to = (char *)to + (of ? 0 : skip),
                             .of = of,
                             .into = !of,
                             .add = add } };

    if (turn_open(&t, &m->walk))
        cr_parallel_for_coarse(t.count,
                               MOVE_COST * (double)(t.tile[0] * t.tile[1]), &t,
                               turn_range);
    else
        cr_tensor_iter_parallel(&m->walk, MOVE_COST, &t.c,
                                add ? add_run : move_run);
}

void cr_data_move_gather(const struct cr_data_move *m, enum cr_type type,
                         const void *from, void *to)
{
    move(m, type, from, to, 1, false);
}

void cr_data_move_scatter(const struct cr_data_move *m, enum cr_type type,
                          const void *from, void *to)
{
    move(m, type, from, to, 0, false);
}

void cr_data_move_gather_add(const struct cr_data_move *m, const cr_real *from,
                             cr_real *to, bool add)
{
    move(m, CR_REAL, from, to, 1, add);
}

void cr_data_move_scatter_add(const struct cr_data_move *m, const cr_real *from,
                              cr_real *to, bool add)
{
    move(m, CR_REAL, from, to, 0, add);
}

enum cr_type cr_data_move_type(const struct cr_op_ctx *s)
{
    return s->two_bytes & CR_X(0) ? s->low : s->in[0].type;
}

static void round_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    cr_real *dx = (cr_real *)s->dx[0] + from;

    cr_round_to_type(s->low, to - from, dx, dx);
}

void cr_data_move_round(const struct cr_op_ctx *s)
{
    if (s->rounds & CR_X(0))
        cr_parallel_for(cr_count(&s->in[0]), 0.5, (void *)(uintptr_t)s,
                        round_range);
}

void cr_data_move_low(const struct cr_data_move *m, const struct cr_op_ctx *s)
{
    if (s->grads_two_bytes & CR_X(0)) {
        cr_data_move_scatter(m, s->low, s->dy[0], s->dx[0]);
        return;
    }
    cr_data_move_scatter_add(m, s->dy[0], s->dx[0], s->accumulate[0]);
    cr_data_move_round(s);
}

static const cr_real *sum_source(void *ctx, int64_t n, const int64_t *off,
                                 const int64_t *inc, cr_real *room)
{
    const struct moving *c = ctx;

    (void)n, (void)inc, (void)room;
    return (const cr_real *)(const void *)c->from + off[0];
}

static void sum_sink(void *ctx, int64_t at, int64_t n, const double *sum)
{
    const struct moving *c = ctx;
    cr_real *to = (cr_real *)(void *)c->to + at;
    int64_t i;

    for (i = 0; i < n; i++)
        to[i] = (c->add ? to[i] : 0) + (cr_real)sum[i];
}

void cr_data_move_sum(const struct cr_data_move *m, const cr_real *from,
                      cr_real *to, bool add)
{
    struct moving c = { .from = (const char *)from,
                        .to = (char *)to,
                        .add = add };

    cr_reduce(&(struct cr_reduce){ .walk = &m->walk,
                                   .kept = 1,
                                   .reducer = &cr_reducer_sum,
                                   .cost = MOVE_COST,
                                   .ctx = &c,
                                   .load = sum_source,
                                   .store = sum_sink });
}

/* ---- bytes ---- */

static void bytes_range(void *ctx, int64_t from, int64_t to)
{
    const struct moving *c = ctx;

    if (c->from)
        memcpy(c->to + from, c->from + from, (size_t)(to - from));
    else
        memset(c->to + from, 0, (size_t)(to - from));
}

void cr_data_move_bytes(const void *from, void *to, size_t n)
{
    struct moving c = { .from = from, .to = to };

    cr_parallel_for((int64_t)n, MOVE_COST / 4, &c, bytes_range);
}

void cr_data_move_zero(void *to, size_t n)
{
    struct moving c = { .to = to };

    cr_parallel_for((int64_t)n, MOVE_COST / 4, &c, bytes_range);
}

static void fill_range(void *ctx, int64_t from, int64_t to)
{
    const struct moving *c = ctx;
    int64_t i;

    for (i = from; i < to; i++)
        memcpy(c->to + (size_t)i * c->size, c->from, c->size);
}

void cr_data_move_fill(const struct cr_spec *spec, double value, void *to)
{
    uint64_t one = 0;
    struct moving c = { .size = cr_type_size(spec->type),
                        .from = (const char *)&one,
                        .to = to };

    cr_convert(CR_F64, &value, spec->type, &one, 1);
    if (one == 0)
        cr_data_move_zero(to, cr_bytes(spec));
    else
        cr_parallel_for(cr_count(spec), MOVE_COST, &c, fill_range);
}

bool cr_like_plan(struct cr_op_plan *p)
{
    p->out[0] = p->in[0];
    return true;
}

void cr_view_forward(const struct cr_op_ctx *s)
{
    cr_data_move_bytes(s->x[0], s->y[0], cr_bytes(&s->in[0]));
}

void cr_view_backward(const struct cr_op_ctx *s)
{
    int64_t n = cr_count(&s->in[0]);
    struct cr_spec flat = { .type = CR_REAL, .rank = 1, .dim = { n } };
    struct cr_data_move m;

    cr_data_move_open(&m, &flat, (const int64_t[]){ 1 }, 0);
    cr_data_move_scatter_add(&m, s->dy[0], s->dx[0], s->accumulate[0]);
}
