/*
 * Running a plan: freezing, batch sizes, Dropout, threads, what is not
 * finite, clipped updates, labels out of range.
 */
#include "base/thread_pool.h"
#include "run/run.h"
#include "nets.h"

static const struct shape vector = { .x = { .rank = 1, .dim = { 6 } },
                                     .classes = 3 };
#define TWO                                                             \
    "network:\n  a: {Dense: [6, 5]}\n  r: ReLU\n  b: {Dense: [5, 3]}\n" \
    "loss: CrossEntropyLoss\n"
#define THREE                                                           \
    "network:\n  a: {Dense: [6, 5]}\n  r: ReLU\n  b: {Dense: [5, 4]}\n" \
    "  s: ReLU\n  c: {Dense: [4, 3]}\nloss: CrossEntropyLoss\n"
#define SGD "optimizer: {SGD: {learning_rate: 0.1}}\n"

static const struct cr_exec_opts update = { .training = true, .update = true };

static void steps(struct made *m, struct cr_exec_opts want, int from, int to)
{
    struct cr_exec *e = made_exec(m, want);
    int t;

    for (t = from; t <= to; t++) {
        cr_exec_forward(e, t);
        cr_exec_backward(e, 1, 0.1);
        if (want.separate_update)
            cr_exec_update(e, 1, 0.1);
    }
    cr_exec_free(e);
}

static bool param_same(struct made *a, struct made *b, const char *name)
{
    const struct cr_param *p = cr_net_param(a->net, name),
                          *q = cr_net_param(b->net, name);

    return memcmp(p->data, q->data, cr_bytes(&p->spec)) == 0;
}

/* ---- freezing ---- */

static void frozen_parameters(void)
{
    static const char *const names[] = { "a.weight", "a.bias",   "b.weight",
                                         "b.bias",   "c.weight", "c.bias" };
    struct made fresh, all, first, last;
    size_t i;

    if (!made_ok(&fresh, THREE SGD, vector, 5) ||
        !made_ok(&all, THREE SGD, vector, 5) ||
        !made_ok(&first, THREE SGD "freeze: {patterns: [\"a.*\"]}\n", vector,
                 5) ||
        !made_ok(&last, THREE SGD "freeze: {patterns: [\"c.* b.bias\"]}\n",
                 vector, 5))
        return;
    steps(&all, update, 1, 1);
    steps(&first, update, 1, 1);
    steps(&last, update, 1, 1);
    for (i = 0; i < CR_LEN(names); i++) {
        bool a = names[i][0] == 'a';
        bool c = names[i][0] == 'c' || i == 3;

        ok(param_same(&first, a ? &fresh : &all, names[i]), "a frozen: %s %s",
           names[i], a ? "stays" : "moves as ever");
        ok(param_same(&last, c ? &fresh : &all, names[i]),
           "c and b.bias frozen: %s %s", names[i],
           c ? "stays" : "moves as ever");
        ok(!param_same(&all, &fresh, names[i]), "none frozen: %s moves",
           names[i]);
    }
    same(cr_net_param(first.net, "a.weight")->frozen_reason, "frozen",
         "why it is not trained");
    made_free(&fresh);
    made_free(&all);
    made_free(&first);
    made_free(&last);
}

static void frozen_work(void)
{
    struct made m;
    struct cr_exec *e;
    const struct cr_pruned *cuts;
    const struct cr_cell_row *rows;
    int n, i;

    if (!made_ok(&m, THREE SGD "freeze: {patterns: [\"a.*\", \"b.*\"]}\n",
                 vector, 5))
        return;
    e = made_exec(&m, update);
    same(cr_exec_dump(e, NULL, &m.arena),
         "forward  linear         a +activation\n"
         "forward  linear         b +activation\n"
         "forward  linear         c\n"
         "forward  cross_entropy  loss\n"
         "backward cross_entropy  loss\n"
         "backward linear         c +update(c.weight) +update(c.bias)\n",
         "backward ends where nothing before is trained");
    cuts = cr_exec_pruned(e, &n);
    ok(n == 2 && strcmp(cuts[0].name, "a") == 0 &&
           strcmp(cuts[1].name, "b") == 0,
       "what was cut is listed");
    same(cuts[0].reason, "no trainable parameter in it or before it",
         "and why");
    rows = cr_net_cells(m.net, &n);
    for (i = 0; i < n; i++)
        if (strcmp(rows[i].name, "b") == 0)
            ok(rows[i].params == 24 && rows[i].trained == 0,
               "b has 24 parameters, none trained");
        else if (strcmp(rows[i].name, "c") == 0)
            ok(rows[i].params == 15 && rows[i].trained == 15,
               "c has 15, all trained");
    cr_exec_free(e);
    made_free(&m);
}

