/*
 * Updates of parameters: each follows the last step that writes the gradient,
 * while that is in the cache; plain SGD is part of that step where its kernel
 * can scale. Where a few rows of a table were gathered, and the rule leaves
 * rows without a gradient as they are, these rows alone are updated, from what
 * arrives at them: the table has no gradient then. That holds at the end of a
 * step too, where updates wait for the norm of all gradients.
 */
#include "families/row_gradient.h"
#include "plan/plan.h"

/* Whether processes have the parameter once, in memory that all see: it is
 * updated when no process reads it any more. */
static bool is_shared(const struct cr_exec *e, int param)
{
    return e->net->parts && e->net->parts[param];
}

bool cr_plan_updates_last(const struct cr_exec *e)
{
    return e->opts.separate_update || cr_plan_keeps_all(e);
}

/* The gradient that arrives at a result, in whichever layout; NULL: none. */
static struct cr_pval *output_grad(const struct cr_pval *v)
{
    return v->grad ? v->grad : v->other ? v->other->grad : NULL;
}

/* The end of the loss's backward pass, and the gradients that it writes, of
 * parameters and of the network's results: all of them are checked before the
 * first update of a step. That of a result which the loss does not read is
 * written later, if the network reads it. */
static void loss_grads_find(struct cr_exec *e)
{
    bool *written = CR_NEWS(&e->arena, bool, e->n_vals + 1);
    struct cr_exec_step *s,
        *begin = e->last_forward ? e->last_forward->next : e->first;
    struct cr_pval *v, *g;
    int i, k;

    e->last_loss = e->last_forward;
    for (s = begin; s; s = s->next)
        if (s->node && s->node->loss)
            e->last_loss = s;
    for (s = begin; s && e->last_loss != e->last_forward; s = s->next) {
        for (k = 0; s->kind == CR_BACKWARD && k < s->n_in; k++)
            if (s->dx[k])
                written[cr_pval_base(s->dx[k])->id] = true;
        for (k = 0; s->y && k < s->n_out; k++) /* sums of processes */
            written[cr_pval_base(s->y[k])->id] = true;
        if (s == e->last_loss)
            break;
    }
    e->loss_grads = CR_NEWS(&e->arena, struct cr_pval *, e->net->n_params + 1);
    for (v = e->vals; v; v = v->next)
        if (v->param >= 0 && v->grad && written[cr_pval_base(v->grad)->id])
            e->loss_grads[e->n_loss_grads++] = cr_pval_base(v->grad);
    e->output_grads = CR_NEWS(&e->arena, struct cr_pval *, e->n_outputs + 1);
    for (i = 0; i < e->n_outputs; i++) {
        g = output_grad(e->outputs[i]);
        if (g && (g->seed || written[cr_pval_base(g)->id]))
            e->output_grads[e->n_output_grads++] = cr_pval_base(g);
    }
}

/* The value of a parameter after its update by the step. */
static struct cr_pval *updated(struct cr_exec *e, struct cr_exec_step *s,
                               struct cr_pval *param)
{
    struct cr_pval *v = cr_pval_new(e, &param->spec);

    v->maker = s;
    v->alias = param;
    v->root = true;
    return v;
}

/* Whether the one writer of a gradient can update the parameter itself; `read`
 * is the last step that reads it. */
static bool update_directly(struct cr_exec *e, struct cr_pval *val,
                            const struct cr_exec_step *read)
{
    struct cr_pval *g = val->grad;
    struct cr_exec_step *w = g->maker;
    int i;

    if (cr_plan_updates_last(e) || is_shared(e, val->param) ||
        !e->net->rule->is_plain_sgd || !w || g->root ||
        w->kind != CR_BACKWARD || (e->last_loss && w->at <= e->last_loss->at) ||
        (read && read->at > w->at) ||
        e->net->hyper[val->param].weight_decay != 0)
        return false;
    for (i = 0; i < w->n_in; i++)
        if (w->dx[i] == g && !w->acc[i].val &&
            cr_step_accepts(w, CR_X(i), CR_END_SCALE)) {
            w->direct[i] = val->param;
            g->maker = NULL;
            cr_operand_set(&w->acc[i], val);
            w->dx[i] = updated(e, w, val);
            return true;
        }
    return false;
}

