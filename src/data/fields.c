#include "data/fields.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gz.h"
#include "base/str.h"
#include "data/csv.h"
#include "data/features.h"
#include "data/field_columns.h"
#include "data/fingerprint.h"
#include "data/infer.h"
#include "data/transform.h"
#include "data/words.h"

/* Rows of a column lie in blocks, so that nothing moves while it grows. */
#define BLOCK 4096

struct file {
    const char *path;
    int fd;
};

/* A text's place. */
struct place {
    int64_t at;
    uint32_t len; /* quotes included */
    int32_t file; /* -1: the column's default */
};

struct column {
    struct cr_field_column of;
    size_t size;            /* of one sample */
    char **block;
    int64_t blocks, cap;
    struct cr_words words;
    bool guessed;           /* so many different numbers came that it was
                               taken for one of numbers before the end */
    bool fills;             /* some op takes missing values away */
};

struct fields {
    struct cr_config *config;
    char delimiter;
    int users;
    int n_files;
    struct file *file;
    int columns;
    struct column *column;
    struct cr_strs names;   /* of the fields */
    int64_t rows;
    uint32_t crc, contents;
    bool header;            /* the first line of each file is no row */
    bool good;
};

/* ---- rows in memory ---- */

static char *row_at(const struct column *c, int64_t i)
{
    return c->block[i / BLOCK] + (size_t)(i % BLOCK) * c->size;
}

static char *row_new(struct fields *f, struct column *c, int64_t i)
{
    if (i / BLOCK == c->blocks) {
        if (c->blocks == c->cap) {
            int64_t cap = c->cap > 0 ? 2 * c->cap : 16;

            c->block = cr_grow(f->config->arena, c->block, (size_t)c->cap,
                               (size_t)cap, sizeof *c->block);
            c->cap = cap;
        }
        c->block[c->blocks++] = cr_alloc(f->config->arena, BLOCK, c->size);
    }
    return row_at(c, i);
}

/* ---- one field ---- */

#define WRONG_MAX 10 /* messages on values, before the reading ends */

static const char *shown(const struct fields *f,
                         const struct cr_csv_field *field)
{
    return cr_quote(f->config->arena, field->text, field->len);
}

static bool wrong(struct fields *f, const struct cr_csv *csv,
                  const struct cr_csv_field *field, const struct column *c,
                  const char *expected)
{
    struct cr_arena *arena = f->config->arena;
    const char *name = f->names.v[field - csv->field], *column = c->of.name;
    bool missing = cr_is_missing(field->text, field->len) && !c->guessed;

    cr_error(f->config->diag, cr_csv_at(csv, field), CR_E_DATA_FORMAT,
             "%s: found %s, expected %s",
             strcmp(name, column) == 0
                 ? cr_strf(arena, "column '%s'", column)
                 : cr_strf(arena, "column '%s', field '%s'", column,
                           cr_quote(arena, name, strlen(name))),
             field->len > 0 ? cr_strf(arena, "'%s'", shown(f, field))
                            : "nothing", expected);
    if (missing && c->of.features)
        cr_hint(f->config->diag, "add FillMissing to datapipe.%s, or "
                "default: VALUE to columns.%s", column, column);
    else if (missing)
        cr_hint(f->config->diag, "add default: VALUE to columns.%s", column);
    return false;
}

/* A column taken for whole numbers has others too: as if they had come
 * first. */
static void widen(struct column *c, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        char *at = row_at(c, i);
        int32_t whole;
        float real;

        memcpy(&whole, at, sizeof whole);
        real = (float)whole;
        memcpy(at, &real, sizeof real);
    }
    c->of.type = CR_F32;
}

static bool put_real(struct fields *f, const struct cr_csv *csv,
                     const struct cr_csv_field *field, const struct column *c,
                     double real, char *to)
{
    if (c->of.type == CR_F64) {
        *(double *)(void *)to = real;
        return true;
    }
    if (!isnan(real) && !isfinite((float)real))
        return wrong(f, csv, field, c, "a number that float32 can hold");
    *(float *)(void *)to = (float)real;
    return true;
}

static bool put_whole(struct fields *f, const struct cr_csv *csv,
                      const struct cr_csv_field *field, const struct column *c,
                      int64_t integer, char *to)
{
    if (c->of.type == CR_I64) {
        *(int64_t *)(void *)to = integer;
        return true;
    }
    if (integer < INT32_MIN || integer > INT32_MAX)
        return wrong(f, csv, field, c, "a whole number of 32 bits");
    *(int32_t *)(void *)to = (int32_t)integer;
    return true;
}

