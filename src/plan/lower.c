/*
 * From the nodes of a graph to forward steps: unused nodes are omitted, and
 * each step takes its inputs in the layout that its op prefers.
 */
#include "plan/plan.h"

#include <string.h>

/* ---- shapes ---- */

/* Whether the node has moving statistics that stay as they are. */
static bool stats_fixed(const struct cr_exec *e, const struct cr_exec_step *s)
{
    int i;

    for (i = 0; i < s->n_in; i++)
        if ((s->op->running_stats & CR_X(i)) && s->x[i].val &&
            s->x[i].val->param >= 0 &&
            e->net->params[s->x[i].val->param].stats_frozen)
            return true;
    return false;
}

static struct cr_spec spec_of(const struct cr_operand *o)
{
    return o->val ? o->val->spec : (struct cr_spec){ .rank = -1 };
}

static struct cr_spec *input_specs(struct cr_exec *e,
                                   const struct cr_exec_step *s)
{
    int most = s->op->max_inputs > s->n_in ? s->op->max_inputs : s->n_in, i;
    int room = cr_step_room(s->op, most);
    struct cr_spec *in = CR_NEWS(&e->arena, struct cr_spec, room + 1);

    for (i = 0; i < s->n_in; i++)
        in[i] = spec_of(&s->x[i]);
    return in;
}

/* Ranges of integer inputs: columns are checked once per batch, computed
 * values before each step. */
static void bounds_keep(struct cr_exec *e, struct cr_exec_step *s,
                        const struct cr_opnode *node,
                        const struct cr_op_plan *plan)
{
    struct cr_bound *computed = NULL;
    int i;

    for (i = 0; i < node->n_in; i++) {
        const struct cr_pval *x = s->x[i].val;

        if (!plan->bound[i].set || !x)
            continue;
        if (x->feed >= 0) {
            e->bounds[e->n_bounds].node = node;
            e->bounds[e->n_bounds].column = x->feed;
            e->bounds[e->n_bounds++].bound = plan->bound[i];
        } else if (plan->bound[i].computed) {
            if (!computed)
                computed = CR_NEWS(&e->arena, struct cr_bound, node->n_in + 1);
            computed[i] = plan->bound[i];
        }
    }
    s->bounds = computed;
}

static bool infer(struct cr_exec *e, struct cr_exec_step *s,
                  const struct cr_opnode *node)
{
    struct cr_spec out[CR_OP_MAX];
    struct cr_op_plan plan;

    memset(out, 0, sizeof out);
    s->training = e->opts.training && !node->predict && !stats_fixed(e, s);
    s->in = input_specs(e, s);
    if (!cr_op_infer(&e->arena, e->net->diag, node, s->training, s->in, &plan,
                     out))
        return false;
    s->attr = node->attr;
    s->n_out = plan.n_out;
    s->out = CR_NEWS(&e->arena, struct cr_spec, plan.n_out + 1);
    memcpy(s->out, out, (size_t)plan.n_out * sizeof *out);
    s->saved_bytes = plan.saved;
    s->scratch = plan.scratch;
    s->thread_scratch = plan.thread_scratch;
    s->macs = plan.macs;
    s->same = plan.same && !e->opts.eager;
    bounds_keep(e, s, node, &plan);
    return true;
}

/* ---- outputs ---- */

/* Whether a gradient passes the step to one of the inputs that need one. */
static bool passes(const struct cr_exec_step *s)
{
    const struct cr_custom_grad *c = s->node ? s->node->custom : NULL;
    bool any = false;
    int i;

    for (i = 0; i < s->n_out; i++)
        any = any || s->out[i].type == CR_REAL;
    if (!any || !s->op->backward)
        return false;
    for (i = 0; c && i < s->n_in; i++)
        if (c->grad[i] && s->x[i].val->needs)
            return true;
    return !c;
}

