/*
 * What comes in where there is no data to tell: `inputs` of the network, or
 * the first cell that says how many features it takes.
 */
#include "base/str.h"
#include "graph/graph.h"

#include <string.h>

/* ---- what cells take ---- */

static const char *const one_input[] = { "x", NULL };

bool cr_is_construct(const struct cr_node *node)
{
    return node->kind == CR_NODE_MAP &&
           (cr_node_get(node, "construct") || cr_node_get(node, "cells") ||
            cr_node_get(node, "bprop"));
}

/* The names under `inputs`: of a map, a list, or one alone. */
static struct cr_cell_inputs listed(const struct cr_net *net,
                                    const struct cr_node *inputs)
{
    const char **names =
        CR_NEWS(net->arena, const char *, cr_node_count(inputs) + 2);
    const char *rest;
    int n = 0;

    if (inputs->kind == CR_NODE_STR)
        names[n++] = inputs->text;
    for (CR_EACH(m, inputs))
        names[n++] = inputs->kind == CR_NODE_MAP ? m->key
                     : m->kind == CR_NODE_STR    ? m->text
                                                 : "?";
    if (n == 0 || names[n - 1][0] != '*')
        return (struct cr_cell_inputs){ n, n, names, NULL };
    rest = names[--n] + 1;
    names[n] = NULL;
    return (struct cr_cell_inputs){ n, CR_OP_MAX, names, rest };
}

const char *cr_input_name(const struct cr_net *net,
                          const struct cr_cell_inputs *inputs, int i)
{
    return inputs->rest && i >= inputs->min
               ? cr_strf(net->arena, "%s[%d]", inputs->rest, i - inputs->min)
               : inputs->names[i];
}

const char *cr_cell_inputs_wrong(const struct cr_net *net, const char *name,
                                 struct cr_cell_inputs inputs, int n)
{
    struct cr_buf names = { .arena = net->arena };
    int i;

    if (n >= inputs.min && n <= inputs.max)
        return NULL;
    for (i = 0; inputs.names && inputs.names[i]; i++)
        cr_buf_f(&names, "%s%s", i ? ", " : "", inputs.names[i]);
    if (inputs.rest)
        cr_buf_f(&names, "%s*%s", i ? ", " : "", inputs.rest);
    if (inputs.min == inputs.max)
        return cr_strf(net->arena, "%s: expected %d input%s (%s), found %d",
                       name, inputs.min, inputs.min == 1 ? "" : "s",
                       cr_buf_text(&names), n);
    return cr_strf(net->arena, "%s: expected %d to %d inputs (%s), found %d",
                   name, inputs.min, inputs.max, cr_buf_text(&names), n);
}

const struct cr_opt *cr_cell_call(const struct cr_node *node,
                                  const char *name)
{
    const struct cr_node *args;
    const char *type = cr_node_type(node, &args);
    const struct cr_cell *cell = type ? cr_cell_find(type) : NULL;
    const struct cr_opt *row = cell && cell->call ? cell->call->opts : NULL;

    while (row && row->name && strcmp(row->name, name) != 0)
        row++;
    return row && row->name ? row : NULL;
}

struct cr_cell_inputs cr_cell_inputs(const struct cr_net *net,
                                     const struct cr_node *node)
{
    const struct cr_node *args, *inputs;
    const char *type = cr_node_type(node, &args);
    const struct cr_cell *cell = type ? cr_cell_find(type) : NULL;
    const char **names;
    int i;

    if (type && !cell)
        cell = cr_loss_find(type);
    if (cell) {
        if (cell->inputs || cell->max_inputs == 0)
            return (struct cr_cell_inputs){ cell->min_inputs, cell->max_inputs,
                                            cell->inputs, NULL };
        names = CR_NEWS(net->arena, const char *, cell->max_inputs + 1);
        for (i = 0; i < cell->max_inputs; i++)
            names[i] = i == 0 ? "x"
                       : cell->targets && cell->targets[i - 1]
                           ? cell->targets[i - 1]
                           : cr_strf(net->arena, "input%d", i + 1);
        return (struct cr_cell_inputs){ cell->min_inputs, cell->max_inputs,
                                        names, NULL };
    }
    inputs = node->kind == CR_NODE_MAP ? cr_node_get(node, "inputs") : NULL;
    if (inputs && (inputs->kind == CR_NODE_STR || inputs->child))
        return listed(net, inputs);
    return (struct cr_cell_inputs){ 1, 1, one_input, NULL };
}

