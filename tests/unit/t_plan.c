/*
 * Plans: the fused, pruned, in-place one gives the numbers of the plain one,
 * whatever the mode; memory is shared only by what does not live together.
 */
#include "base/thread_pool.h"
#include "run/run.h"
#include "nets.h"

#include <math.h>
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

/* ---- the same numbers in every mode ---- */

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

struct result {
    double loss[4];
    cr_real *params;
    int64_t n;
};

/* Four updates from the same start. */
static bool train(struct made *m, const struct example *ex, int64_t batch,
                  struct cr_exec_opts want, struct result *to)
{
    struct cr_exec *e;
    int t;

    *to = (struct result){ 0 };
    if (!made_ok(m, ex->text, ex->shape, batch))
        return false;
    want.training = want.update = true;
    e = made_exec(m, want);
    if (!e)
        return false;
    for (t = 1; t <= 4; t++) {
        cr_exec_forward(e, t);
        to->loss[t - 1] = cr_exec_loss(e);
        if (!cr_exec_backward(e, 1, 0.1))
            break;
        if (want.separate_update)
            cr_exec_update(e, 1, 0.1);
    }
    to->params = made_params(m, &to->n);
    cr_exec_free(e);
    return t == 5;
}

static void check_modes(const struct example *ex, int64_t batch)
{
    struct made m[CR_LEN(modes)];
    struct result r[CR_LEN(modes)];
    size_t k;
    int t;

    for (k = 0; k < CR_LEN(modes); k++) {
        bool good;

        passes_set(&modes[k]);
        good = train(&m[k], ex, batch, modes[k].want, &r[k]);

        for (t = 0; t < 4 && good && k > 0; t++)
            if (!case_close_to(r[k].loss[t], r[0].loss[t], SAME_TOLERANCE)) {
                printf("# loss %d is %.12g, should be %.12g\n", t, r[k].loss[t],
                       r[0].loss[t]);
                good = false;
            }
        if (good && k > 0)
            good = r[k].n == r[0].n &&
                   case_near("parameter", r[k].params, r[0].params, r[0].n,
                             SAME_TOLERANCE);
        ok(good, "%s, batch %lld, %s", ex->name, (long long)batch,
           modes[k].name);
    }
    unsetenv("CELLRUN_PASSES");
    for (k = 0; k < CR_LEN(modes); k++)
        made_free(&m[k]);
}

/* ---- the same gradients and statistics in every mode ---- */

static const cr_real *grad_of(const struct made *m, struct cr_exec *e,
                              int param)
{
    const struct cr_val *v =
        param < e->graph->cap_params ? e->graph->params[param] : NULL;
    struct cr_pval *g =
        v && m->net->params[param].trained ? e->of[v->id]->grad : NULL;

    return g ? cr_pval_base(g)->data : NULL;
}

static bool same_grads(const struct made *m, struct cr_exec *e,
                       const struct made *to, struct cr_exec *eager)
{
    bool good = m->net->n_params == to->net->n_params;
    int i;

    for (i = 0; i < m->net->n_params && good; i++) {
        const struct cr_param *p = &m->net->params[i];
        const struct cr_param *q = &to->net->params[i];
        const cr_real *a = grad_of(m, e, i), *b = grad_of(to, eager, i);

        if (!a != !b) {
            printf("# only one mode has a gradient of %s\n", p->name);
            return false;
        }
        good = !a || case_near(p->name, a, b, cr_count(&p->spec),
                               SAME_TOLERANCE);
        good = good && case_near(p->name, p->data, q->data,
                                 cr_count(&p->spec), SAME_TOLERANCE);
    }
    return good;
}

static void check_grads(const struct example *ex, int64_t batch)
{
    struct cr_exec *e[CR_LEN(modes)];
    struct made m[CR_LEN(modes)];
    size_t k;

    for (k = 0; k < CR_LEN(modes); k++) {
        struct cr_exec_opts want = modes[k].want;

        want.training = want.backward = want.separate_update = true;
        e[k] = made_ok(&m[k], ex->text, ex->shape, batch)
                   ? made_exec(&m[k], want)
                   : NULL;
        if (!e[k])
            return;
        cr_exec_forward(e[k], 1);
        ok(cr_exec_backward(e[k], 1, 0) &&
               case_close_to(cr_exec_loss(e[k]), cr_exec_loss(e[0]),
                             SAME_TOLERANCE) &&
               same_grads(&m[k], e[k], &m[0], e[0]),
           "%s, batch %lld, gradients, %s", ex->name, (long long)batch,
           modes[k].name);
    }
    for (k = 0; k < CR_LEN(modes); k++) {
        cr_exec_free(e[k]);
        made_free(&m[k]);
    }
}

