#include "train/probability.h"

#include <string.h>

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
