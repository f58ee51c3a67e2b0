/*
 * One network through plans that keep every value and through those that
 * users run (run/plans.h): training, evaluation and prediction, several
 * consecutive batches. Both must give the same outputs, losses, gradients,
 * parameters, statistics and slots: the same bytes, but for parameters that a
 * product updates and factors that it contains, which round once less, and for
 * biases, BatchNorm and additions that are done in the layer before them.
 * (Plans of --eager may choose other kernels.)
 *
 * Such a difference counts in parts of what rounding may do: `tolerance` times
 * the largest element of the tensor, and a part of the largest gradient where
 * gradients are summed. What differs by a kink (a ReLU at 0, the larger of two
 * equal values) does so in one batch, an error in the plan in most.
 */
#ifndef CR_TESTS_PLANS_H
#define CR_TESTS_PLANS_H

#include <math.h>
#include <stdlib.h>

#include "base/str.h"
#include "ckpt/checkpoint.h"
#include "graph/net.h"
#include "kernels/blas.h"
#include "num/rng.h"
#include "run/plans.h"
#include "train/optim.h"

#define PLANS_BATCHES 3
#define PLANS_COLUMNS 4

/* To be set: all but what the functions here make. */
struct plans {
    struct cr_arena *arena;
    struct cr_config *config;
    struct cr_net *net;
    const struct cr_optim_use *optim; /* NULL: no rule, so no update */
    int n_columns;
    int64_t batch;
    void *data[PLANS_BATCHES][PLANS_COLUMNS];
    bool loss, metrics;
    int micro;  /* batches of an update; more than one: gradients
                   are apart in all plans; 0 is 1 */
    bool eager; /* plans of --eager too, whose kernels may be
                   others */
    double tolerance;
    bool finite; /* an output that is not finite ends the comparison, too */
    /* What was found. */
    int64_t compared, equal; /* tensors; of these, of the same bytes */
    double largest;          /* part of the tolerance */
    const char *largest_at;
    bool exact;        /* what is compared now has the same bytes */
    int apart;         /* batches in which something differs */
    const char *first; /* what; NULL: nothing */
    bool odd;          /* a loss or gradient is not finite */
    size_t room;       /* of a thread's kernels: the most that a plan counts */
    /* The state before a step: parameters, statistics, slots. */
    struct cr_tensor *state;
    int n_state;
};

/* What one batch gave. */
struct plans_gave {
    struct cr_tensor *tensor;
    int n;
    double gradient; /* the largest one of a parameter */
};

/* ---- State */

static inline struct cr_tensor plans_copy(struct cr_arena *arena,
                                          const struct cr_tensor *from)
{
    struct cr_tensor to = *from;

    to.data = cr_alloc(arena, cr_bytes(&from->spec) + 1, 1);
    memcpy(to.data, from->data, cr_bytes(&from->spec));
    return to;
}

static inline void plans_save(struct plans *p)
{
    int n_params, n_slots, i;
    const struct cr_param *param = cr_net_params(p->net, &n_params);
    const struct cr_tensor *slot = cr_net_slots(p->net, &n_slots);

    p->state = CR_NEWS(p->arena, struct cr_tensor, n_params + n_slots + 1);
    p->n_state = 0;
    for (i = 0; i < n_params; i++) {
        struct cr_tensor t = { cr_strf(p->arena, "param.%s", param[i].name),
                               param[i].spec, param[i].data };

        p->state[p->n_state++] = plans_copy(p->arena, &t);
    }
    for (i = 0; i < n_slots; i++) {
        struct cr_tensor t = { cr_strf(p->arena, "slot.%s", slot[i].name),
                               slot[i].spec, slot[i].data };

        p->state[p->n_state++] = plans_copy(p->arena, &t);
    }
}

/* Where tensor i of the state is in the network. */
static inline void *plans_place(struct plans *p, int i)
{
    int n_params, n_slots;
    const struct cr_param *param = cr_net_params(p->net, &n_params);
    const struct cr_tensor *slot = cr_net_slots(p->net, &n_slots);

    return i < n_params ? (void *)param[i].data : slot[i - n_params].data;
}

static inline void plans_restore(struct plans *p, const struct cr_tensor *state)
{
    for (int i = 0; i < p->n_state; i++)
        memcpy(plans_place(p, i), state[i].data, cr_bytes(&state[i].spec));
}

/* ---- Comparing */

