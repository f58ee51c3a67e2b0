#include "families/samples.h"

#include <assert.h>
#include <string.h>

#include "families/low.h"
#include "kernels/parallel_for.h"

#define NUMBERS (1 << 17) /* of x and y in a part: half of level 2, about */
#define SAMPLES 4         /* in a part, at least: threads share them */
#define W 1               /* input: a weight, which each part reads */

/* Samples from `from` on, and what the op gets for them. */
struct part {
    const struct cr_op_ctx *s;
    struct cr_op_ctx run;
    struct cr_spec in[CR_OP_MAX], out[1];
    int64_t from, n;        /* samples, */
    int64_t all;            /* of so many */
    int64_t x_size, y_size; /* numbers of a sample */
    cr_real *x, *y, *kept;  /* room for those of a part; kept: y in backward */
};

/* Samples of a part: they follow from the shapes alone. A part has no fewer
 * numbers than the weight that is packed for it, and whose gradient's sums it
 * adds up. */
static int64_t part_samples(const struct cr_op_ctx *s)
{
    int64_t all = s->in[0].dim[0], n, most = NUMBERS;

    if (s->in[W].rank > 0 && cr_count(&s->in[W]) > most)
        most = cr_count(&s->in[W]);
    n = all > 0 ? most / ((cr_count(&s->in[0]) + cr_count(&s->out[0])) / all)
                : 0;
    n = n < SAMPLES ? SAMPLES : n;
    return n < all ? n : all;
}

size_t cr_samples_scratch(const struct cr_op_ctx *s)
{
    int64_t all = s->in[0].dim[0];
    int64_t each =
        all > 0 ? (cr_count(&s->in[0]) + 2 * cr_count(&s->out[0])) / all : 0;

    return (size_t)(part_samples(s) * each) * sizeof(cr_real) + 64;
}

/* whole: all samples at once, since nothing of them waits in the room. */
static void part_first(struct part *p, const struct cr_op_ctx *s,
                       const struct cr_samples *op, bool whole)
{
    size_t own = (op->scratch + 63) / 64 * 64;
    int i;

    *p = (struct part){
        .s = s, .run = *s, .all = s->in[0].dim[0]
    };
    p->n = whole ? p->all : part_samples(s);
    assert(op->inputs <= CR_OP_MAX);
    for (i = 0; i < op->inputs; i++)
        p->in[i] = s->in[i];
    p->out[0] = s->out[0];
    p->run.in = p->in;
    p->run.out = p->out;
    if (!op->low_x) {
        p->run.low = CR_REAL;
        p->run.holds = 0;
    }
    p->run.rounds = 0;
    p->run.two_bytes = p->run.grads_two_bytes = p->run.mask_two_bytes = 0;
    if (p->all == 0)
        return;
    p->x_size = cr_count(&s->in[0]) / p->all;
    p->y_size = cr_count(&s->out[0]) / p->all;
    if (!whole &&
        (s->two_bytes | s->mask_two_bytes | s->grads_two_bytes) != 0) {
        p->x = (cr_real *)(void *)((char *)s->scratch + own);
        p->y = p->x + p->n * p->x_size;
        p->kept = p->y + p->n * p->y_size;
    }
}

/* What all parts have alike. False: there are no more samples. */
static bool part_begin(struct part *p, const struct cr_samples *op)
{
    const struct cr_op_ctx *s = p->s;

    if (p->all - p->from < p->n)
        p->n = p->all - p->from;
    if (p->n <= 0)
        return false;
    p->in[0].dim[0] = p->out[0].dim[0] = p->n;
    if (s->saved)
        p->run.saved = (char *)s->saved + (size_t)p->from * op->saved;
    if (op->addend > 0 && s->x[op->addend])
        p->run.x[op->addend] =
            cr_creals(s->x[op->addend]) + p->from * p->y_size;
    return true;
}

struct widening {
    enum cr_type type;
    const uint16_t *from;
    cr_real *to;
};

static void widen_range(void *ctx, int64_t from, int64_t to)
{
    const struct widening *w = ctx;

    cr_widen(w->type, to - from, w->from + from, w->to + from);
}

/* The part's numbers of an operand; `low`: as they lie, else in room if they
 * take two bytes. */
