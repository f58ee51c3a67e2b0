#include "base/graph_layout.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define TRACK_W 12.0 /* of an arrow that passes a layer */
#define SPREAD 12.0  /* between arrows that end at one box */
#define SWEEPS 24

/* A node in its layer, or the position where a track crosses one. */
struct item {
    int node; /* -1: a track */
    int layer, rank;
    double w, x; /* its centre */
    double key;
    int *up, *down; /* its links */
    int n_up, n_down;
};

struct link {
    int from, to;        /* items of neighbouring layers */
    double from_x, to_x; /* from their centres */
    int weight;
};

struct layout {
    struct cr_layered_graph *l;
    int n_layers, n_items, n_links;
    struct item *item;
    struct link *link;
    int **layer, *count; /* items of each layer in order, and how many */
    int *start;          /* first item of an edge's track; -1: none */
};

/* ---- layers ---- */

static void layers_assign(struct layout *o)
{
    const struct cr_layered_graph *l = o->l;
    int i, e, deep = 0;
    int *at = CR_NEWS(l->arena, int, l->n_nodes + 1);
    bool moved = true;

    /* ends after at most as many rounds as the graph is deep */
    for (i = 0; moved && i <= l->n_nodes; i++)
        for (e = 0, moved = false; e < l->n_edges; e++)
            if (at[l->edge[e].from] >= at[l->edge[e].to]) {
                at[l->edge[e].to] = at[l->edge[e].from] + 1;
                moved = true;
            }
    assert(!moved);
    for (i = l->n_nodes - 1; i >= 0; i--) {
        int first = -1;

        for (e = 0; e < l->n_edges; e++)
            if (l->edge[e].from == i &&
                l->node[l->edge[e].to].place != CR_PLACE_BOTTOM &&
                (first < 0 || at[l->edge[e].to] < first))
                first = at[l->edge[e].to];
        if (l->node[i].place == CR_PLACE_LATE && first > 0)
            at[i] = first - 1;
    }
    for (i = 0; i < l->n_nodes; i++)
        if (l->node[i].place != CR_PLACE_BOTTOM && at[i] >= deep)
            deep = at[i] + 1;
    for (i = 0; i < l->n_nodes; i++) {
        if (l->node[i].place == CR_PLACE_BOTTOM)
            at[i] = deep;
        o->n_layers = at[i] >= o->n_layers ? at[i] + 1 : o->n_layers;
        o->item[i] =
            (struct item){ .node = i, .layer = at[i], .w = l->node[i].w };
    }
    o->n_items = l->n_nodes;
}

static void layers_link(struct layout *o, int from, int to, double from_x,
                        double to_x)
{
    bool a = o->item[from].node >= 0, b = o->item[to].node >= 0;
    int i;

    for (i = 0; i < o->n_links; i++)
        if (o->link[i].from == from && o->link[i].to == to &&
            o->link[i].from_x == from_x && o->link[i].to_x == to_x)
            return;
    o->link[o->n_links++] = (struct link){ from, to, from_x, to_x,
                                           a && b   ? 400
                                           : a || b ? 1
                                                    : 100 };
}

/* Items and links for edge e; a track that another edge has is shared. */
static void layers_track(struct layout *o, int e)
{
    const struct cr_layout_edge *edge = &o->l->edge[e];
    const struct cr_layout_node *node = o->l->node;
    int from = edge->from, i, k, last = edge->from;
    int top = o->item[from].layer, end = o->item[edge->to].layer;
    double out = edge->from_x - node[from].w / 2;

    o->start[e] = -1;
    for (i = 0; i < e; i++)
        if (o->l->edge[i].from == from && o->l->edge[i].port == edge->port &&
            o->start[i] >= 0)
            o->start[e] = o->start[i];
    for (k = top + 1; k < end; k++) {
        int track = -1;

        /* the shared track runs through consecutive items where it exists */
        for (i = 0; i < o->n_links && track < 0; i++)
            if (o->start[e] >= 0 && o->link[i].from == last &&
                (last != from || o->link[i].to == o->start[e]) &&
                o->item[o->link[i].to].node < 0)
                track = o->link[i].to;
        if (track < 0) {
            track = o->n_items++;
            o->item[track] =
                (struct item){ .node = -1, .layer = k, .w = TRACK_W };
            layers_link(o, last, track, last == from ? out : 0, 0);
        }
        if (o->start[e] < 0)
            o->start[e] = track;
        last = track;
    }
    layers_link(o, last, edge->to, last == from ? out : 0,
                edge->to_x < 0 ? 0 : edge->to_x - node[edge->to].w / 2);
}

