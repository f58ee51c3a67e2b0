#include "families/broadcast.h"

#include "families/low.h"

#include <assert.h>
#include <string.h>

const char *const cr_input[] = { "input", NULL };
const char *const cr_inputs2[] = { "input", "other", NULL };
const char *const cr_targets2[] = { "input", "target", NULL };

/* ---- plan ---- */

bool cr_broadcast_shape(struct cr_op_plan *p, struct cr_spec *to)
{
    int i, k;

    *to = CR_SCALAR;
    for (k = 0; k < p->n_in; k++)
        if (p->in[k].rank > to->rank)
            to->rank = p->in[k].rank;
    for (i = 0; i < to->rank; i++)
        to->dim[i] = 1;
    for (k = 0; k < p->n_in; k++) {
        const struct cr_spec *x = &p->in[k];

        for (i = 0; i < x->rank; i++) {
            int64_t *dim = &to->dim[to->rank - x->rank + i];

            if (*dim == 1)
                *dim = x->dim[i];
            else if (x->dim[i] != 1 && x->dim[i] != *dim)
                return cr_error(
                    p->diag, p->pos, CR_E_SHAPE,
                    "found operands %s and %s, expected shapes that broadcast: "
                    "counted from the last, dimensions are equal or 1",
                    cr_diag_format(p->arena, &p->in[k == 0 ? 1 : k - 1]),
                    cr_diag_format(p->arena, x));
        }
    }
    return true;
}

static bool is_real(enum cr_type type)
{
    return type == CR_REAL || type == CR_F16 || type == CR_BF16 ||
           type == CR_F32 || type == CR_F64;
}

/* What operand k is computed with as: CR_REAL, CR_I32 or CR_BOOL. */
static enum cr_type class_of(const struct cr_broadcast *f,
                             const struct cr_spec *in, int of)
{
    int k;

    if (f->masks & CR_X(of))
        return CR_BOOL;
    for (k = 0; k < f->operands; k++)
        if (!(f->masks & CR_X(k)) && is_real(in[k].type))
            return CR_REAL;
    return f->integer ? CR_I32 : CR_REAL;
}

bool cr_broadcast_plan(struct cr_op_plan *p, const struct cr_broadcast *f)
{
    if (!cr_broadcast_shape(p, &p->out[0]))
        return false;
    p->out[0].type = f->truth ? CR_BOOL : class_of(f, p->in, p->n_in - 1);
    return true;
}

/* ---- elements of any type ---- */

#define CONVERT(T, U, formula)    \
    {                             \
        const T *x = data;        \
        U *y = room;              \
        CR_SIMD                   \
        for (i = 0; i < n; i++) { \
            T a = x[at + i];      \
            y[i] = (U)(formula);  \
        }                         \
        return room;              \
    }

const void *cr_elements(enum cr_type as, enum cr_type type, const void *data,
                        int64_t at, int64_t n, void *room)
{
    size_t size = cr_type_size(type);
    int64_t i;

    if (as == type)
        return (const char *)data + (size_t)at * size;
    if (as == CR_REAL && (type == CR_F16 || type == CR_BF16)) {
        cr_widen(type, n, (const uint16_t *)data + at, room);
        return room;
    }
    if (as == CR_REAL && type == CR_I32)
        CONVERT(int32_t, cr_real, a)
    if (as == CR_REAL && (type == CR_BOOL || type == CR_U8))
        CONVERT(unsigned char, cr_real, a)
    if (as == CR_I32 && (type == CR_BOOL || type == CR_U8))
        CONVERT(unsigned char, int32_t, a)
    if (as == CR_BOOL && type == CR_REAL)
        CONVERT(cr_real, unsigned char, a != 0)
    if (as == CR_BOOL && type == CR_I32)
        CONVERT(int32_t, unsigned char, a != 0)
    cr_convert(type, (const char *)data + (size_t)at * size, as, room, n);
    return room;
}

/* ---- forward ---- */

/* How operand k lies in memory. */
static enum cr_type stored(const struct cr_op_ctx *s, int k)
{
    return s->two_bytes & CR_X(k) ? s->low : s->in[k].type;
}

/* Joins the rows of a walk that are shorter than half a run, also where an
 * operand has one row for all of them: a run goes over several rows then. The
 * length of a row; 0: they are not joined. shared: bits of such operands. */
