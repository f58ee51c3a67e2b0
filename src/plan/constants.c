/*
 * Values that are the same for every batch: those computed from parameters
 * alone. Where parameters do not change either (prediction), they are computed
 * in the first forward pass only, and weights are brought into the form that
 * kernels read fastest (struct cr_prepare).
 */
#include "plan/plan.h"

/* ---- constants ---- */

static bool constant(const struct cr_pval *v)
{
    while (v && v->alias)
        v = v->alias;
    return !v || v->param >= 0 || (v->maker && v->maker->constant);
}

/* Plug-ins may keep a state. */
static bool step_constant(const struct cr_exec_step *s)
{
    int i;

    if (s->op->running_stats || s->op->draws || s->op->prints ||
        (s->op != &cr_op_fake_cast &&
         cr_registry_find(CR_KIND_OP, s->op->about.name) != &s->op->about))
        return false;
    for (i = 0; i < s->n_in; i++)
        if (!constant(s->x[i].val))
            return false;
    return true;
}

/* A value that is computed once keeps its memory, unless it is only what
 * another such value is made of (forget). */
void cr_plan_constant(struct cr_exec *e, struct cr_exec_step *s)
{
    int i;

    s->constant = step_constant(s);
    if (!s->constant || !e->opts.const_params || e->opts.training)
        return;
    s->once = true;
    for (i = 0; i < s->n_out; i++) {
        s->y[i]->once = !s->y[i]->root;
        s->y[i]->root = true;
    }
}

bool cr_plan_constants(struct cr_exec *e)
{
    struct cr_exec_step *s;

    if (e->opts.backward || e->prints || cr_plan_keeps_all(e))
        return true;
    for (s = e->first; s; s = s->next)
        cr_plan_constant(e, s);
    return true;
}

/* ---- prepared inputs ---- */

static struct cr_op_ctx context(const struct cr_exec_step *s)
{
    return (struct cr_op_ctx){ .attr = s->attr,
                               .in = s->in,
                               .out = s->out,
                               .low = s->low,
                               .holds = s->holds,
                               .rounds = s->rounds };
}

static bool prepare_plan(struct cr_op_plan *p)
{
    const struct cr_exec_step *of = p->attr;
    struct cr_op_ctx ctx = context(of);

    p->out[0] = (struct cr_spec){
        .type = CR_U8,
        .rank = 1,
        .dim = { (int64_t)of->op->kernels->prepare->bytes(&ctx) }
    };
    return true;
}

static void prepare_forward(const struct cr_op_ctx *s)
{
    const struct cr_exec_step *of = s->attr;
    struct cr_op_ctx ctx = context(of);

    ctx.x[of->op->kernels->prepare->from] = s->x[0];
    of->op->kernels->prepare->run(&ctx, s->y[0]);
}

/* Its attribute is the step that reads the result. */
static const struct cr_op prepare = {
    .about = { .name = "prepare",
               .summary = "Weight in the form that a kernel reads." },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .plan = prepare_plan,
    .forward = prepare_forward,
};

static bool prepares(const struct cr_exec_step *s)
{
    const struct cr_prepare *p =
        s->op->kernels ? s->op->kernels->prepare : NULL;
    struct cr_op_ctx ctx = context(s);

    return p && !s->once && constant(s->x[p->from].val) && p->bytes(&ctx) > 0;
}

/* The cast whose result an operand is, if it is computed once and nothing
 * outside reads it; NULL: it is none. */
static struct cr_exec_step *rounded_by(const struct cr_operand *from)
{
    struct cr_exec_step *cast = from->val->maker;

    return cast && cast->once && cast->op == &cr_op_fake_cast && from->val->once
               ? cast
               : NULL;
}

/* The step reads what step `made` makes of its operand, and the operand's
 * values no more: those of a cast are room for a while only, or none, if that
 * step rounds a parameter itself. */
static void forget(struct cr_exec *e, struct cr_operand *from,
                   struct cr_exec_step *made)
{
    struct cr_exec_step *cast = rounded_by(from);
    struct cr_pval *rounded = from->val;

    if (!cast)
        return;
    cr_operand_set(from, cast->x[0].val);
    if (from->step->op->kernels->prepare->rounds)
        cr_operand_set(&made->x[0], cast->x[0].val);
    if (rounded->n_uses == 0)
        cr_step_remove(e, cast);
    else if (rounded->n_uses == 1 && rounded->uses->step == made)
        rounded->root = rounded->once = false;
}

static bool lie_alike(const struct cr_spec *a, const struct cr_spec *b)
{
    return a->rank == b->rank && a->layout == b->layout &&
           (a->rank < 0 || cr_spec_same(a, b));
}

/* Whether two steps prepare equal values alike: what they add is of no
 * account. */
static bool prepare_alike(const struct cr_exec_step *a,
                          const struct cr_exec_step *b)
{
    int i;

    if (a->op != b->op || a->low != b->low || a->holds != b->holds ||
        a->rounds != b->rounds ||
        !cr_opts_same(a->op->about.opts, a->attr, b->attr))
        return false;
    for (i = 0; i < a->op->max_inputs; i++)
        if (!lie_alike(&a->in[i], &b->in[i]))
            return false;
    return lie_alike(&a->out[0], &b->out[0]);
}

/* The step that prepares the operand, for this step or an earlier one that
 * reads the same: a cell that is called again. NULL: none does yet. */
static struct cr_exec_step *made_for(const struct cr_operand *from)
{
    const struct cr_exec_step *cast = rounded_by(from);
    const struct cr_operand *o =
        cast && from->step->op->kernels->prepare->rounds ? cast->x[0].val->uses
                                                         : from->val->uses;

    for (; o; o = o->next)
        if (o->step->op == &prepare && prepare_alike(o->step->attr, from->step))
            return o->step;
    return NULL;
}

static struct cr_exec_step *make_for(struct cr_exec *e, struct cr_operand *from)
{
    struct cr_opnode node = { .op = &prepare, .n_in = 1, .attr = from->step };
    struct cr_exec_step *p = cr_step_new(e, CR_FORWARD, &prepare, 1, 1);

    cr_operand_set(&p->x[0], from->val);
    if (!cr_plan_step(e, p, &node))
        return NULL;
    p->constant = p->once = true;
    p->y[0]->root = true;
    cr_step_before(e, p, from->step);
    return p;
}

bool cr_plan_prepare(struct cr_exec *e)
{
    struct cr_exec_step *s, *p;
    struct cr_operand *from;
    int as;

    if (!e->opts.const_params || e->opts.training || e->opts.backward)
        return true;
    for (s = e->first; s; s = s->next) {
        if (!prepares(s))
            continue;
        as = s->op->kernels->prepare->as;
        from = &s->x[s->op->kernels->prepare->from];
        p = made_for(from);
        if (!p && !(p = make_for(e, from)))
            return false;
        cr_operand_set(&s->x[as], p->y[0]);
        s->in[as] = p->y[0]->spec;
        forget(e, from, p);
        if (s->n_in <= as)
            s->n_in = as + 1;
    }
    return true;
}