/* A gradient that is not finite stops before any update, also where the last
 * cells compute in another layout than the loss. */
static void not_finite(void)
{
    static const struct shape shape = {
        .x = { .rank = 3, .dim = { 16, 9, 8 } },
        .label = { .rank = 3, .dim = { 16, 9, 8 } },
    };
    size_t k;

    for (k = 0; k < CR_LEN(modes); k++) {
        struct cr_exec_opts want = modes[k].want;
        struct cr_exec *e;
        struct made m;

        if (!made_ok(&m,
                     "network: [{Conv2d: {out_channels: 16, kernel_size: 3}}, "
                     "ReLU]\nloss: MSELoss\n" SGD,
                     shape, 3))
            return;
        want.training = want.update = true;
        e = made_exec(&m, want);
        cr_exec_forward(e, 1);
        ok(!cr_exec_backward(e, INFINITY, 0.1) &&
               !*cr_net_nonfinite(m.net).name,
           "a gradient that is not finite, %s", modes[k].name);
        cr_exec_free(e);
        made_free(&m);
    }
}

/* ---- what several cells share ---- */

static struct cr_opnode *node_at(struct cr_net *net, int index)
{
    struct cr_opnode *n = net->graph->nodes;

    while (index-- > 0)
        n = n->next;
    return n;
}

/* The second layer takes the weight of the first, and the loss compares the
 * output with what the first one gives: both have two readers. */
static bool share(struct made *m)
{
    static const struct shape shape = { .x = { .rank = 1, .dim = { 6 } },
                                        .label = { .rank = 1, .dim = { 6 } } };

    if (!made_ok(m,
                 "network: [{Dense: [6, 6]}, ReLU, {Dense: [6, 6]}, ReLU, "
                 "{Dense: [6, 6]}]\nloss: MSELoss\n" SGD,
                 shape, 3))
        return false;
    node_at(m->net, 2)->in[1] = node_at(m->net, 0)->in[1];
    m->net->graph->loss->producer->in[1] = node_at(m->net, 0)->out[0];
    return true;
}

static void shared(void)
{
    cr_real *params[CR_LEN(modes)] = { NULL };
    struct made m[CR_LEN(modes)];
    int64_t n = 0;
    size_t k;
    int t;

    for (k = 0; k < CR_LEN(modes); k++) {
        struct cr_exec_opts want = modes[k].want;
        struct cr_exec *e;

        if (!share(&m[k]))
            return;
        want.training = want.update = true;
        e = made_exec(&m[k], want);
        for (t = 1; t <= 3; t++) {
            cr_exec_forward(e, t);
            cr_exec_backward(e, 1, 0.1);
            if (want.separate_update)
                cr_exec_update(e, 1, 0.1);
        }
        params[k] = made_params(&m[k], &n);
        ok(case_near("parameter", params[k], params[0], n, SAME_TOLERANCE),
           "a weight and a value with two readers, %s", modes[k].name);
        if (k == 1)
            ok(!strstr(cr_exec_dump(e, &m[k].arena), "update(0.weight)"),
               "no product alone updates what two write to");
        cr_exec_free(e);
    }
    for (k = 0; k < CR_LEN(modes); k++)
        made_free(&m[k]);
}

/* ---- memory ---- */

struct life {
    int first, last;
};

static void live_at(struct life *life, struct cr_pval *val, int step)
{
    struct life *l;

    if (!val)
        return;
    l = &life[cr_pval_base(val)->id];
    if (l->first < 0)
        l->first = step;
    l->last = step;
}

static void live_operands(struct life *life, const struct cr_operand *o, int n,
                          int step)
{
    for (int k = 0; o && k < n; k++)
        live_at(life, o[k].val, step);
}

