#include "net/plan.h"

#include <assert.h>
#include <string.h>

static int pval_new(struct cr_exec *e, const struct cr_spec *spec)
{
    struct cr_pval *v;

    if (e->n_vals == e->cap_vals) {
        int room = 2 * e->cap_vals + 64;

        e->vals = cr_grow(&e->arena, e->vals, (size_t)e->n_vals, (size_t)room,
                          sizeof *e->vals);
        e->cap_vals = room;
    }
    v = &e->vals[e->n_vals];
    *v = (struct cr_pval){ .spec = *spec,
                           .bytes = cr_bytes(spec),
                           .feed = -1,
                           .param = -1,
                           .alias = -1,
                           .other = -1,
                           .grad = -1,
                           .writer = -1,
                           .maker = -1,
                           .first = -1,
                           .last = -1 };
    return e->n_vals++;
}

struct cr_exec_step *cr_plan_new(struct cr_exec *e, enum cr_exec_step_kind kind,
                                 const struct cr_opnode *node)
{
    struct cr_exec_step *s;
    int i;

    if (e->n_steps == e->cap_steps) {
        int room = 2 * e->cap_steps + 32;

        e->steps = cr_grow(&e->arena, e->steps, (size_t)e->n_steps,
                           (size_t)room, sizeof *e->steps);
        e->cap_steps = room;
    }
    s = &e->steps[e->n_steps++];
    *s = (struct cr_exec_step){
        .kind = kind, .node = node, .param = -1, .saved = -1
    };
    if (node) {
        s->op = node->op;
        s->n_in = node->n_in;
    }
    for (i = 0; i < CR_OP_MAX; i++)
        s->x[i] = s->y[i] = s->dy[i] = s->dx[i] = s->mask[i] = s->direct[i] =
            -1;
    return s;
}

/* The value whose memory this one has. */
int cr_plan_base(const struct cr_exec *e, int val)
{
    while (val >= 0 && e->vals[val].alias >= 0)
        val = e->vals[val].alias;
    return val;
}

