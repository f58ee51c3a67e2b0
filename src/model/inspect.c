#include "model/model.h"

#include <string.h>

#include "data/data_loader.h"
#include "graph/cell.h"
#include "train/section.h"

/* The spec of a stored column after its transforms. Class names that a table
 * contains are stored as their numbers: where numbers do not fit the
 * transforms, as of LabelIndex, words are planned instead. */
static bool inspect_column(struct cr_model *m, const struct cr_column *column,
                           struct cr_spec *out)
{
    struct cr_config *config = m->config;
    struct cr_diag *usual = config->diag;
    struct cr_diag quiet = { .arena = config->arena };
    struct cr_spec word = { .type = CR_STRING };
    bool ok;

    if (column->spec.type != CR_I32 || column->spec.rank != 0 ||
        !m->state.class_names)
        return cr_column_pipeline_plan(config, column->name, &column->spec,
                                       NULL, true, out);
    config->diag = &quiet;
    ok = cr_column_pipeline_plan(config, column->name, &column->spec, NULL,
                                 true, out) ||
         cr_column_pipeline_plan(config, column->name, &word, NULL, true, out);
    config->diag = usual;
    if (!ok)
        cr_diag_append(usual, &quiet);
    return ok;
}

/* Takes the columns from the state of the checkpoint, after their
 * transforms. */
static bool inspect_state(struct cr_model *m)
{
    const struct cr_state *s = &m->state;
    struct cr_column *columns =
        CR_NEWS(m->config->arena, struct cr_column, s->n_columns + 1);

    for (int i = 0; i < s->n_columns; i++) {
        columns[i] = s->columns[i];
        if (!inspect_column(m, &s->columns[i], &columns[i].spec))
            return false;
    }
    m->columns = columns;
    m->n_columns = s->n_columns;
    m->classes = s->classes;
    return true;
}

/* Takes the columns from the headers of the training data. A missing data set
 * is not an error yet: the checkpoint or the first cell may declare the
 * inputs. */
static bool inspect_data(struct cr_model *m)
{
    struct cr_data_loader_opts want = {
        .split = "train", .train = true, .headers = true, .seed = m->seed
    };
    struct cr_arena *arena = m->config->arena;
    struct cr_diag *usual = m->config->diag;
    const struct cr_column *column;
    struct cr_column *copy;
    struct cr_data_loader *loader;
    int i;

    if (!cr_section(m->config, "dataset"))
        return true;
    if (cr_config_foreign(m->config) || m->no_data)
        return inspect_state(m);
    m->missing.arena = arena;
    m->config->diag = &m->missing;
    loader = cr_data_loader_open(m->config, &want);
    m->config->diag = usual;
    if (!loader && cr_diag_exit(&m->missing) == cr_code_exit(CR_E_DATA_MISSING))
        return inspect_state(m);
    if (!loader) {
        cr_diag_append(usual, &m->missing);
        return false;
    }
    column = cr_data_loader_columns(loader, &m->n_columns);
    copy = CR_NEWS(arena, struct cr_column, m->n_columns + 1);
    for (i = 0; i < m->n_columns; i++) {
        copy[i] = column[i];
        copy[i].name = cr_strdup(arena, column[i].name);
    }
    m->columns = copy;
    m->classes = cr_data_loader_dataset(loader)->classes;
    m->batch = cr_data_loader_batch_size(loader);
    cr_data_loader_close(loader);
    return true;
}

static struct cr_net *inspect_build(struct cr_model *m, int64_t batch,
                                    bool loss, bool values)
{
    struct cr_net_opts want = { .columns = m->columns,
                                .n_columns = m->n_columns,
                                .batch = batch,
                                .seed = m->seed,
                                .classes = m->classes,
                                .loss = loss,
                                .no_values = !values,
                                .loaded = m->file != NULL };

    return cr_net_build(m->config, &want);
}

/* The spec of one sample of a column that the loss takes, for output `out`. */
static struct cr_spec inspect_target(enum cr_target target,
                                     const struct cr_spec *out)
{
    bool integer = target == CR_TARGET_CLASSES ||
                   target == CR_TARGET_CLASSES_LAST ||
                   target == CR_TARGET_LABELS;
    struct cr_spec spec = { .type = integer ? CR_I32 : CR_REAL };
    int from = target == CR_TARGET_CLASSES ? 2 : 1; /* dimension of out */
    int to = target == CR_TARGET_CLASSES_LAST ? out->rank - 1 : out->rank;

    if (target == CR_TARGET_SAMPLE || to <= from)
        return spec;
    spec.rank = to - from;
    memcpy(spec.dim, out->dim + from, (size_t)spec.rank * sizeof *spec.dim);
    return spec;
}

/* What the columns of the loss contain; CR_TARGET_ANY for a loss written in the
 * config, or one whose options decide. */
static enum cr_target inspect_label_kind(const struct cr_model *m)
{
    const struct cr_node *args, *loss = cr_section(m->config, "loss");
    const char *type = loss ? cr_node_type(loss, &args) : NULL;
    const struct cr_cell *cell = type ? cr_loss_find(type) : NULL;

    return cell ? cell->target : CR_TARGET_ANY;
}

