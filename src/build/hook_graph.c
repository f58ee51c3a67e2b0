/*
 * Hooks in the graph: how the entries of `watch` (hook.h) act on the inputs and
 * results of a call of a cell.
 *
 * A replacement in the forward pass consists of ordinary nodes, which are
 * differentiated. In the backward pass it is a boundary (grad_boundary.c): an
 * identity whose gradient the text of the entry computes. For a `backward` text
 * that reads grad_output, a boundary without a text stores it.
 *
 * In a graph with CR_HOOKS_OBSERVED a gradient that is looked at is that of an
 * identity, so that it is this cell's and not the sum over all who read the
 * value. Hooks add no parameter, and their nodes are not counted among the
 * cell's, so its random numbers stay as they are.
 */
#include "base/str.h"
#include "build/hook_internal.h"
#include "construct/script_interp.h"

#include <string.h>

/* Values of one call, some of them tuples; of results there is one. */
struct group {
    int n;
    struct cr_val *v[CR_OP_MAX]; /* NULL: not given */
};

/* A boundary whose text is still to be built. */
struct back {
    const struct cr_hook *hook;
    struct cr_custom_grad *custom;
    struct group in; /* as they came */
    struct back *next;
};

struct cr_hooked {
    struct group inputs; /* after forward_pre */
    struct back *backs;
    bool arrives; /* some text speaks of grad_output */
};

/* ---- groups ---- */

static int leaves(struct cr_val *v, struct cr_val **to, int n)
{
    int i;

    if (!v || v == cr_val_absent())
        return n;
    for (i = 0; i < v->n_members; i++)
        n = leaves(v->members[i], to, n);
    if (v->n_members == 0 && v->spec.type == CR_REAL) {
        if (to)
            to[n] = v;
        n++;
    }
    return n;
}

/* The real tensors of a group. */
static struct cr_val **group_leaves(struct cr_build *b, const struct group *g,
                                    int *n)
{
    struct cr_val **to;
    int i;

    for (i = *n = 0; i < g->n; i++)
        *n = leaves(g->v[i], NULL, *n);
    to = CR_NEWS(b->net->arena, struct cr_val *, *n + 1);
    for (i = *n = 0; i < g->n; i++)
        *n = leaves(g->v[i], to, *n);
    return to;
}

/* v with others in place of its real tensors. */
static struct cr_val *rebuilt(struct cr_build *b, struct cr_val *v,
                              struct cr_val *const **next)
{
    struct cr_val **members;
    int i;

    if (!v || v == cr_val_absent())
        return v;
    if (v->n_members == 0)
        return v->spec.type == CR_REAL ? *(*next)++ : v;
    members = CR_NEWS(b->net->arena, struct cr_val *, v->n_members);
    for (i = 0; i < v->n_members; i++)
        members[i] = rebuilt(b, v->members[i], next);
    return cr_tuple(b, v->n_members, members);
}

static struct group group_with(struct cr_build *b, const struct group *g,
                               struct cr_val *const *leaf)
{
    struct group to = { .n = g->n };
    int i;

    for (i = 0; i < g->n; i++)
        to.v[i] = rebuilt(b, g->v[i], &leaf);
    return to;
}

/* What a text sees: one value, or a tuple of several; those that are no real
 * tensors of `leaf` are None where `only` is set. */
static struct cr_script_value thing_of(struct cr_arena *arena,
                                       const struct cr_val *v,
                                       struct cr_val *const **leaf, bool only)
{
    struct cr_script_value t = { 0 };

    if (!v || v == cr_val_absent())
        return t;
    if (v->n_members == 0) {
        if (v->spec.type == CR_REAL)
            return cr_script_value_tensor(*(*leaf)++);
        return only ? t : cr_script_value_tensor((struct cr_val *)(uintptr_t)v);
    }
    t = (struct cr_script_value){ .kind = CR_SV_TUPLE };
    t.items = CR_NEWS(arena, struct cr_script_value, v->n_members);
    for (; t.n < v->n_members; t.n++)
        t.items[t.n] = thing_of(arena, v->members[t.n], leaf, only);
    return t;
}

static struct cr_script_value group_thing(struct cr_build *b,
                                          const struct group *g,
                                          struct cr_val *const *leaf, bool only)
{
    struct cr_arena *arena = b->net->arena;
    struct cr_script_value t = { .kind = CR_SV_TUPLE };

