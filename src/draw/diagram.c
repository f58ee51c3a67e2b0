#include "draw/draw.h"

#include "base/str.h"
#include "graph/graph.h"
#include "graph/op_attrs.h"

#include <inttypes.h>
#include <string.h>

struct drawer {
    struct cr_net *net;
    struct cr_diagram *d;
    const struct cr_call *target;
    const struct cr_pruned *cuts;
    int n_cuts;
    bool alone;                  /* the target alone, not the whole network */
    struct cr_box **by;          /* per value: the box that it comes from */
    const struct cr_call **call; /* of each frame or cell drawn, */
    struct cr_box **box;         /* and its box */
    int n_calls;
};

/* ---- boxes ---- */

static struct cr_box *draw_box(struct drawer *w, struct cr_box *parent,
                               enum cr_box_kind kind, const char *name,
                               const char *type)
{
    struct cr_box *box = CR_NEW(w->d->arena, struct cr_box);

    *box = (struct cr_box){ .kind = kind,
                            .id = w->d->n_boxes++,
                            .path = "",
                            .name = name,
                            .type = type,
                            .shape = "",
                            .params = "",
                            .parent = parent };
    if (parent && parent->last)
        parent->last->next = box;
    else if (parent)
        parent->child = box;
    if (parent)
        parent->last = box;
    return box;
}

static const char *draw_shape(struct drawer *w, const struct cr_val *v)
{
    struct cr_buf b = { .arena = w->d->arena };
    int i;

    if (v->n_members == 0)
        return cr_diag_format(w->d->arena, &v->spec);
    for (i = 0; i < v->n_members; i++)
        cr_buf_f(&b, "%s%s", i > 0 ? ", " : "", draw_shape(w, v->members[i]));
    return cr_buf_text(&b);
}

/* "1,234,567" */
static const char *draw_count(struct cr_arena *arena, int64_t n)
{
    return n < 1000 ? cr_strf(arena, "%" PRId64, n)
                    : cr_strf(arena, "%s,%03" PRId64,
                              draw_count(arena, n / 1000), n % 1000);
}

/* Whether a parameter belongs to the cell itself. */
static bool draw_owns(const char *cell, const char *param)
{
    size_t n = strlen(cell);

    if (strcmp(cell, param) == 0)
        return true;
    if (n > 0 && (strncmp(cell, param, n) != 0 || param[n] != '.'))
        return false;
    return !strchr(param + (n > 0 ? n + 1 : 0), '.');
}

static void draw_params(struct drawer *w, struct cr_box *box, int number)
{
    struct cr_arena *arena = w->d->arena;
    int64_t all = 0, trained = 0;
    const char *why = "";
    int i;

    for (i = 0; i < w->net->n_params; i++) {
        const struct cr_param *p = &w->net->params[i];

        if (p->statistic || !draw_owns(box->path, p->name))
            continue;
        all += cr_count(&p->spec);
        trained += p->trained ? cr_count(&p->spec) : 0;
        why = p->frozen_reason && !why[0] ? p->frozen_reason : why;
    }
    if (all == 0)
        return;
    /* a place in a file is for the table */
    if (cr_starts(why, "cut off by "))
        why = cr_strndup(arena, why,
                         strcspn(why, " ") +
                             strcspn(strchr(why, ' ') + 8, " ") + 8);
    box->trainable = trained == all ? CR_TRAINABLE_ALL
                     : trained > 0  ? CR_TRAINABLE_SOME
                                    : CR_TRAINABLE_NONE;
    box->params = cr_strf(arena, "%s parameter%s%s%s%s", draw_count(arena, all),
                          all == 1 ? "" : "s", number > 1 ? ", shared" : "",
                          why[0] ? trained > 0 ? ", some " : ", " : "", why);
}

static const char *draw_type(struct drawer *w, const struct cr_call *call)
{
    const char *end = call->block ? strstr(call->block, ", used at ") : NULL;

    return !call->block ? w->net->cells[call->cell].type
           : end        ? cr_strndup(w->d->arena, call->block,
                                     (size_t)(end - call->block))
                        : call->block;
}

static bool draw_opens(const struct drawer *w, const struct cr_call *call)
{
    return call == w->target ? w->alone || !w->net->cells[call->cell].leaf
                             : !w->net->cells[call->cell].leaf;
}

/* The frame in which a call's ops and cells stand, or its box. */
static struct cr_box *draw_call(struct drawer *w, const struct cr_call *call)
{
    const struct cr_cell_row *row = &w->net->cells[call->cell];
    const char *dot = strrchr(row->name, '.');
    const char *name = dot ? dot + 1 : row->name;
    struct cr_box *box, *parent;
    int i;