static void all_frozen(void)
{
    struct made m;
    struct cr_exec *e;
    int n;

    if (!made_ok(&m, TWO SGD "freeze: {patterns: \"*\"}\n", vector, 5))
        return;
    e = made_exec(&m, update);
    cr_exec_forward(e, 1);
    ok(cr_exec_backward(e, 1, 0.1) && e->n_steps == e->n_forward,
       "with all frozen the backward pass is empty");
    cr_exec_pruned(e, &n);
    ok(n > 0, "and the reason is given");
    cr_exec_free(e);
    made_free(&m);
}

/* ---- batches ---- */

static void batch_sizes(void)
{
    static const int64_t sizes[] = { 1, 3, 64 };
    struct cr_exec *e[CR_LEN(sizes)];
    struct made m;
    size_t i;

    if (!made_ok(&m, THREE, vector, 64))
        return;
    for (i = 0; i < CR_LEN(sizes); i++) {
        e[i] = made_exec(&m, (struct cr_exec_opts){ .batch = sizes[i] });
        cr_exec_forward(e[i], 0);
    }
    for (i = 0; i < CR_LEN(sizes); i++) {
        struct cr_spec spec, all;
        const cr_real *y = cr_exec_output(e[i], &spec);
        const cr_real *want = cr_exec_output(e[2], &all);

        ok(spec.rank == 2 && spec.dim[0] == sizes[i] && spec.dim[1] == 3 &&
               case_near("output", y, want, 3 * sizes[i], SAME_TOLERANCE),
           "a batch of %lld is the first rows of 64", (long long)sizes[i]);
    }
    for (i = 0; i < CR_LEN(sizes); i++)
        cr_exec_free(e[i]);
    made_free(&m);
}

/* A step on a short batch moves the same parameters. */
static void short_batch(void)
{
    struct made a, b;

    if (!made_ok(&a, TWO SGD, vector, 64) || !made_ok(&b, TWO SGD, vector, 3))
        return;
    steps(&a,
          (struct cr_exec_opts){ .training = true, .update = true, .batch = 3 },
          1, 2);
    steps(&b, update, 1, 2);
    ok(param_same(&a, &b, "a.weight") && param_same(&a, &b, "b.bias"),
       "a net built for 64 trains on 3 as one built for 3");
    made_free(&a);
    made_free(&b);
}

/* ---- Dropout ---- */

#define DROP "network: {d: {Dropout: {p: 0.25}}}\n"

