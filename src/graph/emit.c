/*
 * What a cell's build calls: parameters, values and ops of the graph.
 */
#include "base/str.h"
#include "graph/graph.h"

#include <assert.h>
#include <string.h>

const void *cr_opts(const struct cr_build *b)
{
    return b->opts;
}

const void *cr_call_opts(const struct cr_build *b)
{
    return b->call_opts;
}

int cr_inputs(const struct cr_build *b)
{
    return b->n_in;
}

struct cr_pos cr_build_pos(const struct cr_build *b)
{
    return b->pos;
}

bool cr_is_root_cell(const struct cr_build *b)
{
    return !b->path[0];
}

struct cr_arena *cr_build_arena(struct cr_build *b)
{
    return b->net->arena;
}

const struct cr_spec *cr_val_spec(const struct cr_val *v)
{
    return &v->spec;
}

bool cr_fail(struct cr_build *b, enum cr_code code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    cr_error(b->net->diag, b->pos, code, "%s",
             cr_vstrf(b->net->arena, format, args));
    va_end(args);
    cr_build_where(b, NULL);
    return false;
}

void cr_build_where(const struct cr_build *b, const char *type)
{
    const struct cr_build *p;

    if (b->path[0] && type)
        cr_note(b->net->diag, "   in %s (%s)", b->path, type);
    else if (b->path[0])
        cr_note(b->net->diag, "   in %s", b->path);
    for (p = b; p; p = p->parent)
        if (p->node && p->node->block) {
            cr_note(b->net->diag, "   in block %s as %s%s%s", p->node->block,
                    p->loss ? "" : "network", p->path[0] && !p->loss ? "." : "",
                    p->path);
            return;
        }
}

const char *cr_path_of(struct cr_arena *arena, const char *path,
                       const char *name)
{
    return path[0] && name[0] ? cr_strf(arena, "%s.%s", path, name)
           : path[0]          ? path
                              : name;
}

static struct cr_val *val_new(struct cr_net *net)
{
    struct cr_graph *graph = net->graph;
    struct cr_val *v = CR_NEW(net->arena, struct cr_val);

    v->id = graph->n_vals++;
    v->feed = v->param = -1;
    if (graph->last_val)
        graph->last_val->next = v;
    else
        graph->vals = v;
    graph->last_val = v;
    return v;
}

struct cr_val *cr_output(struct cr_val *v, int i)
{
    return v ? v->producer->out[i] : NULL;
}

int cr_outputs(const struct cr_val *v)
{
    return v->producer ? v->producer->n_out : 1;
}

struct cr_val *cr_tuple(struct cr_build *b, int n, struct cr_val *const *vals)
{
    struct cr_val *v = CR_NEW(b->net->arena, struct cr_val);
    int i;

    assert(n > 0);
    v->id = v->feed = v->param = -1;
    v->n_members = n;
    v->members = CR_NEWS(b->net->arena, struct cr_val *, n);
    for (i = 0; i < n; i++) {
        if (!vals[i])
            return NULL;
        v->members[i] = vals[i];
    }
    v->spec = vals[0]->spec;
    return v;
}

int cr_tuple_size(const struct cr_val *v)
{
    return v->n_members;
}

struct cr_val *cr_member(const struct cr_val *v, int i)
{
    return v->members[i];
}

static struct cr_val absent = { .id = -1, .feed = -1, .param = -1 };

struct cr_val *cr_val_absent(void)
{
    return &absent;
}

struct cr_val *cr_net_feed(struct cr_net *net, const char *column,
                           struct cr_pos pos)
{
    struct cr_buf all = { .arena = net->arena };
    const char **names;
    int i, k;

