/*
 * Freezing: the section `freeze`.
 *
 * A frozen parameter is one that the optimizer never moves; its gradient is
 * not computed, and backward work that serves frozen parameters alone is
 * never planned. Gradients still flow through frozen cells to trained ones
 * before them (MindSpore's requires_grad = False).
 *
 * stop_gradient is the other thing: an op that lets no gradient pass. A
 * parameter that only reaches the loss through it gets no gradient either,
 * and says where it was cut off.
 */
#include "base/str.h"
#include "graph/graph.h"

#include <string.h>

enum { STATS_MOVING, STATS_FROZEN };

struct freeze {
    const struct cr_node *patterns, *schedule, *predict_mode;
    int bn_stats;
};

struct unfreezing {
    struct cr_quantity at;
    const struct cr_node *unfreeze;
};

static const struct cr_opt thaw_opts[] = {
    CR_QUANTITY_DEFAULT(struct unfreezing, at, "1 epochs", CR_EPOCHS,
                        "Time of the change; a bare number counts epochs."),
    CR_NODE(struct unfreezing, unfreeze,
            "Patterns over parameter names: matching parameters are trained "
            "from that time on."),
    { 0 },
};

static const struct cr_descriptor unfreezing_about = {
    .name = "freeze.schedule",
    .opts = thaw_opts,
    .size = sizeof(struct unfreezing),
};

static const struct cr_opt freeze_opts[] = {
    CR_NODE(
        struct freeze, patterns,
        "Patterns over parameter names: matching parameters are not trained."),
    CR_ENUM_DEFAULT(
        struct freeze, bn_stats, STATS_MOVING, "moving|frozen",
        "Moving statistics of frozen cells. moving: keep updating them. "
        "frozen: keep them fixed and normalise with them, as in prediction."),
    CR_NODE(struct freeze, schedule,
            "A list of {at: 3 epochs, unfreeze: PATTERNS}: frozen parameters "
            "that are trained later."),
    CR_NODE(struct freeze, predict_mode,
            "Patterns over names of cells or, {of: Dropout}, their types: "
            "matching cells stay in predict mode during training, as with the "
            "modifier `mode: predict`."),
    { 0 },
};

const struct cr_section cr_section_freeze = {
    .about = {
        .name = "freeze",
        .summary = "Parameters that are not trained.",
        .detail = "A pattern that matches nothing is an error. Backward "
                  "computation that only frozen parameters need is pruned; "
                  "`cellrun summary` lists it.",
        .example = "freeze:\n"
                   "  patterns: [\"dense_relu_sequential.[02].*\", "
                   "{match: \"*.bias\", of: Dense}]\n"
                   "  schedule:\n"
                   "    - {at: 2 epochs, unfreeze: "
                   "[\"dense_relu_sequential.2.*\"]}\n",
        .opts = freeze_opts,
        .size = sizeof(struct freeze),
    },
};

/* Adds a parameter to the trained ones of its cell. */
static void count_trained(struct cr_net *net, const struct cr_param *p)
{
    net->cells[p->cell].trained += cr_count(&p->spec);
}

/* Marks the cells that have frozen parameters. */
static const bool *cells_frozen(struct cr_net *net)
{
    bool *frozen = CR_NEWS(net->arena, bool, net->n_cells + 1);
    int i;

    for (i = 0; i < net->n_params; i++)
        if (net->params[i].frozen)
            frozen[net->params[i].cell] = true;
    return frozen;
}

/* ---- what the gradient reaches ---- */

/* The backward pass from the loss, or from the output where there is none. */
struct reach {
    bool *read;                    /* values that the result is made of, */
    bool *arrives;                 /* and those that a gradient reaches */
    const struct cr_opnode **stop; /* node that let none pass to the value */
};

