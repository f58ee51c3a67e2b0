/* BatchNorm in prediction, folded into the layer in front of it. */
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
    struct cr_exec *e = made_exec(
        m, (struct cr_exec_want){ .training = true, .update = true });
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
    plain = made_exec(&m, (struct cr_exec_want){ .eager = true });
    folded = made_exec(&m, (struct cr_exec_want){ 0 });
    fixed = made_exec(&m, (struct cr_exec_want){ .fixed = true });
    ok(!strstr(cr_exec_list(folded, &m.arena), "batch_norm") &&
           strstr(cr_exec_list(plain, &m.arena), "batch_norm"),
       "no BatchNorm is left, batch %d", (int)batch);
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
        e = made_exec(&m, (struct cr_exec_want){ 0 });
        ok(strstr(cr_exec_list(e, &m.arena), "batch_norm") != NULL,
           "this one stays: %d", (int)i);
        cr_exec_free(e);
        made_free(&m);
    }
}

int main(void)
{
    residual(4);
    residual(2);
    not_folded();
    return done();
}
