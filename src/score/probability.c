#include "score/probability.h"

#include <inttypes.h>
#include <string.h>

#include "score/eval.h"

static const struct cr_prob_loss prob_losses[] = {
    { "CrossEntropyLoss", CR_PROB_SOFTMAX, false },
    { "SoftmaxCrossEntropyWithLogits", CR_PROB_SOFTMAX, false },
    { "FocalLoss", CR_PROB_SOFTMAX, false },
    { "NLLLoss", CR_PROB_EXP, false },
    { "BCEWithLogitsLoss", CR_PROB_SIGMOID, true },
    { "MultiLabelSoftMarginLoss", CR_PROB_SIGMOID, true },
    { "BCELoss", CR_PROB_IDENTITY, true },
};

const struct cr_prob_loss *cr_prob_loss(const struct cr_config *config)
{
    const struct cr_node *args, *loss = cr_section(config, "loss");
    const char *type = loss ? cr_node_type(loss, &args) : NULL;

    for (size_t i = 0; i < CR_LEN(prob_losses) && type; i++)
        if (strcmp(prob_losses[i].name, type) == 0)
            return &prob_losses[i];
    return NULL;
}

enum cr_prob_map cr_prob_of_result(const struct cr_net *net, int i)
{
    const char *op = cr_net_result_op(net, i);

    return strcmp(op, "softmax") == 0 || strcmp(op, "sigmoid") == 0
               ? CR_PROB_IDENTITY
           : strcmp(op, "log_softmax") == 0 ? CR_PROB_EXP
                                            : CR_PROB_SOFTMAX;
}

bool cr_prob_given(const struct cr_config *config, const struct cr_net *net,
                   int i)
{
    return !cr_prob_loss(config) &&
           cr_prob_of_result(net, i) == CR_PROB_IDENTITY;
}

int64_t cr_prob_classes(const struct cr_config *config, int i,
                        const struct cr_spec *result,
                        const struct cr_spec *truth, int64_t classes)
{
    const struct cr_prob_loss *loss = i == 0 ? cr_prob_loss(config) : NULL;
    const struct cr_node *node = cr_section(config, "loss"), *args;
    int axis = i == 0 ? cr_class_axis(config, result) : 1;
    bool written = node && !cr_node_type(node, &args);

    if (result->rank < 1)
        return 0;
    if (loss && loss->binary) {
        int64_t count = cr_count(result) / result->dim[0];

        return count == 1 ? 2 : count;
    }
    if (!loss && written &&
        (!truth || truth->type != CR_I32 || truth->rank != result->rank - 2))
        return 0;
    if (!loss && !written &&
        (i > 0 || result->rank != 2 || result->dim[1] != classes))
        return 0;
    if (!loss && !written)
        axis = 1; /* scores of an unknown loss */
    return axis >= 1 && axis < result->rank && result->dim[axis] > 1
               ? result->dim[axis]
               : 0;
}

bool cr_prob_labels(const struct cr_config *config, const int64_t *classes,
                    int n)
{
    const struct cr_node *labels =
        cr_node_get(cr_section(config, "predict"), "labels");
    int64_t found = cr_node_count(labels), other = 0;

    if (labels && labels->text && labels->kind != CR_NODE_NULL)
        found = 1; /* a name alone */
    if (!labels || found == 0)
        return true;
    for (int i = 0; i < n; i++) {
        if (classes[i] == found)
            return true;
        other = classes[i] ? classes[i] : other;
    }
    if (other)
        return cr_error(config->diag, labels->pos, CR_E_OUT_OF_RANGE,
                        "predict.labels: found %" PRId64
                        " name%s, expected %" PRId64 ", one per class",
                        found, found == 1 ? "" : "s", other);
    cr_warn(
        config->diag, labels->pos, CR_E_NO_MATCH,
        "'predict.labels' has no effect: no output of the network has classes");
    return true;
}
