/*
 * From the section `network` to a graph.
 *
 * A node of the config is a typed cell, a list (SequentialCell) or a map of
 * names (a Cell whose members are called in order). Each gets a row in the
 * table of cells, a path, and a call; cells are never remembered, only what
 * they emitted.
 */
#include "base/str.h"
#include "conf/terms.h"
#include "conf/yaml.h"
#include "graph/graph.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Remembers the call, for who draws the graph. */
static void call_open(struct cr_build *b, int number)
{
    struct cr_graph *graph = b->net->graph;
    struct cr_call *call = CR_NEW(b->net->arena, struct cr_call);

    call->cell = b->row;
    call->number = number;
    call->block = b->node->block;
    call->loss = b->loss;
    call->parent = b->parent ? b->parent->call : NULL;
    if (graph->last_call)
        graph->last_call->next = call;
    else
        graph->calls = call;
    graph->last_call = b->call = call;
}

/* Finds the row of a cell that was called before, or makes one. */
static bool row_open(struct cr_build *b, const char *type)
{
    struct cr_net *net = b->net;
    struct cr_cell_calls *seen;
    int n = net->n_cells, found = cr_name_map_get(&net->cell_names, b->path);
    int i = found >= 0 ? found : n;

    if (net->graph->n_calls++ == CR_CALLS_MAX)
        return cr_fail(b, CR_E_LIMIT,
                       "the network calls its cells more than %d times: a "
                       "block that calls another block twice doubles the calls",
                       CR_CALLS_MAX);
    if (i < n && net->cell_calls[i].node != b->node)
        return cr_fail(b, CR_E_NETWORK, "duplicate cell name '%s'", b->path);
    if (i == net->cap_cells) {
        int room = 2 * net->cap_cells + 16;

        net->cells = cr_grow(net->arena, net->cells, (size_t)n, (size_t)room,
                             sizeof *net->cells);
        net->cell_calls = cr_grow(net->arena, net->cell_calls, (size_t)n,
                                  (size_t)room, sizeof *net->cell_calls);
        net->cap_cells = room;
    }
    b->row = i;
    b->is_repeat_call = i < n;
    seen = &net->cell_calls[i];
    if (i == n) {
        net->cells[i] = (struct cr_cell_row){
            .name = b->path, .type = type, .depth = b->depth - 1, .leaf = true
        };
        seen->node = b->node;
        cr_name_map_add(net->arena, &net->cell_names, b->path, i);
        net->n_cells++;
    }
    if (seen->graph != net->graph)
        *seen = (struct cr_cell_calls){ .node = b->node, .graph = net->graph };
    seen->calls++;
    call_open(b, seen->calls);
    return true;
}

void cr_name_values(struct cr_net *net, struct cr_names *to, const char *name,
                    struct cr_val *v)
{
    struct cr_named *named;
    int i;

    for (i = 0; i < v->n_members; i++)
        cr_name_values(net, to, cr_strf(net->arena, "%s.%d", name, i),
                       v->members[i]);
    if (v->n_members > 0)
        return;
    named = CR_NEW(net->arena, struct cr_named);
    named->name = name;
    named->val = v;
    if (to->last)
        to->last->next = named;
    else
        to->first = named;
    to->last = named;
    to->n++;
}

const char *cr_name_call(struct cr_build *b, const struct cr_val *v)
{
    struct cr_net *net = b->net;
    int calls = net->cell_calls[b->row].calls;

    return calls > 1           ? cr_strf(net->arena, "%s#%d", b->path, calls)
           : v->n_members > 0 ? cr_strf(net->arena, "%s#", b->path)
                              : b->path;
}

static struct cr_val *build_node(struct cr_build *parent, const char *path,
                                 const struct cr_node *node, int n,
                                 struct cr_val *const *in);

/* Members called in order; in a list they are named by position, unless they
 * say otherwise. */
static struct cr_val *build_members(struct cr_build *b,
                                    const struct cr_node *members,
                                    struct cr_val *const *in)
{
    struct cr_arena *arena = b->net->arena;
    struct cr_val *v = in[0];
    int index = 0;

