/*
 * Calls of ops whose descriptor has a signature: arguments go to its
 * parameters, and from there to the op's inputs and options, or to the lines
 * of its text, which run as a `construct` of their own. To messages all of
 * it is at the place of the call.
 *
 * A text may also call cell('ELU', x, alpha=a): a cell or loss without
 * parameters; pair(a): (a, a) for a number; and on a line of its own
 * expect(CONDITION, 'NAME', VALUE, 'WHAT'): an error unless it holds.
 */
#include "base/str.h"
#include "construct/script_interp.h"
#include "graph/op_attrs.h"

#include <string.h>

#define PARAMS_MAX 16

struct param {
    const char *name, *preset; /* preset NULL: required */
    bool rest;                 /* takes all positional arguments from here on */
    bool named;                /* by keyword only */
    bool given;
    struct cr_script_value value;
};

struct params {
    int n;
    struct param v[PARAMS_MAX];
};

/* "x, axis=-1, *, dtype=None" */
static struct params params_of(struct cr_arena *arena, const char *signature)
{
    struct params p = { 0 };
    bool named = false;

    while (*signature) {
        size_t n = strcspn(signature, ",");
        const char *is = memchr(signature, '=', n), *open;
        struct param *to = &p.v[p.n];

        open = is ? memchr(is, '(', n - (size_t)(is - signature)) : NULL;
        if (open) /* a tuple */
            n = (size_t)(strchr(open, ')') + 1 - signature);
        if (n == 1 && *signature == '*') {
            named = true;
        } else {
            to->rest = *signature == '*';
            to->named = named;
            to->name = cr_strndup(arena, signature + to->rest,
                                  (is ? (size_t)(is - signature) : n) -
                                      to->rest);
            if (is)
                to->preset = cr_strndup(arena, is + 1,
                                        n - (size_t)(is + 1 - signature));
            named = named || to->rest;
            p.n++;
        }
        signature += n;
        signature += strspn(signature, ", ");
    }
    return p;
}

const char *cr_op_signature(struct cr_arena *arena, const struct cr_op *op)
{
    struct cr_buf buf = { .arena = arena };
    const char *comma = "";
    int i;

    cr_buf_f(&buf, "%s(", op->about.name);
    for (i = 0; op->inputs && op->inputs[i] && !op->signature; i++) {
        cr_buf_f(&buf, "%s%s%s", comma, op->inputs[i],
                 i < op->min_inputs ? "" : "=None");
        comma = ", ";
    }
    for (const struct cr_opt *row = op->about.opts;
         row && row->name && !op->signature; row++) {
        const char *preset = cr_opt_default(arena, row);

        if (preset && row->type == CR_OPT_BOOL)
            preset = row->int_default ? "True" : "False";
        if (preset && row->type == CR_OPT_ENUM)
            preset = cr_strf(arena, "'%s'", preset);
        cr_buf_f(&buf, "%s%s%s%s", comma, row->name,
                 row->need == CR_REQUIRED ? "" : "=",
                 row->need == CR_REQUIRED ? "" : preset ? preset : "None");
        comma = ", ";
    }
    cr_buf_f(&buf, "%s)", op->signature ? op->signature : "");
    return cr_buf_text(&buf);
}

/* ---- what arguments are ---- */

static const char *const type_words[] = { "float32",  "int32", "bool",
                                          "float16", "bfloat16", NULL };

static bool type_word(const char *name)
{
    int i;

    for (i = 0; type_words[i]; i++)
        if (strcmp(type_words[i], name) == 0)
            return true;
    return false;
}

static bool arg_eval(struct cr_interp *m, const struct cr_script *a,
                     struct cr_script_value *to)
{
    if (a->op == CR_SCRIPT_NAME && type_word(a->name) &&
        !cr_interp_var(m, a->name) && !cr_interp_cell(m, a->name))
        return *to = (struct cr_script_value){ .kind = CR_SV_STRING,
                                               .text = a->name },
               true;
    return cr_interp_eval(m, a, to);
}

static struct param *param_named(struct params *p, const char *name)
{
    int i;

