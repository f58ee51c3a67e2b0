/* The list of steps, and who reads which value. */
#include "plan/plan.h"

#include <assert.h>

struct cr_pval *cr_pval_new(struct cr_exec *e, const struct cr_spec *spec)
{
    struct cr_pval *v = CR_NEW(&e->arena, struct cr_pval);

    v->id = e->n_vals++;
    v->spec = *spec;
    v->bytes = cr_bytes(spec);
    v->feed = v->param = -1;
    v->first = v->last = -1;
    if (e->last_val)
        e->last_val->next = v;
    else
        e->vals = v;
    e->last_val = v;
    return v;
}

static struct cr_pval *up(const struct cr_pval *val)
{
    return val->up ? val->up : val->alias;
}

/* A parameter of many readers has a chain of as many gradients: each look-up
 * halves the way for the next one. */
struct cr_pval *cr_pval_base(struct cr_pval *val)
{
    while (val && val->alias) {
        struct cr_pval *above = up(val);

        val->up = up(above);
        val = above;
    }
    return val;
}

int cr_step_room(const struct cr_op *op, int n_in)
{
    const struct cr_op_kernels *k = op ? op->kernels : NULL;

    if (k && k->addend >= n_in)
        n_in = k->addend + 1;
    if (k && k->prepare && k->prepare->as >= n_in)
        n_in = k->prepare->as + 1;
    return op && op->algebra.channels && n_in < 3 ? 3 : n_in;
}

static struct cr_operand *operands(struct cr_exec *e, struct cr_exec_step *s,
                                   int n)
{
    struct cr_operand *o = CR_NEWS(&e->arena, struct cr_operand, n + 1);
    int i;

    for (i = 0; i < n; i++)
        o[i].step = s;
    return o;
}

struct cr_exec_step *cr_step_new(struct cr_exec *e, enum cr_exec_step_kind kind,
                                 const struct cr_op *op, int n_in, int n_out)
{
    struct cr_exec_step *s = CR_NEW(&e->arena, struct cr_exec_step);
    int i, room = cr_step_room(op, n_in);

    s->kind = kind;
    s->op = op;
    s->param = -1;
    s->n_in = n_in;
    s->n_out = n_out;
    s->read_saved.step = s;
    s->x = operands(e, s, room);
    if (kind == CR_FORWARD) {
        s->y = CR_NEWS(&e->arena, struct cr_pval *, CR_OP_MAX);
        return s;
    }
    s->mask = operands(e, s, n_in);
    s->acc = operands(e, s, n_in);
    s->dy = operands(e, s, n_out);
    s->read_y = operands(e, s, n_out);
    s->dx = CR_NEWS(&e->arena, struct cr_pval *, n_in + 1);
    s->direct = CR_NEWS(&e->arena, int, n_in + 1);
    for (i = 0; i < n_in; i++)
        s->direct[i] = -1;
    return s;
}

/* ---- places ---- */

static void unlink_step(struct cr_exec *e, struct cr_exec_step *s)
{
    if (s->prev)
        s->prev->next = s->next;
    else if (e->first == s)
        e->first = s->next;
    if (s->next)
        s->next->prev = s->prev;
    else if (e->last == s)
        e->last = s->prev;
    s->prev = s->next = NULL;
}

/* Between two neighbours, of which one may be NULL: the end of the list. */
static void link_step(struct cr_exec *e, struct cr_exec_step *s,
                      struct cr_exec_step *prev, struct cr_exec_step *next)
{
    s->prev = prev;
    s->next = next;
    if (prev)
        prev->next = s;
    else
        e->first = s;
    if (next)
        next->prev = s;
    else
        e->last = s;
}

void cr_step_append(struct cr_exec *e, struct cr_exec_step *s)
{
    link_step(e, s, e->last, NULL);
}

void cr_step_before(struct cr_exec *e, struct cr_exec_step *s,
                    struct cr_exec_step *other)
{
    unlink_step(e, s);
    link_step(e, s, other->prev, other);
}

void cr_step_after(struct cr_exec *e, struct cr_exec_step *s,
                   struct cr_exec_step *other)
{
    unlink_step(e, s);
    link_step(e, s, other, other ? other->next : e->first);
}

bool cr_step_same_block(const struct cr_exec_step *a,
                        const struct cr_exec_step *b)
{
    return a && b && a->node && b->node &&
           a->node->recompute == b->node->recompute;
}

void cr_steps_number(struct cr_exec *e)
{
    struct cr_exec_step *s;
    int n = 0;

    for (s = e->first; s; s = s->next)
        s->at = n++;
    e->n_steps = n;
}

/* ---- operands ---- */

void cr_operand_set(struct cr_operand *o, struct cr_pval *val)
{
    if (o->val) {
        if (o->prev)
            o->prev->next = o->next;
        else
            o->val->uses = o->next;
        if (o->next)
            o->next->prev = o->prev;
        o->val->n_uses--;
    }
    o->val = val;
    o->prev = o->next = NULL;
    if (!val)
        return;
    o->next = val->uses;
    if (o->next)
        o->next->prev = o;
    val->uses = o;
    val->n_uses++;
}

static void some(struct cr_operand *o, int n, void *ctx,
                 void (*each)(void *ctx, struct cr_operand *o))
{
    int i;

    for (i = 0; o && i < n; i++)
        if (o[i].val)
            each(ctx, &o[i]);
}

void cr_step_operands(struct cr_exec_step *s, void *ctx,
                      void (*each)(void *ctx, struct cr_operand *o))
{
    some(s->x, s->n_in, ctx, each);
    some(s->mask, s->n_in, ctx, each);
    some(s->acc, s->n_in, ctx, each);
    some(s->dy, s->n_out, ctx, each);
    some(s->read_y, s->n_out, ctx, each);
    some(&s->read_saved, 1, ctx, each);
}

static void forget(void *ctx, struct cr_operand *o)
{
    (void)ctx;
    cr_operand_set(o, NULL);
}

void cr_step_remove(struct cr_exec *e, struct cr_exec_step *s)
{
    int i;

    cr_step_operands(s, NULL, forget);
    for (i = 0; s->y && i < s->n_out; i++)
        if (s->y[i] && s->y[i]->maker == s)
            s->y[i]->maker = NULL;
    unlink_step(e, s);
}

void cr_step_takes(struct cr_exec_step *s, struct cr_pval *val)
{
    s->y[0]->maker = NULL;
    s->y[0]->into = val;
    s->y[0] = val;
    val->maker = s;
}

bool cr_step_accepts(const struct cr_exec_step *s, unsigned of, unsigned parts)
{
    struct cr_op_ctx ctx = {
        .attr = s->attr, .in = s->in, .out = s->out, .low = s->low,
        .rounds = s->rounds, .holds = s->holds
    };

    if (of & CR_Y(0))
        parts |= s->end.parts;
    return s->op && s->op->kernels && s->op->kernels->accepts &&
           s->op->kernels->accepts(&ctx, of, parts);
}

struct cr_exec_step *cr_step_producer(const struct cr_pval *val)
{
    struct cr_exec_step *s = val ? val->maker : NULL;

    return s && s->kind == CR_FORWARD && s->y[0] == val && !val->root &&
                   val->n_uses == 1
               ? s
               : NULL;
}