static bool number(struct fields *f, const struct cr_csv *csv,
                   const struct cr_csv_field *field, struct column *c,
                   char *to)
{
    bool whole = c->of.type == CR_I32 || c->of.type == CR_I64;
    double real = c->of.preset;
    int64_t integer = (int64_t)real;

    if (c->guessed && c->of.type == CR_I32 &&
        cr_csv_real(field->text, field->len, &real) &&
        (!cr_csv_int(field->text, field->len, &integer) ||
         integer < INT32_MIN || integer > INT32_MAX)) {
        widen(c, f->rows);
        whole = false;
    }
    if (c->of.has_preset && cr_is_missing(field->text, field->len))
        ;
    else if (whole ? !cr_csv_int(field->text, field->len, &integer)
                   : !cr_csv_real(field->text, field->len, &real)) {
        wrong(f, csv, field, c,
              whole && !c->guessed ? "a whole number" : "a number");
        if (c->guessed)
            cr_note(f->config->diag,
                    "more than %d different numbers stand before it, so the "
                    "column is none of classes; where it holds texts, "
                    "type: string in columns says so", CR_WORDS_MAX);
        return false;
    }
    return whole ? put_whole(f, csv, field, c, integer, to)
                 : put_real(f, csv, field, c, real, to);
}

/* A value of a column with features, number k of them. */
static bool feature(struct fields *f, const struct cr_csv *csv,
                    const struct cr_csv_field *field, struct column *c, int k,
                    char *to)
{
    const struct cr_feature *of = &c->of.features->v[k];
    const char *text = field->text;
    size_t len = field->len;
    double v = 0;

    if (!of->category && !of->form && cr_csv_real(text, len, &v))
        return put_real(f, csv, field, c, v, to);
    if (cr_is_missing(text, len)) {
        if (!c->of.has_preset && !of->category && !c->fills)
            return wrong(f, csv, field, c, of->form ? "a date" : "a number");
        if (!c->of.has_preset)
            return put_real(f, csv, field, c, NAN, to);
        v = c->of.preset;
        text = c->of.preset_text;
        len = strlen(text);
    } else if (!of->category && !of->form) {
        return wrong(f, csv, field, c, "a number");
    } else if (of->form) {
        if (!cr_date_read(text, len, of->form, &v))
            return wrong(f, csv, field, c, "a date of the field's form");
        v = of->clock ? v : floor(v / 86400);
    }
    if (of->category)
        v = cr_category_code(of->category, text, len);
    if (v < 0 && of->category)
        return cr_error(f->config->diag, cr_csv_at(csv, field),
                        CR_E_DATA_RANGE,
                        "column '%s': field '%s' holds more than %d "
                        "different words", c->of.name, of->name,
                        CR_WORDS_MAX);
    return put_real(f, csv, field, c, v, to);
}

static void decide(struct fields *f, struct column *c, int64_t rows);

static bool word(struct fields *f, const struct cr_csv *csv,
                 const struct cr_csv_field *field, struct column *c,
                 char *to)
{
    bool preset = field->len == 0 && c->of.has_preset;
    const char *text = preset ? c->of.preset_text : field->text;
    size_t len = preset ? strlen(text) : field->len;
    int32_t code = cr_words_code(&c->words, text, len,
                                 c->of.classes.n == 0 && len > 0);

    if (len == 0 && code < 0)
        return wrong(f, csv, field, c, "a class");
    if (code >= 0) {
        *(int32_t *)(void *)to = code;
        return true;
    }
    if (c->of.classes.n == 0 &&
        (!c->words.broken_int || !c->words.broken_real)) {
        decide(f, c, f->rows); /* so many can only be numbers */
        c->guessed = true;
        return number(f, csv, field, c, to);
    }
    if (c->of.classes.n == 0) {
        cr_error(f->config->diag, cr_csv_at(csv, field), CR_E_DATA_RANGE,
                 "column '%s' holds more than %d different words", c->of.name,
                 CR_WORDS_MAX);
        cr_note(f->config->diag, "numbers need a type, texts type: string, "
                                 "classes a list of them");
        return false;
    }
    cr_error(f->config->diag, cr_csv_at(csv, field), CR_E_DATA_RANGE,
             "column '%s': '%s' is none of the classes %s%s", c->of.name,
             shown(f, field), cr_words_list(f->config->arena, &c->words),
             c->of.named ? "" : " of the training data");
    return false;
}

