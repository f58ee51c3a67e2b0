#include "train/view.h"

#include <string.h>

#include "ckpt/operand.h"
#include "data/pipe.h"
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
                                 .headers = true,
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

/* What a column of the loss may hold where there is no data to tell. */
enum guess {
    GUESS_CLASSES,
    GUESS_OUTPUT,
    GUESS_NUMBERS,
    GUESS_LABELS,
    GUESSES
};

static struct cr_spec view_guess(int guess, const struct cr_spec *out)
{
    bool whole = guess == GUESS_CLASSES || guess == GUESS_LABELS;
    struct cr_spec spec = { .type = whole ? CR_I32 : CR_REAL };

    if (guess == GUESS_OUTPUT && out->rank > 0) {
        spec.rank = out->rank - 1;
        memcpy(spec.dim, out->dim + 1, (size_t)spec.rank * sizeof *spec.dim);
    } else if (guess == GUESS_LABELS && out->rank > 0) {
        spec.rank = 1;
        spec.dim[0] = out->dim[out->rank - 1];
    }
    return spec;
}

/* Without data what the loss takes is classes, else numbers of the output's
 * shape (of its first result), else a number for each sample, else several
 * classes, as many as there are. */
static void view_label(struct cr_view *v, const struct cr_net *net,
                       int64_t batch)
{
    struct cr_config *config = v->config;
    struct cr_diag *diag = config->diag;
    const char *const *names;
    int i, guess, left, columns, rows, n = cr_net_targets(net, &names);
    int guesses = 1;
    const struct cr_column *x = cr_net_columns(net, &columns);
    const struct cr_spec *out = &cr_net_cells(net, &rows)[0].out;
    struct cr_column *all =
        CR_NEWS(config->arena, struct cr_column, columns + n + 1);

    memcpy(all, x, (size_t)columns * sizeof *x);
    v->columns = all;
    v->n_columns = columns + n;
    for (i = 0; i < n && i < 3; i++)
        guesses *= GUESSES;
    if (!cr_section(config, "loss"))
        return;
    for (guess = 0; guess < guesses && !v->loss; guess++) {
        struct cr_diag quiet = { .arena = config->arena };

        for (i = 0, left = guess; i < n; i++, left /= GUESSES) {
            all[columns + i].name = names[i];
            all[columns + i].spec = view_guess(left % GUESSES, out);
        }
        config->diag = &quiet;
        v->loss = view_build(v, batch, true, false) != NULL;
        config->diag = diag;
        if (!v->loss && n == 0) { /* nothing to guess: it is wrong */
            cr_diag_join(diag, &quiet);
            return;
        }
    }
    if (!v->loss)
        v->n_columns = columns;
}

bool cr_view_net(struct cr_view *v, int64_t batch, bool values)
{
    struct cr_diag *usual = v->config->diag;
    struct cr_diag quiet = { .arena = v->config->arena };
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
        if (usual->errors > 0)
            return false;
    }
    v->net = view_build(v, v->batch, v->loss, values);
    if (!v->net)
        return false;
    return !cr_view_trains(v) || cr_optim_rule(v->config, v->net, false,
                                             &v->optim);
}

bool cr_view_trains(const struct cr_view *v)
{
    return v->loss && cr_section(v->config, "optimizer");
}
