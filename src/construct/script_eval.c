/*
 * `cells` and `construct`: a Cell whose forward pass is written out.
 *
 * The text is walked while the graph is built and gone before the first step.
 * What it computes with are tensors, numbers (folded here, in Python's
 * sense), tuples of either, texts, cells and None. A name is a variable, a
 * member of `cells`, or an op of the registry that says it is a function.
 */
#include "base/str.h"
#include "conf/terms.h"
#include "construct/gradient.h"
#include "construct/script_interp.h"
#include "families/axis.h"
#include "graph/op_attrs.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define ITEMS_MAX 64 /* of a tuple */

static bool eval(struct cr_interp *m, const struct cr_script *e,
                 struct cr_script_value *to);

/* ---- what is said when something does not fit ---- */

static struct cr_pos place(const struct cr_interp *m, const struct cr_script *e)
{
    return m->op ? m->at
                 : cr_script_pos(&m->b->net->place, m->text, e->at, e->len);
}

static struct cr_var *find_var(struct cr_interp *m, const char *name)
{
    int i = cr_name_map_get(&m->var_names, name);

    return i >= 0 ? &m->vars[i] : NULL;
}

/* "y (64, 16, 8, 8), x (64, 16, 9, 9)": the tensors an expression names. */
static void shapes_of(struct cr_interp *m, const struct cr_script *e,
                      struct cr_buf *to)
{
    struct cr_arena *arena = m->b->net->arena;
    const struct cr_script *a;
    const struct cr_var *v =
        e->op == CR_SCRIPT_NAME ? find_var(m, e->name) : NULL;

    if (v && v->value.kind == CR_SV_TENSOR) {
        const char *one = cr_strf(arena, "%s %s", v->name,
                                  cr_diag_format(arena, &v->value.val->spec));

        if (!to->text || !strstr(cr_buf_text(to), one))
            cr_buf_f(to, "%s%s", to->text ? ", " : "", one);
    }
    for (a = e->args; a; a = a->next)
        shapes_of(m, a, to);
}

/* After an error was reported below: the shapes that went in. */
static bool trouble(struct cr_interp *m, const struct cr_script *e)
{
    struct cr_buf shapes = { .arena = m->b->net->arena };
    struct cr_net *net = m->b->net;

    if (m->noted)
        return false;
    m->noted = true;
    if (net->noted == net->diag->errors)
        return false; /* the innermost text has told its own */
    net->noted = net->diag->errors;
    shapes_of(m, e, &shapes);
    if (shapes.text)
        cr_note(m->b->net->diag, "   %s", cr_buf_text(&shapes));
    return false;
}

static bool fail(struct cr_interp *m, const struct cr_script *e,
                 const char *format, ...) CR_PRINTF(3, 4);
static bool fail(struct cr_interp *m, const struct cr_script *e,
                 const char *format, ...)
{
    va_list args;

    m->b->pos = place(m, e);
    va_start(args, format);
    cr_fail(m->b, CR_E_NETWORK, "%s", cr_vstrf(m->b->net->arena, format, args));
    va_end(args);
    return trouble(m, e);
}

/* As a value of the graph; NULL after reporting. */
static struct cr_val *as_val(struct cr_interp *m, const struct cr_script *e,
                             const struct cr_script_value *t)
{
    struct cr_val *v = cr_script_value_val(m->b, t);

    if (!v && t->kind == CR_SV_CELL)
        fail(m, e, "'%s' is a cell: call it, %s(...)", t->text, t->text);
    else if (!v)
        fail(m, e, "found %s, expected a tensor",
             cr_script_value_what(m->b->net->arena, t));
    return v;
}

/* ---- operators ---- */

static bool is_cell(struct cr_interp *m, const struct cr_script *e,
                    const struct cr_script_value *t)
{
    return t->kind == CR_SV_CELL && !as_val(m, e, t);
}

/* What stands next to an operator: anything but a cell. */
static bool operand(struct cr_interp *m, const struct cr_script *e,
                    struct cr_script_value *to)
{
    return eval(m, e, to) && !is_cell(m, e, to);
}