    for (i = 0; i < p->n; i++)
        if (strcmp(p->v[i].name, name) == 0 && !p->v[i].rest)
            return &p->v[i];
    return NULL;
}

static bool param_unknown(struct cr_interp *m, const struct cr_script *a,
                          const struct cr_op *op, const struct params *p)
{
    struct cr_net *net = m->b->net;
    const char *names[PARAMS_MAX + 1], *near;
    int i;

    for (i = 0; i < p->n; i++)
        names[i] = p->v[i].name;
    names[i] = NULL;
    cr_interp_fail(m, a,
                   cr_strf(net->arena, "%s has no argument '%s'",
                           op->about.name, a->keyword));
    near = cr_closest_name(a->keyword, names);
    if (near)
        cr_hint(net->diag, "did you mean '%s'?", near);
    else
        cr_hint(net->diag, "write %s", cr_op_signature(net->arena, op));
    return false;
}

/* One more of the arguments that a parameter like *operands takes. */
static bool rest_add(struct cr_interp *m, const struct cr_script *a,
                     struct param *p, const struct cr_script_value *value)
{
    struct cr_arena *arena = m->b->net->arena;
    struct cr_script_value *t = &p->value;

    if (!p->given)
        *t = (struct cr_script_value){
            .kind = CR_SV_TUPLE,
            .items = CR_NEWS(arena, struct cr_script_value, CR_OP_MAX),
        };
    p->given = true;
    if (t->n == CR_OP_MAX)
        return cr_interp_fail(m, a,
                              cr_strf(arena, "more than %d arguments for '*%s'",
                                      CR_OP_MAX, p->name));
    t->items[t->n++] = *value;
    return cr_interp_weigh(m, a, t);
}

/* rand((2, 3)) as rand(2, 3), einsum('ij,jk', (a, b)) likewise. */
static void rest_tuple(struct params *p)
{
    for (int i = 0; i < p->n; i++) {
        struct cr_script_value *t = &p->v[i].value;

        if (p->v[i].rest && p->v[i].given && t->n == 1 &&
            t->items[0].kind == CR_SV_TUPLE)
            *t = t->items[0];
    }
}

static bool args_bind(struct cr_interp *m, const struct cr_script *e,
                      const struct cr_op *op, struct params *p)
{
    struct cr_arena *arena = m->b->net->arena;
    const struct cr_script *a;
    int next = 0;

    for (a = e->args; a; a = a->next) {
        struct param *to = NULL;
        struct cr_script_value value;

        if (a->keyword)
            to = param_named(p, a->keyword);
        else if (next < p->n && !p->v[next].named)
            to = &p->v[next];
        if (!to && a->keyword)
            return param_unknown(m, a, op, p);
        if (!to)
            return cr_interp_fail(
                m, a,
                cr_strf(arena, "too many arguments for %s: expected %s",
                        op->about.name, cr_op_signature(arena, op)));
        if (to->given && !to->rest)
            return cr_interp_fail(
                m, a, cr_strf(arena, "duplicate argument '%s'", to->name));
        if (!arg_eval(m, a, &value))
            return false;
        if (to->rest) {
            if (!rest_add(m, a, to, &value))
                return false;
            continue;
        }
        to->value = value;
        to->given = true;
        next += !a->keyword;
    }
    rest_tuple(p);
    return true;
}

/* ---- texts ---- */

/* The lines of a text, or what a default stands for. */
static bool text_run(struct cr_interp *m, const struct cr_script *e,
                     const struct cr_op *op, const char *text,
                     const struct params *p, struct cr_script_value *to)
{
    struct cr_node node = { .kind = CR_NODE_STR, .text = text };
    const struct cr_script *returned;
    struct cr_interp inner = {
        .b = m->b, .text = &node, .op = op, .noted = true
    };
    int i;

    inner.at = cr_interp_place(m, e);
    for (i = 0; p && i < p->n; i++)
        cr_interp_input(&inner, p->v[i].name, p->v[i].value);
    m->b->pos = inner.at;
    return cr_interp_run(&inner, to, &returned);
}

