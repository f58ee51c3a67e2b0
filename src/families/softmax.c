#include "families/softmax.h"

#include "families/low.h"

#include "base/thread_pool.h"
#include "kernels/parallel_for.h"
#include "kernels/softmax.h"

#include <string.h>

const struct cr_opt cr_softmax_opts[] = {
    CR_INT_DEFAULT(struct cr_softmax, axis, -1, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "Axis along which the output sums to 1."),
    { 0 },
};

/* Elements of what soft_range takes at a time: one line, or many side by
 * side; bytes for three such blocks in low precision. */
static int64_t soft_block(const struct cr_axis *a)
{
    return a->n * (a->inner < CR_SOFTMAX_COLS ? a->inner : CR_SOFTMAX_COLS);
}

static size_t soft_room(struct cr_axis a)
{
    return 3 * (size_t)soft_block(&a) * sizeof(cr_real);
}

bool cr_softmax_plan(struct cr_op_plan *p)
{
    int at;

    p->out[0] = p->in[0];
    if (!cr_axis_check(p, &p->in[0], ((const struct cr_softmax *)p->attr)->axis,
                       &at))
        return false;
    p->thread_scratch = soft_room(
        cr_axis_of(&p->in[0], ((const struct cr_softmax *)p->attr)->axis));
    return true;
}

bool cr_softmax_rows_apart(const void *attr, const struct cr_spec *x, int in,
                           int out)
{
    const struct cr_softmax *o = attr;

    (void)in;
    return cr_axis_place(o->axis, x->rank) != out;
}

struct soft {
    const struct cr_op_ctx *s;
    const struct cr_softmax_kernel *k, *rows;
    struct cr_axis a;
    bool logarithm;
};

/* ---- forward ---- */

double cr_softmax_line(int64_t n, const cr_real *x, cr_real *y, cr_real *top)
{
    return cr_softmax_kernel()->line(n, x, y, top);
}

/* The lines from..to-1 that lie side by side, at most a stretch of them. */
static int64_t adjacent(const struct cr_axis *a, int64_t from, int64_t to)
{
    int64_t n = a->inner - from % a->inner;

    n = n < to - from ? n : to - from;
    return n < CR_SOFTMAX_COLS ? n : CR_SOFTMAX_COLS;
}

static void soft_range(void *ctx, int64_t from, int64_t to)
{
    const struct soft *f = ctx;
    int64_t n;

    for (; from < to; from += n) {
        const cr_real *x =
            (const cr_real *)f->s->x[0] + cr_axis_line(&f->a, from);
        cr_real *y = (cr_real *)f->s->y[0] + cr_axis_line(&f->a, from);

        n = f->a.inner == 1 ? to - from : adjacent(&f->a, from, to);
        if (f->a.inner == 1)
            f->rows->rows(n, f->a.n, x, y, f->logarithm);
        else
            f->k->cols(f->a.n, f->a.inner, n, x, y, f->logarithm);
    }
}

/* In low precision blocks of lines are computed in float32, side by side
 * without gaps. */

struct low_block {
    int64_t at, lines, n, step; /* element c of line i at at + c step + i */
};

static struct low_block low_block(const struct cr_axis *a, int64_t from,
                                  int64_t lines)
{
    return (struct low_block){ cr_axis_line(a, from), lines, a->n, a->inner };
}

/* Pieces that lie together: all of a line whose elements do. */
static int64_t low_pieces(const struct low_block *b, int64_t *each)
{
    *each = b->step == 1 ? b->n : b->lines;
    return b->step == 1 ? 1 : b->n;
}

static void low_load(const struct cr_op_ctx *s,
                     const cr_real *(*read)(const struct cr_op_ctx *s,
                                            int64_t at, int64_t n,
                                            cr_real *room),
                     const struct low_block *b, cr_real *to)
{
    int64_t each, pieces = low_pieces(b, &each), c;

    for (c = 0; c < pieces; c++, to += each) {
        const cr_real *x = read(s, b->at + c * b->step, each, to);

        if (x != to)
            memcpy(to, x, (size_t)each * sizeof *to);
    }
}

static const cr_real *low_x(const struct cr_op_ctx *s, int64_t at, int64_t n,
                            cr_real *room)
{
    return cr_low_x(s, 0, at, n, room);
}

static void low_store_y(const struct cr_op_ctx *s, const struct low_block *b,
                        cr_real *v)
{
    int64_t each, pieces = low_pieces(b, &each), c;

    for (c = 0; c < pieces; c++, v += each) {
        int64_t at = b->at + c * b->step;

        cr_real *to = cr_low_y_open(s, at, v);

        if (to != v)
            memcpy(to, v, (size_t)each * sizeof *v);
        cr_low_y_close(s, at, each, to);
    }
}

