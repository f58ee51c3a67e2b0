/*
 * The backward pass: for each forward step, from the last to the first, one
 * step that runs the op's backward kernel, if a gradient arrives at it and
 * somebody wants what it gives.
 */
#include "plan/plan.h"

/* Notes, for summary, that a cell has no backward pass. */
static void prune(struct cr_exec *e, const struct cr_opnode *node,
                  const char *reason)
{
    if (!node || (node->hook && !node->custom))
        return; /* what a hook computes is no part of the cell */
    if (e->pruned_cells[node->cell])
        return;
    e->pruned_cells[node->cell] = true;
    e->pruned[e->n_pruned++] =
        (struct cr_pruned){ e->net->cells[node->cell].name, reason,
                            node->hook };
}

/* Whether a plan that keeps no other gradients keeps this one. */
static bool kept(const struct cr_exec *e, const struct cr_pval *val)
{
    return (val->param >= 0 || val->feed >= 0) && e->opts.separate_update &&
           !e->opts.private_gradients;
}

struct cr_pval *cr_plan_grad(struct cr_exec *e, struct cr_pval *val)
{
    if (!val->grad) {
        val->grad = cr_pval_new(e, &val->spec);
        val->grad->root =
            e->opts.keep_outputs || e->opts.eager || kept(e, val);
    }
    return val->grad;
}

void cr_plan_write(struct cr_exec *e, struct cr_exec_step *s, int i,
                   struct cr_pval *val)
{
    struct cr_pval *before = val->grad, *g;

    val->grad = NULL;
    g = cr_plan_grad(e, val);
    if (before) {
        cr_operand_set(&s->acc[i], before);
        g->alias = before;
        g->root = before->root;
    }
    g->maker = s;
    s->dx[i] = g;
}

/* A view's gradient is a view of what arrives. */
static bool elide_view(struct cr_exec *e, const struct cr_exec_step *f)
{
    struct cr_pval *x = f->x[0].val;

    if (!f->same || cr_plan_keeps_all(e) || x->grad)
        return false;
    x->grad = cr_pval_new(e, &x->spec);
    x->grad->alias = f->y[0]->grad;
    x->grad->root = kept(e, x);
    return true;
}

/* Whether input i of a step is to get a gradient: statistics get none. */
static bool input_needs(const struct cr_exec_step *s, int i)
{
    return s->x[i].val && s->x[i].val->needs &&
           !(s->op->running_stats & CR_X(i));
}

/* Whether the gradient of an activation in step f is no part of f's own. */
static bool act_apart(const struct cr_exec_step *f)
{
    return f->end.act && !cr_step_accepts(f, CR_Y(0), CR_END_BACKWARD);
}

/* Whether those of dropout, a late bias or an addend are none. */
static bool end_apart(const struct cr_exec_step *f)
{
    return (f->end.parts & (CR_END_DROP | CR_END_LATE_BIAS)) ||
           ((f->end.parts & CR_END_ADD) &&
            !cr_step_accepts(f, CR_Y(0), CR_END_BACKWARD));
}

/* Whether some input of f needs a gradient, but for those of other steps. */
static bool any_needs(const struct cr_exec_step *f, unsigned others)
{
    int i;

    for (i = 0; i < f->n_in; i++)
        if (!(others & CR_X(i)) && input_needs(f, i))
            return true;
    return false;
}

/* The step that runs the backward kernel of step f. */
static struct cr_exec_step *backward_step(struct cr_exec *e,
                                          const struct cr_exec_step *f)
{
    struct cr_exec_step *s =
        cr_step_new(e, CR_BACKWARD, f->op, f->n_in, f->n_out);
    int i;

    s->node = f->node;
    s->attr = f->attr;
    s->in = f->in;
    s->out = f->out;
    s->training = f->training;
    s->low = f->low;
    s->rounds = f->rounds;
    s->holds = f->holds | (f->rounds & CR_Y(0));
    cr_operand_set(&s->read_saved, f->saved);
    s->scratch = f->scratch;
    s->thread_scratch = f->thread_scratch;
    s->macs = f->macs;
    s->end = f->end;
    if (act_apart(f) || end_apart(f))
        s->end = (struct cr_step_end){ .parts = f->end.parts & CR_END_SCALE,
                                       .scale = f->end.scale };
    for (i = 0; i < f->n_in; i++)
        if (f->op->saved_for_backward & CR_X(i))
            cr_operand_set(&s->x[i], f->x[i].val);
    for (i = 0; i < f->n_out; i++) {
        if ((f->op->saved_for_backward & CR_Y(i)) ||
            (i == 0 && s->end.act &&
             !cr_step_accepts(f, CR_Y(0), CR_END_MASK_X)))
            cr_operand_set(&s->read_y[i],
                           cr_plan_casts_stored(f, i));
        cr_operand_set(&s->dy[i], f->y[i]->grad);
    }
    return s;
}

