/* NLLLoss: l = -w_y x_y of log-probabilities x (N, C, ...) and class indices y;
 * mean divides by the sum of the weights of the labels */
#include "build/loss.h"

struct nll {
    const struct cr_node *weight;
    int64_t ignore_index;
    int reduction;
};

static const struct cr_opt nll_opts[] = {
    CR_NODE(struct nll, weight, CR_LOSS_CLASSES),
    CR_INT_DEFAULT(struct nll, ignore_index, -100, INT32_MIN, INT32_MAX,
                   "Labels of this value are ignored."),
    CR_LOSS_REDUCTION(struct nll, CR_MEAN),
    { 0 },
};

static struct cr_val *nll_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct nll *o = cr_opts(b);
    struct cr_cross_entropy *attr =
        CR_NEW(cr_build_arena(b), struct cr_cross_entropy);
    const struct cr_spec *x = cr_val_spec(in[0]);

    if (cr_val_spec(in[1])->type == CR_REAL) {
        cr_fail(b, CR_E_DTYPE, "labels: found float32, expected int32");
        return NULL;
    }
    attr->ignore_index = o->ignore_index;
    attr->reduction = o->reduction;
    attr->axis = 1;
    attr->logs = true;
    if (x->rank > 1 &&
        !cr_loss_classes(b, o->weight, in[1], x->dim[1], &attr->weight))
        return NULL;
    return CR_EMIT(b, "cross_entropy", attr, in[0], in[1]);
}

const struct cr_cell cr_loss_nll = {
    .about = {
        .name = "NLLLoss",
        .summary = "Negative log-likelihood of class labels.",
        .detail = "The output is log-probabilities (batch, classes, ...), such "
                  "as those of LogSoftmax; labels are int32 (batch, ...).",
        .example = "network: [{Dense: [6, 4]}, LogSoftmax]\n"
                   "loss: {NLLLoss: {ignore_index: 0}}\n",
        .opts = nll_opts,
        .size = sizeof(struct nll),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_CLASSES,
    .expects = "log-probabilities",
    .build = nll_build,
};
