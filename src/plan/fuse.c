/*
 * Fusion: a step takes over the step that alone reads its result, as a part of
 * its epilogue (kernels/epilogue.h), if its kernels accept that part. What
 * fuses with what are the rows of a table; which kernels accept it is asked of
 * the producer's op (struct cr_op_kernels), so that a row names no op.
 *
 * To add a fusion: a row, with a function that finds the part in the consumer.
 *
 * The gradient of an activation that is part of a step is part of that step's
 * backward kernel, or of the writer of its gradient (as a mask), or a step of
 * its own, which reads the result alone: in plans with a backward pass others
 * are not fused. That of an elementwise op, or of a ReLU with dropout, which
 * shows in zeros, is done by the writer of the gradient that arrives, if it
 * can; that of dropout alone draws its mask again. An addend gets the gradient
 * of the sum as it is.
 */
#include "plan/plan.h"

#include <math.h>

/* ---- the consumers ---- */

/* What a consumer brings, found by a row. */
struct part {
    unsigned end;          /* which one: enum cr_end */
    int k;                 /* its operand that the producer makes */
    struct cr_pval *other; /* its other operand; NULL */
    double scale;
};

/* Two different operands, of which number k is a producer's and has the type
 * and shape of the result. */
static bool is_pair(const struct cr_exec_step *s, const struct part *p)
{
    return p->other && s->x[0].val != s->x[1].val &&
           s->x[p->k].val->spec.type == CR_REAL &&
           cr_spec_same(&s->x[p->k].val->spec, &s->y[0]->spec);
}

/* y s, s y and y / s with a constant number s. */
static bool find_scale(const struct cr_exec_step *a,
                       const struct cr_exec_step *s, struct part *p)
{
    const struct cr_exec_step *by = p->other ? p->other->maker : NULL;
    enum cr_algebra_kind kind = s->op->algebra.kind;

    (void)a;
    if ((kind != CR_MULTIPLIES && !(kind == CR_DIVIDES && p->k == 0)) ||
        !is_pair(s, p) || !by || !by->op || !by->op->algebra.scalar ||
        cr_count(&p->other->spec) != 1 ||
        !by->op->algebra.scalar(by->attr, &p->scale))
        return false;
    if (kind == CR_DIVIDES)
        p->scale = 1 / p->scale;
    return isfinite((cr_real)p->scale) && (cr_real)p->scale != 0;
}

/* y + b with a number for each output channel. */
static bool find_bias(const struct cr_exec_step *a,
                      const struct cr_exec_step *s, struct part *p)
{
    int axis = a->op->algebra.channels, rank = s->y[0]->spec.rank, i;
    const struct cr_spec *b;

    if (s->op->algebra.kind != CR_ADDS || axis == 0 || !is_pair(s, p))
        return false;
    axis = axis < 0 ? rank + axis : axis;
    b = &p->other->spec;
    if (b->type != CR_REAL || b->layout != CR_ROW_MAJOR ||
        rank - axis > b->rank)
        return false;
    for (i = 0; i < b->rank; i++)
        if (b->dim[i] !=
            (i == b->rank - (rank - axis) ? s->y[0]->spec.dim[axis] : 1))
            return false;
    return true;
}

static bool find_addition(const struct cr_exec_step *a,
                          const struct cr_exec_step *s, struct part *p)
{
    (void)a;
    return s->op->algebra.kind == CR_ADDS && is_pair(s, p) &&
           cr_spec_same(&p->other->spec, &s->y[0]->spec);
}

static bool find_act(const struct cr_exec_step *a, const struct cr_exec_step *s,
                     struct part *p)
{
    (void)a;
    (void)p;
    return s->op->algebra.act != CR_ACT_NONE;
}

static bool find_map(const struct cr_exec_step *a, const struct cr_exec_step *s,
                     struct part *p)
{
    (void)a;
    (void)p;
    return s->op->algebra.map && s->x[0].val->spec.type == CR_REAL;
}