    if (b->n_in != 1) {
        cr_fail(b, CR_E_NETWORK,
                "cells called in order: expected one input, found %d", b->n_in);
        return NULL;
    }
    b->net->cells[b->row].leaf = false;
    if (!members || !members->child) {
        cr_fail(b, CR_E_NETWORK, "found no cells, expected at least one");
        return NULL;
    }
    for (CR_EACH(m, members)) {
        const struct cr_node *member;
        struct cr_pos pos = b->pos;
        const char *name, *path;

        if (m->key && strcmp(m->key, "inputs") == 0)
            continue;
        if (m->key && m->key[0] >= 'A' && m->key[0] <= 'Z') {
            b->pos = m->key_pos;
            cr_fail(b, CR_E_NETWORK,
                    "a map of cells: found the type '%s', expected a list, or "
                    "NAME: {%s: ...}",
                    m->key, m->key);
            return NULL;
        }
        name = cr_member_checked(b, m, index++);
        if (!name)
            return NULL;
        b->pos = pos;
        member = cr_reference_at(b, m, &path);
        v = member ? build_node(b, path, member, 1, &v)
                   : build_node(b, cr_path_of(arena, b->path, name), m, 1, &v);
        if (!v)
            return NULL;
    }
    return v;
}

static const char *const *cell_names(struct cr_arena *arena,
                                     enum cr_kind kind)
{
    const struct cr_descriptor *const *list = cr_registry_list(kind);
    const char **names;
    int n = 0;

    while (list[n])
        n++;
    names = CR_NEWS(arena, const char *, n + 1);
    for (n = 0; list[n]; n++)
        names[n] = list[n]->name;
    return names;
}

static bool unknown_type(struct cr_net *net, const struct cr_node *node,
                         const char *type, enum cr_kind kind)
{
    struct cr_pos pos = node->kind == CR_NODE_MAP && node->child
                            ? node->child->key_pos
                            : node->pos;

    for (const struct cr_message *m = net->diag->first; m; m = m->next)
        if (m->code == CR_E_UNKNOWN_TYPE && m->pos.src == pos.src &&
            m->pos.line == pos.line && m->pos.col == pos.col)
            return false; /* told when its options were looked at */
    cr_error(net->diag, pos, CR_E_UNKNOWN_TYPE, "%s '%s' not found",
             cr_kind_name(kind), type);
    cr_term_hint(net->diag, type, cell_names(net->arena, kind));
    return false;
}

/* A cell without modifiers: all as in the cell around it. */
static bool controls_default(struct cr_build *b)
{
    return cr_precision_of(b, NULL) && cr_mode_of(b, NULL) &&
           cr_recompute_of(b, NULL);
}

/* The lower-case neighbours of a typed node. */
static bool read_controls(struct cr_build *b, const struct cr_node *node)
{
    struct cr_net *net = b->net;
    bool ok = true;

    if (node->kind != CR_NODE_MAP)
        return controls_default(b);
    ok = cr_precision_of(b, cr_node_get(node, "to_float"));
    ok = cr_mode_of(b, cr_node_get(node, "mode")) && ok;
    ok = cr_recompute_of(b, cr_node_get(node, "recompute")) && ok;
    for (CR_EACH(m, node)) {
        if (m->key[0] >= 'A' && m->key[0] <= 'Z')
            continue;
        if (strcmp(m->key, "freeze") == 0) {
            if (m->kind != CR_NODE_BOOL)
                ok = cr_error(net->diag, m->pos, CR_E_WRONG_TYPE,
                              "freeze: found %s, expected true or false",
                              cr_node_what(net->arena, m));
            b->frozen = b->frozen || m->boolean;
        } else if (strcmp(m->key, "share") == 0) {
            if (m->kind == CR_NODE_MAP)
                b->share = m;
            else
                ok = cr_error(
                    net->diag, m->pos, CR_E_WRONG_TYPE,
                    "share: found %s, expected a map {weight: OTHER.weight}",
                    cr_node_what(net->arena, m));
        } else if (strcmp(m->key, "init") == 0) {
            ok = cr_obj_read(net->arena, net->diag, CR_KIND_INIT, m,
                             &b->control_init) && ok;
            b->control_used = CR_NEW(net->arena, bool);
        } else if (!cr_is_cell_key(m->key)) {
            const char *near =
                cr_closest_name(m->key, cr_modifiers(CR_KIND_CELL));

            ok = cr_error(net->diag, m->key_pos, CR_E_UNKNOWN_KEY,
                          "'%s' is not a modifier of a cell", m->key);
            if (near)
                cr_hint(net->diag, "did you mean '%s'?", near);
        }
    }
    return ok;
}

