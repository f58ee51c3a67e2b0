/*
 * grad(y, x): the gradient of the sum of y with respect to x, as nodes of the
 * graph. The nodes that lie between x and y are visited from y back, and each
 * op emits the nodes of its own gradient (gradient_op.c); what several nodes
 * give one value is added. The result is a value like any other: it may be
 * returned, differentiated again, and trained through.
 */
#include "construct/gradient.h"

#include <stdlib.h>
#include <string.h>

struct walk {
    struct cr_build build;
    struct cr_graph *graph;
    int n_vals;           /* values when grad was called: later ones are its */
    bool *depends;        /* per value: made from x; */
    struct cr_val **grad; /* its gradient so far, or NULL */
    const struct cr_opnode **nodes; /* between, in order of computation */
    int n_nodes;
};

static int by_output(const void *a, const void *b)
{
    const struct cr_opnode *x = *(const struct cr_opnode *const *)a;
    const struct cr_opnode *y = *(const struct cr_opnode *const *)b;

    return x->out[0]->id < y->out[0]->id ? -1 : 1;
}

/* All nodes that the values are made by, in order of computation. Those of a
 * bprop's text stand in another list than those before it, so the producers
 * are followed. */
static void walk_collect(struct walk *w, struct cr_val *const *y, int n)
{
    struct cr_arena *arena = w->build.net->arena;
    bool *seen = CR_NEWS(arena, bool, w->n_vals + 1);
    const struct cr_opnode **stack =
        CR_NEWS(arena, const struct cr_opnode *, w->n_vals + 1);
    int i, k, depth = 0;

    w->nodes = CR_NEWS(arena, const struct cr_opnode *, w->n_vals + 1);
    for (i = 0; i < n; i++)
        if (y[i]->producer && !seen[y[i]->producer->out[0]->id]) {
            seen[y[i]->producer->out[0]->id] = true;
            stack[depth++] = y[i]->producer;
        }
    while (depth > 0) {
        const struct cr_opnode *node = stack[--depth];

        w->nodes[w->n_nodes++] = node;
        for (k = 0; k < node->n_in; k++) {
            const struct cr_opnode *by =
                node->in[k] ? node->in[k]->producer : NULL;

            if (!by || seen[by->out[0]->id])
                continue;
            seen[by->out[0]->id] = true;
            stack[depth++] = by;
        }
        for (k = 0; node->custom && k < node->custom->n_out; k++) {
            const struct cr_opnode *by = node->custom->out[k]->producer;

            if (seen[by->out[0]->id])
                continue;
            seen[by->out[0]->id] = true;
            stack[depth++] = by;
        }
    }
    qsort(w->nodes, (size_t)w->n_nodes, sizeof *w->nodes, by_output);
}

/* Whether a gradient passes from the outputs of a node to that input. */
static bool walk_passes(const struct cr_opnode *node, int i)
{
    return node->in[i] && node->in[i]->spec.type == CR_REAL &&
           node->op->backward && (!node->custom || node->custom->grad[i]);
}

static void walk_depends(struct walk *w)
{
    int i, k;

    for (i = 0; i < w->n_nodes; i++) {
        const struct cr_opnode *node = w->nodes[i];
        bool depends = false;

        for (k = 0; k < node->n_in; k++)
            depends = depends ||
                      (walk_passes(node, k) && w->depends[node->in[k]->id]);
        for (k = 0; k < node->n_out && depends; k++)
            if (node->out[k]->spec.type == CR_REAL)
                w->depends[node->out[k]->id] = true;
    }
}

static bool walk_add(struct walk *w, const struct cr_val *to, struct cr_val *g)
{
    struct cr_val **sum = &w->grad[to->id];

    if (!g || !w->depends[to->id])
        return true;
    *sum = *sum ? CR_EMIT(&w->build, "add", NULL, *sum, g) : g;
    return *sum != NULL;
}

/* The nodes of a gradient compute in what its node does; sums of gradients in
 * float32. */
static void walk_precision(struct walk *w, enum cr_type type)
{
    cr_precision_set(&w->build, (struct cr_precision){
                                    .level = type == CR_REAL ? CR_LEVEL_O0
                                                             : CR_LEVEL_O3,
                                    .type = type });
}

/* ---- a bprop, or a hook that replaces gradients: its text once more ---- */

static struct cr_val *replayed(struct cr_val *const *map, struct cr_val *v)
{
    return v && map[v->id] ? map[v->id] : v;
}

static bool walk_replay(struct walk *w, const struct cr_opnode *node,
                        struct cr_val **map)
{
    struct cr_val *in[CR_OP_MAX], *y;
    int i;

