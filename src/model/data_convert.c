#include "model/data_convert.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/float_text.h"
#include "base/signals.h"
#include "base/str.h"
#include "base/table.h"
#include "conf/scalar.h"
#include "console/work_progress.h"
#include "data/features.h"
#include "data/npy.h"
#include "data/scan.h"
#include "model/data_stats.h"
#include "model/model.h"

#define CONVERT_SPLITS 3

/* A column of a split: its name, and the shape of every sample. */
struct convert_column {
    struct cr_column column;
    struct cr_atomic_file *file; /* formats with a file per column */
    bool missing;                /* a value is NaN */
};

struct convert_format {
    const char *name, *suffix;
    const char *dataset; /* the type that reads the files */
    bool per_column;     /* a file per column, else one per split */
    /* Why a column cannot be written; NULL: it can. */
    const char *(*refuse)(const struct cr_spec *spec);
    /* Appends the start of the file of a column with n samples, or of a
     * split. */
    void (*head)(struct cr_buf *to, const struct convert_column *c, int n_c,
                 int64_t n);
    /* Appends the value of a column; false if the format cannot hold it, which
     * `mismatch` names. Called by several threads. */
    bool (*value)(struct cr_buf *to, const struct cr_spec *spec,
                  const void *x);
    const char *mismatch;
    /* Appends the arguments of the data set in dataset.yaml. */
    void (*args)(struct cr_buf *to, const char *split,
                 const struct convert_column *c, int n_c);
};

struct convert {
    struct cr_cli *cli;
    const struct convert_format *format;
    const char *dir, *split;
    struct cr_atomic_file file[CONVERT_SPLITS * CR_COLUMNS_MAX];
    int n_files;
    struct convert_column column[CR_COLUMNS_MAX]; /* of the split */
    int n_columns;
    int64_t samples, done; /* of the split */
    struct cr_config *config;
    const struct cr_data_loader *loader;
    bool failed;
    bool made; /* the folder */
    struct cr_work_progress work;
    struct cr_buf yaml, json;
};

/* A sample in the bytes of its files; a file per split uses the first one. */
struct converted {
    struct cr_arena mem;
    struct cr_buf bytes[CR_COLUMNS_MAX];
    struct cr_spec spec[CR_COLUMNS_MAX];
    bool missing[CR_COLUMNS_MAX];
    bool mismatch[CR_COLUMNS_MAX]; /* the format cannot hold the value */
};

static bool convert_real(enum cr_type type)
{
    return type == CR_REAL || type == CR_F16 || type == CR_BF16 ||
           type == CR_F32 || type == CR_F64;
}

/* ---- npy */

static const char *npy_refuse(const struct cr_spec *spec)
{
    if (spec->rank == CR_RANK_MAX)
        return "has too many dimensions";
    return spec->type == CR_STRING ? "contains texts; use --to csv" : NULL;
}

/* The shape of all samples together. */
static struct cr_spec convert_all(const struct cr_spec *spec, int64_t n)
{
    struct cr_spec all = *spec;

    memmove(all.dim + 1, all.dim, sizeof all.dim - sizeof *all.dim);
    all.dim[0] = n;
    all.rank++;
    return all;
}

static void npy_head(struct cr_buf *to, const struct convert_column *c,
                     int n_c, int64_t n)
{
    struct cr_spec all = convert_all(&c->column.spec, n);

    (void)n_c;
    cr_npy_header(to, &all);
}

static bool npy_value(struct cr_buf *to, const struct cr_spec *spec,
                      const void *x)
{
    cr_buf_add(to, x, cr_bytes(spec));
    return true;
}

static void npy_args(struct cr_buf *to, const char *split,
                     const struct convert_column *c, int n_c)
{
    cr_buf_str(to, "data: {");
    for (int k = 0; k < n_c; k++) {
        const char *name = c[k].column.name;

        cr_buf_str(to, k > 0 ? ", " : "");
        cr_string_write(to, name, true, true);
        cr_buf_str(to, ": ");
        cr_string_write(to, cr_strf(to->arena, "%s-%s.npy", split, name), true,
                        false);
    }
    cr_buf_char(to, '}');
}