static bool text(struct fields *f, const struct cr_csv *csv,
                 const struct cr_csv_field *field, const struct column *c,
                 int file, char *to)
{
    struct place *p = (struct place *)(void *)to;

    (void)f;
    (void)csv;
    *p = (struct place){ field->at, (uint32_t)field->raw,
                         field->len == 0 && c->of.has_preset ? -1 : file };
    return true;
}

static bool field(struct fields *f, const struct cr_csv *csv,
                  struct column *c, int file, int k, char *to)
{
    const struct cr_csv_field *of = &csv->field[c->of.field[k]];

    to += (size_t)k * cr_type_size(c->of.type);
    if (c->of.words)
        return word(f, csv, of, c, to);
    if (c->of.type == CR_STRING)
        return text(f, csv, of, c, file, to);
    if (c->of.features)
        return feature(f, csv, of, c, k, to);
    return number(f, csv, of, c, to);
}

/* ---- files ---- */

static bool row(struct fields *f, const struct cr_csv *csv, int file,
                int wanted)
{
    int i, k;
    bool ok = true;

    if (csv->n != wanted) {
        struct cr_pos pos = cr_at_file(f->config->arena, csv->path);

        pos.line = csv->line < INT_MAX ? (int)csv->line : INT_MAX;
        return cr_error(f->config->diag, pos, CR_E_DATA_FORMAT,
                        "the row has %d field%s, expected %d as in the first "
                        "line", csv->n, csv->n == 1 ? "" : "s", wanted);
    }
    for (i = 0; i < f->columns; i++) {
        struct column *c = &f->column[i];
        char *to = row_new(f, c, f->rows);

        for (k = 0; k < c->of.n; k++)
            ok = field(f, csv, c, file, k, to) && ok;
    }
    f->rows++;
    return ok;
}

/* Whether an op of the column takes missing values away. What is no list yet,
 * since the config is still being read, may have one. */
static bool fills(struct cr_config *config, const char *column)
{
    const struct cr_node *args, *ops =
        cr_node_get(cr_section(config, "datapipe"), column);
    bool any = ops && ops->kind != CR_NODE_LIST;

    for (CR_EACH(m, ops)) {
        const char *type = cr_node_type(m, &args);
        const struct cr_transform *op = type ? cr_transform_find(type) : NULL;

        any = any || (op && op->fills);
    }
    return any;
}

/* The columns that the options make of fields of those names. */
static bool columns_made(struct fields *f, const struct cr_fields_opts *o,
                         struct cr_pos pos, const struct cr_csv *csv,
                         const struct cr_strs *names)
{
    struct cr_field_column *of =
        cr_field_columns(f->config, o, pos, csv, names, &f->columns);
    int i;

    f->names = *names;
    if (!of)
        return false;
    f->column = CR_NEWS(f->config->arena, struct column, f->columns);
    for (i = 0; i < f->columns; i++) {
        struct column *c = &f->column[i];

        c->of = of[i];
        c->fills = fills(f->config, of[i].name);
        c->size = c->of.type == CR_STRING
                      ? sizeof(struct place)
                      : (size_t)c->of.n * cr_type_size(c->of.type);
        c->words.arena = f->config->arena;
        for (int k = 0; k < c->of.classes.n; k++)
            cr_words_code(&c->words, c->of.classes.v[k],
                          strlen(c->of.classes.v[k]), true);
    }
    return true;
}

/* The columns of the first file; those of another must be the same. */
static bool columns(struct fields *f, const struct cr_fields_opts *o,
                    struct cr_pos pos, const struct cr_csv *csv, int file,
                    struct cr_strs *names)
{
    struct cr_strs found = cr_field_names(f->config, o, csv);
    int i;

    if (found.n == 0)
        return false;
    if (file > 0) {
        for (i = 0; i < found.n && i < names->n; i++)
            if (strcmp(found.v[i], names->v[i]) != 0)
                return cr_error(f->config->diag,
                                cr_csv_at(csv, &csv->field[i]),
                                CR_E_DATA_FORMAT,
                                "field %d is '%s', but '%s' in the first "
                                "file", i, cr_quote(f->config->arena,
                                                    found.v[i],
                                                    strlen(found.v[i])),
                                cr_quote(f->config->arena, names->v[i],
                                         strlen(names->v[i])));
        return found.n == names->n ||
               cr_error(f->config->diag, cr_csv_at(csv, &csv->field[0]),
                        CR_E_DATA_FORMAT,
                        "%d fields, but %d in the first file", found.n,
                        names->n);
    }
    *names = found;
    return columns_made(f, o, pos, csv, names);
}