static int64_t join_rows(struct cr_tensor_iter *w, unsigned *shared)
{
    int a = w->rank - 2, b = w->rank - 1, k;
    int64_t n = b < 0 ? 0 : w->dim[b];

    *shared = 0;
    if (a < 0 || n > CR_ITER_RUN_MAX / 2)
        return 0;
    for (k = 0; k < w->operands; k++)
        if (w->step[k][a] == 0 && w->step[k][b] == 1)
            *shared |= CR_X(k - 1);
        else if (w->step[k][a] != w->step[k][b] * n)
            return *shared = 0;
    for (k = 0; k < w->operands; k++)
        w->step[k][a] = w->step[k][a] == 0 ? 0 : w->step[k][b];
    w->dim[a] *= n;
    w->rank--;
    return n;
}

struct forward {
    const struct cr_op_ctx *s;
    const struct cr_broadcast *f;
    enum cr_type as[CR_BROADCAST_MAX];
    int64_t row;     /* of several in a run; 0 */
    unsigned shared; /* operands with one row for all */
};

/* Row by row: x are the first elements of a run, or of a shared row. */
static void forward_rows(const struct forward *c, int64_t n, int64_t at,
                         const void *const *x, const int64_t *step,
                         cr_loop *fn, void *y)
{
    const struct cr_op_ctx *s = c->s;
    size_t size[CR_BROADCAST_MAX], each = cr_type_size(s->out[0].type);
    const void *from[CR_BROADCAST_MAX] = { NULL };
    int64_t i, m;
    int k;

    for (k = 0; k < c->f->operands; k++)
        size[k] = cr_type_size(c->as[k]);
    for (i = 0; i < n; i += m, at = 0) {
        m = c->row - at < n - i ? c->row - at : n - i;
        for (k = 0; k < c->f->operands; k++)
            from[k] = (const char *)x[k] +
                      (size_t)(c->shared & CR_X(k) ? at : i * step[k]) *
                          size[k];
        fn(s->attr, m, from, step, (char *)y + (size_t)i * each);
    }
}

static void forward_run(void *ctx, int64_t n, const int64_t *off,
                        const int64_t *inc)
{
    const struct forward *c = ctx;
    const struct cr_op_ctx *s = c->s;
    cr_real room[CR_BROADCAST_MAX][CR_ITER_RUN_MAX], y[CR_ITER_RUN_MAX];
    const void *x[CR_BROADCAST_MAX] = { NULL };
    bool whole = c->as[c->f->operands - 1] == CR_I32;
    bool real = s->out[0].type == CR_REAL;
    int64_t step[CR_BROADCAST_MAX] = { 0 };
    cr_loop *fn = !real && whole ? c->f->integer : c->f->real;
    void *to;
    int k;

    for (k = 0; k < c->f->operands; k++) {
        bool shared = c->shared & CR_X(k);

        step[k] = shared ? 1 : inc[k + 1];
        x[k] = cr_elements(c->as[k], stored(s, k), s->x[k], off[k + 1],
                           shared ? c->row : step[k] ? n : 1, room[k]);
    }
    to = real ? (void *)cr_low_y_open(s, off[0], y)
              : (char *)s->y[0] +
                    (size_t)off[0] * cr_type_size(s->out[0].type);
    if (c->shared)
        forward_rows(c, n, off[0] % c->row, x, step, fn, to);
    else
        fn(s->attr, n, x, step, to);
    if (real)
        cr_low_y_close(s, off[0], n, to);
}

/* An operand with the rank and the layout of the result: if it has others, it
 * lies alike in both. */
static struct cr_spec operand_as_it_lies(const struct cr_spec *x,
                                         const struct cr_spec *y)
{
    struct cr_spec s = *y;
    int i, ones = y->rank - x->rank;

    for (i = 0; i < y->rank; i++)
        s.dim[i] = i < ones ? 1 : x->dim[i - ones];
    return cr_tensor_as_it_lies(&s);
}

static void walk_open(struct cr_tensor_iter *w, const struct cr_op_ctx *s,
                      int n)
{
    struct cr_spec lies = cr_tensor_as_it_lies(&s->out[0]);
    int k;

    cr_tensor_iter_init(w, lies.rank, lies.dim);
    for (k = 0; k < n; k++) {
        lies = operand_as_it_lies(&s->in[k], &s->out[0]);
        cr_tensor_iter_add(w, &lies);
    }
    cr_tensor_iter_merge(w);
}