/* Whether a loss or metric written in the config names the column after its
 * first input, which is the network's output. */
static bool truth_named(const struct cr_node *node, const char *name)
{
    const struct cr_node *inputs =
        node->kind == CR_NODE_MAP ? cr_node_get(node, "inputs") : NULL;

    for (int i = 1; i < cr_node_count(inputs); i++) {
        const struct cr_node *m = cr_node_at(inputs, i);
        const char *text = m->key ? m->key : m->text;

        if (text && strcmp(text, name) == 0)
            return true;
    }
    return false;
}

bool cr_is_truth_column(const struct cr_config *config, const char *name)
{
    const struct cr_node *args, *loss = cr_section(config, "loss");
    const struct cr_node *metrics = cr_section(config, "metrics");
    const char *type = loss ? cr_node_type(loss, &args) : NULL;
    const struct cr_cell *cell = type ? cr_loss_find(type) : NULL;

    for (int i = 0; cell && cell->targets && cell->targets[i]; i++)
        if (strcmp(cell->targets[i], name) == 0)
            return true;
    for (CR_EACH(m, metrics && metrics->kind == CR_NODE_LIST ? metrics : NULL))
        if (truth_named(m, name))
            return true;
    return strcmp(name, "label") == 0 || (loss && truth_named(loss, name)) ||
           (metrics && truth_named(metrics, name));
}

int cr_net_targets(const struct cr_net *net, const char *const **names)
{
    const struct cr_node *args, *node = cr_section(net->config, "loss");
    const char *type = node ? cr_node_type(node, &args) : NULL;
    const struct cr_cell *loss = type ? cr_loss_find(type) : NULL;
    static const char *const label[] = { "label", NULL };
    int n = 0, results = net->graph->output->n_members;

    *names = NULL;
    if (loss) {
        *names = loss->targets;
        while (loss->targets[n])
            n++;
    } else if (node && !type && cr_is_construct(node)) {
        struct cr_cell_inputs inputs = cr_cell_inputs(net, node);

        results = results > 0 ? results : 1;
        while (inputs.names[n])
            n++;
        *names = inputs.names + (n > results ? results : n);
        n = n > results ? n - results : 0;
        if (inputs.rest && n == 0) {
            *names = label;
            n = 1;
        }
    }
    return n;
}

/* `*NAME` is the last of `inputs`, and a name follows the star. */
static bool rest_right(struct cr_build *b, const struct cr_node *inputs)
{
    bool ok = true;

    for (CR_EACH(m, inputs)) {
        const char *text = m->key                   ? m->key
                           : m->kind == CR_NODE_STR ? m->text
                                                    : "";

        if (text[0] == '*' &&
            (m->next || m->key || !text[1] || strchr(text + 1, '*')))
            ok = cr_error(b->net->diag, m->pos, CR_E_FORM,
                          "inputs: found '%s', expected names and, as the last "
                          "one of a list, *NAME",
                          text);
    }
    return ok;
}

bool cr_construct_keys(struct cr_build *b, const struct cr_node *node)
{
    struct cr_net *net = b->net;
    const struct cr_node *cells = cr_node_get(node, "cells");
    const struct cr_node *word = cr_node_get(node, "auto_prefix");
    bool ok = true;

    for (CR_EACH(m, node)) {
        if (cr_is_cell_key(m->key) &&
            !(strstr(m->key, "aux") &&
              (!b->loss || strcmp(b->path, "loss") != 0)))
            continue;
        if (cr_is_cell_key(m->key)) {
            ok = cr_error(net->diag, m->key_pos, CR_E_UNKNOWN_KEY,
                          "'%s' is allowed in the section loss only", m->key);
            continue;
        }
        ok = cr_error(net->diag, m->key_pos, CR_E_UNKNOWN_KEY,
                      "'%s' is not allowed next to cells and construct; move a "
                      "cell under 'cells'",
                      m->key);
        if (cr_closest_name(m->key, cr_modifiers(CR_KIND_CELL)))
            cr_hint(net->diag, "did you mean '%s'?",
                    cr_closest_name(m->key, cr_modifiers(CR_KIND_CELL)));
    }
    if (word && word->kind != CR_NODE_BOOL)
        ok = cr_error(net->diag, word->pos, CR_E_WRONG_TYPE,
                      "auto_prefix: found %s, expected true or false",
                      cr_node_what(net->arena, word));
    ok = rest_right(b, cr_node_get(node, "inputs")) && ok;
    if (!cr_node_get(node, "construct"))
        ok = cells ? cr_error(net->diag, cells->pos, CR_E_MISSING_KEY,
                              "'cells' requires 'construct' next to it: the "
                              "lines that call the cells")
                   : cr_error(net->diag, cr_node_get(node, "bprop")->pos,
                              CR_E_MISSING_KEY,
                              "'bprop' requires 'construct' next to it");
    if (cells && cells->kind != CR_NODE_MAP && cells->kind != CR_NODE_NULL)
        ok = cr_error(net->diag, cells->pos, CR_E_WRONG_TYPE,
                      "cells: found %s, expected a map of names",
                      cr_node_what(net->arena, cells));
    for (CR_EACH(m, cells && cells->kind == CR_NODE_MAP ? cells : NULL))
        ok = cr_member_key(b, m) && ok;
    return ok;
}

