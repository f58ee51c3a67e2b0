#include <string.h>

#include "conf/node.h"
#include "predict/predict.h"
#include "score/eval.h"

struct cr_predict_feed *cr_predict_feed(struct cr_predict *j, const char *name)
{
    for (int i = 0; i < j->n_feeds; i++)
        if (strcmp(j->feed[i].name, name) == 0)
            return &j->feed[i];
    for (int i = 0; i < j->n_truths; i++)
        if (strcmp(j->truth[i].name, name) == 0)
            return &j->truth[i];
    return NULL;
}

bool cr_predict_images(const struct cr_predict *j)
{
    const struct cr_spec *s = &j->feed[0].head;

    return j->n_feeds == 1 && s->type == CR_U8 &&
           (s->rank == 2 || (s->rank == 3 && s->dim[2] <= 4));
}

/* ---- Finding the columns */

static const struct cr_column *columns_find(const struct cr_state *s,
                                            const char *name)
{
    for (int i = 0; i < s->n_columns; i++)
        if (strcmp(s->columns[i].name, name) == 0)
            return &s->columns[i];
    return NULL;
}

static bool columns_feed(struct cr_predict *j, const struct cr_column *c)
{
    struct cr_predict_feed *f = &j->feed[j->n_feeds];
    struct cr_config *config = j->model.config;

    *f = (struct cr_predict_feed){ .name = c->name, .head = c->spec };
    f->pipeline = cr_column_pipeline_plan(config, c->name, &c->spec, NULL,
                                          false, &f->out);
    if (!f->pipeline || !cr_input_adapter_open(&f->adapter, config, c))
        return false;
    j->n_feeds++;
    return true;
}

/* Finds the input columns: those under network.inputs, else the only column
 * that is not a label. */
static bool columns_feeds(struct cr_predict *j)
{
    const struct cr_state *s = &j->model.state;
    const struct cr_node *inputs =
        cr_node_get(cr_section(j->model.config, "network"), "inputs");
    struct cr_diag *diag = j->cli->diag;
    const struct cr_column *found;
    bool rest; /* *args: takes the columns that no other argument names */

    rest = inputs && inputs->kind == CR_NODE_STR && inputs->text[0] == '*';
    if (inputs && inputs->kind == CR_NODE_STR && !rest) {
        found = columns_find(s, inputs->text);
        return found ? columns_feed(j, found) : true;
    }
    for (CR_EACH(m, inputs)) {
        rest = !m->key && m->text && m->text[0] == '*';
        if (rest)
            break;
        found = columns_find(s, m->key ? m->key : m->text);
        if (!found)
            return cr_error(diag, m->pos, CR_E_CKPT_FORMAT,
                            "the checkpoint does not describe column '%s'",
                            m->key ? m->key : m->text);
        if (!columns_feed(j, found))
            return false;
    }
    for (int i = 0; i < s->n_columns && (rest || !cr_node_count(inputs)); i++) {
        const char *name = s->columns[i].name;

        if (strcmp(name, "label") == 0 ||
            (rest && (cr_predict_feed(j, name) ||
                      cr_is_truth_column(j->model.config, name))))
            continue;
        if (j->n_feeds > 0 && !rest)
            return cr_error(diag, CR_NOWHERE, CR_E_NETWORK,
                            "the data set has several columns ('%s', '%s'), "
                            "but 'network.inputs' is not set",
                            j->feed[0].name, s->columns[i].name);
        if (!columns_feed(j, &s->columns[i]))
            return false;
    }
    return j->n_feeds > 0 ||
           cr_error(diag, cr_at_file(j->cli->arena, j->o->ckpt),
                    CR_E_CKPT_FORMAT,
                    "the checkpoint does not describe the input columns");
}

/* Finds the label columns: those that the loss takes after the results, or
 * `label` without a loss. A column whose datapipe cannot be planned is omitted,
 * because prediction does not need labels. */