static bool backward_custom(struct cr_exec *e, const struct cr_exec_step *f)
{
    bool unwanted;

    if (!cr_plan_custom_grad(e, f, &unwanted))
        return false;
    if (unwanted)
        prune(e, f->node,
              f->node->hook ? "its hook affects no trainable parameter"
                            : "its bprop affects no trainable parameter");
    return true;
}

static bool backward_of(struct cr_exec *e, const struct cr_exec_step *f)
{
    bool arrives = false, apart = end_apart(f);
    unsigned addend = apart ? CR_X(f->op->kernels->addend) : 0;
    unsigned bias = f->end.parts & CR_END_LATE_BIAS ? CR_X(2) : 0, undone = 0;
    struct cr_exec_step *s;
    int i;

    if (f->node && f->node->custom)
        return backward_custom(e, f);
    for (i = 0; i < f->n_out; i++)
        arrives = arrives || f->y[i]->grad;
    if (!arrives)
        return true;
    if (!f->op->backward || !any_needs(f, 0)) {
        prune(e, f->node,
              f->op->backward ? "no trainable parameter before it"
                              : "it blocks gradients");
        return true;
    }
    if (act_apart(f))
        undone = cr_plan_act_backward(e, f);
    if (elide_view(e, f))
        return true;
    if (cr_plan_casts_backward(e, f) || cr_plan_map_backward(e, f))
        return true;
    if (apart)
        cr_plan_apart_backward(e, f, any_needs(f, addend)
                                         ? undone
                                         : undone | CR_END_DROP);
    if (!any_needs(f, addend | bias)) {
        prune(e, f->node, "no trainable parameter before it");
        return true;
    }
    s = backward_step(e, f);
    cr_step_append(e, s);
    for (i = 0; i < f->n_in; i++)
        if (input_needs(f, i) && !cr_plan_casts_partial(e, f, i) &&
            !((addend | bias) & CR_X(i)))
            cr_plan_write(e, s, i, f->x[i].val);
    for (i = 0; i < f->n_in; i++)
        if (input_needs(f, i) && cr_plan_casts_partial(e, f, i))
            cr_plan_casts_write(e, f, s, i);
    cr_plan_casts_done(e, f, s);
    return true;
}

/* What is not wanted is not computed: a frozen cell still passes gradients,
 * but only to something trained. Notes the cells, for summary. */
static void note_pruned(struct cr_exec *e)
{
    bool *back = CR_NEWS(&e->arena, bool, e->graph->n_vals + 1);
    const struct cr_exec_step *f,
        *begin = e->last_forward ? e->last_forward->next : e->first;
    int k;

    for (f = begin; f; f = f->next)
        if (f->node)
            back[f->node->out[0]->id] = true;
    for (f = e->first; f != begin; f = f->next) {
        bool trained = false;

        for (k = 0; k < f->n_in; k++)
            trained = trained || (f->x[k].val && f->x[k].val->needs);
        if (f->node && !back[f->node->out[0]->id] && !trained &&
            f->op->backward && f->op != &cr_op_fake_cast && !f->same &&
            !f->node->loss && e->net->cells[f->node->cell].leaf)
            prune(e, f->node, "no trainable parameter in it or before it");
    }
}

bool cr_plan_gradient(struct cr_exec *e)
{
    const struct cr_exec_step *f;

    e->last_forward = e->last;
    if (!e->opts.backward)
        return true;
    e->pruned = CR_NEWS(&e->arena, struct cr_pruned, e->graph->n_nodes + 1);
    e->pruned_cells = CR_NEWS(&e->arena, bool, e->net->n_cells + 1);
    if (cr_plan_seeds(e))
        for (f = e->last_forward; f; f = f->prev)
            if (!backward_of(e, f))
                return false;
    if (!cr_plan_keeps_all(e))
        cr_plan_casts_share(e);
    note_pruned(e);
    return true;
}