/* When each buffer is touched, from the list of steps alone. */
static void find_lives(const struct cr_exec *e, struct life *life)
{
    int i, k;

    for (i = 0; i < e->n_vals; i++)
        life[i] = (struct life){ -1, -1 };
    for (i = 0; i < e->n_steps; i++) {
        const struct cr_exec_step *s = e->steps[i];

        if (i == e->n_forward && e->loss)
            live_at(life, e->loss->grad, i); /* written from outside */
        live_operands(life, s->x, s->n_in, i);
        live_operands(life, s->mask, s->n_in, i);
        live_operands(life, s->dy, s->n_out, i);
        live_operands(life, s->read_y, s->n_out, i);
        for (k = 0; s->y && k < s->n_out; k++)
            live_at(life, s->y[k], i);
        for (k = 0; s->dx && k < s->n_in; k++)
            live_at(life, s->dx[k], i);
        live_at(life, s->saved, i);
        live_at(life, s->read_saved.val, i);
    }
    /* read from outside, after forward or after all */
    live_at(life, e->outputs[0], e->n_steps);
    live_at(life, e->loss, e->n_steps);
}

/* Whether a buffer is placed before another: the larger one is, or of equal
 * ones that of lower index. */
static bool placed_before(const struct cr_pval *a, const struct cr_pval *b)
{
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->id < b->id;
}

static bool is_buffer(const struct cr_pval *v)
{
    return v->feed < 0 && v->param < 0 && !v->alias && v->first >= 0;
}

/* Whether v at that offset meets none of those that are placed before it. */
static bool is_free(const struct cr_exec *e, const struct cr_pval *v, size_t at)
{
    for (const struct cr_pval *o = e->vals; o; o = o->next)
        if (is_buffer(o) && placed_before(o, v) && o->first <= v->last &&
            v->first <= o->last && o->offset < at + v->bytes &&
            at < o->offset + o->bytes)
            return false;
    return true;
}

/* Whether every buffer is at the lowest offset that is free for it: 0, or
 * after one of those placed before it. Compared by trying all of them. */
static bool lowest(const struct cr_exec *e)
{
    for (const struct cr_pval *v = e->vals, *o; v; v = v->next) {
        size_t at = is_buffer(v) && is_free(e, v, 0) ? 0 : SIZE_MAX;

        if (!is_buffer(v))
            continue;
        for (o = e->vals; o && at > 0; o = o->next) {
            size_t end = (o->offset + o->bytes + 63) / 64 * 64;

            if (is_buffer(o) && placed_before(o, v) && end < at &&
                is_free(e, v, end))
                at = end;
        }
        if (v->offset != at) {
            printf("# value %d is at %zu, could at %zu\n", v->id, v->offset,
                   at);
            return false;
        }
    }
    return true;
}

static void check_memory(const struct example *ex, int64_t batch,
                         struct cr_exec_opts want, const char *mode)
{
    struct made m;
    struct cr_exec *e;
    struct life *life;
    const struct cr_pval *a, *b;
    bool apart = true, inside = true;
    int i, k, buffers = 0;

    want.training = want.update = true;
    if (!made_ok(&m, ex->text, ex->shape, batch))
        return;
    e = made_exec(&m, want);
    life = CR_NEWS(&m.arena, struct life, e->n_vals + 1);
    find_lives(e, life);
    for (a = e->vals; a; a = a->next) {
        i = a->id;
        if (life[i].first < 0 || a->feed >= 0 || a->param >= 0)
            continue;
        buffers++;
        inside = inside && a->offset % 64 == 0 &&
                 a->offset + a->bytes <= e->bytes &&
                 a->data == e->block + a->offset;
        for (b = e->vals; b != a; b = b->next) {
            k = b->id;
            if (life[k].first < 0 || b->feed >= 0 || b->param >= 0 ||
                life[i].last < life[k].first || life[k].last < life[i].first)
                continue;
            if (a->offset < b->offset + b->bytes &&
                b->offset < a->offset + a->bytes) {
                printf("# values %d and %d share memory\n", k, i);
                apart = false;
            }
        }
    }
    ok(apart && inside && lowest(e),
       "%s, %s: %d buffers, none on another, each as low as it can be",
       ex->name, mode, buffers);
    cr_exec_free(e);
    made_free(&m);
}

static void saves_memory(void)
{
    struct made m;
    struct cr_exec *fused, *eager;
    size_t lean, all;

    if (!made_ok(&m, examples[0].text, examples[0].shape, 64))
        return;
    fused = made_exec(
        &m, (struct cr_exec_opts){ .training = true, .update = true });
    eager =
        made_exec(&m, (struct cr_exec_opts){
                          .training = true, .update = true, .eager = true });
    lean = cr_exec_bytes(fused) - cr_exec_thread_scratch(fused);
    all = cr_exec_bytes(eager) - cr_exec_thread_scratch(eager);
    ok(lean < all * 2 / 3,
       "a plan needs %zu bytes, eager %zu, both without the kernels' scratch",
       lean, all);
    cr_exec_free(fused);
    cr_exec_free(eager);
    made_free(&m);
}