/* ---- idx */

/* The type in which IDX stores a type, and its code: numbers are the same. */
static enum cr_type idx_type(enum cr_type type, int *code)
{
    static const struct {
        enum cr_type type, as;
        int code;
    } types[] = {
        { CR_U8, CR_U8, 0x08 },    { CR_BOOL, CR_U8, 0x08 },
        { CR_I8, CR_I8, 0x09 },    { CR_I16, CR_I16, 0x0b },
        { CR_I32, CR_I32, 0x0c },  { CR_U16, CR_I32, 0x0c },
        { CR_U32, CR_I32, 0x0c },  { CR_I64, CR_I32, 0x0c },
        { CR_F16, CR_F32, 0x0d },  { CR_BF16, CR_F32, 0x0d },
        { CR_F32, CR_F32, 0x0d },  { CR_F64, CR_F64, 0x0e },
    };

    type = cr_type_stored(type);
    for (size_t i = 0; i < CR_LEN(types); i++)
        if (types[i].type == type) {
            *code = types[i].code;
            return types[i].as;
        }
    *code = 0;
    return CR_TYPES;
}

static const char *idx_refuse(const struct cr_spec *spec)
{
    const char *why = npy_refuse(spec);
    int code;

    if (!why && idx_type(spec->type, &code) == CR_TYPES)
        why = "has a type that IDX lacks; use --to npy";
    for (int i = 0; i < spec->rank; i++)
        if (spec->dim[i] > UINT32_MAX)
            why = "is too large for IDX; use --to npy";
    return why;
}

static void idx_head(struct cr_buf *to, const struct convert_column *c,
                     int n_c, int64_t n)
{
    struct cr_spec all = convert_all(&c->column.spec, n);
    int code;

    (void)n_c;
    idx_type(all.type, &code);
    cr_buf_add(to, "\0\0", 2);
    cr_buf_char(to, (char)code);
    cr_buf_char(to, (char)all.rank);
    for (int i = 0; i < all.rank; i++)
        for (int shift = 24; shift >= 0; shift -= 8)
            cr_buf_char(to, (char)(all.dim[i] >> shift & 0xff));
}

/* Elements are big-endian. */
static bool idx_value(struct cr_buf *to, const struct cr_spec *spec,
                      const void *x)
{
    int code;
    enum cr_type type = idx_type(spec->type, &code);
    size_t width = cr_type_size(type), from = cr_type_size(spec->type);

    for (int64_t i = 0; i < cr_count(spec); i++) {
        const char *at = (const char *)x + (size_t)i * from;
        char bytes[8];

        if (type == CR_I32) {
            int64_t v;

            cr_convert(spec->type, at, CR_I64, &v, 1);
            if (v < INT32_MIN || v > INT32_MAX)
                return false;
        }
        cr_convert(spec->type, at, type, bytes, 1);
        for (size_t k = width; k-- > 0;)
            cr_buf_char(to, bytes[k]);
    }
    return true;
}

static void idx_args(struct cr_buf *to, const char *split,
                     const struct convert_column *c, int n_c)
{
    cr_buf_str(to, "files: [");
    for (int k = 0; k < n_c; k++) {
        cr_buf_str(to, k > 0 ? ", " : "");
        cr_string_write(
            to, cr_strf(to->arena, "%s-%s.idx", split, c[k].column.name), true,
            false);
    }
    cr_buf_str(to, "], column_names: [");
    for (int k = 0; k < n_c; k++) {
        cr_buf_str(to, k > 0 ? ", " : "");
        cr_string_write(to, c[k].column.name, true, false);
    }
    cr_buf_char(to, ']');
}

/* ---- csv */

static const char *csv_refuse(const struct cr_spec *spec)
{
    if (spec->type == CR_U64)
        return "has the type uint64, which tables lack; use --to npy";
    if (cr_count(spec) < 1)
        return "has no elements";
    return NULL;
}