/* A column of numbers or words that nobody gave a type: numbers when all of
 * them are, else classes in sorted order. */
static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void decide(struct fields *f, struct column *c, int64_t rows)
{
    struct cr_words *w = &c->words;
    struct cr_words sorted = { .arena = f->config->arena };
    bool numbers = !w->broken_int || !w->broken_real;
    union { int32_t i; float f; } *to;
    const char **names;
    int64_t i;
    int k;

    if (!c->of.words || c->of.classes.n > 0 || w->n == 0)
        return;
    to = cr_alloc(f->config->arena, (size_t)w->n, sizeof *to);
    names = CR_NEWS(f->config->arena, const char *, w->n);
    memcpy(names, w->word, (size_t)w->n * sizeof *names);
    if (!numbers) {
        qsort(names, (size_t)w->n, sizeof *names, by_bytes);
        for (k = 0; k < w->n; k++)
            cr_words_code(&sorted, names[k], strlen(names[k]), true);
    }
    for (k = 0; k < w->n; k++) {
        const char *word = w->word[k];
        int64_t integer = 0;
        double real = 0;

        if (!w->broken_int) {
            cr_csv_int(word, strlen(word), &integer);
            to[k].i = (int32_t)integer;
        } else if (numbers) {
            cr_csv_real(word, strlen(word), &real);
            to[k].f = (float)real;
        } else {
            to[k].i = cr_words_code(&sorted, word, strlen(word), false);
        }
    }
    for (i = 0; i < rows; i++) {
        int32_t code;

        memcpy(&code, row_at(c, i), sizeof code);
        memcpy(row_at(c, i), &to[code], sizeof code);
    }
    c->of.words = !numbers;
    c->of.type = numbers && w->broken_int ? CR_F32 : CR_I32;
    if (numbers)
        return;
    c->of.classes = (struct cr_strs){ .v = names, .n = w->n };
    c->words = sorted;
}

static bool file_read(struct fields *f, const struct cr_fields_opts *o,
                      struct cr_pos pos, int file, struct cr_strs *names)
{
    struct cr_diag *diag = f->config->diag;
    struct cr_csv csv;
    struct stat st;
    bool bad = false, first, ok;
    int before = diag->errors, wanted;

    /* before it is opened, which may wait for ever: it is read again */
    if (stat(f->file[file].path, &st) == 0 && !S_ISREG(st.st_mode) &&
        !S_ISDIR(st.st_mode))
        return cr_error(diag,
                        cr_at_file(f->config->arena, f->file[file].path),
                        CR_E_DATA_READ, "is no regular file");
    if (!cr_csv_open(&csv, diag, f->file[file].path, f->delimiter))
        return false;
    ok = cr_csv_next(&csv, &bad);
    if (!ok && !bad)
        cr_error(diag, cr_at_file(f->config->arena, csv.path),
                 CR_E_DATA_EMPTY, "the file has no rows");
    ok = ok && columns(f, o, pos, &csv, file, names);
    wanted = csv.n;
    first = !cr_field_header(o);
    while (ok && diag->errors - before < WRONG_MAX &&
           (first || cr_csv_next(&csv, &bad))) {
        row(f, &csv, file, wanted);
        first = false;
    }
    if (diag->errors - before >= WRONG_MAX)
        cr_note(diag, "cellrun stopped reading the file after %d errors",
                WRONG_MAX);
    f->contents = cr_crc32_join(f->contents, csv.crc, csv.length);
    cr_csv_close(&csv);
    return ok && !bad && diag->errors == before;
}

/* ---- opening ---- */

static const char **file_paths(struct cr_config *config,
                               const struct cr_fields_opts *o,
                               struct cr_pos pos)
{
    const struct cr_strs *given = &o->dataset_files;
    const char **path = CR_NEWS(config->arena, const char *, given->n + 1);
    bool ok = true;

