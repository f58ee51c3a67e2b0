/*
 * One step that does the work of two: a producer takes an addition behind it,
 * then the activation behind that, where nobody else reads what lies between.
 */
#include "net/plan.h"

#include <assert.h>

int cr_plan_producer(const struct cr_exec *e, int val, int before)
{
    int at = val >= 0 ? e->vals[val].maker : -1;

    if (at < 0 || at >= before || e->vals[val].root || e->vals[val].uses != 1)
        return -1;
    assert(e->steps[at].op && e->steps[at].y[0] == val);
    return at;
}

void cr_plan_takes(struct cr_exec *e, int at, int val)
{
    e->steps[at].y[0] = val;
    e->vals[val].maker = at;
}

/* The optional input of a step that may still take an addend; -1. */
static int free_addend(const struct cr_exec_step *s)
{
    int i;

    for (i = 0; i < CR_OP_MAX; i++)
        if ((s->op->fuses_add & CR_X(i)) && s->x[i] < 0 &&
            s->act == CR_ACT_NONE)
            return i;
    return -1;
}

/* Whether steps behind number `a`, up to `b`, move statistics that it moves
 * too: a cell called twice, whose calls stay in their order. */
static bool moved_between(const struct cr_exec *e, int a, int b)
{
    const struct cr_exec_step *s = &e->steps[a];
    int i, k, at;

    for (i = 0; i < CR_OP_MAX; i++) {
        if (!(s->op->running_stats & CR_X(i)) || s->x[i] < 0)
            continue;
        for (at = a + 1; at < b; at++)
            for (k = 0; k < CR_OP_MAX && e->steps[at].op; k++)
                if ((e->steps[at].op->running_stats & CR_X(k)) &&
                    e->steps[at].x[k] == s->x[i])
                    return true;
    }
    return false;
}

/* A producer that can add takes the addition behind it, and its place: by
 * then the other operand is there. */
static void fuse_adds(struct cr_exec *e)
{
    const struct cr_op *add =
        cr_registry_find(CR_KIND_OP, "add") ? cr_op_find("add") : NULL;
    int b, k;

    for (b = 0; b < e->n_steps; b++) {
        struct cr_exec_step *sum = &e->steps[b];

        if (!add || sum->op != add || sum->x[0] == sum->x[1] ||
            !cr_spec_same(&sum->run.in[0], &sum->run.in[1]))
            continue;
        for (k = 0; k < 2; k++) {
            int a = cr_plan_producer(e, sum->x[k], b), slot;
            struct cr_exec_step made;

            slot = a >= 0 ? free_addend(&e->steps[a]) : -1;
            if (slot < 0 || moved_between(e, a, b) ||
                (e->opts.backward && !e->steps[a].op->fuses_act_backward))
                continue;
            made = e->steps[a];
            made.x[slot] = sum->x[1 - k];
            made.y[0] = sum->y[0];
            made.n_in = made.n_in > slot ? made.n_in : slot + 1;
            ((struct cr_spec *)(uintptr_t)made.run.in)[slot] =
                sum->run.in[1 - k];
            e->steps[a].op = NULL;
            *sum = made;
            break;
        }
    }
}

/* A producer that can apply an activation takes the one behind it. */
static void fuse_activations(struct cr_exec *e)
{
    int a, b;

    for (b = 0; b < e->n_steps; b++) {
        struct cr_exec_step *act = &e->steps[b];

        if (!act->op || act->op->act == CR_ACT_NONE)
            continue;
        a = cr_plan_producer(e, act->x[0], b);
        if (a < 0 || !e->steps[a].op->fuses_act ||
            e->steps[a].act != CR_ACT_NONE)
            continue;
        e->steps[a].act = act->op->act;
        cr_plan_takes(e, a, act->y[0]);
        act->op = NULL; /* done by step a */
    }
}

void cr_plan_fuse(struct cr_exec *e)
{
    fuse_adds(e);
    fuse_activations(e);
}

static const struct cr_op *act_op(enum cr_act act)
{
    const struct cr_descriptor *const *list = cr_registry_list(CR_KIND_OP);
    int i;

    for (i = 0; list[i]; i++)
        if (((const struct cr_op *)list[i])->act == act)
            return (const struct cr_op *)list[i];
    return NULL;
}

void cr_plan_act_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    const struct cr_op *op = act_op(f->act);
    int y = f->y[0], g = e->vals[y].grad, i;
    struct cr_exec_step *w, *s;

    if (e->vals[g].writers == 1 && e->vals[g].writer >= 0 &&
        op->act == CR_ACT_RELU) {
        w = &e->steps[e->vals[g].writer];
        for (i = 0; i < w->n_in; i++)
            if (w->dx[i] == g && (w->op->masks & CR_X(i)) &&
                !w->accumulate[i]) {
                w->mask[i] = y;
                return;
            }
    }
    s = cr_plan_new(e, CR_BACKWARD, NULL);
    s->op = op;
    s->n_in = 1;
    s->run.in = s->run.out = f->run.out;
    s->y[0] = y;
    s->dy[0] = s->dx[0] = g;
}
