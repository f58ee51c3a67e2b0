/*
 * Plans: the fused, pruned, in-place one gives the numbers of the plain one,
 * whatever the mode.
 */
#include "base/thread_pool.h"
#include "run/run.h"
#include "plan_examples.h"

#include <math.h>

/* ---- the same numbers in every mode ---- */

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
            ok(!strstr(cr_exec_dump(e, NULL, &m[k].arena), "update(0.weight)"),
               "no product alone updates what two write to");
        cr_exec_free(e);
    }
    for (k = 0; k < CR_LEN(modes); k++)
        made_free(&m[k]);
}

/* ---- plans that run in turn ---- */

/* Training and two predictions by turns, one of which computes what depends on
 * parameters alone once; all their results, one after another. */
static void by_turns(const struct example *ex, bool in_turn, struct cr_buf *to)
{
    struct cr_exec_opts want[3] = { { .training = true, .update = true },
                                    { 0 },
                                    { .const_params = true } };
    struct cr_exec *e[3];
    struct cr_spec spec;
    struct made m;
    int t, k;

    if (!made_ok(&m, ex->text, ex->shape, 3))
        return;
    for (k = 0; k < 3; k++) {
        want[k].in_turn = in_turn;
        e[k] = made_exec(&m, want[k]);
    }
    for (t = 1; t <= 6; t++)
        for (k = 0; k < 3; k++) {
            const cr_real *y;

            if (k == 0 ? t > 2 : k == 2 && t < 3)
                continue; /* parameters change before that one alone */
            cr_exec_forward(e[k], t);
            y = cr_exec_output(e[k], &spec);
            cr_buf_add(to, (const char *)y,
                       (size_t)cr_count(&spec) * sizeof *y);
            if (k == 0)
                cr_exec_backward(e[0], 1, 0.1);
        }
    ok((e[0]->block == e[1]->block) == in_turn &&
           (e[0]->block == e[2]->block) == in_turn,
       "%s: %s", ex->name, in_turn ? "one memory" : "each its own");
    for (k = 0; k < 3; k++)
        cr_exec_free(e[k]);
    ok(!m.net->rooms, "%s: the last one frees it", ex->name);
    made_free(&m);
}

static void in_turn(const struct example *ex)
{
    struct cr_arena arena = { 0 };
    struct cr_buf apart = { .arena = &arena }, together = { .arena = &arena };

    by_turns(ex, false, &apart);
    by_turns(ex, true, &together);
    ok(apart.len > 0 && apart.len == together.len &&
           memcmp(apart.text, together.text, apart.len) == 0,
       "%s: the same bytes by turns in one memory", ex->name);
    cr_arena_free(&arena);
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
    same(cr_exec_dump(e, NULL, &m.arena),
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
    same(cr_exec_dump(e, NULL, &m.arena),
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
    size_t i;

    for (i = 0; i < CR_LEN(examples); i++) {
        test_begin("%s: all ways to run agree", examples[i].name);
        check_modes(&examples[i], 3);
        check_modes(&examples[i], 1);
        check_grads(&examples[i], 3);
        check_grads(&examples[i], 1);
    }
    test_begin("%s: all ways to run agree, batch 64", examples[0].name);
    check_modes(&examples[0], 64);
    setenv("CELLRUN_VERIFY", "1", 1); /* NaNs where another plan has been */
    for (i = 0; i < CR_LEN(examples); i++) {
        test_begin("%s: plans in one memory", examples[i].name);
        in_turn(&examples[i]);
    }
    test_begin("what is not finite is noticed in every way to run");
    not_finite();
    test_begin("shared parameters are updated once in every way to run");
    shared();
    test_end();
    the_list();
    return done();
}
