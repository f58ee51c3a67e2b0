/*
 * Parameters and cells of a network, as patterns are asked about them.
 */
#include "graph/graph.h"

const struct cr_subject *cr_net_subjects(const struct cr_net *net, int *n)
{
    struct cr_subject *v =
        CR_NEWS(net->arena, struct cr_subject, net->n_params + 1);
    int i;

    for (i = 0; i < net->n_params; i++)
        v[i] = (struct cr_subject){ net->params[i].name, net->params[i].types };
    *n = net->n_params;
    return v;
}

struct cr_subject cr_net_cell_subject(const struct cr_net *net, int row)
{
    const char **types = CR_NEWS(net->arena, const char *, 2);

    types[0] = net->cells[row].type;
    return (struct cr_subject){ net->cells[row].name, types };
}

/* "fc.*" speaks of fc too: a cell is meant where its parameters would be. */
static const char *within(struct cr_net *net, const char *path)
{
    return cr_path_of(net->arena, path, "weight");
}

bool cr_cell_matches(const struct cr_build *b,
                     const struct cr_patterns *patterns)
{
    struct cr_subject cell = cr_net_cell_subject(b->net, b->row);

    if (cr_patterns_match(patterns, &cell))
        return true;
    cell.name = within(b->net, b->path);
    return cr_patterns_match(patterns, &cell);
}

bool cr_cells_used(struct cr_net *net, const struct cr_patterns *patterns)
{
    struct cr_subject *cells =
        CR_NEWS(net->arena, struct cr_subject, 2 * net->n_shown + 1);
    int i, n = 0;

    for (i = 0; i < net->n_shown; i++) {
        cells[n++] = cr_net_cell_subject(net, i);
        cells[n] = cells[n - 1];
        cells[n++].name = within(net, net->cells[i].name);
    }
    return cr_patterns_used(net->config, patterns, cells, n, "cell");
}