static inline double plans_largest(const struct cr_tensor *t)
{
    int64_t i, n = cr_count(&t->spec);
    double most = 0;

    for (i = 0; i < n && t->spec.type == CR_REAL; i++)
        most = fmax(most, fabs((double)((const cr_real *)t->data)[i]));
    return most;
}

/* Whether `got` is what it should be, but for rounding; `gradient`: the
 * largest one that may have gone in. */
static inline bool plans_same(struct plans *p, const char *where,
                              const struct cr_tensor *got,
                              const struct cr_tensor *want, double gradient)
{
    double bound =
        p->tolerance * (plans_largest(want) + 0.01 * gradient + 1e-6);
    struct cr_tensor_diff apart;
    double part;

    p->compared++;
    if (!cr_spec_same(&got->spec, &want->spec)) {
        p->first =
            cr_strf(p->arena, "%s: %s has another shape", where, want->name);
        return false;
    }
    if (memcmp(got->data, want->data, cr_bytes(&want->spec)) == 0) {
        p->equal++;
        return true;
    }
    cr_tensor_diff(&got->spec, got->data, want->spec.type, want->data, 0, bound,
                   &apart);
    part = apart.deviation / bound;
    /* libraries promise no bytes; and what has low precision goes to kernels of
     * ours, but only in plans that fuse */
    if (p->exact && cr_blas_own()) {
        if (!p->first)
            p->first = cr_strf(p->arena, "%s: the bytes of %s differ, by %.3g",
                               where, want->name, apart.deviation);
        return false;
    }
    if (part > p->largest) {
        p->largest = part;
        p->largest_at = cr_strf(p->arena, "%s: %s", where, want->name);
    }
    if (part <= 1)
        return true;
    if (!p->first)
        p->first = cr_strf(p->arena,
                           "%s: %s is %.9g at element %lld, should be %.9g; "
                           "its largest is %.3g",
                           where, want->name, apart.a, (long long)apart.at,
                           apart.b, plans_largest(want));
    return false;
}

static inline const struct cr_tensor *plans_find(const struct cr_tensor *in,
                                                 int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(in[i].name, name) == 0)
            return &in[i];
    return NULL;
}

/* Whether it is the gradient of a parameter. */
static inline bool plans_is_grad(const char *name)
{
    return cr_starts(name, "grad.") && !cr_starts(name, "grad.output.");
}

/* What metric i gives, which is a block. */
static inline struct cr_tensor plans_judged(struct plans *p, struct cr_exec *e,
                                            int i)
{
    struct cr_tensor t = { .name = cr_strf(p->arena, "metric %d", i) };

    t.data = (void *)(uintptr_t)cr_exec_metric(e, i, &t.spec);
    return t;
}

/* All that a plan gives, against the plan that keeps all. */
static inline bool plans_all_same(struct plans *p, const char *where,
                                  struct cr_exec *e,
                                  const struct plans_gave *want, bool grads,
                                  bool eager)
{
    const struct cr_tensor *got, *ref;
    bool good = true;
    int i, n;

    got = cr_exec_kept(e, &n);
    for (i = 0; i < want->n && grads; i++)
        if (plans_is_grad(want->tensor[i].name) &&
            !plans_find(got, n, want->tensor[i].name)) {
            p->first = cr_strf(p->arena, "%s: %s is missing", where,
                               want->tensor[i].name);
            good = false;
        }
    for (i = 0; i < n; i++) {
        bool grad = plans_is_grad(got[i].name);

        ref = plans_find(want->tensor, want->n, got[i].name);
        /* gradients that are not needed; outputs of cells, which are those
         * after the update where the cell is a parameter that nothing copies */
        if (eager && (!ref || cr_starts(got[i].name, "output.")))
            continue;
        if (!ref) {
            p->first = cr_strf(p->arena, "%s: %s is given here alone", where,
                               got[i].name);
            good = false;
        } else {
            good =
                plans_same(p, where, &got[i], ref, grad ? want->gradient : 0) &&
                good;
        }
    }
    for (i = 0; i < cr_exec_metrics(e); i++) {
        struct cr_tensor t = plans_judged(p, e, i);

        good = plans_same(p, where, &t,
                          plans_find(want->tensor, want->n, t.name), 0) &&
               good;
    }
    return good;
}

