/*
 * The lines of a `construct` or `bprop` text, and what a cell made of one
 * gives.
 */
#include "construct/script_interp.h"

#include <string.h>

#define VARS_MAX 200000
#define RUN_MAX 1000000 /* lines of a text, each as often as it is run */

static struct cr_var *var_new(struct cr_interp *m, const char *name)
{
    if (m->n_vars == m->room_vars) {
        int room = 2 * m->room_vars + 8;

        m->vars = cr_grow(m->b->net->arena, m->vars, (size_t)m->n_vars,
                          (size_t)room, sizeof *m->vars);
        m->room_vars = room;
    }
    m->vars[m->n_vars].name = name;
    cr_name_map_add(m->b->net->arena, &m->var_names, name, m->n_vars);
    return &m->vars[m->n_vars++];
}

static bool assign(struct cr_interp *m, const struct cr_script *e,
                   const char *name, const struct cr_script_value *value)
{
    struct cr_arena *arena = m->b->net->arena;
    struct cr_var *v = cr_interp_var(m, name);

    if (strcmp(name, "_") == 0)
        return true;
    if (cr_interp_cell(m, name))
        return cr_interp_fail(
            m, e,
            cr_strf(arena,
                    "'%s' is a cell; choose another name for the variable",
                    name));
    if (!v) {
        if (m->n_vars == VARS_MAX)
            return cr_interp_fail(
                m, e, cr_strf(arena, "more than %d variables", VARS_MAX));
        v = var_new(m, name);
    }
    v->value = *value;
    return true;
}

/* What a call does that stands alone on its line. */
static const struct statement {
    const char *name;
    bool (*run)(struct cr_interp *m, const struct cr_script *call);
} statements[] = {
    { "print", cr_interp_print },
    { "assign", cr_interp_assign },
    { NULL, NULL },
};

static const struct statement *find_statement(const char *name)
{
    const struct statement *s = statements;

    while (s->name && strcmp(s->name, name) != 0)
        s++;
    return s->name ? s : NULL;
}

bool cr_is_statement(const char *name)
{
    return find_statement(name) != NULL;
}

static bool run_statement(struct cr_interp *m, const struct cr_script *call)
{
    const struct statement *s =
        call->op == CR_SCRIPT_CALL ? find_statement(call->name) : NULL;
    struct cr_arena *arena = m->b->net->arena;

    if (call->op != CR_SCRIPT_CALL)
        return cr_interp_fail(m, call,
                              "the value is not used: write NAME = EXPRESSION");

    if (m->op && strcmp(call->name, "expect") == 0)
        return cr_function_expect(m, call);
    if (s && !cr_interp_cell(m, call->name))
        return s->run(m, call);
    return cr_interp_fail(
        m, call,
        cr_strf(arena, "the value of %s(...) is not used: write NAME = %s(...)",
                call->name, call->name));
}

/* Assigns the value to a name, or the members of a tuple to theirs. */
static bool assign_all(struct cr_interp *m, const struct cr_script *e,
                       const struct cr_script_target *target,
                       const struct cr_script_value *value)
{
    struct cr_arena *arena = m->b->net->arena;
    int i;

    if (target->name)
        return assign(m, e, target->name, value);
    if (value->kind != CR_SV_TUPLE || value->n != target->n)
        return cr_interp_fail(
            m, e,
            cr_strf(arena, "found %d name%s, but the value is %s", target->n,
                    target->n == 1 ? "" : "s",
                    cr_script_value_what(arena, value)));
    for (i = 0; i < target->n; i++)
        if (!assign_all(m, e, &target->items[i], &value->items[i]))
            return false;
    return true;
}

/* *end becomes the `return` that was met, or stays NULL. */
static bool run_lines(struct cr_interp *m, const struct cr_script_line *line,
                      struct cr_script_value *value,
                      const struct cr_script_line **end);

static bool run_if(struct cr_interp *m, const struct cr_script_line *line,
                   struct cr_script_value *value,
                   const struct cr_script_line **end)
{
    struct cr_script_value t;
    bool holds;

    return cr_interp_eval(m, line->expr, &t) &&
           cr_interp_truth(m, line->expr, &t, &holds) &&
           run_lines(m, holds ? line->body : line->other, value, end);
}

static bool run_for(struct cr_interp *m, const struct cr_script_line *line,
                    struct cr_script_value *value,
                    const struct cr_script_line **end)
{
    struct cr_script_value items;
    int i;

    if (!cr_interp_items(m, line->expr, &items))
        return false;
    for (i = 0; i < items.n && !*end; i++)
        if (!assign_all(m, line->expr, &line->target, &items.items[i]) ||
            !run_lines(m, line->body, value, end))
            return false;
    return true;
}

static bool run_line(struct cr_interp *m, const struct cr_script_line *line,
                     struct cr_script_value *value,
                     const struct cr_script_line **end)
{
    if (++m->n_run > RUN_MAX) {
        m->b->pos = cr_script_pos(&m->b->net->place, m->text, line->at,
                                  line->len);
        return cr_fail(m->b, CR_E_LIMIT, "more than %d lines are run", RUN_MAX);
    }
    switch (line->kind) {
    case CR_SCRIPT_PASS:
        return true;
    case CR_SCRIPT_STATEMENT:
        return run_statement(m, line->expr);
    case CR_SCRIPT_IF:
        return run_if(m, line, value, end);
    case CR_SCRIPT_FOR:
        return run_for(m, line, value, end);
    case CR_SCRIPT_RETURN:
        *end = line;
        return cr_interp_eval(m, line->expr, value);
    default:
        return cr_interp_eval(m, line->expr, value) &&
               assign_all(m, line->expr, &line->target, value);
    }
}