    if (call == w->target && draw_opens(w, call))
        return w->d->root;
    for (i = 0; i < w->n_calls; i++)
        if (w->call[i] == call)
            return w->box[i];
    parent = call->parent && call != w->target ? draw_call(w, call->parent)
                                               : w->d->root;
    if (call->number > 1)
        name = cr_strf(w->d->arena, "%s #%d", name, call->number);
    box = draw_box(w, parent, draw_opens(w, call) ? CR_BOX_FRAME : CR_BOX_CELL,
                   name, draw_type(w, call));
    box->path = row->name;
    if (call->out)
        box->shape = draw_shape(w, call->out);
    if (!call->loss || row->params > 0)
        draw_params(w, box, call->number);
    for (i = 0; i < w->n_cuts; i++)
        box->pruned = box->pruned || (!w->cuts[i].hook &&
                                      strcmp(w->cuts[i].name, row->name) == 0);
    w->call[w->n_calls] = call;
    w->box[w->n_calls++] = box;
    return box;
}

static bool draw_within(const struct drawer *w, const struct cr_call *call)
{
    if (!w->alone && call && call->loss)
        return true;
    for (; call; call = call->parent)
        if (call == w->target)
            return true;
    return false;
}

/* ---- arrows ---- */

static void *draw_room(struct drawer *w, void *old, int n, int *room,
                       size_t size)
{
    if (n < *room)
        return old;
    *room = 2 * n + 8;
    return cr_grow(w->d->arena, old, (size_t)n, (size_t)*room, size);
}

static void draw_line(struct drawer *w, struct cr_box *frame,
                      struct cr_box *from, struct cr_box *to, int val)
{
    int i;

    for (i = 0; i < frame->n_lines; i++)
        if (frame->lines[i].from == from && frame->lines[i].to == to &&
            frame->lines[i].val == val)
            return;
    frame->lines = draw_room(w, frame->lines, frame->n_lines, &frame->cap_lines,
                             sizeof *frame->lines);
    frame->lines[frame->n_lines++] = (struct cr_line){ from, to, val, 0, NULL };
}

static void draw_port(struct drawer *w, struct cr_port **ports, int *n,
                      int *room, int val)
{
    int i;

    for (i = 0; i < *n; i++)
        if ((*ports)[i].val == val)
            return;
    *ports = draw_room(w, *ports, *n, room, sizeof **ports);
    (*ports)[(*n)++] = (struct cr_port){ val, 0 };
}

static bool draw_holds(const struct cr_box *frame, const struct cr_box *box)
{
    while (box && box != frame)
        box = box->parent;
    return box != NULL;
}

/* Out through the borders of the frames that hold only `from`, and in
 * through those that hold only `to`. */
static void draw_arrow(struct drawer *w, struct cr_box *from, struct cr_box *to,
                       int val)
{
    struct cr_diagram *d = w->d;
    struct cr_box *a = from, *b = to;
    int i;

    for (i = 0; i < d->n_arrows; i++)
        if (d->arrows[i].from == from && d->arrows[i].to == to &&
            d->arrows[i].val == val)
            return;
    d->arrows =
        draw_room(w, d->arrows, d->n_arrows, &d->cap_arrows, sizeof *d->arrows);
    d->arrows[d->n_arrows++] = (struct cr_line){ from, to, val, 0, NULL };
    for (; !draw_holds(a->parent, to); a = a->parent) {
        draw_line(w, a->parent, a, a->parent, val);
        draw_port(w, &a->parent->out, &a->parent->n_out, &a->parent->cap_out,
                  val);
    }
    for (; b->parent != a->parent; b = b->parent) {
        draw_line(w, b->parent, b->parent, b, val);
        draw_port(w, &b->parent->in, &b->parent->n_in, &b->parent->cap_in, val);
    }
    draw_line(w, a->parent, a, b, val);
}

/* The value itself after casts, which are no boxes. */
static const struct cr_val *draw_source(const struct cr_val *v)
{
    while (v->producer && v->producer->op == &cr_op_fake_cast)
        v = v->producer->in[0];
    return v;
}

static bool draw_constant(const struct cr_val *v)
{
    return v->producer && v->producer->op == cr_op_find("constant");
}

/* A box for what comes from outside: a column, or another cell. */
static struct cr_box *draw_input(struct drawer *w, const struct cr_val *v)
{
    struct cr_box *box;
    const char *name = "input";

    if (v->feed >= 0)
        name = w->net->graph->columns[v->feed].name;
    else if (v->producer)
        name = w->net->cells[v->producer->cell].name;
    else if (v->param >= 0)
        name = w->net->params[v->param].name;
    box = draw_box(w, w->d->root, CR_BOX_INPUT, name, "");
    box->shape = draw_shape(w, v);
    return w->by[v->id] = box;
}

