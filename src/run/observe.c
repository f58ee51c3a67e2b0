/*
 * Plans that are looked at while others run (cr_observer): of the same kind,
 * with the hooks that look, every value kept, and nothing moved or updated.
 */
#include "run/run.h"

void cr_net_observe(struct cr_net *net, const struct cr_observer *observer)
{
    net->observer = observer;
}

void cr_net_observe_begin(const struct cr_net *net)
{
    if (net->observer)
        net->observer->begin(net->observer->ctx);
}

bool cr_exec_observed(struct cr_exec *e)
{
    const struct cr_observer *o = e->net->observer;
    struct cr_exec_opts want = e->opts;
    bool grads;

    if (!o || e->prints || want.observe || want.hold || want.silent ||
        want.no_hooks || !o->wants(o->ctx, want.training, &grads))
        return true;
    want.backward = want.backward && grads;
    want.update = want.separate_update = want.const_params = false;
    want.observe = want.keep_outputs = want.freeze_stats = want.silent = true;
    want.at = NULL;
    want.shared = want.in_turn = false;
    want.passes = NULL;
    e->observed = cr_net_exec(e->net, &want);
    return e->observed != NULL;
}

static void seen(const struct cr_exec *e)
{
    const struct cr_observer *o = e->net->observer;

    if (!e->observed->fault)
        o->seen(o->ctx, e->observed);
}

void cr_exec_observe_forward(struct cr_exec *e, int64_t t)
{
    e->observing = e->observed && e->net->observer->due(e->net->observer->ctx);
    if (!e->observing)
        return;
    cr_exec_before(e->observed, e->before);
    cr_exec_forward(e->observed, t);
    if (!e->observed->opts.backward)
        seen(e);
}

void cr_exec_observe_backward(struct cr_exec *e, double sens, double lr)
{
    if (!e->observing || !e->observed->opts.backward)
        return;
    cr_exec_backward(e->observed, sens, lr);
    seen(e);
}