static void layers_join(struct layout *o)
{
    struct cr_arena *arena = o->l->arena;
    int i;

    for (i = 0; i < o->n_items; i++) {
        o->item[i].up = CR_NEWS(arena, int, o->n_links + 1);
        o->item[i].down = CR_NEWS(arena, int, o->n_links + 1);
        o->count[o->item[i].layer]++;
    }
    for (i = 0; i < o->n_links; i++) {
        struct item *a = &o->item[o->link[i].from];
        struct item *b = &o->item[o->link[i].to];

        a->down[a->n_down++] = i;
        b->up[b->n_up++] = i;
    }
    for (i = 0; i < o->n_layers; i++) {
        o->layer[i] = CR_NEWS(arena, int, o->count[i] + 1);
        o->count[i] = 0;
    }
    for (i = 0; i < o->n_items; i++) {
        struct item *it = &o->item[i];

        it->rank = o->count[it->layer];
        o->layer[it->layer][o->count[it->layer]++] = i;
    }
}

/* ---- order within layers ---- */

static double link_at(const struct item *it, double off)
{
    return it->rank + off / (it->w + 1);
}

static int layers_crossings(const struct layout *o)
{
    int i, k, n = 0;

    for (i = 0; i < o->n_links; i++)
        for (k = 0; k < i; k++) {
            const struct link *a = &o->link[i], *b = &o->link[k];
            double p, q;

            if (o->item[a->from].layer != o->item[b->from].layer)
                continue;
            p = link_at(&o->item[a->from], a->from_x) -
                link_at(&o->item[b->from], b->from_x);
            q = link_at(&o->item[a->to], a->to_x) -
                link_at(&o->item[b->to], b->to_x);
            n += p * q < 0;
        }
    return n;
}

/* By insertion: few items, and equal ones keep their order. */
static void layers_sort(struct layout *o, int layer)
{
    int *at = o->layer[layer], i, k;

    for (i = 1; i < o->count[layer]; i++) {
        int it = at[i];

        for (k = i; k > 0 && o->item[at[k - 1]].key > o->item[it].key; k--)
            at[k] = at[k - 1];
        at[k] = it;
    }
    for (i = 0; i < o->count[layer]; i++)
        o->item[at[i]].rank = i;
}

static void layers_order_one(struct layout *o, int layer, bool down)
{
    int i, k;

    for (i = 0; i < o->count[layer]; i++) {
        struct item *it = &o->item[o->layer[layer][i]];
        int n = down ? it->n_up : it->n_down;

        it->key = n > 0 ? 0 : it->rank;
        for (k = 0; k < n; k++) {
            const struct link *to = &o->link[down ? it->up[k] : it->down[k]];

            it->key += (down ? link_at(&o->item[to->from], to->from_x)
                             : link_at(&o->item[to->to], to->to_x)) /
                       n;
        }
    }
    layers_sort(o, layer);
}

static void layers_order(struct layout *o)
{
    int *best = CR_NEWS(o->l->arena, int, o->n_items + 1);
    int sweep, i, fewest = -1;

    for (sweep = 0; sweep <= SWEEPS; sweep++) {
        int crossings = layers_crossings(o);

        if (fewest < 0 || crossings < fewest) {
            fewest = crossings;
            for (i = 0; i < o->n_items; i++)
                best[i] = o->item[i].rank;
        }
        if (crossings == 0)
            break;
        for (i = 0; i < o->n_layers; i++)
            layers_order_one(o, sweep % 2 ? o->n_layers - 1 - i : i,
                             sweep % 2 == 0);
    }
    for (i = 0; i < o->n_items; i++) {
        o->item[i].rank = best[i];
        o->layer[o->item[i].layer][best[i]] = i;
    }
}