static bool find_drop(const struct cr_exec_step *a,
                      const struct cr_exec_step *s, struct part *p)
{
    (void)p;
    return s->op->algebra.drops && s->node && s->training &&
           (!a->end.act || a->end.act->algebra.act == CR_ACT_RELU);
}

/* ---- the table ---- */

static bool take_scale(struct cr_exec *e, struct cr_exec_step *a,
                       struct cr_exec_step *s, const struct part *p);
static bool take_operand(struct cr_exec *e, struct cr_exec_step *a,
                         struct cr_exec_step *s, const struct part *p);
static bool take_act(struct cr_exec *e, struct cr_exec_step *a,
                     struct cr_exec_step *s, const struct part *p);
static bool take_drop(struct cr_exec *e, struct cr_exec_step *a,
                      struct cr_exec_step *s, const struct part *p);

/* In order: all of the first row, then all of the second. */
static const struct fusion {
    unsigned part;   /* of y[0]'s epilogue */
    unsigned before; /* parts that come later in an epilogue: none is there */
    unsigned needs;  /* in plans with a backward pass: CR_END_BACKWARD, or
                        CR_END_APART */
    bool (*find)(const struct cr_exec_step *a, const struct cr_exec_step *s,
                 struct part *p);
    bool (*take)(struct cr_exec *e, struct cr_exec_step *a,
                 struct cr_exec_step *s, const struct part *p);
} fusions[] = {
    { CR_END_SCALE,
      CR_END_SCALE | CR_END_BIAS | CR_END_ADD | CR_END_ACT | CR_END_MAP,
      CR_END_BACKWARD, find_scale, take_scale },
    { CR_END_BIAS, CR_END_BIAS | CR_END_ADD | CR_END_ACT | CR_END_MAP, 0,
      find_bias, take_operand },
    { CR_END_ADD, CR_END_ADD | CR_END_ACT | CR_END_MAP, CR_END_BACKWARD,
      find_addition, take_operand },
    { CR_END_ACT, CR_END_ACT | CR_END_MAP, 0, find_act, take_act },
    { CR_END_MAP, CR_END_ACT | CR_END_MAP, 0, find_map, take_act },
    { CR_END_DROP, CR_END_DROP | CR_END_ADD | CR_END_MAP, CR_END_APART,
      find_drop, take_drop },
    { CR_END_ADD, CR_END_ADD | CR_END_ACT | CR_END_MAP, CR_END_APART,
      find_addition, take_operand },
};

/* Whether a step between a and b updates moving statistics that a updates
 * too: the calls of one cell stay in their order. */
static bool stats_between(const struct cr_exec_step *a,
                          const struct cr_exec_step *b)
{
    const struct cr_exec_step *s;
    int i, k;

    if (!a->op->running_stats)
        return false;
    for (s = a->next; s != b; s = s->next)
        for (i = 0; i < a->n_in && s->op->running_stats; i++)
            for (k = 0; (a->op->running_stats & CR_X(i)) && k < s->n_in; k++)
                if ((s->op->running_stats & CR_X(k)) &&
                    s->x[k].val == a->x[i].val)
                    return true;
    return false;
}

#define NEAR 64 /* steps that reads_between looks at */

/* Whether a step between a and b reads what a reads: moved there, a would add
 * to gradients in another order. True, too, if b is far away. */
static bool reads_between(const struct cr_exec *e, const struct cr_exec_step *a,
                          const struct cr_exec_step *b)
{
    const struct cr_exec_step *s = a->next;
    int n, i, k;

    if (!e->opts.backward)
        return false;
    for (n = 0; s != b && n < NEAR; s = s->next, n++)
        for (i = 0; i < a->n_in; i++)
            for (k = 0; a->x[i].val && a->x[i].val->needs && k < s->n_in; k++)
                if (s->x[k].val == a->x[i].val)
                    return true;
    return s != b;
}