    for (i = 0; i < net->opts.n_columns; i++) {
        const struct cr_column *c = &net->graph->columns[i];
        struct cr_val *v = net->graph->feeds[i];

        if (strcmp(c->name, column) != 0)
            continue;
        if (v)
            return v;
        if (c->spec.rank + 1 > CR_RANK_MAX) {
            cr_error(net->diag, pos, CR_E_SHAPE,
                     "column '%s' has more than %d dimensions", column,
                     CR_RANK_MAX - 1);
            return NULL;
        }
        v = net->graph->feeds[i] = val_new(net);
        v->feed = i;
        v->spec = c->spec;
        v->spec.rank++;
        for (k = v->spec.rank - 1; k > 0; k--)
            v->spec.dim[k] = c->spec.dim[k - 1];
        v->spec.dim[0] = net->graph->batch;
        return v;
    }
    cr_error(net->diag, pos, CR_E_NETWORK,
             "column '%s' not found in the data set", column);
    names = CR_NEWS(net->arena, const char *, net->opts.n_columns + 1);
    for (i = 0; i < net->opts.n_columns; i++)
        names[i] = net->opts.columns[i].name;
    if (cr_closest_name(column, names))
        cr_hint(net->diag, "did you mean '%s'?",
                cr_closest_name(column, names));
    for (i = 0; i < net->opts.n_columns; i++)
        cr_buf_f(&all, " %s", names[i]);
    if (i > 0)
        cr_note(net->diag, "columns:%s", cr_buf_text(&all));
    return NULL;
}

struct cr_val *cr_val_detached(struct cr_net *net, const struct cr_spec *spec,
                               struct cr_opnode *by)
{
    struct cr_val *v = val_new(net);

    v->spec = *spec;
    v->producer = by;
    return v;
}

/* The value of a parameter in the graph being built. */
static struct cr_val *param_value(struct cr_net *net, int param)
{
    struct cr_graph *graph = net->graph;
    struct cr_val *v;

    if (graph->cap_params < net->cap_params) {
        graph->params =
            cr_grow(net->arena, graph->params, (size_t)graph->cap_params,
                    (size_t)net->cap_params, sizeof(struct cr_val *));
        graph->cap_params = net->cap_params;
    }
    if (!graph->params[param]) {
        v = graph->params[param] = val_new(net);
        v->param = param;
        v->spec = net->params[param].spec;
    }
    return graph->params[param];
}

enum param_use {
    PARAM_TRAINED,
    PARAM_FIXED,
    PARAM_STATE
};

/* `share`: another cell's parameter, under that one's name. */
static struct cr_val *param_shared(struct cr_build *b,
                                   const struct cr_node *target,
                                   const struct cr_spec *spec)
{
    struct cr_net *net = b->net;
    const char *name = target->kind == CR_NODE_STR ? target->text : "?";
    const char **names;
    int i, found = cr_name_map_get(&net->param_names, name);

    b->pos = target->pos;
    b->shared++;
    if (found < 0) {
        names = CR_NEWS(net->arena, const char *, net->n_params + 1);
        for (i = 0; i < net->n_params; i++)
            names[i] = net->params[i].name;
        cr_fail(b, CR_E_NO_MATCH,
                "share: parameter '%s' not found before this cell", name);
        if (cr_closest_name(name, names))
            cr_hint(net->diag, "did you mean '%s'?",
                    cr_closest_name(name, names));
        return NULL;
    }
    if (!cr_spec_same(&net->params[found].spec, spec)) {
        cr_fail(b, CR_E_SHAPE, "share: '%s' is %s, expected %s", name,
                cr_diag_format(net->arena, &net->params[found].spec),
                cr_diag_format(net->arena, spec));
        return NULL;
    }
    return param_value(net, found);
}

/* The type of the cell whose parameter it is, which in an activation is not
 * that of its row, and those of the cells around it. */
static const char *const *param_types(const struct cr_build *b)
{
    const char **types =
        CR_NEWS(b->net->arena, const char *, b->depth + 2), **to = types;
    const struct cr_build *at;

    *to++ = b->cell->about.name;
    for (at = b->parent; at; at = at->parent)
        *to++ = b->net->cells[at->row].type;
    return types;
}

static struct cr_val *param_new(struct cr_build *b, const char *name,
                                struct cr_spec spec, const struct cr_obj *given,
                                enum cr_default_init begin, double bound,
                                enum param_use use)
{
    struct cr_net *net = b->net;
    const char *path = cr_path_of(net->arena, b->path, name);
    const char *full = cr_param_name(b, path);
    struct cr_param *p;
    int found = cr_name_map_get(&net->param_names, full);
    /* The modifier `init` is for weights, whatever a cell calls them. */
    bool takes = use == PARAM_TRAINED && name[0] &&
                 (spec.rank > 1 || strcmp(name, "weight") == 0);
    bool xavier = b->xavier && use == PARAM_TRAINED && spec.rank > 1;

