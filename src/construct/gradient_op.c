/*
 * The gradient of an op as nodes: by the text that the op brings, or by its
 * own kernels where it is linear.
 *
 * A text is that of a bprop, as users write it: it returns one gradient per
 * input, or None. It has
 *   a b c, xs     the inputs by position, and all of them as a tuple
 *   y, dy         the output and its gradient; tuples where there are several
 *   axis ...      the op's options under their names
 * and the words of gradient.h.
 */
#include "base/str.h"
#include "construct/adjoint.h"
#include "construct/gradient.h"
#include "graph/op_attrs.h"

#include <math.h>
#include <string.h>

static bool refused(struct cr_gradient *g, const char *why)
{
    const struct cr_opnode *node = g->node;
    const char *cell = g->b->net->cells[node->cell].name;

    return cr_fail(
        g->b, CR_E_NETWORK,
        "grad: the gradient of '%s'%s%s cannot be differentiated%s%s",
        node->op->about.name, cell[0] ? " in " : "", cell, why ? ": " : "",
        why ? why : "");
}

/* ---- by kernels ---- */

/* Whether the primal needs that input when another one is replaced: a bias
 * that is added is not. */
static bool kernel_takes(const struct cr_op *op, const struct cr_val *x, int i)
{
    return x && (x->spec.type != CR_REAL || (op->algebra.linear & CR_X(i)));
}

static struct cr_val *kernel_of(struct cr_gradient *g, int of)
{
    const struct cr_opnode *node = g->node;
    const struct cr_op *op = node->op;
    struct cr_adjoint *attr = CR_NEW(g->b->net->arena, struct cr_adjoint);
    struct cr_val *in[CR_OP_MAX], *y;
    int i;

    attr->primal = op;
    attr->attr = node->attr;
    attr->n_in = node->n_in;
    attr->of = of;
    attr->out = node->out[0]->spec;
    for (i = 0; i < node->n_in; i++) {
        bool takes = kernel_takes(op, node->in[i], i);

        attr->in[i] =
            takes ? node->in[i]->spec : (struct cr_spec){ .rank = -1 };
        in[i] = takes && i != of ? node->in[i] : cr_val_absent();
    }
    attr->in[of] = node->in[of]->spec;
    in[node->n_in] = g->dy[0];
    y = cr_emit_itself(g->b, &cr_op_adjoint, attr, node->n_in + 1, in);
    if (y) {
        y->producer->key = node->key;
        y->producer->predict = node->predict;
    }
    return y;
}

static bool by_kernels(struct cr_gradient *g)
{
    const struct cr_opnode *node = g->node;
    int i;

    for (i = 0; i < node->n_in; i++) {
        const struct cr_val *x = node->in[i];

        if (!x || x->spec.type != CR_REAL)
            continue;
        if (!(node->op->algebra.linear & CR_X(i)))
            return refused(g, NULL);
        g->dx[i] = kernel_of(g, i);
        if (!g->dx[i])
            return false;
    }
    return true;
}

/* The gradient of an adjoint node, at which u arrives (adjoint.c). */
static bool of_adjoint(struct cr_gradient *g)
{
    const struct cr_opnode *node = g->node;
    const struct cr_adjoint *o = node->attr;
    struct cr_opnode primal = *node;
    struct cr_val *in[CR_OP_MAX], *u = g->dy[0];
    struct cr_gradient one = { .b = g->b, .node = &primal };
    int i;

    for (i = 0; i < o->n_in; i++)
        in[i] = i == o->of ? u : node->in[i] ? node->in[i] : cr_val_absent();
    g->dx[o->n_in] = cr_emit_itself(g->b, o->primal, o->attr, o->n_in, in);
    if (!g->dx[o->n_in])
        return false;
    g->dx[o->n_in]->producer->key = node->key;
    g->dx[o->n_in]->producer->predict = node->predict;
    /* the other inputs: the primal's own gradients, u in its place */
    primal.op = o->primal;
    primal.attr = o->attr;
    primal.n_in = o->n_in;
    primal.n_out = 1;
    primal.in[o->of] = u;
    primal.out[0] = g->dx[o->n_in];
    one.dy[0] = node->in[o->n_in];
    for (i = 0; i < o->n_in; i++) {
        if (i == o->of || !node->in[i] || node->in[i]->spec.type != CR_REAL)
            continue;
        g->dx[i] = kernel_of(&one, i);
        if (!g->dx[i])
            return false;
    }
    return true;
}