/* The values that a step writes, once its op has planned it. */
static void outputs_make(struct cr_exec *e, struct cr_exec_step *s)
{
    bool needs = false, held;
    int i;

    for (i = 0; i < s->n_in; i++)
        needs = needs || (s->x[i].val && s->x[i].val->needs);
    held = e->opts.hold && needs && !passes(s);
    if (held) {
        s->once = true;
        s->same = false; /* the input changes later */
    }
    for (i = 0; i < s->n_out; i++) {
        struct cr_pval *y = s->y[i] = cr_pval_new(e, &s->out[i]);

        y->maker = s;
        y->root = held;
        y->needs =
            needs && !held && s->op->backward && s->out[i].type == CR_REAL;
    }
    if (s->same)
        s->y[0]->alias = s->x[0].val;
    if (s->saved_bytes > 0) {
        struct cr_spec bytes = { .type = CR_U8,
                                 .rank = 1,
                                 .dim = { (int64_t)s->saved_bytes } };

        s->saved = cr_pval_new(e, &bytes);
        s->saved->maker = s;
    }
}

bool cr_plan_step(struct cr_exec *e, struct cr_exec_step *s,
                  const struct cr_opnode *node)
{
    if (!infer(e, s, node))
        return false;
    outputs_make(e, s);
    return true;
}

/* ---- layouts ---- */

struct cr_pval *cr_plan_in_layout(struct cr_exec *e, struct cr_pval *val,
                                  enum cr_layout layout)
{
    struct cr_opnode node = { .op = cr_op_find("reorder"), .n_in = 1 };
    struct cr_exec_step *s;

    if (!val || val->spec.layout == layout)
        return val;
    if (!val->other) {
        s = cr_step_new(e, CR_FORWARD, node.op, 1, 1);
        cr_operand_set(&s->x[0], val);
        cr_plan_step(e, s, &node);
        cr_step_append(e, s);
        val->other = s->y[0];
        s->y[0]->other = val;
    }
    return val->other;
}

/* Whether the value may have either layout. */
static bool has_layout(const struct cr_pval *val)
{
    return val && val->param < 0 && val->spec.type == CR_REAL &&
           val->spec.rank >= 3;
}

static bool one_shape(const struct cr_exec_step *s)
{
    int i;

    for (i = 0; i < s->n_in; i++)
        if (!has_layout(s->x[i].val) ||
            !cr_spec_same(&s->x[i].val->spec, &s->x[0].val->spec))
            return false;
    return true;
}

/* The rank of the operand with most dimensions. */
static int rank_of(const struct cr_exec_step *s)
{
    int i, rank = 0;

    for (i = 0; i < s->n_in; i++)
        if (s->x[i].val && s->x[i].val->spec.rank > rank)
            rank = s->x[i].val->spec.rank;
    return rank;
}

/* Whether an operand, broadcast to that rank, lies otherwise in the other
 * layout. */
static bool lies_apart(const struct cr_spec *x, int rank)
{
    int64_t space = 1, channels = 1;
    int i, ones = rank - x->rank;

    for (i = 0; i < x->rank; i++)
        if (i + ones == 1)
            channels = x->dim[i];
        else if (i + ones > 1)
            space *= x->dim[i];
    return space > 1 && channels > 1;
}

/* Whether operands of any shape keep their order where channels are last: one
 * has the result's rank or lies alike in both layouts. */
static bool broadcast(const struct cr_exec_step *s)
{
    int i, rank = rank_of(s);

    for (i = 0; i < s->n_in; i++) {
        const struct cr_spec *x = &s->x[i].val->spec;

        if (lies_apart(x, rank) &&
            (!has_layout(s->x[i].val) || x->rank != rank))
            return false;
    }
    return s->op->kernels && s->op->kernels->broadcasts_last;
}

