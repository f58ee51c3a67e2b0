/*
 * Networks whose plans t_plan.c and t_plan_memory.c test, and the ways to run
 * them.
 */
#ifndef CR_TESTS_PLAN_EXAMPLES_H
#define CR_TESTS_PLAN_EXAMPLES_H

#include "nets.h"

#include <stdlib.h>

#define CE "loss: CrossEntropyLoss\n"
#define SGD "optimizer: {SGD: {learning_rate: 0.1}}\n"

struct example {
    const char *name, *text;
    struct shape shape;
};

#define IMAGE(...)                                          \
    {                                                       \
        .x = { .rank = 3, .dim = { 1, 4, 5 } }, __VA_ARGS__ \
    }
#define PICTURE(...)                                        \
    {                                                       \
        .x = { .rank = 3, .dim = { 2, 9, 8 } }, __VA_ARGS__ \
    }
#define VECTOR(...)                                   \
    {                                                 \
        .x = { .rank = 1, .dim = { 6 } }, __VA_ARGS__ \
    }

/* One block with an identity shortcut, one with a convolution in it. */
#define RESIDUAL                                                            \
    "network:\n"                                                            \
    "- {Conv2d: {out_channels: 16, kernel_size: 3}}\n"                      \
    "- cells: {c1: {Conv2d: {out_channels: 16, kernel_size: 3}}, b1: "      \
    "BatchNorm2d, c2: {Conv2d: {out_channels: 16, kernel_size: 3}}, b2: "   \
    "BatchNorm2d}\n"                                                        \
    "  construct: \"return relu(b2(c2(relu(b1(c1(x))))) + x)\"\n"           \
    "- cells: {c1: {Conv2d: {out_channels: 24, kernel_size: 3, stride: "    \
    "2}}, b1: BatchNorm2d, c2: {Conv2d: {out_channels: 24, kernel_size: "   \
    "3}}, b2: BatchNorm2d, c3: {Conv2d: {out_channels: 24, kernel_size: "   \
    "1, stride: 2}}, b3: BatchNorm2d}\n"                                    \
    "  construct: |\n"                                                      \
    "    y = relu(b1(c1(x)))\n"                                             \
    "    return relu(b2(c2(y)) + b3(c3(x)))\n"                              \
    "- {AdaptiveAvgPool2d: 1}\n"                                            \
    "- Flatten\n"                                                           \
    "- {Dense: {out_channels: 3}}\n" CE

