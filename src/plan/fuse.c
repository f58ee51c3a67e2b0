/*
 * Fusion: a step that can add a value or apply an activation takes the
 * addition or activation that alone reads its result.
 */
#include "plan/plan.h"

/* ---- forward ---- */

/* The optional input of a step that may still take an addend; -1. */
static int free_addend(const struct cr_exec_step *s)
{
    int i;

    for (i = 0; i < CR_OP_MAX; i++)
        if ((s->op->fuses_add & CR_X(i)) && !s->x[i].val &&
            s->act == CR_ACT_NONE)
            return i;
    return -1;
}

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

/* The addition `sum` becomes part of the step that makes its operand k, which
 * moves to the place of the addition: by then the other operand is there. */
static bool take_addition(struct cr_exec *e, struct cr_exec_step *sum, int k)
{
    struct cr_exec_step *a = cr_step_producer(sum->x[k].val);
    struct cr_pval *addend = sum->x[1 - k].val, *y = sum->y[0];
    int slot = a ? free_addend(a) : -1;

    if (slot < 0 || stats_between(a, sum) ||
        (e->opts.backward && !a->op->fuses_act_backward))
        return false;
    cr_step_before(e, a, sum);
    if (a->n_in <= slot)
        a->n_in = slot + 1;
    a->in[slot] = sum->in[1 - k];
    cr_step_remove(e, sum);
    cr_operand_set(&a->x[slot], addend);
    cr_step_takes(a, y);
    return true;
}

bool cr_plan_fuse_add(struct cr_exec *e)
{
    const struct cr_op *add =
        cr_registry_find(CR_KIND_OP, "add") ? cr_op_find("add") : NULL;
    struct cr_exec_step *s, *next;

    for (s = e->first; s && add; s = next) {
        next = s->next;
        if (s->op == add && s->x[0].val != s->x[1].val &&
            cr_spec_same(&s->in[0], &s->in[1]) && !take_addition(e, s, 0))
            take_addition(e, s, 1);
    }
    return true;
}

bool cr_plan_fuse_activation(struct cr_exec *e)
{
    struct cr_exec_step *s, *next, *a;
    struct cr_pval *y;

    for (s = e->first; s; s = next) {
        next = s->next;
        if (s->op->act == CR_ACT_NONE)
            continue;
        a = cr_step_producer(s->x[0].val);
        if (!a || !a->op->fuses_act || a->act != CR_ACT_NONE)
            continue;
        y = s->y[0];
        a->act = s->op->act;
        cr_step_remove(e, s);
        cr_step_takes(a, y);
    }
    return true;
}

/* ---- backward ---- */

static const struct cr_op *act_op(enum cr_act act)
{
    const struct cr_descriptor *const *list = cr_registry_list(CR_KIND_OP);
    int i;

    for (i = 0; list[i]; i++)
        if (((const struct cr_op *)list[i])->act == act)
            return (const struct cr_op *)list[i];
    return NULL;
}

/* Whether the one step that writes gradient g sets it to 0 where y <= 0. */
static bool take_mask(struct cr_pval *g, struct cr_pval *y)
{
    struct cr_exec_step *w = g->maker;
    int i;

    for (i = 0; w && i < w->n_in; i++)
        if (w->dx[i] == g && (w->op->masks & CR_X(i)) && !w->acc[i].val) {
            cr_operand_set(&w->mask[i], y);
            return true;
        }
    return false;
}

void cr_plan_act_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    const struct cr_op *op = act_op(f->act);
    struct cr_pval *y = f->y[0], *g = y->grad;
    struct cr_exec_step *s;

    if (op->act == CR_ACT_RELU && take_mask(g, y))
        return;
    s = cr_step_new(e, CR_BACKWARD, op, 1, 1);
    s->in = s->out = f->out;
    cr_operand_set(&s->read_y[0], y);
    cr_operand_set(&s->dy[0], g);
    s->dx[0] = y->grad = cr_pval_new(e, &g->spec);
    s->dx[0]->maker = s;
    s->dx[0]->alias = g;
    s->dx[0]->root = g->root;
    cr_step_append(e, s);
}