    for (int i = 0; i < given->n; i++) {
        path[i] = o->only ? given->v[i]
                          : cr_config_path(config, CR_READ_DATA, given->v[i]);
        if (!o->only && !cr_config_may_path(config, CR_READ_DATA, given->v[i]))
            ok = false;
        else if (!path[i])
            ok = cr_error(config->diag, pos, CR_E_DATA_MISSING,
                          "there is no file '%s', neither beside the config "
                          "nor in CELLRUN_DATA", given->v[i]);
    }
    if (ok && given->n == 0)
        ok = cr_error(config->diag, pos, CR_E_DATA_MISSING,
                      "dataset_files names no files");
    if (ok)
        qsort(path, (size_t)given->n, sizeof *path, by_bytes);
    return ok ? path : NULL;
}

/* Only `only` of the columns that there are. */
static const struct cr_node *only_column(struct cr_arena *arena,
                                         const struct cr_node *columns,
                                         const char *name)
{
    struct cr_node *map = CR_NEW(arena, struct cr_node);
    const struct cr_node *one = cr_node_get(columns, name);

    if (!one)
        return columns;
    *map = *columns;
    map->child = cr_node_copy(arena, one);
    map->child->next = NULL;
    return map;
}

static struct cr_spec column_spec(const struct cr_field_column *c)
{
    return (struct cr_spec){ .type = c->type, .rank = c->list,
                             .dim = { c->list ? c->n : 0 } };
}

static bool fields_build(struct fields *f, const struct cr_fields_opts *o,
                         struct cr_pos pos)
{
    struct cr_config *config = f->config;
    struct cr_fields_opts own = *o;
    const char **path = file_paths(config, o, pos);
    struct cr_strs names = { 0 };
    int i;

    if (!path)
        return false;
    if (strlen(o->field_delim) != 1 || strchr("\"\r\n", *o->field_delim))
        return cr_error(config->diag, pos, CR_E_OUT_OF_RANGE,
                        "field_delim is one character, found '%s'",
                        cr_quote(config->arena, o->field_delim,
                                 strlen(o->field_delim)));
    own.paths = (struct cr_strs){ .v = path, .n = o->dataset_files.n };
    if (o->only)
        own.columns = only_column(config->arena, o->columns, o->only);
    f->delimiter = *o->field_delim;
    f->header = cr_field_header(o);
    f->n_files = o->dataset_files.n;
    f->file = CR_NEWS(config->arena, struct file, f->n_files);
    for (i = 0; i < f->n_files; i++)
        f->file[i] = (struct file){ path[i], -1 };
    for (i = 0; i < f->n_files; i++) {
        if (!file_read(f, &own, pos, i, &names) ||
            !cr_fingerprint_file(config->diag, &f->crc, path[i]))
            return false;
    }
    for (i = 0; i < f->columns; i++)
        decide(f, &f->column[i], f->rows);
    f->good = true;
    return true;
}

/* What decides about what is read. */
static const char *fields_key(struct cr_arena *arena,
                              const struct cr_fields_opts *o)
{
    struct cr_buf b = { .arena = arena };
    int i;

    cr_buf_f(&b, "fields %s %d %s", o->field_delim, o->header,
             o->only ? o->only : "");
    for (i = 0; i < o->dataset_files.n; i++)
        cr_buf_f(&b, "\n%s", o->dataset_files.v[i]);
    for (i = 0; i < o->column_names.n; i++)
        cr_buf_f(&b, "\n%s", o->column_names.v[i]);
    if (o->columns)
        cr_buf_f(&b, "\n%s", cr_node_flow(arena, o->columns));
    if (o->column_defaults)
        cr_buf_f(&b, "\n%s", cr_node_flow(arena, o->column_defaults));
    return cr_buf_text(&b);
}

bool cr_fields_open(struct cr_config *config, const struct cr_fields_opts *o,
                    struct cr_pos pos, struct cr_dataset *to)
{
    void **slot = cr_config_shared(config, fields_key(config->arena, o));
    struct fields *f = *slot;
    int i;

    if (!f) {
        f = *slot = CR_NEW(config->arena, struct fields);
        f->config = config;
        if (!fields_build(f, o, pos))
            return false;
    }
    if (!f->good)
        return false; /* said before */
    to->self = f;
    to->columns = f->columns;
    to->count = f->rows;
    to->fingerprint = f->crc;
    to->contents = f->contents;
    for (i = 0; i < f->columns; i++) {
        const struct cr_field_column *c = &f->column[i].of;

        to->column[i].name = c->name;
        to->column[i].spec = column_spec(c);
        if (c->features)
            cr_features_keep(config, c->name, c->features);
        if (!c->words || strcmp(c->name, "label") != 0)
            continue;
        to->classes = c->classes.n;
        to->class_names = c->classes.v;
        if (config->classes.n == 0 && !o->only)
            config->classes = c->classes;
    }
    f->users++;
    return true;
}

