/*
 * Rows of text: CSV with or without a header, and JSON lines. This file maps
 * fields to columns; data/csv_dataset.h converts fields to values.
 *
 * With a header, a column consists of the fields that the config names.
 * Without one, the row has the fields of all input columns, one column after
 * the other; the same applies to the elements of a JSON array. Members of a
 * JSON object have the names of fields or of columns.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/node.h"
#include "data/csv_dataset.h"
#include "data/csv_schema.h"
#include "data/features.h"
#include "predict/json_row.h"
#include "predict/predict.h"

/* The mapping from the fields of a row to the columns. */
struct layout {
    struct cr_field_rows *rows;
    int id[64]; /* indices of the fields of --id */
};

struct cr_predict_rows {
    struct cr_predict *j;
    const char *path;
    struct cr_csv_dataset_opts opts; /* of CSVDataset, or its defaults */
    struct cr_pos pos;
    bool fields; /* the network was trained on a CSVDataset */
    struct cr_predict_feed *feed[2 * CR_COLUMNS_MAX];
    int n;     /* number of columns to read */
    int total; /* number of fields of all of them */
    bool json, header, open, ended;
    struct cr_csv csv;
    struct cr_csv object; /* fields of a line of JSON */
    struct cr_json_row scan;
    struct layout by_name, by_place, by_key;
    const struct layout *present;
    const struct cr_csv *row; /* current row, for --id; NULL: unreadable */
    const char **id;
};

/* ---- Config nodes that describe the columns */

static struct cr_node *table_node(struct cr_arena *arena, struct cr_node *to,
                                  enum cr_node_kind kind, const char *key)
{
    struct cr_node *n = CR_NEW(arena, struct cr_node), **at = &to->child;

    n->kind = kind;
    n->key = key;
    n->text = "";
    while (*at)
        at = &(*at)->next;
    *at = n;
    return n;
}

/* The entry of a column under `columns`; NULL: not listed. */
static const struct cr_node *table_config_entry(const struct cr_predict_rows *t,
                                                const char *column)
{
    return t->fields ? cr_node_get(t->opts.columns, column) : NULL;
}

/* The features that the checkpoint records for a column whose fields differ in
 * type; NULL: all elements of the column have one type. */
static const struct cr_features *
table_ckpt_features(const struct cr_predict_rows *t, const char *column)
{
    const struct cr_node *entry = table_config_entry(t, column);
    const struct cr_node *type =
        entry && entry->kind == CR_NODE_MAP ? cr_node_get(entry, "type") : NULL;
    bool kinds = entry ? entry->kind == CR_NODE_MAP &&
                            (!cr_node_get(entry, "fields") ||
                             (type && (strcmp(type->text, "auto") == 0 ||
                                       strcmp(type->text, "category") == 0)))
                      : t->fields && !t->opts.columns;

    return kinds ? cr_features_find(t->j->model.config, column) : NULL;
}

/* The fields of a column, from the config or the features of the checkpoint;
 * NULL: neither names any. */
static const struct cr_node *table_fields(const struct cr_predict_rows *t,
                                          const char *column)
{
    const struct cr_node *entry = table_config_entry(t, column);
    const struct cr_features *found = table_ckpt_features(t, column);
    struct cr_arena *arena = t->j->cli->arena;
    struct cr_node *list;

    if (!found)
        return entry && entry->kind == CR_NODE_MAP
                   ? cr_node_get(entry, "fields")
                   : entry;
    list = CR_NEW(arena, struct cr_node);
    list->kind = CR_NODE_LIST;
    for (int i = 0; i < found->n; i++)
        table_node(arena, list, CR_NODE_STR, NULL)->text = found->v[i].name;
    return entry || found->n > 1 ? list : list->child;
}

/* Whether the fields of a column contain class names. */
static bool table_words(const struct cr_predict_rows *t,
                        const struct cr_predict_feed *f)
{
    const struct cr_node *entry = table_config_entry(t, f->name);

    return cr_node_get(entry, "classes") ||
           (strcmp(f->name, "label") == 0 && f->head.type == CR_I32 &&
            t->j->model.config->classes.n > 0);
}

/* Appends {fields: ..., type: ..., the other keys of the column in the config}
 * to the map. */