/* ---- by a text ---- */

static struct cr_script_value ints_thing(struct cr_arena *arena,
                                         const struct cr_ints *v)
{
    struct cr_script_value t = { .kind = CR_SV_TUPLE, .n = v->n };
    int i;

    t.items = CR_NEWS(arena, struct cr_script_value, v->n + 1);
    for (i = 0; i < v->n; i++)
        t.items[i] = cr_script_value_integer(v->v[i]);
    return t;
}

static const char *choice_at(struct cr_arena *arena, const char *choices,
                             int64_t n)
{
    for (; n > 0; n--)
        choices = strchr(choices, '|') + 1;
    return cr_strndup(arena, choices, strcspn(choices, "|"));
}

/* What a row has read; None where nothing was given. */
static struct cr_script_value
option_thing(struct cr_arena *arena, const struct cr_opt *row, const void *attr)
{
    const char *at = (const char *)attr + row->at;
    int64_t whole;
    double real;

    switch (row->type) {
    case CR_OPT_INT:
        memcpy(&whole, at, sizeof whole);
        return whole == CR_INT_NONE ? (struct cr_script_value){ 0 }
                                    : cr_script_value_integer(whole);
    case CR_OPT_REAL:
        memcpy(&real, at, sizeof real);
        return isnan(real) ? (struct cr_script_value){ 0 }
                           : cr_script_value_real(real);
    case CR_OPT_BOOL:
        return cr_script_value_truth(*(const unsigned char *)at == 1);
    case CR_OPT_ENUM:
        return (struct cr_script_value){
            .kind = CR_SV_STRING,
            .text = choice_at(arena, row->choices, *(const int *)at),
        };
    case CR_OPT_INTS:
        return ints_thing(arena, (const struct cr_ints *)at);
    default:
        return (struct cr_script_value){ 0 };
    }
}

/* An op may be emitted without options: all have their defaults then. */
static const void *options_of(struct cr_gradient *g)
{
    const struct cr_descriptor *about = &g->node->op->about;
    struct cr_net *net = g->b->net;
    void *attr;

    if (g->node->attr || !about->opts)
        return g->node->attr;
    attr = cr_alloc(net->arena, 1, about->size + 1);
    return cr_opts_read(net->arena, net->diag, about, NULL, g->b->pos, attr)
               ? attr
               : NULL;
}

static struct cr_script_value val_thing(struct cr_val *v)
{
    return v ? cr_script_value_tensor(v) : (struct cr_script_value){ 0 };
}

static struct cr_script_value vals_thing(struct cr_arena *arena,
                                         struct cr_val *const *v, int n)
{
    struct cr_script_value t = { .kind = CR_SV_TUPLE, .n = n };
    int i;

    t.items = CR_NEWS(arena, struct cr_script_value, n + 1);
    for (i = 0; i < n; i++)
        t.items[i] = val_thing(v[i]);
    return t;
}

static bool text_names(struct cr_interp *m, struct cr_gradient *g)
{
    static const char *const letters[] = { "a", "b", "c", "d" };
    struct cr_arena *arena = g->b->net->arena;
    const struct cr_opnode *node = g->node;
    const void *attr = options_of(g);
    bool one = node->n_out == 1;
    int i;

    for (i = 0; i < (int)CR_LEN(letters); i++)
        cr_interp_input(m, letters[i],
                        val_thing(i < node->n_in ? node->in[i] : NULL));
    cr_interp_input(m, "xs", vals_thing(arena, node->in, node->n_in));
    cr_interp_input(m, "y",
                    one ? val_thing(node->out[0])
                        : vals_thing(arena, node->out, node->n_out));
    cr_interp_input(m, "dy",
                    one ? val_thing(g->dy[0])
                        : vals_thing(arena, g->dy, node->n_out));
    for (const struct cr_opt *row = node->op->about.opts;
         attr && row && row->name; row++)
        cr_interp_input(m, row->name, option_thing(arena, row, attr));
    return attr || !node->op->about.opts;
}

