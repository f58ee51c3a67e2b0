/* BatchNorm in prediction, folded into the layer before it. */
#include "kernels/blas.h"
#include "nets.h"

#define RESIDUAL                                                             \
    "network:\n"                                                             \
    "  cells:\n"                                                             \
    "    c1: {Conv2d: {out_channels: 5, kernel_size: 3, has_bias: true}}\n"  \
    "    n1: BatchNorm2d\n"                                                  \
    "    relu: ReLU\n"                                                       \
    "    c2: {Conv2d: {out_channels: 3, kernel_size: 1}}\n"                  \
    "    n2: BatchNorm2d\n"                                                  \
    "    flat: Flatten\n"                                                    \
    "    fc: {Dense: {out_channels: 7}}\n"                                   \
    "    n3: BatchNorm1d\n"                                                  \
    "  construct: |\n"                                                       \
    "    y = relu(n1(c1(x)))\n"                                              \
    "    y = relu(n2(c2(y)) + x)\n"                                          \
    "    return n3(fc(flat(y)))\n"                                           \
    "loss: CrossEntropyLoss\n"                                               \
    "optimizer: {SGD: {learning_rate: 0.1}}\n"

static void train(struct made *m, int steps)
{
    struct cr_exec *e =
        made_exec(m, (struct cr_exec_opts){ .training = true, .update = true });
    int t;

    for (t = 1; t <= steps; t++) {
        cr_exec_forward(e, t);
        cr_exec_backward(e, 1, 0.1);
    }
    cr_exec_free(e);
}

static const cr_real *output(struct cr_exec *e, int64_t *n)
{
    struct cr_spec spec;
    const cr_real *y = cr_exec_output(e, &spec);

    *n = cr_count(&spec);
    return y;
}

static void residual(int64_t batch)
{
    struct shape shape = { .x = CR_SPEC(3, 6, 5), .classes = 7 };
    struct cr_exec *plain, *folded, *fixed;
    const cr_real *want, *got;
    cr_real *first = NULL;
    struct made m;
    int64_t n, k;
    int round;

    if (!made_ok(&m, RESIDUAL, shape, batch))
        return;
    train(&m, 3);
    plain = made_exec(&m, (struct cr_exec_opts){ .eager = true });
    folded = made_exec(&m, (struct cr_exec_opts){ 0 });
    fixed = made_exec(&m, (struct cr_exec_opts){ .const_params = true });
    ok(!strstr(cr_exec_dump(folded, NULL, &m.arena), "batch_norm") &&
           strstr(cr_exec_dump(plain, NULL, &m.arena), "batch_norm"),
       "no BatchNorm is left, batch %d", (int)batch);
    ok(!strstr(cr_exec_dump(folded, NULL, &m.arena), "prepare") &&
           !strstr(cr_exec_dump(fixed, NULL, &m.arena), "prepare") ==
               (!cr_blas_own() && strcmp(cr_blas(), "onednn") != 0),
       "weights are prepared once where they stay as they are");
    for (round = 0; round < 2; round++) {
        cr_exec_forward(plain, 1);
        cr_exec_forward(folded, 1);
        cr_exec_forward(fixed, 1);
        want = output(plain, &n);
        got = output(folded, &n);
        ok(case_near("output", got, want, n, 20 * CASE_TOLERANCE),
           "folded, the same output");
        got = output(fixed, &n);
        if (round == 0) {
            ok(case_near("output", got, want, n, 20 * CASE_TOLERANCE),
               "folded once, the same output");
            first = CR_NEWS(&m.arena, cr_real, n);
            memcpy(first, got, (size_t)n * sizeof *first);
            train(&m, 2); /* parameters and statistics move on */
            continue;
        }
        for (k = 0; k < n; k++)
            if (fabs((double)(got[k] - want[k])) > 1e-3)
                break;
        ok(k < n && memcmp(got, first, (size_t)n * sizeof *first) == 0,
           "folded once, it stays with what it saw first");
    }
    cr_exec_free(plain);
    cr_exec_free(folded);
    cr_exec_free(fixed);
    made_free(&m);
}

