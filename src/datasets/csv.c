/* CSVDataset: rows of text files, whose fields make up columns. */
#include "data/csv_dataset.h"

static const struct cr_opt csv_opts[] = {
    CR_STRS(struct cr_csv_dataset_opts, dataset_files,
            "One file or a list, read in the order of their names; relative "
            "to the config, then to the folders of CELLRUN_DATA."),
    CR_STR_DEFAULT(struct cr_csv_dataset_opts, field_delim, ",",
                   "Delimiter of fields, one byte; \"\\t\" is a tab."),
    CR_NODE(struct cr_csv_dataset_opts, column_defaults,
            "Without columns: a list with a value for each field, whose type "
            "becomes the type of the column: 0 int32, 0.0 float32, \"\" "
            "string. The value itself is not used, as in MindSpore."),
    CR_STRS_OPTIONAL(struct cr_csv_dataset_opts, column_names,
                     "Names of the fields, for files without a line of names."),
    CR_INT_OPTIONAL(
        struct cr_csv_dataset_opts, num_samples, 1, CR_DIM_MAX,
        "Use only this many samples: the first ones or, if shuffled, "
        "a new random choice in each epoch."),
    CR_NODE(struct cr_csv_dataset_opts, shuffle,
            "Shuffle anew in each epoch. Default: true for training data, "
            "else false."),
    CR_BOOL_OPTIONAL(
        struct cr_csv_dataset_opts, header,
        "Whether the first line of each file holds the names of the "
        "fields. Default: true without column_names, else false."),
    CR_NODE(struct cr_csv_dataset_opts, columns,
            "Columns and their fields: {x: {numbers: [age, fare], "
            "categories: sex}, label: species}, {x: {type: auto}, label: "
            "species}, or {x: {fields: \"0:4\", type: float32}}. Default: a "
            "column for each field, with the type of its values."),
    { 0 },
};

static bool csv_open(struct cr_config *config, const void *opts,
                     struct cr_pos pos, struct cr_dataset *to)
{
    return cr_csv_dataset_open(config, opts, pos, to);
}

static bool csv_other(struct cr_config *config, const void *opts,
                      struct cr_pos pos, const char *path, const char *column,
                      struct cr_dataset *to)
{
    struct cr_csv_dataset_opts o = *(const struct cr_csv_dataset_opts *)opts;

    o.dataset_files = (struct cr_strs){ .n = 1, .v = &path };
    o.only = column;
    return cr_csv_dataset_open(config, &o, pos, to);
}

static bool csv_replace(struct cr_config *config, void *opts,
                        struct cr_pos pos, const char *path)
{
    struct cr_csv_dataset_opts *o = opts;
    const char **file = CR_NEW(config->arena, const char *);

    (void)pos;
    *file = path;
    o->dataset_files = (struct cr_strs){ .n = 1, .v = file };
    return true;
}

static struct cr_vocab *csv_vocab(struct cr_config *config, const void *opts,
                                  struct cr_pos pos, const char *column)
{
    return cr_csv_dataset_vocab(config, opts, pos, column);
}

const struct cr_dataset_type cr_dataset_csv = {
    .about = {
        .name = "CSVDataset",
        .summary = "Rows of CSV files.",
        .detail = "The fields of a column are a position (from 0), a name, a "
                  "glob over names, a slice of positions \"a:b\" (from a, "
                  "before b), or a list of these. They are listed under "
                  "numbers, categories and dates, whose features follow one "
                  "another in this order; or under fields, with type: string "
                  "(a text, for a tokenizer or LabelIndex), category, int32, "
                  "int64, float32, float64, image, mask or auto. image: the "
                  "field is the path of a PNG or JPEG file, relative to the "
                  "folder of the CSV file; the column is like image of "
                  "ImageFolderDataset. mask: the path of a PNG file with the "
                  "class of each pixel, its grey value or palette index; the "
                  "column is int32 (height, width), as CrossEntropyLoss takes "
                  "it. Transforms with: COLUMN move a mask with its image. "
                  "auto reads the files to find the kind of each field, and "
                  "without fields takes all numbers, dates and categories that "
                  "no other column names. "
                  "Dates (2024-03-05, 3/5/2024, 5.3.2024, 5 Mar 2024) become "
                  "days since 1970; with a time of day (14:30:05) they become "
                  "seconds, and times alone seconds since midnight. "
                  "Categories need OneHot or CategoryIndex. A value is "
                  "missing if the field is empty, NA, N/A, NaN, null, none, ? "
                  "or -: FillMissing fills in numbers, default gives the "
                  "value of missing fields of any type. classes is a list of "
                  "strings for the indices 0, 1, ... Without a type a column "
                  "is a string; but `label` is int32 or float32 if all its "
                  "fields are numbers, else the index of its string among all "
                  "strings, sorted. Fields may be quoted as in RFC 4180; "
                  "empty lines are skipped. Checkpoints keep what was found.",
        .example = "dataset:\n"
                   "  train: {CSVDataset: {dataset_files: plants.csv, "
                   "columns: {x: {fields: \"0:4\", type: float32}, label: "
                   "species}}}\n"
                   "---\n"
                   "dataset:\n"
                   "  train: {CSVDataset: {dataset_files: titanic.csv, "
                   "columns: {x: {numbers: [age, fare], categories: [sex, "
                   "port]}, label: survived}}}\n"
                   "---\n"
                   "dataset:\n"
                   "  train: {CSVDataset: {dataset_files: images.csv, "
                   "columns: {image: {fields: path, type: image}, label: "
                   "label}}}\n"
                   "---\n"
                   "dataset:\n"
                   "  train: {CSVDataset: {dataset_files: pairs.csv, columns: "
                   "{image: {fields: image, type: image}, label: {fields: "
                   "mask, type: mask}}}}\n"
                   "datapipe:\n"
                   "  image: [{Resize: {size: [64, 64]}}, "
                   "{RandomHorizontalFlip: {prob: 0.5}, only: train}, "
                   "HWC2CHW]\n"
                   "  label: [{Resize: {size: [64, 64], interpolation: "
                   "NEAREST}}, {RandomHorizontalFlip: {prob: 0.5}, only: "
                   "train, with: image}]\n",
        .opts = csv_opts,
        .size = sizeof(struct cr_csv_dataset_opts),
    },
    .open = csv_open,
    .read = cr_csv_dataset_read,
    .text = cr_csv_dataset_text,
    .fetch = cr_csv_dataset_fetch,
    .file = cr_csv_dataset_file,
    .at = cr_csv_dataset_at,
    .where = cr_csv_dataset_where,
    .other = csv_other,
    .field = cr_csv_dataset_field,
    .close = cr_csv_dataset_close,
    .vocab = csv_vocab,
    .replace = csv_replace,
    .suffixes = ".csv .tsv .txt",
};