static bool by_text(struct cr_gradient *g)
{
    const struct cr_opnode *node = g->node;
    struct cr_node text = { .kind = CR_NODE_STR, .text = node->op->bprop };
    struct cr_interp m = { .b = g->b,
                           .text = &text,
                           .op = node->op,
                           .noted = true,
                           .at = g->b->pos,
                           .gradient = g };
    const struct cr_script *returned;
    struct cr_pos pos = g->b->pos;
    struct cr_script_value value, one;
    int i;

    if (!text_names(&m, g) || !cr_interp_run(&m, &value, &returned))
        return false;
    g->b->pos = pos;
    one = value;
    if (value.kind != CR_SV_TUPLE)
        value = (struct cr_script_value){ .kind = CR_SV_TUPLE,
                                          .n = 1,
                                          .items = &one };
    for (i = 0; i < value.n && i < node->n_in; i++)
        if (value.items[i].kind == CR_SV_TENSOR)
            g->dx[i] = value.items[i].val;
    return true;
}

bool cr_gradient_of(struct cr_gradient *g)
{
    if (g->node->op == &cr_op_adjoint)
        return of_adjoint(g);
    return g->node->op->bprop ? by_text(g) : by_kernels(g);
}

/* ---- words of a text ---- */

static bool number_of(struct cr_interp *m, const struct cr_script *e,
                      int64_t absent, int64_t *to)
{
    *to = absent;
    return !e || cr_interp_int(m, e, absent, to);
}

static bool tensor_of(struct cr_interp *m, const struct cr_script *e,
                      struct cr_val **to)
{
    struct cr_script_value t;

    *to = NULL;
    if (!cr_interp_eval(m, e, &t))
        return false;
    *to = cr_interp_val(m, e, &t);
    return *to != NULL;
}

static bool word_kernel(struct cr_interp *m, const struct cr_script *e,
                        struct cr_script_value *to)
{
    struct cr_val *v;
    int64_t i;

    if (!number_of(m, e->args, 0, &i))
        return false;
    v = kernel_of(m->gradient, (int)i);
    *to = val_thing(v);
    return v != NULL;
}

static const struct cr_reshape *reshape_to(struct cr_arena *arena,
                                           const struct cr_spec *spec)
{
    struct cr_reshape *attr = CR_NEW(arena, struct cr_reshape);
    int64_t *dim = CR_NEWS(arena, int64_t, spec->rank + 1);
    int i;

    for (i = 0; i < spec->rank; i++)
        dim[i] = spec->dim[i];
    attr->shape = (struct cr_ints){ spec->rank, dim };
    return attr;
}

/* Sums over axes that x lacks, or of which it has one element. */
static struct cr_val *shaped(struct cr_build *b, struct cr_val *g,
                             const struct cr_spec *x, int64_t axis)
{
    struct cr_arena *arena = b->net->arena;
    struct cr_reduce_attr *over = CR_NEW(arena, struct cr_reduce_attr);
    int64_t *axes = CR_NEWS(arena, int64_t, CR_RANK_MAX);
    struct cr_spec wide = g->spec;
    int i, n = 0, from = (int)axis;

    for (i = 0; i < g->spec.rank; i++) {
        int k = i - from;
        int64_t dim = k >= 0 && k < x->rank ? x->dim[k] : 1;

        if (dim == 1 && g->spec.dim[i] > 1)
            axes[n++] = i;
        wide.dim[i] = dim;
    }
    if (n > 0) {
        over->axis = (struct cr_ints){ n, axes };
        over->keepdims = true;
        g = CR_EMIT(b, "sum", over, g);
    }
    for (i = 0; g && i < g->spec.rank; i++)
        if (g->spec.dim[i] != wide.dim[i]) /* repeated, not summed */
            return CR_EMIT(b, "broadcast_to", reshape_to(arena, x), g);
    if (!g || cr_spec_same(&g->spec, x))
        return g;
    return cr_count(&g->spec) == cr_count(x)
               ? CR_EMIT(b, "reshape", reshape_to(arena, x), g)
               : CR_EMIT(b, "broadcast_to", reshape_to(arena, x), g);
}

