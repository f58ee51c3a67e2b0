/*
 * A drawing as text for Graphviz, which places the boxes itself.
 */
#include "draw/draw.h"

#include "base/str.h"

/* A part of a label, quoted; control bytes become blanks. */
static void dot_text(struct cr_buf *b, const char *text)
{
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            cr_buf_f(b, "\\%c", *text);
        else
            cr_buf_char(b, (unsigned char)*text < ' ' ? ' ' : *text);
}

static void dot_label(struct cr_buf *b, const struct cr_box *box)
{
    const char *const more[] = { box->shape, box->params,
                                 box->pruned ? "no gradient needed" : "" };
    size_t i;

    cr_buf_str(b, "label=\"");
    dot_text(b, box->name);
    if (box->type[0])
        cr_buf_char(b, ' ');
    dot_text(b, box->type);
    for (i = 0; i < CR_LEN(more); i++)
        if (more[i][0]) {
            cr_buf_str(b, "\\n");
            dot_text(b, more[i]);
        }
    cr_buf_char(b, '"');
}

static const char *dot_look(const struct cr_box *box)
{
    switch (box->kind) {
    case CR_BOX_INPUT:
    case CR_BOX_OUTPUT:
        return "shape=box, style=\"rounded,filled\", fillcolor=\"#e9f6e6\"";
    case CR_BOX_OP:
        return "shape=box, style=rounded";
    default:
        return box->trainable == CR_TRAINABLE_ALL
                   ? "shape=box, style=filled, fillcolor=\"#e3eefc\""
               : box->trainable == CR_TRAINABLE_SOME
                   ? "shape=box, style=\"filled,dashed\", "
                     "fillcolor=\"#eef3f9\""
               : box->trainable == CR_TRAINABLE_NONE
                   ? "shape=box, style=\"filled,dashed\", "
                     "fillcolor=\"#e6e6e6\""
                   : "shape=box, style=filled, fillcolor=\"#f7f7f7\"";
    }
}

static void dot_boxes(struct cr_buf *b, const struct cr_box *frame, int depth)
{
    const struct cr_box *box;

    for (box = frame->child; box; box = box->next) {
        if (box->kind == CR_BOX_FRAME) {
            cr_buf_f(b, "%*ssubgraph cluster_%d {\n%*s", 4 * depth, "", box->id,
                     4 * depth + 4, "");
            dot_label(b, box);
            cr_buf_str(b, ";\n");
            dot_boxes(b, box, depth + 1);
            cr_buf_f(b, "%*s}\n", 4 * depth, "");
            continue;
        }
        cr_buf_f(b, "%*sb%d [", 4 * depth, "", box->id);
        dot_label(b, box);
        cr_buf_f(b, ", %s];\n", dot_look(box));
    }
}

const char *cr_diagram_dot(const struct cr_diagram *d, const char *caption)
{
    struct cr_buf b = { .arena = d->arena };
    int i;

    cr_buf_str(&b, "digraph network {\n    label=\"");
    for (; *caption; caption++)
        if (*caption == '\n')
            cr_buf_str(&b, "\\l");
        else
            dot_text(&b, (const char[]){ *caption, 0 });
    cr_buf_str(&b, "\";\n    labelloc=t; labeljust=l;\n"
                   "    node [fontname=\"Helvetica\", fontsize=11];\n");
    dot_boxes(&b, d->root, 1);
    for (i = 0; i < d->n_arrows; i++)
        cr_buf_f(&b, "    b%d -> b%d;\n", d->arrows[i].from->id,
                 d->arrows[i].to->id);
    cr_buf_str(&b, "}\n");
    return cr_buf_text(&b);
}