/* Whether no step after w writes to the memory of a value. */
static bool rests(const struct cr_exec_step *w, struct cr_pval *val)
{
    const struct cr_pval *base = cr_pval_base(val);
    const struct cr_exec_step *s;
    int i;

    for (s = w->next; s; s = s->next) {
        for (i = 0; s->y && i < s->n_out; i++)
            if (s->y[i] && cr_pval_base(s->y[i]) == base)
                return false;
        for (i = 0; s->dx && i < s->n_in; i++)
            if (s->dx[i] && cr_pval_base(s->dx[i]) == base)
                return false;
    }
    return true;
}

/* Whether the one writer of a gradient, of a gather of fewer rows than the
 * table has, can update these rows itself; `read` as above. Where updates come
 * last it does so there, if it finds its operands as they are now. Of a table
 * that processes share they must have waited for one another: for the rows of
 * all. */
static bool update_gathered(struct cr_exec *e, struct cr_pval *val,
                            const struct cr_exec_step *read)
{
    struct cr_pval *g = val->grad;
    struct cr_exec_step *w = g->maker;

    if ((is_shared(e, val->param) && !e->split) ||
        !cr_plan_takes_rows(e, val, read, e->last_loss) ||
        cr_count(&w->in[1]) >= w->in[0].dim[0] ||
        (cr_plan_updates_last(e) &&
         !(rests(w, w->dy[0].val) && rests(w, w->x[1].val))))
        return false;
    if (cr_plan_updates_last(e)) {
        if (w != e->last)
            cr_step_after(e, w, e->last);
        e->n_backward--;
    }
    w->kind = CR_UPDATE;
    w->param = val->param;
    g->maker = NULL;
    cr_operand_set(&w->acc[0], val);
    w->dx[0] = updated(e, w, val);
    w->scratch = cr_row_gradient_scratch(cr_count(&w->in[1]));
    w->thread_scratch =
        (size_t)(cr_count(&w->in[0]) / w->in[0].dim[0]) * sizeof(cr_real);
    return true;
}

static struct cr_exec_step *later(struct cr_exec_step *a,
                                  struct cr_exec_step *b)
{
    return !a ? b : !b || b->at < a->at ? a : b;
}

/* The step that writes a gradient last, through views; NULL: none does. */
static struct cr_exec_step *writer(const struct cr_pval *g)
{
    while (g && !g->maker)
        g = g->alias;
    return g ? g->maker : NULL;
}

/* The step after which the update of val goes: the last one that writes its
 * gradient (none: all), reads the parameter, or belongs to the loss. */
static struct cr_exec_step *update_after(const struct cr_exec *e,
                                         const struct cr_pval *val,
                                         struct cr_exec_step *read,
                                         struct cr_exec_step *last)
{
    struct cr_exec_step *w = writer(val->grad);

    if (cr_plan_updates_last(e) || is_shared(e, val->param) || !w)
        return last;
    return later(later(w, read), e->last_loss);
}

/* Adds the update of val after that step; NULL: at the end. */
static void update_add(struct cr_exec *e, struct cr_pval *val,
                       struct cr_exec_step *after)
{
    struct cr_exec_step *s = cr_step_new(e, CR_UPDATE, NULL, 1, 1);

    s->param = val->param;
    cr_operand_set(&s->dy[0], val->grad);
    cr_operand_set(&s->acc[0], val);
    s->dx[0] = updated(e, s, val);
    while (after && after->next && after->next->kind == CR_UPDATE)
        after = after->next;
    if (after)
        cr_step_after(e, s, after);
    else
        cr_step_append(e, s);
}

bool cr_plan_update_steps(struct cr_exec *e)
{
    struct cr_exec_step *last = e->last, *after, **read, *s;
    const struct cr_val *v;

    cr_steps_number(e);
    e->n_backward = e->n_steps;
    e->meet = -1;
    loss_grads_find(e);
    if (!e->opts.update)
        return true;
    read = cr_plan_last_reads(e);
    for (v = e->graph->vals; v; v = v->next) {
        struct cr_pval *val = e->of[v->id];

        if (v->param < 0 || !e->net->params[v->param].trained || !val->grad ||
            update_directly(e, val, read[v->param]) ||
            update_gathered(e, val, read[v->param]))
            continue;
        after = update_after(e, val, read[v->param], last);
        update_add(e, val, after == last ? NULL : after);
    }
    cr_steps_number(e);
    if (!cr_plan_updates_last(e))
        e->n_backward = e->n_steps;
    for (s = e->last; s && !e->opts.separate_update; s = s->prev)
        if (s->kind == CR_UPDATE && is_shared(e, s->param))
            e->meet = !s->op ? s->at : e->meet < 0 ? e->n_steps : e->meet;
    return true;
}