/* A text that is one op to precision: what it computes on and its result are
 * rounded, nothing between them. */
static bool text_run_whole(struct cr_interp *m, const struct cr_script *e,
                           const struct cr_op *op, struct params *p,
                           struct cr_script_value *to)
{
    struct cr_precision was = cr_precision(m->b), is = was;
    struct cr_val *in[PARAMS_MAX];
    int i, n = 0;

    for (i = 0; i < p->n; i++)
        if (p->v[i].value.kind == CR_SV_TENSOR)
            in[n++] = p->v[i].value.val;
    is.type = cr_computes_in(m->b, op, n, in);
    cr_precision_set(m->b, is);
    for (i = 0; i < p->n; i++)
        if (p->v[i].value.kind == CR_SV_TENSOR)
            p->v[i].value.val = cr_rounded(m->b, p->v[i].value.val);
    is.within = true;
    cr_precision_set(m->b, is);
    if (!text_run(m, e, op, op->text, p, to))
        return false;
    cr_precision_set(m->b, was);
    if (is.type != CR_REAL && to->kind == CR_SV_TENSOR)
        to->val = was.level == CR_LEVEL_O0
                      ? cr_cast_low(m->b, is.type, to->val)
                      : cr_rounded(m->b, to->val);
    return true;
}

static bool args_default(struct cr_interp *m, const struct cr_script *e,
                         const struct cr_op *op, struct params *p)
{
    struct cr_arena *arena = m->b->net->arena;
    int i;

    for (i = 0; i < p->n; i++) {
        struct param *to = &p->v[i];

        if (to->given)
            continue;
        if (!to->preset)
            return cr_interp_fail(
                m, e,
                cr_strf(arena, "%s: '%s' is missing, expected %s",
                        op->about.name, to->name, cr_op_signature(arena, op)));
        if (!text_run(m, e, op, cr_strf(arena, "return %s", to->preset), NULL,
                      &to->value))
            return false;
    }
    return true;
}

/* ---- without a text: to inputs and options ---- */

struct given {
    struct cr_val *in[CR_OP_MAX];
    int n;
    struct cr_node map, **last;
};

static bool give_input(struct cr_interp *m, const struct cr_script *e,
                       struct given *g, int i, const struct cr_script_value *t)
{
    if (t->kind == CR_SV_NONE)
        return true;
    if (i >= CR_OP_MAX)
        return cr_interp_fail(m, e, "too many tensors");
    g->in[i] = cr_interp_val(m, e, t);
    g->n = g->n > i ? g->n : i + 1;
    return g->in[i] != NULL;
}

static bool give_option(struct cr_interp *m, const struct cr_script *e,
                        struct given *g, const char *name,
                        const struct cr_script_value *t)
{
    struct cr_arena *arena = m->b->net->arena;
    struct cr_node *node;

    if (t->kind == CR_SV_NONE)
        return true;
    node = cr_script_value_node(arena, cr_interp_place(m, e), t);
    if (!node)
        return cr_interp_fail(
            m, e,
            cr_strf(arena,
                    "%s: expected a number, a string or a tuple, found %s",
                    name, cr_script_value_what(arena, t)));
    node->key = name;
    node->key_pos = node->pos;
    *g->last = node;
    g->last = &node->next;
    return true;
}

static struct given *given_new(struct cr_interp *m, const struct cr_script *e)
{
    struct given *g = CR_NEW(m->b->net->arena, struct given);

    g->map.kind = CR_NODE_MAP;
    g->map.pos = cr_interp_place(m, e);
    g->last = &g->map.child;
    return g;
}

static const void *given_opts(struct cr_interp *m,
                              const struct cr_descriptor *about,
                              struct given *g)
{
    struct cr_net *net = m->b->net;
    void *opts = cr_alloc(net->arena, 1, about->size + 1);

    return cr_opts_read(net->arena, net->diag, about, &g->map, g->map.pos, opts)
               ? opts
               : NULL;
}

