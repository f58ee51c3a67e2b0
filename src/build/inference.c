#include "build/inference.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/name_map.h"
#include "base/str.h"
#include "base/thread_pool.h"
#include "construct/script_interp.h"
#include "graph/graph.h"

enum { THIRD_BATCH = 5 }; /* verifies what the other two give */

struct inference {
    struct cr_net *net;
    struct cr_arena *arena;
    struct cr_inference to;
    struct cr_inference_val *vals;
    struct cr_inference_node *nodes;
    const struct cr_graph *graph[3];
    struct cr_opnode **node[3]; /* of each graph, in order: without those of
                                   gradients (bprop), which n_nodes counts */
    int n_nodes[3];
    struct cr_val **val[3];     /* by id */
    int *of;                    /* id of a value -> index into vals; -1 */
    struct cr_name_map names;
};

/* ---- Attributes */

static const struct cr_opt *attr_row(const struct cr_op *op, const char *name)
{
    const struct cr_opt *row = op->about.opts;

    while (row && row->name && strcmp(row->name, name) != 0)
        row++;
    return row && row->name ? row : NULL;
}

bool cr_inference_has(const struct cr_inference_node *node, const char *name)
{
    return attr_row(node->op, name) != NULL;
}

static const void *attr_field(const struct cr_inference_node *node,
                              const char *name, enum cr_opt_type type,
                              const struct cr_opt **row)
{
    *row = attr_row(node->op, name);
    assert(*row && (*row)->type == type);
    (void)type;
    return node->attr ? (const char *)node->attr + (*row)->at : NULL;
}

int64_t cr_inference_int(const struct cr_inference_node *node, const char *name)
{
    const struct cr_opt *row;
    const int64_t *v = attr_field(node, name, CR_OPT_INT, &row);

    return v ? *v : row->need == CR_DEFAULT ? row->int_default : CR_INT_NONE;
}

double cr_inference_real(const struct cr_inference_node *node, const char *name)
{
    const struct cr_opt *row;
    const double *v = attr_field(node, name, CR_OPT_REAL, &row);

    return v ? *v : row->need == CR_DEFAULT ? row->real_default : NAN;
}

bool cr_inference_bool(const struct cr_inference_node *node, const char *name)
{
    const struct cr_opt *row;
    const unsigned char *v = attr_field(node, name, CR_OPT_BOOL, &row);

    return v ? *v == 1 : row->need == CR_DEFAULT && row->int_default;
}

const char *cr_inference_enum(struct cr_arena *arena,
                              const struct cr_inference_node *node,
                              const char *name)
{
    const struct cr_opt *row;
    const int *v = attr_field(node, name, CR_OPT_ENUM, &row);
    int left = v ? *v : (int)row->int_default;
    const char *at = row->choices;

    while (left-- > 0)
        at = strchr(at, '|') + 1;
    return cr_strndup(arena, at, strcspn(at, "|"));
}

struct cr_ints cr_inference_ints(const struct cr_inference_node *node,
                                 const char *name)
{
    const struct cr_opt *row;
    const struct cr_ints *v = attr_field(node, name, CR_OPT_INTS, &row);

    return v ? *v : (struct cr_ints){ 0 };
}

struct cr_reals cr_inference_reals(const struct cr_inference_node *node,
                                   const char *name)
{
    const struct cr_opt *row;
    const struct cr_reals *v = attr_field(node, name, CR_OPT_REALS, &row);

    return v ? *v : (struct cr_reals){ 0 };
}

/* ---- The graphs */

/* Builds the graph for one batch size, and its nodes and values by number. */
static bool inference_graph(struct inference *f, int which, int64_t batch)
{
    const struct cr_exec_opts want = { .batch = batch };
    struct cr_graph *g = cr_net_graph(f->net, batch, NULL,
                                      cr_hooks_for(f->net, &want), false);
    int n = 0;

    if (!g) {
        cr_note(f->net->diag, "export builds the network for %d, %d and %d "
                "samples", CR_INFERENCE_BATCH, CR_INFERENCE_OTHER_BATCH,
                THIRD_BATCH);
        return false;
    }
    f->graph[which] = g;
    f->node[which] = CR_NEWS(f->arena, struct cr_opnode *, g->n_nodes + 1);
    f->val[which] = CR_NEWS(f->arena, struct cr_val *, g->n_vals + 1);
    for (struct cr_opnode *node = g->nodes; node; node = node->next)
        f->node[which][n++] = node;
    f->n_nodes[which] = n;
    for (struct cr_val *v = g->vals; v; v = v->next)
        f->val[which][v->id] = v;
    return true;
}