static bool emit_two(struct cr_interp *m, const struct cr_script *e,
                     const char *sign, const struct cr_script_value *a,
                     const struct cr_script_value *b,
                     struct cr_script_value *to)
{
    struct cr_val *x, *y, *v;

    m->b->pos = place(m, e);
    x = as_val(m, e, a);
    y = x ? as_val(m, e, b) : NULL;
    v = y ? CR_EMIT(m->b, sign, NULL, x, y) : NULL;
    *to = cr_script_value_tensor(v);
    return v || trouble(m, e);
}

/* (1, 2) + (3,) */
static bool join(struct cr_interp *m, const struct cr_script *e,
                 const struct cr_script_value *a,
                 const struct cr_script_value *b, struct cr_script_value *to)
{
    struct cr_script_value t = { .kind = CR_SV_TUPLE, .n = a->n + b->n };

    if (t.n > ITEMS_MAX)
        return fail(m, e, "a tuple of more than %d", ITEMS_MAX);
    t.items = CR_NEWS(m->b->net->arena, struct cr_script_value, t.n + 1);
    memcpy(t.items, a->items, (size_t)a->n * sizeof *t.items);
    memcpy(t.items + a->n, b->items, (size_t)b->n * sizeof *t.items);
    *to = t;
    return cr_interp_weigh(m, e, to);
}

static bool two(struct cr_interp *m, const struct cr_script *e,
                const char *sign, const struct cr_script_value *a,
                const struct cr_script_value *b, struct cr_script_value *to)
{
    const char *wrong;
    bool done;

    if (!cr_interp_compare(m, e, sign, a, b, to, &done))
        return false;
    if (done)
        return true;
    if (cr_script_value_number(a) && cr_script_value_number(b)) {
        wrong = cr_script_value_fold(sign, a, b, to);
        return !wrong || fail(m, e, "%s", wrong);
    }
    if (a->kind == CR_SV_TUPLE && b->kind == CR_SV_TUPLE &&
        strcmp(sign, "add") == 0)
        return join(m, e, a, b, to);
    return emit_two(m, e, sign, a, b, to);
}

static bool eval_chain(struct cr_interp *m, const struct cr_script *e,
                       struct cr_script_value *to)
{
    const struct cr_script *link;
    struct cr_script_value a, b, one, all = { 0 };

    if (!eval(m, e->args, &a))
        return false;
    for (link = e->args->next; link; link = link->next, a = b) {
        if (!eval(m, link->args, &b) || !two(m, e, link->sign, &a, &b, &one))
            return false;
        if (all.kind == CR_SV_NONE)
            all = one;
        else if (!two(m, e, "logical_and", &all, &one, &all))
            return false;
    }
    *to = all;
    return true;
}

static bool eval_binary(struct cr_interp *m, const struct cr_script *e,
                        struct cr_script_value *to)
{
    bool both = strcmp(e->sign, "logical_and") == 0, holds;
    bool either = strcmp(e->sign, "logical_or") == 0;
    struct cr_script_value a, b;

    if (!operand(m, e->args, &a))
        return false;
    if ((both || either) && a.kind != CR_SV_TENSOR) { /* Python's */
        if (!cr_interp_truth(m, e, &a, &holds))
            return false;
        return holds == both ? eval(m, e->args->next, to) : (*to = a, true);
    }
    return operand(m, e->args->next, &b) && two(m, e, e->sign, &a, &b, to);
}

static bool eval_unary(struct cr_interp *m, const struct cr_script *e,
                       struct cr_script_value *to)
{
    struct cr_val *v;
    struct cr_script_value a;
    bool holds;

