/* The sections that describe the network; build.c reads their nodes. */
#include "conf/config.h"

const struct cr_section cr_section_network = {
    .about = {
        .name = "network",
        .summary = "The network: a cell made of subcells.",
        .detail = "A map of lower-case names is a cell whose members are "
                  "called in order, a list is a SequentialCell with the "
                  "members 0, 1, ... Parameter names are made of these names, "
                  "such as fc.0.weight. Numbers of input channels may be "
                  "omitted; where they are given, they are checked.",
        .example = "network:\n"
                   "  flatten: Flatten\n"
                   "  fc: [{Dense: {out_channels: 64}}, ReLU, "
                   "{Dense: {out_channels: 10}}]\n",
    },
    .raw = true,
};

const struct cr_section cr_section_loss = {
    .about = {
        .name = "loss",
        .summary = "The loss function that training minimises.",
        .detail = "Its first input is the output of the network, the others "
                  "are columns of the data. A loss written in the config, with "
                  "`inputs`, `cells` and `construct`, has the results of the "
                  "network first, if it returns several, and then the columns "
                  "that it names; it adds several losses, or compares the "
                  "output with the input of an autoencoder. What it returns "
                  "after the loss has the names of `aux` in the records. "
                  "Losses are computed in float32, "
                  "also with amp; `{CrossEntropyLoss: {}, to_float: float16}` "
                  "computes one in float16 or bfloat16.",
        .example = "loss: {CrossEntropyLoss: {label_smoothing: 0.1}}\n"
                   "---\n"
                   "loss:\n"
                   "  inputs: [logits, label]\n"
                   "  cells: {ce: CrossEntropyLoss, focal: FocalLoss}\n"
                   "  construct: |\n"
                   "    first = ce(logits, label)\n"
                   "    second = focal(logits, label)\n"
                   "    return first + 0.5 * second, first, second\n"
                   "  aux: [first, second]\n",
    },
    .raw = true,
};