/* Whether the graphs for all batch sizes have the same nodes. */
static bool inference_alike(const struct inference *f)
{
    const struct cr_graph *a = f->graph[0];

    for (int k = 1; k < 3; k++) {
        if (f->n_nodes[k] != f->n_nodes[0] ||
            f->graph[k]->n_vals != a->n_vals)
            return false;
        for (int i = 0; i < f->n_nodes[0]; i++)
            if (f->node[k][i]->op != f->node[0][i]->op)
                return false;
        for (int i = 0; i < a->n_vals; i++)
            if (f->val[k][i]->spec.rank != f->val[0][i]->spec.rank)
                return false;
    }
    return true;
}

/* Whether an op only gives its input on in predict mode. */
static bool inference_passes(const struct cr_opnode *node)
{
    static const char *const names[] = { "dropout", "dropout_planes", "state",
                                         "stop_gradient" };

    if (node->op == &cr_op_hook || node->op == &cr_op_bprop ||
        node->op == &cr_op_observe)
        return true;
    for (size_t i = 0; i < CR_LEN(names); i++)
        if (strcmp(node->op->about.name, names[i]) == 0)
            return true;
    return false;
}

static const struct cr_val *inference_source(const struct cr_val *v)
{
    while (v->producer && inference_passes(v->producer))
        v = v->producer->in[0];
    return v;
}

/* Whether the results depend only on dimensions of the inputs, none of which is
 * the batch size: then the inputs are omitted. */
static bool inference_reads_shapes(const struct inference *f,
                                   const struct cr_opnode *node)
{
    static const char *const names[] = { "causal_mask", "ones_like",
                                         "zeros_like" };

    for (size_t i = 0; i < CR_LEN(names); i++)
        if (strcmp(node->op->about.name, names[i]) == 0)
            return cr_spec_same(&node->out[0]->spec,
                                &f->val[1][node->out[0]->id]->spec);
    return false;
}

/* The nodes on which a result depends. */
static const bool *inference_live(const struct inference *f)
{
    const struct cr_graph *g = f->graph[0];
    bool *wanted = CR_NEWS(f->arena, bool, g->n_vals + 1);
    bool *live = CR_NEWS(f->arena, bool, g->n_nodes + 1);

    for (const struct cr_named *r = g->results.first; r; r = r->next)
        wanted[inference_source(r->val)->id] = true;
    for (int n = f->n_nodes[0]; n-- > 0;) {
        const struct cr_opnode *node = f->node[0][n];

        for (int i = 0; i < node->n_out; i++)
            live[n] = live[n] || wanted[node->out[i]->id];
        for (int i = 0; live[n] && i < node->n_in; i++)
            if (node->in[i] && !inference_reads_shapes(f, node))
                wanted[inference_source(node->in[i])->id] = true;
    }
    return live;
}

/* ---- Values */

static const char *inference_name(struct inference *f, const char *name)
{
    const char *unique = name;

    for (int i = 1; cr_name_map_get(&f->names, unique) >= 0; i++)
        unique = cr_strf(f->arena, "%s_%d", name, i);
    cr_name_map_add(f->arena, &f->names, unique, 0);
    return unique;
}

/* Adds the value, whose dimensions follow from the three graphs. -1 after
 * reporting. */
