/* SoftmaxCrossEntropyWithLogits: l = -sum_c y_c log softmax(x)_c, one value per
 * sample unless it is reduced. */
#include "graph/amp.h"
#include "graph/cell.h"
#include "graph/op_attrs.h"

struct softmax_ce {
    bool sparse;
    int reduction;
};

static const struct cr_opt softmax_ce_opts[] = {
    CR_BOOL_DEFAULT(struct softmax_ce, sparse, false,
                    "Labels are class indices; otherwise a probability for "
                    "each class."),
    CR_ENUM_DEFAULT(
        struct softmax_ce, reduction, CR_NONE, "mean|sum|none",
        "Reduction over the samples; none gives a loss block one value per "
        "sample."),
    { 0 },
};

static struct cr_val *softmax_ce_build(struct cr_build *b,
                                       struct cr_val *const *in)
{
    const struct softmax_ce *o = cr_opts(b);
    struct cr_cross_entropy *attr =
        CR_NEW(cr_build_arena(b), struct cr_cross_entropy);
    const struct cr_spec *x = cr_val_spec(in[0]), *y = cr_val_spec(in[1]);
    struct cr_precision was = cr_precision(b);
    struct cr_val *l;

    if (x->rank != 2) {
        cr_fail(b, CR_E_SHAPE, "logits: found %s, expected (batch, classes)",
                cr_diag_format(cr_build_arena(b), x));
        return NULL;
    }
    if (o->sparse != (y->rank == 1)) {
        cr_fail(b, CR_E_SHAPE,
                "labels: found %s for logits %s; with sparse: %s, expected %s",
                cr_diag_format(cr_build_arena(b), y),
                cr_diag_format(cr_build_arena(b), x),
                o->sparse ? "true" : "false",
                o->sparse ? "int32 (batch)" : "float32 of the same shape");
        return NULL;
    }
    attr->ignore_index = INT64_MIN; /* ignore no label */
    attr->reduction = o->reduction;
    attr->axis = 1;
    attr->negative = o->reduction != CR_MEAN;
    /* MindSpore's function for this is on no list of level auto */
    if (o->sparse && o->reduction == CR_MEAN)
        cr_precision_follow(b, in[0]);
    l = CR_EMIT(b, "cross_entropy", attr, in[0], in[1]);
    cr_precision_set(b, was);
    return l;
}

const struct cr_cell cr_loss_softmax_cross_entropy_with_logits = {
    .about = {
        .name = "SoftmaxCrossEntropyWithLogits",
        .summary = "Cross entropy of logits, one value per sample by default.",
        .detail = "Logits (batch, classes); labels are int32 (batch) with "
                  "sparse, else float32 (batch, classes). Unless the reduction "
                  "is mean, a label below 0 has the loss 0, as in MindSpore. A "
                  "label above the last class is an error.",
        .example = "loss: {SoftmaxCrossEntropyWithLogits: {sparse: true, "
                   "reduction: mean}}\n",
        .opts = softmax_ce_opts,
        .size = sizeof(struct softmax_ce),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .expects = "logits",
    .build = softmax_ce_build,
};
