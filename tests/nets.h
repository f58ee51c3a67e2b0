/*
 * Networks for tests: from config text to a net, its data and its plans.
 */
#ifndef CR_TESTS_NETS_H
#define CR_TESTS_NETS_H

#include "case.h"
#include "graph/net.h"
#include "train/optim.h"

#include <stdlib.h>

/* A network with columns x and label, and one batch of data for each. */
struct made {
    struct cr_arena arena;
    struct cr_diag diag;
    struct cr_config *config;
    struct cr_column columns[2];
    struct cr_net *net; /* NULL: reported in diag */
    int64_t batch;
    void *data[2];
};

/* Data: x is random, labels are classes below `classes`, or random numbers
 * of the shape of one sample, `label`. */
struct shape {
    struct cr_spec x, label;
    int64_t classes; /* 0: label is real */
};

__attribute__((unused)) static void made_free(struct made *m)
{
    cr_arena_free(&m->arena);
}

static inline void *made_data(struct made *m, const struct cr_spec *spec,
                              int64_t batch, uint64_t key, int64_t classes)
{
    int64_t i, n = batch * cr_count(spec);
    void *data = cr_alloc(&m->arena, (size_t)n + 16, 8);

    for (i = 0; i < n; i++)
        case_put(spec, data, i,
                 classes ? (double)((7 * i + (int64_t)key) % classes)
                         : case_random(key, i));
    return data;
}

/* Builds; false after printing what is wrong, unless that is expected. */
__attribute__((unused)) static bool make(struct made *m, const char *text,
                                         struct shape s, int64_t batch)
{
    const struct cr_config_from from = { .text = text,
                                         .text_name = "test",
                                         .text_dir = "." };
    struct cr_net_opts want = { .columns = m->columns,
                                .n_columns = 2,
                                .batch = batch,
                                .seed = 5,
                                .classes = s.classes };
    struct cr_optim_use use;

    memset(m, 0, sizeof *m);
    m->diag.arena = &m->arena;
    m->batch = batch;
    if (s.classes)
        s.label.type = CR_I32;
    m->columns[0] = (struct cr_column){ "x", s.x };
    m->columns[1] = (struct cr_column){ "label", s.label };
    m->data[0] = made_data(m, &s.x, batch, 1, 0);
    m->data[1] = made_data(m, &s.label, batch, 2, s.classes);
    m->config = cr_config_load(&m->arena, &m->diag, &from);
    if (!m->config || m->diag.errors > 0)
        return false;
    want.loss = cr_section(m->config, "loss") != NULL;
    m->net = cr_net_build(m->config, &want);
    return m->net && (!cr_section(m->config, "optimizer") ||
                      cr_optim_rule(m->config, m->net, false, &use));
}

/* make, for a text that must be right. */
__attribute__((unused)) static bool made_ok(struct made *m, const char *text,
                                            struct shape s, int64_t batch)
{
    bool good = make(m, text, s, batch);

    if (!good) {
        cr_diag_print(&m->diag, stdout, (struct cr_diag_format){ 0 });
        ok(false, "this can be built:\n# %.60s ...", text);
    }
    return good;
}

static inline struct cr_exec *made_exec(struct made *m,
                                        struct cr_exec_opts want)
{
    struct cr_exec *e;

    if (!want.batch)
        want.batch = m->batch;
    e = cr_net_exec(m->net, &want);
    if (e) {
        cr_exec_feed(e, 0, m->data[0]);
        cr_exec_feed(e, 1, m->data[1]);
    }
    return e;
}

/* All parameters one after the other. */
static inline cr_real *made_params(struct made *m, int64_t *n)
{
    const struct cr_param *p;
    cr_real *all;
    int i, count;

    p = cr_net_params(m->net, &count);
    for (*n = 0, i = 0; i < count; i++)
        *n += cr_count(&p[i].spec);
    all = cr_alloc(&m->arena, (size_t)*n + 1, sizeof *all);
    for (*n = 0, i = 0; i < count; i++) {
        memcpy(all + *n, p[i].data, cr_bytes(&p[i].spec));
        *n += cr_count(&p[i].spec);
    }
    return all;
}

static inline double made_loss(struct made *m, struct cr_exec *e)
{
    (void)m;
    cr_exec_forward(e, 1);
    return cr_exec_loss(e);
}

/* The gradient of a parameter as a keep plan has it; NULL: it has none. */
static inline const cr_real *kept(struct cr_exec *e, const char *name)
{
    const struct cr_tensor *t;
    int i, n;

    t = cr_exec_kept(e, &n);
    for (i = 0; i < n; i++)
        if (strcmp(t[i].name, name) == 0)
            return t[i].data;
    return NULL;
}

