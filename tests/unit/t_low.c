/* Low precision: what a plan fuses gives the bytes of the steps apart. */
#include "run/run.h"
#include "nets.h"

#define CE "loss: CrossEntropyLoss\n"
#define SGD "optimizer: {SGD: {learning_rate: 0.1}}\n"
#define AMP(level) "amp: {level: " level ", dtype: bfloat16}\n"
#define MLP                                                     \
    "network: [Flatten, {Dense: [20, 17]}, ReLU, {Dense: [17, " \
    "19]}, ReLU, {Dense: [19, 10]}]\n" CE

struct example {
    const char *name, *text;
};

static const struct example examples[] = {
    { "O2", MLP SGD AMP("O2") },
    { "O1", MLP SGD AMP("O1") },
    { "O3", MLP SGD AMP("O3") },
    { "auto", MLP SGD AMP("auto") },
    { "float16, which has no such products",
      MLP SGD "amp: {level: O2, dtype: float16}\n" },
    { "nothing between",
      "network: [Flatten, {Dense: [20, 17]}, {Dense: [17, 11]}, {Dense: [11, "
      "10]}]\n" CE SGD AMP("O2") },
    { "one cell",
      "network: [Flatten, {Dense: [20, 17]}, ReLU, {Dense: [17, 10], to_float: "
      "bfloat16}]\n" CE SGD },
    { "one cell in float32",
      MLP SGD "amp: {level: O2, dtype: bfloat16, cast: {float32: \"3\"}}\n" },
    { "momentum and weight decay",
      MLP "optimizer: {SGD: {learning_rate: 0.1, momentum: 0.9, weight_decay: "
          "0.01}}\n" AMP("O2") },
    { "Adam", MLP "optimizer: Adam\n" AMP("O3") },
    { "no offset",
      "network: [Flatten, {Dense: {out_channels: 9, has_bias: false}}, ReLU, "
      "{Dense: {out_channels: 10, has_bias: false}}]\n" CE SGD AMP("O2") },
    { "activations, and views between",
      "network: [{Dense: {out_channels: 6, activation: relu}}, Flatten, Tanh, "
      "{Dense: {out_channels: 13, activation: tanh}}, ReLU, ReLU, {Dense: "
      "{out_channels: 10}}, Flatten]\n" CE SGD AMP("O2") },
    { "activations of float16",
      "network: [{Dense: {out_channels: 6, activation: tanh}}, Sigmoid, "
      "Flatten, Softmax, GELU, {Dense: {out_channels: 10}}, LogSoftmax]\n" CE
          SGD "amp: {level: O3, dtype: float16}\n" },
    { "attention", "network:\n"
                   "  cells:\n"
                   "    e: {TransformerEncoderLayer: {d_model: 10, nhead: 2, "
                   "dim_feedforward: 7, dropout: 0.2, batch_first: true}}\n"
                   "    d: {Dense: {out_channels: 10}}\n"
                   "  construct: |\n"
                   "    y = e(reshape(x, (-1, 2, 10)))\n"
                   "    return d(flatten(y))\n" CE SGD AMP("O2") },
    { "attention in two bytes",
      "network:\n"
      "  cells:\n"
      "    a: {Dense: [20, 192]}\n"
      "    m: {MultiheadAttention: {embed_dim: 24, num_heads: 3, dropout: "
      "0.2, batch_first: true}}\n"
      "    d: {Dense: {out_channels: 10}}\n"
      "  construct: |\n"
      "    y = reshape(a(flatten(x)), (-1, 8, 24))\n"
      "    y = m(y, y, y)[0]\n"
      "    return d(flatten(y))\n" CE SGD "amp: {level: O2, dtype: "
      "bfloat16, loss_scale: {StaticLossScaler: 1}}\n" },
    { "attention in two bytes, auto",
      "network:\n"
      "  cells:\n"
      "    a: {Dense: [20, 192]}\n"
      "    m: {MultiheadAttention: {embed_dim: 24, num_heads: 3, dropout: "
      "0.2, batch_first: true}}\n"
      "    d: {Dense: {out_channels: 10}}\n"
      "  construct: |\n"
      "    y = reshape(a(flatten(x)), (-1, 8, 24))\n"
      "    y = m(y, y, y)[0]\n"
      "    return d(flatten(y))\n" CE SGD "amp: {level: auto, dtype: "
      "float16, loss_scale: {StaticLossScaler: 1}}\n" },
    { "attention in two bytes, of others",
      "network:\n"
      "  cells:\n"
      "    a: {Dense: [20, 192]}\n"
      "    m: {MultiheadAttention: {embed_dim: 24, num_heads: 3, dropout: "
      "0.2, batch_first: true}}\n"
      "    d: {Dense: {out_channels: 10}}\n"
      "  construct: |\n"
      "    y = reshape(a(flatten(x)), (-1, 8, 24))\n"
      "    z = y[:, :5] * 2\n"
      "    y, w = m(y, z, z)\n"
      "    y = w @ (y[:, :5] + z)\n"
      "    return d(flatten(y))\n" CE SGD "amp: {level: O3, dtype: "
      "float16, loss_scale: {StaticLossScaler: 1}}\n" },
    { "the function attention in two bytes",
      "network:\n"
      "  cells: {a: {Dense: [20, 576]}, d: {Dense: {out_channels: 10}}}\n"
      "  construct: |\n"
      "    y = reshape(a(flatten(x)), (-1, 8, 72))\n"
      "    y = attention(y, num_heads=3, dropout=0.2)\n"
      "    return d(flatten(y))\n" CE SGD "amp: {level: O2, dtype: "
      "float16, loss_scale: {StaticLossScaler: 1}}\n" },
    { "ReLU first and last, Dropout, LayerNorm",
      "network: [Flatten, ReLU, {Dense: [20, 12]}, LayerNorm, {Dropout: {p: "
      "0.3}}, {Dense: [12, 10]}, ReLU]\n" CE SGD AMP("O2") },
    { "a value that two layers read, and a sum",
      "network:\n"
      "  cells: {flat: Flatten, a: {Dense: {out_channels: 7}}, b: {Dense: "
      "{out_channels: 7}}, c: {Dense: {out_channels: 10}}}\n"
      "  construct: |\n"
      "    x = flat(x)\n"
      "    y = relu(a(x)) + b(x)\n"
      "    return c(relu(y)) + c(y)\n" CE SGD AMP("O2") },
    { "a layer after itself",
      "network:\n"
      "  cells: {flat: Flatten, a: {Dense: [20, 20]}, b: {Dense: "
      "{out_channels: 10}}}\n"
      "  construct: \"return b(relu(a(relu(a(flat(x))))))\"\n" CE SGD AMP(
          "O3") },
    { "products of values",
      "network:\n"
      "  cells: {a: {Dense: {out_channels: 6}}, b: {Dense: {out_channels: 6}}, "
      "flat: Flatten, c: {Dense: {out_channels: 10}}}\n"
      "  construct: |\n"
      "    y = matmul(a(x), transpose(b(x), (0, 1, 3, 2)))\n"
      "    return c(flat(matmul(y, x)))\n" CE SGD AMP("O2") },
    { "a backward of its own that reads it all",
      "network:\n"
      "  - Flatten\n"
      "  - {Dense: [20, 20]}\n"
      "  - cells: {a: {Dense: [20, 20]}}\n"
      "    construct: return a(x)\n"
      "    bprop: return a(dout + x)\n"
      "  - {Dense: {out_channels: 10}}\n" CE SGD AMP("O2") },
    { "the first layer frozen, and a weight",
      MLP SGD AMP("O2") "freeze: {patterns: \"1.* 3.weight\"}\n" },
};

