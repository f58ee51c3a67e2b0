/*
 * Splitting a plan over the processes of a run (mpi/mpi.h).
 *
 * Each process computes a range of the rows of a batch, samples, as far as no
 * step mixes rows; from there on, and for metrics in any case, each computes
 * all rows. So a loss is that of the whole batch whatever it is: class weights,
 * ignored labels, sums over the batch written in a config. All processes have
 * the same loss to the bit, and take the same decisions.
 *
 * The graph is built for the rows of this process and for all rows, and the
 * two are compared: an axis whose size differs is that of the rows. An op says
 * whether it keeps rows apart (.rows, .rows_apart), batch normalisation with
 * statistics of the batch too, since its sums are taken over all processes; so
 * are those of a cross entropy, whose result is then that of all rows.
 *
 * Where a step of all rows reads what a step of some rows has made, a gather
 * stands in between: its gradient is the rows of this process of the gradient
 * of all. What all processes have alike, parameters above all, passes through
 * a step whose gradient counts in process 0 only. So every gradient of a
 * parameter is a sum over processes (collectives.c).
 */
#include "plan/plan.h"

#include "graph/op_attrs.h"
#include "mpi/mpi.h"

#include <string.h>

/* ---- the axis of rows ---- */

enum {
    AXIS_NONE = -1, /* the same in both graphs */
    AXIS_MANY = -2  /* several axes differ, or not in proportion */
};

/* The axis that tells a value of `rows` rows from one of all rows. */
static int axis_of(const struct cr_spec *own, int64_t rows,
                   const struct cr_spec *all, int64_t all_rows)
{
    int i, axis = AXIS_NONE;

    if (own->rank != all->rank || own->type != all->type)
        return AXIS_MANY;
    for (i = 0; i < own->rank; i++) {
        if (own->dim[i] == all->dim[i])
            continue;
        if (axis != AXIS_NONE ||
            own->dim[i] / rows * all_rows != all->dim[i] ||
            own->dim[i] % rows != 0)
            return AXIS_MANY;
        axis = i;
    }
    return axis;
}

/* ---- a node of both graphs ---- */

struct pair {
    const struct cr_opnode *own, *all;
    const signed char *axis; /* of each value, by id */
};

static int in_axis(const struct pair *p, int i)
{
    const struct cr_val *v = i < p->own->n_in ? p->own->in[i] : NULL;

    return v && v->id >= 0 ? p->axis[v->id] : AXIS_NONE;
}

/* Settings that are numbers, other than those of a shape, are the same. */
static bool numbers_same(const struct pair *p)
{
    const struct cr_opt *row = p->own->op->about.opts;

    for (; row && row->name; row++) {
        const char *a = (const char *)p->own->attr + row->at;
        const char *b = (const char *)p->all->attr + row->at;
        size_t n = row->type == CR_OPT_INT    ? sizeof(int64_t)
                   : row->type == CR_OPT_REAL ? sizeof(double)
                                              : 0;

        if (n > 0 && memcmp(a, b, n) != 0)
            return false;
    }
    return true;
}

/* Whether each input with rows has them at the axis `at` of the output,
 * counted from the last one, or as many of them as the output. */
static bool inputs_fit(const struct pair *p, enum cr_rows rule, int out, int at)
{
    const struct cr_spec *y = &p->own->out[out]->spec;
    int i;

    for (i = 0; i < p->own->n_in; i++) {
        int axis = in_axis(p, i);
        const struct cr_spec *x;

        if (axis == AXIS_NONE)
            continue;
        x = &p->own->in[i]->spec;
        if (axis == AXIS_MANY)
            return false;
        if (rule == CR_ROWS_ALIGN ? x->rank - axis != y->rank - at ||
                                     x->dim[axis] != y->dim[at]
            : rule == CR_ROWS_VIEW ? false
                                : x->dim[axis] != y->dim[at])
            return false;
        if (rule == CR_ROWS_FIRST && axis != 0)
            return false;
    }
    return true;
}

static bool ones_before(const struct cr_spec *s, int axis)
{
    int i;

    for (i = 0; i < axis; i++)
        if (s->dim[i] != 1)
            return false;
    return true;
}

/* Whether the settings of the op keep rows apart, which are the axis `at` of an
 * output; -1: it has none. */