/* Gradients of an lstm's gates lie where the gates were: of 40 numbers per
 * sample and step that many come in, 40 and 20 are kept, 10 go out. */
static void lstm_memory(void)
{
    const struct example ex = {
        "lstm",
        "network:\n"
        "  cells:\n"
        "    a: {LSTM: {hidden_size: 10, batch_first: true}}\n"
        "    d: {Dense: {out_channels: 3}}\n"
        "  construct: |\n"
        "    y, last = a(reshape(x, (-1, 20, 2)))\n"
        "    return d(flatten(y))\n" CE SGD,
        { .x = { .rank = 1, .dim = { 40 } }, .classes = 3 }
    };
    size_t bytes, gates = sizeof(cr_real) * 64 * 20 * 40;
    struct made m;
    struct cr_exec *e;

    if (!made_ok(&m, ex.text, ex.shape, 64))
        return;
    e = made_exec(&m,
                  (struct cr_exec_opts){ .training = true, .update = true });
    bytes = cr_exec_bytes(e) - cr_exec_thread_scratch(e);
    ok(3 * bytes < 10 * gates, "an lstm's step needs %zu bytes, its gates %zu",
       bytes, gates);
    cr_exec_free(e);
    made_free(&m);
}

/* ---- the list of steps ---- */

static void the_list(void)
{
    struct made m;
    struct cr_exec *e;

    if (!made_ok(&m, examples[0].text, examples[0].shape, 3))
        return;
    e = made_exec(&m,
                  (struct cr_exec_opts){ .training = true, .update = true });
    same(cr_exec_dump(e, &m.arena),
         "forward  linear         dense_relu_sequential.0 +activation\n"
         "forward  linear         dense_relu_sequential.2 +activation\n"
         "forward  linear         dense_relu_sequential.4\n"
         "forward  cross_entropy  loss\n"
         "backward cross_entropy  loss\n"
         "backward linear         dense_relu_sequential.4 +mask "
         "+update(dense_relu_sequential.4.weight) "
         "+update(dense_relu_sequential.4.bias)\n"
         "backward linear         dense_relu_sequential.2 +mask "
         "+update(dense_relu_sequential.2.weight) "
         "+update(dense_relu_sequential.2.bias)\n"
         "backward linear         dense_relu_sequential.0 "
         "+update(dense_relu_sequential.0.weight) "
         "+update(dense_relu_sequential.0.bias)\n",
         "the seed network's step: eight products and two more");
    /* 853 forward, as many for weights, 513 for the input */
    ok(cr_exec_macs(e) == 3 * (853 + 853 + 513), "its multiply-adds: %.0f",
       cr_exec_macs(e));
    cr_exec_free(e);
    e = made_exec(&m, (struct cr_exec_opts){ 0 });
    same(cr_exec_dump(e, &m.arena),
         "forward  linear         dense_relu_sequential.0 +activation\n"
         "forward  linear         dense_relu_sequential.2 +activation\n"
         "forward  linear         dense_relu_sequential.4\n",
         "its prediction: three products");
    ok(cr_exec_macs(e) == 3 * 853, "their multiply-adds: %.0f",
       cr_exec_macs(e));
    cr_exec_free(e);
    made_free(&m);
}

int main(void)
{
    size_t i, k;

    for (i = 0; i < CR_LEN(examples); i++) {
        test_begin("%s: all ways to run agree", examples[i].name);
        check_modes(&examples[i], 3);
        check_modes(&examples[i], 1);
        check_grads(&examples[i], 3);
        check_grads(&examples[i], 1);
        for (k = 0; k < CR_LEN(modes); k++) {
            passes_set(&modes[k]);
            check_memory(&examples[i], 5, modes[k].want, modes[k].name);
        }
        unsetenv("CELLRUN_PASSES");
    }
    test_begin("%s: all ways to run agree, batch 64", examples[0].name);
    check_modes(&examples[0], 64);
    test_begin("what is not finite is noticed in every way to run");
    not_finite();
    test_begin("shared parameters are updated once in every way to run");
    shared();
    test_end();
    saves_memory();
    lstm_memory();
    the_list();
    return done();
}