static void dropout(void)
{
    const struct shape wide = { .x = { .rank = 1, .dim = { 1000 } },
                                .classes = 3 };
    struct cr_exec *train, *predict;
    struct cr_spec spec;
    const cr_real *y;
    cr_real *first;
    struct made m;
    int64_t i, n, zero = 0, wrong = 0, moved = 0;

    if (!made_ok(&m, DROP, wide, 100))
        return;
    train = made_exec(&m, (struct cr_exec_opts){ .training = true });
    predict = made_exec(&m, (struct cr_exec_opts){ 0 });
    cr_exec_forward(train, 1);
    y = cr_exec_output(train, &spec);
    n = cr_count(&spec);
    first = cr_alloc(&m.arena, (size_t)n, sizeof *first);
    memcpy(first, y, (size_t)n * sizeof *first);
    for (i = 0; i < n; i++) {
        cr_real x = ((cr_real *)m.data[0])[i];

        zero += y[i] == 0;
        wrong += y[i] != 0 &&
                 !case_close_to((double)y[i], (double)x / 0.75, SAME_TOLERANCE);
    }
    /* 100000 draws: 4 standard deviations are 0.0055 */
    ok(fabs((double)zero / (double)n - 0.25) < 0.0055, "%.4f are zeroed",
       (double)zero / (double)n);
    ok(wrong == 0, "the others are divided by 0.75");

    cr_thread_pool_start(2);
    cr_exec_forward(train, 1);
    ok(memcmp(first, y, (size_t)n * sizeof *first) == 0,
       "the same with 2 threads");
    cr_thread_pool_start(3);
    cr_exec_forward(train, 1);
    ok(memcmp(first, y, (size_t)n * sizeof *first) == 0,
       "the same with 3 threads");
    cr_thread_pool_start(1);

    cr_exec_forward(train, 2);
    for (i = 0; i < n; i++)
        moved += (first[i] == 0) != (y[i] == 0);
    /* independent masks differ with probability 2 * 0.25 * 0.75 */
    ok(fabs((double)moved / (double)n - 0.375) < 0.0062,
       "%.4f differ in the next update", (double)moved / (double)n);

    cr_exec_forward(predict, 1);
    ok(memcmp(cr_exec_output(predict, &spec), m.data[0],
              (size_t)n * sizeof *first) == 0,
       "nothing happens in prediction");
    cr_exec_free(train);
    cr_exec_free(predict);
    made_free(&m);
}

/* Two Dropouts in one network do not drop the same elements. */
static void dropout_keys(void)
{
    const struct shape wide = { .x = { .rank = 1, .dim = { 1000 } },
                                .classes = 3 };
    struct cr_exec *e;
    struct cr_spec spec;
    const cr_real *y;
    struct made m;
    int64_t i, n, zero = 0;

    if (!made_ok(&m, "network: [{Dropout: {p: 0.5}}, {Dropout: {p: 0.5}}]\n",
                 wide, 10))
        return;
    e = made_exec(&m, (struct cr_exec_opts){ .training = true });
    cr_exec_forward(e, 1);
    y = cr_exec_output(e, &spec);
    n = cr_count(&spec);
    for (i = 0; i < n; i++)
        zero += y[i] == 0;
    ok(fabs((double)zero / (double)n - 0.75) < 0.02,
       "two Dropouts have masks of their own: %.3f", (double)zero / (double)n);
    cr_exec_free(e);
    made_free(&m);
}

/* A mask belongs to a cell's name: cells before it change nothing. */
static void dropout_name(void)
{
    const struct shape wide = { .x = { .rank = 1, .dim = { 1000 } },
                                .classes = 3 };
    static const char *const texts[] = {
        "network: {d: {Dropout: {p: 0.5}}}\n",
        "network: {a: Identity, b: Flatten, d: {Dropout: {p: 0.5}}}\n",
    };
    struct cr_exec *e[2];
    const cr_real *y[2];
    struct cr_spec spec;
    struct made m[2];
    int i;

    for (i = 0; i < 2; i++) {
        if (!made_ok(&m[i], texts[i], wide, 3))
            return;
        e[i] = made_exec(&m[i], (struct cr_exec_opts){ .training = true });
        cr_exec_forward(e[i], 1);
        y[i] = cr_exec_output(e[i], &spec);
    }
    ok(memcmp(y[0], y[1], cr_bytes(&spec)) == 0,
       "a Dropout's mask does not depend on other cells");
    for (i = 0; i < 2; i++) {
        cr_exec_free(e[i]);
        made_free(&m[i]);
    }
}

/* ---- threads ---- */