    if (!eval(m, e->args, &a))
        return false;
    if (a.kind != CR_SV_TENSOR && strcmp(e->sign, "logical_not") == 0) {
        if (!cr_interp_truth(m, e, &a, &holds))
            return false;
        return *to = cr_script_value_truth(!holds), true;
    }
    if (cr_script_value_number(&a)) {
        *to = a.kind == CR_SV_REAL ? cr_script_value_real(-a.real)
                                   : cr_script_value_integer(-a.integer);
        return true;
    }
    m->b->pos = place(m, e);
    v = as_val(m, e, &a);
    v = v ? CR_EMIT(m->b, e->sign, NULL, v) : NULL;
    *to = cr_script_value_tensor(v);
    return v || trouble(m, e);
}

/* ---- functions ---- */

const void *cr_interp_options(struct cr_interp *m, const struct cr_script *e,
                              const struct cr_op *op,
                              const struct cr_node *given)
{
    struct cr_net *net = m->b->net;
    void *attr = cr_alloc(net->arena, 1, op->about.size + 1);

    return cr_opts_read(net->arena, net->diag, &op->about, given, place(m, e),
                        attr)
               ? attr
               : NULL;
}

/* What a call gives an op: tensors to its inputs, the rest to its options. */
struct given {
    struct cr_val *in[CR_OP_MAX];
    int n;
    struct cr_node *map, **last;
    const struct cr_opt *row; /* the next by position */
};

/* To be filled; .last points into the map, so it may be copied. */
static struct given given_none(struct cr_interp *m, const struct cr_script *e,
                               const struct cr_opt *rows)
{
    struct given g = { .row = rows };

    g.map = CR_NEW(m->b->net->arena, struct cr_node);
    g.map->kind = CR_NODE_MAP;
    g.map->pos = place(m, e);
    g.last = &g.map->child;
    return g;
}

static bool give_input(struct cr_interp *m, const struct cr_script *e,
                       struct given *g, int i, const struct cr_script_value *t)
{
    if (g->in[i])
        return fail(m, e, "duplicate argument '%s'", e->keyword);
    if (t->kind == CR_SV_NONE)
        return true;
    m->b->pos = place(m, e);
    g->in[i] = as_val(m, e, t);
    g->n = g->n > i ? g->n : i + 1;
    return g->in[i] != NULL;
}

static bool give_option(struct cr_interp *m, const struct cr_script *e,
                        struct given *g, const char *name,
                        const struct cr_script_value *t)
{
    struct cr_node *node;

    for (CR_EACH(other, g->map))
        if (strcmp(other->key, name) == 0)
            return fail(m, e, "duplicate argument '%s'", name);
    if (t->kind == CR_SV_NONE)
        return true;
    node = cr_script_value_node(m->b->net->arena, place(m, e), t);
    if (!node) {
        fail(m, e, "%s: expected a number, a string or a tuple, found %s",
             name, cr_script_value_what(m->b->net->arena, t));
        if (strcmp(name, "axis") == 0)
            cr_hint(m->b->net->diag, "the larger of two tensors is "
                    "maximum(a, b), the smaller minimum(a, b)");
        return false;
    }
    node->key = name;
    node->key_pos = node->pos;
    *g->last = node;
    g->last = &node->next;
    return true;
}

static bool give(struct cr_interp *m, const struct cr_script *call,
                 const struct cr_script *e, const struct cr_op *op,
                 struct given *g)
{
    struct cr_script_value t;
    int i;

    /* a bare word such as float32 is a text where an option stands */
    if (e->op == CR_SCRIPT_NAME && !find_var(m, e->name) &&
        !cr_interp_cell(m, e->name) && g->n >= op->min_inputs)
        t = (struct cr_script_value){ .kind = CR_SV_STRING, .text = e->name };
    else if (!eval(m, e, &t))
        return false;
    if (e->keyword) {
        i = cr_op_input(op, e->keyword);
        return i >= 0 ? give_input(m, e, g, i, &t)
                      : give_option(m, e, g, e->keyword, &t);
    }
    if (t.kind == CR_SV_TUPLE && g->n == 0 && op->max_inputs > 3) {
        for (i = 0; i < t.n; i++) {
            if (g->n == op->max_inputs)
                return fail(m, e, "%s: more than %d tensors", op->about.name,
                            op->max_inputs);
            if (!give_input(m, e, g, g->n, &t.items[i]))
                return false;
        }
        return true;
    }
    if (g->n < op->min_inputs ||
        (t.kind == CR_SV_TENSOR && g->n < op->max_inputs))
        return give_input(m, e, g, g->n, &t);
    if (!g->row || !g->row->name)
        return fail(m, call, "too many arguments for %s", op->about.name);
    return give_option(m, e, g, (g->row++)->name, &t);
}