static void table_column(struct cr_predict_rows *t, struct cr_node *map,
                         const struct cr_predict_feed *f,
                         const struct cr_node *fields)
{
    struct cr_arena *arena = t->j->cli->arena;
    const struct cr_node *entry = table_config_entry(t, f->name);
    struct cr_node *c = table_node(arena, map, CR_NODE_MAP, f->name);
    const struct cr_features *found = table_ckpt_features(t, f->name);
    struct cr_node *copy = cr_node_copy(arena, fields);

    copy->key = "fields";
    copy->next = NULL;
    c->child = copy;
    for (CR_EACH(m, entry && entry->kind == CR_NODE_MAP ? entry : NULL)) {
        if (strcmp(m->key, "fields") == 0 ||
            (found && strcmp(m->key, "default") != 0))
            continue;
        copy->next = cr_node_copy(arena, m);
        copy = copy->next;
        copy->next = NULL;
    }
    if (found)
        table_node(arena, c, CR_NODE_STR, "type")->text = "auto";
    else if (!cr_node_get(c, "type") && !table_words(t, f))
        table_node(arena, c, CR_NODE_STR, "type")->text =
            cr_predict_field_type(&f->head);
}

/* Field indices as a list node, or the first index as a number. */
static const struct cr_node *
table_places(struct cr_arena *arena, const int *places, int64_t n, bool list)
{
    struct cr_node *all = CR_NEW(arena, struct cr_node), **at = &all->child;

    all->kind = CR_NODE_LIST;
    for (int64_t i = 0; i < n; i++) {
        *at = CR_NEW(arena, struct cr_node);
        (*at)->kind = CR_NODE_INT;
        (*at)->integer = places[i];
        (*at)->text = cr_strf(arena, "%d", places[i]);
        at = &(*at)->next;
    }
    return list ? all : all->child;
}

/* ---- Layouts */

static bool table_rows(struct cr_predict_rows *t, struct layout *l,
                       const struct cr_node *columns,
                       const struct cr_strs *names, const struct cr_csv *csv)
{
    struct cr_arena *arena = t->j->cli->arena;
    const char **wanted = CR_NEWS(arena, const char *, t->n + 1);
    struct cr_csv_dataset_opts opts = t->opts;

    opts.columns = columns;
    for (int i = 0; i < t->n; i++)
        wanted[i] = t->feed[i]->name;
    l->rows = cr_field_rows_open(t->j->model.config, &opts, t->pos, csv, names,
                                 wanted);
    return l->rows != NULL;
}

/* The name of field k of a column, for messages; NULL: unnamed. */
static const char *table_name(const struct cr_predict_rows *t,
                              const struct cr_predict_feed *f, int k)
{
    const struct cr_node *fields = table_fields(t, f->name), *m;

    if (!fields || f->fields == 1)
        m = fields && fields->kind == CR_NODE_LIST ? fields->child : fields;
    else
        m = cr_node_count(fields) == f->fields
                ? cr_node_at(fields, k)
                : NULL;
    return m && m->kind == CR_NODE_STR ? m->text : NULL;
}

/* A layout by index, for rows of n fields: places[i] is the field of element i,
 * counted over all columns. */
static bool table_by_place(struct cr_predict_rows *t, struct layout *l,
                           const int *places, int n, const struct cr_csv *csv)
{
    struct cr_arena *arena = t->j->cli->arena;
    struct cr_node map = { .kind = CR_NODE_MAP };
    struct cr_strs names = { .n = n };
    const char **v = CR_NEWS(arena, const char *, n + 1);
    int at = 0;

    for (int i = 0; i < n; i++)
        v[i] = cr_strf(arena, "column_%d", i);
    names.v = v;
    for (int i = 0; i < t->n; i++) {
        int64_t count = t->feed[i]->fields;
        const struct cr_predict_feed *f = t->feed[i];

        table_column(t, &map, f,
                     table_places(arena, places + at, count,
                                  f->head.rank > 0 && !f->paths));
        for (int64_t k = 0; k < count; k++) {
            const char *name = table_name(t, t->feed[i], (int)k);

            if (name)
                v[places[at + k]] = name;
        }
        at += (int)count;
    }
    return table_rows(t, l, &map, &names, csv);
}

