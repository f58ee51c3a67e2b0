/*
 * Fusion: a step takes over the step that alone reads its result, as a part of
 * its epilogue (kernels/epilogue.h), if its kernels accept that part. What
 * fuses with what are the rows of a table; which kernels accept it is asked of
 * the producer's op (struct cr_op_kernels), so that a row names no op.
 *
 * A second pass, after that for the gradient, is for elementwise ops whose
 * input backward reads: the producer stores that, too, or rounds both.
 *
 * To add a fusion: a row, with a function that finds the part in the consumer.
 * The gradients of the parts: fuse_gradient.c.
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
    return s->op->algebra.act == CR_ACT_RELU;
}

/* Whether the backward kernel of step a does that of an activation s, from what
 * it reads itself. */
static bool takes_gradient(const struct cr_exec_step *a,
                           const struct cr_exec_step *s)
{
    return s->op->algebra.map_grad &&
           cr_step_accepts(a, CR_Y(0), CR_END_MAP | CR_END_BACKWARD);
}

static bool find_map(const struct cr_exec_step *a, const struct cr_exec_step *s,
                     struct part *p)
{
    (void)p;
    return s->op->algebra.map && s->x[0].val->spec.type == CR_REAL &&
           !(((a->rounds | s->rounds) & CR_Y(0)) && takes_gradient(a, s));
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
    { CR_END_LATE_BIAS,
      CR_END_LATE_BIAS | CR_END_BIAS | CR_END_ADD | CR_END_ACT | CR_END_MAP,
      CR_END_APART, find_bias, take_operand },
    { CR_END_ADD, CR_END_ADD | CR_END_ACT | CR_END_MAP, CR_END_BACKWARD,
      find_addition, take_operand },
    { CR_END_ACT, CR_END_LATE_BIAS | CR_END_ACT | CR_END_MAP, 0, find_act,
      take_act },
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
    bool bias = p->end != CR_END_ADD;
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
    if (p->end == CR_END_LATE_BIAS)
        a->end.bias = s;
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

/* What backward reads of an activation is stored: its result. One that reads
 * what it got waits for cr_plan_fuse_kept. */
static bool take_act(struct cr_exec *e, struct cr_exec_step *a,
                     struct cr_exec_step *s, const struct part *p)
{
    struct cr_pval *y = s->y[0];

