/*
 * What a plan is made of, for summary, bench and tests.
 */
#include <string.h>

#include "base/str.h"
#include "run/run.h"

size_t cr_exec_bytes(const struct cr_exec *e)
{
    return e->bytes + e->own_bytes + e->scratch + cr_exec_thread_scratch(e);
}

size_t cr_exec_thread_scratch(const struct cr_exec *e)
{
    return e->thread_scratch * (size_t)e->threads;
}

/* Multiply-adds of a step. A product's gradients, of x and of the weight, are
 * as large as itself. */
static double step_macs(const struct cr_exec_step *s)
{
    double macs = s->kind == CR_FORWARD ? s->macs : 0;
    int k;

    for (k = 0; k < 2 && k < s->n_in && s->kind == CR_BACKWARD; k++)
        macs += s->dx[k] ? s->macs : 0;
    return macs;
}

double cr_exec_macs(const struct cr_exec *e)
{
    double macs = 0;
    int i;

    for (i = 0; i < e->n_steps; i++)
        macs += step_macs(e->steps[i]);
    return macs;
}

double cr_exec_backward_macs(const struct cr_exec *e, double *all)
{
    struct cr_arena mem = { 0 };
    bool *learns = CR_NEWS(&mem, bool, e->graph->n_vals + 1);
    const struct cr_opnode *n;
    const struct cr_val *v;
    double macs = 0;
    int i;

    for (v = e->graph->vals; v; v = v->next)
        learns[v->id] = v->param >= 0 && !e->net->params[v->param].statistic;
    *all = 0;
    for (n = e->graph->nodes; n; n = n->next) {
        bool some = false;

        for (i = 0; i < n->n_in; i++) {
            bool one = n->in[i] && learns[n->in[i]->id];

            some = some || one;
            *all += one && i < 2 && n->op->backward ? n->macs : 0;
        }
        for (i = 0; i < n->n_out; i++)
            learns[n->out[i]->id] = some;
    }
    cr_arena_free(&mem);
    for (i = 0; i < e->n_steps; i++)
        macs += e->steps[i]->kind == CR_BACKWARD ? step_macs(e->steps[i]) : 0;
    return macs;
}

static void add_bytes(void *ctx, struct cr_operand *o)
{
    *(double *)ctx += (double)o->val->bytes;
}

/* What a step reads and writes, if nothing stays in a cache. */
static double step_bytes(const struct cr_exec *e, struct cr_exec_step *s)
{
    double bytes = 0;
    int k;

    if (s->kind == CR_UPDATE)
        return (double)s->dy[0].val->bytes * (3 + 2 * e->net->rule->slots);
    cr_step_operands(s, &bytes, add_bytes);
    for (k = 0; s->y && k < s->n_out; k++)
        bytes += (double)s->y[k]->bytes;
    for (k = 0; s->dx && k < s->n_in; k++)
        bytes += s->dx[k] ? (double)s->dx[k]->bytes : 0;
    return bytes;
}

static const char *step_kernel(const struct cr_exec_step *s)
{
    struct cr_op_ctx ctx = { .attr = s->attr, .in = s->in, .out = s->out,
                             .low = s->low, .rounds = s->rounds,
                             .holds = s->holds };

    return s->op && s->op->kernels && s->op->kernels->name
               ? s->op->kernels->name(&ctx)
               : NULL;
}

const struct cr_exec_step_cost *cr_exec_costs(struct cr_exec *e, int *n)
{
    int i;

    *n = e->n_steps;
    if (e->costs)
        return e->costs;
    e->costs = CR_NEWS(&e->arena, struct cr_exec_step_cost, e->n_steps + 1);
    for (i = 0; i < e->n_steps; i++) {
        struct cr_exec_step *s = e->steps[i];
        struct cr_exec_step_cost *c = &e->costs[i];

        c->back = i >= e->n_forward; /* a bprop's steps run forward there */
        c->op = s->kind == CR_UPDATE ? "update" : s->op->about.name;
        c->cell = s->node ? e->net->cells[s->node->cell].name : "";
        c->node = s->node && s->node->n_out > 0 ? s->node->out[0]->id : -1;
        if (s->kind == CR_UPDATE)
            c->cell = e->net->params[s->param].name;
        if (s->same)
            continue;
        c->kernel = step_kernel(s);
        c->macs = step_macs(s);
        c->bytes = step_bytes(e, s);
    }
    return e->costs;
}

bool cr_exec_range(const struct cr_exec *e, int column, int64_t *low,
                   int64_t *high)
{
    bool any = false;
    int i;

    for (i = 0; i < e->n_bounds; i++) {
        const struct cr_bound *b = &e->bounds[i].bound;

        if (e->bounds[i].column != column)
            continue;
        *low = any && *low > b->low ? *low : b->low;
        *high = any && *high < b->high ? *high : b->high;
        any = true;
    }
    return any && *low < *high;
}

const struct cr_pruned *cr_exec_pruned(const struct cr_exec *e, int *n)
{
    *n = e->n_pruned;
    return e->pruned;
}

size_t cr_exec_value_bytes(const struct cr_exec *e, size_t *live)
{
    *live = cr_plan_live_bytes(e);
    return e->bytes + e->own_bytes;
}

/* Whether a cell is `at` or in it. */
static bool is_within(const char *cell, const char *at)
{
    size_t n = at ? strlen(at) : 0;

    return n == 0 ||
           (strncmp(cell, at, n) == 0 && (cell[n] == '\0' || cell[n] == '.'));
}