static void reach_node(struct reach *r, const struct cr_opnode *node)
{
    const struct cr_opnode *stop = node->op->backward ? NULL : node;
    const struct cr_custom_grad *c = node->custom;
    bool read = false, arrives = false;
    int i;

    /* results after one bprop stand for each other */
    for (i = 0; c && i < c->n_out; i++)
        arrives = arrives || r->arrives[c->out[i]->id];
    for (i = 0; i < node->n_out; i++) {
        int id = node->out[i]->id;

        read = read || r->read[id];
        arrives = arrives || r->arrives[id];
        if (!stop && r->stop[id])
            stop = r->stop[id];
    }
    for (i = 0; i < node->n_in && read; i++) {
        const struct cr_val *v = node->in[i];

        if (!v)
            continue;
        r->read[v->id] = true;
        if (c && !c->grad[i])
            r->stop[v->id] = node;
        else if (arrives && node->op->backward)
            r->arrives[v->id] = true;
        else
            r->stop[v->id] = stop;
    }
}

static void reach_start(struct reach *r, const struct cr_val *v)
{
    int i;

    for (i = 0; i < v->n_members; i++)
        reach_start(r, v->members[i]);
    if (v->n_members == 0)
        r->read[v->id] = r->arrives[v->id] = true;
}

/* Says of each parameter why no gradient reaches it, if none does. */
static void reach_params(struct cr_net *net)
{
    const struct cr_graph *g = net->graph;
    struct reach r = {
        .read = CR_NEWS(net->arena, bool, g->n_vals + 1),
        .arrives = CR_NEWS(net->arena, bool, g->n_vals + 1),
        .stop = CR_NEWS(net->arena, const struct cr_opnode *, g->n_vals + 1),
    };
    const struct cr_opnode **nodes =
        CR_NEWS(net->arena, const struct cr_opnode *, g->n_nodes + 1);
    const struct cr_opnode *node;
    const struct cr_named *aux;
    int i, n = 0;

    for (node = g->nodes; node; node = node->next)
        nodes[n++] = node;
    reach_start(&r, g->loss ? g->loss : g->output);
    for (aux = g->aux.first; aux && net->joint; aux = aux->next)
        reach_start(&r, aux->val);
    while (n-- > 0)
        reach_node(&r, nodes[n]);
    for (i = 0; i < net->n_params; i++) {
        struct cr_param *p = &net->params[i];
        const struct cr_val *v = g->params[i];

        if (p->frozen_reason || !v || r.arrives[v->id])
            continue;
        p->frozen_reason = "unused";
        if (r.read[v->id] && r.stop[v->id])
            p->frozen_reason =
                cr_strf(net->arena, "cut off by %s at %s",
                        r.stop[v->id]->op->about.name,
                        cr_pos_text(net->arena, r.stop[v->id]->pos));
    }
}

/* ---- the schedule ---- */

static bool thaw_read(struct cr_net *net, const struct cr_node *node, int i,
                      const struct cr_subject *params)
{
    struct cr_unfreeze_rule *to = &net->unfreeze_rules[i];
    struct unfreezing entry = { 0 };
    int k;

    if (node->kind != CR_NODE_MAP)
        return cr_error(net->diag, node->pos, CR_E_FORM,
                        "freeze.schedule: found %s, expected an entry {at: 3 "
                        "epochs, unfreeze: PATTERNS}",
                        cr_node_what(net->arena, node));
    if (!cr_opts_read(net->arena, net->diag, &unfreezing_about, node, node->pos,
                      &entry))
        return false;
    if (!entry.unfreeze)
        return cr_error(
            net->diag, node->pos, CR_E_MISSING_KEY,
            "'unfreeze' is missing: name the parameters to train from then on");
    net->unfreeze_patterns[i] = cr_patterns_read(net->config, entry.unfreeze);
    if (!net->unfreeze_patterns[i])
        return false;
    to->at = entry.at;
    to->pos = node->pos;
    to->text = cr_patterns_text(net->unfreeze_patterns[i]);
    for (k = 0; k < net->n_params; k++) {
        struct cr_param *p = &net->params[k];

        if (!p->frozen ||
            !cr_patterns_match(net->unfreeze_patterns[i], &params[k]))
            continue;
        p->unfrozen_later = true;
        to->params++;
        to->values += cr_count(&p->spec);
    }
    return cr_patterns_used(net->config, net->unfreeze_patterns[i], params,
                            net->n_params, "parameter");
}