static bool word_shaped(struct cr_interp *m, const struct cr_script *e,
                        struct cr_script_value *to)
{
    const struct cr_script *axis = e->args->next->next;
    struct cr_val *g, *x;
    int64_t from;

    if (!tensor_of(m, e->args, &g) || !tensor_of(m, e->args->next, &x) ||
        !number_of(m, axis, g->spec.rank - x->spec.rank, &from))
        return false;
    g = shaped(m->b, g, &x->spec, from);
    *to = val_thing(g);
    return g != NULL;
}

/* One slice of g for each input. */
static bool word_pieces(struct cr_interp *m, const struct cr_script *e,
                        struct cr_script_value *to)
{
    struct cr_arena *arena = m->b->net->arena;
    const struct cr_opnode *node = m->gradient->node;
    struct cr_val *g;
    int64_t axis, at = 0;
    int i, k;

    if (!tensor_of(m, e->args, &g) || !number_of(m, e->args->next, 0, &axis))
        return false;
    axis += axis < 0 ? g->spec.rank : 0;
    *to = (struct cr_script_value){ .kind = CR_SV_TUPLE, .n = node->n_in };
    to->items = CR_NEWS(arena, struct cr_script_value, node->n_in);
    for (i = 0; i < node->n_in; i++) {
        struct cr_slice *cut = CR_NEW(arena, struct cr_slice);
        int64_t *begin = CR_NEWS(arena, int64_t, axis + 1);
        int64_t *end = CR_NEWS(arena, int64_t, axis + 1);
        bool stacked = node->in[i]->spec.rank < g->spec.rank;
        struct cr_val *v;

        for (k = 0; k < axis; k++)
            end[k] = g->spec.dim[k];
        begin[axis] = at;
        at += stacked ? 1 : node->in[i]->spec.dim[axis];
        end[axis] = at;
        cut->begin = (struct cr_ints){ (int)axis + 1, begin };
        cut->end = (struct cr_ints){ (int)axis + 1, end };
        v = CR_EMIT(m->b, "strided_slice", cut, g);
        if (v && stacked)
            v = CR_EMIT(m->b, "reshape", reshape_to(arena, &node->in[i]->spec),
                        v);
        if (!v)
            return false;
        to->items[i] = cr_script_value_tensor(v);
    }
    return true;
}

/* The op of what arrives, with the same random numbers. */
static bool word_again(struct cr_interp *m, const struct cr_script *e,
                       struct cr_script_value *to)
{
    const struct cr_opnode *node = m->gradient->node;
    struct cr_val *g;

    if (!tensor_of(m, e->args, &g))
        return false;
    g = (node->as_is ? cr_emit_as_is : cr_emit_itself)(m->b, node->op,
                                                       node->attr, 1, &g);
    if (!g)
        return false;
    g->producer->key = node->key;
    g->producer->predict = node->predict;
    *to = cr_script_value_tensor(g);
    return true;
}

static bool word_refuse(struct cr_interp *m, const struct cr_script *e,
                        struct cr_script_value *to)
{
    struct cr_script_value t;

    (void)to;
    return cr_interp_eval(m, e->args, &t) && refused(m->gradient, t.text);
}

bool cr_gradient_word(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to, bool *ok)
{
    static const struct {
        const char *name;
        bool (*eval)(struct cr_interp *m, const struct cr_script *e,
                     struct cr_script_value *to);
    } words[] = { { "kernel", word_kernel },
                  { "again", word_again },
                  { "shaped", word_shaped },
                  { "pieces", word_pieces },
                  { "refuse", word_refuse } };
    size_t i;

    for (i = 0; m->gradient && i < CR_LEN(words); i++)
        if (strcmp(e->name, words[i].name) == 0)
            return *ok = words[i].eval(m, e, to), true;
    return false;
}