static bool take_scale(struct cr_exec *e, struct cr_exec_step *a,
                       struct cr_exec_step *s, const struct part *p)
{
    struct cr_pval *y = s->y[0];

    a->end.scale = p->scale;
    cr_step_remove(e, s);
    cr_step_takes(a, y);
    if (!p->other->uses && !p->other->root)
        cr_step_remove(e, p->other->maker);
    return true;
}

/* A bias or an addend becomes an operand, and the producer moves to the place
 * of the sum: by then that operand is there. */
static bool take_operand(struct cr_exec *e, struct cr_exec_step *a,
                         struct cr_exec_step *s, const struct part *p)
{
    struct cr_pval *y = s->y[0], *other = p->other;
    bool bias = p->end == CR_END_BIAS;
    int slot = bias ? 2 : a->op->kernels->addend;

    if (a->x[slot].val || stats_between(a, s) || reads_between(e, a, s))
        return false;
    cr_step_before(e, a, s);
    if (a->n_in <= slot)
        a->n_in = slot + 1;
    a->in[slot] = other->spec;
    cr_step_remove(e, s);
    cr_operand_set(&a->x[slot], other);
    cr_step_takes(a, y);
    if (!bias)
        a->end.sum = s;
    return true;
}

static bool take_drop(struct cr_exec *e, struct cr_exec_step *a,
                      struct cr_exec_step *s, const struct part *p)
{
    struct cr_pval *y = s->y[0];

    (void)p;
    a->end.drop = s;
    cr_step_remove(e, s);
    cr_step_takes(a, y);
    return true;
}

static bool take_act(struct cr_exec *e, struct cr_exec_step *a,
                     struct cr_exec_step *s, const struct part *p)
{
    struct cr_pval *y = s->y[0];

    (void)p;
    /* what the gradients read is stored: the result alone */
    if (e->opts.backward && y->needs &&
        ((s->op->saved_for_backward & ~CR_Y(0)) || !s->op->backward ||
         ((a->op->saved_for_backward & CR_Y(0)) &&
          !cr_step_accepts(a, CR_Y(0), CR_END_ACT | CR_END_BACKWARD))))
        return false;
    a->end.act = s->op;
    a->end.attr = s->attr;
    cr_step_remove(e, s);
    cr_step_takes(a, y);
    return true;
}

/* Where a result is rounded, by a or by s: before an activation that gives 0
 * or what it gets, which is the same as after it. */
static bool can_round(const struct cr_exec_step *a,
                      const struct cr_exec_step *s, unsigned part)
{
    /* a gradient is rounded after this factor, but kernels round before it */
    if (part & CR_END_SCALE)
        return !(a->rounds | s->rounds);
    if (!((a->rounds | s->rounds) & CR_Y(0)))
        return true;
    return (part & (CR_END_ACT | CR_END_MAP)) && s->op->exact &&
           (!(s->rounds & CR_Y(0)) ||
            ((a->op->low & CR_Y(0)) &&
             (a->low == CR_REAL || a->low == s->low)));
}

/* Whether s, which reads the result of a step at operand k, becomes part of
 * that step. */
static bool fuse(struct cr_exec *e, const struct fusion *f,
                 struct cr_exec_step *s, int k)
{
    struct cr_exec_step *a = cr_step_producer(s->x[k].val);
    struct part p = { .end = f->part,
                      .k = k,
                      .other = s->n_in == 2 ? s->x[1 - k].val : NULL };
    unsigned needs = e->opts.backward ? f->needs : 0;

    if (!a || a->same || a->once || s->same || s->once || s->end.parts ||
        (a->end.parts & f->before) || (a->node && a->node->custom) ||
        (s->node && s->node->custom) || !f->find(a, s, &p) ||
        !can_round(a, s, f->part) ||
        !cr_step_accepts(a, CR_Y(0), f->part | needs) || !f->take(e, a, s, &p))
        return false;
    if (s->rounds & CR_Y(0)) {
        a->rounds |= CR_Y(0);
        a->low = s->low;
    }
    a->end.parts |= f->part;
    return true;
}