    if (g->n == 1)
        return thing_of(arena, g->v[0], &leaf, only);
    t.items = CR_NEWS(arena, struct cr_script_value, g->n + 1);
    for (; t.n < g->n; t.n++)
        t.items[t.n] = thing_of(arena, g->v[t.n], &leaf, only);
    return t;
}

/* ---- what was looked at ---- */

/* "ENTRY.what.CELL", with what after # as in the name of a result. */
static void see(struct cr_build *b, int entry, enum cr_hook_what what,
                const struct group *g)
{
    struct cr_net *net = b->net;
    struct cr_graph *graph = net->graph;
    bool grads = what == CR_OBSERVE_GRAD || what == CR_OBSERVE_GRAD_INPUT;
    struct cr_names *to = grads ? &graph->seen_grads : &graph->seen;
    int i;

    for (i = 0; i < g->n; i++) {
        const char *cell;

        if (!g->v[i] || g->v[i] == cr_val_absent())
            continue;
        cell = cr_name_call(b, g->v[i]);
        if (!b->path[0])
            cell = cr_strf(net->arena, "network%s", cell);
        if (g->n > 1)
            cell = cr_strf(net->arena, "%s%s.%d", cell,
                           strchr(cell, '#') ? "" : "#", i);
        cr_name_values(
            net, to,
            cr_strf(net->arena, "%d.%s.%s", entry, cr_hook_whats[what], cell),
            g->v[i]);
    }
}

/* ---- texts ---- */

static bool matches(const struct cr_build *b, const struct cr_hook *h,
                    enum cr_hook_form form)
{
    return (form == CR_HOOK_TAP || (h->form == form && h->text)) &&
           h->form != CR_HOOK_POINT &&
           cr_hook_matches(h, b->path, b->net->cells[b->row].type);
}

static struct cr_interp maker_for(struct cr_build *b, const struct cr_hook *h)
{
    return (struct cr_interp){ .b = b, .text = h->text };
}

/* What the entry's text says of one tensor; NULL after reporting. */
static struct cr_val *text_of_one(struct cr_build *b, const struct cr_hook *h,
                                  struct cr_val *x)
{
    struct cr_interp m = maker_for(b, h);
    const struct cr_script *returned = NULL;
    struct cr_script_value value = { 0 };

    if (!cr_interp_input(&m, "x", cr_script_value_tensor(x)) ||
        !cr_interp_run(&m, &value, &returned))
        return NULL;
    return cr_interp_val(&m, returned, &value);
}

/* The part of a written tuple; else the whole expression. */
static const struct cr_script *member(const struct cr_script *e, int i)
{
    const struct cr_script *a = e->op == CR_SCRIPT_TUPLE ? e->args : NULL;

    while (a && i-- > 0)
        a = a->next;
    return a ? a : e;
}

/* A returned value in place of `was`; NULL after reporting. */
static struct cr_val *forward_value(struct cr_interp *m,
                                    const struct cr_script *e,
                                    const struct cr_script_value *t,
                                    struct cr_val *was)
{
    struct cr_arena *arena = m->b->net->arena;
    struct cr_val **members;
    int i;

    if (t->kind == CR_SV_NONE || !was || was == cr_val_absent())
        return was;
    if (was->n_members == 0) {
        if (t->kind != CR_SV_TUPLE)
            return cr_interp_val(m, e, t);
        cr_interp_fail(m, e,
                       cr_strf(arena,
                               "result of the hook: found %s, expected a "
                               "tensor",
                               cr_script_value_what(arena, t)));
        return NULL;
    }
    if (t->kind != CR_SV_TUPLE || t->n != was->n_members) {
        cr_interp_fail(m, e,
                       cr_strf(arena,
                               "result of the hook: found %s, expected a "
                               "tuple of %d",
                               cr_script_value_what(arena, t), was->n_members));
        return NULL;
    }
    members = CR_NEWS(arena, struct cr_val *, t->n);
    for (i = 0; i < t->n; i++) {
        members[i] =
            forward_value(m, member(e, i), &t->items[i], was->members[i]);
        if (!members[i])
            return NULL;
    }
    return cr_tuple(m->b, t->n, members);
}

