/*
 * A drawing as SVG: frames are placed from the inside out, each as a layered
 * graph of its own (base/graph_layout.h) whose ports stand on its border.
 */
#include "draw/draw.h"

#include "base/graph_layout.h"
#include "base/str.h"

#include <string.h>

#define FONT 12.0
#define LINE 16.0  /* from one line of text to the next */
#define PAD 9.0    /* around the text of a box */
#define INSET 12.0 /* around what a frame holds */
#define HEAD 24.0  /* a frame's title */
#define MARGIN 16.0

/* ---- text ---- */

/* As wide as the widest of the usual fonts makes it. */
static double svg_width(const char *text, bool bold)
{
    double sum = 0;

    for (; *text; text++)
        sum += strchr("iljtfrI.,:;'|()[] #", *text)    ? 0.40
               : strchr("mwMW@%", *text)               ? 0.95
               : *text >= 'A' && *text <= 'Z'          ? 0.70
               : ((unsigned char)*text & 0xc0) == 0x80 ? 0
                                                       : 0.61;
    return sum * FONT * (bold ? 1.08 : 1);
}

static void svg_text(struct cr_buf *b, const char *text)
{
    for (; *text; text++)
        if (*text == '<')
            cr_buf_str(b, "&lt;");
        else if (*text == '>')
            cr_buf_str(b, "&gt;");
        else if (*text == '&')
            cr_buf_str(b, "&amp;");
        else
            cr_buf_char(b, (unsigned char)*text < ' ' ? ' ' : *text);
}

/* ---- places ---- */

static double svg_title(const struct cr_box *box)
{
    return svg_width(box->name, true) +
           (box->type[0] ? svg_width(" ", false) + svg_width(box->type, false)
                         : 0);
}

static void svg_size(struct cr_box *box)
{
    const char *const more[] = { box->shape, box->params,
                                 box->pruned ? "no gradient needed" : "" };
    size_t i;

    box->w = svg_title(box);
    box->h = LINE;
    for (i = 0; i < CR_LEN(more); i++) {
        double w = svg_width(more[i], false);

        box->w = w > box->w ? w : box->w;
        box->h += more[i][0] ? LINE : 0;
    }
    box->w +=
        2 * PAD +
        (box->kind == CR_BOX_INPUT || box->kind == CR_BOX_OUTPUT ? 2 * PAD : 0);
    box->h += PAD;
}

static int svg_port(const struct cr_port *ports, int n, int val)
{
    int i = 0;

    while (i < n - 1 && ports[i].val != val)
        i++;
    return i;
}

/* The nodes of a frame: what comes in, what it holds, what goes out. */
struct frame {
    struct cr_box *box, **held;
    int n_held;
    struct cr_layered_graph l;
};

static int svg_node(const struct frame *f, const struct cr_box *box)
{
    int i = 0;

    while (f->held[i] != box)
        i++;
    return f->box->n_in + i;
}

static void svg_edges(struct frame *f)
{
    struct cr_box *box = f->box;
    int i;

    f->l.n_edges = box->n_lines;
    f->l.edge = CR_NEWS(f->l.arena, struct cr_layout_edge, box->n_lines + 1);
    for (i = 0; i < box->n_lines; i++) {
        const struct cr_line *line = &box->lines[i];
        struct cr_layout_edge *e = &f->l.edge[i];

        if (line->from == box) {
            e->from = svg_port(box->in, box->n_in, line->val);
        } else {
            e->from = svg_node(f, line->from);
            e->from_x = line->from->w / 2;
            if (line->from->kind == CR_BOX_FRAME) {
                e->port =
                    svg_port(line->from->out, line->from->n_out, line->val);
                e->from_x = line->from->out[e->port].x;
            }
        }
        if (line->to == box) {
            e->to = box->n_in + f->n_held +
                    svg_port(box->out, box->n_out, line->val);
            e->to_x = 0;
            continue;
        }
        e->to = svg_node(f, line->to);
        e->to_x =
            line->to->kind == CR_BOX_FRAME
                ? line->to
                      ->in[svg_port(line->to->in, line->to->n_in, line->val)]
                      .x
                : -1;
    }
}

static bool svg_fed(const struct cr_box *frame, const struct cr_box *box)
{
    int i;

    for (i = 0; i < frame->n_lines; i++)
        if (frame->lines[i].to == box)
            return true;
    return false;
}

static void svg_place(struct cr_arena *arena, struct cr_box *box);