/* Networks whose folding differs from the layers apart where it is done
 * wrongly: the BatchNorm's channels are not the layer's, or the weight is
 * computed in the network. */
static const struct {
    const char *name, *text;
    struct shape shape;
    bool folds;
} networks[] = {
    { "channels are the second axis, features the last, of other lengths",
      "network: [{Dense: {out_channels: 5}}, BatchNorm1d, Flatten, {Dense: "
      "{out_channels: 3}}]\n",
      { .x = { .rank = 2, .dim = { 4, 6 } }, .classes = 3 },
      false },
    { "channels are the second axis, features the last, of one length",
      "network: [{Dense: {out_channels: 4}}, BatchNorm1d, Flatten, {Dense: "
      "{out_channels: 3}}]\n",
      { .x = { .rank = 2, .dim = { 4, 6 } }, .classes = 3 },
      false },
    { "Dense before BatchNorm2d",
      "network: [{Dense: {out_channels: 3}}, BatchNorm2d, Flatten, {Dense: "
      "{out_channels: 3}}]\n",
      { .x = { .rank = 3, .dim = { 3, 2, 6 } }, .classes = 3 },
      false },
    { "Dense before BatchNorm3d",
      "network: [{Dense: {out_channels: 2}}, BatchNorm3d, Flatten, {Dense: "
      "{out_channels: 3}}]\n",
      { .x = { .rank = 4, .dim = { 2, 2, 2, 3 } }, .classes = 3 },
      false },
    { "Conv1d",
      "network: [{Conv1d: {out_channels: 4, kernel_size: 3}}, BatchNorm1d, "
      "Flatten, {Dense: {out_channels: 3}}]\n",
      { .x = { .rank = 2, .dim = { 2, 4 } }, .classes = 3 },
      true },
    { "a BatchNorm after another",
      "network: [{Conv2d: {out_channels: 4, kernel_size: 3}}, BatchNorm2d, "
      "BatchNorm2d, Flatten, {Dense: {out_channels: 3}}, BatchNorm1d, "
      "BatchNorm1d]\n",
      { .x = { .rank = 3, .dim = { 2, 4, 3 } }, .classes = 3 },
      true },
    { "Conv3d",
      "network: [{Conv3d: {out_channels: 4, kernel_size: 3}}, BatchNorm3d, "
      "Flatten, {Dense: {out_channels: 3}}]\n",
      { .x = { .rank = 4, .dim = { 2, 4, 3, 3 } }, .classes = 3 },
      true },
    { "a weight that the network computes from its input",
      "network:\n"
      "  cells: {n: BatchNorm2d}\n"
      "  construct: \"return n(conv2d(x, concat((x[0:1], x[1:2]), 0)))\"\n",
      { .x = { .rank = 3, .dim = { 2, 3, 3 } }, .classes = 2 },
      true },
    { "a weight that the network computes from parameters",
      "network:\n"
      "  cells: {n: BatchNorm2d, w: {Parameter: {shape: [4, 2, 3, 3], init: "
      "Normal}}}\n"
      "  construct: \"return n(conv2d(x, w - mean(w)))\"\n",
      { .x = { .rank = 3, .dim = { 2, 5, 4 } }, .classes = 2 },
      true },
};

/* The moving statistics move on by forward passes alone. */
static void move_statistics(struct made *m)
{
    struct cr_exec *e = made_exec(m, (struct cr_exec_opts){ .training = true });
    int t;

    for (t = 1; t <= 3; t++)
        cr_exec_forward(e, t);
    cr_exec_free(e);
}

/* Two batches, one after the other: the second meets what was prepared for
 * the first. */