/* A modifier `init` of this very cell must have found a weight. */
static bool control_done(const struct cr_build *b)
{
    const struct cr_node *m =
        b->node->kind == CR_NODE_MAP ? cr_node_get(b->node, "init") : NULL;

    if (!m || b->is_repeat_call || !b->control_used || *b->control_used)
        return true;
    return cr_error(
        b->net->diag, m->key_pos, CR_E_NO_MATCH,
        "'init' has no effect here%s%s: the cell has no weight to initialise",
        b->cell ? ", in " : "", b->cell ? b->cell->about.name : "");
}

static struct cr_val *build_typed(struct cr_build *b,
                                  const struct cr_cell *cell,
                                  const struct cr_node *args, int n,
                                  struct cr_val *const *in)
{
    struct cr_net *net = b->net;
    struct cr_val *given[CR_OP_MAX] = { NULL };
    void *opts;
    int i;

    if (n < cell->min_inputs || n > cell->max_inputs) {
        cr_fail(b, CR_E_NETWORK, "%s: expected %s input%s, found %d",
                cell->about.name,
                cell->min_inputs == cell->max_inputs
                    ? cr_strf(net->arena, "%d", cell->min_inputs)
                    : cr_strf(net->arena, "%d to %d", cell->min_inputs,
                              cell->max_inputs),
                cell->max_inputs == 1 ? "" : "s", n);
        return NULL;
    }
    if (cell->takes_cells)
        return build_members(b, args, in);
    for (i = 0; i < n; i++) {
        given[i] = in[i];
        if (in[i] && in[i]->n_members > 0 && !(cell->tuples & (1u << i))) {
            cr_fail(b, CR_E_NETWORK,
                    "%s: expected a tensor, found a tuple of %d",
                    cell->about.name, in[i]->n_members);
            return NULL;
        }
    }
    opts = cr_alloc(net->arena, 1, cell->about.size + 1);
    if (!cr_opts_read(net->arena, net->diag, &cell->about, args, b->pos, opts))
        return NULL;
    if (cell->check && !cell->check(net->diag, b->pos, opts))
        return NULL;
    b->opts = opts;
    if (!b->is_repeat_call)
        net->cells[b->row].args = cr_opts_text(net->arena, &cell->about, opts);
    if (cell->call) {
        opts = cr_alloc(net->arena, 1, cell->call->size + 1);
        if (!cr_opts_read(net->arena, net->diag, cell->call, b->call_args,
                          b->pos, opts))
            return NULL;
        b->call_opts = opts;
    }
    b->call_args = NULL;
    return cell->build(b, given);
}

/* Each name under `share` must be one of the cell's own parameters. */
static bool all_shared(struct cr_build *b)
{
    if (!b->share || b->shared == cr_node_count(b->share))
        return true;
    b->pos = b->share->pos;
    return cr_fail(
        b, CR_E_NO_MATCH,
        "'share' lists %d parameter%s, but the cell has only %d of them",
        cr_node_count(b->share), cr_node_count(b->share) == 1 ? "" : "s",
        b->shared);
}