    if (cr_node_get(b->share, name))
        return param_shared(b, cr_node_get(b->share, name), &spec);
    if (found >= 0 && b->is_repeat_call) {
        if (cr_spec_same(&net->params[found].spec, &spec))
            return param_value(net, found);
        cr_fail(b, CR_E_SHAPE, "parameter '%s' is %s, but %s in this call",
                full, cr_diag_format(net->arena, &net->params[found].spec),
                cr_diag_format(net->arena, &spec));
        return NULL;
    }
    if (found >= 0) {
        cr_fail(b, CR_E_NETWORK,
                "duplicate parameter name '%s': in '%s' and in '%s'", full,
                net->cells[net->params[found].cell].name, b->path);
        return NULL;
    }
    if (!b->init_rules) {
        cr_fail(b, CR_E_NETWORK,
                "parameter '%s' does not exist in training: call a cell with "
                "parameters in training too",
                full);
        return NULL;
    }
    if (!cr_spec_fits(&spec)) {
        cr_fail(b, CR_E_SHAPE, "parameter '%s' %s is too large", full,
                cr_diag_format(net->arena, &spec));
        return NULL;
    }
    if (net->n_params == net->cap_params) {
        int room = 2 * net->cap_params + 16;

        net->params = cr_grow(net->arena, net->params, (size_t)net->n_params,
                              (size_t)room, sizeof *net->params);
        net->param_inits =
            cr_grow(net->arena, net->param_inits, (size_t)net->n_params,
                    (size_t)room, sizeof *net->param_inits);
        net->cap_params = room;
    }
    p = &net->params[net->n_params];
    *p = (struct cr_param){
        .name = full,
        .cell = b->row,
        .spec = spec,
        .statistic = use == PARAM_STATE,
        .state = use == PARAM_STATE && !name[0],
        .never_trained = use == PARAM_FIXED,
        .frozen = b->frozen && use != PARAM_STATE,
        .types = param_types(b),
        .pos = b->pos,
        .frozen_reason = use == PARAM_STATE ? "moving statistics" : NULL,
    };
    if (!cr_init_choose(b->init_rules, net, p, takes ? &b->control_init : NULL,
                        xavier ? NULL : given,
                        xavier ? CR_DEFAULT_INIT_XAVIER : begin, bound,
                        &net->param_inits[net->n_params]))
        return NULL;
    if (takes && b->control_used)
        *b->control_used = true;
    p->init = net->param_inits[net->n_params].text;
    net->param_inits[net->n_params].key =
        b->like && !xavier
            ? cr_path_of(net->arena, b->like, path + b->like_len + 1)
            : full;
    net->cells[b->row].params += cr_count(&spec);
    cr_name_map_add(net->arena, &net->param_names, full, net->n_params);
    return param_value(net, net->n_params++);
}

struct cr_val *cr_param(struct cr_build *b, const char *name,
                        struct cr_spec spec, const struct cr_obj *given,
                        enum cr_default_init begin, double bound)
{
    return param_new(b, name, spec, given, begin, bound, PARAM_TRAINED);
}

struct cr_val *cr_param_untrained(struct cr_build *b, const char *name,
                                  struct cr_spec spec,
                                  const struct cr_obj *given,
                                  enum cr_default_init begin)
{
    return param_new(b, name, spec, given, begin, 0, PARAM_FIXED);
}

struct cr_val *cr_param_state(struct cr_build *b, const char *name,
                              struct cr_spec spec, const struct cr_obj *given,
                              enum cr_default_init begin)
{
    return param_new(b, name, spec, given, begin, 0, PARAM_STATE);
}

void cr_xavier_subcells(struct cr_build *b)
{
    b->xavier = true;
}

void cr_param_zero_row(struct cr_build *b, struct cr_val *param, int64_t row)
{
    struct cr_net *net = b->net;

    if (param && b->shared == 0)
        net->param_inits[param->param].zero_row = row + 1;
}