/* The network's state as it is, against the state after the keep plan. */
static inline bool plans_state_same(struct plans *p, const char *where,
                                    double gradient, bool direct)
{
    bool good = true, exact = p->exact;

    for (int i = 0; i < p->n_state; i++) {
        struct cr_tensor now = p->state[i];

        now.data = plans_place(p, i);
        p->exact = exact && !(direct && cr_starts(now.name, "param."));
        good = plans_same(p, where, &now, &p->state[i], gradient) && good;
    }
    return good;
}

static inline struct plans_gave plans_gave(struct plans *p, struct cr_exec *e)
{
    struct plans_gave gave = { 0 };
    const struct cr_tensor *kept = cr_exec_kept(e, &gave.n);
    int metrics = cr_exec_metrics(e);

    gave.tensor = CR_NEWS(p->arena, struct cr_tensor, gave.n + metrics + 1);
    for (int i = 0; i < metrics; i++) {
        struct cr_tensor t = plans_judged(p, e, i);

        gave.tensor[gave.n + i] = plans_copy(p->arena, &t);
    }
    for (int i = 0; i < gave.n; i++) {
        gave.tensor[i] = plans_copy(p->arena, &kept[i]);
        if (plans_is_grad(kept[i].name))
            gave.gradient = fmax(gave.gradient, plans_largest(&kept[i]));
    }
    gave.n += metrics;
    return gave;
}

/* Whether all numbers are. */
static inline bool plans_finite(const struct plans_gave *gave)
{
    for (int i = 0; i < gave->n; i++)
        if (!isfinite(plans_largest(&gave->tensor[i])))
            return false;
    return true;
}

/* ---- Running */

static inline void plans_forward(struct plans *p, struct cr_exec *e, int batch,
                                 int64_t t)
{
    for (int c = 0; c < p->n_columns; c++)
        cr_exec_feed(e, c, p->data[batch][c]);
    cr_exec_forward(e, t);
    p->odd = p->odd || !cr_exec_check_faults(e, p->config->diag);
}

/* A step of a plan of training, with its update if there is a rule. */
static inline bool plans_step(struct plans *p, struct cr_exec *e,
                              const struct cr_exec_opts *want, int batch,
                              int64_t t)
{
    double lr = p->optim ? cr_optim_lr(p->optim, p->net, t - 1) : 0;
    int micro = p->micro > 1 ? p->micro : 1;

    for (int k = 0; k < micro; k++) {
        plans_forward(p, e, (batch + k) % PLANS_BATCHES,
                      (t - 1) * micro + k + 1);
        if (!cr_exec_backward(e, 1, lr))
            return false;
        if (want->separate_update && want->update)
            cr_exec_accumulate(e);
    }
    if (want->separate_update && want->update)
        cr_exec_update(e, 1, lr);
    return true;
}

#define PLANS_TRAIN 3 /* ways in which train plans a step */

static inline bool plans_make(struct plans *p, struct cr_exec **e,
                              const struct cr_exec_opts *want)
{
    *e = cr_net_exec(p->net, want);
    if (!*e)
        p->first = "a plan cannot be made";
    else if (cr_exec_thread_scratch(*e) > p->room)
        p->room = cr_exec_thread_scratch(*e);
    return *e != NULL;
}

/* Whether a factor has become part of a product, which rounds once less, or a
 * sum its bias, whose gradient is added up in another order. */
static inline bool plans_scaled(const struct cr_exec *e, struct cr_arena *arena)
{
    const char *list = cr_exec_dump(e, NULL, arena);

    return strstr(list, " +scale") || strstr(list, " +bias");
}

/* Convolutions whose results are rounded: these go through a batch in pieces,
 * and so does the sum for their weight. */
static inline int plans_pieces(const struct cr_exec *e, struct cr_arena *arena)
{
    const char *at = cr_exec_dump(e, NULL, arena);
    int n = 0;

    while ((at = strstr(at, "forward  conv"))) {
        const char *end = at + strcspn(at, "\n");
        const char *cast = strstr(at, "+fake_cast(y)");

        n += cast && cast < end;
        at = end;
    }
    return n;
}