static int inference_val(struct inference *f, const struct cr_val *v,
                         const char *name)
{
    struct cr_inference_val *to = &f->vals[f->to.n_vals];
    const int64_t *d[3];

    *to = (struct cr_inference_val){ .name = inference_name(f, name),
                                     .spec = v->spec,
                                     .param = -1,
                                     .input = -1,
                                     .producer = -1 };
    for (int k = 0; k < 3; k++)
        d[k] = f->val[k][v->id]->spec.dim;
    for (int i = 0; i < v->spec.rank; i++) {
        int64_t each = (d[1][i] - d[0][i]) /
                       (CR_INFERENCE_OTHER_BATCH - CR_INFERENCE_BATCH);

        to->per_sample[i] = each;
        to->fixed[i] = d[0][i] - each * CR_INFERENCE_BATCH;
        to->batch = to->batch || each != 0;
        if (d[2][i] != to->fixed[i] + each * THIRD_BATCH) {
            cr_error(f->net->diag,
                     v->producer ? v->producer->pos : CR_NOWHERE, CR_E_NETWORK,
                     "export: dimension %d of '%s' is not a linear function of "
                     "the batch size",
                     i, to->name);
            return -1;
        }
    }
    f->of[v->id] = f->to.n_vals;
    return f->to.n_vals++;
}

/* The value that a node reads; parameters and columns are added when they are
 * read first. -1 after reporting. */
static int inference_read(struct inference *f, const struct cr_val *v)
{
    const struct cr_param *param;
    int at;

    v = inference_source(v);
    if (f->of[v->id] < 0) {
        assert(!v->producer && (v->param >= 0 || v->feed >= 0));
        param = v->param >= 0 ? &f->net->params[v->param] : NULL;
        at = inference_val(f, v,
                           param ? param->name
                                 : f->graph[0]->columns[v->feed].name);
        if (at < 0)
            return -1;
        f->vals[at].param = v->param;
        f->vals[at].data = param ? param->data : NULL;
        if (!param) {
            f->vals[at].input = f->to.n_inputs;
            ((int *)(uintptr_t)f->to.inputs)[f->to.n_inputs++] = at;
        }
    }
    f->vals[f->of[v->id]].uses++;
    return f->of[v->id];
}

/* ---- Constants */

static bool inference_random(const struct cr_op *op)
{
    static const char *const names[] = { "multinomial", "randint",
                                         "standard_normal", "uniform" };

    for (size_t i = 0; i < CR_LEN(names); i++)
        if (strcmp(op->about.name, names[i]) == 0)
            return true;
    return false;
}

/* Whether the node depends neither on parameters nor on inputs nor on the batch
 * size. */
static bool inference_is_constant(const struct inference *f,
                                  const struct cr_inference_node *node)
{
    if (inference_random(node->op) || !node->op->forward || node->attr_varies)
        return false;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] >= 0 && (!f->vals[node->in[i]].data ||
                                 f->vals[node->in[i]].param >= 0))
            return false;
    for (int i = 0; i < node->n_out; i++)
        if (f->vals[node->out[i]].batch)
            return false;
    return true;
}

/* Computes the results of a constant node. */
static bool inference_compute(struct inference *f,
                              const struct cr_opnode *from,
                              const struct cr_inference_node *node)
{
    struct cr_arena mem = { 0 };
    struct cr_spec in[CR_OP_MAX], out[CR_OP_MAX] = { { 0 } };
    struct cr_op_ctx ctx = {
        .attr = node->attr, .scale = 1, .in = in, .out = out
    };
    struct cr_op_plan plan;

    for (int i = 0; i < node->n_in; i++) {
        in[i] = from->in[i] ? from->in[i]->spec
                            : (struct cr_spec){ .rank = -1 };
        ctx.x[i] = node->in[i] < 0 ? NULL : f->vals[node->in[i]].data;
    }
    if (!cr_op_infer(&mem, f->net->diag, from, false, in, &plan, out)) {
        cr_arena_free(&mem);
        return false;
    }
    for (int i = 0; i < node->n_out; i++) {
        ctx.y[i] = cr_alloc(f->arena, cr_bytes(&out[i]) + 1, 1);
        f->vals[node->out[i]].data = ctx.y[i];
    }
    ctx.saved = cr_alloc(&mem, plan.saved + 64, 1);
    ctx.scratch = cr_alloc(&mem, plan.scratch + 64, 1);
    cr_thread_scratch_reserve(plan.thread_scratch);
    if (plan.same)
        memcpy(ctx.y[0], ctx.x[0], cr_bytes(&out[0]));
    else
        node->op->forward(&ctx);
    cr_arena_free(&mem);
    return true;
}