void cr_param_by_rows(struct cr_build *b, struct cr_val *param)
{
    if (param && b->shared == 0)
        b->net->params[param->param].rows = true;
}

/* Runs the plan of a node's op for the given input specs. */
bool cr_op_infer(struct cr_arena *arena, struct cr_diag *diag,
                 const struct cr_opnode *node, bool training,
                 const struct cr_spec *in, struct cr_op_plan *plan,
                 struct cr_spec *out)
{
    *plan = (struct cr_op_plan){
        .attr = node->attr,
        .pos = node->pos,
        .diag = diag,
        .arena = arena,
        .training = training,
        .n_in = node->n_in,
        .in = in,
        .out = out,
        .n_out = node->op->outputs,
    };
    return node->op->plan(plan);
}

/* Infers the results of a new node with op, attributes and inputs. False after
 * reporting. */
static bool node_infer(struct cr_net *net, struct cr_opnode *node)
{
    struct cr_spec specs[CR_OP_MAX], out[CR_OP_MAX];
    struct cr_op_plan plan;
    int i;

    memset(out, 0, sizeof out);
    for (i = 0; i < node->n_in; i++)
        specs[i] = node->in[i] ? node->in[i]->spec
                               : (struct cr_spec){ .rank = -1 };
    if (!cr_op_infer(net->arena, net->diag, node, true, specs, &plan, out))
        return false;
    node->n_out = plan.n_out;
    node->macs = plan.macs;
    node->same = plan.same;
    for (i = 0; i < node->n_out; i++) {
        node->out[i] = val_new(net);
        node->out[i]->spec = out[i];
        node->out[i]->spec.layout = CR_ROW_MAJOR; /* a matter of plans */
        node->out[i]->producer = node;
    }
    return true;
}

struct cr_opnode *cr_node_in_call_of(struct cr_net *net,
                                 const struct cr_opnode *other,
                                 const struct cr_op *op, const void *attr,
                                 int n, struct cr_val *const *in)
{
    struct cr_opnode *node = CR_NEW(net->arena, struct cr_opnode);

    *node = *other;
    node->op = op;
    node->attr = attr;
    node->custom = NULL;
    node->as_is = true;
    node->low = CR_REAL;
    node->n_in = n;
    memcpy(node->in, in, (size_t)n * sizeof *in);
    const bool inferred = node_infer(net, node);
    assert(inferred && "a cast cannot fail");
    (void)inferred;
    net->graph->n_nodes++;
    return node;
}

static struct cr_val *emit_node(struct cr_build *b, const struct cr_op *op,
                                const void *attr, int n,
                                struct cr_val *const *in, bool as_is)
{
    struct cr_net *net = b->net;
    struct cr_opnode *node = CR_NEW(net->arena, struct cr_opnode);
    uint64_t *emitted = &net->cell_calls[b->row].emitted[b->hook];
    int i;

    if (net->graph->n_nodes == CR_GRAPH_NODES) {
        cr_fail(b, CR_E_LIMIT, "the network has more than %d operations",
                CR_GRAPH_NODES);
        return NULL;
    }
    node->op = op;
    node->batch = net->graph->batch;
    node->attr = attr;
    node->pos = b->pos;
    node->cell = b->row;
    node->call = b->call;
    node->loss = b->loss;
    node->hook = b->hook;
    node->predict = b->predict;
    node->recompute = b->recompute;
    node->metric = b->metric;
    node->precision = b->precision;
    node->as_is = as_is;
    node->key = b->key + *emitted;
    node->n_in = n;
    for (i = 0; i < n; i++)
        node->in[i] = in[i] == &absent ? NULL : in[i];
    if (!node_infer(net, node)) {
        cr_build_where(b, b->cell ? b->cell->about.name : "Cell");
        return NULL;
    }
    for (i = 0; i < node->n_out; i++)
        if (!cr_spec_fits(&node->out[i]->spec)) {
            cr_fail(b, CR_E_SHAPE, "the result %s is too large",
                    cr_diag_format(net->arena, &node->out[i]->spec));
            return NULL;
        }
    cr_precision_infer(node);
    if (!net->built && !net->in_backward)
        net->cells[b->row].macs += node->macs / (double)net->graph->batch;
    if (net->graph->last_node)
        net->graph->last_node->next = node;
    else
        net->graph->nodes = node;
    net->graph->last_node = node;
    net->graph->n_nodes++;
    *emitted += op != &cr_op_fake_cast && op != &cr_op_print;
    return node->out[0];
}