    if (e->opts.backward && y->needs &&
        !(p->end == CR_END_MAP && takes_gradient(a, s)) &&
        (!s->op->backward || (s->op->saved_for_backward & ~CR_Y(0)) ||
         ((a->op->saved_for_backward & CR_Y(0)) &&
          !cr_step_accepts(a, CR_Y(0), CR_END_ACT | CR_END_BACKWARD))))
        return false;
    a->end.act = s->op;
    a->end.attr = s->attr;
    cr_step_remove(e, s);
    cr_step_takes(a, y);
    return true;
}

/* Whether two steps round their results to the same type. What several
 * processes have parts of is added up before it is rounded. */
static bool round_alike(const struct cr_exec *e, const struct cr_exec_step *a,
                        const struct cr_exec_step *s)
{
    return (a->rounds & s->rounds & CR_Y(0)) && a->low == s->low &&
           !(e->split && s->y[0]->part == CR_PART_ALIKE);
}

/* Where a result is rounded, by a or by s: after each of both, if kernels do
 * that (f->needs), or before an activation that gives 0 or what it gets, which
 * is the same as after it. */
static bool can_round(const struct cr_exec *e, const struct fusion *f,
                      const struct cr_exec_step *a,
                      const struct cr_exec_step *s)
{
    /* a gradient is rounded after this factor, but kernels round before it */
    if (f->part & CR_END_SCALE)
        return !(a->rounds | s->rounds);
    if (f->part & CR_END_LATE_BIAS)
        return round_alike(e, a, s);
    if (!((a->rounds | s->rounds) & CR_Y(0)))
        return true;
    if (f->needs == CR_END_APART)
        return round_alike(e, a, s);
    return (f->part & (CR_END_ACT | CR_END_MAP)) && s->op->exact &&
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
    unsigned needs;

    if (!a || a->same || a->once || s->same || s->once || s->end.parts ||
        (a->end.parts & f->before) || (a->node && a->node->custom) ||
        (s->node && s->node->custom) || !f->find(a, s, &p) ||
        !can_round(e, f, a, s))
        return false;
    /* kernels that round after each part are asked for it in prediction, too */
    needs =
        e->opts.backward || (f->needs == CR_END_APART && (a->rounds & CR_Y(0)))
            ? f->needs
            : 0;
    if (!cr_step_accepts(a, CR_Y(0), f->part | needs) || !f->take(e, a, s, &p))
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

    if (!s->same || s->once || s->rounds || s->n_out != 1 || x->n_uses != 1 ||
        x->root || y->root || (s->node && s->node->custom) ||
        !cr_spec_same(&x->spec, &y->spec) || x->spec.layout != y->spec.layout ||
        x->needs != y->needs)
        return;
    while (y->uses)
        cr_operand_set(y->uses, x);
    cr_step_remove(e, s);
}

/* Whether the first inputs of s, and they alone, are all that p makes. */
static bool takes_all(const struct cr_exec_step *p,
                      const struct cr_exec_step *s)
{
    int i;

    for (i = 0; i < p->n_out; i++) {
        const struct cr_pval *v = p->y[i];

        if (v != s->x[i].val || v->n_uses != 1 || v->root ||
            !cr_spec_same(&v->spec, &p->y[0]->spec))
            return false;
    }
    return true;
}

/* What takes its inputs side by side reads them before they are split. */
static void take_whole(struct cr_exec *e, struct cr_exec_step *s)
{
    int n = s->op->algebra.packs, i;
    struct cr_exec_step *p =
        n > 0 && n <= s->n_in && s->x[0].val ? s->x[0].val->maker : NULL;
    struct cr_pval *x;

    if (!p || p->n_out != n || !p->op->algebra.pieces ||
        !p->op->algebra.pieces(p->attr, &p->in[0]) || p->once || s->once ||
        p->low != CR_REAL || s->low != CR_REAL ||
        (p->node && p->node->custom) || (s->node && s->node->custom) ||
        !takes_all(p, s))
        return;
    x = p->x[0].val;
    for (i = 1; i < n; i++) {
        cr_operand_set(&s->x[i], NULL);
        s->in[i] = (struct cr_spec){ .rank = -1 };
    }
    cr_operand_set(&s->x[0], x);
    s->in[0] = x->spec;
    cr_step_remove(e, p);
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
    for (s = e->first; s; s = s->next)
        take_whole(e, s);
    for (i = 0; i < CR_LEN(fusions); i++)
        for (s = e->first; s; s = next) {
            next = s->next;
            for (k = 0; k < 2 && k < s->n_in && s->n_out == 1; k++)
                if (fuse(e, &fusions[i], s, k))
                    break;
        }
    return true;
}

/* Whether forward has no reader of x but s. */
static bool reads_alone(const struct cr_pval *x, const struct cr_exec_step *s)
{
    const struct cr_operand *o;

    for (o = x->uses; o; o = o->next)
        if (o->step != s && o->step->kind == CR_FORWARD)
            return false;
    return true;
}

/* Whether backward does not read the result of s, or reads it in one step that
 * can compute it again, while it does the gradient of s (recompute.c): where s
 * stays a step, it may run again instead. */
static bool again_or_unread(const struct cr_exec_step *s)
{
    const struct cr_pval *x = s->x[0].val, *y = s->y[0];
    const struct cr_operand *o;
    int n = 0;

    for (o = y->uses; o; o = o->next) {
        const struct cr_exec_step *w = o->step;

        if (w->kind == CR_FORWARD)
            continue;
        if (w->kind != CR_BACKWARD || w->n_in == 0 || w->x[0].val != y ||
            w->mask[0].val != x || w->map_grad != s->op || ++n > 1 ||
            !cr_step_accepts(w, CR_X(0), CR_END_MAP_GRAD | CR_END_AGAIN))
            return false;
    }
    return true;
}

/* An elementwise op becomes part of the step that makes what it gets; that is
 * stored next to its result if backward reads it. */
static void fuse_kept(struct cr_exec *e, struct cr_exec_step *s)
{
    struct cr_pval *x = s->n_in == 1 ? s->x[0].val : NULL, *y = s->y[0];
    struct cr_exec_step *a = x ? x->maker : NULL;
    bool keeps = x && x->n_uses > 1, rounds;

    if (!a || a->kind != CR_FORWARD || a->y[0] != x || x->root || x->alias ||
        y->alias || a->same || a->once || s->same || s->once || s->end.parts ||
        (a->node && a->node->custom) || (s->node && s->node->custom) ||
        (a->end.parts &
         (CR_END_ACT | CR_END_MAP | CR_END_LATE_BIAS | CR_END_DROP)) ||
        !s->op->algebra.map || s->n_out != 1 || x->spec.type != CR_REAL ||
        (keeps && (a->saved || !cr_step_same_block(a, s))) ||
        !reads_alone(x, s))
        return;
    rounds = (a->rounds | s->rounds) != 0;
    if ((rounds && !round_alike(e, a, s)) ||
        (rounds && keeps && !again_or_unread(s)) ||
        !cr_step_accepts(a, CR_Y(0),
                         CR_END_MAP | (keeps || rounds ? CR_END_KEEP : 0)))
        return;
    if (s == e->last_forward)
        e->last_forward = s->prev;
    a->end.parts |= CR_END_MAP | (keeps ? CR_END_KEEP : 0);
    a->end.act = s->op;
    a->end.attr = s->attr;
    cr_step_remove(e, s);
    cr_step_takes(a, y);
    if (keeps) {
        a->saved = x;
        x->maker = a;
    }
}

bool cr_plan_fuse_kept(struct cr_exec *e)
{
    struct cr_exec_step *s, *next, *end;

    if (!e->fused)
        return true;
    end = e->last_forward ? e->last_forward->next : NULL;
    for (s = e->first; s != end; s = next) {
        next = s->next;
        fuse_kept(e, s);
    }
    return true;
}
