/*
 * The lines of a `construct` or `bprop` text, and what a cell made of one
 * gives.
 */
#include "net/maker.h"

#include <string.h>

#define VARS_MAX 1000

static struct cr_var *var_new(struct cr_maker *m, const char *name)
{
    if (m->n_vars == m->room_vars) {
        int room = 2 * m->room_vars + 8;

        m->vars = cr_grow(m->b->net->arena, m->vars, (size_t)m->n_vars,
                          (size_t)room, sizeof *m->vars);
        m->room_vars = room;
    }
    m->vars[m->n_vars].name = name;
    return &m->vars[m->n_vars++];
}

static bool assign(struct cr_maker *m, const struct cr_script *e,
                   const char *name, const struct cr_thing *value)
{
    struct cr_arena *arena = m->b->net->arena;
    struct cr_var *v = cr_maker_var(m, name);

    if (strcmp(name, "_") == 0)
        return true;
    if (cr_node_get(m->cells, name))
        return cr_maker_fail(
            m, e,
            cr_strf(arena, "'%s' is a cell; a variable needs another name",
                    name));
    if (!v) {
        if (m->n_vars == VARS_MAX)
            return cr_maker_fail(
                m, e, cr_strf(arena, "more than %d variables", VARS_MAX));
        v = var_new(m, name);
    }
    v->value = *value;
    return true;
}

/* What a call does that stands alone on its line. */
static const struct statement {
    const char *name;
    bool (*run)(struct cr_maker *m, const struct cr_script *call);
} statements[] = {
    { NULL, NULL },
};

static const struct statement *find_statement(const char *name)
{
    const struct statement *s = statements;

    while (s->name && strcmp(s->name, name) != 0)
        s++;
    return s->name ? s : NULL;
}

static bool run_statement(struct cr_maker *m, const struct cr_script *call)
{
    const struct statement *s = find_statement(call->name);
    struct cr_arena *arena = m->b->net->arena;

    if (s && !cr_node_get(m->cells, call->name))
        return s->run(m, call);
    return cr_maker_fail(
        m, call,
        cr_strf(arena, "the value of %s(...) is not used: write NAME = %s(...)",
                call->name, call->name));
}

static bool run_line(struct cr_maker *m, const struct cr_script_line *line,
                     struct cr_thing *value)
{
    struct cr_arena *arena = m->b->net->arena;
    int i;

    if (line->statement)
        return run_statement(m, line->expr);
    if (!cr_maker_eval(m, line->expr, value))
        return false;
    if (line->n_names == 0)
        return true;
    if (line->n_names == 1)
        return assign(m, line->expr, line->names[0], value);
    if (value->kind != TUPLE || value->n != line->n_names)
        return cr_maker_fail(m, line->expr,
                             cr_strf(arena, "%d names, but the value is %s",
                                     line->n_names,
                                     cr_thing_what(arena, value)));
    for (i = 0; i < line->n_names; i++)
        if (!assign(m, line->expr, line->names[i], &value->items[i]))
            return false;
    return true;
}

bool cr_maker_input(struct cr_maker *m, const char *name, struct cr_thing value)
{
    if (cr_node_get(m->cells, name))
        return cr_fail(m->b, CR_E_NETWORK, "'%s' is an input and a cell", name);
    var_new(m, name)->value = value;
    return true;
}

bool cr_maker_run(struct cr_maker *m, struct cr_thing *value,
                  const struct cr_script **returned)
{
    struct cr_script_line *line =
        cr_script_parse(m->b->net->arena, m->b->net->diag, m->text);

    for (; line; line = line->next) {
        if (!run_line(m, line, value))
            return false;
        if (line->n_names > 0 || line->statement)
            continue;
        *returned = line->expr;
        if (!m->op)
            m->b->pos = cr_script_pos(m->text, line->at, line->len);
        return true;
    }
    return false;
}

/* A member that nothing calls is a slip of the pen. */
static bool all_called(struct cr_build *b, const struct cr_node *cells)
{
    bool ok = true;

    for (CR_EACH(c, cells)) {
        if (cr_name_map_get(&b->net->cell_names,
                            cr_path_of(b->net->arena, b->path, c->key)) >= 0)
            continue;
        b->pos = c->key_pos;
        ok = cr_fail(b, CR_E_NETWORK, "construct never calls the cell '%s'",
                     c->key);
    }
    return ok;
}

struct cr_val *cr_construct(struct cr_build *b, const struct cr_node *node,
                            struct cr_val *const *in)
{
    const struct cr_cell_inputs inputs = cr_cell_inputs(b->net, node);
    struct cr_maker m = { .b = b,
                          .cells = cr_node_get(node, "cells"),
                          .text = cr_node_get(node, "construct") };
    const struct cr_script *returned = NULL;
    struct cr_thing value = { 0 };
    struct cr_pos pos = b->pos;
    struct cr_val *out;
    int i;

    if (b->n_in != inputs.max) { /* called by a list or a map, not by a text */
        cr_fail(b, CR_E_NETWORK, "the cell takes %d inputs, %d %s given",
                inputs.max, b->n_in, b->n_in == 1 ? "is" : "are");
        return NULL;
    }
    for (i = 0; i < inputs.max; i++)
        if (!cr_maker_input(&m, inputs.names[i],
                            cr_thing_result(b->net->arena, in[i])))
            return NULL;
    if (!cr_maker_run(&m, &value, &returned))
        return NULL;
    out = cr_maker_val(&m, returned, &value);
    if (out && cr_node_get(node, "bprop"))
        out = cr_bprop(b, node, in, out);
    if (!out || !all_called(b, m.cells))
        return NULL;
    b->pos = pos;
    return out;
}