const char *cr_exec_dump(const struct cr_exec *e, const char *at,
                         struct cr_arena *arena)
{
    static const char *const kinds[] = { "forward ", "backward", "update  " };
    struct cr_buf b = { .arena = arena };
    enum cr_exec_step_kind kind;
    int i, k;

    for (i = 0; i < e->n_steps; i++) {
        struct cr_exec_step *s = e->steps[i];
        const char *cell = s->kind == CR_UPDATE ? e->net->params[s->param].name
                           : s->node ? e->net->cells[s->node->cell].name
                                     : "";

        if (s->same || !is_within(cell, at))
            continue;
        kind = s->kind == CR_FORWARD && i >= e->n_forward ? CR_BACKWARD
                                                          : s->kind;
        cr_buf_f(&b, "%s %-14s %s", kinds[kind],
                 s->op ? s->op->about.name : "", cell);
        for (k = 0; k < s->n_in; k++)
            if (s->rounds & CR_X(k))
                cr_buf_f(&b, " +fake_cast(%s%d)",
                         s->kind == CR_FORWARD ? "x" : "dx", k);
        if (s->kind == CR_FORWARD && (s->rounds & CR_Y(0)))
            cr_buf_str(&b, " +fake_cast(y)");
        if (s->kind == CR_FORWARD && (s->end.parts & CR_END_SCALE))
            cr_buf_str(&b, " +scale");
        if (s->kind == CR_FORWARD &&
            (s->end.parts & (CR_END_BIAS | CR_END_LATE_BIAS)))
            cr_buf_str(&b, " +bias");
        if (s->kind == CR_FORWARD && (s->end.parts & CR_END_ADD))
            cr_buf_str(&b, " +add");
        if (s->end.act)
            cr_buf_str(&b, " +activation");
        if (s->end.parts & CR_END_DROP)
            cr_buf_str(&b, " +dropout");
        if (s->kind == CR_BACKWARD && !s->end.act && s->read_y[0].val &&
            !(s->op->saved_for_backward & CR_Y(0)))
            cr_buf_str(&b, " +mask");
        for (k = 0; k < s->n_in && s->kind == CR_BACKWARD; k++) {
            if (s->mask[k].val)
                cr_buf_str(&b, s->map_grad ? " +activation" : " +mask");
            if (s->direct[k] >= 0)
                cr_buf_f(&b, " +update(%s)",
                         e->net->params[s->direct[k]].name);
        }
        cr_buf_char(&b, '\n');
    }
    return cr_buf_text(&b);
}

/* The step that makes the first result of a node, or stands in for it. */
static const struct cr_exec_step *made_by(const struct cr_exec *e,
                                          const struct cr_opnode *node)
{
    const struct cr_pval *y = e->of[node->out[0]->id];

    while (y && y->into)
        y = y->into;
    return y && y->maker && y->maker->kind == CR_FORWARD &&
                   y->maker->at < e->n_forward && y->maker->y[0] == y
               ? y->maker
               : NULL;
}

/* The same node of the graph that `e` is made from. */
static const struct cr_opnode *same_node(const struct cr_exec *e,
                                         const struct cr_opnode *node)
{
    const struct cr_opnode *n;

    for (n = e->graph->nodes; n; n = n->next)
        if (n->op == node->op && n->key == node->key && n->loss == node->loss)
            return n;
    return NULL;
}

/* Whether the gradient of a step's activation is a step of its own. */
static bool masks_apart(const struct cr_exec *e, const struct cr_exec_step *f)
{
    int i;

    for (i = e->n_forward; i < e->n_backward; i++) {
        const struct cr_exec_step *s = e->steps[i];

        if (s->kind == CR_BACKWARD &&
            (s->read_y[0].val == f->y[0]
                 ? !s->node || s->op == f->end.act
                 : (f->end.parts & CR_END_KEEP) && s->op == f->end.act &&
                       s->x[0].val == f->saved))
            return true;
    }
    return false;
}

const struct cr_unfused_step *
cr_exec_unfused_steps(struct cr_exec *e, const struct cr_exec *without, int *n)
{
    const struct cr_opnode *node;
    struct cr_unfused_step *to = CR_NEWS(&e->arena, struct cr_unfused_step,
                                         2 * without->graph->n_nodes + 1);

    *n = 0;
    for (node = without->graph->nodes; node; node = node->next) {
        const struct cr_exec_step *was = made_by(without, node), *is;
        const struct cr_opnode *now = same_node(e, node);

        is = now ? made_by(e, now) : NULL;
        if (!was || !was->node || !is)
            continue;
        if (was->node != node && is->node == now) {
            to[(*n)++] = (struct cr_unfused_step){
                .cell = e->net->cells[node->cell].name,
                .op = node->op->about.name,
                .of = e->net->cells[was->node->cell].name,
                .with = was->op->about.name,
            };
        } else if (was->end.act && was->end.act == is->end.act &&
                   was->node != node && masks_apart(e, is) &&
                   !masks_apart(without, was)) {
            to[(*n)++] = (struct cr_unfused_step){
                .cell = e->net->cells[node->cell].name,
                .op = node->op->about.name,
                .of = "",
                .with = "",
                .back = true,
            };
        }
    }
    return to;
}