static bool forward_text(struct cr_build *b, const struct cr_hook *h,
                         const struct group *inputs, struct group *g)
{
    struct cr_arena *arena = b->net->arena;
    struct cr_interp m = maker_for(b, h);
    const struct cr_script *returned = NULL;
    struct cr_script_value value = { 0 };
    bool output = h->form == CR_HOOK_FORWARD;
    int i, n;

    if (!cr_interp_input(
            &m, "inputs",
            group_thing(b, inputs, group_leaves(b, inputs, &n), false)) ||
        (output &&
         !cr_interp_input(&m, "output",
                          group_thing(b, g, group_leaves(b, g, &n), false))) ||
        !cr_interp_run(&m, &value, &returned))
        return false;
    if (value.kind == CR_SV_NONE)
        return true;
    if (g->n > 1 && (value.kind != CR_SV_TUPLE || value.n != g->n))
        return cr_interp_fail(
            &m, returned,
            cr_strf(arena,
                    "result of the hook: found %s, expected a tuple of "
                    "%d, one for each input of the cell",
                    cr_script_value_what(arena, &value), g->n));
    for (i = 0; i < g->n; i++) {
        struct cr_val *was = g->v[i];

        g->v[i] = forward_value(&m, g->n > 1 ? member(returned, i) : returned,
                                g->n > 1 ? &value.items[i] : &value, was);
        if (was && !g->v[i])
            return false;
    }
    return true;
}

static bool forward_each(struct cr_build *b, const struct cr_hook *h,
                         struct group *g)
{
    struct cr_val **leaf;
    int i, n;

    leaf = group_leaves(b, g, &n);
    for (i = 0; i < n; i++) {
        leaf[i] = text_of_one(b, h, leaf[i]);
        if (!leaf[i])
            return false;
    }
    *g = group_with(b, g, leaf);
    return true;
}

/* Nodes of a hook have a key of their own and are not counted as the cell's.
 */
static uint64_t hook_open(struct cr_build *b, const struct cr_hook *h)
{
    uint64_t key = b->key;
    int64_t entry = h ? h - b->net->hooks->v : -1;

    b->hook = true;
    b->key = cr_hash(cr_hash(key, "hook", 4), &entry, sizeof entry);
    return key;
}

static void hook_close(struct cr_build *b, uint64_t key, struct cr_pos pos)
{
    b->hook = false;
    b->key = key;
    b->pos = pos;
}

/* Puts what the entry says in place of the group. */
static bool forward(struct cr_build *b, const struct cr_hook *h,
                    const struct group *inputs, struct group *g)
{
    struct cr_pos pos = b->pos;
    uint64_t key = hook_open(b, h);
    bool ok;

    b->pos = h->pos;
    ok = h->each ? forward_each(b, h, g) : forward_text(b, h, inputs, g);
    hook_close(b, key, pos);
    return ok;
}

/* ---- boundaries ---- */

/* An identity for each real tensor: with gradients of its own, or (c NULL)
 * to be looked at. */
static bool boundary(struct cr_build *b, struct group *g,
                     struct cr_custom_grad *c)
{
    struct cr_pos pos = b->pos;
    uint64_t key = hook_open(b, NULL);
    struct cr_val **leaf, **out, *args[CR_OP_MAX];
    int i, n;

    leaf = group_leaves(b, g, &n);
    if (n >= CR_OP_MAX) {
        hook_close(b, key, pos);
        return cr_fail(b, CR_E_LIMIT, "a hook has at most %d tensors",
                       CR_OP_MAX - 1);
    }
    out = CR_NEWS(b->net->arena, struct cr_val *, n + 1);
    memcpy(args + 1, leaf, (size_t)n * sizeof *leaf);
    for (i = 0; i < n; i++) {
        args[0] = leaf[i];
        out[i] = c ? cr_emit_as_is(b, &cr_op_hook, NULL, n + 1, args)
                   : cr_emit_as_is(b, &cr_op_observe, NULL, 1, args);
        if (!out[i])
            break;
        if (c)
            out[i]->producer->custom = c;
    }
    hook_close(b, key, pos);
    if (i < n)
        return false;
    if (c && n > 0) {
        c->n_out = n;
        c->out = out;
        c->node = out[0]->producer;
    }
    *g = group_with(b, g, out);
    return true;
}

/* Other results whose gradients the text reads. */
static void boundary_reads(struct cr_build *b, struct cr_custom_grad *c, int n,
                           struct cr_val *const *more)
{
    struct cr_val **out =
        CR_NEWS(b->net->arena, struct cr_val *, c->n_out + n + 1);