struct cr_val *cr_emit_as_is(struct cr_build *b, const struct cr_op *op,
                             const void *attr, int n, struct cr_val *const *in)
{
    return emit_node(b, op, attr, n, in, true);
}

struct cr_val *cr_emit_itself(struct cr_build *b, const struct cr_op *op,
                              const void *attr, int n,
                              struct cr_val *const *in)
{
    return emit_node(b, op, attr, n, in, false);
}

struct cr_val *cr_emit(struct cr_build *b, const char *name, const void *attr,
                       int n, struct cr_val *const *in)
{
    return cr_emit_op(b, cr_op_find(name), attr, n, in);
}

enum cr_channels_last cr_last_too(const struct cr_op_plan *p)
{
    (void)p;
    return CR_LAST_TOO;
}

int cr_op_input(const struct cr_op *op, const char *name)
{
    int i;

    for (i = 0; op->inputs && op->inputs[i]; i++)
        if (strcmp(op->inputs[i], name) == 0)
            return i;
    return -1;
}

struct cr_val *cr_emit_op(struct cr_build *b, const struct cr_op *op,
                          const void *attr, int n, struct cr_val *const *in)
{
    struct cr_val *args[CR_OP_MAX] = { NULL };
    int i;

    assert(op && n <= CR_OP_MAX && n >= op->min_inputs && n <= op->max_inputs);
    for (i = 0; i < n; i++) {
        args[i] = in[i] ? in[i] : &absent;
        if (!in[i] && i < op->min_inputs)
            return NULL;
        if (args[i]->n_members > 0) {
            cr_fail(b, CR_E_NETWORK, "found a tuple of %d, expected a tensor",
                    args[i]->n_members);
            return NULL;
        }
        /* what is computed with is real: other types are cast */
        if (in[i] && in[i] != &absent && in[i]->spec.type != CR_REAL &&
            !(op->int_inputs & CR_X(i))) {
            args[i] = cr_emit_as_is(b, cr_op_find("cast"), NULL, 1, &in[i]);
            if (!args[i])
                return NULL;
        }
    }
    return op->build ? op->build(b, attr, n, args)
                     : cr_emit_itself(b, op, attr, n, args);
}

struct cr_val *cr_cell_inline(struct cr_build *b, const struct cr_cell *cell,
                              const char *name, const void *opts, int n,
                              struct cr_val *const *in)
{
    struct cr_build inner = *b;

    inner.cell = cell;
    inner.opts = opts;
    inner.n_in = n;
    inner.path = cr_path_of(b->net->arena, b->path, name);
    cr_precision_of_type(&inner);
    return cell->build(&inner, in);
}

struct cr_val *cr_activation(struct cr_build *b, const char *name,
                             struct cr_val *x)
{
    const struct cr_descriptor *const *list = cr_registry_list(CR_KIND_CELL);
    const char **known;
    int i, n = 0;

    if (!x)
        return NULL;
    for (i = 0; list[i]; i++)
        n++;
    known = CR_NEWS(b->net->arena, const char *, n + 1);
    for (i = n = 0; list[i]; i++) {
        const struct cr_cell *cell = cr_cell_find(list[i]->name);

        if (!cell->activation)
            continue;
        known[n++] = cell->activation;
        if (strcmp(cell->activation, name) == 0) {
            void *opts = cr_alloc(b->net->arena, 1, cell->about.size + 1);

            return cr_opts_read(b->net->arena, b->net->diag, &cell->about, NULL,
                                b->pos, opts)
                       ? cr_cell_inline(b, cell, "activation", opts, 1, &x)
                       : NULL;
        }
    }
    cr_fail(b, CR_E_UNKNOWN_TYPE, "activation '%s' not found", name);
    if (cr_closest_name(name, known))
        cr_hint(b->net->diag, "did you mean '%s'?",
                cr_closest_name(name, known));
    return NULL;
}
