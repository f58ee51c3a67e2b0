/*
 * `bprop` next to `construct`: a cell whose gradients are written out.
 *
 *   construct: return relu(x) * w
 *   bprop: |
 *     g = where(x > 0, dout, 0.0)
 *     return g * w, {w: sum(relu(x) * dout, 0)}
 *
 * The text has the cell's inputs, `out` (a tuple where construct returns one)
 * and `dout`, the gradient of each result, and returns one gradient per input;
 * None: the input gets none. Behind them may stand a map of the cell's own
 * parameters to theirs; those that it omits get none.
 *
 * In the graph each result passes a node `bprop` (grad_boundary.c), which takes
 * the cell's inputs and parameters along: theirs are the gradients.
 */
#include "base/str.h"
#include "construct/script_interp.h"

#include <string.h>

/* ---- building ---- */

struct maker {
    struct cr_interp m;
    struct cr_build *b;
    struct cr_cell_inputs inputs;
    struct cr_custom_grad *custom;
};

/* The results after the boundary, which takes the inputs along: they are
 * read again in the backward pass. */
static bool boundary(struct maker *k, struct cr_val *const *in,
                     struct cr_val *out)
{
    struct cr_custom_grad *c = k->custom;
    struct cr_val *args[CR_OP_MAX];
    int i, n = k->b->n_in;

    c->n_out = out->n_members > 0 ? out->n_members : 1;
    c->out = CR_NEWS(k->b->net->arena, struct cr_val *, c->n_out);
    c->dout = CR_NEWS(k->b->net->arena, struct cr_val *, c->n_out);
    c->zero = CR_NEWS(k->b->net->arena, struct cr_val *, c->n_out);
    if (n + 1 > CR_OP_MAX)
        return cr_fail(k->b, CR_E_NETWORK,
                       "a cell with bprop has at most %d inputs",
                       CR_OP_MAX - 1);
    for (i = 0; i < n; i++) {
        if (in[i]->n_members > 0)
            return cr_fail(
                k->b, CR_E_NETWORK,
                "bprop: input '%s' is a tuple of %d, expected a tensor",
                cr_input_name(k->b->net, &k->inputs, i), in[i]->n_members);
        args[i + 1] = in[i];
    }
    for (i = 0; i < c->n_out; i++) {
        args[0] = out->n_members > 0 ? out->members[i] : out;
        if (args[0]->n_members > 0)
            return cr_fail(k->b, CR_E_NETWORK,
                           "bprop: result %d of the cell is a tuple of %d, "
                           "expected a tensor",
                           i, args[0]->n_members);
        c->out[i] = cr_emit_as_is(k->b, &cr_op_bprop, NULL, n + 1, args);
        if (!c->out[i])
            return false;
        c->out[i]->producer->custom = c;
        if (cr_precision(k->b).level == CR_LEVEL_O1)
            c->out[i]->low_type = CR_REAL; /* as all results in O1 */
    }
    c->node = c->out[0]->producer;
    return true;
}

static struct cr_script_value thing_of(struct cr_arena *arena, int n,
                                       struct cr_val *const *vals, bool tuple)
{
    struct cr_script_value t = { .kind = CR_SV_TUPLE, .n = n };
    int i;

    if (!tuple)
        return vals[0] ? cr_script_value_tensor(vals[0])
                       : (struct cr_script_value){ 0 };
    t.items = CR_NEWS(arena, struct cr_script_value, n);
    for (i = 0; i < n; i++)
        t.items[i] = thing_of(arena, 1, &vals[i], false);
    return t;
}

static bool name_free(struct maker *k, const char *name)
{
    return (strcmp(name, "out") != 0 && strcmp(name, "dout") != 0) ||
           cr_fail(k->b, CR_E_NETWORK,
                   "an input of a cell with bprop cannot be called '%s'",
                   name);
}

/* The names that the text begins with. */
static bool given(struct maker *k, struct cr_val *const *in, bool tuple)
{
    struct cr_arena *arena = k->b->net->arena;
    struct cr_custom_grad *c = k->custom;
    int i;

    for (i = 0; k->inputs.names[i]; i++)
        if (!name_free(k, k->inputs.names[i]))
            return false;
    return (!k->inputs.rest || name_free(k, k->inputs.rest)) &&
           cr_interp_inputs(&k->m, &k->inputs, in, k->b->n_in) &&
           /* None where there is no gradient */
           cr_grad_boundary_dout(k->b, c) &&
           cr_interp_input(&k->m, "out",
                           thing_of(arena, c->n_out, c->out, tuple)) &&
           cr_interp_input(&k->m, "dout",
                           thing_of(arena, c->n_out, c->dout, tuple));
}

/* The gradient of what is called `name`, for input i of the boundary. */
static bool take(struct maker *k, const struct cr_script *e, int i,
                 const char *name, const struct cr_val *x,
                 const struct cr_script_value *t)
{
    struct cr_arena *arena = k->b->net->arena;

    if (t->kind == CR_SV_NONE || x->spec.type != CR_REAL)
        return true;
    if (t->kind != CR_SV_TENSOR)
        return cr_interp_fail(
            &k->m, e,
            cr_strf(arena,
                    "gradient of '%s': expected a tensor %s or None, found %s",
                    name, cr_diag_format(arena, &x->spec),
                    cr_script_value_what(arena, t)));
    if (!cr_spec_same(&t->val->spec, &x->spec))
        return cr_interp_fail(
            &k->m, e,
            cr_strf(arena, "gradient of '%s': found %s %s, expected %s %s",
                    name, cr_type_name(t->val->spec.type),
                    cr_diag_format(arena, &t->val->spec),
                    cr_type_name(x->spec.type),
                    cr_diag_format(arena, &x->spec)));
    k->custom->grad[i] = t->val;
    return true;
}