static int table_find(const struct cr_strs *names, const char *name)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->v[i], name) == 0)
            return i;
    return -1;
}

/* Finds the fields of --id by name or by index. */
static bool table_ids(struct cr_predict_rows *t, struct layout *l,
                      const struct cr_strs *names, int n)
{
    const struct cr_strs *id = &t->j->o->id;

    for (int i = 0; i < id->n; i++) {
        char *end;
        long at = names ? table_find(names, id->v[i]) : -1;

        if (at < 0 && *id->v[i]) {
            at = strtol(id->v[i], &end, 10);
            at = *end ? -1 : at;
        }
        if (at < 0 || at >= n)
            return cr_error(
                t->j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                "--id: '%s' is not a field of the rows of %d "
                "fields of %s",
                cr_quote(t->j->cli->arena, id->v[i], strlen(id->v[i])), n,
                t->path);
        l->id[i] = (int)at;
    }
    return true;
}

/* A layout for rows of n fields whose names do not matter: all fields but those
 * of --id and of the labels, in the order of the columns. */
static bool table_placed(struct cr_predict_rows *t, int n,
                         const struct cr_strs *names, const struct cr_csv *csv)
{
    struct layout *l = &t->by_place;
    struct cr_arena *arena = t->j->cli->arena;
    int *places = CR_NEWS(arena, int, n + 1), left = 0;

    if (!table_ids(t, l, names, n))
        return false;
    for (int i = 0; i < n; i++) {
        bool other = false;

        for (int k = 0; k < t->j->o->id.n; k++)
            other = other || l->id[k] == i;
        for (int k = 0; k < t->j->n_truths && names && !t->j->has_truth; k++)
            other = other || strcmp(names->v[i], t->j->truth[k].name) == 0;
        if (!other)
            places[left++] = i;
    }
    if (left != t->total)
        return cr_error(t->j->cli->diag, cr_csv_at(csv, &csv->field[0]),
                        CR_E_DATA_FORMAT,
                        "the row has %d field%s for the input columns of the "
                        "network, expected %d",
                        left, left == 1 ? "" : "s", t->total);
    return table_by_place(t, l, places, n, csv);
}

/* A layout for rows whose fields have names. */
static bool table_named(struct cr_predict_rows *t, const struct cr_strs *names,
                        const struct cr_csv *csv)
{
    struct cr_node map = { .kind = CR_NODE_MAP };

    for (int i = 0; i < t->n; i++) {
        const struct cr_node *fields = table_fields(t, t->feed[i]->name);
        struct cr_node own = { .kind = CR_NODE_STR, .text = t->feed[i]->name };

        table_column(t, &map, t->feed[i], fields ? fields : &own);
    }
    return table_rows(t, &t->by_name, &map, names, csv) &&
           table_ids(t, &t->by_name, names, names->n);
}

/* Lists the accepted keys of a JSON object: columns, their fields, --id, and
 * labels, which are skipped. */
static void table_keys(struct cr_predict_rows *t)
{
    struct cr_arena *arena = t->j->cli->arena;
    const struct cr_strs *id = &t->j->o->id;
    const struct cr_strs *more = &t->opts.column_names;
    struct cr_json_key *key =
        CR_NEWS(arena, struct cr_json_key,
                t->n + t->total + id->n + 2 * t->j->n_truths + more->n);
    int n = 0, at = 0;

    for (int i = 0; i < t->n; i++) {
        const struct cr_node *fields = table_fields(t, t->feed[i]->name);
        int count = (int)t->feed[i]->fields, k = at;

        key[n++] = (struct cr_json_key){ t->feed[i]->name, at, count };
        if (fields && fields->kind == CR_NODE_STR && count == 1)
            key[n++] = (struct cr_json_key){ fields->text, at, 1 };
        if (fields && fields->kind == CR_NODE_LIST &&
            cr_node_count(fields) == count)
            for (CR_EACH(m, fields)) {
                if (m->kind == CR_NODE_STR)
                    key[n++] = (struct cr_json_key){ m->text, k, 1 };
                k++;
            }
        at += count;
    }
    for (int i = 0; i < id->n; i++)
        key[n++] = (struct cr_json_key){ id->v[i], t->total + i, 1 };
    for (int i = 0; i < t->j->n_truths; i++) {
        const char *truth = t->j->truth[i].name;
        const struct cr_node *fields = table_fields(t, truth);

        key[n++] = (struct cr_json_key){ .name = truth };
        if (fields && fields->kind == CR_NODE_STR)
            key[n++] = (struct cr_json_key){ .name = fields->text };
    }
    for (int i = 0; i < more->n; i++)
        key[n++] = (struct cr_json_key){ .name = more->v[i] };
    t->scan = (struct cr_json_row){
        .key = key, .n_keys = n, .to = &t->object, .n_array = t->total,
        .given = CR_NEWS(arena, bool, t->total + id->n + 1)
    };
}