static const void *part_read(const struct part *p, bool two_bytes, bool low,
                             const void *x, int64_t size, cr_real *room)
{
    struct widening w = { p->s->low, (const uint16_t *)x + p->from * size,
                          room };

    if (!x || !two_bytes)
        return x ? cr_creals(x) + p->from * size : NULL;
    if (low)
        return w.from;
    cr_parallel_for(p->n * size, 0.5, &w, widen_range);
    return room;
}

static void x_open(struct part *p, const struct cr_samples *op)
{
    unsigned two_bytes = p->s->two_bytes & CR_X(0);

    p->run.x[0] =
        part_read(p, two_bytes, op->low_x, p->s->x[0], p->x_size, p->x);
    p->run.two_bytes = op->low_x ? two_bytes : 0;
}

/* The first of its numbers that the part has, `size` of each sample. */
static void *first_of(const struct part *p, bool two_bytes, const void *x,
                      int64_t size)
{
    return two_bytes ? (void *)((uint16_t *)x + p->from * size)
                     : (void *)((cr_real *)x + p->from * size);
}

static void dy_open(struct part *p, bool low)
{
    unsigned two_bytes = p->s->grads_two_bytes & CR_Y(0);

    p->run.dy[0] = part_read(p, two_bytes, low, p->s->dy[0], p->y_size, p->y);
    p->run.grads_two_bytes = low ? two_bytes : 0;
}

/* The result of forward, for backward: as float32. */
static void kept_open(struct part *p)
{
    p->run.y[0] = (void *)(uintptr_t)part_read(
        p, p->s->two_bytes & CR_Y(0), false, p->s->y[0], p->y_size, p->kept);
}

/* What the map gets, for backward: rounded and stored as the result is. */
static void keep(const struct cr_op_ctx *s, int64_t at, int64_t n, cr_real *v)
{
    if (s->rounds & CR_Y(0))
        cr_round_to_type(s->low, n, v, v);
    if (s->two_bytes & CR_Y(0))
        cr_narrow(s->low, n, v, (uint16_t *)s->saved + at);
    else
        memcpy((cr_real *)s->saved + at, v, (size_t)n * sizeof *v);
}

static void y_close(void *ctx, int64_t from, int64_t to)
{
    const struct part *p = ctx;

    if (p->s->end.keeps)
        keep(p->s, p->from * p->y_size + from, to - from,
             cr_reals(p->run.y[0]) + from);
    cr_low_y_close(p->s, p->from * p->y_size + from, to - from,
                   cr_reals(p->run.y[0]) + from);
}

void cr_samples_forward(const struct cr_op_ctx *s, const struct cr_samples *op)
{
    bool y_low = s->two_bytes & CR_Y(0);
    bool to = y_low && op->low_to && !s->end.map;
    bool whole = (op->low_x || !(s->two_bytes & CR_X(0))) && (to || !y_low);
    struct part p;

    part_first(&p, s, op, whole);
    p.run.end.map = NULL;
    p.run.end.keeps = false;
    for (; part_begin(&p, op); p.from += p.n) {
        x_open(&p, op);
        p.run.y[0] = y_low && !to ? p.y
                                  : first_of(&p, to, s->y[0], p.y_size);
        if (to)
            p.run.two_bytes |= CR_Y(0);
        op->run(&p.run);
        if (!to)
            cr_parallel_for(p.n * p.y_size, 0.5, &p, y_close);
    }
}

/* Whether the gradient of x waits in room, before the mask. */
static bool dx_waits(const struct cr_op_ctx *s)
{
    return (s->grads_two_bytes | s->mask_two_bytes) & CR_X(0);
}

CR_CLONES static void mask_apply(int64_t n, const cr_real *mask, cr_real *v)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        v[i] = mask[i] <= 0 ? 0 : v[i];
}