static bool emitted(struct cr_interp *m, const struct cr_op *op,
                    struct cr_val *v, struct cr_script_value *to)
{
    if (v)
        *to = cr_script_value_outputs(m->b->net->arena, op, v);
    return v != NULL;
}

static bool params_emit(struct cr_interp *m, const struct cr_script *e,
                        const struct cr_op *op, const struct params *p,
                        struct cr_script_value *to)
{
    struct given *g = given_new(m, e);
    const void *attr;
    int i, k;

    for (i = 0; i < p->n; i++) {
        const struct cr_script_value *t = &p->v[i].value;
        int at = cr_op_input(op, p->v[i].name);

        if (at < 0 && !give_option(m, e, g, p->v[i].name, t))
            return false;
        for (k = 0; k < t->n && p->v[i].rest; k++)
            if (!give_input(m, e, g, at + k, &t->items[k]))
                return false;
        if (at >= 0 && !p->v[i].rest && !give_input(m, e, g, at, t))
            return false;
    }
    attr = given_opts(m, &op->about, g);
    if (!attr)
        return false;
    m->b->pos = g->map.pos;
    return emitted(m, op, cr_emit_op(m->b, op, attr, g->n, g->in), to);
}

bool cr_function_call(struct cr_interp *m, const struct cr_script *e,
                      const struct cr_op *op, struct cr_script_value *to)
{
    struct params p = params_of(m->b->net->arena, op->signature);
    struct cr_pos pos = cr_interp_place(m, e);
    bool ok = args_bind(m, e, op, &p) && args_default(m, e, op, &p);

    if (!ok)
        return false;
    ok = op->whole  ? text_run_whole(m, e, op, &p, to)
         : op->text ? text_run(m, e, op, op->text, &p, to)
                    : params_emit(m, e, op, &p, to);
    m->b->pos = pos;
    if (!ok && op->text && !m->op)
        cr_note(m->b->net->diag, "   in %s",
                cr_op_signature(m->b->net->arena, op));
    return ok;
}

bool cr_function_cell(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to)
{
    const char *name = e->args->name;
    const struct cr_cell *cell =
        cr_cell_find(name) ? cr_cell_find(name) : cr_loss_find(name);
    struct given *g = given_new(m, e);
    const struct cr_script *a;
    struct cr_script_value value;
    const void *opts;
    struct cr_val *v;
    int n = 0;

    for (a = e->args->next; a; a = a->next)
        if (!cr_interp_eval(m, a, &value) ||
            !(a->keyword ? give_option(m, e, g, a->keyword, &value)
                         : give_input(m, e, g, n++, &value)))
            return false;
    opts = given_opts(m, &cell->about, g);
    if (!opts || (cell->check && !cell->check(m->b->net->diag, g->map.pos,
                                              opts)))
        return false;
    m->b->pos = g->map.pos;
    v = cr_cell_inline(m->b, cell, "", opts, g->n, g->in);
    if (v)
        *to = cr_script_value_result(m->b->net->arena, v);
    return v;
}

bool cr_function_pair(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to)
{
    struct cr_script_value one, *two;

    if (!cr_interp_eval(m, e->args, &one))
        return false;
    *to = one;
    if (!cr_script_value_number(&one))
        return true;
    two = CR_NEWS(m->b->net->arena, struct cr_script_value, 2);
    two[0] = two[1] = one;
    *to = (struct cr_script_value){ .kind = CR_SV_TUPLE, .n = 2, .items = two };
    return true;
}

bool cr_function_expect(struct cr_interp *m, const struct cr_script *call)
{
    const struct cr_script *condition = call->args, *name = condition->next;
    struct cr_arena *arena = m->b->net->arena;
    struct cr_script_value t;
    bool holds;

    if (!cr_interp_eval(m, condition, &t) ||
        !cr_interp_truth(m, condition, &t, &holds))
        return false;
    if (holds)
        return true;
    return cr_interp_eval(m, name->next, &t) &&
           cr_interp_fail(m, call,
                          cr_strf(arena, "%s: found %s, expected %s",
                                  name->name, cr_script_value_what(arena, &t),
                                  name->next->next->name));
}