/* ---- Nodes */

static bool inference_node(struct inference *f, int n)
{
    const struct cr_opnode *from = f->node[0][n];
    const struct cr_cell_row *cell = &f->net->cells[from->cell];
    struct cr_inference_node *to = &f->nodes[f->to.n_nodes];
    const char *name = cr_strf(f->arena, "%s/%s", cell->name,
                               from->op->about.name);

    *to = (struct cr_inference_node){ .op = from->op,
                                      .attr = from->attr,
                                      .other_attr = f->node[1][n]->attr,
                                      .cell = cell->name,
                                      .type = cell->type,
                                      .pos = from->pos,
                                      .n_in = from->n_in,
                                      .n_out = from->n_out };
    to->attr_varies =
        !cr_opts_same(from->op->about.opts, to->attr, to->other_attr);
    for (int i = 0; i < from->n_in; i++) {
        to->in[i] = -1;
        if (!from->in[i] || inference_reads_shapes(f, from))
            continue;
        to->in[i] = inference_read(f, from->in[i]);
        if (to->in[i] < 0)
            return false;
    }
    for (int i = 0; i < from->n_out; i++) {
        to->out[i] = inference_val(f, from->out[i], name);
        if (to->out[i] < 0)
            return false;
    }
    if (inference_is_constant(f, to)) {
        for (int i = 0; i < to->n_in; i++)
            if (to->in[i] >= 0)
                f->vals[to->in[i]].uses--;
        return inference_compute(f, from, to);
    }
    for (int i = 0; i < to->n_out; i++)
        f->vals[to->out[i]].producer = f->to.n_nodes;
    f->to.n_nodes++;
    return true;
}

static bool inference_results(struct inference *f)
{
    const struct cr_named *r = f->graph[0]->results.first;
    struct cr_inference_result *to =
        CR_NEWS(f->arena, struct cr_inference_result,
                f->graph[0]->results.n + 1);

    f->to.results = to;
    for (int i = 0; r; r = r->next, i++) {
        const char *name = cr_net_result_name(f->net, i);

        to[i].val = inference_read(f, r->val);
        if (to[i].val < 0)
            return false;
        to[i].name = name && cr_name_map_get(&f->names, name) < 0
                         ? name
                         : i == 0 ? "output"
                                  : cr_strf(f->arena, "output.%d", i);
        to[i].name = inference_name(f, to[i].name);
        f->to.n_results++;
    }
    return true;
}

const struct cr_inference *cr_net_inference(struct cr_net *net)
{
    static const int64_t batch[3] = { CR_INFERENCE_BATCH,
                                      CR_INFERENCE_OTHER_BATCH, THIRD_BATCH };
    struct inference *f = CR_NEW(net->arena, struct inference);
    const bool *live;

    f->net = net;
    f->arena = net->arena;
    for (int k = 0; k < 3; k++)
        if (!inference_graph(f, k, batch[k]))
            return NULL;
    if (!inference_alike(f)) {
        cr_error(net->diag, CR_NOWHERE, CR_E_NETWORK,
                 "export: the network computes different operations for "
                 "different batch sizes");
        return NULL;
    }
    f->vals = CR_NEWS(f->arena, struct cr_inference_val,
                      f->graph[0]->n_vals + 1);
    f->nodes = CR_NEWS(f->arena, struct cr_inference_node,
                       f->graph[0]->n_nodes + 1);
    f->of = CR_NEWS(f->arena, int, f->graph[0]->n_vals + 1);
    f->to.inputs = CR_NEWS(f->arena, int, net->opts.n_columns + 1);
    for (int i = 0; i < f->graph[0]->n_vals; i++)
        f->of[i] = -1;
    live = inference_live(f);
    f->to.net = net;
    f->to.vals = f->vals;
    f->to.nodes = f->nodes;
    for (int n = 0; n < f->n_nodes[0]; n++)
        if (live[n] && !inference_passes(f->node[0][n]) &&
            !inference_node(f, n))
            return NULL;
    return inference_results(f) ? &f->to : NULL;
}