static bool table_by_key(struct cr_predict_rows *t)
{
    struct cr_arena *arena = t->j->cli->arena;
    int ids = t->j->o->id.n, n = t->total + ids;
    int *places = CR_NEWS(arena, int, t->total + 1);

    if (t->by_key.rows)
        return true;
    for (int i = 0; i < t->total; i++)
        places[i] = i;
    for (int i = 0; i < ids; i++)
        t->by_key.id[i] = t->total + i;
    t->object = (struct cr_csv){ .n = n, .path = t->path };
    t->object.field = CR_NEWS(arena, struct cr_csv_field, n + 1);
    table_keys(t);
    return table_by_place(t, &t->by_key, places, n, &t->object);
}

/* Checks the members of an object. Absent fields count as missing values, but
 * it is an error if all are absent, or if some are and the object has an
 * unknown member, which may be a typo. */
static bool table_object_ok(struct cr_predict_rows *t, int64_t line)
{
    struct cr_diag *diag = &t->j->about;
    struct cr_pos pos = cr_at_file(diag->arena, t->path);
    const char **names = CR_NEWS(diag->arena, const char *, t->total + 1);
    const char *near;
    int lacks = 0;

    for (int i = 0; i < t->total; i++)
        if (!t->scan.given[i])
            names[lacks++] = cr_json_key(&t->scan, i);
    pos.line = line < INT32_MAX ? (int)line : INT32_MAX;
    if (lacks == 0 || (lacks < t->total && !t->scan.other))
        return true;
    if (!t->scan.other)
        return cr_error(diag, pos, CR_E_DATA_FORMAT,
                        "JSON: found none of the fields, expected '%s'",
                        names[0]);
    cr_error(diag, pos, CR_E_DATA_FORMAT,
             "JSON: found the unknown field '%s', expected '%s'",
             cr_quote(diag->arena, t->scan.other, strlen(t->scan.other)),
             names[0]);
    near = cr_closest_name(t->scan.other, names);
    if (near)
        cr_hint(diag, "did you mean '%s'?", near);
    else
        cr_hint(diag, "write \"%s\": null for a missing value", names[0]);
    return false;
}

static bool table_object(struct cr_predict_rows *t, char *text, size_t len,
                         int64_t line)
{
    bool array = len > 0 && text[strspn(text, " \t")] == '[';

    return cr_json_row(&t->scan, &t->j->about, t->path, text, len, line) &&
           (array || table_object_ok(t, line));
}

/* ---- Opening */

static void table_feed(struct cr_predict_rows *t, struct cr_predict_feed *f)
{
    t->feed[t->n++] = f;
    t->total += (int)f->fields;
}

static struct cr_predict_rows *table_new(struct cr_predict *j, const char *path,
                                         struct cr_predict_feed *only)
{
    struct cr_predict_rows *t = CR_NEW(j->cli->arena, struct cr_predict_rows);
    const struct cr_descriptor *about = j->data.about;