    if (node->custom)
        return cr_fail(
            &w->build, CR_E_NETWORK,
            "grad: a bprop within a bprop (%s) cannot be differentiated",
            w->build.net->cells[node->cell].name);
    for (i = 0; i < node->n_in; i++) {
        in[i] = replayed(map, node->in[i]);
        if (!in[i])
            in[i] = cr_val_absent();
    }
    walk_precision(w, node->low);
    y = (node->as_is ? cr_emit_as_is : cr_emit_itself)(
        &w->build, node->op, node->attr, node->n_in, in);
    walk_precision(w, CR_REAL);
    if (!y)
        return false;
    y->producer->key = node->key;
    y->producer->predict = node->predict;
    for (i = 0; i < node->n_out; i++)
        map[node->out[i]->id] = y->producer->out[i];
    return true;
}

static bool walk_custom(struct walk *w, const struct cr_opnode *node)
{
    const struct cr_custom_grad *c = node->custom;
    const struct cr_opnode *text;
    struct cr_val **map;
    bool any = false;
    int i;

    if (node != c->node)
        return true; /* the first one, to come, has all gradients */
    for (i = 0; i < c->n_out; i++)
        any = any || w->grad[c->out[i]->id];
    if (!any)
        return true;
    map = CR_NEWS(w->build.net->arena, struct cr_val *, w->n_vals + 1);
    for (i = 0; i < c->n_out; i++)
        if (c->dout[i])
            map[c->dout[i]->id] =
                w->grad[c->out[i]->id]
                    ? w->grad[c->out[i]->id]
                    : CR_EMIT(&w->build, "zeros_like", NULL, c->out[i]);
    for (text = c->nodes; text; text = text->next)
        if (!walk_replay(w, text, map))
            return false;
    for (i = 0; i < node->n_in; i++)
        if (c->grad[i] && walk_passes(node, i) &&
            !walk_add(w, node->in[i], replayed(map, c->grad[i])))
            return false;
    return true;
}

/* ---- an op ---- */

static bool walk_node(struct walk *w, const struct cr_opnode *node)
{
    struct cr_gradient g = { .b = &w->build, .node = node };
    bool arrives = false, wanted = false;
    int i;

    if (node->custom)
        return walk_custom(w, node);
    for (i = 0; i < node->n_out; i++) {
        g.dy[i] = w->grad[node->out[i]->id];
        arrives = arrives || g.dy[i];
    }
    for (i = 0; i < node->n_in; i++)
        wanted =
            wanted || (walk_passes(node, i) && w->depends[node->in[i]->id]);
    if (!arrives || !wanted)
        return true;
    walk_precision(w, node->low);
    if (!cr_gradient_of(&g))
        return false;
    walk_precision(w, CR_REAL);
    for (i = 0; i < node->n_in; i++)
        if (walk_passes(node, i) && !walk_add(w, node->in[i], g.dx[i]))
            return false;
    return true;
}

static bool walk_all(struct walk *w, struct cr_val *const *y, int n_y,
                     const struct cr_script_value *sens,
                     struct cr_val *const *x, int n_x)
{
    struct cr_arena *arena = w->build.net->arena;
    int i;

    w->graph = w->build.net->graph;
    w->n_vals = w->graph->n_vals;
    w->depends = CR_NEWS(arena, bool, w->n_vals + 1);
    w->grad = CR_NEWS(arena, struct cr_val *, w->n_vals + 1);
    for (i = 0; i < n_x; i++)
        w->depends[x[i]->id] = true;
    walk_collect(w, y, n_y);
    walk_depends(w);
    for (i = 0; i < n_y; i++) {
        struct cr_val *s = sens[i].kind == CR_SV_TENSOR
                               ? sens[i].val
                               : CR_EMIT(&w->build, "ones_like", NULL, y[i]);

        if (!s || !walk_add(w, y[i], s))
            return false;
    }
    for (i = w->n_nodes - 1; i >= 0; i--)
        if (!walk_node(w, w->nodes[i]))
            return false;
    return true;
}

/* ---- in a construct ---- */

/* A tensor, or a tuple of such. */
static bool grad_tensors(struct cr_interp *m, const struct cr_script *e,
                         const char *what, struct cr_script_value *t,
                         const struct cr_script_value **items, int *n)
{
    struct cr_arena *arena = m->b->net->arena;
    int i;

    *items = t->kind == CR_SV_TUPLE ? t->items : t;
    *n = t->kind == CR_SV_TUPLE ? t->n : 1;
    for (i = 0; i < *n; i++)
        if ((*items)[i].kind != CR_SV_TENSOR ||
            (*items)[i].val->spec.type != CR_REAL)
            return cr_interp_fail(
                m, e,
                cr_strf(arena,
                        "grad: found %s for %s, expected a float tensor "
                        "or a tuple of such",
                        (*items)[i].kind == CR_SV_TENSOR
                            ? cr_strf(arena, "a tensor of type %s",
                                      cr_type_name((*items)[i].val->spec.type))
                            : cr_script_value_what(arena, &(*items)[i]),
                        what));
    return *n > 0 || cr_interp_fail(m, e, "grad: found an empty tuple");
}