static struct cr_val *build_node(struct cr_build *parent, const char *path,
                                 const struct cr_node *node, int n,
                                 struct cr_val *const *in)
{
    struct cr_net *net = parent->net;
    const struct cr_node *args = NULL;
    const char *type = cr_node_type(node, &args);
    struct cr_build b = {
        .net = net,
        .init_rules = parent->init_rules,
        .parent = parent->net && parent->depth > 0 ? parent : NULL,
        .node = node,
        .block = cr_is_construct(node) ? node : NULL,
        .path = path,
        .pos = node->kind == CR_NODE_MAP && type ? node->child->key_pos
                                                 : node->pos,
        .precision = parent->precision,
        .predict = parent->predict,
        .recompute = parent->recompute,
        .frozen = parent->frozen,
        .control_init = parent->control_init,
        .control_used = parent->control_used,
        .loss = parent->loss,
        .metric = parent->metric,
        .n_in = n,
        .depth = parent->depth + 1,
        .key = cr_hash(CR_HASH, path, strlen(path)),
        .call_args = parent->call_args,
        .like = parent->like,
        .like_len = parent->like_len,
        .xavier = parent->xavier,
    };
    struct cr_val *out;
    int i;

    if (b.depth > CR_CELL_DEPTH) {
        cr_fail(&b, CR_E_LIMIT, "cells are nested deeper than %d",
                CR_CELL_DEPTH);
        return NULL;
    }
    if (type)
        for (CR_EACH(m, node))
            if (m->key && strcmp(m->key, type) == 0)
                b.pos = m->key_pos;
    b.cell = type ? cr_cell_find(type) : NULL;
    if (type && !b.cell)
        b.cell = cr_loss_find(type);
    if (type && !b.cell) {
        unknown_type(net, node, type, CR_KIND_CELL);
        return NULL;
    }
    for (i = 0; i < n; i++)
        if (!in[i] && (!type || i < b.cell->min_inputs))
            return NULL;
    if (!row_open(&b, type                         ? b.cell->about.name
                      : node->kind == CR_NODE_LIST ? "SequentialCell"
                                                   : "Cell"))
        return NULL;
    if (!b.is_repeat_call && n > 0)
        net->cells[b.row].in = in[0]->spec;
    if (!(type || cr_is_construct(node) ? read_controls(&b, node)
                                         : controls_default(&b)))
        return NULL;
    if (!cr_hook_enter(&b, &in))
        return NULL;
    if (type) {
        out = build_typed(&b, b.cell, args, n, in);
    } else if (cr_is_construct(node)) {
        net->cells[b.row].leaf = false;
        out = cr_construct_keys(&b, node) ? cr_construct(&b, node, in) : NULL;
    } else if (node->kind == CR_NODE_LIST || node->kind == CR_NODE_MAP) {
        out = build_members(&b, node, in);
    } else {
        cr_fail(&b, CR_E_FORM,
                "a cell: found %s, expected a type, a list or a map",
                cr_node_what(net->arena, node));
        return NULL;
    }
    if (!out || !all_shared(&b))
        return NULL;
    out = cr_hook_leave(&b, out);
    if (!out || !control_done(&b))
        return NULL;
    if (!b.is_repeat_call)
        net->cells[b.row].out = out->spec;
    b.call->out = out;
    if (path[0] && !b.loss)
        cr_name_values(net, &net->graph->named, cr_name_call(&b, out), out);
    return out;
}

struct cr_val *cr_child(struct cr_build *b, const char *name,
                        const struct cr_node *node, int n,
                        struct cr_val *const *in)
{
    const char *path =
        cr_path_of(b->net->arena, b->path, cr_reference_name(b, name));

    b->net->cells[b->row].leaf = false;
    return build_node(b, path, node, n, in);
}

struct cr_val *cr_child_like(struct cr_build *b, const char *name,
                             const char *like, const struct cr_node *node,
                             int n, struct cr_val *const *in)
{
    const char *path = cr_path_of(b->net->arena, b->path, name);
    struct cr_val *v;

    if (!b->like) { /* else their likes begin as others already */
        b->like = cr_path_of(b->net->arena, b->path, like);
        b->like_len = strlen(path);
        v = cr_child(b, name, node, n, in);
        b->like = NULL;
        return v;
    }
    return cr_child(b, name, node, n, in);
}