/* A field in quotes (RFC 4180). */
static void csv_text(struct cr_buf *to, const char *text, size_t n)
{
    cr_buf_char(to, '"');
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            cr_buf_char(to, '"');
        cr_buf_char(to, text[i]);
    }
    cr_buf_char(to, '"');
}

static void csv_head(struct cr_buf *to, const struct convert_column *c,
                     int n_c, int64_t n)
{
    (void)n;
    for (int k = 0; k < n_c; k++) {
        const struct cr_spec *s = &c[k].column.spec;
        const char *name = c[k].column.name;

        for (int64_t i = 0; i < cr_count(s); i++) {
            const char *field =
                s->rank == 0 ? name : cr_strf(to->arena, "%s%" PRId64, name, i);

            cr_buf_str(to, k > 0 || i > 0 ? "," : "");
            csv_text(to, field, strlen(field));
        }
    }
    cr_buf_char(to, '\n');
}

/* The shortest decimal that gives the same number again; false: it is
 * infinite. */
static bool csv_number(struct cr_buf *to, enum cr_type type, const void *x)
{
    char text[CR_FLOAT_TEXT];
    double v;
    int64_t i;

    if (!convert_real(type)) {
        cr_convert(type, x, CR_I64, &i, 1);
        cr_buf_f(to, "%" PRId64, i);
        return true;
    }
    cr_convert(type, x, CR_F64, &v, 1);
    if (type != CR_F64 && (double)(float)v == v) {
        cr_float_text(text, (float)v);
        cr_buf_str(to, text);
    } else {
        cr_buf_str(to, v == v ? cr_real_text(to->arena, v) : "nan");
    }
    return !isinf(v);
}

static bool csv_value(struct cr_buf *to, const struct cr_spec *spec,
                      const void *x)
{
    const struct cr_ragged *text = x;
    size_t width = cr_type_size(spec->type);

    if (to->len > 0)
        cr_buf_char(to, ',');
    if (spec->type == CR_STRING) {
        csv_text(to, text->v, (size_t)text->n);
        return true;
    }
    for (int64_t i = 0; i < cr_count(spec); i++) {
        cr_buf_str(to, i > 0 ? "," : "");
        if (!csv_number(to, spec->type, (const char *)x + (size_t)i * width))
            return false;
    }
    return true;
}

static const char *csv_type(enum cr_type type)
{
    if (type == CR_STRING)
        return "string";
    if (convert_real(type))
        return cr_type_stored(type) == CR_F64 ? "float64" : "float32";
    return type == CR_I64 || type == CR_U32 ? "int64" : "int32";
}

static void csv_args(struct cr_buf *to, const char *split,
                     const struct convert_column *c, int n_c)
{
    int64_t at = 0;

    cr_buf_f(to, "dataset_files: %s.csv, columns: {", split);
    for (int k = 0; k < n_c; k++) {
        const struct cr_spec *s = &c[k].column.spec;
        int64_t n = cr_count(s);

        cr_buf_str(to, k > 0 ? ", " : "");
        cr_string_write(to, c[k].column.name, true, true);
        if (s->rank == 0)
            cr_buf_f(to, ": {fields: %" PRId64, at);
        else
            cr_buf_f(to, ": {fields: \"%" PRId64 ":%" PRId64 "\"", at, at + n);
        cr_buf_f(to, ", type: %s%s}", csv_type(s->type),
                 c[k].missing ? ", default: nan" : "");
        at += n;
    }
    cr_buf_char(to, '}');
}

static const struct convert_format formats[] = {
    { "npy", ".npy", "NumpySlicesDataset", true, npy_refuse, npy_head,
      npy_value, NULL, npy_args },
    { "idx", ".idx", "IdxDataset", true, idx_refuse, idx_head, idx_value,
      "has an integer beyond int32; use --to npy", idx_args },
    { "csv", ".csv", "CSVDataset", false, csv_refuse, csv_head, csv_value,
      "has an infinite value, which tables lack; use --to npy", csv_args },
};

/* ---- Samples */