void cr_fields_close(struct cr_dataset *set)
{
    struct fields *f = set->self;

    if (--f->users > 0)
        return;
    for (int i = 0; i < f->n_files; i++) {
        if (f->file[i].fd >= 0)
            close(f->file[i].fd);
        f->file[i].fd = -1;
    }
}

struct cr_vocab *cr_fields_vocab(struct cr_config *config,
                                 const struct cr_fields_opts *o,
                                 struct cr_pos pos, const char *name)
{
    struct cr_dataset set = { 0 };
    const struct cr_vocab *found = NULL;
    bool ok = cr_fields_open(config, o, pos, &set);

    for (int i = 0; ok && i < set.columns && !found; i++) {
        const char *column = set.column[i].name;
        size_t len = strlen(column);

        if (strncmp(name, column, len) == 0 &&
            (name[len] == '\0' || name[len] == '.') &&
            cr_features_learn(config, column))
            found = cr_vocab_kept(config, name);
    }
    if (ok)
        cr_fields_close(&set);
    return (struct cr_vocab *)(uintptr_t)found;
}

/* ---- samples ---- */

const void *cr_fields_at(struct cr_dataset *set, int64_t i, int column)
{
    const struct fields *f = set->self;
    const struct column *c = &f->column[column];

    return c->of.type == CR_STRING ? NULL : row_at(c, i);
}

bool cr_fields_read(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                    int column, void *to)
{
    const struct fields *f = set->self;
    const struct column *c = &f->column[column];

    (void)diag;
    memcpy(to, row_at(c, i), c->size);
    return true;
}