void cr_broadcast(const struct cr_op_ctx *s, const struct cr_broadcast *f)
{
    struct forward c = { .s = s, .f = f };
    struct cr_tensor_iter w;
    int k;

    for (k = 0; k < f->operands; k++)
        c.as[k] = class_of(f, s->in, k);
    walk_open(&w, s, f->operands);
    c.row = join_rows(&w, &c.shared);
    cr_tensor_iter_parallel(&w, f->cost, &c, forward_run);
}

static bool broadcast_accepts(const struct cr_op_ctx *s, unsigned of,
                              unsigned parts)
{
    return of == CR_Y(0) && parts == CR_END_MAP && s->out[0].type == CR_REAL;
}

const struct cr_op_kernels cr_broadcast_kernels = {
    .accepts = broadcast_accepts,
    .broadcasts_last = true,
};

/* ---- backward ---- */

struct backward {
    const struct cr_op_ctx *s;
    const struct cr_broadcast *f;
    int of;
};

/* d of a run: dy's elements lie together. */
static void back_values(const struct backward *b, int64_t n, const int64_t *off,
                        const int64_t *inc, cr_real *d)
{
    static const cr_real nothing = 0;
    const struct cr_op_ctx *s = b->s;
    cr_real room[CR_BROADCAST_MAX][CR_ITER_RUN_MAX];
    cr_real y[CR_ITER_RUN_MAX], dy[CR_ITER_RUN_MAX];
    const void *x[CR_BROADCAST_MAX];
    int64_t step[CR_BROADCAST_MAX];
    int k;

    for (k = 0; k < b->f->operands; k++) {
        enum cr_type as = b->f->masks & CR_X(k) ? CR_BOOL : CR_REAL;

        step[k] = s->x[k] ? inc[k + 1] : 0;
        x[k] = s->x[k] ? cr_elements(as, stored(s, k), s->x[k], off[k + 1],
                                     step[k] ? n : 1, room[k])
                       : &nothing;
    }
    b->f->grad(s->attr, n, b->of, x, step, cr_low_y(s, off[0], n, y),
               cr_low_dy(s, off[0], n, dy), d);
}

static void back_run(void *ctx, int64_t n, const int64_t *off,
                     const int64_t *inc)
{
    const struct backward *b = ctx;
    cr_real room[CR_ITER_RUN_MAX];
    cr_real *d = cr_low_dx_open(b->s, b->of, off[0], room);

    back_values(b, n, off, inc, d);
    cr_low_dx_close(b->s, b->of, off[0], n, d);
}

static const cr_real *back_source(void *ctx, int64_t n, const int64_t *off,
                                  const int64_t *inc, cr_real *room)
{
    back_values(ctx, n, off, inc, room);
    return room;
}

static void back_sink(void *ctx, int64_t at, int64_t n, const double *sum)
{
    const struct backward *b = ctx;
    cr_real room[CR_LOW_STRETCH], *d;
    int64_t i, k, m;

    for (i = 0; i < n; i += m) {
        m = n - i < CR_LOW_STRETCH ? n - i : CR_LOW_STRETCH;
        d = cr_low_dx_open(b->s, b->of, at + i, room);
        for (k = 0; k < m; k++)
            d[k] = (cr_real)sum[i + k];
        cr_low_dx_close(b->s, b->of, at + i, m, d);
    }
}

void cr_broadcast_backward(const struct cr_op_ctx *s,
                           const struct cr_broadcast *f)
{
    struct backward b = { .s = s, .f = f };
    struct cr_tensor_iter w;

    walk_open(&w, s, f->operands);
    for (b.of = 0; b.of < f->operands; b.of++) {
        if (!s->dx[b.of])
            continue;
        if (cr_count(&s->in[b.of]) == cr_count(&s->out[0]))
            cr_tensor_iter_parallel(&w, f->cost, &b, back_run);
        else
            cr_reduce(&(struct cr_reduce){ .walk = &w,
                                           .kept = b.of + 1,
                                           .reducer = &cr_reducer_sum,
                                           .cost = f->cost,
                                           .ctx = &b,
                                           .load = back_source,
                                           .store = back_sink });
    }
}