/* shape(x, i): a number, of this graph. */
static bool eval_shape(struct cr_interp *m, const struct cr_script *e,
                       struct cr_script_value *to)
{
    struct cr_script_value t;
    int64_t i;
    int rank, k;

    if (!e->args || (e->args->next && e->args->next->next))
        return fail(m, e, "shape: expected a tensor and an axis");
    if (!eval(m, e->args, &t))
        return false;
    if (t.kind != CR_SV_TENSOR)
        return fail(m, e, "shape: found %s, expected a tensor",
                    cr_script_value_what(m->b->net->arena, &t));
    rank = t.val->spec.rank;
    if (!e->args->next) {
        *to = (struct cr_script_value){ .kind = CR_SV_TUPLE, .n = rank };
        to->items = CR_NEWS(m->b->net->arena, struct cr_script_value, rank + 1);
        for (k = 0; k < rank; k++)
            to->items[k] = cr_script_value_integer(t.val->spec.dim[k]);
        return true;
    }
    if (!cr_interp_int(m, e->args->next, CR_INT_NONE, &i))
        return false;
    if (i < -rank || i >= rank)
        return fail(m, e, "%s",
                    cr_axis_error(m->b->net->arena, &t.val->spec, rank, i));
    *to = cr_script_value_integer(t.val->spec.dim[i < 0 ? i + rank : i]);
    return true;
}

/* hook_backward(x, 'name'): x, whose gradient the section `watch` may speak
 * of. */
static bool eval_point(struct cr_interp *m, const struct cr_script *e,
                       struct cr_script_value *to)
{
    const struct cr_script *name = e->args ? e->args->next : NULL;
    struct cr_script_value t, text;
    const char *c;
    struct cr_val *v;

    if (!name || name->next || e->args->keyword || name->keyword)
        return fail(m, e, "hook_backward: expected a tensor and a name");
    if (!eval(m, e->args, &t) || !eval(m, name, &text))
        return false;
    if (t.kind != CR_SV_TENSOR)
        return fail(m, e, "hook_backward: found %s, expected a tensor",
                    cr_script_value_what(m->b->net->arena, &t));
    c = text.kind == CR_SV_STRING ? text.text : "";
    while ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
           (*c >= '0' && *c <= '9') || *c == '_')
        c++;
    if (text.kind != CR_SV_STRING || *c || c == text.text)
        return fail(
            m, name,
            "name: found %s, expected a string of letters, digits and _",
            cr_script_value_what(m->b->net->arena, &text));
    m->b->pos = place(m, e);
    v = cr_hook_point(m->b, t.val, text.text);
    *to = cr_script_value_tensor(v);
    return v || trouble(m, e);
}

bool cr_interp_call_op(struct cr_interp *m, const struct cr_script *e,
                       const struct cr_op *op, struct cr_script_value *to)
{
    struct given g = given_none(m, e, op->about.opts);
    const struct cr_script *a;
    struct cr_val *v;
    const void *attr;
    int i;

    if (op->signature && op != m->op)
        return cr_function_call(m, e, op, to) || trouble(m, e);
    for (a = e->args; a; a = a->next)
        if (!give(m, e, a, op, &g))
            return false;
    for (i = 0; i < op->min_inputs; i++)
        if (!g.in[i])
            return fail(m, e, "%s: expected %d tensor%s%s%s", op->about.name,
                        op->min_inputs, op->min_inputs == 1 ? "" : "s",
                        op->inputs ? "; missing: " : "",
                        op->inputs ? op->inputs[i] : "");
    attr = cr_interp_options(m, e, op, g.map);
    if (!attr)
        return trouble(m, e);
    m->b->pos = place(m, e);
    v = cr_emit_op(m->b, op, attr, g.n, g.in);
    if (!v)
        return trouble(m, e);
    *to = cr_script_value_outputs(m->b->net->arena, op, v);
    return true;
}