    t->j = j;
    t->path = strcmp(path, "-") == 0 ? "standard input" : path;
    t->csv.fd = -1;
    t->opts = (struct cr_csv_dataset_opts){ .field_delim = ",",
                                            .header = CR_BOOL_NONE };
    if (about && strcmp(about->name, "CSVDataset") == 0) {
        t->opts = *(const struct cr_csv_dataset_opts *)j->data.opts;
        t->pos = j->data.node->pos;
        t->fields = true;
    }
    if (only) {
        table_feed(t, only);
        return t;
    }
    for (int i = 0; i < j->n_feeds; i++)
        table_feed(t, &j->feed[i]);
    for (int i = 0; i < j->n_truths && j->has_truth; i++)
        table_feed(t, &j->truth[i]);
    t->id = CR_NEWS(j->cli->arena, const char *, j->o->id.n + 1);
    return t;
}

/* Whether the first row is a header: --names, else as in the training data,
 * else if it contains no number. */
static bool table_header(const struct cr_predict_rows *t)
{
    double value;

    if (t->j->o->names != CR_PREDICT_AUTO)
        return t->j->o->names == CR_PREDICT_YES;
    if (t->fields)
        return cr_field_header(&t->opts);
    for (int i = 0; i < t->csv.n; i++)
        if (cr_csv_real(t->csv.field[i].text, t->csv.field[i].len, &value))
            return false;
    return true;
}

/* Whether the first row can be a header: not all its fields are numbers, and
 * it names a field of the network or these fields have no names. */
static bool table_names_any(const struct cr_predict_rows *t,
                            const struct cr_strs *names)
{
    double value;

    for (int i = 0; i < names->n; i++)
        if (cr_csv_real(names->v[i], strlen(names->v[i]), &value))
            break;
        else if (i == names->n - 1)
            return true;
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < t->feed[i]->fields; k++) {
            const char *name = table_name(t, t->feed[i], k);

            if (!name || table_find(names, name) >= 0)
                return true;
        }
    return false;
}

/* Chooses the layout of a CSV file by its first row. */
static bool table_first(struct cr_predict_rows *t, const struct cr_csv *csv,
                        bool header)
{
    struct cr_arena *arena = t->j->cli->arena;
    struct cr_strs names = { .n = csv->n };
    const char **v = CR_NEWS(arena, const char *, csv->n + 1);

    for (int i = 0; i < csv->n; i++)
        v[i] = cr_strndup(arena, csv->field[i].text, csv->field[i].len);
    names.v = v;
    if (!header && t->fields && t->opts.column_names.n == csv->n) {
        names = t->opts.column_names;
        t->present = &t->by_name;
        return table_named(t, &names, csv);
    }
    if (header && t->fields && t->j->o->names == CR_PREDICT_AUTO &&
        !table_names_any(t, &names)) {
        cr_error(t->j->cli->diag, cr_csv_at(csv, &csv->field[0]),
                 CR_E_DATA_FORMAT,
                 "the first line names none of the network's input fields");
        cr_hint(t->j->cli->diag,
                "use --names no if the first line is a row of data");
        return false;
    }
    if (header && t->fields) {
        t->present = &t->by_name;
        return table_named(t, &names, csv);
    }
    if (!header && t->fields && !t->j->o->stream &&
        t->j->o->names == CR_PREDICT_AUTO && t->opts.columns) {
        for (int i = 0; i < csv->n; i++)
            v[i] = cr_strf(arena, "column_%d", i);
        t->present = &t->by_name;
        return table_named(t, &names, csv);
    }
    t->present = &t->by_place;
    return table_placed(t, csv->n, header ? &names : NULL, csv);
}

static char table_delimiter(const struct cr_predict_rows *t, const char *path)
{
    return t->j->o->rows == CR_ROWS_TSV ||
                   (t->j->o->rows == CR_ROWS_AUTO && cr_ends(path, ".tsv"))
               ? '\t'
               : *t->opts.field_delim;
}

static bool table_is_json(const struct cr_predict_rows *t, const char *text,
                          size_t len)
{
    int rows = t->j->o->rows;

    while (len > 0 && isspace((unsigned char)*text)) {
        text++;
        len--;
    }
    return rows == CR_ROWS_JSONL ||
           (rows == CR_ROWS_AUTO &&
            ((len > 0 && (*text == '{' || *text == '[')) ||
             cr_ends(t->path, ".jsonl") || cr_ends(t->path, ".ndjson")));
}

struct cr_predict_rows *cr_predict_rows_open(struct cr_predict *j,
                                             const char *path,
                                             struct cr_predict_feed *only)
{
    struct cr_predict_rows *t = table_new(j, path, only);
    bool bad = false;

