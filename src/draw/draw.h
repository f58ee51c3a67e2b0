/*
 * The network as a picture: boxes within boxes and what flows between them.
 *
 * A cell that is made of cells is a frame, any other cell one box; ops that a
 * `construct` calls are small boxes. A cell that is called twice stands there
 * twice.
 *
 * Called by the command summary, report/ and tensorboard/. Knows nothing of
 * values of parameters, plans and runs.
 *
 * Includes: base graph.
 */
#ifndef CR_DRAW_DRAW_H
#define CR_DRAW_DRAW_H

#include "base/diag.h"

struct cr_pruned;
struct cr_net;

enum cr_box_kind {
    CR_BOX_FRAME, /* a cell with others in it */
    CR_BOX_CELL,
    CR_BOX_OP,
    CR_BOX_INPUT,
    CR_BOX_OUTPUT
};

enum cr_box_trainable {
    CR_TRAINABLE_NO_PARAMS, /* no parameters */
    CR_TRAINABLE_ALL,
    CR_TRAINABLE_SOME,
    CR_TRAINABLE_NONE /* none of its parameters is trained */
};

/* A value that goes through a frame's border. */
struct cr_port {
    int val;
    double x; /* from the left border; set by cr_diagram_place */
};

struct cr_line {
    struct cr_box *from, *to; /* the frame itself: a port of its own */
    int val;
    int n; /* set by cr_diagram_place: see layers.h */
    struct cr_point *at;
};

struct cr_box {
    enum cr_box_kind kind;
    int id;                  /* from 0, in order of computation */
    const char *path;        /* the cell's; "" for an op */
    const char *name, *type; /* may be "" */
    const char *shape;       /* of what comes out */
    const char *params;      /* "432 parameters, frozen"; "" */
    enum cr_box_trainable trainable;
    bool pruned; /* no gradient is computed in it */
    struct cr_box *parent, *child, *last, *next;
    /* of a frame: what crosses its border, and its lines */
    int n_in, n_out, n_lines;
    struct cr_port *in, *out;
    struct cr_line *lines;
    int cap_in, cap_out, cap_lines;
    double x, y, w, h; /* set by cr_diagram_place; within its frame */
};

struct cr_diagram {
    struct cr_arena *arena;
    struct cr_box *root; /* a frame without a border */
    int n_boxes, n_arrows;
    struct cr_line *arrows; /* from box to box, through all borders */
    int cap_arrows;
};

/* The network and its loss, or one cell with what is in it (`at`, its full
 * path). `cuts` are those of a training plan. */
struct cr_diagram *cr_net_draw(struct cr_net *net, const char *at,
                               const struct cr_pruned *cuts, int n_cuts);

/* As text for Graphviz, or as a picture. Lines of `caption` end with \n. */
const char *cr_diagram_dot(const struct cr_diagram *d, const char *caption);
const char *cr_diagram_svg(struct cr_diagram *d, const char *caption);

#endif