/* ---- cells ---- */

bool cr_interp_call_cell(struct cr_interp *m, const struct cr_script *e,
                         const struct cr_script *args, const char *name,
                         const struct cr_node *node, struct cr_script_value *to)
{
    struct cr_net *net = m->b->net;
    struct cr_val *in[CR_OP_MAX] = { NULL }, *v;
    struct given g = given_none(m, e, NULL);
    const struct cr_script *a;
    struct cr_cell_inputs inputs;
    const char *wrong;
    int i, n = 0;

    if (cr_reference(m->cells, node) != node) {
        node = cr_reference(m->cells, node);
        name = node->key;
    }
    inputs = cr_cell_inputs(net, node);
    for (a = args; a; a = a->next) {
        struct cr_script_value t;

        if (a->keyword && cr_cell_call(node, a->keyword)) {
            if (!eval(m, a, &t) || !give_option(m, a, &g, a->keyword, &t))
                return false;
            continue;
        }
        for (i = 0; a->keyword && inputs.names && inputs.names[i] &&
                    strcmp(inputs.names[i], a->keyword) != 0;
             i++)
            ;
        if (!a->keyword)
            i = n;
        if (a->keyword && (!inputs.names || !inputs.names[i])) {
            fail(m, a, "%s has no input '%s'", name, a->keyword);
            if (cr_closest_name(a->keyword, inputs.names))
                cr_hint(net->diag, "did you mean '%s'?",
                        cr_closest_name(a->keyword, inputs.names));
            return false;
        }
        if (i >= CR_OP_MAX)
            return fail(m, e, "too many arguments");
        if (in[i])
            return fail(m, a, "duplicate argument '%s'", a->keyword);
        if (!eval(m, a, &t))
            return false;
        n = n > i ? n : i + 1;
        if (t.kind == CR_SV_NONE)
            continue;
        m->b->pos = place(m, a);
        in[i] = as_val(m, a, &t);
        if (!in[i])
            return false;
    }
    m->b->pos = place(m, e);
    wrong = cr_cell_inputs_wrong(net, name, inputs, n);
    if (wrong)
        return fail(m, e, "%s", wrong);
    for (i = 0; i < (inputs.rest ? n : inputs.min); i++)
        if (!in[i])
            return fail(m, e, "%s: input '%s' is missing", name,
                        cr_input_name(net, &inputs, i));
    m->b->call_args = g.map;
    v = cr_child(m->b, name, node, n, in);
    m->b->call_args = NULL;
    if (!v)
        return trouble(m, e);
    *to = cr_script_value_result(m->b->net->arena, v);
    return true;
}

/* ---- names ---- */

bool cr_interp_unknown(struct cr_interp *m, const struct cr_script *e,
                       bool call)
{
    const struct cr_descriptor *const *ops = cr_registry_list(CR_KIND_OP);
    const struct cr_term *term;
    const char **names;
    int i, n = 0;

    for (i = 0; ops[i]; i++)
        ;
    names = CR_NEWS(m->b->net->arena, const char *,
                    i + m->n_vars + cr_node_count(m->cells) + 2);
    for (CR_EACH(c, m->cells))
        names[n++] = c->key;
    for (i = 0; i < m->n_vars; i++)
        names[n++] = m->vars[i].name;
    for (i = 0; call && ops[i]; i++)
        if (!ops[i]->internal)
            names[n++] = ops[i]->name;
    fail(m, e, call ? "cell or function '%s' not found" : "'%s' is not defined",
         e->name);
    term = cr_term_find(cr_terms, e->name);
    if (term && (cr_registry_find(CR_KIND_COMMAND, term->names) ||
                 strcmp(term->names, "construct") == 0))
        cr_hint(m->b->net->diag, "%s", term->text);
    else if (cr_term_hint_name(m->b->net->diag, e->name, names))
        return false;
    else if (term)
        cr_hint(m->b->net->diag, "%s", term->text);
    else if (call)
        cr_note(m->b->net->diag, "   (cellrun help ops lists the functions)");
    return false;
}