static bool thaws_read(struct cr_net *net, const struct cr_node *schedule,
                       const struct cr_subject *params)
{
    bool ok = true;

    if (!schedule)
        return true;
    if (schedule->kind != CR_NODE_LIST)
        return cr_error(net->diag, schedule->pos, CR_E_WRONG_TYPE,
                        "freeze.schedule: found %s, expected a list of {at: 3 "
                        "epochs, unfreeze: PATTERNS}",
                        cr_node_what(net->arena, schedule));
    net->unfreeze_rules = CR_NEWS(net->arena, struct cr_unfreeze_rule,
                                  cr_node_count(schedule) + 1);
    net->unfreeze_patterns =
        CR_NEWS(net->arena, struct cr_patterns *, cr_node_count(schedule) + 1);
    for (CR_EACH(entry, schedule))
        ok = thaw_read(net, entry, net->n_unfreeze_rules++, params) && ok;
    return ok;
}

const struct cr_unfreeze_rule *cr_net_unfreeze_rules(const struct cr_net *net,
                                                     int *n)
{
    *n = net->n_unfreeze_rules;
    return net->unfreeze_rules;
}

/* ---- all of it ---- */

/* From what is frozen: what is trained, and why the rest is not. */
static void settle(struct cr_net *net)
{
    const bool *frozen = cells_frozen(net);
    int i;

    for (i = 0; i < net->n_params; i++) {
        struct cr_param *p = &net->params[i];

        p->frozen_reason = p->state           ? "requires_grad is false"
                           : p->statistic     ? "moving statistics"
                           : p->frozen        ? "frozen"
                           : p->never_trained ? "fixed by its cell"
                                              : NULL;
    }
    reach_params(net);
    for (i = 0; i < net->n_cells; i++)
        net->cells[i].trained = 0;
    for (i = 0; i < net->n_params; i++) {
        struct cr_param *p = &net->params[i];

        p->trained = !p->frozen_reason;
        p->stats_frozen =
            p->statistic && !p->state && net->stats_frozen && frozen[p->cell];
        if (p->stats_frozen)
            p->frozen_reason = "moving statistics, frozen";
        if (p->trained)
            count_trained(net, p);
    }
}

void cr_net_unfreeze(struct cr_net *net, int i)
{
    int k, n;
    const struct cr_subject *params = cr_net_subjects(net, &n);

    for (k = 0; k < n; k++)
        if (cr_patterns_match(net->unfreeze_patterns[i], &params[k]))
            net->params[k].frozen = false;
    settle(net);
}

void cr_net_freeze_again(struct cr_net *net)
{
    for (int k = 0; k < net->n_params; k++)
        if (net->params[k].unfrozen_later)
            net->params[k].frozen = true;
    settle(net);
}

bool cr_net_freeze(struct cr_net *net)
{
    struct freeze freeze = { 0 };
    struct cr_patterns *patterns = NULL;
    const struct cr_subject *params;
    int i, n;

    if (!cr_section_read(net->config, "freeze", &freeze))
        return false;
    if (freeze.patterns) {
        patterns = cr_patterns_read(net->config, freeze.patterns);
        if (!patterns)
            return false;
    }
    net->stats_frozen = freeze.bn_stats == STATS_FROZEN;
    params = cr_net_subjects(net, &n);
    for (i = 0; i < n; i++) {
        struct cr_param *p = &net->params[i];

        if (!p->statistic && patterns &&
            cr_patterns_match(patterns, &params[i]))
            p->frozen = true;
    }
    if (!thaws_read(net, freeze.schedule, params))
        return false;
    settle(net);
    return !patterns || cr_patterns_used(net->config, patterns, params, n,
                                         "parameter");
}