static bool settings_fit(const struct pair *p, int at)
{
    const struct cr_opnode *n = p->own;
    int first = in_axis(p, 0);

    switch (n->op->rows) {
    case CR_ROWS_FIRST:
        return at == 0;
    case CR_ROWS_VIEW:
        return first >= 0 && ones_before(&n->in[0]->spec, first) &&
               ones_before(&n->out[0]->spec, at);
    default:
        return !n->op->rows_apart ||
               n->op->rows_apart(n->attr, &n->in[0]->spec, first, at);
    }
}

/* Whether a process may compute the node from its rows alone. */
static bool keeps_rows(const struct pair *p)
{
    const struct cr_opnode *n = p->own;
    enum cr_rows rule = n->op->rows;
    bool reads = false;
    int i, at;

    if (n->custom || n->hook)
        return false;
    for (i = 0; i < n->n_in; i++)
        reads = reads || in_axis(p, i) != AXIS_NONE;
    for (i = 0; i < n->n_out; i++) {
        at = p->axis[n->out[i]->id];
        if (at == AXIS_NONE && (!reads || rule == CR_ROWS_SHAPE))
            continue; /* what all processes have alike */
        if (rule == CR_ROWS_MIXED || at < 0 || !inputs_fit(p, rule, i, at) ||
            !settings_fit(p, at))
            return false;
        if (!reads && rule != CR_ROWS_FIRST && rule != CR_ROWS_FILL)
            return false;
    }
    return (rule == CR_ROWS_VIEW || numbers_same(p)) && n->n_out > 0;
}

/* Whether the node adds up numbers of its rows, over all processes. */
static bool sums_rows(const struct pair *p)
{
    const struct cr_opnode *n = p->own;
    int i;

    if (n->custom || n->hook || n->op->rows != CR_ROWS_SUM ||
        !settings_fit(p, AXIS_NONE) || !numbers_same(p))
        return false;
    for (i = 0; i < n->n_in; i++)
        if (in_axis(p, i) != 0)
            return false;
    return p->axis[n->out[0]->id] == AXIS_NONE;
}

/* ---- both graphs ---- */

/* Fills the axis of each value of the two graphs; false where these are not
 * made of the same nodes. */
static bool axes_find(const struct cr_graph *own, const struct cr_graph *all,
                      signed char *axis)
{
    const struct cr_val *a = own->vals, *b = all->vals;

    if (own->n_vals != all->n_vals || own->n_nodes != all->n_nodes)
        return false;
    for (; a && b; a = a->next, b = b->next) {
        if (a->id != b->id)
            return false;
        axis[a->id] = (signed char)axis_of(&a->spec, own->batch, &b->spec,
                                           all->batch);
    }
    return !a && !b;
}

static bool nodes_alike(const struct cr_opnode *a, const struct cr_opnode *b)
{
    int i;

    if (a->op != b->op || a->n_in != b->n_in || a->n_out != b->n_out)
        return false;
    for (i = 0; i < a->n_in; i++)
        if (!a->in[i] != !b->in[i] ||
            (a->in[i] && a->in[i]->id != b->in[i]->id))
            return false;
    for (i = 0; i < a->n_out; i++)
        if (a->out[i]->id != b->out[i]->id)
            return false;
    return true;
}

/* A number that a text has made of the size of the batch. */
static bool constant_of_batch(const struct cr_opnode *a,
                              const struct cr_opnode *b)
{
    const struct cr_constant *x = a->attr, *y = b->attr;

    return strcmp(a->op->about.name, "constant") == 0 &&
           (x->value.n != y->value.n ||
            memcmp(x->value.v, y->value.v,
                   (size_t)x->value.n * sizeof *x->value.v) != 0);
}

/* What a process finds out about a node from its graph. Those of others may
 * show more, such as that a number depends on the number of rows: all have the
 * largest value. */
enum finding {
    FOUND_ROWS,  /* keeps rows apart */
    FOUND_SUMS,  /* adds up numbers of its rows, over all processes */
    FOUND_BATCH, /* a constant made of the size of the batch */
    FOUND_MIXES
};

/* The findings of all processes about all nodes; the axes, where they differ,
 * become AXIS_MANY. False if the graphs differ in one process. */
