/* SequentialCell: cells called one after the other, named 0, 1, ... */
#include "graph/cell.h"

struct sequential_cell {
    const struct cr_node *cells;
};

static const struct cr_opt sequential_cell_opts[] = {
    CR_NODE(struct sequential_cell, cells,
            "The cells: a list, or a map that names them."),
    { 0 },
};

const struct cr_cell cr_cell_sequential_cell = {
    .about = {
        .name = "SequentialCell",
        .summary = "Calls its cells in order.",
        .detail = "A list of cells without a type means the same. Members are "
                  "named 0, 1, ..., so their parameters are 0.weight and so "
                  "on; a map gives them names. Under `cells` a member may also "
                  "be the name of a cell declared before: that cell is called, "
                  "and the last container that lists it prefixes the names of "
                  "its parameters.",
        .example = "network: {SequentialCell: [Flatten, {Dense: [784, 10]}]}\n"
                   "---\n"
                   "network:\n"
                   "  SequentialCell:\n"
                   "    flat: Flatten\n"
                   "    fc: {Dense: [784, 10]}\n"
                   "---\n"
                   "network:\n"
                   "  inputs: {x: {shape: [1, 8, 8]}}\n"
                   "  cells:\n"
                   "    conv: {Conv2d: [1, 4, 3]}\n"
                   "    bn: {BatchNorm2d: 4}\n"
                   "    relu: ReLU\n"
                   "    seq: [conv, bn, relu]\n"
                   "  construct: return seq(x)\n",
        .takes_map = true,
        .opts = sequential_cell_opts,
        .size = sizeof(struct sequential_cell),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .takes_cells = true,
};