static void svg_nodes(struct frame *f)
{
    struct cr_box *box = f->box, *c;
    int i;

    for (c = box->child; c; c = c->next)
        f->n_held++;
    f->held = CR_NEWS(f->l.arena, struct cr_box *, f->n_held + 1);
    f->l.n_nodes = box->n_in + f->n_held + box->n_out;
    f->l.node = CR_NEWS(f->l.arena, struct cr_layout_node, f->l.n_nodes + 1);
    for (i = 0; i < box->n_in; i++)
        f->l.node[i].place = CR_PLACE_TOP;
    for (i = 0, c = box->child; c; c = c->next, i++) {
        struct cr_layout_node *node = &f->l.node[box->n_in + i];

        f->held[i] = c;
        if (c->kind == CR_BOX_FRAME)
            svg_place(f->l.arena, c);
        else
            svg_size(c);
        node->w = c->w;
        node->h = c->h;
        node->place = svg_fed(box, c) ? CR_PLACE_FREE : CR_PLACE_LATE;
    }
    for (i = box->n_in + f->n_held; i < f->l.n_nodes; i++)
        f->l.node[i].place = CR_PLACE_BOTTOM;
}

static void svg_place(struct cr_arena *arena, struct cr_box *box)
{
    struct frame f = { .box = box,
                       .l = { .arena = arena, .gap_x = 18, .gap_y = 22 } };
    double left = INSET, top = box->parent ? HEAD : 0, wide;
    int i, k;

    svg_nodes(&f);
    svg_edges(&f);
    cr_graph_layout(&f.l);
    box->w = f.l.w + 2 * INSET;
    wide = svg_title(box) + 2 * PAD;
    if (box->params[0])
        wide += svg_width(box->params, false) + PAD;
    if (wide > box->w) {
        left += (wide - box->w) / 2;
        box->w = wide;
    }
    box->h = top + f.l.h + (box->n_out > 0 ? 0 : INSET);
    for (i = 0; i < box->n_in; i++)
        box->in[i].x = left + f.l.node[i].x;
    for (i = 0; i < f.n_held; i++) {
        f.held[i]->x = left + f.l.node[box->n_in + i].x;
        f.held[i]->y = top + f.l.node[box->n_in + i].y;
    }
    for (i = 0; i < box->n_out; i++)
        box->out[i].x = left + f.l.node[box->n_in + f.n_held + i].x;
    for (i = 0; i < box->n_lines; i++) {
        struct cr_line *line = &box->lines[i];

        line->n = f.l.edge[i].n;
        line->at = f.l.edge[i].at;
        for (k = 0; k < line->n; k++) {
            line->at[k].x += left;
            line->at[k].y += top;
        }
        if (line->from == box)
            line->at[0].y = 0;
        if (line->to == box)
            line->at[line->n - 1].y = box->h;
    }
}

/* ---- the picture ---- */

static const char svg_style[] =
    "<style>\n"
    "text { font: 12px Helvetica, Arial, sans-serif; fill: #222; }\n"
    ".name { font-weight: bold; }\n"
    ".dim { fill: #555; }\n"
    ".title { paint-order: stroke; stroke: #fff; stroke-width: 4px; }\n"
    "rect { fill: #f7f7f7; stroke: #999; }\n"
    ".frame { fill: none; stroke: #b5b5b5; }\n"
    ".all { fill: #e3eefc; stroke: #4a7ebb; }\n"
    ".some { fill: #eef3f9; stroke: #4a7ebb; stroke-dasharray: 4 3; }\n"
    ".still { fill: #e2e2e2; stroke: #666; stroke-dasharray: 4 3; }\n"
    ".op { fill: #fff; stroke: #aaa; }\n"
    ".end { fill: #e9f6e6; stroke: #6a9a5b; }\n"
    "path { fill: none; stroke: #666; stroke-width: 1.2; }\n"
    ".tip { fill: #666; stroke: none; }\n"
    "</style>\n";

static const char *svg_class(const struct cr_box *box)
{
    switch (box->kind) {
    case CR_BOX_FRAME:
        return "frame";
    case CR_BOX_OP:
        return "op";
    case CR_BOX_INPUT:
    case CR_BOX_OUTPUT:
        return "end";
    default:
        return box->trainable == CR_TRAINABLE_ALL    ? "all"
               : box->trainable == CR_TRAINABLE_SOME ? "some"
               : box->trainable == CR_TRAINABLE_NONE ? "still"
                                                     : "cell";
    }
}

static void svg_line(struct cr_buf *b, const struct cr_line *line, double x,
                     double y)
{
    const struct cr_point *p = line->at;
    int i;

    cr_buf_f(b, "<path d=\"M%.1f %.1f", x + p[0].x, y + p[0].y);
    for (i = 1; i < line->n; i++)
        if (i % 2 == 0 && p[i].x != p[i - 1].x) {
            double half = (p[i].y - p[i - 1].y) / 2;

            cr_buf_f(b, " C%.1f %.1f %.1f %.1f %.1f %.1f", x + p[i - 1].x,
                     y + p[i - 1].y + half, x + p[i].x, y + p[i].y - half,
                     x + p[i].x, y + p[i].y);
        } else if (p[i].y != p[i - 1].y) {
            cr_buf_f(b, " L%.1f %.1f", x + p[i].x, y + p[i].y);
        }
    cr_buf_str(b, "\"/>\n");
    i = line->n - 1;
    if (line->to->kind != CR_BOX_FRAME)
        cr_buf_f(b, "<path class=\"tip\" d=\"M%.1f %.1f l-4 -8 h8 z\"/>\n",
                 x + p[i].x, y + p[i].y);
}