static void columns_labels(struct cr_predict *j)
{
    static const char *const usual[] = { "label", NULL };
    const struct cr_state *s = &j->model.state;
    struct cr_config *config = j->model.config;
    struct cr_diag *diag = config->diag;
    struct cr_diag quiet = { .arena = config->arena };
    const char *const *names;
    /* LabelIndex needs the names for labels stored as indices */
    const struct cr_strs classes = { .v = s->class_names,
                                     .n = s->class_names ? (int)s->classes
                                                         : 0 };
    int n = cr_net_targets(j->model.net, &names);

    if (n == 0) {
        names = usual;
        n = 1;
    }
    config->diag = &quiet;
    for (int i = 0; i < n && j->n_truths < CR_COLUMNS_MAX; i++) {
        struct cr_predict_feed *t = &j->truth[j->n_truths];
        const struct cr_column *c = columns_find(s, names[i]);

        if (!c || cr_predict_feed(j, names[i]))
            continue;
        *t = (struct cr_predict_feed){ .name = c->name, .head = c->spec };
        t->pipeline = cr_column_pipeline_plan(
            config, c->name, &c->spec,
            strcmp(c->name, "label") == 0 ? &classes : NULL, false, &t->out);
        j->n_truths += t->pipeline != NULL;
    }
    config->diag = diag;
}

/* Reads the options of the training data set: predict parses rows of text by
 * them. */
static bool columns_data(struct cr_predict *j)
{
    struct cr_config *config = j->model.config;
    const struct cr_node *train =
        cr_node_get(cr_section(config, "dataset"), "train");

    return !train || cr_obj_read(config->arena, config->diag, CR_KIND_DATASET,
                                 train, &j->data);
}

/* The form of a column in rows of a table: the path of an image where the
 * training data had one, else a field per element. */
static void columns_row(struct cr_predict *j, struct cr_predict_feed *f)
{
    const struct cr_node *args, *columns, *type;

    f->fields = cr_count(&f->head);
    if (!j->data.about || !cr_node_type(j->data.node, &args))
        return;
    columns = cr_node_get(args, "columns");
    type = cr_node_get(cr_node_get(columns, f->name), "type");
    f->paths = type && type->text && strcmp(type->text, "image") == 0;
    if (f->paths)
        f->fields = 1;
}

bool cr_predict_columns(struct cr_predict *j)
{
    struct cr_column in[CR_COLUMNS_MAX];

    if (!columns_feeds(j) || !columns_data(j))
        return false;
    for (int i = 0; i < j->n_feeds; i++) {
        in[i] = (struct cr_column){ j->feed[i].name, j->feed[i].out };
        columns_row(j, &j->feed[i]);
    }
    j->model.looks = CR_IN_PREDICT;
    if (!cr_model_net(&j->model, in, j->n_feeds, j->o->batch, 0, false, false))
        return false;
    columns_labels(j);
    for (int i = 0; i < j->n_truths; i++)
        columns_row(j, &j->truth[i]);
    return true;
}

bool cr_predict_image(struct cr_predict *j, struct cr_predict_feed *feed,
                      const char *table, const struct cr_ragged *name,
                      int64_t index)
{
    const char *path = cr_path_join(&j->text, cr_path_dir(&j->text, table),
                                    name->v);
    struct cr_input input;
    bool ok;

    if (name->n == 0)
        return cr_error(&j->about, CR_NOWHERE, CR_E_DATA_FORMAT,
                        "column '%s': found nothing, expected the path of an "
                        "image", feed->name);
    ok = cr_input_open(&feed->adapter, &j->about, path, &input);
    if (ok && input.many)
        ok = cr_error(&j->about, cr_at_file(j->about.arena, path),
                      CR_E_DATA_FORMAT, "the file is not an image");
    ok = ok && cr_input_read(&input, &j->about, index,
                             cr_predict_into(j, feed));
    cr_input_close(&input);
    return ok;
}

const char *cr_predict_field_type(const struct cr_spec *head)
{
    switch (head->type) {
    case CR_STRING:
        return "string";
    case CR_I32:
    case CR_I64:
    case CR_F64:
        return cr_type_name(head->type);
    case CR_U8:
    case CR_BOOL:
    case CR_I8:
    case CR_I16:
    case CR_U16:
        return "int32";
    case CR_U32:
    case CR_U64:
        return "int64";
    default:
        return "float32";
    }
}