/* ---- what comes in ---- */

static bool inputs_type(struct cr_net *net, const struct cr_node *type,
                        enum cr_type *to)
{
    if (type->kind != CR_NODE_STR || !cr_type_find(type->text, to))
        return cr_error(net->diag, type->pos, CR_E_UNKNOWN_TYPE,
                        "type %s not found", cr_node_what(net->arena, type));
    if (*to == CR_F32 || *to == CR_F64)
        *to = CR_REAL;
    return true;
}

static bool inputs_shape(struct cr_net *net, const struct cr_node *shape,
                         struct cr_spec *to)
{
    if (shape->kind != CR_NODE_LIST || cr_node_count(shape) >= CR_RANK_MAX)
        return cr_error(net->diag, shape->pos, CR_E_WRONG_TYPE,
                        "shape: expected a list of up to %d sizes, found %s",
                        CR_RANK_MAX - 1, cr_node_what(net->arena, shape));
    for (CR_EACH(d, shape)) {
        if (d->kind != CR_NODE_INT || d->integer < 1 || d->integer > CR_DIM_MAX)
            return cr_error(net->diag, d->pos, CR_E_OUT_OF_RANGE,
                            "shape: found %s, expected a positive integer",
                            cr_node_what(net->arena, d));
        to->dim[to->rank++] = d->integer;
    }
    return true;
}

/* One of `inputs: {x: {shape: [1, 28, 28], type: float32}}`. */
static bool inputs_read(struct cr_net *net, const struct cr_node *node,
                        struct cr_column *to)
{
    bool ok = true, shaped = false;

    to->name = node->key;
    to->spec = CR_SCALAR;
    for (CR_EACH(m, node->kind == CR_NODE_MAP ? node : NULL)) {
        if (strcmp(m->key, "shape") == 0)
            ok = shaped = inputs_shape(net, m, &to->spec) && ok;
        else if (strcmp(m->key, "type") == 0)
            ok = inputs_type(net, m, &to->spec.type) && ok;
        else
            ok = cr_error(net->diag, m->key_pos, CR_E_UNKNOWN_KEY,
                          "'%s' is not a key of an input; use shape and type",
                          m->key);
    }
    if (ok && !shaped)
        return cr_error(net->diag, node->pos, CR_E_MISSING_KEY,
                        "input '%s' has no shape, and there is no data set: "
                        "add {shape: [...]}",
                        node->key);
    return ok;
}

/* The value of a cell's option that tells its features; 0: not given. */
static int64_t given_features(const struct cr_cell *cell,
                              const struct cr_node *args)
{
    const struct cr_opt *row = cell->about.opts;
    const struct cr_node *value;
    int at = 0;

    for (; strcmp(row->name, cell->features) != 0; row++)
        at++;
    if (!args)
        return 0;
    if (args->kind == CR_NODE_MAP)
        value = cr_node_get(args, cell->features);
    else if (args->kind == CR_NODE_LIST)
        value = cr_node_at(args, at);
    else
        value = at == 0 ? args : NULL;
    return value && value->kind == CR_NODE_INT && value->integer > 0 &&
                   value->integer <= CR_DIM_MAX
               ? value->integer
               : 0;
}

/* Looks at cells in the order of their calls until one settles it; *to stays
 * 0 where none tells. */