static void same_as_apart(size_t at, bool fixed)
{
    struct cr_exec *plain, *folded;
    const cr_real *got, *want;
    struct made m;
    int64_t n, k;
    int round;

    if (!made_ok(&m, networks[at].text, networks[at].shape, 3))
        return;
    move_statistics(&m);
    plain = made_exec(&m, (struct cr_exec_opts){ .eager = true });
    folded = made_exec(&m, (struct cr_exec_opts){ .const_params = fixed });
    ok(!strstr(cr_exec_dump(folded, NULL, &m.arena), "batch_norm") ==
           networks[at].folds,
       "%s: %s", networks[at].name,
       networks[at].folds ? "folded" : "not folded");
    for (round = 0; round < 2; round++) {
        cr_exec_forward(plain, 1);
        cr_exec_forward(folded, 1);
        want = output(plain, &n);
        got = output(folded, &k);
        ok(n == k && case_near("output", got, want, n, 20 * CASE_TOLERANCE),
           "%s%s: batch %d, the same output", networks[at].name,
           fixed ? ", prepared once" : "", round + 1);
        for (k = 0; k < 3 * cr_count(&networks[at].shape.x); k++)
            ((cr_real *)m.data[0])[k] *= (cr_real)(k % 3 == 0 ? -0.5 : 1.5);
    }
    cr_exec_free(plain);
    cr_exec_free(folded);
    made_free(&m);
}

/* A first batch that cannot be computed has prepared nothing. */
static void after_a_fault(void)
{
    static const char text[] =
        "network:\n"
        "  cells: {e: {Embedding: {vocab_size: 3, embedding_size: 4}}, d: "
        "{Dense: {out_channels: 2}}, n: BatchNorm1d}\n"
        "  construct: \"return n(d(e(cast(sum(x, 1), int32))))\"\n";
    struct shape shape = { .x = CR_SPEC(1), .classes = 2 };
    const cr_real *want, *got;
    struct cr_exec *plain, *fixed;
    struct made m;
    int64_t n, k;

    if (!made_ok(&m, text, shape, 2))
        return;
    plain = made_exec(&m, (struct cr_exec_opts){ .eager = true });
    fixed = made_exec(&m, (struct cr_exec_opts){ .const_params = true });
    ((cr_real *)m.data[0])[0] = 7;
    ((cr_real *)m.data[0])[1] = 1;
    cr_exec_forward(fixed, 1);
    ok(!cr_exec_check_faults(fixed, &m.diag),
       "an index out of range is reported");
    ((cr_real *)m.data[0])[0] = 2;
    cr_exec_forward(fixed, 1);
    cr_exec_forward(plain, 1);
    want = output(plain, &n);
    got = output(fixed, &k);
    ok(cr_exec_check_faults(fixed, &m.diag) && n == k &&
           case_near("output", got, want, n, 20 * CASE_TOLERANCE),
       "the batch after it is computed correctly");
    cr_exec_free(plain);
    cr_exec_free(fixed);
    made_free(&m);
}

/* What somebody else reads, or what is normalised by the batch, stays. */
static void not_folded(void)
{
    static const char *const texts[] = {
        "network:\n"
        "  cells: {c: {Conv2d: {out_channels: 3, kernel_size: 3}}, "
        "n: BatchNorm2d}\n"
        "  construct: |\n"
        "    y = c(x)\n"
        "    return n(y) + y\n",
        "network:\n"
        "  - Conv2d: {out_channels: 3, kernel_size: 3}\n"
        "  - BatchNorm2d: {num_features: 3, use_batch_statistics: true}\n",
        "network: [{Conv2d: {out_channels: 3, kernel_size: 3}}, ReLU, "
        "BatchNorm2d]\n",
    };
    struct shape shape = { .x = CR_SPEC(3, 6, 5), .classes = 2 };
    struct cr_exec *e;
    struct made m;
    size_t i;

    for (i = 0; i < CR_LEN(texts); i++) {
        if (!made_ok(&m, texts[i], shape, 2))
            continue;
        e = made_exec(&m, (struct cr_exec_opts){ 0 });
        ok(strstr(cr_exec_dump(e, NULL, &m.arena), "batch_norm") != NULL,
           "this one stays: %d", (int)i);
        cr_exec_free(e);
        made_free(&m);
    }
}

int main(void)
{
    size_t i;

    residual(4);
    residual(2);
    for (i = 0; i < CR_LEN(networks); i++) {
        same_as_apart(i, false);
        same_as_apart(i, true);
    }
    after_a_fault();
    not_folded();
    return done();
}
