/*
 * The two ends of the backward pass: the columns and parameters whose
 * gradients are asked for, and the values at which it begins, the loss or the
 * network's results.
 */
#include "plan/plan.h"

static bool trains(const struct cr_exec *e, int param)
{
    return !e->net->params[param].statistic &&
           (e->net->params[param].trained || e->opts.eager);
}

bool cr_plan_wrt(const struct cr_exec *e, const struct cr_val *v)
{
    const struct cr_exec_opts *want = &e->opts;

    if (v->spec.type != CR_REAL)
        return false;
    if (v->param >= 0)
        return want->wrt_params ? want->wrt_params[v->param]
                                : e->net->params[v->param].trained;
    return want->wrt_columns ? want->wrt_columns[v->feed] : want->inputs;
}

/* Whether its gradient is computed. */
bool cr_plan_source_needs(const struct cr_exec *e, const struct cr_val *v)
{
    if (!(e->opts.backward || e->opts.hold) || v->spec.type != CR_REAL)
        return false;
    if (cr_plan_wrt(e, v))
        return true;
    if (v->param < 0)
        return e->opts.eager || e->opts.observe;
    return (!e->opts.wrt_params || e->opts.update || e->opts.eager) &&
           trains(e, v->param);
}

bool cr_plan_aux(const struct cr_exec *e)
{
    return e->opts.loss && (e->opts.backward || e->opts.keep_outputs ||
                            e->opts.eager || e->net->joint);
}

/* A value at which the backward pass begins: false, nothing wants its
 * gradient. */
static bool seed_make(struct cr_exec *e, struct cr_pval *val)
{
    struct cr_seed *seed = &e->seeds[e->n_seeds++];
    struct cr_pval *g;

    seed->val = val;
    if (!val->needs)
        return false;
    g = seed->grad = cr_plan_grad(e, val);
    g->seed = true;
    g->root = true;
    return true;
}

bool cr_plan_seeds(struct cr_exec *e)
{
    bool any = false;
    int i;

    e->seeds = CR_NEWS(&e->arena, struct cr_seed, e->n_outputs + e->n_aux + 1);
    for (i = 0; i < e->n_outputs && e->opts.results; i++)
        any = seed_make(e, e->outputs[i]) || any;
    if (e->opts.results)
        return any;
    any = seed_make(e, e->loss);
    for (i = 0; i < e->n_aux && e->net->joint; i++)
        any = seed_make(e, e->aux[i]) || any;
    return any;
}

/* The gradient of such a value: `scale`, times what is given for each
 * element. */
static bool seed_fill(const struct cr_seed *seed, double scale, bool add)
{
    int64_t k, n = cr_count(&seed->val->spec);
    cr_real *to;

    if (!seed->grad)
        return false; /* nothing is trained */
    to = cr_pval_base(seed->grad)->data;
    for (k = 0; k < n; k++) {
        double v = seed->sens ? scale * (double)seed->sens[k] : scale;

        to[k] = (cr_real)(add ? to[k] + v : v);
    }
    return true;
}

bool cr_plan_seeds_fill(struct cr_exec *e, double scale)
{
    bool any = false;
    int i, k;

    for (i = 0; i < e->n_seeds; i++) {
        for (k = 0; k < i && e->seeds[k].val != e->seeds[i].val; k++)
            ; /* a value may be returned twice */
        any = seed_fill(&e->seeds[i], scale, k < i) || any;
    }
    return any;
}

void cr_exec_sens(struct cr_exec *e, int i, const cr_real *sens)
{
    if (e->printer)
        cr_exec_sens(e->printer, i, sens);
    if (e->observed)
        cr_exec_sens(e->observed, i, sens);
    if (i < e->n_seeds && e->opts.results)
        e->seeds[i].sens = sens;
}