static bool grad_sens(struct cr_interp *m, const struct cr_script *e,
                      const struct cr_script_value *y, int n,
                      struct cr_script_value *sens,
                      const struct cr_script_value **items)
{
    struct cr_arena *arena = m->b->net->arena;
    int i, given;

    *items = CR_NEWS(arena, struct cr_script_value, n);
    if (sens->kind == CR_SV_NONE)
        return true;
    if (!grad_tensors(m, e, "sens", sens, items, &given))
        return false;
    for (i = 0; i < n && given == n; i++)
        if (!cr_spec_same(&(*items)[i].val->spec, &y[i].val->spec))
            return cr_interp_fail(
                m, e,
                cr_strf(arena,
                        "grad: found sens %s, expected %s, the shape of "
                        "what is differentiated",
                        cr_diag_format(arena, &(*items)[i].val->spec),
                        cr_diag_format(arena, &y[i].val->spec)));
    return given == n ||
           cr_interp_fail(
               m, e,
               cr_strf(arena, "grad: found %d sens, expected %d", given, n));
}

/* The arguments, by position or as y=, x=, sens=. */
static bool grad_args(struct cr_interp *m, const struct cr_script *e,
                      const struct cr_script *at[3],
                      struct cr_script_value to[3])
{
    static const char *const names[] = { "y", "x", "sens" };
    const struct cr_script *a;
    int n = 0, i;

    for (a = e->args; a; a = a->next) {
        for (i = 0; a->keyword && i < 3 && strcmp(a->keyword, names[i]); i++)
            ;
        i = a->keyword ? i : n++;
        if (i >= 3 || at[i])
            return cr_interp_fail(m, a, "write grad(y, x) or grad(y, x, sens)");
        at[i] = a;
        if (!cr_interp_eval(m, a, &to[i]))
            return false;
    }
    return (at[0] && at[1]) ||
           cr_interp_fail(m, e, "write grad(y, x) or grad(y, x, sens)");
}

static struct cr_val **grad_vals(struct cr_arena *arena,
                                 const struct cr_script_value *items, int n)
{
    struct cr_val **vals = CR_NEWS(arena, struct cr_val *, n);
    int i;

    for (i = 0; i < n; i++)
        vals[i] = items[i].val;
    return vals;
}

bool cr_interp_grad(struct cr_interp *m, const struct cr_script *e,
                    struct cr_script_value *to)
{
    struct cr_arena *arena = m->b->net->arena;
    const struct cr_script *at[3] = { NULL };
    struct cr_script_value arg[3] = { { 0 } };
    const struct cr_script_value *y, *x, *sens;
    struct walk w = { 0 };
    struct cr_val **vals;
    int i, n_y, n_x;

    if (!grad_args(m, e, at, arg) ||
        !grad_tensors(m, at[0], "y", &arg[0], &y, &n_y) ||
        !grad_tensors(m, at[1], "x", &arg[1], &x, &n_x) ||
        !grad_sens(m, at[2] ? at[2] : e, y, n_y, &arg[2], &sens))
        return false;
    m->b->pos = cr_interp_place(m, e);
    w.build = *m->b;
    w.build.call_args = NULL;
    cr_precision_full(&w.build);
    vals = grad_vals(arena, x, n_x);
    if (!walk_all(&w, grad_vals(arena, y, n_y), n_y, sens, vals, n_x))
        return cr_interp_trouble(m, e);
    *to = (struct cr_script_value){ .kind = CR_SV_TUPLE, .n = n_x };
    to->items = CR_NEWS(arena, struct cr_script_value, n_x);
    for (i = 0; i < n_x; i++) {
        struct cr_val *g = w.grad[vals[i]->id];

        if (!g)
            g = CR_EMIT(&w.build, "zeros_like", NULL, vals[i]);
        /* the sum has the type of what it is the gradient of */
        walk_precision(&w, vals[i]->low_type);
        g = cr_rounded(&w.build, g);
        if (!g)
            return cr_interp_trouble(m, e);
        to->items[i] = cr_script_value_tensor(g);
    }
    if (arg[1].kind != CR_SV_TUPLE)
        *to = to->items[0];
    return true;
}