/* Several threads may open a file at once; the first one's stays. */
static int file_open(struct file *file)
{
    int fd = __atomic_load_n(&file->fd, __ATOMIC_ACQUIRE), none = -1;

    if (fd >= 0)
        return fd;
    fd = open(file->path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 &&
        !__atomic_compare_exchange_n(&file->fd, &none, fd, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        close(fd);
        fd = none;
    }
    return fd;
}

bool cr_fields_text(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                    int column, struct cr_arena *mem, struct cr_items *to)
{
    struct fields *f = set->self;
    const struct place *p =
        (const void *)row_at(&f->column[column], i);
    const char *preset = f->column[column].of.preset_text;
    struct file *file = &f->file[p->file >= 0 ? p->file : 0];
    char *raw = cr_alloc(mem, 1, (size_t)p->len + 1);
    int fd = p->file >= 0 ? file_open(file) : -1;
    size_t have = 0;

    if (p->file < 0) {
        *to = (struct cr_items){ preset, (int64_t)strlen(preset) };
        return true;
    }

    while (fd >= 0 && have < p->len) {
        ssize_t got = pread(fd, raw + have, p->len - have,
                            p->at + (int64_t)have);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return cr_error(diag, cr_at_byte(diag->arena, file->path, p->at),
                            CR_E_DATA_READ, got < 0 ? "cannot read: %s"
                                                    : "the file has become "
                                                      "shorter%s",
                            got < 0 ? strerror(errno) : "");
        have += (size_t)got;
    }
    if (fd < 0)
        return cr_error(diag, cr_at_file(diag->arena, file->path),
                        CR_E_DATA_READ, "cannot read: %s", strerror(errno));
    *to = (struct cr_items){ raw, (int64_t)cr_csv_plain(raw, p->len) };
    if (raw[0] == '"' && p->len >= 2)
        raw[to->n] = '\0';
    return true;
}

/* Reads the file once more, up to the row. */
struct cr_pos cr_fields_where(struct cr_dataset *set, struct cr_arena *arena,
                              int64_t i, int column)
{
    const struct fields *f = set->self;
    struct cr_diag quiet = { .arena = arena };
    struct cr_pos pos = CR_NOWHERE;
    bool bad, header = true;
    struct cr_csv csv;

    for (int k = 0; k < f->n_files && !pos.src; k++) {
        if (!cr_csv_open(&csv, &quiet, f->file[k].path, f->delimiter))
            break;
        header = f->header;
        while (!pos.src && cr_csv_next(&csv, &bad)) {
            if (!header && i-- == 0) {
                int at = f->column[column].of.field[0];

                pos = cr_csv_at(&csv, &csv.field[at < csv.n ? at : 0]);
            }
            header = false;
        }
        cr_csv_close(&csv);
    }
    return pos;
}

/* ---- rows of other tables ---- */

struct cr_field_rows {
    struct fields f;
    struct cr_config config; /* the config's, with the messages of a row */
    int wanted;              /* fields of a row */
    struct cr_items text[CR_COLUMNS_MAX];
};

/* The column's entry of the map, or the column's name as that of its field. */
static const struct cr_node *rows_column(struct cr_arena *arena,
                                         const struct cr_node *columns,
                                         const char *name)
{
    const struct cr_node *of = cr_node_get(columns, name);
    struct cr_node *node;

    if (of)
        return cr_node_copy(arena, of);
    node = CR_NEW(arena, struct cr_node);
    node->kind = CR_NODE_STR;
    node->key = node->text = name;
    return node;
}

/* The same of a field whose kind was found by reading. */
static const struct cr_node *rows_found(struct cr_arena *arena,
                                        const char *name)
{
    struct cr_node *map = CR_NEW(arena, struct cr_node);
    struct cr_node *field = CR_NEW(arena, struct cr_node);
    struct cr_node *type = CR_NEW(arena, struct cr_node);

    *field = (struct cr_node){ .kind = CR_NODE_STR, .key = "fields",
                               .text = name, .next = type };
    *type = (struct cr_node){ .kind = CR_NODE_STR, .key = "type",
                              .text = "auto" };
    *map = (struct cr_node){ .kind = CR_NODE_MAP, .key = name,
                             .child = field };
    return map;
}

struct cr_field_rows *cr_field_rows_open(struct cr_config *config,
                                         const struct cr_fields_opts *o,
                                         struct cr_pos pos,
                                         const struct cr_csv *csv,
                                         const struct cr_strs *names,
                                         const char *const *wanted)
{
    struct cr_arena *arena = config->arena;
    struct cr_field_rows *r = CR_NEW(arena, struct cr_field_rows);
    struct cr_node *map = CR_NEW(arena, struct cr_node), **at = &map->child;
    struct cr_fields_opts own = *o;

    map->kind = CR_NODE_MAP;
    map->pos = pos;
    for (int i = 0; wanted[i]; i++) {
        *at = (struct cr_node *)(uintptr_t)(
            !o->columns && cr_features_find(config, wanted[i])
                ? rows_found(arena, wanted[i])
                : rows_column(arena, o->columns, wanted[i]));
        (*at)->next = NULL;
        at = &(*at)->next;
    }
    own.columns = map;
    own.column_defaults = NULL;
    own.only = "";
    r->config = *config;
    r->f.config = &r->config;
    r->wanted = names->n;
    if (!columns_made(&r->f, &own, pos, csv, names))
        return NULL;
    for (int i = 0; i < r->f.columns; i++)
        row_new(&r->f, &r->f.column[i], 0);
    return r;
}

struct cr_spec cr_field_rows_spec(const struct cr_field_rows *r, int k)
{
    return column_spec(&r->f.column[k].of);
}

const void *cr_field_rows_at(const struct cr_field_rows *r, int k)
{
    return r->f.column[k].of.type == CR_STRING
               ? (const void *)&r->text[k]
               : row_at(&r->f.column[k], 0);
}

bool cr_field_rows_read(struct cr_field_rows *r, struct cr_diag *diag,
                        const struct cr_csv *csv)
{
    bool ok;

    r->config.diag = diag;
    r->config.arena = diag->arena;
    ok = row(&r->f, csv, 0, r->wanted);
    r->f.rows = 0;
    for (int i = 0; i < r->f.columns && ok; i++)
        if (r->f.column[i].of.type == CR_STRING) {
            const struct cr_field_column *of = &r->f.column[i].of;
            const struct cr_csv_field *field = &csv->field[of->field[0]];
            bool preset = of->has_preset && field->len == 0;
            const char *text = preset ? of->preset_text : field->text;
            size_t len = preset ? strlen(text) : field->len;

            r->text[i] = (struct cr_items){
                cr_strndup(diag->arena, text, len), (int64_t)len
            };
        }
    return ok;
}