static void dx_close(void *ctx, int64_t from, int64_t to)
{
    const struct part *p = ctx;
    const struct cr_op_ctx *s = p->s;
    cr_real mask[CR_LOW_STRETCH], *dx = p->run.dx[0], *v;
    int64_t at = p->from * p->x_size, n;
    const cr_real *m;

    if (!dx_waits(s) || dx != p->x) {
        if (cr_low_rounds_dx(s, 0))
            cr_round_to_type(s->low, to - from, dx + from, dx + from);
        return;
    }
    for (; from < to; from += n) {
        n = to - from < CR_LOW_STRETCH ? to - from : CR_LOW_STRETCH;
        m = cr_low_read(s, s->mask_two_bytes & CR_X(0), s->mask[0], at + from,
                        n, mask);
        v = dx + from;
        if (m)
            mask_apply(n, m, v);
        if (!s->accumulate[0] && !(s->grads_two_bytes & CR_X(0)))
            v = memcpy(cr_reals(s->dx[0]) + at + from, v,
                       (size_t)n * sizeof *v);
        cr_low_dx_close(s, 0, at + from, n, v);
    }
}

/* Whether the op writes it, and reads the mask, as they lie. */
static bool dx_is_written(const struct cr_op_ctx *s,
                          const struct cr_samples *op)
{
    return op->low_to && !s->accumulate[0];
}

/* Where the part's gradient of x goes, and what the op does to it. */
static void dx_open(struct part *p, const struct cr_samples *op)
{
    const struct cr_op_ctx *s = p->s;
    bool waits = dx_waits(s);

    if (dx_is_written(s, op)) {
        p->run.dx[0] = first_of(p, s->grads_two_bytes & CR_X(0), s->dx[0],
                                 p->x_size);
        p->run.grads_two_bytes |= s->grads_two_bytes & CR_X(0);
        p->run.mask_two_bytes = s->mask_two_bytes & CR_X(0);
        if (s->mask[0])
            p->run.mask[0] = first_of(p, s->mask_two_bytes & CR_X(0),
                                       s->mask[0], p->x_size);
        return;
    }
    p->run.dx[0] = waits ? p->x : cr_reals(s->dx[0]) + p->from * p->x_size;
    p->run.accumulate[0] = s->accumulate[0] && !waits;
    p->run.mask[0] =
        s->mask[0] && !waits ? s->mask[0] + p->from * p->x_size : NULL;
}

static bool other_gradients(const struct cr_op_ctx *s)
{
    int i;

    for (i = 1; i < CR_OP_MAX; i++)
        if (s->dx[i])
            return true;
    return false;
}

/* The part's gradient of x; its room holds x itself afterwards. */
static void part_dx(const struct part *all, const struct cr_samples *op)
{
    struct part p = *all;
    int i;

    for (i = 1; i < CR_OP_MAX; i++)
        p.run.dx[i] = NULL;
    dx_open(&p, op);
    op->run(&p.run);
    if (!(dx_is_written(p.s, op) && (p.s->grads_two_bytes & CR_X(0))))
        cr_parallel_for(p.n * p.x_size, 1, &p, dx_close);
}

/* Gradients of inputs from 1 on: of a part, or of all samples. */
static void part_others(struct part *p, const struct cr_samples *op)
{
    int i;

    p->run.dx[0] = NULL;
    x_open(p, op);
    for (i = 1; i < CR_OP_MAX && p->from > 0; i++)
        p->run.accumulate[i] = true;
    op->run(&p->run);
}

static void backward_x(const struct cr_op_ctx *s, const struct cr_samples *op)
{
    bool whole = (op->low_x || !(s->grads_two_bytes & CR_Y(0))) &&
                 (dx_is_written(s, op) || !dx_waits(s)) &&
                 !(s->y[0] && (s->two_bytes & CR_Y(0)));
    struct part p;

    for (part_first(&p, s, op, whole); part_begin(&p, op); p.from += p.n) {
        dy_open(&p, op->low_x);
        kept_open(&p);
        part_dx(&p, op);
    }
}

/* Sums over samples are taken in parts, or not, whatever memory x and dy have:
 * their bytes are the same. */
void cr_samples_backward(const struct cr_op_ctx *s, const struct cr_samples *op)
{
    bool others = other_gradients(s), whole = op->low_x && op->low_dy;
    struct part p;

    if (s->dx[0] && (whole || !others))
        backward_x(s, op);
    if (!others)
        return;
    for (part_first(&p, s, op, whole); part_begin(&p, op); p.from += p.n) {
        if (s->dx[0] && !whole) {
            dy_open(&p, op->low_x);
            part_dx(&p, op);
        }
        if (!s->dx[0] || whole || op->low_x != op->low_dy)
            dy_open(&p, op->low_dy);
        part_others(&p, op);
    }
}