static const struct shape image = { .x = { .rank = 3, .dim = { 1, 4, 5 } },
                                    .classes = 10 };

/* Updates from the same start; the parameters then. */
static cr_real *train(struct made *m, const struct example *ex, int64_t batch,
                      int updates, struct cr_exec_opts want, int64_t *n)
{
    struct cr_exec *e;
    int t;

    if (!made_ok(m, ex->text, image, batch))
        return NULL;
    want.training = want.update = true;
    e = made_exec(m, want);
    for (t = 1; t <= updates; t++) {
        cr_exec_forward(e, t);
        ok(cr_exec_backward(e, 1, 0.1), "%s, update %d", ex->name, t);
        if (want.separate_update)
            cr_exec_update(e, 1, 0.1);
    }
    cr_exec_free(e);
    return made_params(m, n);
}

/* Products that update their weight round once less, so they are compared
 * after one update, before that meets the next rounding. */
static void check(const struct example *ex, int64_t batch)
{
    const struct cr_exec_opts eager = { .eager = true,
                                        .separate_update = true };
    struct made m[4];
    const cr_real *apart, *fused;
    int64_t n, k;

    apart = train(&m[0], ex, batch, 4, eager, &n);
    fused = train(&m[1], ex, batch, 4,
                  (struct cr_exec_opts){ .separate_update = true }, &k);
    ok(apart && fused && n == k &&
           memcmp(apart, fused, (size_t)n * sizeof *apart) == 0,
       "%s, batch %d: fused, the same bytes", ex->name, (int)batch);
    apart = train(&m[2], ex, batch, 1, eager, &n);
    fused = train(&m[3], ex, batch, 1, (struct cr_exec_opts){ 0 }, &k);
    ok(apart && fused && n == k &&
           case_near("parameter", fused, apart, n, SAME_TOLERANCE),
       "%s, batch %d: updated directly", ex->name, (int)batch);
    for (k = 0; k < 4; k++)
        made_free(&m[k]);
}