static void place_all(struct cr_node *node, struct cr_pos pos)
{
    struct cr_node *m;

    node->pos = node->key_pos = pos;
    for (m = node->child; m; m = m->next)
        place_all(m, pos);
}

/* A generated text as a node that stands where the cell does. */
static const struct cr_node *part_read(struct cr_build *b, const char *text)
{
    struct cr_arena *arena = b->net->arena;
    struct cr_source *src = CR_NEW(arena, struct cr_source);
    struct cr_node *node;

    src->name = b->path;
    src->text = text;
    src->len = strlen(text);
    node = cr_yaml_read(arena, b->net->diag, src, 0, src->len);
    assert(node);
    place_all(node, b->pos);
    return node;
}

/* The node that the child was made of in its first call: calls of one cell
 * share it. */
static const struct cr_node *part_node(struct cr_build *b, const char *name,
                                       const char *text)
{
    struct cr_net *net = b->net;
    int i = cr_name_map_get(&net->cell_names,
                            cr_path_of(net->arena, b->path, name));

    return i >= 0 ? net->cell_calls[i].node : part_read(b, text);
}

struct cr_val *cr_subcell(struct cr_build *b, const char *name,
                          const char *text, const char *call, int n,
                          struct cr_val *const *in)
{
    struct cr_val *v;

    if (n > 0 && !in[0])
        return NULL;
    b->call_args = call ? part_read(b, call) : NULL;
    v = cr_child(b, name, part_node(b, name, text), n, in);
    b->call_args = NULL;
    return v;
}

/* ---- the network and its loss ---- */

/* What a loss takes: the network's results, then columns; or those where
 * `where` has bits. */
static int loss_inputs(struct cr_net *net, const char *const *columns,
                       unsigned where, struct cr_pos pos, struct cr_val **in)
{
    struct cr_val *output = net->graph->output;
    int n = 0, i = 0, results = output->n_members;
    bool whole = results == 0;

    while (n < CR_OP_MAX) {
        bool more = whole || i < results, column = where & (1u << n);

        if (more && !(column && *columns)) {
            in[n++] = whole ? output : output->members[i++];
            whole = false;
            continue;
        }
        if (!*columns)
            break;
        in[n] = cr_net_feed(net, *columns++, pos);
        if (!in[n++])
            return 0;
    }
    return n;
}

/* A loss written in the config: {inputs: [logits, label], cells, construct}. */
static bool build_loss_text(struct cr_net *net, struct cr_build *root,
                            const struct cr_node *node)
{
    struct cr_cell_inputs inputs = cr_cell_inputs(net, node);
    int results = net->graph->output->n_members, n, names = 0;
    struct cr_val *in[CR_OP_MAX], *out;

    results = results > 0 ? results : 1;
    while (inputs.names[names])
        names++;
    if (inputs.max < results)
        return cr_error(
            net->diag, node->pos, CR_E_NETWORK,
            "the network returns %d results, but the loss expects %d", results,
            inputs.max);
    if (inputs.max > CR_OP_MAX)
        return cr_error(net->diag, node->pos, CR_E_NETWORK,
                        "a loss has at most %d inputs", CR_OP_MAX);
    n = loss_inputs(net, inputs.names + (names < results ? names : results),
                    0, node->pos, in);
    n = n > 0 ? cr_rest_label(net, &inputs, names, n, in) : 0;
    root->loss = true;
    out = n > 0 ? build_node(root, "loss", node, n, in) : NULL;
    return out && cr_aux_read(net, node, out);
}