static bool convert_missing(const struct cr_spec *spec, const void *x)
{
    size_t width = cr_type_size(spec->type);
    double v;

    for (int64_t i = 0; convert_real(spec->type) && i < cr_count(spec); i++) {
        cr_convert(spec->type, (const char *)x + (size_t)i * width, CR_F64, &v,
                   1);
        if (isnan(v))
            return true;
    }
    return false;
}

/* Runs in several threads. */
static void convert_read(void *ctx, const struct cr_scan_sample *sample,
                         void *result)
{
    const struct convert *c = ctx;
    struct converted *to = result;

    for (int k = 0; k < c->n_columns; k++) {
        struct cr_buf *bytes = &to->bytes[c->format->per_column ? k : 0];

        to->spec[k] = sample->spec[k];
        bytes->arena = &to->mem;
        to->mismatch[k] =
            sample->x[k] &&
            !c->format->value(bytes, &sample->spec[k], sample->x[k]);
        to->missing[k] = sample->x[k] &&
                         convert_missing(&sample->spec[k], sample->x[k]);
    }
    if (!c->format->per_column)
        cr_buf_char(&to->bytes[0], '\n');
}

static bool convert_fail(struct convert *c, int64_t index, int column,
                         const char *why)
{
    struct cr_arena *arena = c->cli->arena;
    const char *name = c->column[column].column.name;

    c->failed = true;
    return cr_error(c->cli->diag, cr_data_loader_where(c->loader, arena, index),
                    CR_E_USAGE, "dataset.%s: column '%s' %s", c->split,
                    cr_quote(arena, name, strlen(name)), why);
}

/* Reports a file to write that is an input: it would be lost. */
static bool convert_apart(const struct convert *c, const char *path)
{
    const char *in = cr_model_data_file(
        c->config, cr_section(c->config, "dataset"), path);

    for (int i = 0; i < c->cli->n_operands && !in; i++)
        if (cr_ckpt_same(c->cli->operands[i], path))
            in = c->cli->operands[i];
    return !in ||
           cr_error(c->cli->diag, CR_NOWHERE, CR_E_USAGE,
                    "-o %s would overwrite the input '%s'",
                    cr_quote(c->cli->arena, c->dir, strlen(c->dir)),
                    cr_quote(c->cli->arena, in, strlen(in)));
}

/* Opens the files of the split with the shapes of its first sample. */
static bool convert_open(struct convert *c, int64_t index,
                         const struct converted *first)
{
    struct cr_arena *arena = c->cli->arena;
    int n_files = c->format->per_column ? c->n_columns : 1;

    for (int k = 0; k < c->n_columns; k++) {
        const char *why;

        c->column[k].column.spec = first->spec[k];
        why = c->format->refuse(&first->spec[k]);
        if (why)
            return convert_fail(c, index, k, why);
    }
    for (int k = 0; k < n_files; k++) {
        struct convert_column *column = &c->column[k];
        struct cr_buf head = { .arena = arena };
        const char *name = cr_strf(
            arena, "%s%s%s%s", c->split, c->format->per_column ? "-" : "",
            c->format->per_column ? column->column.name : "",
            c->format->suffix);
        struct cr_atomic_file *file = &c->file[c->n_files];

        name = cr_path_join(arena, c->dir, name);
        c->format->head(&head, column,
                        c->format->per_column ? 1 : c->n_columns, c->samples);
        if (!convert_apart(c, name) ||
            !cr_atomic_file_open(file, c->cli->diag, name, 0)) {
            c->failed = true;
            return false;
        }
        c->n_files++;
        column->file = file;
        cr_atomic_file_write(file, head.text, head.len);
        cr_buf_str(&c->json, k > 0 ? ", " : "");
        cr_buf_json(&c->json, name);
    }
    return true;
}

