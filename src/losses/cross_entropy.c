/* CrossEntropyLoss: softmax and cross entropy, for labels that are classes or
 * probabilities. */
#include "build/loss.h"

struct cross_entropy {
    const struct cr_node *weight;
    int64_t ignore_index;
    int reduction;
    double label_smoothing;
    int64_t axis;
};

static const struct cr_opt cross_entropy_opts[] = {
    CR_NODE(struct cross_entropy, weight, CR_LOSS_CLASSES),
    CR_INT_DEFAULT(struct cross_entropy, ignore_index, -100, INT32_MIN,
                   INT32_MAX, "Labels of this value are ignored."),
    CR_ENUM_DEFAULT(
        struct cross_entropy, reduction, CR_MEAN, "mean|sum|none",
        "Reduction over the samples; mean divides by the sum of the weights of "
        "the labels."),
    CR_REAL_DEFAULT(struct cross_entropy, label_smoothing, 0, 0, 1,
                    "Fraction of the target that is spread evenly over all "
                    "classes."),
    CR_INT_DEFAULT(struct cross_entropy, axis, 1, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "Axis of the classes; MindSpore always uses axis 1."),
    { 0 },
};

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
    if (axis >= 0 && axis < x->rank &&
        !cr_loss_classes(b, o->weight, in[1], x->dim[axis], &attr->weight))
        return NULL;
    return CR_EMIT(b, "cross_entropy", attr, in[0], in[1]);
}

const struct cr_cell cr_loss_cross_entropy = {
    .about = {
        .name = "CrossEntropyLoss",
        .summary = "Cross entropy of logits, for class labels or "
                   "probabilities.",
        .detail = "Logits (batch, classes, ...); labels are int32 (batch, "
                  "...), or probabilities of the shape of the logits. The loss "
                  "contains the softmax: it is logsumexp(x) - x[label], "
                  "computed after subtracting the maximum.",
        .example = "loss: {CrossEntropyLoss: {label_smoothing: 0.1}}\n",
        .opts = cross_entropy_opts,
        .size = sizeof(struct cross_entropy),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_CLASSES,
    .expects = "logits",
    .build = cross_entropy_build,
};