static const struct example examples[] = {
    { "the seed network, small",
      "network:\n"
      "  flatten: Flatten\n"
      "  dense_relu_sequential: [{Dense: [20, 17]}, ReLU, {Dense: [17, 19]}, "
      "ReLU, {Dense: [19, 10]}]\n" CE SGD,
      IMAGE(.classes = 10) },
    { "one layer", "network: {Dense: [6, 3]}\n" CE SGD, VECTOR(.classes = 3) },
    { "no offset",
      "network: [{Dense: {out_channels: 5, has_bias: false}}, ReLU, {Dense: "
      "{out_channels: 3, has_bias: false}}]\n" CE SGD,
      VECTOR(.classes = 3) },
    { "all activations",
      "network: [{Dense: [6, 7]}, Sigmoid, {Dense: [7, 5]}, Tanh, {Dense: [5, "
      "5]}, GELU, {GELU: {approximate: false}}, {Dense: [5, 4]}, Softmax]\n"
      "loss: MSELoss\n" SGD,
      VECTOR(.label = { .rank = 1, .dim = { 4 } }) },
    { "activation of Dense",
      "network: [{Dense: {out_channels: 5, activation: relu}}, {Dense: "
      "{out_channels: 3, activation: tanh}}]\n" CE SGD,
      VECTOR(.classes = 3) },
    { "two consecutive ReLUs",
      "network: [{Dense: [6, 5]}, ReLU, ReLU, {Dense: [5, 3]}]\n" CE SGD,
      VECTOR(.classes = 3) },
    { "ReLU first and last", "network: [ReLU, {Dense: [6, 3]}, ReLU]\n" CE SGD,
      VECTOR(.classes = 3) },
    { "views between",
      "network: [{Dense: [5, 3]}, Flatten, ReLU, {Dropout: {p: 0.0}}, Flatten, "
      "{Dense: [12, 3]}, Flatten]\n" CE SGD,
      IMAGE(.classes = 3) },
    { "ReLU, then a view",
      "network: [{Dense: [5, 3]}, ReLU, Flatten, {Dense: [12, 3]}]\n" CE SGD,
      IMAGE(.classes = 3) },
    { "dropout and addends as parts of layers",
      DROPS_AND_ADDS CE SGD,
      VECTOR(.classes = 3) },
    { "the same in float16",
      DROPS_AND_ADDS CE SGD "amp: {level: O3, dtype: float16}\n",
      VECTOR(.classes = 3) },
    { "late biases in bfloat16",
      LATE_BIASES CE SGD "amp: {level: O2, dtype: bfloat16}\n",
      VECTOR(.classes = 3) },
    { "activations after sums, and layers without a bias",
      "network:\n"
      "  cells:\n"
      "    a: {Dense: {out_channels: 8}}\n"
      "    c: {Dense: {out_channels: 8, has_bias: false}}\n"
      "    d: {Dense: {out_channels: 8}}\n"
      "    m: {Parameter: {shape: [8]}}\n"
      "    e: {Dense: {out_channels: 3}}\n"
      "    q: {Dropout: {p: 0.5}}\n"
      "  construct: |\n"
      "    h = relu(d(a(x)) + a(x))\n"
      "    h = h + q(c(h))\n"
      "    h = gelu(q(c(h)) + stop_gradient(h))\n"
      "    h = d(h) + broadcast_to(m, (h.shape[0], 8))\n"
      "    return e(sigmoid(d(tanh(h)) + h))\n" CE SGD,
      VECTOR(.classes = 3) },
    { "Dropout",
      "network: [{Dense: [6, 9]}, ReLU, {Dropout: {p: 0.4}}, {Dense: [9, 3]}, "
      "{Dropout: {keep_prob: 0.8}}]\n" CE SGD,
      VECTOR(.classes = 3) },
    { "momentum and weight decay",
      "network: [{Dense: [6, 5]}, ReLU, {Dense: [5, 3]}]\n" CE
      "optimizer: {SGD: {learning_rate: 0.1, momentum: 0.9, weight_decay: "
      "0.01, nesterov: true}}\n",
      VECTOR(.classes = 3) },
    { "weight decay alone",
      "network: [{Dense: [6, 5]}, ReLU, {Dense: [5, 3]}]\n" CE
      "optimizer: {SGD: {learning_rate: 0.1, weight_decay: 0.1}}\n",
      VECTOR(.classes = 3) },
    { "Momentum",
      "network: [{Dense: [6, 5]}, ReLU, {Dense: [5, 3]}]\n" CE
      "optimizer: {Momentum: {learning_rate: 0.1, momentum: 0.9}}\n",
      VECTOR(.classes = 3) },
    { "the first layer frozen",
      "network: [{Dense: [6, 5]}, ReLU, {Dense: [5, 4]}, ReLU, {Dense: [4, "
      "3]}]\nfreeze: {patterns: \"0.*\"}\n" CE SGD,
      VECTOR(.classes = 3) },
    { "the last layer frozen",
      "network: [{Dense: [6, 5]}, ReLU, {Dense: [5, 4]}, ReLU, {Dense: [4, "
      "3]}]\nfreeze: {patterns: \"4.*\"}\n" CE SGD,
      VECTOR(.classes = 3) },
    { "weights frozen, biases not",
      "network: [{Dense: [6, 5]}, ReLU, {Dense: [5, 3]}]\n"
      "freeze: {patterns: \"*.weight\"}\n" CE SGD,
      VECTOR(.classes = 3) },
    { "a sum of losses",
      "network: [{Dense: [6, 5]}, ReLU, {Dense: [5, 3]}]\n"
      "loss: {CrossEntropyLoss: {reduction: sum, label_smoothing: 0.1, weight: "
      "[1, 2, 0.5], ignore_index: 2}}\n" SGD,
      VECTOR(.classes = 3) },
    { "a loss per sample",
      "network: [{Dense: [6, 3]}]\n"
      "loss: {CrossEntropyLoss: {reduction: none}}\n" SGD,
      VECTOR(.classes = 3) },
    { "images",
      "network: [{Conv2d: {out_channels: 16, kernel_size: 3}}, BatchNorm2d, "
      "ReLU, {MaxPool2d: {kernel_size: 2, stride: 2}}, {Conv2d: "
      "{out_channels: 6, kernel_size: 3, has_bias: true}}, ReLU, {MaxPool2d: "
      "{kernel_size: 3, stride: 2, pad_mode: same}}, BatchNorm2d, SiLU, "
      "{AvgPool2d: {kernel_size: 2}}, Flatten, {Dense: {out_channels: 3}}]\n" CE
          SGD,
      PICTURE(.classes = 3) },
    { "images with frozen statistics",
      "network: [{Conv2d: {out_channels: 5, kernel_size: 3}}, {BatchNorm2d: "
      "{num_features: 5}}, ReLU, {AdaptiveAvgPool2d: 2}, {GroupNorm: 5}, "
      "{PReLU: 5}, {AdaptiveMaxPool2d: 1}, Flatten, {Dense: {out_channels: "
      "3}}]\nfreeze: {patterns: \"1.*\", bn_stats: frozen}\n" CE SGD,
      PICTURE(.classes = 3) },
    { "rows",
      "network: [{Dense: [6, 8]}, BatchNorm1d, ReLU, {Dense: [8, 8]}, "
      "LayerNorm, Mish, {Dense: [8, 3]}, LogSoftmax]\n" CE SGD,
      VECTOR(.classes = 3) },
    { "recurrences",
      "network:\n"
      "  cells:\n"
      "    a: {LSTM: {hidden_size: 5, bidirectional: true, batch_first: "
      "true}}\n"
      "    b: {GRU: {hidden_size: 4, num_layers: 2}}\n"
      "    c: {RNNCell: {hidden_size: 10}}\n"
      "    d: {Dense: {out_channels: 3}}\n"
      "  construct: |\n"
      "    y, last = a(reshape(x, (-1, 3, 2)))\n"
      "    h = last[0]\n"
      "    y = transpose(y, (1, 0, 2))\n"
      "    z, g = b(y)\n"
      "    return d(concat((z[-1] + g[0], c(y[0], y[1])), 1)) + sum(h)\n" CE
          SGD,
      VECTOR(.classes = 3) },
    { "a gradient of its own, with a parameter's",
      "network:\n"
      "  cells:\n"
      "    a: {Dense: {out_channels: 8}}\n"
      "    b:\n"
      "      cells: {w: {Parameter: {shape: [8], init: One}}, f: {Dense: "
      "{out_channels: 8}}}\n"
      "      construct: \"return relu(x) * w, x > 0, f(x), x\"\n"
      "      bprop: |\n"
      "        dy, _, df, _ = dout\n"
      "        dx = where(out[1], dy * w, 0.0) + f(df) + dout[3]\n"
      "        return dx, {w: sum(relu(x) * dy, 0)}\n"
      "    d: {Dense: {out_channels: 3}}\n"
      "  construct: |\n"
      "    y, m, z, _ = b(relu(a(x)))\n"
      "    return d(y + z)\n" CE SGD,
      VECTOR(.classes = 3) },
    { "a gradient that reads a weight updated before",
      "network:\n"
      "  cells:\n"
      "    d: {Dense: [6, 6]}\n"
      "    e: {Dense: [6, 6]}\n"
      "    b:\n"
      "      cells: {f: {Dense: [6, 6], share: {weight: d.weight, bias: "
      "d.bias}}}\n"
      "      construct: return x * 2\n"
      "      bprop: return f(dout)\n"
      "  construct: |\n"
      "    h = b(e(x) + stop_gradient(d(x)))\n"
      "    return d(h)\n" CE SGD,
      VECTOR(.classes = 6) },
    { "images through a gradient of its own",
      "network:\n"
      "  cells:\n"
      "    c: {Conv2d: {out_channels: 16, kernel_size: 3}}\n"
      "    r:\n"
      "      construct: return relu(x), cast(x > 0, float32)\n"
      "      bprop: return dout[0] * out[1] + dout[1]\n"
      "    s: {inputs: [a, b], construct: return a + b, bprop: \"return "
      "dout, None\"}\n"
      "    e: {Conv2d: {out_channels: 16, kernel_size: 3}}\n"
      "    d: {Dense: {out_channels: 3}}\n"
      "  construct: |\n"
      "    y, m = r(c(x))\n"
      "    return d(flatten(e(s(y, m))))\n" CE SGD,
      PICTURE(.classes = 3) },
    { "residual blocks", RESIDUAL SGD, PICTURE(.classes = 3) },
    { "residual blocks, the first frozen",
      RESIDUAL "freeze: {patterns: \"0.* 1.c1.* 1.b2.*\"}\n" SGD,
      PICTURE(.classes = 3) },
    { "residual blocks with frozen statistics",
      RESIDUAL "freeze: {patterns: \"1.*\", bn_stats: frozen}\n" SGD,
      PICTURE(.classes = 3) },
    { "a BatchNorm called twice, and both added",
      "network:\n"
      "  cells: {b: BatchNorm1d, d: {Dense: {out_channels: 3}}}\n"
      "  construct: \"return d(relu(b(x * 2) + b(x)))\"\n" CE SGD,
      VECTOR(.classes = 3) },
    { "layouts of several readers",
      "network:\n"
      "  cells:\n"
      "    c: {Conv2d: {out_channels: 16, kernel_size: 3}}\n"
      "    e: {Conv2d: {out_channels: 16, kernel_size: 1}}\n"
      "    b: BatchNorm2d\n"
      "    d: {Dense: {out_channels: 3}}\n"
      "  construct: |\n"
      "    h = c(x)\n"
      "    p = flatten(h)\n"
      "    k = e(h) + transpose(transpose(h, (0, 3, 2, 1)), (0, 3, 2, 1))\n"
      "    m = cast(h > 0, float32)\n"
      "    k = b(k) + h * m + where(h > 0.1, k, h)\n"
      "    return d(p + flatten(relu(k)))\n" CE SGD,
      PICTURE(.classes = 3) },
    { "parameters through views and sums",
      "network:\n"
      "  cells:\n"
      "    w: {Parameter: {shape: [3, 2], init: {Normal: {sigma: 0.1}}}}\n"
      "    v: {Parameter: {shape: [1, 6], init: {Normal: {sigma: 0.1}}}}\n"
      "    b: BatchNorm1d\n"
      "    d: {Dense: {out_channels: 3}}\n"
      "  construct: |\n"
      "    r = reshape(w, (1, 6))\n"
      "    h = x * r + r\n"
      "    return d(relu(b(h) + v))\n" CE
      "optimizer: {Momentum: {learning_rate: 0.1, momentum: 0.9}}\n",
      VECTOR(.classes = 3) },
    { "a factor, a bias and activations after products",
      "network:\n"
      "  cells:\n"
      "    w: {Parameter: {shape: [6, 7], init: {Normal: {sigma: 0.5}}}}\n"
      "    v: {Parameter: {shape: [7], init: {Normal: {sigma: 0.5}}}}\n"
      "    c: {Parameter: {shape: [3], init: {Normal: {sigma: 0.5}}}}\n"
      "    d: {Dense: {out_channels: 7, has_bias: false}}\n"
      "    e: {Dense: {out_channels: 3, has_bias: false}}\n"
      "    n: {LayerNorm: {normalized_shape: [7]}}\n"
      "  construct: |\n"
      "    a = tanh(matmul(x, w) * 0.5)\n"
      "    b = sigmoid(d(x) / 4 + v)\n"
      "    return e(relu(n(a + b))) * 3 + c\n" CE SGD,
      VECTOR(.classes = 3) },
    { "activations after sums, which only their results say",
      "network:\n"
      "  cells:\n"
      "    d: {Dense: {out_channels: 6}}\n"
      "    e: {Dense: {out_channels: 3}}\n"
      "    u: ELU\n"
      "    g: GELU\n"
      "  construct: |\n"
      "    y = u(d(x) + x)\n"
      "    z = g(y * x)\n"
      "    return e(relu(y - z))\n" CE SGD,
      VECTOR(.classes = 3) },
    { "a bias after a convolution",
      "network:\n"
      "  cells:\n"
      "    c: {Conv2d: {out_channels: 3, kernel_size: 3}}\n"
      "    b: {Parameter: {shape: [3, 1, 1], init: {Normal: {sigma: 0.5}}}}\n"
      "    d: {Dense: {out_channels: 3}}\n"
      "    f: Flatten\n"
      "  construct: return d(f(relu(c(x) + b)))\n" CE SGD,
      PICTURE(.classes = 3) },
    { "nothing to train", "network: [Flatten, Softmax]\n" CE SGD,
      VECTOR(.classes = 6) },
};

static const struct mode {
    const char *name;
    struct cr_exec_opts want;
    const char *passes; /* CELLRUN_PASSES; NULL: all of them */
} modes[] = {
    { "eager", { .eager = true }, NULL },
    { "fused", { 0 }, NULL },
    { "held back", { .separate_update = true }, NULL },
    { "kept", { .keep_outputs = true }, NULL },
    { "without fuse", { 0 }, "-fuse" },
    { "without fusion", { 0 }, "-fuse,-fold" },
};

static void passes_set(const struct mode *mode)
{
    if (mode->passes)
        setenv("CELLRUN_PASSES", mode->passes, 1);
    else
        unsetenv("CELLRUN_PASSES");
}

#endif