static bool convert_same(struct convert *c, int64_t index,
                         const struct converted *sample)
{
    for (int k = 0; k < c->n_columns; k++) {
        const struct cr_spec *all = &c->column[k].column.spec;
        const struct cr_spec *s = &sample->spec[k];

        if (sample->mismatch[k])
            return convert_fail(c, index, k, c->format->mismatch);
        c->column[k].missing = c->column[k].missing || sample->missing[k];
        if (s->rank == all->rank &&
            memcmp(s->dim, all->dim, (size_t)s->rank * sizeof *s->dim) == 0)
            continue;
        return convert_fail(
            c, index, k,
            cr_strf(c->cli->arena,
                    "has samples of different shapes: %s and %s",
                    cr_diag_format(c->cli->arena, all),
                    cr_diag_format(c->cli->arena, s)));
    }
    return true;
}

static void convert_take(void *ctx, int64_t index, const void *result,
                         const struct cr_diag *errors)
{
    struct convert *c = ctx;
    struct converted sample = *(const struct converted *)result;

    cr_work_step(&c->work, c->done, c->done);
    if (!c->failed && errors->first) {
        cr_diag_append(c->cli->diag, errors);
        c->failed = true;
    }
    if (c->done++ == 0 && !c->failed)
        convert_open(c, index, &sample);
    if (!c->failed && convert_same(c, index, &sample))
        for (int k = 0; k < c->n_columns; k++)
            if (c->column[k].file &&
                !cr_atomic_file_write(c->column[k].file, sample.bytes[k].text,
                                      sample.bytes[k].len))
                c->failed = true;
    cr_arena_free(&sample.mem);
}

/* ---- Splits */

/* Categories are codes of words that only this config knows. */
static bool convert_columns(struct convert *c, struct cr_config *config,
                            const struct cr_dataset *set)
{
    c->n_columns = set->columns;
    for (int k = 0; k < set->columns; k++) {
        const char *name =
            cr_strdup(c->cli->arena, set->column[k].name);
        const struct cr_features *f = cr_features_find(config, name);

        c->column[k] = (struct convert_column){ .column.name = name };
        if (strchr(name, '/') || *name == '.')
            return convert_fail(c, 0, k, "has no name for a file");
        for (int i = 0; f && i < f->n; i++)
            if (f->v[i].kind == CR_FEATURE_CATEGORY)
                return convert_fail(c, 0, k,
                                    "has categories, whose words would be "
                                    "lost");
    }
    return true;
}

static void convert_describe(struct convert *c, struct cr_config *config)
{
    const struct cr_node *node =
        cr_node_get(cr_section(config, "dataset"), c->split);
    const struct cr_node *args = NULL, *shuffle = NULL, *take = NULL;
    struct cr_buf *to = &c->yaml;

    if (node && cr_node_type(node, &args) && args) {
        shuffle = cr_node_get(args, "shuffle");
        take = cr_node_get(args, "num_samples");
    }
    cr_buf_f(to, "  %s: {%s: {", c->split, c->format->dataset);
    c->format->args(to, c->split, c->column, c->n_columns);
    if (shuffle)
        cr_buf_f(to, ", shuffle: %s", cr_node_flow(to->arena, shuffle));
    if (take && take->kind == CR_NODE_INT && take->integer < c->samples)
        cr_buf_f(to, ", num_samples: %s", cr_node_flow(to->arena, take));
    cr_buf_str(to, "}}\n");
}

/* Names of the classes, for predict. */
static void convert_labels(struct cr_buf *to, const struct cr_dataset *set)
{
    if (!set->class_names || to->len > 0)
        return;
    cr_buf_str(to, "predict: {labels: [");
    for (int64_t i = 0; i < set->classes; i++) {
        cr_buf_str(to, i > 0 ? ", " : "");
        cr_string_write(to, set->class_names[i], true, false);
    }
    cr_buf_str(to, "]}\n");
}

