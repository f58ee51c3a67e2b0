/*
 * Layered layout of an acyclic graph, from top to bottom, by the method of
 * Sugiyama, Tagawa and Toda (1981): layers, then the order within each layer by
 * the mean of the neighbours, then positions. Deterministic.
 *
 * Each box is below all its predecessors; an arrow across several layers gets
 * a track of its own next to the boxes.
 */
#ifndef CR_BASE_GRAPH_LAYOUT_H
#define CR_BASE_GRAPH_LAYOUT_H

#include "base/arena.h"

enum cr_layout_place {
    CR_PLACE_FREE,  /* as high as its arrows permit */
    CR_PLACE_LATE,  /* just above its first successor */
    CR_PLACE_TOP,   /* in the first layer */
    CR_PLACE_BOTTOM /* in the last layer */
};

struct cr_layout_node {
    double w, h; /* given */
    enum cr_layout_place place;
    double x, y; /* set: its upper left corner */
};

struct cr_point {
    double x, y;
};

struct cr_layout_edge {
    int from, to;  /* given: nodes */
    int port;      /* arrows with one `from` and one `port` share a track */
    double from_x; /* where it leaves, from the left border */
    double to_x;   /* where it ends; < 0: to be chosen */
    int n;         /* set: its corners. Between 1 and 2, 3 and 4, ... it */
    struct cr_point *at; /* changes layers; the other parts are upright */
};

struct cr_layered_graph {
    struct cr_arena *arena;
    double gap_x, gap_y;
    int n_nodes, n_edges;
    struct cr_layout_node *node;
    struct cr_layout_edge *edge; /* no cycles */
    double w, h;                 /* set: of all */
};

void cr_graph_layout(struct cr_layered_graph *layers);

#endif