/* ---- positions ---- */

/* The preferred position of an item: below (or above) its heaviest
 * neighbours. */
static bool layers_wish(const struct layout *o, const struct item *it,
                        bool down, double *to, int *weight)
{
    int k, n = down ? it->n_up : it->n_down, some = 0;
    double sum = 0;

    *weight = 0;
    for (k = 0; k < n; k++) {
        const struct link *a = &o->link[down ? it->up[k] : it->down[k]];
        double x = down ? o->item[a->from].x + a->from_x - a->to_x
                        : o->item[a->to].x + a->to_x - a->from_x;

        if (a->weight > *weight) {
            *weight = a->weight;
            sum = 0;
            some = 0;
        }
        if (a->weight == *weight) {
            sum += x;
            some++;
        }
    }
    if (some > 0)
        *to = sum / some;
    return some > 0;
}

/* The positions without overlaps that are closest to the preferred ones: runs
 * of items that would overlap are placed as one, at the mean of their preferred
 * positions. */
struct run {
    double sum,
        weight; /* of preferred positions, less the offsets within the run */
    int n;
};

static void layers_settle(struct layout *o, int layer, bool down)
{
    int n = o->count[layer], i, k, runs = 0;
    struct cr_arena mem = { 0 };
    struct run *run = CR_NEWS(&mem, struct run, n + 1);
    double *off = CR_NEWS(&mem, double, n + 1), at = 0;

    for (i = 0; i < n; i++) {
        struct item *it = &o->item[o->layer[layer][i]];
        double wish = it->x;
        int weight;

        if (i > 0)
            at +=
                o->item[o->layer[layer][i - 1]].w / 2 + it->w / 2 + o->l->gap_x;
        off[i] = at;
        if (!layers_wish(o, it, down, &wish, &weight))
            weight = 1;
        run[runs++] = (struct run){ (wish - at) * weight, weight, 1 };
        while (runs > 1 && run[runs - 2].sum / run[runs - 2].weight >
                               run[runs - 1].sum / run[runs - 1].weight) {
            run[runs - 2].sum += run[runs - 1].sum;
            run[runs - 2].weight += run[runs - 1].weight;
            run[runs - 2].n += run[runs - 1].n;
            runs--;
        }
    }
    for (k = i = 0; k < runs; k++)
        for (; run[k].n > 0; run[k].n--, i++)
            o->item[o->layer[layer][i]].x = run[k].sum / run[k].weight + off[i];
    cr_arena_free(&mem);
}

static void layers_across(struct layout *o)
{
    int sweep, i;

    for (i = 0; i < o->n_layers; i++)
        layers_settle(o, i, true);
    for (sweep = 0; sweep < SWEEPS; sweep++)
        for (i = 0; i < o->n_layers; i++)
            layers_settle(o, sweep % 2 ? i : o->n_layers - 1 - i,
                          sweep % 2 == 1);
}

static void layers_frame(struct layout *o)
{
    struct cr_layered_graph *l = o->l;
    double left = 0, right = 0;
    int i;

    for (i = 0; i < o->n_items; i++) {
        const struct item *it = &o->item[i];

        if (i == 0 || it->x - it->w / 2 < left)
            left = it->x - it->w / 2;
        if (i == 0 || it->x + it->w / 2 > right)
            right = it->x + it->w / 2;
    }
    for (i = 0; i < o->n_items; i++)
        o->item[i].x -= left;
    l->w = right - left;
}

/* ---- arrows ---- */

struct heights {
    double top, bottom;
};

/* Arrows that end at one box end side by side, in the order of their
 * origins. */
