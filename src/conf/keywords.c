/*
 * Words of the language that are no section, type or key of one: what stands
 * beside types, in blocks and in construct. For `help`.
 */
#include "conf/help_tables.h"

const struct cr_doc_entry cr_keywords[] = {
    { "base",
      "At the top of a config: one or more configs that this one goes on "
      "from, relative to it. Maps merge key by key, scalars and lists "
      "replace; a typed node replaces one of another type and merges with "
      "one of its own. !replace before a map replaces it whole, !delete "
      "removes a key, !append and !prepend extend a list." },
    { "vars",
      "At the top of a config: names for values. $name and $a.b refer to "
      "them, $(2*name) computes; $$ is a dollar sign. `vars.name=3` on the "
      "command line sets one." },
    { "blocks",
      "At the top of a config: cells with parameters, for use under network "
      "as types of their own. Each is a map with params, inputs, cells, "
      "construct and bprop; params are names with their defaults, or "
      "`required`. Each use becomes a copy in which $param stands for its "
      "value." },
    { "params",
      "In a block: its parameters with their defaults, or `required`. A use "
      "gives them by name, or in this order; $name is the value." },
    { "inputs",
      "In a network, block, loss or metric: the names of its inputs, a list. "
      "Default: x, for the network the data set's only column other than the "
      "label. The last one may be \"*NAME\": a tuple of the inputs that "
      "remain, of any number." },
    { "construct",
      "The forward pass of a cell, written out: lines `a = EXPRESSION` and, "
      "last, `return EXPRESSION`. Expressions call the members under cells, "
      "functions (cellrun help ops), and have operators, slices and tuples "
      "as Python has them. A cell called twice has one set of parameters." },
    { "bprop",
      "Beside construct: the gradients, written out in the same form. It has "
      "the inputs, `out` and `dout` and returns one gradient for each input, "
      "or None; a map behind them gives those of the cell's own parameters. "
      "What it leaves out gets no gradient. cellrun gradcheck tells whether "
      "they are right." },
    { "auto_prefix",
      "Beside construct: `auto_prefix: false` leaves the names of the cell's "
      "members out of those of their parameters, as MindSpore's argument "
      "does: `weight`, not `net.weight`. It counts for the network and, where "
      "that has it, for its members; within a cell that prefixes names it "
      "changes nothing. Two parameters of one name are an error." },
    { "aux",
      "In a loss that is written in the config: names of what its construct "
      "returns after the loss, `aux: [penalty]` for `return loss, penalty`. "
      "These values contribute nothing to gradients. Training records have "
      "their means by these names, `metrics: [loss, penalty]` measures them "
      "in evaluations, and trace writes them as loss.NAME." },
    { "has_aux",
      "Beside aux: as in MindSpore's value_and_grad. true, the default: the "
      "first value alone is differentiated. false: the sum of all that the "
      "loss returns is, as MindSpore does where has_aux is not given; "
      "stop_gradient takes a value out again." },
    { "grad",
      "In construct: grad(y, x) is the gradient of the sum of y with respect "
      "to x, as mindspore.grad gives it; grad(y, (a, b)) is a tuple, and a "
      "third argument, sens, is the gradient that arrives at y instead of "
      "ones. x is a tensor that y is computed from; where it is not, the "
      "gradient is 0. The result is a tensor like any other: it can be "
      "returned, trained through and differentiated again, as gradient "
      "penalties, Hessian-vector products and differential equations need: "
      "`u_x = grad(u, x)`, `u_xx = grad(u_x, x)`. In a loss, y and x may be "
      "results and inputs of the network. Ops whose gradient is not made of "
      "ops, such as those of LSTM, BatchNorm and max pooling, are errors." },
    { "assign",
      "In construct, alone on its line: assign(NAME, value) gives a "
      "Parameter with requires_grad: false, a member under cells, a new "
      "value whenever training computes the forward pass, once for each "
      "micro-batch. NAME reads the value before. Checkpoints have it; "
      "evaluation and prediction leave it as it is." },
    { "training",
      "In construct: True in training, False in evaluation and prediction, "
      "as in `if training:` or `dropout(x, 0.5, training)`." },
    { "hook_backward",
      "In construct: hook_backward(x, 'name') is x, at whose gradient the "
      "section watch may look, or replace it." },
    { "name", "Beside a cell of a list: its name, instead of its place." },
    { "when",
      "Beside a cell, transform or other type: whether it is there at all. A "
      "cell with `when: false` becomes Identity, so the names of the others "
      "stay." },
    { "repeat",
      "Beside a cell or transform of a list: so many of them in its place, "
      "each cell with parameters of its own." },
    { "only", "Beside a transform: `train` or `eval`, the only data that it "
              "changes." },
    { "with", "Beside a transform that draws random numbers: the column whose "
              "numbers it draws too, as for an image and its mask." },
    { "share",
      "Beside a cell: parameters that it takes from a cell built before, "
      "`share: {weight: tok.embedding_table}`." },
    { "to_float",
      "Beside a cell or a loss: the type in which it computes, `to_float: "
      "float16`." },
    { "mode",
      "Beside a cell: `mode: predict` keeps it, and the cells within, in "
      "predict mode while the rest is trained, as MindSpore's "
      "set_train(False) does: Dropout passes everything, BatchNorm uses its "
      "moving statistics and leaves them alone. Its parameters are trained "
      "all the same; `freeze` is another matter. `mode: train` within such a "
      "cell ends this." },
    { "warmup",
      "Beside a schedule: `warmup: W` multiplies its first steps; while s < W "
      "the rate is schedule(0) * s / W, then the schedule at s. In steps "
      "(updates of the optimizer), epochs or percent of the run." },
    { NULL, NULL },
};