/* A step without work stands between two that may fuse: what reads its result
 * reads what it alone gets, so gradients are added up as before. */
static void pass_over(struct cr_exec *e, struct cr_exec_step *s)
{
    struct cr_pval *x = s->x[0].val, *y = s->y[0];
    const struct cr_operand *o;

    if (!s->same || s->once || s->rounds || s->n_out != 1 || x->n_uses != 1 ||
        x->root || y->root ||
        (s->node && s->node->custom) || !cr_spec_same(&x->spec, &y->spec) ||
        x->spec.layout != y->spec.layout || x->needs != y->needs)
        return;
    if (x->maker && x->maker->low != CR_REAL)
        return; /* casts has seen them apart */
    for (o = y->uses; o; o = o->next)
        if (o->step->low != CR_REAL)
            return;
    while (y->uses)
        cr_operand_set(y->uses, x);
    cr_step_remove(e, s);
}

bool cr_plan_fuse(struct cr_exec *e)
{
    struct cr_exec_step *s, *next;
    size_t i;
    int k;

    e->fused = true;
    for (s = e->first; s; s = next) {
        next = s->next;
        pass_over(e, s);
    }
    for (i = 0; i < CR_LEN(fusions); i++)
        for (s = e->first; s; s = next) {
            next = s->next;
            for (k = 0; k < 2 && k < s->n_in && s->n_out == 1; k++)
                if (fuse(e, &fusions[i], s, k))
                    break;
        }
    return true;
}

/* ---- backward ---- */

/* Whether a value is a view of a parameter or a column: others read their
 * gradients as soon as they are written. */
static bool is_source(struct cr_pval *val)
{
    val = cr_pval_base(val);
    return val->param >= 0 || val->feed >= 0;
}

/* Whether the one step that writes gradient g sets it to 0 where y <= 0. */
static bool take_mask(struct cr_pval *g, struct cr_pval *y)
{
    struct cr_exec_step *w = g->maker;
    int i;

    for (i = 0; w && i < w->n_in; i++)
        if (w->dx[i] == g && !w->acc[i].val &&
            (w->low == CR_REAL ||
             cr_pval_base(w->x[i].val) == cr_pval_base(y)) &&
            cr_step_accepts(w, CR_X(i), CR_END_MASK)) {
            cr_operand_set(&w->mask[i], y);
            return true;
        }
    return false;
}

/* Whether the one step that writes gradient g, which nothing else reads, goes
 * on with that of an elementwise op, whose input or result is `seen`. */
static bool take_map_grad(const struct cr_op *op, const void *attr,
                          struct cr_pval *g, struct cr_pval *seen)
{
    struct cr_exec_step *w = g->maker;

    if (!op->algebra.map_grad || !w || w->kind != CR_BACKWARD || w->n_in == 0 ||
        w->dx[0] != g || w->acc[0].val || w->mask[0].val || g->root ||
        g->alias || g->n_uses > 0 || w->rounds || w->direct[0] >= 0 ||
        !cr_step_accepts(w, CR_X(0), CR_END_MAP_GRAD))
        return false;
    cr_operand_set(&w->mask[0], seen);
    w->map_grad = op;
    w->map_attr = attr;
    return true;
}

/* Whether two steps belong to one block that is computed again, or to none. */
static bool same_block(const struct cr_exec_step *a,
                       const struct cr_exec_step *b)
{
    return a && b && a->node && b->node &&
           a->node->recompute == b->node->recompute;
}

bool cr_plan_map_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    struct cr_pval *x = f->x[0].val, *g = f->y[0]->grad;
    bool reads_x = f->op->saved_for_backward & CR_X(0);

    if (!e->fused || !f->op->algebra.map || f->n_in != 1 ||
        f->n_out != 1 || f->rounds || f->low != CR_REAL || f->end.parts ||
        x->grad || is_source(x) || !cr_spec_same(&x->spec, &g->spec) ||
        x->spec.layout != g->spec.layout || x->spec.type != CR_REAL ||
        (reads_x && !same_block(f, g->maker)) || !take_map_grad(f->op, f->attr, g, reads_x ? x : f->y[0]))
        return false;
    x->grad = cr_pval_new(e, &x->spec);
    x->grad->alias = g;
    return true;
}

