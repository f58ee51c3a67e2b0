/* Places of boxes and arrows: nothing overlaps, all arrows go down. */
#include "base/graph_layout.h"
#include "tap.h"

#include <math.h>

static unsigned state = 1;

static int pick(int n)
{
    state = state * 1103515245u + 12345u;
    return (int)(state >> 16) % n;
}

static void some_graph(struct cr_layered_graph *l, int n, int edges)
{
    l->gap_x = 10;
    l->gap_y = 20;
    l->n_nodes = n;
    l->node = CR_NEWS(l->arena, struct cr_layout_node, n);
    l->edge = CR_NEWS(l->arena, struct cr_layout_edge, edges);
    for (int i = 0; i < n; i++)
        l->node[i] =
            (struct cr_layout_node){ .w = 20 + pick(80),
                                     .h = 10 + pick(40),
                                     .place = pick(4) ? CR_PLACE_FREE
                                                      : CR_PLACE_LATE };
    for (int i = 0; n > 1 && i < edges; i++) {
        int to = 1 + pick(n - 1), from = pick(to);

        l->edge[l->n_edges++] = (struct cr_layout_edge){
            .from = from, .to = to, .from_x = l->node[from].w / 2, .to_x = -1
        };
    }
}

static bool apart(const struct cr_layered_graph *l)
{
    for (int i = 0; i < l->n_nodes; i++)
        for (int k = 0; k < i; k++) {
            const struct cr_layout_node *a = &l->node[i], *b = &l->node[k];

            if (a->x < b->x + b->w + 9.99 && b->x < a->x + a->w + 9.99 &&
                a->y < b->y + b->h && b->y < a->y + a->h)
                return false;
            if (a->x < -0.01 || a->x + a->w > l->w + 0.01 || a->y < -0.01 ||
                a->y + a->h > l->h + 0.01)
                return false;
        }
    return true;
}

/* From the lower border of one box to the upper one of the other, never up,
 * and upright where it is inside a layer. */
static bool falls(const struct cr_layered_graph *l,
                  const struct cr_layout_edge *e)
{
    const struct cr_layout_node *a = &l->node[e->from], *b = &l->node[e->to];
    const struct cr_point *p = e->at;

    if (fabs(p[0].x - a->x - e->from_x) > 0.01 ||
        fabs(p[0].y - a->y - a->h) > 0.01 || p[e->n - 1].x < b->x ||
        p[e->n - 1].x > b->x + b->w || fabs(p[e->n - 1].y - b->y) > 0.01)
        return false;
    for (int i = 1; i < e->n; i++)
        if (p[i].y < p[i - 1].y - 0.01 ||
            (i % 2 == 1 && i < e->n - 1 && fabs(p[i].x - p[i - 1].x) > 0.01))
            return false;
    return e->n % 2 == 0;
}

/* An arrow crosses no box that it does not belong to. */
static bool clear(const struct cr_layered_graph *l,
                  const struct cr_layout_edge *e)
{
    for (int k = 0; k < l->n_nodes; k++)
        for (int i = 1; i < e->n; i += 2) {
            const struct cr_layout_node *b = &l->node[k];
            const struct cr_point *p = &e->at[i];

            if (k != e->from && k != e->to && p->x > b->x &&
                p->x < b->x + b->w && p[0].y > b->y && p[-1].y < b->y + b->h)
                return false;
        }
    return true;
}

int main(void)
{
    struct cr_arena mem = { 0 };
    struct cr_layered_graph chain = { .arena = &mem };
    bool sound = true, arrows = true, free = true, same = true;

    for (int t = 0; t < 200; t++) {
        struct cr_layered_graph a = { .arena = &mem }, b = { .arena = &mem };

        state = (unsigned)t;
        some_graph(&a, 1 + t % 23, 1 + t % 37);
        state = (unsigned)t;
        some_graph(&b, 1 + t % 23, 1 + t % 37);
        cr_graph_layout(&a);
        cr_graph_layout(&b);
        sound = sound && apart(&a);
        for (int i = 0; i < a.n_edges; i++) {
            arrows = arrows && falls(&a, &a.edge[i]);
            free = free && clear(&a, &a.edge[i]);
        }
        for (int i = 0; i < a.n_nodes; i++)
            same = same && a.node[i].x == b.node[i].x &&
                   a.node[i].y == b.node[i].y;
    }
    ok(sound, "boxes do not overlap, within the picture");
    ok(arrows, "arrows go down from box to box");
    ok(free, "arrows avoid other boxes");
    ok(same, "the same graph, the same picture");

    chain.n_nodes = 3;
    chain.n_edges = 3;
    chain.gap_x = chain.gap_y = 10;
    chain.node = CR_NEWS(&mem, struct cr_layout_node, 3);
    chain.edge = CR_NEWS(&mem, struct cr_layout_edge, 3);
    for (int i = 0; i < 3; i++) {
        chain.node[i] = (struct cr_layout_node){ .w = 40, .h = 20 };
        chain.edge[i] = (struct cr_layout_edge){
            .from = i == 1, .to = i == 0 ? 1 : 2, .from_x = 20, .to_x = -1
        };
    }
    cr_graph_layout(&chain); /* 0 -> 1 -> 2 and 0 -> 2 */
    ok(chain.h == 80 && chain.node[2].y == 60, "a layer for each");
    ok(fabs(chain.node[0].x - chain.node[1].x) < 1 &&
           fabs(chain.node[1].x - chain.node[2].x) < 1,
       "a chain is straight next to its short cut");
    ok(chain.edge[2].n == 6 &&
           fabs(chain.edge[2].at[2].x - chain.node[1].x - 20) > 20,
       "the short cut goes around");
    cr_arena_free(&mem);
    return done();
}