static void low_store_dx(const struct cr_op_ctx *s, const struct low_block *b,
                         cr_real *v)
{
    int64_t each, pieces = low_pieces(b, &each), c;

    for (c = 0; c < pieces; c++, v += each) {
        int64_t at = b->at + c * b->step;
        cr_real *to = cr_low_dx_open(s, 0, at, v);

        if (to != v)
            memcpy(to, v, (size_t)each * sizeof *v);
        cr_low_dx_close(s, 0, at, each, to);
    }
}

static void low_range(void *ctx, int64_t from, int64_t to)
{
    const struct soft *f = ctx;
    cr_real *x = cr_thread_scratch(soft_room(f->a)), *y = x + soft_block(&f->a);
    int64_t n;

    for (; from < to; from += n) {
        struct low_block b;

        n = adjacent(&f->a, from, to);
        b = low_block(&f->a, from, n);
        low_load(f->s, low_x, &b, x);
        if (f->a.inner == 1)
            f->rows->rows(1, f->a.n, x, y, f->logarithm);
        else
            f->k->cols(f->a.n, n, n, x, y, f->logarithm);
        low_store_y(f->s, &b, y);
    }
}

static void soft_lines(const struct cr_op_ctx *s, bool logarithm, double cost,
                       void (*fn)(void *, int64_t, int64_t))
{
    struct cr_axis a = cr_axis_of(
        &s->in[0], ((const struct cr_softmax *)s->attr)->axis);
    struct cr_softmax_rows rows = { a.n, logarithm };
    struct soft f = { s, cr_softmax_kernel(), cr_softmax_rows_kernel(&rows), a,
                      logarithm };

    cr_parallel_for(f.a.outer * f.a.inner, cost * (double)f.a.n, &f, fn);
}

void cr_softmax(const struct cr_op_ctx *s, bool logarithm)
{
    soft_lines(s, logarithm, 1.5, cr_low_any(s) ? low_range : soft_range);
}

/* ---- backward ---- */

static void back_range(void *ctx, int64_t from, int64_t to)
{
    const struct soft *f = ctx;
    int64_t n;

    for (; from < to; from += n) {
        int64_t at = cr_axis_line(&f->a, from);
        const cr_real *y = (const cr_real *)f->s->y[0] + at;
        const cr_real *dy = (const cr_real *)f->s->dy[0] + at;
        cr_real *dx = (cr_real *)f->s->dx[0] + at;

        n = adjacent(&f->a, from, to);
        if (f->a.inner == 1)
            f->k->row_backward(f->a.n, y, dy, f->logarithm, f->s->accumulate[0],
                               dx);
        else
            f->k->cols_backward(f->a.n, f->a.inner, n, y, dy, f->logarithm,
                                f->s->accumulate[0], dx);
    }
}

static void back_low_range(void *ctx, int64_t from, int64_t to)
{
    const struct soft *f = ctx;
    int64_t n, block = soft_block(&f->a);
    cr_real *y = cr_thread_scratch(soft_room(f->a));
    cr_real *dy = y + block, *dx = dy + block;

    for (; from < to; from += n) {
        struct low_block b;

        n = adjacent(&f->a, from, to);
        b = low_block(&f->a, from, n);
        low_load(f->s, cr_low_y, &b, y);
        low_load(f->s, cr_low_dy, &b, dy);
        if (f->a.inner == 1)
            f->k->row_backward(f->a.n, y, dy, f->logarithm, false, dx);
        else
            f->k->cols_backward(f->a.n, n, n, y, dy, f->logarithm, false, dx);
        low_store_dx(f->s, &b, dx);
    }
}

void cr_softmax_backward(const struct cr_op_ctx *s, bool logarithm)
{
    soft_lines(s, logarithm, 1, cr_low_any(s) ? back_low_range : back_range);
}

static const char *kernel_name(const struct cr_op_ctx *s, bool logarithm)
{
    struct cr_axis a =
        cr_axis_of(&s->in[0], ((const struct cr_softmax *)s->attr)->axis);
    struct cr_softmax_rows rows = { a.n, logarithm };

    return cr_softmax_rows_kernel(a.inner > 1 ? NULL : &rows)
        ->head.name;
}

static const char *softmax_kernel(const struct cr_op_ctx *s)
{
    return kernel_name(s, false);
}

static const char *log_softmax_kernel(const struct cr_op_ctx *s)
{
    return kernel_name(s, true);
}

const struct cr_op_kernels cr_softmax_kernels = { .name = softmax_kernel };
const struct cr_op_kernels cr_log_softmax_kernels = {
    .name = log_softmax_kernel
};