unsigned cr_plan_act_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    const struct cr_op *op = f->end.act;
    struct cr_pval *y = f->y[0], *g = y->grad;
    struct cr_exec_step *s;

    if (f->end.parts & CR_END_DROP) {
        const struct cr_exec_step *drop = f->end.drop;

        if (e->fused && take_map_grad(drop->op, drop->attr, g, y))
            return CR_END_DROP;
    }
    if (op->algebra.act == CR_ACT_RELU && take_mask(g, y))
        return 0;
    if (e->fused && !f->rounds && f->low == CR_REAL &&
        take_map_grad(op, f->end.attr, g, y))
        return 0;
    s = cr_step_new(e, CR_BACKWARD, op, 1, 1);
    s->attr = f->end.attr;
    s->in = s->out = f->out;
    cr_operand_set(&s->read_y[0], y);
    cr_operand_set(&s->dy[0], g);
    s->dx[0] = y->grad = cr_pval_new(e, &g->spec);
    s->dx[0]->maker = s;
    s->dx[0]->alias = g;
    s->dx[0]->root = g->root;
    cr_step_append(e, s);
    return 0;
}

/* Whether step f reads a value as another input than its addend, too: its
 * backward adds to the gradient of that while it reads the one of the sum. */
static bool reads_twice(const struct cr_exec_step *f, const struct cr_pval *val)
{
    int i;

    for (i = 0; i < f->n_in; i++)
        if (i != f->op->kernels->addend && f->x[i].val == val)
            return true;
    return false;
}

/* An addend gets the gradient of the sum as it is: in the same memory, or
 * added to what it has. */
static void sum_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    struct cr_pval *addend = f->x[f->op->kernels->addend].val;
    const struct cr_exec_step *sum = f->end.sum;
    struct cr_pval *g = f->y[0]->grad;
    struct cr_exec_step *s;

    if (!addend->needs)
        return;
    if (!addend->grad && !is_source(addend) && !reads_twice(f, addend)) {
        addend->grad = cr_pval_new(e, &addend->spec);
        addend->grad->alias = g;
        return;
    }
    s = cr_step_new(e, CR_BACKWARD, sum->op, 2, 1);
    s->node = sum->node;
    s->attr = sum->attr;
    s->in = sum->in;
    s->out = sum->out;
    cr_operand_set(&s->dy[0], g);
    cr_step_append(e, s);
    cr_plan_write(e, s, 0, addend);
}

/* The gradient of what dropout got, in the memory of g if nothing else reads
 * it. */
static void drop_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    const struct cr_exec_step *drop = f->end.drop;
    struct cr_pval *y = f->y[0], *g = y->grad;
    struct cr_exec_step *s = cr_step_new(e, CR_BACKWARD, drop->op, 1, 1);

    s->node = drop->node;
    s->attr = drop->attr;
    s->in = drop->in;
    s->out = drop->out;
    s->training = drop->training;
    cr_operand_set(&s->dy[0], g);
    s->dx[0] = y->grad = cr_pval_new(e, &g->spec);
    s->dx[0]->maker = s;
    if (!(f->end.parts & CR_END_ADD)) {
        s->dx[0]->alias = g;
        s->dx[0]->root = g->root;
    }
    cr_step_append(e, s);
}

void cr_plan_apart_backward(struct cr_exec *e, const struct cr_exec_step *f,
                            unsigned undone)
{
    if (f->end.parts & CR_END_ADD)
        sum_backward(e, f);
    if (f->end.parts & ~undone & CR_END_DROP)
        drop_backward(e, f);
}