/* {w: gradient}: own parameters, below the cell's path. */
static bool take_params(struct maker *k, const struct cr_script *e,
                        const struct cr_script_value *map)
{
    struct cr_net *net = k->b->net;
    const struct cr_script *a = e->op == CR_SCRIPT_MAP ? e->args : NULL;
    int i, p, at = k->b->n_in + 1, o;

    for (i = 0; i < map->n; i++, a = a ? a->next : NULL) {
        const char *full = cr_param_name(
            k->b, cr_path_of(net->arena, k->b->path,
                             cr_reference_name(k->b, map->keys[i])));
        struct cr_val *v;

        p = cr_name_map_get(&net->param_names, full);
        v = p >= 0 && p < net->graph->cap_params ? net->graph->params[p] : NULL;
        if (!v)
            return cr_interp_fail(&k->m, a ? a : e,
                                  cr_strf(net->arena,
                                          "the cell has no parameter '%s'",
                                          map->keys[i]));
        if (at == CR_OP_MAX)
            return cr_interp_fail(&k->m, a ? a : e,
                                  cr_strf(net->arena,
                                          "more than %d inputs and parameters",
                                          CR_OP_MAX - 1));
        for (o = 0; o < k->custom->n_out; o++) {
            struct cr_opnode *node = k->custom->out[o]->producer;

            node->in[at] = v;
            node->n_in = at + 1;
        }
        if (!take(k, a ? a : e, at++, map->keys[i], v, &map->items[i]))
            return false;
    }
    return true;
}

/* The part of a written tuple; else the whole expression. */
static const struct cr_script *member(const struct cr_script *e, int i)
{
    const struct cr_script *a = e->op == CR_SCRIPT_TUPLE ? e->args : NULL;

    while (a && i-- > 0)
        a = a->next;
    return a ? a : e;
}

/* One gradient per input, alone or as a tuple; then perhaps a map. */
static bool take_all(struct maker *k, const struct cr_script *e,
                     struct cr_script_value value, struct cr_val *const *in)
{
    struct cr_arena *arena = k->b->net->arena;
    const struct cr_script *map = e;
    struct cr_script_value params = { 0 }, one;
    int i, n = k->b->n_in;

    if (value.kind == CR_SV_TUPLE && value.n > 0 &&
        value.items[value.n - 1].kind == CR_SV_MAP) {
        params = value.items[--value.n];
        map = member(e, value.n);
        if (value.n == 1) { /* (dx, dy), {...} or dx, {...} */
            e = member(e, 0);
            value = value.items[0];
        }
    }
    one = value;
    if (value.kind != CR_SV_TUPLE)
        value = (struct cr_script_value){ .kind = CR_SV_TUPLE,
                                          .n = 1,
                                          .items = &one };
    if (value.n != n)
        return cr_interp_fail(
            &k->m, e,
            cr_strf(arena,
                    "bprop returns %d gradient%s, but the cell has %d input%s",
                    value.n, value.n == 1 ? "" : "s", n, n == 1 ? "" : "s"));
    for (i = 0; i < n; i++)
        if (!take(k, one.kind == CR_SV_TUPLE ? member(e, i) : e, i + 1,
                  cr_input_name(k->b->net, &k->inputs, i), in[i],
                  &value.items[i]))
            return false;
    return params.kind != CR_SV_MAP || take_params(k, map, &params);
}

struct cr_val *cr_bprop(struct cr_build *b, const struct cr_node *node,
                        struct cr_val *const *in, struct cr_val *out)
{
    struct cr_net *net = b->net;
    struct maker k = {
        .m = { .b = b,
               .cells = cr_node_get(node, "cells"),
               .text = cr_node_get(node, "bprop") },
        .b = b,
        .inputs = cr_cell_inputs(net, node),
        .custom = CR_NEW(net->arena, struct cr_custom_grad),
    };
    const struct cr_script *returned = NULL;
    struct cr_script_value value = { 0 };
    struct cr_precision was = cr_precision(b);
    struct cr_pos pos = b->pos;
    uint64_t key = b->key;
    struct cr_graph_lists lists;
    bool ok;

    b->pos = k.m.text->pos;
    if (!boundary(&k, in, out))
        return NULL;
    lists = cr_graph_detach(net);
    b->key = cr_hash(key, "bprop", 5); /* other random numbers */
    cr_precision_backward(b);
    ok = given(&k, in, out->n_members > 0) &&
         cr_interp_run(&k.m, &value, &returned) &&
         take_all(&k, returned, value, in);
    k.custom->nodes = cr_graph_restore(net, &lists);
    cr_precision_set(b, was);
    b->key = key;
    b->pos = pos;
    if (!ok)
        return NULL;
    return out->n_members > 0 ? cr_tuple(b, k.custom->n_out, k.custom->out)
                              : k.custom->out[0];
}