    if (!cr_csv_open(&t->csv, j->cli->diag, path, table_delimiter(t, path)))
        return NULL;
    t->open = true;
    if (table_is_json(t, t->csv.window + t->csv.from,
                      t->csv.to - t->csv.from)) {
        t->json = true;
        t->present = &t->by_key;
        if (table_by_key(t))
            return t;
    } else if (cr_csv_next(&t->csv, &bad)) {
        t->header = table_header(t);
        if (table_first(t, &t->csv, t->header))
            return t;
    } else if (!bad) {
        t->ended = true;
        return t;
    }
    cr_predict_rows_close(t);
    return NULL;
}

void cr_predict_rows_close(struct cr_predict_rows *t)
{
    cr_csv_close(&t->csv); /* also frees the fields of lines in memory */
    free(t->scan.plain);
    t->scan.plain = NULL;
    t->open = false;
}

/* ---- Reading */

/* Converts the elements of a column to the type of the data set. NULL after
 * reporting a value out of range. */
static const void *table_convert(struct cr_predict *j,
                                 const struct cr_predict_feed *f,
                                 const struct cr_spec *spec, const void *x)
{
    int64_t n = cr_count(&f->head);

    if (spec->type == f->head.type || f->head.type == CR_STRING)
        return x;
    if (spec->type == CR_STRING) {
        cr_error(&j->about, CR_NOWHERE, CR_E_DATA_FORMAT,
                 "column '%s': masks of a table are read by --data only",
                 f->name);
        return NULL;
    }
    if (spec->type == CR_I32)
        for (int64_t i = 0; i < n; i++) {
            int32_t v = ((const int32_t *)x)[i];

            if ((f->head.type == CR_U8 && (v < 0 || v > 255)) ||
                (f->head.type == CR_BOOL && (v < 0 || v > 1))) {
                cr_error(&j->about, CR_NOWHERE, CR_E_DATA_RANGE,
                         "column '%s': found %" PRId32 ", expected %s", f->name,
                         v, f->head.type == CR_U8 ? "0 to 255" : "0 or 1");
                return NULL;
            }
        }
    cr_convert(spec->type, x, f->head.type, f->stored, n);
    return f->stored;
}

static bool table_sample(struct cr_predict_rows *t, const struct cr_csv *csv,
                         int64_t index)
{
    struct cr_predict *j = t->j;
    const struct layout *l = t->present;

    t->row = csv;
    if (!cr_field_rows_read(l->rows, &j->about, csv))
        return false;
    for (int i = 0; i < t->n; i++) {
        struct cr_spec spec = cr_field_rows_spec(l->rows, i);
        const void *x = cr_field_rows_at(l->rows, i);

        if (!t->feed[i]->paths)
            x = table_convert(j, t->feed[i], &spec, x);
        if (!x || !(t->feed[i]->paths
                        ? cr_predict_image(j, t->feed[i], t->path, x, index)
                        : cr_predict_stored(j, t->feed[i], x, index))) {
            if (x)
                cr_note(&j->about, "at %s",
                        cr_pos_text(&j->scratch, cr_csv_at(csv, csv->field)));
            return false;
        }
    }
    cr_predict_count_unknown(j, l->rows, csv, t->path);
    return true;
}

int cr_predict_rows_next(struct cr_predict_rows *t, int64_t index)
{
    struct cr_csv *csv = &t->csv;
    bool bad = false;
    size_t len;
    char *text;

    t->row = NULL;
    csv->diag = &t->j->about;
    if (t->ended)
        return 0;
    if (t->json) {
        do
            if (!cr_csv_line(csv, &text, &len, &bad))
                return bad ? -2 : 0;
        while (len == 0);
        return table_object(t, text, len, csv->line) &&
                       table_sample(t, &t->object, index)
                   ? 1
                   : -1;
    }
    if (!t->header && index == 0)
        return table_sample(t, csv, index) ? 1 : -1;
    if (cr_csv_next(csv, &bad))
        return table_sample(t, csv, index) ? 1 : -1;
    if (!bad)
        return 0;
    return cr_csv_skip_line(csv) ? -1 : -2;
}

