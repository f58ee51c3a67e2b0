#include "build/loss.h"

#include <stdlib.h>
#include <string.h>

#include "graph/amp.h"
#include "graph/graph.h"

struct cr_val *cr_loss_all(struct cr_build *b, const char *op, struct cr_val *v)
{
    return CR_EMIT(b, op, CR_NEW(cr_build_arena(b), struct cr_reduce_attr), v);
}

struct cr_val *cr_loss_over(struct cr_build *b, const char *op,
                            struct cr_val *v, int64_t axis, bool keepdims)
{
    struct cr_reduce_attr *over =
        CR_NEW(cr_build_arena(b), struct cr_reduce_attr);
    int64_t *at = CR_NEW(cr_build_arena(b), int64_t);

    *at = axis;
    over->axis.v = at;
    over->axis.n = 1;
    over->keepdims = keepdims;
    return CR_EMIT(b, op, over, v);
}

struct cr_val *cr_loss_reduce(struct cr_build *b, struct cr_val *v,
                              int reduction)
{
    struct cr_precision was = cr_precision(b);
    struct cr_val *y;

    if (reduction == CR_NONE || !v)
        return v;
    cr_precision_follow(b, v);
    y = cr_loss_all(b, reduction == CR_MEAN ? "mean" : "sum", v);
    cr_precision_set(b, was);
    return y;
}

struct cr_val *cr_loss_squares(struct cr_build *b, struct cr_val *x,
                               struct cr_val *y)
{
    return CR_EMIT(b, "square", NULL, CR_EMIT(b, "sub", NULL, x, y));
}

struct cr_val *cr_loss_number(struct cr_build *b, double value)
{
    struct cr_constant *attr = CR_NEW(cr_build_arena(b), struct cr_constant);
    double *v = CR_NEW(cr_build_arena(b), double);

    *v = value;
    attr->value.v = v;
    attr->value.n = 1;
    return cr_emit(b, "constant", attr, 0, NULL);
}

struct cr_val *cr_loss_weigh(struct cr_build *b, struct cr_val *v,
                             const struct cr_reals *weight, int64_t axis)
{
    struct cr_constant *attr = CR_NEW(cr_build_arena(b), struct cr_constant);
    const struct cr_spec *spec = v ? cr_val_spec(v) : NULL;
    int64_t *shape;
    int i;

    if (!v || weight->n == 0)
        return v;
    if (axis < 0)
        axis += spec->rank;
    if (axis < 0 || axis >= spec->rank ||
        (weight->n != 1 && weight->n != spec->dim[axis])) {
        cr_fail(b, CR_E_SHAPE, "weight: found %d numbers, which do not fit %s",
                weight->n, cr_diag_format(cr_build_arena(b), spec));
        return NULL;
    }
    shape = CR_NEWS(cr_build_arena(b), int64_t, spec->rank);
    for (i = 0; i < spec->rank; i++)
        shape[i] = i == axis ? weight->n : 1;
    attr->value = *weight;
    attr->shape.v = shape;
    attr->shape.n = spec->rank;
    return CR_EMIT(b, "mul", NULL, v, cr_emit(b, "constant", attr, 0, NULL));
}

struct cr_val *cr_loss_one_hot(struct cr_build *b, struct cr_val *label,
                               int64_t classes, int64_t axis)
{
    struct cr_one_hot *attr = CR_NEW(cr_build_arena(b), struct cr_one_hot);

    attr->depth = classes;
    attr->on_value = 1;
    attr->axis = axis;
    attr->strict = true;
    return CR_EMIT(b, "one_hot", attr, label);
}

static bool loss_has_last(const struct cr_spec *longer,
                          const struct cr_spec *shorter)
{
    return longer->rank == shorter->rank + 1 && shorter->rank > 0 &&
           longer->dim[shorter->rank] == 1 &&
           memcmp(longer->dim, shorter->dim,
                  (size_t)shorter->rank * sizeof *shorter->dim) == 0;
}

bool cr_loss_is_column(const struct cr_spec *a, const struct cr_spec *b)
{
    return loss_has_last(a, b) || loss_has_last(b, a);
}

/* Explains how to give an output and a label the same shape if one is a
 * column. */
static void loss_hint_column(struct cr_build *b, const struct cr_spec *output,
                             const struct cr_spec *label)
{
    cr_hint(b->net->diag, output->rank > label->rank
                              ? "squeeze(x, -1) in a construct, or `fields: "
                                "[NAME]` for the label of a CSVDataset"
                              : "expand_dims(x, -1) in a construct, or "
                                "`fields: NAME` for the label of a CSVDataset");
}

static bool loss_fits(const struct cr_spec *x, const struct cr_spec *y)
{
    int i;

    for (i = 1; i <= x->rank && i <= y->rank; i++) {
        int64_t a = x->dim[x->rank - i], b = y->dim[y->rank - i];

        if (a != b && a != 1 && b != 1)
            return false;
    }
    return true;
}

