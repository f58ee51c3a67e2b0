/*
 * The gradients of what fuse.c has made parts of a step.
 *
 * The gradient of an activation that is part of a step is part of that step's
 * backward kernel, or of the writer of its gradient (as a mask), or a step of
 * its own. It reads the result or, where the activation's gradient needs that,
 * what the activation got, which forward stores next to it; a kernel that finds
 * a ReLU's mask in its input (CR_END_MASK_X) reads neither. That of an
 * elementwise op, or of a ReLU with dropout, which shows in zeros, is done by
 * the writer of the gradient that arrives, if it can; that of dropout alone
 * draws its mask again. An addend gets the gradient of the sum as it is.
 *
 * In low precision each of these gradients is rounded: what arrives, what is
 * left before dropout, and what the product gets.
 */
#include "plan/plan.h"

/* Whether a value is a view of a parameter or a column: others read their
 * gradients as soon as they are written. */
static bool is_source(struct cr_pval *val)
{
    val = cr_pval_base(val);
    return val->param >= 0 || val->feed >= 0;
}

/* The forward step of w, which reads x. */
static const struct cr_exec_step *forward_of(const struct cr_exec_step *w,
                                             const struct cr_pval *x)
{
    const struct cr_operand *o;

    for (o = x->uses; o; o = o->next)
        if (o->step->kind == CR_FORWARD && o->step->node == w->node &&
            o == &o->step->x[0])
            return o->step;
    return NULL;
}

/* The same where a maximum of y tells it, so that nothing reads y again. */
static bool take_mask_y(struct cr_exec_step *w, const struct cr_pval *g,
                        const struct cr_pval *y)
{
    const struct cr_exec_step *f = w ? forward_of(w, y) : NULL;

    if (!f || w->n_in == 0 || w->dx[0] != g || w->acc[0].val ||
        !cr_step_accepts(w, CR_X(0), CR_END_MASK_Y))
        return false;
    cr_operand_set(&w->read_y[0], f->y[0]);
    return true;
}

/* Whether the one step that writes gradient g sets it to 0 where y <= 0. */
static bool take_mask(struct cr_pval *g, struct cr_pval *y)
{
    struct cr_exec_step *w = g->maker;
    int i;

    if (take_mask_y(w, g, y))
        return true;
    for (i = 0; w && i < w->n_in; i++)
        if (w->dx[i] == g && !w->acc[i].val &&
            (w->low == CR_REAL || y->low == CR_REAL || w->low == y->low) &&
            cr_step_accepts(w, CR_X(i), CR_END_MASK)) {
            cr_operand_set(&w->mask[i], y);
            return true;
        }
    return false;
}

/* Whether w, which writes the gradient of f's result, rounds it before another
 * op's and after: neither or, if f rounds, both. */
static bool rounds_alike(const struct cr_exec *e, const struct cr_exec_step *f,
                         const struct cr_exec_step *w)
{
    if (f->rounds & CR_Y(0))
        return cr_plan_casts_by_writer(e, f) && (w->rounds & CR_X(0));
    return !f->rounds && f->low == CR_REAL && !w->rounds;
}

/* Whether the one step that writes the gradient of f's result, which nothing
 * else reads, does that of an elementwise op, too, whose input or result is
 * `seen`. */
static bool take_map_grad(const struct cr_exec *e, const struct cr_exec_step *f,
                          const struct cr_op *op, const void *attr,
                          struct cr_pval *seen)
{
    struct cr_pval *g = f->y[0]->grad;
    struct cr_exec_step *w = g->maker;

    if (!op->algebra.map_grad || !w || w->kind != CR_BACKWARD || w->n_in == 0 ||
        w->dx[0] != g || w->acc[0].val || w->mask[0].val || g->root ||
        g->alias || g->n_uses > 0 || w->direct[0] >= 0 ||
        !rounds_alike(e, f, w) ||
        !cr_step_accepts(w, CR_X(0), CR_END_MAP_GRAD))
        return false;
    cr_operand_set(&w->mask[0], seen);
    w->map_grad = op;
    w->map_attr = attr;
    return true;
}

/* Whether the gradient of f's input is rounded where it comes from, if that of
 * its result is, and as that is: by the step that makes the input, for f
 * alone. */
static bool rounds_through(const struct cr_exec_step *f)
{
    const struct cr_pval *x = f->x[0].val;
    const struct cr_operand *o;

    if (!f->rounds)
        return f->low == CR_REAL;
    if (f->rounds != CR_Y(0) || x->root || !x->maker ||
        !(x->maker->rounds & CR_Y(0)) || x->maker->low != f->low)
        return false;
    for (o = x->uses; o; o = o->next)
        if (o->step != f && o->step->kind == CR_FORWARD)
            return false;
    return true;
}

