/*
 * Freezing: the section `freeze`.
 *
 * A frozen parameter is one that the optimizer never moves; its gradient is
 * not computed, and backward work that serves frozen parameters alone is
 * never planned. Gradients still flow through frozen cells to trained ones
 * before them (MindSpore's requires_grad = False; semantics.md 1.6).
 *
 * stop_gradient is the other thing: an op that lets no gradient pass. A
 * parameter that only reaches the loss through it gets no gradient either,
 * and says where it was cut off.
 */
#include "base/str.h"
#include "net/graph.h"

#include <string.h>

enum { STATS_MOVING, STATS_FROZEN };

struct freeze {
    const struct cr_node *patterns;
    int bn_stats;
};

static const struct cr_opt freeze_opts[] = {
    CR_NODE(struct freeze, patterns,
            "Patterns over parameter names: what matches is not trained."),
    CR_ENUM_OR(struct freeze, bn_stats, STATS_MOVING, "moving|frozen",
               "Moving statistics of cells whose parameters are frozen: they "
               "keep moving, or they stay and normalise as in prediction."),
    { 0 },
};

const struct cr_section cr_section_freeze = {
    .about = {
        .name = "freeze",
        .summary = "Parameters that are not trained.",
        .detail = "A pattern that matches nothing is an error. Backward work "
                  "that only frozen parameters would need is cut; `cellrun "
                  "summary` shows what.",
        .example = "freeze: {patterns: [\"dense_relu_sequential.0.*\"]}\n",
        .opts = freeze_opts,
        .size = sizeof(struct freeze),
    },
};

/* Adds a parameter to the trained ones of its cell: the row with the longest
 * name that, with a dot, stands before its own name. */
static void count_trained(struct cr_net *net, const struct cr_param *p)
{
    int i, best = -1;
    size_t longest = 0;

    for (i = 0; i < net->n_cells; i++) {
        size_t len = strlen(net->cells[i].name);

        if ((best < 0 || len > longest) &&
            strncmp(net->cells[i].name, p->name, len) == 0 &&
            (len == 0 || p->name[len] == '.')) {
            best = i;
            longest = len;
        }
    }
    if (best >= 0)
        net->cells[best].trained += cr_count(&p->spec);
}

/* Whether a statistic's cell has frozen parameters. */
static bool cell_frozen(const struct cr_net *net, const char *statistic)
{
    const char *dot = strrchr(statistic, '.');
    size_t len = dot ? (size_t)(dot + 1 - statistic) : 0;
    int i;

    for (i = 0; i < net->n_params; i++)
        if (net->params[i].frozen &&
            strncmp(net->params[i].name, statistic, len) == 0 &&
            !strchr(net->params[i].name + len, '.'))
            return true;
    return false;
}

/* ---- what the gradient reaches ---- */

/* On the way back from the loss, or from the output where there is none. */
struct reach {
    bool *read;                    /* values that the result is made of, */
    bool *arrives;                 /* and those that a gradient reaches */
    const struct cr_opnode **stop; /* node that let none pass to the value */
};

static void reach_node(struct reach *r, const struct cr_opnode *node)
{
    const struct cr_opnode *stop = node->op->backward ? NULL : node;
    bool read = false, arrives = false;
    int i;

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
        if (arrives && node->op->backward)
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
    int i, n = 0;

    for (node = g->nodes; node; node = node->next)
        nodes[n++] = node;
    reach_start(&r, g->loss ? g->loss : g->output);
    while (n-- > 0)
        reach_node(&r, nodes[n]);
    for (i = 0; i < net->n_params; i++) {
        struct cr_param *p = &net->params[i];
        const struct cr_val *v = g->params[i];

        if (p->why || !v || r.arrives[v->id])
            continue;
        p->why = "unused";
        if (r.read[v->id] && r.stop[v->id])
            p->why = cr_strf(net->arena, "cut off by %s at %s",
                             r.stop[v->id]->op->about.name,
                             cr_pos_text(net->arena, r.stop[v->id]->pos));
    }
}

bool cr_net_freeze(struct cr_net *net)
{
    struct freeze freeze = { 0 };
    struct cr_patterns *patterns = NULL;
    const char **names;
    int i;

    if (!cr_section_read(net->config, "freeze", &freeze))
        return false;
    if (freeze.patterns) {
        patterns = cr_patterns_read(net->config, freeze.patterns);
        if (!patterns)
            return false;
    }
    names = CR_NEWS(net->arena, const char *, net->n_params + 1);
    for (i = 0; i < net->n_params; i++) {
        struct cr_param *p = &net->params[i];

        names[i] = p->name;
        if (p->statistic)
            continue;
        if (patterns && cr_patterns_match(patterns, p->name))
            p->frozen = true;
        p->why = p->frozen ? "frozen" : p->fixed ? "fixed by its cell" : NULL;
    }
    reach_params(net);
    for (i = 0; i < net->n_params; i++) {
        struct cr_param *p = &net->params[i];

        p->trained = !p->why;
        p->still = p->statistic && freeze.bn_stats == STATS_FROZEN &&
                   cell_frozen(net, p->name);
        if (p->still)
            p->why = "moving statistics, frozen";
        if (p->trained)
            count_trained(net, p);
    }
    return !patterns || cr_patterns_used(net->config, patterns, names,
                                         "parameter");
}