/* A parameter that the cell has from another one. */
static void draw_shared(struct drawer *w, struct cr_box *box, int param)
{
    const struct cr_param *p = &w->net->params[param];

    if (box->kind != CR_BOX_CELL || p->statistic ||
        draw_owns(box->path, p->name))
        return;
    box->trainable = p->trained ? CR_TRAINABLE_ALL : CR_TRAINABLE_NONE;
    box->params = cr_strf(w->d->arena, "shares %s", p->name);
}

static void draw_reads(struct drawer *w, struct cr_box *box,
                       const struct cr_opnode *node)
{
    struct cr_buf given = { .arena = w->d->arena };
    int i;

    for (i = 0; i < node->n_in; i++) {
        const struct cr_val *v = node->in[i] ? draw_source(node->in[i]) : NULL;

        if (v && draw_constant(v)) {
            const struct cr_constant *c = v->producer->attr;

            cr_buf_f(&given, "%s%s", given.text ? " " : "",
                     c->value.n == 1 && cr_count(&v->spec) == 1
                         ? cr_strf(w->d->arena, "%.6g", c->value.v[0])
                         : cr_diag_format(w->d->arena, &v->spec));
        } else if (v && v->param >= 0 && !w->by[v->id]) {
            draw_shared(w, box, v->param);
        } else if (v) {
            struct cr_box *from =
                w->by[v->id] ? w->by[v->id] : draw_input(w, v);

            if (from != box)
                draw_arrow(w, from, box, v->id);
        }
    }
    if (box->kind == CR_BOX_OP)
        box->type = cr_buf_text(&given);
}

static void draw_node(struct drawer *w, const struct cr_opnode *node)
{
    struct cr_box *box = draw_call(w, node->call);
    int i;

    if (box->kind == CR_BOX_FRAME) {
        box = draw_box(w, box, CR_BOX_OP, node->op->about.name, "");
        box->shape = draw_shape(w, node->out[0]);
    }
    draw_reads(w, box, node);
    for (i = 0; i < node->n_out; i++)
        w->by[node->out[i]->id] = box;
}

/* The result of the target, after all else. */
static void draw_outputs(struct drawer *w, const struct cr_val *v,
                         const char *name)
{
    const struct cr_val *from;
    struct cr_box *box;
    int i;

    for (i = 0; i < v->n_members; i++)
        draw_outputs(w, v->members[i], cr_strf(w->d->arena, "%s.%d", name, i));
    if (v->n_members > 0)
        return;
    from = draw_source(v);
    if (!w->by[from->id])
        draw_input(w, from);
    box = draw_box(w, w->d->root, CR_BOX_OUTPUT, name, "");
    box->shape = draw_shape(w, v);
    draw_arrow(w, w->by[from->id], box, from->id);
}

struct cr_diagram *cr_net_draw(struct cr_net *net, const char *at,
                               const struct cr_pruned *cuts, int n_cuts)
{
    struct cr_arena *arena = net->arena;
    const struct cr_graph *g = net->graph;
    struct drawer w = { .net = net,
                        .cuts = cuts,
                        .n_cuts = n_cuts,
                        .alone = at && at[0],
                        .target = g->calls };
    const struct cr_opnode *node;
    const struct cr_call *call;
    int i, n = 0;

    for (call = g->calls; call; call = call->next)
        n++;
    for (call = g->calls; w.alone && call; call = call->next)
        if (strcmp(net->cells[call->cell].name, at) == 0) {
            w.target = call;
            break;
        }
    w.d = CR_NEW(arena, struct cr_diagram);
    w.d->arena = arena;
    w.by = CR_NEWS(arena, struct cr_box *, g->n_vals + 1);
    w.call = CR_NEWS(arena, const struct cr_call *, n + 1);
    w.box = CR_NEWS(arena, struct cr_box *, n + 1);
    w.d->root = draw_box(&w, NULL, CR_BOX_FRAME, "", "");
    for (i = 0; !w.alone && i < net->opts.n_columns; i++)
        if (g->feeds[i])
            draw_input(&w, g->feeds[i]);
    /* learned tensors that stand for themselves */
    for (call = g->calls; call; call = call->next)
        if (call->out && call->out->param >= 0 && draw_within(&w, call) &&
            !w.by[call->out->id] && call != w.target)
            w.by[call->out->id] = draw_call(&w, call);
    for (node = g->nodes; node; node = node->next)
        if (draw_within(&w, node->call) && node->op != &cr_op_fake_cast &&
            node->op != &cr_op_print &&
            strcmp(node->op->about.name, "constant") != 0)
            draw_node(&w, node);
    draw_outputs(&w, w.target->out, "output");
    return w.d;
}