bool cr_plan_map_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    struct cr_pval *x = f->x[0].val, *g = f->y[0]->grad;
    bool reads_x = f->op->saved_for_backward & CR_X(0);

    if (!e->fused || !f->op->algebra.map || f->n_in != 1 ||
        f->n_out != 1 || f->end.parts || !rounds_through(f) ||
        x->grad || is_source(x) || !cr_spec_same(&x->spec, &g->spec) ||
        x->spec.layout != g->spec.layout || x->spec.type != CR_REAL ||
        (reads_x && !cr_step_same_block(f, g->maker)) ||
        !take_map_grad(e, f, f->op, f->attr,
                       reads_x ? x : cr_plan_casts_stored(f, 0)))
        return false;
    x->grad = cr_pval_new(e, &x->spec);
    x->grad->alias = g;
    if (f->rounds)
        x->grad->low = f->low;
    return true;
}

unsigned cr_plan_act_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    const struct cr_op *op = f->end.act;
    struct cr_pval *y = f->y[0], *g = y->grad;
    struct cr_pval *stored = cr_plan_casts_stored(f, 0);
    struct cr_exec_step *s;

    if (f->end.parts & CR_END_DROP) {
        const struct cr_exec_step *drop = f->end.drop;

        if (e->fused && take_map_grad(e, f, drop->op, drop->attr, y))
            return CR_END_DROP;
    }
    if (op->algebra.act == CR_ACT_RELU && take_mask(g, y))
        return 0;
    if (e->fused && !f->rounds && f->low == CR_REAL &&
        take_map_grad(e, f, op, f->end.attr, stored))
        return 0;
    s = cr_step_new(e, CR_BACKWARD, op, 1, 1);
    s->attr = f->end.attr;
    s->in = s->out = f->out;
    cr_operand_set(&s->read_y[0], stored);
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

/* The backward step of a step that f has taken over. */
static struct cr_exec_step *part_backward(struct cr_exec *e,
                                          const struct cr_exec_step *f,
                                          const struct cr_exec_step *part)
{
    struct cr_exec_step *s =
        cr_step_new(e, CR_BACKWARD, part->op, part->n_in, 1);

    s->node = part->node;
    s->attr = part->attr;
    s->in = part->in;
    s->out = part->out;
    s->training = part->training;
    s->scratch = part->scratch;
    s->thread_scratch = part->thread_scratch;
    s->low = part->low;
    s->rounds = part->rounds;
    s->holds = part->holds;
    cr_operand_set(&s->dy[0], f->y[0]->grad);
    cr_step_append(e, s);
    return s;
}

/* An addend gets the gradient of the sum as it is: in the same memory, or
 * added to what it has. */
static void sum_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    struct cr_pval *addend = f->x[f->op->kernels->addend].val;
    struct cr_pval *g = f->y[0]->grad;

    if (!addend->needs)
        return;
    if (addend->grad || is_source(addend) || reads_twice(f, addend)) {
        cr_plan_write(e, part_backward(e, f, f->end.sum), 0, addend);
        return;
    }
    addend->grad = cr_pval_new(e, &addend->spec);
    addend->grad->alias = g;
    if (f->rounds & CR_Y(0))
        addend->grad->low = f->low;
}

/* The gradient of what dropout got, in the memory of g if nothing else reads
 * it. */
static void drop_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    struct cr_pval *y = f->y[0], *g = y->grad;
    struct cr_exec_step *s = part_backward(e, f, f->end.drop);

    s->dx[0] = y->grad = cr_pval_new(e, &g->spec);
    s->dx[0]->maker = s;
    if (f->rounds & CR_Y(0))
        s->rounds |= CR_X(0);
    if (!(f->end.parts & CR_END_ADD)) {
        s->dx[0]->alias = g;
        s->dx[0]->root = g->root;
    }
}

/* A late bias gets column sums. */
static void bias_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    const struct cr_exec_step *sum = f->end.bias;
    struct cr_pval *bias = f->x[2].val;

    if (bias->needs)
        cr_plan_write(e, part_backward(e, f, sum),
                      cr_spec_same(&sum->in[0], &sum->out[0]) ? 1 : 0, bias);
}

void cr_plan_apart_backward(struct cr_exec *e, const struct cr_exec_step *f,
                            unsigned undone)
{
    if (f->end.parts & CR_END_ADD)
        sum_backward(e, f);
    if (f->end.parts & ~undone & CR_END_DROP)
        drop_backward(e, f);
    if (f->end.parts & CR_END_LATE_BIAS)
        bias_backward(e, f);
}