static void threads(void)
{
    static const int counts[] = { 1, 2, 3 };
    const char *text =
        "network: [Flatten, {Dense: [784, 128]}, ReLU, {Dropout: {p: 0.1}}, "
        "{Dense: [128, 64]}, GELU, {Dense: [64, 10]}]\n"
        "loss: CrossEntropyLoss\n" SGD;
    const struct shape image = { .x = { .rank = 3, .dim = { 1, 28, 28 } },
                                 .classes = 10 };
    cr_real *params[CR_LEN(counts)] = { NULL };
    struct made m[CR_LEN(counts)];
    int64_t n = 0;
    size_t i;

    for (i = 0; i < CR_LEN(counts); i++) {
        if (!made_ok(&m[i], text, image, 33))
            return;
        cr_thread_pool_start(counts[i]);
        steps(&m[i], update, 1, 3);
        params[i] = made_params(&m[i], &n);
    }
    cr_thread_pool_start(1);
    for (i = 1; i < CR_LEN(counts) && cr_blas_own(); i++)
        ok(memcmp(params[0], params[i], (size_t)n * sizeof(cr_real)) == 0,
           "%d threads give the bytes of one", counts[i]);
    for (i = 0; i < CR_LEN(counts); i++)
        made_free(&m[i]);
}

/* ---- what is not finite ---- */

static void culprits(void)
{
    struct made m;
    struct cr_nonfinite found;
    struct cr_exec *e;
    cr_real *before, *w;
    int64_t n;

    if (!made_ok(&m, THREE SGD, vector, 5))
        return;
    e = made_exec(&m, update);
    cr_exec_forward(e, 1);
    same(cr_exec_first_nonfinite(e, 0).name, "", "all is finite");

    w = cr_net_param(m.net, "b.bias")->data;
    w[1] = (cr_real)INFINITY;
    cr_exec_forward(e, 1);
    ok(!isfinite(cr_exec_loss(e)), "the loss is not");
    same(cr_exec_first_nonfinite(e, 0).name, "b",
         "the first cell that is not finite");
    same(cr_exec_first_nonfinite(e, 0).type, "Dense", "its type");
    before = made_params(&m, &n);
    ok(!cr_exec_backward(e, 1, 0.1), "backward reports it");
    ok(memcmp(before, made_params(&m, &n), (size_t)n * sizeof *before) == 0,
       "and nothing is updated");
    same(cr_net_nonfinite(m.net).name, "b.bias",
         "a parameter that is not finite");
    w[1] = 0;
    same(cr_net_nonfinite(m.net).name, "", "all parameters are finite");

    ((cr_real *)m.data[0])[7] = (cr_real)NAN;
    cr_exec_forward(e, 1);
    ok(isnan(cr_exec_loss(e)), "NaN in the data reaches the loss");
    same(cr_exec_first_nonfinite(e, 0).name, "a",
         "and the first cell is named");
    same(cr_exec_bad_column(e), "x", "and the column");
    ((cr_real *)m.data[0])[7] = 0;
    cr_exec_forward(e, 1);
    found = cr_exec_first_nonfinite(e, INFINITY);
    ok(found.backward && strcmp(found.name, "c") == 0,
       "the first gradient that is not finite arrives at the last cell");
    cr_exec_free(e);
    made_free(&m);
}

static void loss_overflows(void)
{
    struct made m;
    struct cr_exec *e;

    if (!made_ok(&m, "network: {a: {Dense: [6, 4]}}\nloss: MSELoss\n" SGD,
                 (struct shape){ .x = { .rank = 1, .dim = { 6 } },
                                 .label = { .rank = 1, .dim = { 4 } } },
                 2))
        return;
    ((cr_real *)m.data[1])[0] = (cr_real)(sizeof(cr_real) == 4 ? 1e30 : 1e200);
    e = made_exec(&m, update);
    cr_exec_forward(e, 1);
    ok(!isfinite(cr_exec_loss(e)), "a loss that overflows");
    same(cr_exec_first_nonfinite(e, 0).name, "the loss",
         "when all cells are finite");
    cr_exec_free(e);
    made_free(&m);
}

/* Nothing is updated, parameters of the loss included, when some gradient of
 * the loss is not finite. */