/* What the kernels say to channels last. */
static enum cr_channels_last takes_last(struct cr_exec *e,
                                        const struct cr_exec_step *s,
                                        const struct cr_opnode *node)
{
    struct cr_spec in[CR_OP_MAX];
    struct cr_op_plan plan = { .attr = node->attr,
                               .arena = &e->arena,
                               .training = e->opts.training && !node->predict,
                               .n_in = s->n_in,
                               .in = in };
    int i;

    for (i = 0; i < s->n_in; i++)
        in[i] = spec_of(&s->x[i]);
    return s->op->kernels->last(&plan);
}

/* Whether there are kernels for channels last. */
static bool in_either_layout(const struct cr_op *op)
{
    return op->kernels && op->kernels->last;
}

/* Whether the op takes a list, as concat does: all have one layout. */
static bool takes_list(const struct cr_op *op)
{
    return op->max_inputs == CR_OP_MAX;
}

/* Whether the inputs that have the step's layout may have either. */
static bool have_layout(const struct cr_exec_step *s)
{
    int i, n = takes_list(s->op) ? s->n_in : 1;

    for (i = 0; i < n; i++)
        if (!has_layout(s->x[i].val))
            return false;
    return true;
}

/* That of an operand which would have to be reordered; one of an elementwise op
 * that lies alike in both has its layout where there are no others. */
static enum cr_layout layout_of_operands(const struct cr_exec_step *s)
{
    enum cr_layout alike = CR_ROW_MAJOR;
    int i, rank = rank_of(s);
    bool apart = false;

    for (i = 0; i < s->n_in; i++) {
        const struct cr_spec *x = &s->x[i].val->spec;
        bool last = x->layout == CR_CHANNELS_LAST && x->rank == rank;

        if (lies_apart(x, rank) && last)
            return CR_CHANNELS_LAST;
        apart = apart || lies_apart(x, rank);
        if (cr_count(x) > 1 && last)
            alike = CR_CHANNELS_LAST;
    }
    return apart ? CR_ROW_MAJOR : alike;
}

/* The layout in which a step takes its inputs. */
static enum cr_layout layout_for(struct cr_exec *e,
                                 const struct cr_exec_step *s,
                                 const struct cr_opnode *node)
{
    if (e->opts.eager || s->n_in == 0)
        return CR_ROW_MAJOR;
    if (in_either_layout(s->op) && have_layout(s))
        switch (takes_last(e, s, node)) {
        case CR_LAST_NEVER:
            return CR_ROW_MAJOR;
        case CR_LAST_TOO:
            return s->x[0].val->spec.layout;
        case CR_LAST_BEST:
            return CR_CHANNELS_LAST;
        }
    if (cr_is_elementwise(s->op) && (one_shape(s) || broadcast(s)))
        return layout_of_operands(s);
    return CR_ROW_MAJOR;
}

/* Whether input i is row-major in every layout of the op: a weight, parameter
 * or computed, and what is broadcast from a lower rank. */
static bool stays_row_major(const struct cr_exec_step *s, int i)
{
    if (in_either_layout(s->op))
        return !takes_list(s->op) && i > 0 && i != s->op->kernels->addend;
    return s->x[i].val && s->x[i].val->spec.rank < rank_of(s);
}

bool cr_plan_node(struct cr_exec *e, const struct cr_opnode *node)
{
    const struct cr_val *same = cr_plan_shortcut(e, node);
    struct cr_exec_step *s;
    enum cr_layout layout;
    int i;

    if (same) {
        e->of[node->out[0]->id] = e->of[same->id];
        return true;
    }
    s = cr_step_new(e, CR_FORWARD, node->op, node->n_in, node->n_out);
    s->node = node;
    for (i = 0; i < node->n_in; i++)
        if (node->in[i] && node->in[i]->id >= 0)
            cr_operand_set(&s->x[i], cr_plan_operand(e, node, i));
    layout = layout_for(e, s, node);
    for (i = 0; i < node->n_in; i++)
        if (layout == CR_ROW_MAJOR || stays_row_major(s, i))
            cr_operand_set(&s->x[i],
                           cr_plan_in_layout(e, s->x[i].val, CR_ROW_MAJOR));
        else if (has_layout(s->x[i].val))
            cr_operand_set(&s->x[i],
                           cr_plan_in_layout(e, s->x[i].val, CR_CHANNELS_LAST));
    cr_step_append(e, s);
    if (!infer(e, s, node))
        return false;
    if (layout == CR_CHANNELS_LAST && cr_is_elementwise(node->op))
        for (i = 0; i < s->n_out; i++)
            s->out[i].layout = CR_CHANNELS_LAST;
    outputs_make(e, s);
    for (i = 0; i < node->n_out; i++) {
        e->of[node->out[i]->id] = s->y[i];
        cr_plan_part(e, node, node->out[i]);
    }
    return true;
}