static bool findings(struct cr_exec *e, const struct cr_graph *own, int64_t *is)
{
    const struct cr_opnode *a = own->nodes, *b = e->graph->nodes;
    signed char *axis = e->split->axis;
    int64_t *low = CR_NEWS(&e->arena, int64_t, 2 * own->n_vals + 1);
    int64_t *high = low + own->n_vals;
    bool ok = axes_find(own, e->graph, axis);
    int i;

    for (i = 0; i < own->n_vals && ok; i++) {
        high[i] = axis[i];
        low[i] = -axis[i];
    }
    if (!cr_mpi_all(ok))
        return false;
    cr_mpi_max(low, 2 * own->n_vals);
    for (i = 0; i < own->n_vals; i++)
        if (high[i] != -low[i])
            axis[i] = AXIS_MANY;
    for (i = 0; a && b && ok; a = a->next, b = b->next, i++) {
        struct pair p = { a, b, axis };

        ok = nodes_alike(a, b);
        if (ok)
            is[i] = constant_of_batch(a, b) ? FOUND_BATCH
                    : keeps_rows(&p)        ? FOUND_ROWS
                    : sums_rows(&p)         ? FOUND_SUMS
                                            : FOUND_MIXES;
    }
    if (!cr_mpi_all(ok))
        return false;
    cr_mpi_max(is, own->n_nodes);
    return true;
}

/* Chooses of which graph each node is. False where the graphs differ. */
static bool nodes_choose(struct cr_exec *e, const struct cr_graph *own,
                         const struct cr_opnode **mixes)
{
    const struct cr_opnode *a = own->nodes, *b = e->graph->nodes;
    bool *whole = CR_NEWS(&e->arena, bool, own->n_vals + 1);
    int64_t *is = CR_NEWS(&e->arena, int64_t, own->n_nodes + 1);
    int i, k;

    if (!findings(e, own, is))
        return false;
    for (i = 0; a && b; a = a->next, b = b->next, i++) {
        bool all = b->metric;

        for (k = 0; k < b->n_in; k++)
            all = all || (b->in[k] && b->in[k]->id >= 0 && whole[b->in[k]->id]);
        if (is[i] == FOUND_BATCH) {
            e->split->node[i] = b; /* the size of the whole batch */
            continue;
        }
        if (b->op->prints && b->n_out == 0) {
            e->split->node[i] = b; /* in plans that print alone */
            continue;
        }
        if (!all && is[i] == FOUND_MIXES) {
            all = true;
            if (!*mixes && !b->loss)
                *mixes = b;
        }
        e->split->node[i] = all ? b : a;
        for (k = 0; k < b->n_out; k++) {
            whole[b->out[k]->id] = all || is[i] == FOUND_SUMS;
            e->split->total[b->out[k]->id] = !all && is[i] == FOUND_SUMS;
        }
    }
    return true;
}

/* The graph for some rows; NULL if the network computes other numbers of
 * samples in no process. */
static const struct cr_graph *graph_of_rows(struct cr_exec *e, int64_t n)
{
    struct cr_net *net = e->net;
    struct cr_diag *diag = net->diag, quiet = { .arena = diag->arena };
    const struct cr_graph *own;

    net->diag = &quiet;
    own = cr_net_graph(net, n, e->opts.columns, e->graph->hooks,
                       e->graph->training);
    net->diag = diag;
    return own;
}

static void say_mixes(struct cr_exec *e, const struct cr_opnode *node)
{
    if (e->net->split_noted)
        return;
    e->net->split_noted = true;
    cr_warn(e->net->diag, node->pos, CR_E_NOT_SHARED,
            "'%s' mixes the samples of a batch: from here on, each process of "
            "mpirun computes the whole batch",
            node->op->about.name);
    if (cr_op_find(node->op->about.name) != node->op)
        cr_hint(e->net->diag, "if this cell of a plug-in does not, let it say "
                              "CELLRUN_SAMPLES_APART (cellrun.h)");
}

bool cr_plan_split(struct cr_exec *e)
{
    const struct cr_opnode *mixes = NULL;
    const struct cr_graph *own;
    struct cr_split *s;
    int64_t first, n;

    if (cr_mpi_size() == 1 || !e->opts.shared || e->prints ||
        !cr_mpi_shares(e->opts.batch) || cr_plan_keeps_all(e) || e->opts.at ||
        e->opts.results)
        return true;
    cr_mpi_rows(e->opts.batch, cr_mpi_rank(), &first, &n);
    own = graph_of_rows(e, n);
    if (!cr_mpi_all(own != NULL)) { /* it has the batch size in it */
        say_mixes(e, e->graph->nodes);
        return true;
    }
    s = e->split = CR_NEW(&e->arena, struct cr_split);
    s->first = first;
    s->n = n;
    s->axis = CR_NEWS(&e->arena, signed char, own->n_vals + 1);
    s->total = CR_NEWS(&e->arena, bool, own->n_vals + 1);
    s->node = CR_NEWS(&e->arena, const struct cr_opnode *, own->n_nodes + 1);
    s->whole = CR_NEWS(&e->arena, struct cr_pval *, own->n_vals + 1);
    if (!nodes_choose(e, own, &mixes)) {
        e->split = NULL; /* each process computes all rows */
        mixes = e->graph->nodes;
    }
    if (mixes)
        say_mixes(e, mixes);
    return true;
}