static bool convert_split(struct convert *c, struct cr_config *config,
                          int64_t samples, struct cr_buf *labels)
{
    struct cr_data_loader_opts want = { .split = c->split, .limit = samples };
    struct cr_scan scan = { .bytes = sizeof(struct converted),
                            .read = convert_read,
                            .take = convert_take,
                            .ctx = c };
    struct cr_data_loader *loader;
    bool ok;

    want.train = strcmp(c->split, "train") == 0;
    loader = cr_data_loader_open(config, &want);
    if (!loader)
        return false;
    c->loader = loader;
    c->samples = cr_data_loader_scan_samples(loader);
    c->done = 0;
    ok = convert_columns(c, config, cr_data_loader_dataset(loader));
    if (ok) {
        cr_work_begin(&c->work, c->cli, c->split, c->samples);
        ok = cr_data_loader_scan(loader, c->cli->diag, &scan) && !c->failed;
        cr_work_clear(&c->work);
    }
    if (ok) {
        convert_labels(labels, cr_data_loader_dataset(loader));
        convert_describe(c, config);
    }
    cr_data_loader_close(loader);
    return ok;
}

/* ---- All */

/* Creates the folder, which goes again if nothing gets into it. */
static bool convert_folder(struct convert *c)
{
    struct cr_cli *cli = c->cli;
    const char *dir = c->dir;
    struct stat st;
    int error = mkdir(dir, 0777) == 0 ? 0 : errno;

    c->made = error == 0;
    if (c->made)
        cr_signals_folder(dir);
    if (c->made || (stat(dir, &st) == 0 && S_ISDIR(st.st_mode)))
        return true;
    return cr_error(cli->diag, cr_at_file(cli->arena, dir), CR_E_SYSTEM,
                    "cannot create this folder: %s", strerror(error));
}

/* Gives all files their names; dataset.yaml is the last. */
static bool convert_commit(struct convert *c, const char *yaml)
{
    for (int i = 0; i < c->n_files; i++)
        if (!cr_atomic_file_commit(&c->file[i])) {
            while (++i < c->n_files)
                cr_atomic_file_discard(&c->file[i]);
            c->n_files = 0;
            return false;
        }
    c->n_files = 0;
    return cr_write_file(c->cli->diag, yaml, c->yaml.text, c->yaml.len);
}

bool cr_data_convert(struct cr_cli *cli, struct cr_config *config,
                     const char *split, int64_t samples, int format,
                     const char *dir)
{
    const char *const *splits = cr_data_splits(cli, config, split);
    struct convert c = { .cli = cli,
                         .format = &formats[format],
                         .dir = dir,
                         .config = config,
                         .yaml = { .arena = cli->arena },
                         .json = { .arena = cli->arena } };
    struct cr_buf labels = { .arena = cli->arena };
    const char *yaml = cr_path_join(cli->arena, dir, "dataset.yaml");
    bool ok = splits && convert_apart(&c, yaml) && convert_folder(&c);
    int n_files;

    /* Without split, nothing of the old data sets may stay, such as
     * dataset.split. */
    cr_buf_f(&c.yaml,
             "# Written by cellrun data convert. To train on it:\n"
             "# cellrun train CONFIG.yaml dataset.yaml\ndataset:%s\n",
             split ? "" : " !replace");
    for (int i = 0; ok && splits[i]; i++) {
        c.split = splits[i];
        cr_buf_f(&c.json, "%s{\"split\": \"%s\", \"files\": [",
                 i > 0 ? ", " : "", splits[i]);
        ok = convert_split(&c, config, samples, &labels);
        cr_buf_f(&c.json, "], \"samples\": %" PRId64 "}", c.done);
    }
    cr_buf_str(&c.yaml, cr_buf_text(&labels));
    n_files = c.n_files;
    ok = ok && convert_commit(&c, yaml);
    for (int i = 0; i < c.n_files; i++)
        cr_atomic_file_discard(&c.file[i]);
    cr_signals_folder(NULL);
    if (!ok && c.made)
        rmdir(dir); /* unless it has files by now */
    if (ok && cli->json) {
        struct cr_buf path = { .arena = cli->arena };

        cr_buf_json(&path, yaml);
        printf("{\"config\": %s, \"splits\": [%s]}\n", cr_buf_text(&path),
               cr_buf_text(&c.json));
    } else if (ok && !cli->quiet) {
        printf("%s: wrote %d %s file%s; to use them, name it after the "
               "config\n",
               cr_escape(cli->arena, yaml), n_files, c.format->name,
               n_files == 1 ? "" : "s");
    }
    return ok;
}