static bool eval_call(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to)
{
    const struct cr_node *cell = cr_interp_cell(m, e->name);
    const struct cr_var *v = find_var(m, e->name);
    const struct cr_descriptor *about;
    struct cr_script call = *e;
    bool ok;

    if (!cr_interp_splat(m, e->args, &call.args))
        return false;
    e = &call;
    if (e->method)
        return cr_interp_method(m, e, to);
    if (cell)
        return cr_interp_call_cell(m, e, e->args, e->name, cell, to);
    if (v && v->value.kind == CR_SV_CELL)
        return cr_interp_call_cell(m, e, e->args, v->value.text, v->value.node,
                                   to);
    if (cr_gradient_word(m, e, to, &ok))
        return ok;
    if (m->op && strcmp(e->name, "cell") == 0)
        return cr_function_cell(m, e, to);
    if (m->op && strcmp(e->name, "pair") == 0)
        return cr_function_pair(m, e, to);
    if (strcmp(e->name, "shape") == 0)
        return eval_shape(m, e, to);
    if (strcmp(e->name, "hook_backward") == 0)
        return eval_point(m, e, to);
    if (strcmp(e->name, "grad") == 0)
        return cr_interp_grad(m, e, to);
    if (cr_interp_function(e->name))
        return cr_interp_function(e->name)(m, e, to);
    about = cr_registry_find(CR_KIND_OP, e->name);
    if (about && (m->op || !about->internal))
        return cr_interp_call_op(m, e, (const struct cr_op *)about, to);
    if (v)
        return fail(m, e, "'%s' is a value, not a cell", e->name);
    if (cr_is_statement(e->name))
        return fail(m, e, "%s(...) returns no value: write it on its own line",
                    e->name);
    return cr_interp_unknown(m, e, true);
}

static bool eval_name(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to)
{
    const struct cr_var *v = find_var(m, e->name);
    const struct cr_node *cell = cr_interp_cell(m, e->name);
    struct cr_val *val;

    if (v)
        return *to = v->value, true;
    if (cell)
        cell = cr_reference(m->cells, cell);
    if (cell && cr_cell_inputs(m->b->net, cell).max == 0) {
        m->b->pos = place(m, e);
        val = cr_child(m->b, cell->key, cell, 0, NULL);
        *to = cr_script_value_tensor(val);
        return val || trouble(m, e);
    }
    if (!cell && strcmp(e->name, "training") == 0) {
        m->b->net->phased = true;
        return *to = cr_script_value_truth(m->b->net->graph->training &&
                                           !m->b->predict),
               true;
    }
    if (!cell)
        return cr_interp_unknown(m, e, false);
    *to = (struct cr_script_value){ .kind = CR_SV_CELL,
                                    .text = cell->key,
                                    .node = cell };
    return true;
}

static bool eval_tuple(struct cr_interp *m, const struct cr_script *e,
                       struct cr_script_value *to)
{
    struct cr_script *a, *i;
    int n = 0;

    if (!cr_interp_splat(m, e->args, &a))
        return false;
    *to = (struct cr_script_value){ .kind = CR_SV_TUPLE };
    for (i = a; i; i = i->next)
        n++;
    if (n > ITEMS_MAX)
        return fail(m, e, "a tuple of more than %d", ITEMS_MAX);
    to->items = CR_NEWS(m->b->net->arena, struct cr_script_value, n + 1);
    for (; a; a = a->next)
        if (!eval(m, a, &to->items[to->n++]))
            return false;
    return cr_interp_weigh(m, e, to);
}

static bool eval_map(struct cr_interp *m, const struct cr_script *e,
                     struct cr_script_value *to)
{
    const struct cr_script *a;
    const char **keys;
    int n = 0, i;

