/*
 * Tables of which a batch reads a few rows: where the rule leaves rows without
 * a gradient as they are, the backward step of the gather updates the rows that
 * it has read, from what arrives at them, and the table has no gradient.
 *
 * Of several processes, each has the indices of its rows of the batch, and what
 * arrives there. All get those of all, in the order of the batch, and make of
 * them what one process does: that is less to send than a gradient of all rows
 * of the table, and gives the numbers of one process.
 */
#include "mpi/mpi.h"
#include "plan/plan.h"

struct reads {
    struct cr_exec *e;
    struct cr_exec_step **last;
};

static void read_at(void *ctx, struct cr_operand *o)
{
    struct reads *r = ctx;
    const struct cr_pval *base = cr_pval_base(o->val);

    if (base->param >= 0)
        r->last[base->param] = o->step;
}

struct cr_exec_step **cr_plan_last_reads(struct cr_exec *e)
{
    struct reads r = { e, CR_NEWS(&e->arena, struct cr_exec_step *,
                                  e->net->n_params + 1) };
    struct cr_exec_step *s = e->last_forward ? e->last_forward->next : e->first;

    for (; s; s = s->next)
        cr_step_operands(s, &r, read_at);
    return r.last;
}

/* Whether an update of those rows alone gives what one of all rows does. */
static bool rows_suffice(const struct cr_exec *e, int param)
{
    const struct cr_update_rule *rule = e->net->rule;

    return (rule->rows && e->net->params[param].rows) ||
           (rule->is_plain_sgd && e->net->hyper[param].weight_decay == 0);
}

/* Whether rows may be updated: at once, or at the end, where what they are made
 * of is all that waits. */
static bool rows_update(const struct cr_exec *e)
{
    return !cr_plan_updates_last(e) ||
           (e->opts.separate_update && e->opts.private_gradients &&
            !cr_plan_keeps_all(e) && !e->opts.accumulates &&
            cr_mpi_size() == 1);
}

bool cr_plan_takes_rows(const struct cr_exec *e, const struct cr_pval *table,
                        const struct cr_exec_step *read,
                        const struct cr_exec_step *loss)
{
    const struct cr_pval *g = table->grad;
    const struct cr_exec_step *w = g->maker;

    return rows_update(e) && w && w->kind == CR_BACKWARD &&
           w->op->algebra.takes_rows && w->op->algebra.takes_rows(w->attr) &&
           w->dx[0] == g && !w->acc[0].val && !g->root && g->n_uses == 0 &&
           !(loss && w->at <= loss->at) && !(read && read->at > w->at) &&
           rows_suffice(e, table->param);
}

/* ---- of all processes ---- */

/* The axis of the samples in the indices and results of a gather, if it
 * computes the samples of this process; -1: it does not. */
static int samples_axis(const struct cr_exec *e, const struct cr_exec_step *w)
{
    const struct cr_opnode *node = w->node;
    const struct cr_pval *index = w->x[1].val, *dy = w->dy[0].val;
    int axis;

    if (!node || node->batch == e->opts.batch || node->in[1]->id < 0 ||
        !cr_spec_same(&index->spec, &w->in[1]) ||
        !cr_spec_same(&dy->spec, &w->out[0]) || dy->spec.layout != CR_ROW_MAJOR)
        return -1;
    axis = e->split->axis[node->in[1]->id];
    return axis == e->split->axis[node->out[0]->id] ? axis : -1;
}

bool cr_plan_takes_rows_of_all(const struct cr_exec *e,
                               const struct cr_pval *table,
                               const struct cr_exec_step *read,
                               const struct cr_exec_step *loss)
{
    const struct cr_exec_step *w = table->grad->maker;

    return cr_plan_takes_rows(e, table, read, loss) &&
           samples_axis(e, w) >= 0 &&
           cr_count(&w->in[1]) / e->split->n * e->opts.batch < w->in[0].dim[0];
}

/* From then on, the operand and its spec have the samples of all processes. */
static void widen(struct cr_exec *e, struct cr_operand *o, struct cr_spec *spec,
                  int axis)
{
    struct cr_exec_step *w = o->step;

    cr_operand_set(o, cr_plan_all_rows(e, o->val, axis, w));
    *spec = o->val->spec;
}

void cr_plan_take_rows_of_all(struct cr_exec *e, struct cr_exec_step *w)
{
    struct cr_spec *in = CR_NEWS(&e->arena, struct cr_spec, w->n_in + 1);
    struct cr_spec *out = CR_NEWS(&e->arena, struct cr_spec, 2);
    int axis = samples_axis(e, w);

    for (int i = 0; i < w->n_in; i++)
        in[i] = w->in[i];
    w->in = in;
    w->out = out;
    widen(e, &w->x[1], &in[1], axis);
    widen(e, &w->dy[0], &out[0], axis);
}