    memcpy(out, c->out, (size_t)c->n_out * sizeof *out);
    memcpy(out + c->n_out, more, (size_t)n * sizeof *out);
    c->out = out;
    c->n_out += n;
}

/* The gradient that the text returns for `was`; those of its tensors into
 * to[], from number *n on. */
static bool grad_value(struct cr_interp *m, const struct cr_script *e,
                       const struct cr_script_value *t,
                       const struct cr_val *was, struct cr_val **to, int *n)
{
    struct cr_arena *arena = m->b->net->arena;
    int i;

    if (!was || was == cr_val_absent())
        return true;
    if (t->kind == CR_SV_NONE) {
        *n = leaves((struct cr_val *)(uintptr_t)was, NULL, *n);
        return true;
    }
    if (was->n_members > 0) {
        if (t->kind != CR_SV_TUPLE || t->n != was->n_members)
            return cr_interp_fail(
                m, e,
                cr_strf(arena,
                        "result of the hook: found %s, expected a tuple of %d",
                        cr_script_value_what(arena, t), was->n_members));
        for (i = 0; i < t->n; i++)
            if (!grad_value(m, member(e, i), &t->items[i], was->members[i], to,
                            n))
                return false;
        return true;
    }
    if (was->spec.type != CR_REAL)
        return true;
    if (t->kind != CR_SV_TENSOR || !cr_spec_same(&t->val->spec, &was->spec))
        return cr_interp_fail(
            m, e,
            cr_strf(arena, "result of the hook: found %s, expected a tensor %s",
                    cr_script_value_what(arena, t),
                    cr_diag_format(arena, &was->spec)));
    to[(*n)++] = t->val;
    return true;
}

/* The names that a text in the backward pass begins with. */
static bool grad_names(struct cr_interp *m, const struct back *k,
                       const struct group *result)
{
    static const char *const names[] = { [CR_HOOK_BACKWARD_PRE] = "grad_output",
                                         [CR_HOOK_BACKWARD] = "grad_input",
                                         [CR_HOOK_POINT] = "grad" };
    struct cr_custom_grad *c = k->custom;
    int n = leaves(NULL, NULL, 0), i;

    for (i = 0; i < k->in.n; i++)
        n = leaves(k->in.v[i], NULL, n);
    return cr_interp_input(m, names[k->hook->form],
                           group_thing(m->b, &k->in, c->dout, true)) &&
           (c->n_out == n ||
            cr_interp_input(m, "grad_output",
                            group_thing(m->b, result, c->dout + n, true)));
}

static bool grads_text(struct cr_build *b, const struct back *k,
                       const struct group *result)
{
    struct cr_custom_grad *c = k->custom;
    struct cr_interp m = maker_for(b, k->hook);
    const struct cr_script *returned = NULL;
    struct cr_script_value value = { 0 };
    int i, n = 1;

    if (!grad_names(&m, k, result) || !cr_interp_run(&m, &value, &returned))
        return false;
    if (value.kind == CR_SV_NONE)
        return true;
    if (k->in.n > 1 && (value.kind != CR_SV_TUPLE || value.n != k->in.n))
        return cr_interp_fail(
            &m, returned,
            cr_strf(b->net->arena,
                    "result of the hook: found %s, expected a tuple of "
                    "%d, one for each input of the cell",
                    cr_script_value_what(b->net->arena, &value), k->in.n));
    for (i = 0; i < k->in.n; i++)
        if (!grad_value(&m, k->in.n > 1 ? member(returned, i) : returned,
                        k->in.n > 1 ? &value.items[i] : &value, k->in.v[i],
                        c->grad, &n))
            return false;
    return true;
}

/* Builds what runs in the backward pass of a boundary; `more`: other results
 * that it reads, those of `result`. */