static void svg_words(struct cr_buf *b, const char *class, double x, double y,
                      bool middle, const char *text)
{
    if (!text[0])
        return;
    cr_buf_f(b, "<text x=\"%.1f\" y=\"%.1f\"%s%s%s%s>", x, y,
             middle ? " text-anchor=\"middle\"" : "",
             class[0] ? " class=\"" : "", class, class[0] ? "\"" : "");
    svg_text(b, text);
    cr_buf_str(b, "</text>\n");
}

/* "name Type", the name bold; in a frame also what it learns. */
static void svg_head(struct cr_buf *b, const struct cr_box *box, double x,
                     double y)
{
    bool frame = box->kind == CR_BOX_FRAME;

    cr_buf_f(b, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, y,
             frame ? " class=\"title\"" : " text-anchor=\"middle\"");
    cr_buf_f(b, "<tspan%s>", box->kind == CR_BOX_OP ? "" : " class=\"name\"");
    svg_text(b, box->name);
    cr_buf_str(b, "</tspan>");
    if (box->type[0]) {
        cr_buf_char(b, ' ');
        svg_text(b, box->type);
    }
    if (frame && box->params[0]) {
        cr_buf_str(b, " - ");
        svg_text(b, box->params);
    }
    cr_buf_str(b, "</text>\n");
}

static void svg_box(struct cr_buf *b, const struct cr_box *box, double x,
                    double y)
{
    const char *const more[] = { box->shape, box->params,
                                 box->pruned ? "no gradient needed" : "" };
    bool frame = box->kind == CR_BOX_FRAME;
    double at = y + LINE - 1;
    size_t i;

    cr_buf_f(b,
             "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
             "height=\"%.1f\" rx=\"%d\">",
             svg_class(box), x, y, box->w, box->h,
             frame                      ? 6
             : box->kind == CR_BOX_CELL ? 3
             : box->kind == CR_BOX_OP   ? 8
                                        : (int)(box->h / 2));
    if (box->path[0]) { /* shown where the pointer rests */
        cr_buf_str(b, "<title>");
        svg_text(b, box->path);
        cr_buf_str(b, "</title>");
    }
    cr_buf_str(b, "</rect>\n");
    if (frame)
        return;
    svg_head(b, box, x + box->w / 2, at);
    for (i = 0; i < CR_LEN(more); i++)
        if (more[i][0])
            svg_words(b, "dim", x + box->w / 2, at += LINE, true, more[i]);
}

static void svg_frame(struct cr_buf *b, const struct cr_box *frame, double x,
                      double y)
{
    const struct cr_box *box;
    int i;

    for (i = 0; i < frame->n_lines; i++)
        svg_line(b, &frame->lines[i], x, y);
    for (box = frame->child; box; box = box->next) {
        svg_box(b, box, x + box->x, y + box->y);
        if (box->kind == CR_BOX_FRAME)
            svg_frame(b, box, x + box->x, y + box->y);
    }
    if (frame->parent)
        svg_head(b, frame, x + PAD, y + LINE);
}

const char *cr_diagram_svg(struct cr_diagram *d, const char *caption)
{
    struct cr_buf b = { .arena = d->arena };
    const char *line, *end;
    double w, h, y = MARGIN, wide = 0;

    svg_place(d->arena, d->root);
    for (line = caption; *line; line = end + 1) {
        double one;

        end = strchr(line, '\n');
        one =
            svg_width(cr_strndup(d->arena, line, (size_t)(end - line)), false);
        wide = one > wide ? one : wide;
        y += LINE;
    }
    y += caption[0] ? LINE / 2 : 0;
    w = 2 * MARGIN + (d->root->w > wide ? d->root->w : wide);
    h = y + d->root->h + MARGIN;
    cr_buf_f(&b,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
             "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n%s"
             "<rect width=\"100%%\" height=\"100%%\" "
             "style=\"fill:#fff;stroke:none\"/>\n",
             w, h, w, h, svg_style);
    y = MARGIN + FONT - 4;
    for (line = caption; *line; line = end + 1, y += LINE) {
        end = strchr(line, '\n');
        svg_words(&b, line == caption ? "name" : "dim", MARGIN, y, false,
                  cr_strndup(d->arena, line, (size_t)(end - line)));
    }
    svg_frame(&b, d->root, (w - d->root->w) / 2, y - FONT + 4 + LINE / 2);
    cr_buf_str(&b, "</svg>\n");
    return cr_buf_text(&b);
}
