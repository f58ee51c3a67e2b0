/*
 * Keywords of the language that are not sections, types or keys of a section:
 * modifiers, and words of blocks and of construct. For `help`.
 */
#include "conf/help_tables.h"

const struct cr_doc_entry cr_keywords[] = {
    { "base",
      "At the top of a config: one or more configs that this one extends, "
      "with paths relative to it. Maps merge key by key; scalars and lists "
      "replace those of the base. A typed node merges with one of its own "
      "type and replaces one of another. !replace before a map replaces it "
      "completely, !delete removes a key, !append and !prepend extend a "
      "list." },
    { "vars",
      "At the top of a config: names for values. $name and $a.b refer to "
      "them, $(2*name) computes; $$ is a dollar sign. `vars.name=3` on the "
      "command line sets one." },
    { "blocks",
      "At the top of a config: cells with parameters, for use under network "
      "as types of their own. Each is a map with params, inputs, cells, "
      "construct and bprop; params are names with their defaults, or "
      "`required`. Each use is a copy in which $param is replaced by its "
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
      "as Python has them. Names have no prefix: relu(h), not ops.relu(h), and "
      "fc(x), not self.fc(x). A cell called twice has one set of parameters." },
    { "bprop",
      "Next to construct: the gradients, written in the same form. It reads "
      "the inputs, `out` and `dout` and returns one gradient for each input, "
      "or None; a map after them has the gradients of the cell's own "
      "parameters. Parameters that are not in it get no gradient. Run cellrun "
      "gradcheck to compare them with finite differences." },
    { "auto_prefix",
      "Next to construct: `auto_prefix: false` omits the names of the cell's "
      "members from the names of their parameters, as MindSpore's argument "
      "does: `weight`, not `net.weight`. It applies to the network and, if "
      "the network has it, to its members; within a cell that prefixes names "
      "it has no effect. Two parameters of the same name are an error." },
    { "aux",
      "In a loss written in the config: names of the values that its "
      "construct returns after the loss, `aux: [penalty]` for `return loss, "
      "penalty`. These values contribute nothing to gradients. Training "
      "records contain their means under these names, `metrics: [loss, "
      "penalty]` measures them in evaluations, and trace writes them as "
      "loss.NAME." },
    { "has_aux",
      "Next to aux: as in MindSpore's value_and_grad. true, the default: only "
      "the first value is differentiated. false: the sum of all returned "
      "values is differentiated, as MindSpore does without has_aux; "
      "stop_gradient excludes a value again." },
    { "grad",
      "In construct: grad(y, x) is the gradient of the sum of y with respect "
      "to x, as mindspore.grad gives it; grad(y, (a, b)) is a tuple, and a "
      "third argument, sens, is the gradient of y to use instead of ones. The "
      "gradient is 0 if y does not depend on x. The result is a tensor like "
      "any other: it can be returned, trained through and differentiated "
      "again, for gradient penalties, Hessian-vector products and "
      "differential equations: "
      "`u_x = grad(u, x)`, `u_xx = grad(u_x, x)`. In a loss, y and x may be "
      "results and inputs of the network. Ops whose gradient is not made of "
      "ops, such as those of LSTM, BatchNorm and max pooling, are errors." },
    { "assign",
      "In construct, on a line of its own: assign(NAME, value) sets a "
      "Parameter with requires_grad: false, a member under cells, in each "
      "forward pass of training, once for each micro-batch. NAME reads the "
      "value from before. Checkpoints contain it; evaluation and prediction "
      "do not change it." },
    { "training",
      "In construct: True in training, False in evaluation and prediction, "
      "as in `if training:` or `dropout(x, 0.5, training)`." },
    { "hook_backward",
      "In construct: hook_backward(x, 'name') returns x unchanged; the "
      "section watch can observe or replace its gradient." },
    { "name", "Modifier of a cell of a list: its name, instead of its index." },
    { "when",
      "Modifier of a cell, transform or other type: false omits it. A cell "
      "with `when: false` becomes Identity, so that the names of the other "
      "cells do not change." },
    { "repeat",
      "Modifier of a cell or transform of a list: number of copies; each "
      "cell has its own parameters." },
    { "only", "Modifier of a transform: `train` or `eval`, the only data that "
              "it changes." },
    { "with", "Modifier of a random transform: the column whose random "
              "numbers it uses too, as for an image and its mask. The column "
              "must have the transform, with the same prob." },
    { "prob",
      "Modifier of a transform that keeps type and shape: the probability of "
      "applying it to a sample, as MindSpore's RandomApply." },
    { "share",
      "Modifier of a cell: parameters that it shares with a cell before it, "
      "`share: {weight: tok.embedding_table}`." },
    { "to_float",
      "Modifier of a cell or a loss: the type in which it computes, "
      "`to_float: float16`." },
    { "mode",
      "Modifier of a cell: `mode: predict` keeps it, and the cells in it, in "
      "prediction mode while the network is trained, as MindSpore's "
      "set_train(False) does: Dropout drops nothing, and BatchNorm uses its "
      "moving statistics without updating them. Its parameters are still "
      "trained; use `freeze` to prevent that. `mode: train` in a cell within "
      "it switches back." },
    { "recompute",
      "Modifier of a cell: `recompute: true` computes the values in the cell "
      "again for the backward pass instead of keeping them, as MindSpore's "
      "Cell.recompute() does: training takes less memory and more time, and "
      "gives the same numbers. Best on each block of a deep network; summary "
      "shows the memory. Moving statistics are updated once, and dropout "
      "uses the same random numbers. Prints, plug-ins and hooks run once. "
      "`recompute: false` in a cell within it switches back. A list of cells "
      "takes it as `{SequentialCell: [...], recompute: true}`." },
    { "warmup",
      "Modifier of a schedule: `warmup: W` scales its first steps; while s < "
      "W the rate is schedule(0) * s / W, then the schedule at s. In steps "
      "(updates of the optimizer), epochs or percent of the run." },
    { NULL, NULL },
};
