/* CrossEntropyLoss: softmax and cross entropy, of classes or probabilities. */
#include "net/cell.h"
#include "net/attr.h"

#include <stdlib.h>
#include <string.h>

struct cross_entropy {
    const struct cr_node *weight;
    int64_t ignore_index;
    int reduction;
    double label_smoothing;
    int64_t axis;
};

static const struct cr_opt cross_entropy_opts[] = {
    CR_NODE(struct cross_entropy, weight,
            "Weights of the classes: a list, one for each, or a map class: "
            "weight, where classes not named weigh 1."),
    CR_INT_OR(struct cross_entropy, ignore_index, -100, INT32_MIN, INT32_MAX,
              "Labels of this value count for nothing."),
    CR_ENUM_OR(struct cross_entropy, reduction, CR_MEAN, "mean|sum|none",
               "How the values of the samples become the loss; mean divides "
               "by the weights of the labels."),
    CR_REAL_OR(struct cross_entropy, label_smoothing, 0, 0, 1,
               "Share of the target spread evenly over all classes."),
    CR_INT_OR(struct cross_entropy, axis, 1, -CR_RANK_MAX, CR_RANK_MAX - 1,
              "The axis of the classes; 1 is MindSpore's."),
    { 0 },
};

static bool ce_number(struct cr_build *b, const struct cr_node *node,
                      double *to)
{
    if ((node->kind != CR_NODE_INT && node->kind != CR_NODE_REAL) ||
        !(node->real >= 0) || node->real > 1e30)
        return cr_fail(b, CR_E_WRONG_TYPE,
                       "a class weight is a number from 0, not %s",
                       cr_node_what(cr_build_arena(b), node));
    *to = node->real;
    return true;
}

static bool ce_weights(struct cr_build *b, const struct cr_node *node,
                       int64_t classes, struct cr_reals *to)
{
    double *w = CR_NEWS(cr_build_arena(b), double, classes);
    int64_t i;

    to->v = w;
    to->n = (int)classes;
    if (node->kind == CR_NODE_LIST) {
        if (cr_node_count(node) != classes)
            return cr_fail(b, CR_E_SHAPE,
                           "weight has %d entries, but there are %lld "
                           "classes",
                           cr_node_count(node), (long long)classes);
        i = 0;
        for (CR_EACH(m, node))
            if (!ce_number(b, m, &w[i++]))
                return false;
        return true;
    }
    if (node->kind != CR_NODE_MAP)
        return cr_fail(b, CR_E_WRONG_TYPE,
                       "weight takes a list or a map class: number, not %s",
                       cr_node_what(cr_build_arena(b), node));
    for (i = 0; i < classes; i++)
        w[i] = 1;
    for (CR_EACH(m, node)) {
        char *end;
        long k = strtol(m->key, &end, 10);

        if (*end || end == m->key || k < 0 || k >= classes)
            return cr_fail(b, CR_E_OUT_OF_RANGE,
                           "weight: '%s' is no class; there are 0 to %lld",
                           m->key, (long long)classes - 1);
        if (!ce_number(b, m, &w[k]))
            return false;
    }
    return true;
}

static struct cr_val *cross_entropy_build(struct cr_build *b,
                                          struct cr_val *const *in)
{
    const struct cross_entropy *o = cr_opts(b);
    struct cr_cross_entropy *attr =
        CR_NEW(cr_build_arena(b), struct cr_cross_entropy);
    const struct cr_spec *x = cr_val_spec(in[0]);
    int64_t axis = o->axis < 0 ? o->axis + x->rank : o->axis;

    attr->ignore_index = o->ignore_index;
    attr->reduction = o->reduction;
    attr->label_smoothing = o->label_smoothing;
    attr->axis = o->axis;
    if (o->weight && axis >= 0 && axis < x->rank &&
        !ce_weights(b, o->weight, x->dim[axis], &attr->weight))
        return NULL;
    return CR_EMIT(b, "cross_entropy", attr, in[0], in[1]);
}

const struct cr_cell cr_loss_cross_entropy = {
    .about = {
        .name = "CrossEntropyLoss",
        .summary = "Softmax cross entropy of class labels.",
        .detail = "Logits (batch, classes, ...), labels int32 (batch, ...), "
                  "or probabilities of the logits' shape. Computed as "
                  "logsumexp(x) - x of the label, stabilised by the maximum.",
        .example = "loss: {CrossEntropyLoss: {label_smoothing: 0.1}}\n",
        .opts = cross_entropy_opts,
        .size = sizeof(struct cross_entropy),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .build = cross_entropy_build,
};