static bool run_lines(struct cr_interp *m, const struct cr_script_line *line,
                      struct cr_script_value *value,
                      const struct cr_script_line **end)
{
    for (; line && !*end; line = line->next)
        if (!run_line(m, line, value, end))
            return false;
    return true;
}

bool cr_interp_input(struct cr_interp *m, const char *name,
                     struct cr_script_value value)
{
    struct cr_var *v;

    if (cr_interp_cell(m, name))
        return cr_fail(m->b, CR_E_NETWORK, "'%s' is an input and a cell", name);
    if (cr_script_is_word(name))
        return cr_fail(m->b, CR_E_NETWORK, "'%s' is no name of an input", name);
    v = cr_interp_var(m, name);
    (v ? v : var_new(m, name))->value = value;
    return true;
}

bool cr_interp_inputs(struct cr_interp *m, const struct cr_cell_inputs *inputs,
                     struct cr_val *const *in, int n)
{
    struct cr_arena *arena = m->b->net->arena;
    struct cr_script_value rest = { .kind = CR_SV_TUPLE };
    int i;

    for (i = 0; inputs->names[i]; i++)
        if (!cr_interp_input(m, inputs->names[i],
                            cr_script_value_result(arena, in[i])))
            return false;
    if (!inputs->rest)
        return true;
    rest.items = CR_NEWS(arena, struct cr_script_value, n - i + 1);
    for (; i < n; i++)
        rest.items[rest.n++] = cr_script_value_result(arena, in[i]);
    cr_script_value_weigh(&rest);
    return cr_interp_input(m, inputs->rest, rest);
}

bool cr_interp_run(struct cr_interp *m, struct cr_script_value *value,
                  const struct cr_script **returned)
{
    const struct cr_script_line *end = NULL;

    m->lines = cr_script_parse(m->b->net->arena, m->b->net->diag, m->text);
    if (!m->lines || (!m->op && !cr_interp_no_prefixes(m)) ||
        !run_lines(m, m->lines, value, &end))
        return false;
    *returned = end->expr;
    if (!m->op)
        m->b->pos = cr_script_pos(&m->b->net->place, m->text, end->at,
                                  end->len);
    return true;
}

/* Whether part of the text speaks of the cell where it was perhaps not run. */
static bool mentions(const struct cr_script *e, const char *name, bool idle)
{
    for (; e; e = e->next)
        if ((idle && (e->op == CR_SCRIPT_NAME || e->op == CR_SCRIPT_CALL) &&
             strcmp(e->name, name) == 0) ||
            mentions(e->args, name,
                     idle || e->op == CR_SCRIPT_CHOICE ||
                         e->op == CR_SCRIPT_BINARY))
            return true;
    return false;
}

static bool may_return(const struct cr_script_line *line)
{
    for (; line; line = line->next)
        if (line->kind == CR_SCRIPT_RETURN || may_return(line->body) ||
            may_return(line->other))
            return true;
    return false;
}

static bool idle_mentions(const struct cr_script_line *line, const char *name,
                          bool idle)
{
    for (; line; line = line->next) {
        if (mentions(line->expr, name, idle) ||
            idle_mentions(line->body, name, true) ||
            idle_mentions(line->other, name, true))
            return true;
        idle = idle || may_return(line->body) || may_return(line->other);
    }
    return false;
}

/* Whether a cell was called, or all those of a list. */
static bool called(const struct cr_build *b, const char *path, const char *name,
                   const struct cr_node *node)
{
    const char *full =
        cr_path_of(b->net->arena, path,
                   path == b->path ? cr_reference_name(b, name) : name);
    const struct cr_node *cells = cr_node_get(b->node, "cells");
    const struct cr_node *members = cr_cell_list(node), *other;
    int i = 0;

    other = cells ? cr_reference(cells, node) : node;
    if (other != node)
        return called(b, b->path, other->key, other);
    if (cr_name_map_get(&b->net->cell_names, full) >= 0)
        return true;
    for (CR_EACH(c, members))
        if (!called(b, full, cr_member_name(b->net->arena, c, i++), c))
            return false;
    return members && members->child;
}

/* A member that nothing calls is a slip of the pen. */
static bool all_called(const struct cr_interp *m)
{
    struct cr_build *b = m->b;
    bool ok = true;

    for (CR_EACH(c, m->cells)) {
        if (called(b, b->path, c->key, c) || cr_reference(m->cells, c) != c ||
            cr_reference_held(b->net, m->cells, c->key) ||
            idle_mentions(m->lines, c->key, false))
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
    struct cr_interp m = { .b = b,
                           .cells = cr_node_get(node, "cells"),
                           .text = cr_node_get(node, "construct") };
    const struct cr_script *returned = NULL;
    struct cr_script_value value = { 0 };
    struct cr_pos pos = b->pos;
    struct cr_val *out;
    const char *wrong;

    if (!b->is_repeat_call && !cr_references_right(b))
        return NULL;
    wrong = cr_cell_inputs_wrong(b->net, "the cell", inputs, b->n_in);
    if (wrong) { /* called by a list or a map, not by a text */
        cr_fail(b, CR_E_NETWORK, "%s", wrong);
        return NULL;
    }
    if (!cr_interp_inputs(&m, &inputs, in, b->n_in))
        return NULL;
    if (!cr_interp_run(&m, &value, &returned))
        return NULL;
    out = cr_interp_val(&m, returned, &value);
    if (out && cr_node_get(node, "bprop"))
        out = cr_bprop(b, node, in, out);
    if (!out || !all_called(&m))
        return NULL;
    b->pos = pos;
    return out;
}
