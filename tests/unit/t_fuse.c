/*
 * The table of fusions: what becomes one step in training and in prediction.
 * That the numbers stay is tested by t_plan.c.
 */
#include "nets.h"
#include "run/run.h"

#define LOSS                   \
    "loss: CrossEntropyLoss\n" \
    "optimizer: {SGD: {learning_rate: 0.1}}\n"

static const struct example {
    const char *name, *text;
    const char *training, *prediction; /* the list of steps; NULL: any */
} examples[] = {
    { "a factor, a bias and activations after products",
      "network:\n"
      "  cells:\n"
      "    w: {Parameter: {shape: [6, 7]}}\n"
      "    v: {Parameter: {shape: [7]}}\n"
      "    c: {Parameter: {shape: [3]}}\n"
      "    d: {Dense: {out_channels: 7, has_bias: false}}\n"
      "    e: {Dense: {out_channels: 3, has_bias: false}}\n"
      "    n: {LayerNorm: {normalized_shape: [7]}}\n"
      "  construct: |\n"
      "    a = tanh(matmul(x, w) * 0.5)\n"
      "    b = sigmoid(d(x) / 4 + v)\n"
      "    return e(relu(n(a + b))) * 3 + c\n",
      "forward  matmul          +scale +activation\n"
      "forward  linear         d +scale +bias +activation\n"
      "forward  add            \n"
      "forward  layer_norm     n +activation\n"
      "forward  linear         e +scale +bias\n"
      "forward  cross_entropy  loss\n"
      "backward cross_entropy  loss\n"
      "backward linear         e +mask +update(e.weight) +update(c)\n"
      "backward layer_norm     n\n"
      "update                  n.gamma\n"
      "update                  n.beta\n"
      "backward add            \n"
      "backward sigmoid        \n"
      "backward linear         d +update(d.weight) +update(v)\n"
      "backward tanh           \n"
      "backward matmul         \n"
      "update                  w\n",
      NULL },
    { "a factor of a bias, and one that is computed: not part of a product",
      "network:\n"
      "  cells:\n"
      "    s: {Parameter: {shape: [1]}}\n"
      "    d: {Dense: {out_channels: 4}}\n"
      "    e: {Dense: {out_channels: 3, has_bias: false}}\n"
      "  construct: return e(d(x) * 2) * s\n",
      NULL,
      "forward  linear         d\n"
      "forward  constant       \n"
      "forward  mul            \n"
      "forward  linear         e\n"
      "forward  mul            \n" },
    { "an activation whose gradient reads its input: both are stored",
      "network: [{Dense: [6, 5]}, GELU, {Dense: [5, 3]}]\n",
      "forward  linear         0 +activation\n"
      "forward  linear         2\n"
      "forward  cross_entropy  loss\n"
      "backward cross_entropy  loss\n"
      "backward linear         2 +activation +update(2.weight) +update(2.bias)"
      "\n"
      "backward linear         0 +update(0.weight) +update(0.bias)\n",
      "forward  linear         0 +activation\n"
      "forward  linear         2\n" },
    { "the same in low precision: both are rounded",
      "network: [{Dense: [6, 5]}, GELU, {Dense: [5, 3]}]\n"
      "amp: {level: O3, dtype: float16}\n",
      "forward  fake_cast      0\n"
      "forward  fake_cast      0\n"
      "forward  linear         0 +fake_cast(x1) +fake_cast(y) +activation\n"
      "forward  fake_cast      2\n"
      "forward  linear         2 +fake_cast(x1) +fake_cast(y)\n"
      "forward  cross_entropy  loss\n"
      "backward cross_entropy  loss\n"
      "backward fake_cast      \n"
      "backward linear         2 +fake_cast(dx0) +fake_cast(dx1) +activation "
      "+update(2.weight)\n"
      "backward fake_cast      2\n"
      "update                  2.bias\n"
      "backward linear         0 +fake_cast(dx1) +update(0.weight)\n"
      "backward fake_cast      0\n"
      "update                  0.bias\n",
      "forward  fake_cast      0\n"
      "forward  fake_cast      0\n"
      "forward  linear         0 +fake_cast(x1) +fake_cast(y) +activation\n"
      "forward  fake_cast      2\n"
      "forward  linear         2 +fake_cast(x1) +fake_cast(y)\n" },
    { "a ReLU before a maximum, which tells where it is above 0",
      "network:\n"
      "  cells:\n"
      "    c: {Conv2d: {in_channels: 1, out_channels: 1, kernel_size: 2,\n"
      "        pad_mode: same}}\n"
      "    p: {MaxPool2d: {kernel_size: 2, stride: 1}}\n"
      "    e: {Dense: {out_channels: 3}}\n"
      "  construct: |\n"
      "    y = p(relu(c(reshape(x, (-1, 1, 2, 3)))))\n"
      "    return e(flatten(y))\n",
      "forward  conv2d         c +activation\n"
      "forward  max_pool       p\n"
      "forward  linear         e\n"
      "forward  cross_entropy  loss\n"
      "backward cross_entropy  loss\n"
      "backward linear         e +update(e.weight) +update(e.bias)\n"
      "backward max_pool       p +mask\n"
      "backward conv2d         c +update(c.weight)\n",
      NULL },
    { "dropout, alone and after a ReLU, and addends",
      DROPS_AND_ADDS,
      "forward  linear         a\n"
      "forward  layer_norm     n\n"
      "forward  linear         b +activation +dropout\n"
      "forward  linear         c +add +dropout\n"
      "forward  linear         d +add\n"
      "forward  linear         d +activation +dropout\n"
      "forward  add            \n"
      "forward  linear         e\n"
      "forward  cross_entropy  loss\n"
      "backward cross_entropy  loss\n"
      "backward linear         e +update(e.weight) +update(e.bias)\n"
      "backward add            \n"
      "backward relu           \n"
      "backward dropout        q\n"
      "backward linear         d\n"
      "backward add            \n"
      "backward linear         d\n"
      "update                  d.weight\n"
      "update                  d.bias\n"
      "backward dropout        q\n"
      "backward linear         c +activation +update(c.weight) "
      "+update(c.bias)\n"
      "backward linear         b +update(b.weight) +update(b.bias)\n"
      "backward layer_norm     n\n"
      "update                  n.gamma\n"
      "update                  n.beta\n"
      "backward linear         a +update(a.weight) +update(a.bias)\n",
      "forward  linear         a\n"
      "forward  layer_norm     n\n"
      "forward  linear         b +activation\n"
      "forward  linear         c +add\n"
      "forward  linear         d +add\n"
      "forward  linear         d +activation\n"
      "forward  add            \n"
      "forward  linear         e\n" },
    { "the same in low precision: each result is rounded",
      DROPS_AND_ADDS "amp: {level: O3, dtype: float16}\n",
      "forward  fake_cast      a\n"
      "forward  fake_cast      a\n"
      "forward  linear         a +fake_cast(x1) +fake_cast(y)\n"
      "forward  fake_cast      n\n"
      "forward  fake_cast      n\n"
      "forward  layer_norm     n +fake_cast(y)\n"
      "forward  fake_cast      b\n"
      "forward  linear         b +fake_cast(x1) +fake_cast(y) +activation "
      "+dropout\n"
      "forward  fake_cast      c\n"
      "forward  linear         c +fake_cast(x1) +fake_cast(y) +add +dropout\n"
      "forward  fake_cast      d\n"
      "forward  fake_cast      d\n"
      "forward  linear         d +fake_cast(y) +add\n"
      "forward  linear         d +fake_cast(y) +activation +dropout\n"
      "forward  add             +fake_cast(y)\n"
      "forward  fake_cast      e\n"
      "forward  linear         e +fake_cast(x1) +fake_cast(y)\n"
      "forward  cross_entropy  loss\n"
      "backward cross_entropy  loss\n"
      "backward fake_cast      \n"
      "backward linear         e +fake_cast(dx0) +fake_cast(dx1) "
      "+update(e.weight)\n"
      "backward fake_cast      e\n"
      "update                  e.bias\n"
      "backward add             +fake_cast(dx0)\n"
      "backward relu            +fake_cast(dx0)\n"
      "backward dropout        q +fake_cast(dx0)\n"
      "backward linear         d +fake_cast(dx0) +fake_cast(dx1)\n"
      "backward fake_cast      d\n"
      "backward add            \n"
      "backward linear         d\n"
      "backward fake_cast      d\n"
      "update                  d.bias\n"
      "backward fake_cast      d\n"
      "update                  d.weight\n"
      "backward fake_cast      \n"
      "backward dropout        q +fake_cast(dx0)\n"
      "backward linear         c +fake_cast(dx0) +fake_cast(dx1) "
      "+activation +update(c.weight)\n"
      "backward fake_cast      c\n"
      "update                  c.bias\n"
      "backward linear         b +fake_cast(dx0) +fake_cast(dx1) "
      "+update(b.weight)\n"
      "backward fake_cast      b\n"
      "update                  b.bias\n"
      "backward layer_norm     n\n"
      "backward fake_cast      n\n"
      "update                  n.beta\n"
      "backward fake_cast      n\n"
      "update                  n.gamma\n"
      "backward fake_cast      \n"
      "backward linear         a +fake_cast(dx1) +update(a.weight)\n"
      "backward fake_cast      a\n"
      "update                  a.bias\n",
      "forward  fake_cast      a\n"
      "forward  fake_cast      a\n"
      "forward  linear         a +fake_cast(x1) +fake_cast(y)\n"
      "forward  fake_cast      n\n"
      "forward  fake_cast      n\n"
      "forward  layer_norm     n +fake_cast(y)\n"
      "forward  fake_cast      b\n"
      "forward  linear         b +fake_cast(x1) +fake_cast(y) +activation\n"
      "forward  fake_cast      c\n"
      "forward  linear         c +fake_cast(x1) +fake_cast(y) +add\n"
      "forward  fake_cast      d\n"
      "forward  fake_cast      d\n"
      "forward  linear         d +fake_cast(y) +add\n"
      "forward  linear         d +fake_cast(y) +activation\n"
      "forward  add             +fake_cast(y)\n"
      "forward  fake_cast      e\n"
      "forward  linear         e +fake_cast(x1) +fake_cast(y)\n" },
    { "biases after rounding",
      LATE_BIASES "amp: {level: O3, dtype: bfloat16}\n",
      "forward  fake_cast      \n"
      "forward  fake_cast      \n"
      "forward  fake_cast      \n"
      "forward  linear          +fake_cast(y) +bias +add +dropout\n"
      "forward  linear          +fake_cast(x1) +fake_cast(y) +bias +add\n"
      "forward  linear          +fake_cast(y) +bias +activation\n"
      "forward  fake_cast      e\n"
      "forward  linear         e +fake_cast(x1) +fake_cast(y)\n"
      "forward  cross_entropy  loss\n"
      "backward cross_entropy  loss\n"
      "backward fake_cast      \n"
      "backward linear         e +fake_cast(dx0) +fake_cast(dx1) +mask "
      "+update(e.weight)\n"
      "backward fake_cast      e\n"
      "update                  e.bias\n"
      "backward add             +fake_cast(dx1)\n"
      "backward linear          +fake_cast(dx0) +fake_cast(dx1)\n"
      "backward add            \n"
      "backward add            \n"
      "backward linear          +fake_cast(dx1) +update(w)\n"
      "backward fake_cast      \n"
      "backward fake_cast      \n"
      "backward dropout        q +fake_cast(dx0)\n"
      "backward add            \n"
      "backward linear         \n"
      "backward fake_cast      \n"
      "update                  b\n"
      "backward fake_cast      \n"
      "update                  v\n",
      "forward  fake_cast      \n"
      "forward  fake_cast      \n"
      "forward  fake_cast      \n"
      "forward  linear          +fake_cast(y) +bias +add\n"
      "forward  linear          +fake_cast(x1) +fake_cast(y) +bias +add\n"
      "forward  linear          +fake_cast(y) +bias +activation\n"
      "forward  fake_cast      e\n"
      "forward  linear         e +fake_cast(x1) +fake_cast(y)\n" },
    { "a sum of two layers of one value: gradients are added in their order",
      "network:\n"
      "  cells:\n"
      "    a: {Dense: {out_channels: 8}}\n"
      "    b: {Dense: {out_channels: 8}}\n"
      "    c: {Dense: {out_channels: 8}}\n"
      "    e: {Dense: {out_channels: 3}}\n"
      "  construct: |\n"
      "    h = a(x)\n"
      "    return e(b(h) + c(h))\n",
      "forward  linear         a\n"
      "forward  linear         b\n"
      "forward  linear         c +add\n"
      "forward  linear         e\n"
      "forward  cross_entropy  loss\n"
      "backward cross_entropy  loss\n"
      "backward linear         e +update(e.weight) +update(e.bias)\n"
      "backward linear         c +update(c.weight) +update(c.bias)\n"
      "backward linear         b +update(b.weight) +update(b.bias)\n"
      "backward linear         a +update(a.weight) +update(a.bias)\n",
      NULL },
    { "two activations, a result of two readers",
      "network:\n"
      "  cells: {d: {Dense: {out_channels: 3}}}\n"
      "  construct: |\n"
      "    y = d(x)\n"
      "    return sigmoid(tanh(x - y)) @ transpose(y * y, (1, 0))\n",
      NULL,
      "forward  linear         d\n"
      "forward  sub             +activation\n"
      "forward  sigmoid        \n"
      "forward  mul            \n"
      "forward  transpose      \n"
      "forward  matmul         \n" },
    { "attention of what a split makes, in order or not",
      "network:\n"
      "  cells:\n"
      "    d: {Dense: {out_channels: 12}}\n"
      "    c: {Dense: {out_channels: 12}}\n"
      "    e: {Dense: {out_channels: 3}}\n"
      "  construct: |\n"
      "    q, k, v = split(reshape(d(x), (-1, 2, 6)), 2, -1)\n"
      "    a = attention(q, k, v, num_heads=2)\n"
      "    v, k, q = split(reshape(c(x), (-1, 2, 6)), 2, -1)\n"
      "    b = attention(q, k, v, num_heads=2)\n"
      "    return e(reshape(a + b, (-1, 4)))\n",
      "forward  linear         d\n"
      "forward  attention      \n"
      "forward  linear         c\n"
      "forward  split          \n"
      "forward  attention      \n"
      "forward  add            \n"
      "forward  linear         e\n"
      "forward  cross_entropy  loss\n"
      "backward cross_entropy  loss\n"
      "backward linear         e +update(e.weight) +update(e.bias)\n"
      "backward add            \n"
      "backward attention      \n"
      "backward split          \n"
      "backward linear         c +update(c.weight) +update(c.bias)\n"
      "backward attention      \n"
      "backward linear         d +update(d.weight) +update(d.bias)\n",
      NULL },
};

static void check(const struct example *ex)
{
    struct shape shape = { .x = { .rank = 1, .dim = { 6 } }, .classes = 3 };
    struct cr_arena mem = { 0 };
    const char *text = cr_strf(&mem, "%s%s", ex->text, LOSS);
    struct made m;
    int train;

    if (strstr(ex->text, "x - y"))
        shape.x.dim[0] = 3;
    for (train = 0; train < 2; train++) {
        const char *want = train ? ex->training : ex->prediction;
        struct cr_exec_opts opts = { .training = train, .update = train };
        struct cr_exec *e;

        if (!want || !made_ok(&m, text, shape, 3))
            continue;
        e = made_exec(&m, opts);
        same(cr_exec_dump(e, NULL, &m.arena), want,
             cr_strf(&mem, "%s, %s", ex->name,
                     train ? "training" : "prediction"));
        cr_exec_free(e);
        made_free(&m);
    }
    cr_arena_free(&mem);
}

int main(void)
{
    size_t i;

    for (i = 0; i < CR_LEN(examples); i++)
        check(&examples[i]);
    return done();
}
