#include "train/view.h"

#include <string.h>

#include "ckpt/operand.h"
#include "data/pipe.h"
#include "net/cell.h"
#include "train/optim.h"
#include "train/section.h"

bool cr_view_open(struct cr_cli *cli, struct cr_view *to)
{
    const struct cr_node *batch;

    *to = (struct cr_view){ .batch = 32 };
    to->config = cr_operand_config(cli, &to->store);
    if (!to->config || !cr_config_check(to->config) ||
        !cr_seed_read(to->config, &to->seed) ||
        !cr_threads_start(to->config, cli->threads))
        return false;
    batch = cr_node_find(to->config->root, "datapipe.batch.batch_size");
    if (batch && batch->kind == CR_NODE_INT && batch->integer > 0)
        to->batch = batch->integer;
    return true;
}

void cr_view_close(struct cr_view *view)
{
    if (view->store)
        cr_store_close(view->store);
    view->store = NULL;
}

/* Takes columns from the headers of the training data. Data that are not
 * there are no error yet: the first cell may tell what comes in. */
static bool view_data(struct cr_view *v)
{
    struct cr_pipe_want want = { .split = "train",
                                 .train = true,
                                 .seed = v->seed };
    struct cr_arena *arena = v->config->arena;
    struct cr_diag *usual = v->config->diag;
    const struct cr_column *column;
    struct cr_column *copy;
    struct cr_pipe *pipe;
    int i;

    if (!cr_section(v->config, "dataset"))
        return true;
    v->missing.arena = arena;
    v->config->diag = &v->missing;
    pipe = cr_pipe_open(v->config, &want);
    v->config->diag = usual;
    if (!pipe && cr_diag_exit(&v->missing) == cr_code_exit(CR_E_DATA_MISSING))
        return true;
    if (!pipe) {
        cr_diag_join(usual, &v->missing);
        return false;
    }
    column = cr_pipe_columns(pipe, &v->n_columns);
    copy = CR_NEWS(arena, struct cr_column, v->n_columns + 1);
    for (i = 0; i < v->n_columns; i++) {
        copy[i] = column[i];
        copy[i].name = cr_strdup(arena, column[i].name);
    }
    v->columns = copy;
    v->classes = cr_pipe_dataset(pipe)->classes;
    v->batch = cr_pipe_batch_size(pipe);
    cr_pipe_close(pipe);
    return true;
}

static struct cr_net *view_build(struct cr_view *v, int64_t batch, bool loss,
                                 bool values)
{
    struct cr_net_want want = { .columns = v->columns,
                                .n_columns = v->n_columns,
                                .batch = batch,
                                .seed = v->seed,
                                .classes = v->classes,
                                .loss = loss,
                                .no_values = !values };

    return cr_net_build(v->config, &want);
}

/* Without data the label is what the loss takes: classes, else numbers of
 * the output's shape. */
static void view_label(struct cr_view *v, const struct cr_net *net,
                       int64_t batch)
{
    struct cr_config *config = v->config;
    const struct cr_node *args, *node = cr_section(config, "loss");
    const char *type = node ? cr_node_type(node, &args) : NULL;
    const struct cr_cell *loss = type ? cr_loss_find(type) : NULL;
    struct cr_diag *diag = config->diag;
    const struct cr_column *x;
    struct cr_column *all;
    int n, k, rows;

    x = cr_net_columns(net, &n);
    all = CR_NEWS(config->arena, struct cr_column, n + 1);
    memcpy(all, x, (size_t)n * sizeof *x);
    v->columns = all;
    v->n_columns = n;
    if (!loss || !loss->targets[0])
        return;
    all[n].name = loss->targets[0];
    v->n_columns = n + 1;
    for (k = 0; k < 2 && !v->loss; k++) {
        struct cr_diag quiet = { .arena = config->arena };
        struct cr_spec *spec = &all[n].spec;

        *spec = (struct cr_spec){ .type = CR_I32 };
        if (k == 1) {
            *spec = cr_net_cells(net, &rows)[0].out;
            if (--spec->rank >= 0)
                memmove(spec->dim, spec->dim + 1,
                        (size_t)spec->rank * sizeof spec->dim[0]);
        }
        config->diag = &quiet;
        v->loss = view_build(v, batch, true, false) != NULL;
        config->diag = diag;
    }
    if (!v->loss)
        v->n_columns = n;
}

bool cr_view_net(struct cr_view *v, int64_t batch, bool values)
{
    struct cr_diag *usual = v->config->diag;
    struct cr_diag quiet = { .arena = v->config->arena };
    struct cr_optim_use use;
    const struct cr_net *net;

    if (!view_data(v))
        return false;
    if (batch > 0)
        v->batch = batch;
    v->loss = v->n_columns > 0 && cr_section(v->config, "loss");
    if (v->n_columns == 0 || !cr_section(v->config, "dataset")) {
        v->loss = false;
        v->config->diag = &quiet;
        net = view_build(v, v->batch, false, false);
        v->config->diag = usual;
        if (!net) {
            cr_diag_join(usual, v->missing.errors > 0 &&
                                        quiet.first->code == CR_E_INPUT
                                    ? &v->missing
                                    : &quiet);
            return false;
        }
        view_label(v, net, v->batch);
    }
    v->net = view_build(v, v->batch, v->loss, values);
    if (!v->net)
        return false;
    return !cr_view_trains(v) || cr_optim_rule(v->config, v->net, false, &use);
}

bool cr_view_trains(const struct cr_view *v)
{
    return v->loss && cr_section(v->config, "optimizer");
}