bool cr_loss_broadcast(struct cr_build *b, const struct cr_val *output,
                       const struct cr_val *label)
{
    const struct cr_spec *x = output ? cr_val_spec(output) : NULL;
    const struct cr_spec *y = label ? cr_val_spec(label) : NULL;
    struct cr_arena *arena = cr_build_arena(b);
    const char *shapes;

    if (!x || !y ||
        (x->rank == y->rank &&
         memcmp(x->dim, y->dim, (size_t)x->rank * sizeof *x->dim) == 0))
        return true;
    if (cr_loss_is_column(x, y)) {
        cr_fail(b, CR_E_SHAPE,
                "label: found %s, expected %s, the shape of the output: each "
                "output would be compared with all labels",
                cr_diag_format(arena, y), cr_diag_format(arena, x));
        loss_hint_column(b, x, y);
        return false;
    }
    if (!loss_fits(x, y)) {
        cr_fail(b, CR_E_SHAPE,
                "found output %s and label %s, expected shapes that broadcast",
                cr_diag_format(arena, x), cr_diag_format(arena, y));
        if (y->rank + 1 == x->rank)
            cr_hint(b->net->diag,
                    "labels that are classes need CrossEntropyLoss");
        return false;
    }
    shapes = cr_strf(arena, "label %s and output %s have different shapes",
                     cr_diag_format(arena, y), cr_diag_format(arena, x));
    if (b->loss && !b->net->broadcast.text) {
        b->net->broadcast.text = shapes;
        b->net->broadcast.pos = cr_build_pos(b);
    }
    return true;
}

bool cr_loss_same(struct cr_build *b, struct cr_val *const *in)
{
    struct cr_spec x = *cr_val_spec(in[0]), y = *cr_val_spec(in[1]);

    y.type = x.type;
    y.layout = x.layout;
    if (cr_spec_same(&x, &y))
        return true;
    cr_fail(b, CR_E_SHAPE, "label: found %s, expected the shape of the output, "
                           "%s",
            cr_diag_format(cr_build_arena(b), &y),
            cr_diag_format(cr_build_arena(b), &x));
    if (cr_loss_is_column(&x, &y))
        loss_hint_column(b, &x, &y);
    return false;
}

static bool loss_weight(struct cr_build *b, const struct cr_node *node,
                        double *to)
{
    if ((node->kind != CR_NODE_INT && node->kind != CR_NODE_REAL) ||
        !(node->real >= 0) || node->real > 1e30)
        return cr_fail(b, CR_E_WRONG_TYPE,
                       "class weight: found %s, expected a number of at least "
                       "0",
                       cr_node_what(cr_build_arena(b), node));
    *to = node->real;
    return true;
}

/* The class that a key of the map names: an index, or a name from the data. */
static bool loss_class(struct cr_build *b, const struct cr_node *m,
                       int64_t classes, int64_t *to)
{
    int64_t named = cr_config_class(b->net->config, m->key);
    char *end;

    *to = named >= 0 ? named : strtol(m->key, &end, 10);
    if (named < 0 && (*end || end == m->key || *to < 0))
        *to = classes;
    return *to < classes ||
           cr_fail(b, CR_E_OUT_OF_RANGE,
                   "weight: '%s' is not a class; classes are 0 to %lld", m->key,
                   (long long)classes - 1);
}

static bool loss_balanced(struct cr_build *b, const struct cr_val *label,
                          int64_t classes, double *to)
{
    const double *w;

    if (!label || label->feed < 0)
        return cr_fail(b, CR_E_WRONG_TYPE,
                       "'balanced' counts the labels of a data column, but "
                       "this label is computed");
    w = cr_class_weights(b->net->config, cr_build_pos(b),
                         b->net->graph->columns[label->feed].name, classes);
    for (int64_t i = 0; w && i < classes; i++)
        to[i] = w[i];
    return w != NULL;
}

static bool loss_classes(struct cr_build *b, const struct cr_node *node,
                         const struct cr_val *label, int64_t classes,
                         struct cr_reals *to)
{
    double *w = CR_NEWS(cr_build_arena(b), double, classes);
    int64_t i;

    to->v = w;
    to->n = (int)classes;
    if (node->kind == CR_NODE_STR && strcmp(node->text, "balanced") == 0)
        return loss_balanced(b, label, classes, w);
    if (node->kind == CR_NODE_LIST) {
        if (cr_node_count(node) != classes)
            return cr_fail(b, CR_E_SHAPE,
                           "weight: found %d entries, expected one for each of "
                           "%lld classes",
                           cr_node_count(node), (long long)classes);
        i = 0;
        for (CR_EACH(m, node))
            if (!loss_weight(b, m, &w[i++]))
                return false;
        return true;
    }
    if (node->kind != CR_NODE_MAP)
        return cr_fail(b, CR_E_WRONG_TYPE,
                       "weight: found %s, expected a list, a map class: "
                       "number, or balanced",
                       cr_node_what(cr_build_arena(b), node));
    for (i = 0; i < classes; i++)
        w[i] = 1;
    for (CR_EACH(m, node))
        if (!loss_class(b, m, classes, &i) || !loss_weight(b, m, &w[i]))
            return false;
    return true;
}

bool cr_loss_classes(struct cr_build *b, const struct cr_node *node,
                     const struct cr_val *label, int64_t classes,
                     struct cr_reals *to)
{
    struct cr_pos was = b->pos;
    bool ok;

    if (!node)
        return true;
    if (node->pos.src)
        b->pos = node->pos;
    ok = loss_classes(b, node, label, classes, to);
    b->pos = was;
    return ok;
}