static bool find_features(const struct cr_node *node, int depth, int64_t *to)
{
    const struct cr_node *args = NULL;
    const char *type = cr_node_type(node, &args);
    const struct cr_cell *cell = type ? cr_cell_find(type) : NULL;

    if (depth > CR_CELL_DEPTH || (type && !cell))
        return true;
    if (cell && !cell->takes_cells) {
        if (cell->features)
            *to = given_features(cell, args);
        return !cell->flat;
    }
    for (CR_EACH(m, type ? args : node))
        if (!(m->key && strcmp(m->key, "inputs") == 0) &&
            find_features(m, depth + 1, to))
            return true;
    return false;
}

bool cr_net_inputs(struct cr_net *net, const struct cr_node *network)
{
    const struct cr_node *inputs =
        network->kind == CR_NODE_MAP ? cr_node_get(network, "inputs") : NULL;
    struct cr_column *columns;
    int64_t features = 0;
    bool ok = true;
    int n = 0;

    if (net->opts.n_columns > 0)
        return true;
    columns = CR_NEWS(net->arena, struct cr_column, cr_node_count(inputs) + 1);
    if (inputs && inputs->kind == CR_NODE_MAP) {
        for (CR_EACH(m, inputs))
            ok = inputs_read(net, m, &columns[n++]) && ok;
    } else {
        if (!inputs || cr_node_count(inputs) <= 1)
            find_features(network, 0, &features);
        if (features == 0) {
            cr_error(net->diag, network->pos, CR_E_INPUT,
                     "cannot infer the input shape: there is no data set, and "
                     "the first cell does not declare its input features");
            cr_note(net->diag, "   add `inputs: {x: {shape: [...]}}` under "
                               "network, without the batch dimension");
            return false;
        }
        columns[n].name = cr_cell_inputs(net, network).names[0];
        if (!columns[n].name) /* *args alone */
            columns[n].name = one_input[0];
        columns[n++].spec = CR_SPEC(features);
    }
    net->opts.columns = columns;
    net->opts.n_columns = n;
    return ok;
}

/* Where `inputs` of the network ends with *args: that and the columns that
 * neither it nor a loss or metric names. */
static struct cr_cell_inputs input_rest(struct cr_net *net,
                                        const struct cr_node *network,
                                        struct cr_cell_inputs inputs)
{
    const char **names;
    int i, k, n = 0;

    if (!inputs.rest)
        return inputs;
    names = CR_NEWS(net->arena, const char *,
                    inputs.min + net->opts.n_columns + 1);
    while (inputs.names[n]) {
        names[n] = inputs.names[n];
        n++;
    }
    for (i = 0; i < net->opts.n_columns; i++) {
        const char *name = net->opts.columns[i].name;

        for (k = 0; k < n && strcmp(names[k], name) != 0; k++)
            ;
        if (k == n && !cr_is_truth_column(net->config, name))
            names[n++] = name;
    }
    if (n == 0)
        cr_error(net->diag, network->pos, CR_E_NETWORK,
                 "the data has no column for '*%s' of the network",
                 inputs.rest);
    return (struct cr_cell_inputs){ n, n, names, NULL };
}

struct cr_cell_inputs cr_net_input_names(struct cr_net *net,
                                         const struct cr_node *network)
{
    static const struct cr_cell_inputs none = { 0, 0, NULL, NULL };
    const char **found = CR_NEWS(net->arena, const char *, 2);
    int i;

    if (network->kind == CR_NODE_MAP && cr_node_get(network, "inputs"))
        return input_rest(net, network, cr_cell_inputs(net, network));
    for (i = 0; i < net->opts.n_columns; i++) {
        const char *name = net->opts.columns[i].name;

        if (strcmp(name, "label") == 0)
            continue;
        if (found[0]) {
            cr_error(net->diag, network->pos, CR_E_NETWORK,
                     "the data has several columns (%s, %s): the network "
                     "must name its own with `inputs`",
                     found[0], name);
            return none;
        }
        found[0] = name;
    }
    if (!found[0])
        found[0] = "x";
    return (struct cr_cell_inputs){ 1, 1, found, NULL };
}

int cr_rest_label(struct cr_net *net, const struct cr_cell_inputs *inputs,
                  int names, int n, struct cr_val **in)
{
    int i;

    if (!inputs->rest || names > n || n == CR_OP_MAX)
        return n;
    for (i = 0; i < names; i++)
        if (strcmp(inputs->names[i], "label") == 0)
            return n;
    for (i = 0; i < net->opts.n_columns; i++)
        if (strcmp(net->opts.columns[i].name, "label") == 0)
            in[n++] = cr_net_feed(net, "label", CR_NOWHERE);
    return n;
}