static bool build_loss(struct cr_net *net, struct cr_build *root)
{
    const struct cr_node *node = cr_section(net->config, "loss"), *args;
    const char *type = node ? cr_node_type(node, &args) : NULL;
    const struct cr_cell *cell = type ? cr_loss_find(type) : NULL;
    struct cr_val *in[CR_OP_MAX], *const *into = in;
    struct cr_build b = *root;
    int n;

    if (!node)
        return cr_error(net->diag, net->config->root->pos,
                        CR_E_MISSING_SECTION, "section 'loss' is missing");
    if (!type && cr_is_construct(node))
        return build_loss_text(net, root, node);
    if (!type && node->kind != CR_NODE_LIST && net->diag->errors > 0)
        return false; /* reported by cr_typed_check */
    if (!type)
        return cr_error(
            net->diag, node->pos, CR_E_FORM,
            "loss: found %s, expected a type such as CrossEntropyLoss",
            cr_node_what(net->arena, node));
    if (!cell)
        return unknown_type(net, node, type, CR_KIND_LOSS);
    b.cell = cell;
    b.node = node;
    b.pos = node->kind == CR_NODE_MAP ? node->child->key_pos : node->pos;
    b.path = "loss";
    b.loss = true;
    b.depth = 1;
    b.key = cr_hash(CR_HASH, b.path, strlen(b.path));
    n = loss_inputs(net, cell->targets, cell->columns, b.pos, in);
    if (n == 0)
        return false;
    b.n_in = n;
    if (!row_open(&b, cell->about.name) ||
        !cr_precision_of(&b, node->kind == CR_NODE_MAP
                                 ? cr_node_get(node, "to_float")
                                 : NULL))
        return false;
    if (!cr_hook_enter(&b, &into))
        return false;
    net->graph->loss = build_typed(&b, cell, args, n, into);
    if (net->graph->loss)
        net->graph->loss = cr_hook_leave(&b, net->graph->loss);
    b.call->out = net->graph->loss;
    return net->graph->loss != NULL;
}

/* One graph: all cells, for net->graph's batch size and columns. */
static bool build_graph(struct cr_net *net, struct cr_init_rules *starter)
{
    const struct cr_node *network = cr_section(net->config, "network");
    struct cr_build root = { .net = net, .init_rules = starter, .path = "" };
    struct cr_cell_inputs inputs = cr_net_input_names(net, network);
    struct cr_val *in[CR_OP_MAX];
    int i;

    net->graph->feeds =
        CR_NEWS(net->arena, struct cr_val *, net->opts.n_columns + 1);
    if (inputs.max == 0)
        return false;
    if (inputs.max > CR_OP_MAX)
        return cr_error(net->diag, network->pos, CR_E_NETWORK,
                        "a network has at most %d inputs", CR_OP_MAX);
    for (i = 0; i < inputs.max; i++) {
        in[i] = cr_net_feed(net, inputs.names[i], network->pos);
        if (!in[i])
            return false;
    }
    net->input_columns = CR_NEWS(net->arena, int, inputs.max + 1);
    net->n_input_columns = inputs.max;
    for (i = 0; i < inputs.max; i++)
        net->input_columns[i] = in[i]->feed;
    net->graph->output = build_node(&root, "", network, inputs.max, in);
    if (!net->graph->output)
        return false;
    cr_name_values(net, &net->graph->results,
                net->graph->output->n_members > 0 ? "#" : "",
                net->graph->output);
    if (!net->built)
        net->n_shown = net->n_cells;
    if ((net->opts.loss && !build_loss(net, &root)) ||
        !cr_metric_blocks_build(net, &root))
        return false;
    cr_precision_pass(net, net->graph);
    return true;
}

static struct cr_graph *graph_new(struct cr_net *net, int64_t batch,
                                  const struct cr_column *columns,
                                  enum cr_hooks_on hooks, bool training)
{
    struct cr_graph *graph = CR_NEW(net->arena, struct cr_graph);
    struct cr_column *own =
        CR_NEWS(net->arena, struct cr_column, net->opts.n_columns + 1);
    int i;

    for (i = 0; i < net->opts.n_columns; i++) {
        own[i] = columns[i];
        own[i].name = cr_strdup(net->arena, columns[i].name);
    }
    graph->batch = batch;
    graph->hooks = hooks;
    graph->training = training;
    graph->columns = own;
    return graph;
}