static void cut(struct cr_exec *e, const struct cr_opnode *node,
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

/* ---- forward ---- */

/* Moving statistics of the node that stay as they are. */
static bool still(const struct cr_exec *e, const struct cr_exec_step *s)
{
    int i;

    for (i = 0; i < s->n_in; i++)
        if ((s->op->running_stats & CR_X(i)) && s->x[i] >= 0 &&
            e->vals[s->x[i]].param >= 0 &&
            e->net->params[e->vals[s->x[i]].param].stats_frozen)
            return true;
    return false;
}

static bool infer(struct cr_exec *e, struct cr_exec_step *s,
                  const struct cr_opnode *node)
{
    bool training = e->opts.training && !node->predict && !still(e, s);
    struct cr_spec *in = CR_NEWS(&e->arena, struct cr_spec, CR_OP_MAX);
    struct cr_spec *out = CR_NEWS(&e->arena, struct cr_spec, CR_OP_MAX);
    struct cr_bound *computed = NULL;
    struct cr_op_plan plan;
    int i;

    for (i = 0; i < node->n_in; i++)
        in[i] = s->x[i] >= 0 ? e->vals[s->x[i]].spec
                             : (struct cr_spec){ .rank = -1 };
    if (!cr_op_infer(&e->arena, e->net->diag, node, training, in, &plan, out))
        return false;
    s->n_out = plan.n_out;
    s->saved_bytes = plan.saved;
    s->scratch = plan.scratch;
    s->thread_scratch = plan.thread_scratch;
    s->macs = plan.macs;
    s->same = plan.same && !e->opts.eager;
    s->run.attr = node->attr;
    s->run.in = in;
    s->run.out = out;
    s->run.training = training;
    s->bounds = NULL;
    for (i = 0; i < node->n_in; i++) {
        if (!plan.bound[i].set || s->x[i] < 0)
            continue;
        if (e->vals[s->x[i]].feed >= 0) {
            e->bounds[e->n_bounds].node = node;
            e->bounds[e->n_bounds].column = e->vals[s->x[i]].feed;
            e->bounds[e->n_bounds++].bound = plan.bound[i];
        } else if (plan.bound[i].computed) {
            if (!computed)
                computed = CR_NEWS(&e->arena, struct cr_bound, CR_OP_MAX);
            computed[i] = plan.bound[i];
            s->bounds = computed;
        }
    }
    return true;
}

/* Feeds and parameters. */
static void sources_make(struct cr_exec *e)
{
    const struct cr_val *v;

    for (v = e->graph->vals; v; v = v->next) {
        int p;

        e->of[v->id] = -1;
        if (v->producer)
            continue;
        p = e->of[v->id] = pval_new(e, &v->spec);
        e->vals[p].feed = v->feed;
        e->vals[p].param = v->param;
        e->vals[p].root = true;
        e->vals[p].needs = cr_plan_source_needs(e, v);
    }
}

/* Whether a gradient passes the step to one of the inputs that need one. */
static bool passes(const struct cr_exec *e, const struct cr_exec_step *s)
{
    const struct cr_custom_grad *c = s->node ? s->node->custom : NULL;
    bool some = false;
    int i;

    for (i = 0; i < s->n_out; i++)
        some = some || s->run.out[i].type == CR_REAL;
    if (!some || !s->op->backward)
        return false;
    for (i = 0; c && i < s->n_in; i++)
        if (c->grad[i] && e->vals[s->x[i]].needs)
            return true;
    return !c;
}

/* What a step makes, once its op has planned it. */
static void outputs_make(struct cr_exec *e, struct cr_exec_step *s)
{
    bool needs = false, held;
    int i;

    for (i = 0; i < s->n_in; i++)
        if (s->x[i] >= 0) {
            e->vals[s->x[i]].uses++;
            needs = needs || e->vals[s->x[i]].needs;
        }
    held = e->opts.hold && needs && !passes(e, s);
    if (held) {
        s->once = true;
        s->same = false; /* the input changes later */
    }
    for (i = 0; i < s->n_out; i++) {
        int y = pval_new(e, &s->run.out[i]);

        s->y[i] = y;
        e->vals[y].root = held;
        e->vals[y].needs = needs && !held && s->op->backward &&
                           s->run.out[i].type == CR_REAL;
    }
    e->vals[s->y[0]].maker = (int)(s - e->steps);
    if (s->same)
        e->vals[s->y[0]].alias = s->x[0];
    if (s->saved_bytes > 0) {
        struct cr_spec bytes = { .type = CR_U8,
                                 .rank = 1,
                                 .dim = { (int64_t)s->saved_bytes } };

        s->saved = pval_new(e, &bytes);
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

/* The same value in that layout: itself, or what a reorder makes of it. */
int cr_plan_in_layout(struct cr_exec *e, int val, enum cr_layout layout)
{
    struct cr_opnode node = { .op = cr_op_find("reorder"), .n_in = 1 };
    struct cr_exec_step *s;

    if (val < 0 || e->vals[val].spec.layout == layout)
        return val;
    if (e->vals[val].other < 0) {
        s = cr_plan_new(e, CR_FORWARD, &node);
        s->node = NULL;
        s->x[0] = val;
        infer(e, s, &node);
        outputs_make(e, s);
        e->vals[val].other = s->y[0];
        e->vals[s->y[0]].other = val;
    }
    return e->vals[val].other;
}

/* Whether a layout is a question for this input at all. */
static bool has_layout(const struct cr_exec *e, int val)
{
    return val >= 0 && e->vals[val].param < 0 &&
           e->vals[val].spec.type == CR_REAL && e->vals[val].spec.rank >= 3;
}

static bool one_shape(const struct cr_exec *e, const struct cr_exec_step *s)
{
    int i;

    for (i = 0; i < s->n_in; i++)
        if (!has_layout(e, s->x[i]) ||
            !cr_spec_same(&e->vals[s->x[i]].spec, &e->vals[s->x[0]].spec))
            return false;
    return true;
}

static bool prefers_last(struct cr_exec *e, const struct cr_exec_step *s,
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
        in[i] = s->x[i] >= 0 ? e->vals[s->x[i]].spec
                             : (struct cr_spec){ .rank = -1 };
    return s->op->prefers_last && s->op->prefers_last(&plan);
}

/* The layout in which a node takes its inputs. */
static enum cr_layout layout_for(struct cr_exec *e,
                                 const struct cr_exec_step *s,
                                 const struct cr_opnode *node)
{
    int i;

    if (e->opts.eager || s->n_in == 0 || !has_layout(e, s->x[0]))
        return CR_ROW_MAJOR;
    if (s->op->layouts == CR_LAYOUT_LAST)
        return e->vals[s->x[0]].spec.layout == CR_CHANNELS_LAST ||
                       prefers_last(e, s, node)
                   ? CR_CHANNELS_LAST
                   : CR_ROW_MAJOR;
    if (s->op->layouts == CR_LAYOUT_FLAT && one_shape(e, s))
        for (i = 0; i < s->n_in; i++)
            if (e->vals[s->x[i]].spec.layout == CR_CHANNELS_LAST)
                return CR_CHANNELS_LAST;
    return CR_ROW_MAJOR;
}

/* A kernel, say, whether it is a parameter or computed. */
static bool stays_plain(const struct cr_op *op, int i)
{
    return op->layouts == CR_LAYOUT_LAST && i > 0 && !(op->fuses_add & CR_X(i));
}

bool cr_plan_node(struct cr_exec *e, const struct cr_opnode *node)
{
    struct cr_exec_step s = { .op = node->op, .n_in = node->n_in }, *made;
    const struct cr_val *same = cr_plan_shortcut(e, node);
    enum cr_layout layout;
    int i;

    if (same) {
        e->of[node->out[0]->id] = e->of[same->id];
        return true;
    }
    for (i = 0; i < node->n_in; i++)
        s.x[i] = node->in[i] ? e->of[node->in[i]->id] : -1;
    layout = layout_for(e, &s, node);
    for (i = 0; i < node->n_in; i++)
        if (layout == CR_ROW_MAJOR || stays_plain(node->op, i))
            s.x[i] = cr_plan_in_layout(e, s.x[i], CR_ROW_MAJOR);
        else if (has_layout(e, s.x[i]))
            s.x[i] = cr_plan_in_layout(e, s.x[i], CR_CHANNELS_LAST);
    made = cr_plan_new(e, CR_FORWARD, node);
    for (i = 0; i < node->n_in; i++)
        made->x[i] = s.x[i];
    if (!infer(e, made, node))
        return false;
    if (layout == CR_CHANNELS_LAST && node->op->layouts == CR_LAYOUT_FLAT)
        for (i = 0; i < made->n_out; i++)
            ((struct cr_spec *)(uintptr_t)made->run.out)[i].layout =
                CR_CHANNELS_LAST;
    outputs_make(e, made);
    for (i = 0; i < node->n_out; i++)
        e->of[node->out[i]->id] = made->y[i];
    return true;
}

/* A value that is read from outside: plain, and never reused. */
static int result_of(struct cr_exec *e, const struct cr_val *v)
{
    int val = cr_plan_in_layout(e, e->of[v->id], CR_ROW_MAJOR);

    e->vals[val].root = true;
    return val;
}

/* Feeds and parameters come first; then a step per node. */
static bool forward_make(struct cr_exec *e)
{
    const struct cr_named *result = e->graph->results.first, *aux;
    const struct cr_val *at = cr_graph_at(e->graph, e->opts.at);
    const struct cr_opnode *node;
    const bool *live = cr_plan_live(e);
    bool ends = cr_plan_ends(e);
    int i = 0;

    sources_make(e);
    for (node = e->graph->nodes; node; node = node->next)
        if (live[i++] && !cr_plan_node(e, node))
            return false;
    e->outputs = CR_NEWS(&e->arena, int, e->graph->results.n);
    for (; result && ends; result = result->next)
        e->outputs[e->n_outputs++] = result_of(e, result->val);
    e->loss = e->opts.loss && ends ? result_of(e, e->graph->loss) : -1;
    e->aux = CR_NEWS(&e->arena, int, e->graph->aux.n + 1);
    aux = e->graph->aux.first;
    for (; aux && ends && cr_plan_aux(e); aux = aux->next)
        e->aux[e->n_aux++] = result_of(e, aux->val);
    e->at = at ? result_of(e, at) : -1;
    e->metrics = CR_NEWS(&e->arena, int, e->graph->n_metrics + 1);
    for (i = 0; i < e->graph->n_metrics && e->opts.metrics && ends; i++)
        e->metrics[i] = result_of(e, e->graph->metrics[i]);
    return true;
}

static void roots_make(struct cr_exec *e, const struct cr_names *names)
{
    const struct cr_named *n;

    for (n = names->first; n; n = n->next)
        if (e->of[n->val->id] >= 0)
            e->vals[e->of[n->val->id]].root = true;
}

/* Steps whose work another one does now. */
static void drop_fused(struct cr_exec *e)
{
    int i, n = 0;

    for (i = 0; i < e->n_steps; i++)
        if (e->steps[i].op)
            e->steps[n++] = e->steps[i];
    e->n_steps = n;
}

/* ---- backward ---- */

/* Whether a plan that keeps no other gradients keeps this one. */
static bool kept(const struct cr_exec *e, int val)
{
    return (e->vals[val].param >= 0 || e->vals[val].feed >= 0) &&
           e->opts.separate_update;
}

int cr_plan_grad(struct cr_exec *e, int val)
{
    if (e->vals[val].grad < 0) {
        int g = pval_new(e, &e->vals[val].spec);

        e->vals[val].grad = g;
        e->vals[g].root = e->opts.keep_outputs || e->opts.eager || kept(e, val);
    }
    return e->vals[val].grad;
}

/* Registers step number `s` as a writer of val's gradient. */
void cr_plan_write(struct cr_exec *e, int s, int i, int val)
{
    int g = cr_plan_grad(e, val);

    e->steps[s].dx[i] = g;
    e->steps[s].accumulate[i] = e->vals[g].writers > 0;
    e->vals[g].writers++;
    e->vals[g].writer = s;
}

static bool elide_view(struct cr_exec *e, const struct cr_exec_step *f)
{
    int x = f->x[0], g = e->vals[f->y[0]].grad, gx;

    if (!f->same || cr_plan_keeps_all(e) || e->vals[x].grad >= 0)
        return false;
    gx = pval_new(e, &e->vals[x].spec);
    e->vals[gx].alias = g;
    e->vals[gx].root = kept(e, x);
    e->vals[gx].writers = e->vals[g].writers;
    e->vals[gx].writer = e->vals[g].writer; /* its update goes behind */
    e->vals[x].grad = gx;
    return true;
}

/* Whether input i of a step is to get a gradient: statistics get none. */
static bool input_needs(const struct cr_exec *e, const struct cr_exec_step *s,
                        int i)
{
    return s->x[i] >= 0 && e->vals[s->x[i]].needs &&
           !(s->op->running_stats & CR_X(i));
}

static bool backward_of(struct cr_exec *e, const struct cr_exec_step *f)
{
    bool wanted = false, arrives = false, nobody, low;
    struct cr_exec_step *s;
    int i, at;

    if (f->node && f->node->custom) {
        if (!cr_plan_custom_grad(e, f, &nobody))
            return false;
        if (nobody)
            cut(e, f->node,
                f->node->hook ? "its hook affects no trainable parameter"
                              : "its bprop affects no trainable parameter");
        return true;
    }
    for (i = 0; i < f->n_out; i++)
        arrives = arrives || e->vals[f->y[i]].grad >= 0;
    for (i = 0; i < f->n_in; i++)
        wanted = wanted || input_needs(e, f, i);
    if (!arrives)
        return true;
    if (!f->op->backward || !wanted) {
        cut(e, f->node,
            f->op->backward ? "no trainable parameter before it"
                            : "it blocks gradients");
        return true;
    }
    if (f->act != CR_ACT_NONE && !f->op->fuses_act_backward)
        cr_plan_act_backward(e, f);
    if (elide_view(e, f))
        return true;
    low = cr_plan_low_backward(e, f);
    s = cr_plan_new(e, CR_BACKWARD, f->node);
    at = e->n_steps - 1;
    s->op = f->op;
    s->n_in = f->n_in;
    s->n_out = f->n_out;
    s->run = f->run;
    s->run.bf16 = low;
    s->saved = f->saved;
    s->scratch = f->scratch;
    s->thread_scratch = f->thread_scratch;
    s->macs = f->macs;
    if (f->op->fuses_act_backward)
        s->act = f->act;
    for (i = 0; i < f->n_in; i++)
        if (f->op->saved_for_backward & CR_X(i))
            s->x[i] = f->x[i];
    for (i = 0; i < f->n_out; i++) {
        if ((f->op->saved_for_backward & CR_Y(i)) ||
            (i == 0 && s->act != CR_ACT_NONE))
            s->y[i] = f->y[i];
        s->dy[i] = e->vals[f->y[i]].grad;
    }
    for (i = 0; i < f->n_in; i++)
        if (input_needs(e, f, i))
            cr_plan_write(e, at, i, f->x[i]);
    cr_plan_low_gave(e, f, at);
    return true;
}

static bool backward_make(struct cr_exec *e)
{
    struct cr_exec_step *forward;
    int i, n = e->n_steps;

    if (!e->opts.backward)
        return true;
    e->pruned = CR_NEWS(&e->arena, struct cr_pruned, e->graph->n_nodes + 1);
    e->pruned_cells = CR_NEWS(&e->arena, bool, e->net->n_cells + 1);
    if (!cr_plan_seeds(e))
        return true;
    /* cr_plan_new may move the array: work on a copy */
    forward = cr_grow(&e->arena, e->steps, (size_t)n, (size_t)n + 1,
                      sizeof *forward);
    for (i = n - 1; i >= 0; i--)
        if (!backward_of(e, &forward[i]))
            return false;
    return true;
}

/* What is not wanted is not computed: a frozen cell still passes gradients,
 * but only to something trained. Called after backward_make, for summary. */
static void note_cuts(struct cr_exec *e)
{
    bool *back = CR_NEWS(&e->arena, bool, e->graph->n_vals + 1);
    int i, k;

    for (i = e->n_forward; i < e->n_steps; i++)
        if (e->steps[i].node)
            back[e->steps[i].node->out[0]->id] = true;
    for (i = 0; i < e->n_forward; i++) {
        const struct cr_exec_step *f = &e->steps[i];
        bool trained = false;

        for (k = 0; k < f->n_in; k++)
            trained = trained || (f->x[k] >= 0 && e->vals[f->x[k]].needs);
        if (f->node && !back[f->node->out[0]->id] && !trained &&
            f->op->backward && !f->same && !f->node->loss &&
            e->net->cells[f->node->cell].leaf)
            cut(e, f->node, "no trainable parameter in it or before it");
    }
}

/* ---- updates ---- */

static bool separate(const struct cr_exec *e)
{
    return e->opts.separate_update || cr_plan_keeps_all(e);
}

/* The end of the loss's backward pass, and the gradients of parameters that
 * it writes: all of them are checked before the first update of a step. */
static void loss_grads_find(struct cr_exec *e)
{
    bool *written = CR_NEWS(&e->arena, bool, e->n_vals + 1);
    int i, k, g;

    for (e->n_loss = e->n_steps; e->n_loss > e->n_forward; e->n_loss--)
        if (e->steps[e->n_loss - 1].node &&
            e->steps[e->n_loss - 1].node->loss)
            break;
    for (i = e->n_forward; i < e->n_loss; i++)
        for (k = 0; k < e->steps[i].n_in; k++)
            if (e->steps[i].dx[k] >= 0)
                written[cr_plan_base(e, e->steps[i].dx[k])] = true;
    e->loss_grads = CR_NEWS(&e->arena, int, e->net->n_params + 1);
    for (i = 0; i < e->n_vals; i++) {
        g = e->vals[i].param >= 0 ? cr_plan_base(e, e->vals[i].grad) : -1;
        if (g >= 0 && written[g])
            e->loss_grads[e->n_loss_grads++] = g;
    }
}

/* Whether the one writer of a gradient can update the parameter itself. */
static bool update_directly(struct cr_exec *e, int val)
{
    const struct cr_pval *v = &e->vals[val], *g = &e->vals[v->grad];
    struct cr_exec_step *w;
    int i;

    if (separate(e) || !e->net->rule->is_plain_sgd || v->uses != 1 ||
        g->writers != 1 || g->writer < e->n_loss || g->root ||
        e->net->hyper[v->param].weight_decay != 0)
        return false;
    w = &e->steps[g->writer];
    for (i = 0; i < w->n_in; i++)
        if (w->dx[i] == v->grad && (w->op->scales & CR_X(i))) {
            w->direct[i] = v->param;
            w->accumulate[i] = true;
            w->dx[i] = val;
            return true;
        }
    return false;
}

static void updates_make(struct cr_exec *e)
{
    const struct cr_val *v;
    struct cr_exec_step *s;

    if (!e->opts.update)
        return;
    for (v = e->graph->vals; v; v = v->next) {
        int val = e->of[v->id];

        if (v->param < 0 || !e->net->params[v->param].trained ||
            e->vals[val].grad < 0 || update_directly(e, val))
            continue;
        s = cr_plan_new(e, CR_UPDATE, NULL);
        s->param = v->param;
        s->dy[0] = e->vals[val].grad;
    }
}

static void read_at(const struct cr_exec *e, int *last, int val, int step)
{
    int base = cr_plan_base(e, val);

    if (base >= 0 && e->vals[base].param >= 0)
        last[e->vals[base].param] = step;
}

/* The last step of the backward pass that reads each parameter; -1: none. A
 * step may read one whose gradient it does not write: behind stop_gradient, or
 * in a bprop's text. */
static int *last_reads(struct cr_exec *e)
{
    int *last = CR_NEWS(&e->arena, int, e->net->n_params + 1);
    int i, k;

    for (i = 0; i < e->net->n_params; i++)
        last[i] = -1;
    for (i = e->n_forward; i < e->n_backward; i++)
        for (k = 0; k < CR_OP_MAX; k++) {
            const struct cr_exec_step *s = &e->steps[i];

            read_at(e, last, s->x[k], i);
            read_at(e, last, s->y[k], i);
            read_at(e, last, s->dy[k], i);
        }
    return last;
}

/* The step after which an update may go: the last one that writes its
 * gradient (none: all), reads the parameter, or belongs to the loss. `read`
 * is what last_reads returns. */
static int update_after(const struct cr_exec *e, const struct cr_exec_step *s,
                        const int *read)
{
    int w = e->vals[s->dy[0]].writer, after = w < 0 ? e->n_backward - 1 : w;

    if (after < read[s->param])
        after = read[s->param];
    if (after < e->n_loss - 1)
        after = e->n_loss - 1;
    return after;
}

/* An update goes right behind the last writer of its gradient, while that
 * is in the cache; unless updates are held back to the end. */
static void updates_move(struct cr_exec *e)
{
    struct cr_exec_step *sorted;
    int *read, *first, *next; /* the updates after a step, as lists */
    int i, k, n = 0;

    if (separate(e))
        return;
    sorted = CR_NEWS(&e->arena, struct cr_exec_step, e->n_steps + 1);
    read = last_reads(e);
    first = CR_NEWS(&e->arena, int, e->n_backward + 1);
    next = CR_NEWS(&e->arena, int, e->n_steps + 1);
    for (i = 0; i <= e->n_backward; i++)
        first[i] = -1;
    for (k = e->n_steps - 1; k >= e->n_backward; k--) {
        int *list = &first[update_after(e, &e->steps[k], read) + 1];

        next[k] = *list;
        *list = k;
    }
    for (i = 0; i <= e->n_backward; i++) {
        for (k = first[i]; k >= 0; k = next[k])
            sorted[n++] = e->steps[k];
        if (i < e->n_backward)
            sorted[n++] = e->steps[i];
    }
    assert(n == e->n_steps);
    e->steps = sorted;
    e->n_backward = n;
}

bool cr_plan_make(struct cr_exec *e)
{
    e->of = CR_NEWS(&e->arena, int, e->graph->n_vals + 1);
    e->bounds = cr_alloc(&e->arena,
                         (size_t)(e->graph->n_nodes + 1) * CR_OP_MAX,
                         sizeof *e->bounds);
    if (!forward_make(e))
        return false;
    if (cr_plan_keeps_all(e)) {
        roots_make(e, &e->graph->named);
        roots_make(e, &e->graph->seen);
    } else if (!e->opts.backward && !e->prints && !cr_plan_fold(e)) {
        return false;
    }
    cr_plan_low(e);
    if (!cr_plan_keeps_all(e) && !e->prints)
        cr_plan_fuse(e);
    drop_fused(e);
    e->n_forward = e->n_steps;
    if (!backward_make(e))
        return false;
    if (e->pruned)
        note_cuts(e);
    e->n_backward = e->n_steps;
    loss_grads_find(e);
    updates_make(e);
    updates_move(e);
    return true;
}
