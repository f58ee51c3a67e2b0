/*
 * Freezing: the section `freeze`.
 *
 * A frozen parameter is one that the optimizer never moves; its gradient is
 * not computed, and backward work that serves frozen parameters alone is
 * never planned. Gradients still flow through frozen cells to trained ones
 * before them (MindSpore's requires_grad = False; semantics.md 1.6).
 */
#include "net/graph.h"

#include <string.h>

struct freeze {
    const struct cr_node *patterns;
};

static const struct cr_opt freeze_opts[] = {
    CR_NODE(struct freeze, patterns,
            "Patterns over parameter names: what matches is not trained."),
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

/* Adds a parameter to the trained ones of its cell: the row whose name and
 * a dot stand before its own name. */
static void count_trained(struct cr_net *net, const struct cr_param *p)
{
    const char *dot = strrchr(p->name, '.');
    size_t len = dot ? (size_t)(dot - p->name) : 0;
    int i;

    for (i = 0; i < net->n_cells; i++)
        if (strlen(net->cells[i].name) == len &&
            memcmp(net->cells[i].name, p->name, len) == 0) {
            net->cells[i].trained += cr_count(&p->spec);
            return;
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
        p->trained = !p->frozen;
        p->why = p->frozen ? "frozen" : NULL;
        if (p->trained)
            count_trained(net, p);
    }
    return !patterns || cr_patterns_used(net->config, patterns, names,
                                         "parameter");
}