/* ---- from some rows to all ---- */

struct rows {
    int64_t rows, first, n; /* of the batch; of this process */
    int64_t outer;          /* elements before the axis of rows */
    size_t bytes;           /* of a row, after it */
};

/* From the rows of each process one after another, to those of all along the
 * axis. */
static void rows_merge(const struct rows *o, const char *from, char *to)
{
    size_t all = (size_t)o->rows * o->bytes;
    int64_t i, first, n;

    for (int r = 0; r < cr_mpi_size(); r++) {
        cr_mpi_rows(o->rows, r, &first, &n);
        for (i = 0; i < o->outer; i++, from += (size_t)n * o->bytes)
            memcpy(to + (size_t)i * all + (size_t)first * o->bytes, from,
                   (size_t)n * o->bytes);
    }
}

static void gather_forward(const struct cr_op_ctx *s)
{
    const struct rows *o = s->attr;
    size_t each = (size_t)o->outer * o->bytes;
    char *all = o->outer == 1 ? s->y[0] : s->scratch;

    memcpy(all + (size_t)o->first * each, s->x[0], (size_t)o->n * each);
    cr_mpi_gather_rows(all, o->rows, each);
    if (all != s->y[0])
        rows_merge(o, all, s->y[0]);
}

static void add_or_store(bool add, const cr_real *from, int64_t n, cr_real *to)
{
    int64_t i;

    for (i = 0; i < n; i++)
        to[i] = add ? to[i] + from[i] : from[i];
}

static void gather_backward(const struct cr_op_ctx *s)
{
    const struct rows *o = s->attr;
    int64_t each = (int64_t)(o->bytes / sizeof(cr_real)), i;
    const cr_real *dy = s->dy[0];
    cr_real *dx = s->dx[0];

    for (i = 0; i < o->outer; i++)
        add_or_store(s->accumulate[0], dy + (i * o->rows + o->first) * each,
                     o->n * each, dx + i * o->n * each);
}

static void alike_forward(const struct cr_op_ctx *s)
{
    memcpy(s->y[0], s->x[0], cr_bytes(&s->in[0]));
}

static void alike_backward(const struct cr_op_ctx *s)
{
    int64_t n = cr_count(&s->in[0]);

    if (cr_mpi_rank() == 0)
        add_or_store(s->accumulate[0], s->dy[0], n, s->dx[0]);
    else if (!s->accumulate[0])
        memset(s->dx[0], 0, (size_t)n * sizeof(cr_real));
}

/* An op of one input and one output, for this pass alone. */
#define SPLIT_OP(op, text, what, does, undoes)                            \
    static const struct cr_op op = {                                      \
        .about = { .name = (text), .summary = (what), .internal = true }, \
        .min_inputs = 1,                                                  \
        .max_inputs = 1,                                                  \
        .outputs = 1,                                                     \
        .int_inputs = CR_X(0),                                            \
        .forward = (does),                                                \
        .backward = (undoes),                                             \
    }

SPLIT_OP(op_gather, "all_gather", "The rows of all processes.", gather_forward,
         gather_backward);
SPLIT_OP(op_alike, "alike",
         "What all processes have alike, for their common part.",
         alike_forward, alike_backward);

/* A step that makes `to` of `from`. */
static struct cr_pval *step_between(struct cr_exec *e, const struct cr_op *op,
                                    const void *attr, struct cr_pval *from,
                                    const struct cr_spec *to)
{
    struct cr_exec_step *s = cr_step_new(e, CR_FORWARD, op, 1, 1);

    cr_operand_set(&s->x[0], from);
    s->attr = attr;
    s->in = CR_NEWS(&e->arena, struct cr_spec, 2);
    s->out = CR_NEWS(&e->arena, struct cr_spec, 2);
    s->in[0] = from->spec;
    s->out[0] = *to;
    s->training = e->opts.training;
    s->y[0] = cr_pval_new(e, to);
    s->y[0]->maker = s;
    s->y[0]->needs = from->needs && to->type == CR_REAL;
    cr_step_append(e, s);
    return s->y[0];
}