static bool way_back(struct cr_build *b, const struct back *k,
                     const struct group *result)
{
    struct cr_net *net = b->net;
    struct cr_custom_grad *c = k->custom;
    struct cr_precision was = cr_precision(b);
    struct cr_pos pos = b->pos;
    struct cr_graph_lists lists;
    uint64_t key;
    bool ok;
    int i, n = c->node ? c->node->n_in : 1;

    if (!c->node)
        return true; /* nothing there has a gradient */
    c->dout = CR_NEWS(net->arena, struct cr_val *, c->n_out);
    c->zero = CR_NEWS(net->arena, struct cr_val *, c->n_out);
    lists = cr_graph_detach(net);
    key = hook_open(b, k->hook);
    if (k->hook)
        b->pos = k->hook->pos;
    cr_precision_backward(b);
    ok = cr_grad_boundary_dout(b, c);
    for (i = 1; i < n && ok; i++)
        c->grad[i] = c->dout[i - 1]; /* unless the text has others */
    if (ok && k->hook && !k->hook->each)
        ok = grads_text(b, k, result);
    for (i = 1; i < n && ok && k->hook && k->hook->each; i++) {
        c->grad[i] = text_of_one(b, k->hook, c->dout[i - 1]);
        ok = c->grad[i] != NULL;
    }
    cr_precision_set(b, was);
    hook_close(b, key, pos);
    c->nodes = cr_graph_restore(net, &lists);
    return ok;
}

/* ---- a call ---- */

/* Whether the call is one that hooks may be at. */
static bool hookable(const struct cr_build *b)
{
    const struct cr_net *net = b->net;

    return net->hooks->n > 0 && net->graph->hooks != CR_HOOKS_NONE &&
           !net->in_backward && !b->hook;
}

static bool wanted(const struct cr_build *b)
{
    const struct cr_hooks *hooks = b->net->hooks;
    bool seen = b->net->graph->hooks == CR_HOOKS_OBSERVED;
    int i;

    if (!hookable(b) || b->metric)
        return false;
    for (i = 0; i < hooks->n; i++)
        if ((seen || hooks->v[i].text) && matches(b, &hooks->v[i], CR_HOOK_TAP))
            return true;
    return false;
}

static bool sees(const struct cr_build *b, const struct cr_hook *h,
                 enum cr_hook_what what)
{
    return b->net->graph->hooks == CR_HOOKS_OBSERVED && h->observe[what] &&
           matches(b, h, CR_HOOK_TAP);
}

/* The backward of one entry at the cell's inputs. */
static bool enter_backward(struct cr_build *b, const struct cr_hook *h,
                           struct group *g)
{
    struct back *k = CR_NEW(b->net->arena, struct back);
    const char *text = h->text->text;

    k->hook = h;
    k->custom = CR_NEW(b->net->arena, struct cr_custom_grad);
    k->in = *g;
    k->next = b->hooked->backs;
    b->hooked->backs = k;
    if (!h->each && strstr(text, "grad_output"))
        b->hooked->arrives = true;
    return boundary(b, g, k->custom);
}

bool cr_hook_enter(struct cr_build *b, struct cr_val *const **in)
{
    const struct cr_hooks *hooks = b->net->hooks;
    bool back = b->net->graph->hooks != CR_HOOKS_FORWARD;
    struct cr_val **to;
    struct group g = { .n = b->n_in };
    int i;

    if (!wanted(b))
        return true;
    b->hooked = CR_NEW(b->net->arena, struct cr_hooked);
    for (i = 0; i < g.n; i++)
        g.v[i] = (*in)[i];
    for (i = 0; i < hooks->n; i++) {
        const struct cr_hook *h = &hooks->v[i];

        if (sees(b, h, CR_OBSERVE_INPUT))
            see(b, i, CR_OBSERVE_INPUT, &g);
        if (matches(b, h, CR_HOOK_FORWARD_PRE) && !forward(b, h, &g, &g))
            return false;
    }
    b->hooked->inputs = g;
    /* the first to see the gradient is the innermost */
    for (i = hooks->n - 1; i >= 0 && back; i--) {
        const struct cr_hook *h = &hooks->v[i];

        if (matches(b, h, CR_HOOK_BACKWARD) && !enter_backward(b, h, &g))
            return false;
        if (!sees(b, h, CR_OBSERVE_GRAD_INPUT))
            continue;
        if (!boundary(b, &g, NULL))
            return false;
        see(b, i, CR_OBSERVE_GRAD_INPUT, &g);
    }
    to = CR_NEWS(b->net->arena, struct cr_val *, CR_OP_MAX);
    memcpy(to, g.v, sizeof g.v);
    *in = to;
    return true;
}

/* One boundary with its text at once. */
static bool replace_grad(struct cr_build *b, const struct cr_hook *h,
                         struct group *g)
{
    struct back k = { .hook = h, .in = *g };