const char *const *cr_predict_rows_id(const struct cr_predict_rows *t)
{
    struct cr_predict *j = t->j;
    const char **id;

    if (j->o->id.n == 0)
        return NULL;
    id = CR_NEWS(&j->text, const char *, j->o->id.n);
    for (int i = 0; i < j->o->id.n; i++) {
        const struct cr_csv_field *f = t->row && t->present->id[i] < t->row->n
                                           ? &t->row->field[t->present->id[i]]
                                           : NULL;

        id[i] = f ? cr_strndup(&j->text, f->text, f->len) : "";
    }
    return id;
}

bool cr_predict_is_table(const struct cr_predict *j, const char *path,
                         bool images)
{
    static const char *const endings[] = { ".csv", ".tsv", ".jsonl",
                                           ".ndjson" };
    const struct cr_descriptor *about = j->data.about;

    if (j->o->rows != CR_ROWS_AUTO)
        return j->o->rows != CR_ROWS_NAMES;
    for (size_t i = 0; i < CR_LEN(endings); i++)
        if (cr_ends(path, endings[i]))
            return true;
    return about && strcmp(about->name, "CSVDataset") == 0 && !images &&
           !cr_ends(path, ".npy") && !cr_ends(path, ".npz");
}

bool cr_predict_table(struct cr_predict *j, const char *path)
{
    int errors = j->cli->diag->errors;
    struct cr_predict_rows *t = cr_predict_rows_open(j, path, NULL);
    bool ok = true;
    int64_t i = 0;
    int got;

    if (!t)
        return !j->stopped && j->cli->diag->errors > errors;
    cr_predict_header(j);
    for (; ok && (got = cr_predict_rows_next(t, i)) != 0; i++) {
        struct cr_predict_row row = {
            .name = cr_strf(&j->text, "%s#%" PRId64, path, i),
            .sample = -1,
            .id = cr_predict_rows_id(t),
        };

        ok = got > 0 ? cr_predict_add(j, &row) : cr_predict_bad(j, &row);
        if (got == -2)
            break;
    }
    if (i == 0 && ok && strcmp(path, "-") != 0)
        cr_error(j->cli->diag, cr_at_file(j->cli->arena, path), CR_E_DATA_EMPTY,
                 "the file has no samples");
    cr_predict_rows_close(t);
    return ok;
}

/* ---- Single lines */

struct cr_predict_rows *cr_predict_lines(struct cr_predict *j)
{
    struct cr_predict_rows *t = table_new(j, "-", NULL);

    t->header = j->o->names == CR_PREDICT_YES;
    return t;
}

int cr_predict_line(struct cr_predict_rows *t, char *line, size_t len,
                    int64_t number)
{
    struct cr_predict *j = t->j;
    struct cr_csv *csv = &t->csv;
    bool bad = false;

    t->row = NULL;
    if (table_is_json(t, line, len)) {
        if (!table_by_key(t))
            return -2;
        t->present = &t->by_key;
        return table_object(t, line, len, number) &&
                       table_sample(t, &t->object, number - 1)
                   ? 1
                   : -1;
    }
    cr_csv_memory(csv, &j->about, t->path, table_delimiter(t, ""), line, len,
                  number);
    if (!cr_csv_next(csv, &bad)) {
        struct cr_pos pos = cr_at_file(j->about.arena, t->path);

        pos.line = number < INT32_MAX ? (int)number : INT32_MAX;
        pos.col = 1;
        if (!bad)
            cr_error(&j->about, pos, CR_E_DATA_FORMAT,
                     "the line is empty, expected a row");
        return -1;
    }
    if (!t->by_place.rows && !t->by_name.rows) {
        struct cr_diag *diag = j->cli->diag;
        bool ok;

        j->cli->diag = &j->about;
        j->model.config->diag = &j->about;
        ok = table_first(t, csv, t->header);
        j->cli->diag = j->model.config->diag = diag;
        if (t->header)
            return ok ? 0 : -2;
        if (!ok)
            return -1;
    }
    t->present = t->by_name.rows ? &t->by_name : &t->by_place;
    return table_sample(t, csv, number - 1) ? 1 : -1;
}