static void check_predict(const struct example *ex)
{
    struct cr_exec *e[2];
    struct cr_spec spec;
    struct made m;

    if (!made_ok(&m, ex->text, image, 3))
        return;
    e[0] = made_exec(&m, (struct cr_exec_opts){ .eager = true });
    e[1] = made_exec(&m, (struct cr_exec_opts){ 0 });
    cr_exec_forward(e[0], 1);
    cr_exec_forward(e[1], 1);
    ok(case_near("output", cr_exec_output(e[1], &spec),
                 cr_exec_output(e[0], &spec), cr_count(&spec), SAME_TOLERANCE),
       "%s, prediction", ex->name);
    cr_exec_free(e[0]);
    cr_exec_free(e[1]);
    made_free(&m);
}

/* What is left of the `half` steps of the first example. */
static const char *const list =
    "forward  fake_cast      0\n"
    "forward  fake_cast      1\n"
    "forward  linear         1 +fake_cast(x1) +fake_cast(y) +activation\n"
    "forward  fake_cast      3\n"
    "forward  linear         3 +fake_cast(x1) +fake_cast(y) +activation\n"
    "forward  fake_cast      5\n"
    "forward  linear         5 +fake_cast(x1) +fake_cast(y)\n"
    "forward  cross_entropy  loss\n"
    "backward cross_entropy  loss\n"
    "backward fake_cast      \n"
    "backward linear         5 +fake_cast(dx0) +fake_cast(dx1) +mask "
    "+update(5.weight)\n"
    "backward fake_cast      5\n"
    "update                  5.bias\n"
    "backward linear         3 +fake_cast(dx0) +fake_cast(dx1) +mask "
    "+update(3.weight)\n"
    "backward fake_cast      3\n"
    "update                  3.bias\n"
    "backward linear         1 +fake_cast(dx1) +update(1.weight)\n"
    "backward fake_cast      1\n"
    "update                  1.bias\n";

static void the_list(void)
{
    struct cr_exec *e;
    struct made m;

    if (!cr_gemm_low()) {
        ok(true, "# SKIP no instructions for bfloat16, or not allowed");
        return;
    }
    if (!made_ok(&m, examples[0].text, image, 3))
        return;
    e = made_exec(&m,
                  (struct cr_exec_opts){ .training = true, .update = true });
    same(cr_exec_dump(e, NULL, &m.arena), list,
         "a weight is rounded where it is read, a result where it is made");
    cr_exec_free(e);
    made_free(&m);
}

int main(void)
{
    size_t i;

    for (i = 0; i < CR_LEN(examples); i++) {
        test_begin("%s: the same fused and unfused", examples[i].name);
        check(&examples[i], 5);
        check(&examples[i], 1);
        check_predict(&examples[i]);
    }
    test_end();
    the_list();
    return done();
}