/* Steps of training, each from the state that the keep plan has left. */
static inline void plans_train(struct plans *p)
{
    static const char *const name[PLANS_TRAIN] = {
        "training", "training, with separate gradients", "training --eager"
    };
    struct cr_exec_opts keep = { .training = true,
                                 .loss = true,
                                 .backward = true,
                                 .update = p->optim != NULL,
                                 .keep_outputs = true,
                                 .batch = p->batch };
    struct cr_exec_opts want[PLANS_TRAIN];
    struct cr_exec *kept, *run[PLANS_TRAIN] = { NULL };
    bool ok;
    int i, t, ways = p->eager ? PLANS_TRAIN : PLANS_TRAIN - 1;

    keep.separate_update = p->micro > 1;
    ok = plans_make(p, &kept, &keep);
    for (i = 0; i < ways && ok; i++) {
        want[i] = cr_plans_train(i == 1, i == 2);
        want[i].update = p->optim != NULL;
        want[i].separate_update = want[i].separate_update || p->micro > 1;
        want[i].batch = p->batch;
        ok = plans_make(p, &run[i], &want[i]);
    }
    plans_save(p);
    for (t = 1; t <= PLANS_BATCHES && ok && !p->odd; t++) {
        struct cr_tensor *before = p->state;
        struct plans_gave gave;
        bool good = true;

        p->odd = !plans_step(p, kept, &keep, t - 1, t) ||
                 !isfinite(cr_exec_loss(kept));
        gave = plans_gave(p, kept);
        plans_save(p);
        for (i = 0; i < ways && !p->odd; i++) {
            plans_restore(p, before);
            p->odd = !plans_step(p, run[i], &want[i], t - 1, t);
            if (p->odd)
                break;
            p->exact =
                i < 2 && !plans_scaled(run[i], p->arena) &&
                plans_pieces(run[i], p->arena) == plans_pieces(kept, p->arena);
            good = plans_all_same(p, name[i], run[i], &gave, i > 0, i == 2) &&
                   good;
            good = plans_state_same(p, name[i], gave.gradient, i == 0) && good;
        }
        p->apart += !good;
        plans_restore(p, p->state);
    }
    for (i = 0; i < PLANS_TRAIN; i++)
        cr_exec_free(run[i]);
    cr_exec_free(kept);
}

/* Whether nothing is computed in another order than apart: a plan without
 * backward may fold BatchNorm, and add within a convolution. */
static inline bool plans_exact(const struct cr_exec *e, struct cr_arena *arena)
{
    const char *list = cr_exec_dump(e, NULL, arena);

    return !strstr(list, " bn_fold ") && !strstr(list, " +add") &&
           !plans_scaled(e, arena);
}

/* Batches of an evaluation and of predictions, one after the other. */
static inline void plans_rest(struct plans *p)
{
    struct cr_exec_opts keep = { .metrics = p->metrics,
                                 .loss = p->loss,
                                 .keep_outputs = true,
                                 .batch = p->batch };
    struct cr_exec_opts want[] = { cr_plans_eval(p->config, p->metrics, false),
                                   cr_plans_predict(p->batch, true),
                                   cr_plans_predict(p->batch, false),
                                   cr_plans_eval(p->config, p->metrics, true) };
    static const char *const name[] = { "evaluation", "prediction",
                                        "text drawn while training",
                                        "evaluation --eager" };
    struct cr_exec *kept, *run[CR_LEN(want)] = { NULL };
    bool ok = plans_make(p, &kept, &keep);
    size_t i, ways = p->eager ? CR_LEN(want) : CR_LEN(want) - 1;

    want[0].loss = want[3].loss = p->loss;
    for (i = 0; i < ways && ok; i++) {
        want[i].batch = p->batch;
        ok = plans_make(p, &run[i], &want[i]);
    }
    for (int t = 0; t < PLANS_BATCHES && ok; t++) {
        struct plans_gave gave;
        bool good = true;

        plans_forward(p, kept, t, 0);
        gave = plans_gave(p, kept);
        p->odd = p->odd || (p->finite && !plans_finite(&gave));
        for (i = 0; i < ways && !p->odd; i++) {
            plans_forward(p, run[i], t, 0);
            p->exact = i < 3 && plans_exact(run[i], p->arena);
            good = plans_all_same(p, name[i], run[i], &gave, false, i == 3) &&
                   good;
        }
        p->apart += !good;
    }
    for (i = 0; i < CR_LEN(want); i++)
        cr_exec_free(run[i]);
    cr_exec_free(kept);
}

/* All modes that the network has. */
static inline void plans_compare(struct plans *p)
{
    if (p->loss)
        plans_train(p);
    if (!p->odd)
        plans_rest(p);
}

#endif