static bool build_all(struct cr_net *net)
{
    const struct cr_node *network = cr_section(net->config, "network");
    struct cr_init_rules *starter;

    if (!network) {
        cr_error(net->diag, net->config->root->pos, CR_E_MISSING_SECTION,
                 "section 'network' is missing%s",
                 net->config->root->child ? "" : ": the config is empty");
        if (!net->config->root->child)
            cr_hint(net->diag, "`cellrun init` writes a first config");
        return false;
    }
    if (!cr_net_inputs(net, network))
        return false;
    starter = cr_init_rules_read(net);
    if (!starter)
        return false;
    if (!cr_amp_read(net) || !cr_modes_read(net))
        return false;
    cr_hooks_read(net);
    net->graph =
        graph_new(net, net->opts.batch, net->opts.columns, CR_HOOKS_ALL, true);
    net->opts.columns = net->graph->columns; /* the caller's may go away */
    if (!build_graph(net, starter) || !cr_init_rules_check(starter, net) ||
        !cr_amp_used(net) || !cr_modes_used(net) || !cr_hooks_used(net))
        return false;
    net->built = true;
    /* what prediction alone computes is wrong now, not after training */
    return !net->phased ||
           cr_net_graph(net, net->opts.batch, NULL, CR_HOOKS_ALL, false);
}

static bool fits(const struct cr_net *net, const struct cr_graph *graph,
                 int64_t batch, const struct cr_column *columns)
{
    int i;

    for (i = 0; i < net->opts.n_columns; i++)
        if (!cr_spec_same(&graph->columns[i].spec, &columns[i].spec))
            return false;
    return graph->batch == batch;
}

struct cr_graph *cr_net_graph(struct cr_net *net, int64_t batch,
                              const struct cr_column *columns,
                              enum cr_hooks_on hooks, bool training)
{
    struct cr_graph *usual = net->graph, *graph = usual;
    bool ok;

    if (!columns)
        columns = net->opts.columns;
    for (;; graph = graph->next) {
        if (graph->hooks == hooks && fits(net, graph, batch, columns) &&
            (graph->training == training || !net->phased))
            return graph;
        if (!graph->next)
            break;
    }
    graph->next = net->graph = graph_new(net, batch, columns, hooks, training);
    ok = build_graph(net, NULL);
    net->graph = usual;
    if (!ok) {
        graph->next = NULL;
        return NULL;
    }
    return graph->next;
}

struct cr_net *cr_net_build(struct cr_config *config,
                            const struct cr_net_opts *want)
{
    struct cr_net *net = CR_NEW(config->arena, struct cr_net);
    int i, errors = config->diag->errors;

    net->arena = config->arena;
    net->diag = config->diag;
    net->config = config;
    net->opts = *want;
    if (net->opts.batch < 1)
        net->opts.batch = 1;
    if (!build_all(net) || !cr_net_freeze(net)) {
        assert(net->diag->errors > 0); /* whoever gave up has said why */
        return NULL;
    }
    if (net->diag->errors > errors) /* in a pattern, say */
        return NULL;
    net->hyper = CR_NEWS(net->arena, struct cr_hyper, net->n_params + 1);
    for (i = 0; i < net->n_params; i++)
        net->hyper[i].lr = NAN;
    if (!want->no_values && !cr_net_init_params(net))
        return NULL;
    return net;
}

const struct cr_column *cr_net_columns(const struct cr_net *net, int *n)
{
    *n = net->opts.n_columns;
    return net->opts.columns;
}

const int *cr_net_input_columns(const struct cr_net *net, int *n)
{
    *n = net->n_input_columns;
    return net->input_columns;
}

struct cr_param *cr_net_params(const struct cr_net *net, int *n)
{
    *n = net->n_params;
    return net->params;
}

struct cr_param *cr_net_param(const struct cr_net *net, const char *name)
{
    int i = cr_name_map_get(&net->param_names, name);

    return i >= 0 ? &net->params[i] : NULL;
}

const struct cr_cell_row *cr_net_cells(const struct cr_net *net, int *n)
{
    *n = net->n_shown;
    return net->cells;
}