static struct cr_pval *gathered(struct cr_exec *e, struct cr_pval *x, int axis)
{
    struct rows *o = CR_NEW(&e->arena, struct rows);
    struct cr_spec all;
    int64_t inner = 1;
    int i;

    x = cr_plan_in_layout(e, x, CR_ROW_MAJOR);
    all = x->spec;
    o->rows = e->opts.batch;
    o->first = e->split->first;
    o->n = e->split->n;
    o->outer = 1;
    for (i = 0; i < axis; i++)
        o->outer *= all.dim[i];
    for (i = axis + 1; i < all.rank; i++)
        inner *= all.dim[i];
    inner *= all.dim[axis] / o->n;
    o->bytes = (size_t)inner * cr_type_size(all.type);
    all.dim[axis] = all.dim[axis] / o->n * o->rows;
    x = step_between(e, &op_gather, o, x, &all);
    if (o->outer > 1)
        x->maker->scratch = x->bytes;
    return x;
}

struct cr_pval *cr_plan_all_rows(struct cr_exec *e, struct cr_pval *x, int axis,
                                 struct cr_exec_step *before)
{
    struct cr_pval *all = gathered(e, x, axis);

    cr_step_before(e, all->maker, before);
    return all;
}

/* A column, as far as all rows of it are read. */
static struct cr_pval *column_whole(struct cr_exec *e, const struct cr_pval *x)
{
    struct cr_spec all = x->spec;
    struct cr_pval *v;

    all.dim[0] = all.dim[0] / e->split->n * e->opts.batch;
    v = cr_pval_new(e, &all);
    v->feed = x->feed;
    v->root = true;
    return v;
}

/* Whether input k of a node is a moving statistic, which a step of all rows
 * updates in each process alike. */
static bool is_statistic(const struct cr_opnode *node, int k)
{
    return node && (node->op->running_stats & CR_X(k)) != 0;
}

struct cr_pval *cr_plan_whole(struct cr_exec *e, const struct cr_val *v)
{
    struct cr_pval *x = e->of[v->id], **whole;
    int axis;

    if (!e->split || x->part == CR_PART_WHOLE)
        return x;
    whole = &e->split->whole[v->id];
    axis = e->split->axis[v->id];
    if (!*whole && x->part == CR_PART_ALIKE)
        *whole = x->needs ? step_between(e, &op_alike, NULL, x, &x->spec) : x;
    else if (!*whole && x->feed >= 0 && !x->needs)
        *whole = column_whole(e, x);
    else if (!*whole)
        *whole = gathered(e, x, axis);
    return *whole;
}

struct cr_pval *cr_plan_output(struct cr_exec *e, const struct cr_val *v)
{
    struct cr_pval *x = e->of[v->id];

    if (!e->split || !e->opts.update || x->part == CR_PART_WHOLE ||
        e->split->whole[v->id])
        return cr_plan_whole(e, v);
    e->local_outputs = true;
    return x;
}

struct cr_pval *cr_plan_operand(struct cr_exec *e, const struct cr_opnode *node,
                                int k)
{
    const struct cr_val *v = node->in[k];

    if (!v || v->id < 0)
        return NULL;
    if (!e->split || node->batch != e->opts.batch || is_statistic(node, k))
        return e->of[v->id];
    return cr_plan_whole(e, v);
}

void cr_plan_part(struct cr_exec *e, const struct cr_opnode *node,
                  const struct cr_val *v)
{
    struct cr_pval *x = e->of[v->id];

    if (!e->split || !x || e->split->total[v->id] ||
        (node && node->batch == e->opts.batch))
        return;
    x->part = e->split->axis[v->id] >= 0 ? CR_PART_ROWS : CR_PART_ALIKE;
    if (!node && x->feed >= 0) {
        x->part = CR_PART_ROWS;
        x->spec.dim[0] = x->spec.dim[0] / e->opts.batch * e->split->n;
        x->bytes = cr_bytes(&x->spec);
        x->feed_offset = (size_t)e->split->first * x->bytes /
                         (size_t)e->split->n;
    }
}

bool cr_exec_local_column(const struct cr_exec *e, int column)
{
    const struct cr_val *v = e->graph->feeds[column];

    return e->split && !e->printer && !e->observed &&
           (!v || !e->split->whole[v->id]);
}
