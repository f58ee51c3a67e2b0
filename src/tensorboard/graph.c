/*
 * The network as a GraphDef: the boxes and arrows of its diagram
 * (draw/draw.h). TensorBoard makes a name scope of each part of a name that
 * ends with a slash, so frames need no nodes.
 */
#include "tensorboard/summary.h"

#include <string.h>

#include "draw/draw.h"

enum { ATTRS = 2, PRODUCER = 22 }; /* version of GraphDef's format */

struct grapher {
    struct cr_arena *arena;
    const struct cr_diagram *diagram;
    const char **names; /* of each box */
    struct cr_tb_graph graph;
};

/* A part of a name: its characters that TensorFlow permits, others as _. */
static const char *graph_part(struct cr_arena *arena, const char *text)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    char *to = cr_strdup(arena, text);

    for (char *p = to; *p; p++)
        if (!strchr(allowed, *p))
            *p = '_';
    return to;
}

/* Names the boxes in a frame. Of two with one name, the second call of a cell,
 * the later has its number. */
static void graph_names(struct grapher *g, const struct cr_box *frame,
                        const char *scope)
{
    for (const struct cr_box *box = frame->child; box; box = box->next) {
        const char *part = graph_part(
            g->arena, box->name[0] ? box->name
                                   : box->type[0] ? box->type : "op");
        const char *name = cr_strf(g->arena, "%s%s", scope, part);

        for (const struct cr_box *b = frame->child; b != box; b = b->next)
            if (strcmp(g->names[b->id], name) == 0) {
                name = cr_strf(g->arena, "%s%s_%d", scope, part, box->id);
                break;
            }
        g->names[box->id] = name;
        graph_names(g, box, cr_strf(g->arena, "%s/", name));
    }
}

static struct cr_tb_attr *graph_attr(struct cr_arena *arena, const char *key,
                                     const char *text)
{
    struct cr_tb_attr *attr = CR_NEW(arena, struct cr_tb_attr);

    *attr = (struct cr_tb_attr)CR_TB(attr);
    attr->key = cr_tb_text(key);
    attr->value = CR_NEW(arena, struct cr_tb_attr_value);
    *attr->value = (struct cr_tb_attr_value)CR_TB(attr_value);
    attr->value->s = cr_tb_text(text);
    return attr;
}

static struct cr_tb_node *graph_node(const struct grapher *g,
                                     const struct cr_box *box)
{
    const struct cr_diagram *d = g->diagram;
    struct cr_tb_node *node = CR_NEW(g->arena, struct cr_tb_node);

    *node = (struct cr_tb_node)CR_TB(node);
    node->name = cr_tb_text(g->names[box->id]);
    node->op = cr_tb_text(box->type[0]                ? box->type
                          : box->kind == CR_BOX_INPUT ? "Placeholder"
                                                      : "Identity");
    node->inputs = CR_NEWS(g->arena, ProtobufCBinaryData, d->n_arrows + 1);
    for (int i = 0; i < d->n_arrows; i++)
        if (d->arrows[i].to == box)
            node->inputs[node->n_inputs++] =
                cr_tb_text(g->names[d->arrows[i].from->id]);
    node->attrs = CR_NEWS(g->arena, struct cr_tb_attr *, ATTRS);
    if (box->params[0])
        node->attrs[node->n_attrs++] =
            graph_attr(g->arena, "parameters", box->params);
    if (box->shape[0])
        node->attrs[node->n_attrs++] =
            graph_attr(g->arena, "shape", box->shape);
    return node;
}

static void graph_nodes(struct grapher *g, const struct cr_box *frame)
{
    for (const struct cr_box *box = frame->child; box; box = box->next)
        if (box->kind == CR_BOX_FRAME)
            graph_nodes(g, box);
        else
            g->graph.nodes[g->graph.n_nodes++] = graph_node(g, box);
}

void cr_tb_graph_put(struct cr_tensorboard *tb, struct cr_arena *arena,
                     struct cr_net *net)
{
    const struct cr_diagram *d = cr_net_draw(net, "", NULL, 0);
    struct grapher g = { .arena = arena, .diagram = d, .graph = CR_TB(graph) };
    struct cr_tb_versions versions = CR_TB(versions);
    struct cr_tb_event event = CR_TB(event);

    g.names = CR_NEWS(arena, const char *, d->n_boxes + 1);
    g.graph.nodes = CR_NEWS(arena, struct cr_tb_node *, d->n_boxes + 1);
    g.graph.versions = &versions;
    versions.producer = PRODUCER;
    graph_names(&g, d->root, "");
    graph_nodes(&g, d->root);
    event.wall_time = cr_tb_time(tb);
    event.graph = cr_tb_pack(arena, &g.graph.base);
    cr_event_file_add(&tb->file, &event);
}