    k.custom = CR_NEW(b->net->arena, struct cr_custom_grad);
    return boundary(b, g, k.custom) && way_back(b, &k, g);
}

/* The backward pass at the cell's result: the first to see the gradient is the
 * outermost. */
static bool leave_backward(struct cr_build *b, struct group *g)
{
    const struct cr_hooks *hooks = b->net->hooks;
    struct group arrives = { 0 };
    struct back *k;
    int i, n = 0;
    struct cr_val **leaf = NULL;

    if (b->hooked->arrives) {
        if (!replace_grad(b, NULL, g))
            return false;
        arrives = *g;
        leaf = group_leaves(b, g, &n);
    }
    for (k = b->hooked->backs; k; k = k->next) {
        if (k->custom->node && !k->hook->each &&
            strstr(k->hook->text->text, "grad_output"))
            boundary_reads(b, k->custom, n, leaf);
        if (!way_back(b, k, &arrives))
            return false;
    }
    for (i = hooks->n - 1; i >= 0; i--) {
        const struct cr_hook *h = &hooks->v[i];

        if (matches(b, h, CR_HOOK_BACKWARD_PRE) && !replace_grad(b, h, g))
            return false;
        if (!sees(b, h, CR_OBSERVE_GRAD))
            continue;
        if (!boundary(b, g, NULL))
            return false;
        see(b, i, CR_OBSERVE_GRAD, g);
    }
    return true;
}

struct cr_val *cr_hook_leave(struct cr_build *b, struct cr_val *out)
{
    const struct cr_hooks *hooks = b->net->hooks;
    struct group g = { .n = 1, .v = { out } };
    int i;

    if (!b->hooked)
        return out;
    if (b->net->graph->hooks != CR_HOOKS_FORWARD && !leave_backward(b, &g))
        return NULL;
    for (i = 0; i < hooks->n; i++) {
        const struct cr_hook *h = &hooks->v[i];

        if (sees(b, h, CR_OBSERVE_OUTPUT))
            see(b, i, CR_OBSERVE_OUTPUT, &g);
        if (matches(b, h, CR_HOOK_FORWARD) &&
            !forward(b, h, &b->hooked->inputs, &g))
            return NULL;
    }
    return g.v[0];
}

/* ---- hook_backward(x, name) ---- */

static void point_note(struct cr_net *net, const char *name)
{
    struct cr_hooks *hooks = net->hooks;
    int i;

    for (i = 0; i < hooks->n_points; i++)
        if (strcmp(hooks->points[i], name) == 0)
            return;
    if (hooks->n_points + 1 >= hooks->room_points) {
        int room = 2 * hooks->room_points + 16;

        hooks->points =
            cr_grow(net->arena, hooks->points, (size_t)hooks->n_points,
                    (size_t)room, sizeof *hooks->points);
        hooks->room_points = room;
    }
    hooks->points[hooks->n_points++] = name;
    hooks->points[hooks->n_points] = NULL;
}

struct cr_val *cr_hook_point(struct cr_build *b, struct cr_val *x,
                             const char *name)
{
    struct cr_net *net = b->net;
    const struct cr_hooks *hooks = net->hooks;
    const char *full = cr_path_of(net->arena, b->path, name);
    struct group g = { .n = 1, .v = { x } };
    int i, calls = net->cell_calls[b->row].calls;
    const char *call = calls > 1 ? cr_strf(net->arena, "#%d", calls) : "";

    if (!net->built)
        point_note(net, full);
    if (!hookable(b) || net->graph->hooks == CR_HOOKS_FORWARD)
        return x;
    for (i = hooks->n - 1; i >= 0; i--) {
        const struct cr_hook *h = &hooks->v[i];

        if (h->form != CR_HOOK_POINT || !cr_hook_matches(h, full, NULL))
            continue;
        if (h->text && !replace_grad(b, h, &g))
            return NULL;
        if (net->graph->hooks != CR_HOOKS_OBSERVED ||
            !h->observe[CR_OBSERVE_GRAD])
            continue;
        if (!boundary(b, &g, NULL))
            return NULL;
        cr_name_values(net, &net->graph->seen_grads,
                       cr_strf(net->arena, "%d.grad.%s%s", i, full, call),
                       g.v[0]);
    }
    return g.v[0];
}