static double layers_end(const struct layout *o, int e, int before)
{
    const struct cr_layout_edge *edge = &o->l->edge[e];
    double w = o->l->node[edge->to].w;
    const struct item *to = &o->item[edge->to];
    int k, left = 0, n = to->n_up;
    double x = o->item[before].x, step;

    if (edge->to_x >= 0)
        return edge->to_x;
    for (k = 0; k < n; k++) {
        double other = o->item[o->link[to->up[k]].from].x;

        left += other < x || (other == x && o->link[to->up[k]].from < before);
    }
    step = n > 1 && SPREAD * (n - 1) > w - SPREAD ? (w - SPREAD) / (n - 1)
                                                  : SPREAD;
    return w / 2 + step * (left - (n - 1) / 2.0);
}

static void layers_arrow(struct layout *o, int e, const struct heights *h)
{
    struct cr_layered_graph *l = o->l;
    struct cr_layout_edge *edge = &l->edge[e];
    const struct cr_layout_node *a = &l->node[edge->from];
    const struct cr_layout_node *b = &l->node[edge->to];
    int layer = o->item[edge->from].layer, end = o->item[edge->to].layer;
    int last = edge->from, i, k = layer + 1;
    double x = a->x + edge->from_x;

    edge->at = CR_NEWS(l->arena, struct cr_point, 2 * (end - layer) + 2);
    edge->n = 0;
    edge->at[edge->n++] = (struct cr_point){ x, a->y + a->h };
    edge->at[edge->n++] = (struct cr_point){ x, h[layer].bottom };
    for (; k < end; k++) {
        int next = last == edge->from ? o->start[e] : -1;

        for (i = 0; i < o->item[last].n_down && next < 0; i++)
            if (o->item[o->link[o->item[last].down[i]].to].node < 0)
                next = o->link[o->item[last].down[i]].to;
        last = next;
        edge->at[edge->n++] = (struct cr_point){ o->item[last].x, h[k].top };
        edge->at[edge->n++] = (struct cr_point){ o->item[last].x, h[k].bottom };
    }
    x = b->x + layers_end(o, e, last);
    edge->at[edge->n++] = (struct cr_point){ x, h[end].top };
    edge->at[edge->n++] = (struct cr_point){ x, b->y };
}

static void layers_down(struct layout *o)
{
    struct cr_layered_graph *l = o->l;
    struct heights *h = CR_NEWS(l->arena, struct heights, o->n_layers + 1);
    double y = 0;
    int i, k;

    for (i = 0; i < o->n_layers; i++) {
        double tall = 0;

        for (k = 0; k < o->count[i]; k++) {
            int node = o->item[o->layer[i][k]].node;

            if (node >= 0 && l->node[node].h > tall)
                tall = l->node[node].h;
        }
        h[i] = (struct heights){ y, y + tall };
        y += tall + l->gap_y;
    }
    l->h = o->n_layers > 0 ? y - l->gap_y : 0;
    for (i = 0; i < l->n_nodes; i++) {
        const struct heights *at = &h[o->item[i].layer];

        l->node[i].x = o->item[i].x - l->node[i].w / 2;
        l->node[i].y = (at->top + at->bottom - l->node[i].h) / 2;
    }
    for (i = 0; i < l->n_edges; i++)
        layers_arrow(o, i, h);
}

void cr_graph_layout(struct cr_layered_graph *l)
{
    struct layout o = { .l = l };
    int i, items, links;

    o.item = CR_NEWS(l->arena, struct item, l->n_nodes + 1);
    o.start = CR_NEWS(l->arena, int, l->n_edges + 1);
    layers_assign(&o);
    items = l->n_nodes + 1;
    links = 1;
    for (i = 0; i < l->n_edges; i++) {
        int far = o.item[l->edge[i].to].layer - o.item[l->edge[i].from].layer;

        assert(far > 0);
        items += far;
        links += far;
    }
    o.item = cr_grow(l->arena, o.item, (size_t)l->n_nodes, (size_t)items,
                     sizeof *o.item);
    o.link = CR_NEWS(l->arena, struct link, links);
    o.layer = CR_NEWS(l->arena, int *, o.n_layers + 1);
    o.count = CR_NEWS(l->arena, int, o.n_layers + 1);
    for (i = 0; i < l->n_edges; i++)
        layers_track(&o, i);
    layers_join(&o);
    layers_order(&o);
    layers_across(&o);
    layers_frame(&o);
    layers_down(&o);
}