static void loss_parameters(void)
{
    static const char *const optims[] = {
        "SGD: {learning_rate: 0.1}",
        "Momentum: {learning_rate: 0.1, momentum: 0.9}",
    };
    static const struct {
        const char *name, *loss;
        double sens;
    } cases[] = {
        { "the gradient of the output",
          "cells: {p: {Dense: [4, 3]}}, construct: "
          "\"return mean(square(p(y)))\"",
          INFINITY },
        { "the gradient of a parameter of the loss alone",
          "cells: {s: {Parameter: {shape: [1], init: Zero}}}, construct: "
          "\"return mean(y * y) + sum(s()) * 1e30\"",
          sizeof(cr_real) == 4 ? 1e10 : 1e300 },
    };

    for (size_t i = 0; i < CR_LEN(optims) * CR_LEN(cases); i++) {
        const char *optim = optims[i % CR_LEN(optims)];
        size_t k = i / CR_LEN(optims);
        struct made m;
        struct cr_exec *e;
        cr_real *before;
        int64_t n;
        char text[512];

        snprintf(text, sizeof text,
                 "network: {a: {Dense: [6, 4]}}\nloss: {inputs: [y, label], "
                 "%s}\noptimizer: {%s}\n",
                 cases[k].loss, optim);
        if (!made_ok(&m, text,
                     (struct shape){ .x = { .rank = 1, .dim = { 6 } },
                                     .label = { .rank = 1, .dim = { 4 } } },
                     2))
            return;
        e = made_exec(&m, update);
        before = made_params(&m, &n);
        cr_exec_forward(e, 1);
        ok(!cr_exec_backward(e, cases[k].sens, 0.1) &&
               memcmp(before, made_params(&m, &n),
                      (size_t)n * sizeof *before) == 0,
           "%s is not finite: no parameter is updated by %.3s", cases[k].name,
           optim);
        before = made_params(&m, &n);
        cr_exec_forward(e, 1);
        ok(cr_exec_backward(e, 1, 0.1) &&
               memcmp(before, made_params(&m, &n),
                      (size_t)n * sizeof *before) != 0,
           "the next finite step updates them, %.3s", optim);
        cr_exec_free(e);
        made_free(&m);
    }
}

/* A plan that keeps gradients computes all of them, finite or not. */
static void kept_not_finite(void)
{
    struct made m;
    struct cr_exec *e;
    const struct cr_tensor *t;
    bool computed = true;
    int n, grads = 0;

    if (!made_ok(&m, THREE SGD, vector, 5))
        return;
    e = made_exec(&m, (struct cr_exec_opts){ .training = true,
                                             .backward = true,
                                             .keep_outputs = true });
    memset(e->block, 0x5a, e->bytes + e->scratch);
    cr_exec_forward(e, 1);
    ok(!cr_exec_backward(e, INFINITY, 0), "a kept plan reports the gradient");
    t = cr_exec_kept(e, &n);
    for (int i = 0; i < n; i++) {
        const unsigned char *byte = t[i].data;
        bool filled = false;

        if (!cr_starts(t[i].name, "grad."))
            continue;
        grads++;
        for (size_t k = 0; k < cr_bytes(&t[i].spec); k++)
            filled = filled || byte[k] != 0x5a;
        computed = computed && filled;
    }
    ok(computed && grads == 11, "all %d gradients are computed", grads);
    cr_exec_free(e);
    made_free(&m);
}

/* ---- the gradient's scale ---- */