/* Without data, the loss declares the type of its label. If it does not, or its
 * options need another, this takes the first that builds: classes, those of the
 * last axis, numbers of the shape of the output, a number per sample, several
 * classes. */
static void inspect_label(struct cr_model *m, const struct cr_net *net,
                          int64_t batch)
{
    struct cr_config *config = m->config;
    struct cr_diag *diag = config->diag;
    const char *const *names;
    static const enum cr_target tries[] = {
        CR_TARGET_CLASSES, CR_TARGET_CLASSES_LAST, CR_TARGET_OUTPUT,
        CR_TARGET_SAMPLE, CR_TARGET_LABELS
    };
    enum cr_target declared = inspect_label_kind(m);
    int i, guess, left, columns, rows, n = cr_net_targets(net, &names);
    int guesses = 1, many = (int)CR_LEN(tries);
    const struct cr_column *x = cr_net_columns(net, &columns);
    const struct cr_spec *out = &cr_net_cells(net, &rows)[0].out;
    struct cr_column *all =
        CR_NEWS(config->arena, struct cr_column, columns + n + 1);

    memcpy(all, x, (size_t)columns * sizeof *x);
    m->columns = all;
    m->n_columns = columns + n;
    for (i = 0; i < n && i < 3; i++)
        guesses *= many;
    if (!cr_section(config, "loss"))
        return;
    for (guess = declared == CR_TARGET_ANY ? 0 : -1;
         guess < guesses && !m->loss; guess++) {
        struct cr_diag quiet = { .arena = config->arena };

        for (i = 0, left = guess; i < n; i++, left /= many) {
            all[columns + i].name = names[i];
            all[columns + i].spec =
                inspect_target(guess < 0 ? declared : tries[left % many], out);
        }
        config->diag = &quiet;
        m->loss = inspect_build(m, batch, true, false) != NULL;
        config->diag = diag;
        if (!m->loss && n == 0) { /* no label to vary: report the error */
            cr_diag_append(diag, &quiet);
            return;
        }
    }
    if (!m->loss)
        m->n_columns = columns;
}

static void describe_column(struct cr_model *m, const struct cr_column *column)
{
    struct cr_state *s = &m->state;

    if (s->n_columns == CR_STATE_COLUMNS)
        return;
    s->columns[s->n_columns] = *column;
    s->columns[s->n_columns++].name =
        cr_strdup(m->config->arena, column->name);
}

static bool describe_data(struct cr_model *m)
{
    struct cr_config *config = m->config;
    struct cr_data_loader_opts want = { .split = "train", .seed = m->seed };
    struct cr_data_loader *loader = cr_data_loader_open(config, &want);
    const struct cr_dataset *data;
    const char **names;

    if (!loader)
        return false;
    if (!cr_data_loader_prepare(loader, config->diag)) {
        cr_data_loader_close(loader);
        return false;
    }
    data = cr_data_loader_dataset(loader);
    for (int i = 0; i < data->columns; i++)
        describe_column(m, &data->column[i]);
    m->state.classes = data->classes;
    if (data->class_names) {
        names = CR_NEWS(config->arena, const char *, data->classes + 1);
        for (int64_t i = 0; i < data->classes; i++)
            names[i] = cr_strdup(config->arena, data->class_names[i]);
        m->state.class_names = names;
        config->classes = (struct cr_strs){ .n = (int)data->classes,
                                            .v = names };
    }
    config->fitted = cr_data_loader_fitted(loader, config->arena);
    cr_data_loader_close(loader);
    return true;
}

bool cr_model_describe(struct cr_model *m)
{
    const struct cr_column *columns;
    struct cr_net *net;
    int n;

    if (m->has_state)
        return true;
    if (cr_section(m->config, "dataset"))
        return describe_data(m);
    net = inspect_build(m, 1, false, false);
    if (!net)
        return false;
    columns = cr_net_columns(net, &n);
    for (int i = 0; i < n; i++)
        describe_column(m, &columns[i]);
    return true;
}

bool cr_model_inspect(struct cr_model *m, int64_t batch, bool values)
{
    struct cr_diag *usual = m->config->diag;
    struct cr_diag quiet = { .arena = m->config->arena };
    const struct cr_net *net;

    if (!inspect_data(m))
        return false;
    if (batch > 0)
        m->batch = batch;
    m->loss = m->n_columns > 0 && cr_section(m->config, "loss");
    if (m->n_columns == 0 || !cr_section(m->config, "dataset")) {
        m->loss = false;
        m->config->diag = &quiet;
        net = inspect_build(m, m->batch, false, false);
        m->config->diag = usual;
        if (!net) {
            cr_diag_append(usual, m->missing.errors > 0 &&
                                          quiet.first->code == CR_E_INPUT
                                      ? &m->missing
                                      : &quiet);
            return false;
        }
        inspect_label(m, net, m->batch);
        if (usual->errors > 0)
            return false;
    }
    m->net = inspect_build(m, m->batch, m->loss, values);
    if (!m->net)
        return false;
    return !cr_model_trains(m) ||
           cr_optim_rule(m->config, m->net, false, &m->optim);
}

bool cr_model_trains(const struct cr_model *m)
{
    return m->loss && !m->no_optim && cr_section(m->config, "optimizer");
}