    if (!eval_tuple(m, e, to))
        return false;
    keys = CR_NEWS(m->b->net->arena, const char *, to->n + 1);
    for (a = e->args; a; a = a->next) {
        for (i = 0; i < n; i++)
            if (strcmp(keys[i], a->keyword) == 0)
                return fail(m, a, "duplicate argument '%s'", a->keyword);
        keys[n++] = a->keyword;
    }
    to->kind = CR_SV_MAP;
    to->keys = keys;
    return true;
}

static bool eval(struct cr_interp *m, const struct cr_script *e,
                 struct cr_script_value *to)
{
    switch (e->op) {
    case CR_SCRIPT_NAME:
        return eval_name(m, e, to);
    case CR_SCRIPT_INT:
        return *to = cr_script_value_integer(e->integer), true;
    case CR_SCRIPT_REAL:
        return *to = cr_script_value_real(e->real), true;
    case CR_SCRIPT_STRING:
        return *to = (struct cr_script_value){ .kind = CR_SV_STRING,
                                               .text = e->name },
               true;
    case CR_SCRIPT_NONE:
        return *to = (struct cr_script_value){ .kind = CR_SV_NONE }, true;
    case CR_SCRIPT_BOOL:
        return *to = cr_script_value_truth(e->truth), true;
    case CR_SCRIPT_CALL:
        return eval_call(m, e, to);
    case CR_SCRIPT_APPLY:
        return cr_interp_apply(m, e, to);
    case CR_SCRIPT_MEMBER:
        return cr_interp_member(m, e, to);
    case CR_SCRIPT_CHOICE:
        return cr_interp_choice(m, e, to);
    case CR_SCRIPT_VALUE:
        return *to = *e->value, true;
    case CR_SCRIPT_SPLAT:
        return fail(m, e, "*TUPLE is allowed among arguments and members only");
    case CR_SCRIPT_TUPLE:
        return eval_tuple(m, e, to);
    case CR_SCRIPT_MAP:
        return eval_map(m, e, to);
    case CR_SCRIPT_INDEX:
        return cr_interp_index(m, e, to);
    case CR_SCRIPT_UNARY:
        return eval_unary(m, e, to);
    case CR_SCRIPT_BINARY:
        return eval_binary(m, e, to);
    case CR_SCRIPT_CHAIN:
        return eval_chain(m, e, to);
    default:
        return fail(m, e, "a slice is allowed only in brackets after a tensor");
    }
}

/* ---- for the other files ---- */

bool cr_interp_eval(struct cr_interp *m, const struct cr_script *e,
                    struct cr_script_value *to)
{
    return eval(m, e, to);
}

struct cr_pos cr_interp_place(const struct cr_interp *m,
                              const struct cr_script *e)
{
    return place(m, e);
}

bool cr_interp_trouble(struct cr_interp *m, const struct cr_script *e)
{
    return trouble(m, e);
}

struct cr_var *cr_interp_var(struct cr_interp *m, const char *name)
{
    return find_var(m, name);
}

const struct cr_node *cr_interp_cell(struct cr_interp *m, const char *name)
{
    struct cr_arena *arena = m->b->net->arena;
    int i = 0;

    if (!m->cell) {
        m->cell = CR_NEWS(arena, const struct cr_node *,
                          cr_node_count(m->cells) + 1);
        for (CR_EACH(c, m->cells)) {
            if (c->key && cr_name_map_get(&m->cell_names, c->key) < 0)
                cr_name_map_add(arena, &m->cell_names, c->key, i);
            m->cell[i++] = c;
        }
    }
    i = cr_name_map_get(&m->cell_names, name);
    return i < 0 ? NULL : m->cell[i];
}

bool cr_interp_fail(struct cr_interp *m, const struct cr_script *e,
                    const char *what)
{
    return fail(m, e, "%s", what);
}

struct cr_val *cr_interp_val(struct cr_interp *m, const struct cr_script *e,
                             const struct cr_script_value *t)
{
    return as_val(m, e, t);
}