static void norm_and_scale(void)
{
    struct made m, by_hand;
    struct cr_exec *e, *k;
    const struct cr_tensor *t;
    double sum = 0, norm;
    int64_t j, n;
    int i, count;
    cr_real *a, *b;

    if (!made_ok(&m, TWO SGD, vector, 5) ||
        !made_ok(&by_hand, TWO SGD, vector, 5))
        return;
    k = made_exec(&by_hand, (struct cr_exec_opts){ .training = true,
                                                   .backward = true,
                                                   .keep_outputs = true });
    cr_exec_forward(k, 1);
    cr_exec_backward(k, 1, 0);
    t = cr_exec_kept(k, &count);
    for (i = 0; i < count; i++) {
        struct cr_param *p;

        if (!cr_starts(t[i].name, "grad.") ||
            cr_starts(t[i].name, "grad.output"))
            continue;
        p = cr_net_param(by_hand.net, t[i].name + strlen("grad."));
        for (j = 0; j < cr_count(&t[i].spec); j++) {
            cr_real g = ((cr_real *)t[i].data)[j];

            sum += (double)g * (double)g;
            p->data[j] -= (cr_real)(0.1 * 0.5) * g;
        }
    }
    e = made_exec(&m, (struct cr_exec_opts){ .training = true,
                                             .update = true,
                                             .separate_update = true });
    cr_exec_forward(e, 1);
    cr_exec_backward(e, 1, 0.1);
    norm = cr_exec_norm(e);
    ok(case_close_to(norm, sqrt(sum), SAME_TOLERANCE),
       "the norm of all gradients is %g", norm);
    cr_exec_update(e, 0.5, 0.1);
    a = made_params(&m, &n);
    b = made_params(&by_hand, &n);
    ok(case_near("parameter", a, b, n, SAME_TOLERANCE),
       "an update at half the gradient");
    cr_exec_forward(e, 1);
    cr_exec_backward(e, 1, 0.1);
    norm = cr_exec_norm(e);
    cr_exec_forward(e, 1);
    cr_exec_backward(e, 8, 0.1);
    ok(case_close_to(cr_exec_norm(e), 8 * norm, SAME_TOLERANCE),
       "sens multiplies the gradient");
    cr_exec_free(e);
    cr_exec_free(k);
    made_free(&m);
    made_free(&by_hand);
}

/* ---- micro-batches ---- */

/* Two micro-batches of the same samples, at half the gradient, are one. */
static void accumulated(void)
{
    struct made one, two;
    struct cr_exec_opts want = { .training = true,
                                 .update = true,
                                 .separate_update = true };
    struct cr_exec *e;
    cr_real *a, *b;
    int64_t n;

    if (!made_ok(&one, TWO SGD, vector, 5) ||
        !made_ok(&two, TWO SGD, vector, 5))
        return;
    steps(&one, want, 1, 2);
    cr_net_grad_accum(two.net, 2);
    e = made_exec(&two, want);
    for (int t = 1; t <= 4; t++) {
        cr_exec_forward(e, t);
        cr_exec_backward(e, 1, 0.1);
        cr_exec_accumulate(e);
        if (t % 2 == 0)
            cr_exec_update(e, 0.5, 0.1);
    }
    a = made_params(&one, &n);
    b = made_params(&two, &n);
    ok(case_near("parameter", a, b, n, SAME_TOLERANCE),
       "two halves are a whole");
    cr_exec_free(e);
    made_free(&one);
    made_free(&two);
}

/* ---- labels ---- */

static void labels(void)
{
    static const int64_t samples[] = { 40, 41, 42, 43, 44 };
    struct made m;
    struct cr_exec *e;
    int32_t *label;

    if (!made_ok(&m,
                 "network: {Dense: [6, 3]}\nloss: {CrossEntropyLoss: "
                 "{ignore_index: -1}}\n",
                 vector, 5))
        return;
    e = made_exec(&m, (struct cr_exec_opts){ .training = true, .loss = true });
    label = m.data[1];
    label[2] = -1;
    ok(cr_exec_check(e, &m.diag, samples), "good labels, and an ignored one");
    label[3] = 3;
    ok(!cr_exec_check(e, &m.diag, samples) &&
           m.diag.first->code == CR_E_DATA_RANGE,
       "a label too large");
    same(m.diag.first->text,
         "column 'label' of sample 43 is 3, expected 0 to 2",
         "column, value and sample");
    label[3] = -2;
    ok(!cr_exec_check(e, &m.diag, NULL), "a label below 0");
    cr_exec_free(e);
    made_free(&m);
}

int main(void)
{
    frozen_parameters();
    frozen_work();
    all_frozen();
    batch_sizes();
    short_batch();
    dropout();
    dropout_keys();
    dropout_name();
    threads();
    culprits();
    loss_overflows();
    loss_parameters();
    kept_not_finite();
    norm_and_scale();
    accumulated();
    labels();
    cr_thread_pool_stop();
    return done();
}