#ifdef CR_DOUBLE
#define NETS_STEP 1e-5
#define NETS_TOLERANCE 1e-7
#define SAME_TOLERANCE 1e-12
#else
#define NETS_STEP 1e-2
#define NETS_TOLERANCE 1e-2
#define SAME_TOLERANCE 1e-5
#endif

/* The sum over the loss's elements: what backward differentiates. */
static inline double loss_sum(struct made *m, struct cr_exec *e)
{
    const struct cr_tensor *t;
    double sum = 0;
    int64_t k;
    int i, n;

    cr_exec_forward(e, 1);
    t = cr_exec_kept(e, &n);
    for (i = 0; i < n; i++)
        if (strcmp(t[i].name, "loss") == 0)
            for (k = 0; k < cr_count(&t[i].spec); k++)
                sum += (double)((const cr_real *)t[i].data)[k];
    (void)m;
    return sum;
}

/* Every element of n numbers that the loss depends on, against `g`. */
static inline bool made_differences(struct made *m, struct cr_exec *e,
                                    const char *what, cr_real *x,
                                    const cr_real *g, int64_t n)
{
    int64_t i;

    for (i = 0; i < n; i++) {
        cr_real old = x[i], high = (cr_real)((double)old + NETS_STEP),
                low = (cr_real)((double)old - NETS_STEP);
        double up, down, want;

        x[i] = high;
        up = loss_sum(m, e);
        x[i] = low;
        down = loss_sum(m, e);
        x[i] = old;
        want = (up - down) / ((double)high - (double)low);
        if (!case_close_to((double)g[i], want, NETS_TOLERANCE)) {
            printf("# gradient of %s[%lld] is %.12g, should be %.12g\n", what,
                   (long long)i, (double)g[i], want);
            return false;
        }
    }
    return true;
}

/* The gradients of all parameters against differences of the loss. */
__attribute__((unused)) static bool made_gradients(struct made *m)
{
    struct cr_exec *e =
        made_exec(m, (struct cr_exec_opts){ .training = true,
                                            .loss = true,
                                            .backward = true,
                                            .keep_outputs = true });
    struct cr_param *p;
    cr_real **g;
    bool good = true;
    int i, n;

    if (!e)
        return false;
    cr_exec_forward(e, 1);
    cr_exec_backward(e, 1, 0);
    p = cr_net_params(m->net, &n);
    g = CR_NEWS(&m->arena, cr_real *, n + 1);
    for (i = 0; i < n; i++) { /* the next forward writes over them */
        const cr_real *at = kept(e, cr_strf(&m->arena, "grad.%s", p[i].name));

        if (at) {
            g[i] = cr_alloc(&m->arena, 1, cr_bytes(&p[i].spec));
            memcpy(g[i], at, cr_bytes(&p[i].spec));
        } else if (p[i].trained) {
            printf("# %s has no gradient\n", p[i].name);
            good = false;
        }
    }
    for (i = 0; i < n && good; i++)
        good = !g[i] || made_differences(m, e, p[i].name, p[i].data, g[i],
                                         cr_count(&p[i].spec));
    cr_exec_free(e);
    return good;
}

/* Dropout alone and after a ReLU, sums, a layer that is its own addend. */
#define DROPS_AND_ADDS \
    "network:\n" \
    "  cells:\n" \
    "    a: {Dense: {out_channels: 6}}\n" \
    "    b: {Dense: {out_channels: 8}}\n" \
    "    c: {Dense: {out_channels: 6}}\n" \
    "    d: {Dense: {out_channels: 6}}\n" \
    "    e: {Dense: {out_channels: 3}}\n" \
    "    p: {Dropout: {p: 0.3}}\n" \
    "    q: {Dropout: {p: 0.5}}\n" \
    "    n: {LayerNorm: {normalized_shape: [6]}}\n" \
    "  construct: |\n" \
    "    h = a(x)\n" \
    "    h = h + q(c(p(relu(b(n(h))))))\n" \
    "    h = h + d(h)\n" \
    "    return e(q(relu(d(h))) + x)\n"

/* In low precision a bias is added to a product that is rounded. */
#define LATE_BIASES \
    "network:\n" \
    "  cells:\n" \
    "    v: {Parameter: {shape: [6, 6]}}\n" \
    "    w: {Parameter: {shape: [6, 6]}}\n" \
    "    b: {Parameter: {shape: [6]}}\n" \
    "    e: {Dense: {out_channels: 3}}\n" \
    "    q: {Dropout: {p: 0.4}}\n" \
    "  construct: |\n" \
    "    h = x + q(linear(x, v) + b)\n" \
    "    h = h + (b + linear(h, w))\n" \
    "    return e(relu(linear(h, v) + b))\n"

#endif