/* ---- all of them ---- */

/* Columns and parameters. */
static void sources_make(struct cr_exec *e)
{
    const struct cr_val *v;

    for (v = e->graph->vals; v; v = v->next) {
        struct cr_pval *p;

        if (v->producer)
            continue;
        p = e->of[v->id] = cr_pval_new(e, &v->spec);
        p->feed = v->feed;
        p->param = v->param;
        p->root = true;
        p->needs = cr_plan_source_needs(e, v);
        cr_plan_part(e, NULL, v);
    }
}

/* A value that is read from outside: row-major, and never reused. */
static struct cr_pval *read_outside(struct cr_exec *e, struct cr_pval *val)
{
    val = cr_plan_in_layout(e, val, CR_ROW_MAJOR);
    val->root = true;
    return val;
}

static struct cr_pval *result_of(struct cr_exec *e, const struct cr_val *v)
{
    return read_outside(e, cr_plan_whole(e, v));
}

static void roots_make(struct cr_exec *e, const struct cr_names *names)
{
    const struct cr_named *n;

    for (n = names->first; n; n = n->next)
        if (e->of[n->val->id])
            e->of[n->val->id]->root = true;
}

bool cr_plan_lower(struct cr_exec *e)
{
    const struct cr_named *result = e->graph->results.first, *aux;
    const struct cr_val *at = cr_graph_at(e->graph, e->opts.at);
    const struct cr_opnode *node;
    const bool *live = cr_plan_live(e);
    bool ends = cr_plan_ends(e);
    int i = 0;

    e->of = CR_NEWS(&e->arena, struct cr_pval *, e->graph->n_vals + 1);
    e->bounds = cr_alloc(&e->arena, (size_t)(e->graph->n_nodes + 1) * CR_OP_MAX,
                         sizeof *e->bounds);
    sources_make(e);
    for (node = e->graph->nodes; node; node = node->next, i++)
        if (live[i] && !cr_plan_node(e, e->split ? e->split->node[i] : node))
            return false;
    e->outputs = CR_NEWS(&e->arena, struct cr_pval *, e->graph->results.n + 1);
    for (; result && ends; result = result->next)
        e->outputs[e->n_outputs++] =
            read_outside(e, cr_plan_output(e, result->val));
    if (e->opts.loss && ends)
        e->loss = result_of(e, e->graph->loss);
    e->aux = CR_NEWS(&e->arena, struct cr_pval *, e->graph->aux.n + 1);
    aux = e->graph->aux.first;
    for (; aux && ends && cr_plan_aux(e); aux = aux->next)
        e->aux[e->n_aux++] = result_of(e, aux->val);
    e->kept_at = at ? result_of(e, at) : NULL;
    e->metrics = CR_NEWS(&e->arena, struct cr_pval *, e->graph->n_metrics + 1);
    for (i = 0; i < e->graph->n_metrics && e->opts.metrics && ends; i++)
        e->metrics[i] = result_of(e, e->graph->metrics[i]);
    if (cr_plan_keeps_all(e)) {
        roots_make(e, &e->graph->named);
        roots_make(e, &e->graph->seen);
    }
    return true;
}
