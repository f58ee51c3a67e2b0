/* NumpySlicesDataset: .npy files, one per column. */
#include "base/str.h"
#include "data/array.h"

struct numpy_slices {
    const struct cr_node *data;
    struct cr_strs column_names;
    int64_t num_samples;
    const struct cr_node *shuffle;
};

static const struct cr_opt numpy_slices_opts[] = {
    { CR_FIELD(struct numpy_slices, data, const struct cr_node *),
      .type = CR_OPT_NODE,
      .need = CR_REQUIRED,
      .doc = "One .npy file per column: a list, or a map from the names of the "
             "columns to the files." },
    CR_STRS_OPTIONAL(struct numpy_slices, column_names,
                     "Names of the columns, if data is a list."),
    CR_INT_OPTIONAL(
        struct numpy_slices, num_samples, 1, CR_DIM_MAX,
        "Use only this many samples: the first ones or, if shuffled, "
        "a new random choice in each epoch."),
    CR_NODE(struct numpy_slices, shuffle,
            "Shuffle anew in each epoch. Default: true for training data, "
            "else false."),
    { 0 },
};

/* The file names of data, and its keys if it is a map. */
static bool numpy_slices_files(struct cr_config *config,
                               const struct cr_node *data,
                               struct cr_strs *paths, struct cr_strs *keys)
{
    bool one = data->kind != CR_NODE_LIST && data->kind != CR_NODE_MAP;
    const struct cr_node *node = one ? data : data->child;
    int n = one ? 1 : cr_node_count(data);
    const char **path = CR_NEWS(config->arena, const char *, n + 1);
    const char **key = CR_NEWS(config->arena, const char *, n + 1);

    if (n == 0)
        return cr_error(config->diag, data->pos, CR_E_OUT_OF_RANGE,
                        "data: found nothing, expected at least one file");
    for (int i = 0; i < n; i++, node = node->next) {
        if (node->kind != CR_NODE_STR)
            return cr_error(config->diag, node->pos, CR_E_WRONG_TYPE,
                            "data: found %s, expected the name of a file",
                            cr_node_what(config->arena, node));
        path[i] = node->text;
        key[i] = node->key;
    }
    *paths = (struct cr_strs){ n, path };
    if (data->kind == CR_NODE_MAP)
        *keys = (struct cr_strs){ n, key };
    return true;
}

static bool numpy_slices_open(struct cr_config *config, const void *opts,
                              struct cr_pos pos, struct cr_dataset *to)
{
    const struct numpy_slices *o = opts;
    struct cr_strs paths, names = o->column_names;

    if (!numpy_slices_files(config, o->data, &paths, &names))
        return false;
    if (o->data->kind == CR_NODE_MAP && o->column_names.n > 0)
        return cr_error(config->diag, pos, CR_E_CONFLICT,
                        "column_names: found names, expected none: the keys "
                        "of data name the columns");
    if (names.n == 0) {
        cr_error(config->diag, pos, CR_E_MISSING_KEY,
                 "argument 'column_names' of NumpySlicesDataset is missing");
        cr_hint(config->diag,
                "name the columns: data: {x: x.npy, label: y.npy}");
        return false;
    }
    return cr_arrays_named(config, pos, &paths, &names, to);
}

/* data with other files: "{x: x.npy, label: label.npy}". */
static const char *numpy_slices_form(struct cr_arena *arena,
                                     const struct cr_strs *names)
{
    struct cr_buf b = { .arena = arena };

    for (int i = 0; i < names->n; i++)
        cr_buf_f(&b, "%s%s: %s.npy", i ? ", " : "{", names->v[i], names->v[i]);
    cr_buf_char(&b, '}');
    return cr_buf_text(&b);
}

static bool numpy_slices_replace(struct cr_config *config, void *opts,
                                 struct cr_pos pos, const char *path)
{
    struct numpy_slices *o = opts;
    struct cr_strs paths, names = o->column_names;
    bool map = o->data->kind == CR_NODE_MAP;
    struct cr_node *node;

    if (!numpy_slices_files(config, o->data, &paths, &names))
        return false;
    if (paths.n > 1) {
        cr_error(config->diag, pos, CR_E_DATA_FORMAT,
                 "is one array, but the data set has %d", paths.n);
        cr_hint(config->diag,
                "name a YAML file: dataset: {eval: {NumpySlicesDataset: "
                "{data: %s}}}",
                numpy_slices_form(config->arena, &names));
        return false;
    }
    node = CR_NEW(config->arena, struct cr_node);
    *node = *(o->data->kind == CR_NODE_STR ? o->data : o->data->child);
    node->text = path;
    if (map) {
        struct cr_node *one = CR_NEW(config->arena, struct cr_node);

        *one = *o->data;
        one->child = node;
        node = one;
    }
    o->data = node;
    return true;
}

const struct cr_dataset_type cr_dataset_numpy_slices = {
    .about = {
        .name = "NumpySlicesDataset",
        .summary = "Columns from .npy files, sliced along the first axis.",
        .detail = "The first axis counts the samples; it must be equal in "
                  "all files.",
        .example = "dataset:\n"
                   "  train: {NumpySlicesDataset: {data: [x.npy, y.npy], "
                   "column_names: [x, label]}}\n"
                   "  eval: {NumpySlicesDataset: {data: {x: x_eval.npy, label: "
                   "y_eval.npy}}}\n",
        .opts = numpy_slices_opts,
        .size = sizeof(struct numpy_slices),
    },
    .open = numpy_slices_open,
    .load = cr_arrays_load,
    .read = cr_arrays_read,
    .at = cr_arrays_at,
    .close = cr_arrays_close,
    .replace = numpy_slices_replace,
    .suffixes = ".npy",
};
