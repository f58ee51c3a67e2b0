#include "data/csv_dataset_internal.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "data/features.h"
#include "data/infer.h"

/* Rows of a column are stored in blocks, so that rows are not moved when the
 * column grows. */
#define BLOCK 4096

/* ---- rows in memory ---- */

char *cr_csv_dataset_row_at(const struct cr_csv_dataset_column *c, int64_t i)
{
    return c->block[i / BLOCK] + (size_t)(i % BLOCK) * c->size;
}

char *cr_csv_dataset_row_new(struct cr_csv_dataset *f,
                             struct cr_csv_dataset_column *c, int64_t i)
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
    return cr_csv_dataset_row_at(c, i);
}

/* ---- one field ---- */

static const char *shown(const struct cr_csv_dataset *f,
                         const struct cr_csv_field *field)
{
    return cr_quote(f->config->arena, field->text, field->len);
}

/* Whether the text is a number and a unit, such as 78.1 kg or 5%. */
static bool has_unit(const char *text, size_t len)
{
    size_t n = 0;

    while (len > 0 && *text == ' ')
        text++, len--;
    while (n < len && memchr("+-.0123456789", text[n], 13))
        n++;
    if (n == 0 || n == len || !memchr("0123456789.", text[n - 1], 11))
        return false;
    for (; n < len; n++)
        if (memchr("+-.,:0123456789", text[n], 15))
            return false;
    return true;
}

/* Whether a row has nothing in the fields, several, of a column. */
static bool is_blank(const struct cr_csv *csv,
                     const struct cr_csv_dataset_column *c)
{
    int k = 0;

    while (k < c->of.n && csv->field[c->of.field[k]].len == 0)
        k++;
    return k > 1 && k == c->of.n;
}

static bool wrong(struct cr_csv_dataset *f, const struct cr_csv *csv,
                  const struct cr_csv_field *field,
                  const struct cr_csv_dataset_column *c, const char *expected)
{
    struct cr_arena *arena = f->config->arena;
    const char *name = f->names.v[field - csv->field], *column = c->of.name;
    bool missing = cr_is_missing(field->text, field->len) && !c->guessed;
    const char *comma = memchr(field->text, ',', field->len);

    cr_error(f->config->diag, cr_csv_at(csv, field), CR_E_DATA_FORMAT,
             "%s: found %s, expected %s",
             is_blank(csv, c) ? cr_strf(arena, "column '%s', %d fields",
                                        column, c->of.n)
             : strcmp(name, column) == 0
                 ? cr_strf(arena, "column '%s'", column)
                 : cr_strf(arena, "column '%s', field '%s'", column,
                           cr_quote(arena, name, strlen(name))),
             field->len > 0 ? cr_strf(arena, "'%s'", shown(f, field))
                            : "nothing", expected);
    if (missing && strcmp(column, "label") == 0)
        cr_hint(f->config->diag, "remove the rows without a label, or add "
                "default: VALUE to columns.label");
    else if (missing && c->of.features)
        cr_hint(f->config->diag, "add FillMissing to datapipe.%s, or "
                "default: VALUE to columns.%s", column, column);
    else if (missing)
        cr_hint(f->config->diag, "add default: VALUE to columns.%s", column);
    else if (comma && cr_starts(expected, "a number"))
        cr_hint(f->config->diag, "numbers have a decimal point, not a comma");
    else if (cr_starts(expected, "a number") &&
             has_unit(field->text, field->len))
        cr_hint(f->config->diag, "numbers have no unit: remove it");
    return false;
}

/* Changes a column of integers to float32 after its first other number. */
static void convert_to_float(struct cr_csv_dataset_column *c, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        char *at = cr_csv_dataset_row_at(c, i);
        int32_t whole;
        float real;

        memcpy(&whole, at, sizeof whole);
        real = (float)whole;
        memcpy(at, &real, sizeof real);
    }
    c->of.type = CR_F32;
}

static bool put_real(struct cr_csv_dataset *f, const struct cr_csv *csv,
                     const struct cr_csv_field *field,
                     const struct cr_csv_dataset_column *c, double real,
                     char *to)
{
    if (c->of.type == CR_F64) {
        *(double *)(void *)to = real;
        return true;
    }
    if (!isnan(real) && !isfinite((float)real))
        return wrong(f, csv, field, c, "a number within the range of float32");
    *(float *)(void *)to = (float)real;
    return true;
}

static bool put_whole(struct cr_csv_dataset *f, const struct cr_csv *csv,
                      const struct cr_csv_field *field,
                      const struct cr_csv_dataset_column *c, int64_t integer,
                      char *to)
{
    if (c->of.type == CR_I64) {
        *(int64_t *)(void *)to = integer;
        return true;
    }
    if (integer < INT32_MIN || integer > INT32_MAX)
        return wrong(f, csv, field, c, "a 32-bit integer");
    *(int32_t *)(void *)to = (int32_t)integer;
    return true;
}

static bool number(struct cr_csv_dataset *f, const struct cr_csv *csv,
                   const struct cr_csv_field *field,
                   struct cr_csv_dataset_column *c, char *to)
{
    bool whole = c->of.type == CR_I32 || c->of.type == CR_I64;
    double real = c->of.preset;
    int64_t integer = (int64_t)real;

    if (c->guessed && c->of.type == CR_I32 &&
        cr_csv_real(field->text, field->len, &real) &&
        (!cr_csv_int(field->text, field->len, &integer) ||
         integer < INT32_MIN || integer > INT32_MAX)) {
        convert_to_float(c, f->rows);
        whole = false;
    }
    if (c->of.has_preset && cr_is_missing(field->text, field->len))
        ;
    else if (whole ? !cr_csv_int(field->text, field->len, &integer)
                   : !cr_csv_real(field->text, field->len, &real)) {
        wrong(f, csv, field, c,
              whole && !c->guessed ? "an integer" : "a number");
        if (c->guessed)
            cr_note(f->config->diag,
                    "more than %d distinct numbers precede it, so the column "
                    "is numeric; if it holds text, set type: string under "
                    "columns",
                    CR_CATEGORIES_MAX);
        return false;
    }
    return whole ? put_whole(f, csv, field, c, integer, to)
                 : put_real(f, csv, field, c, real, to);
}

/* Stores the value of feature k of a column. */
static bool feature(struct cr_csv_dataset *f, const struct cr_csv *csv,
                    const struct cr_csv_field *field,
                    struct cr_csv_dataset_column *c, int k, char *to)
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
            return wrong(f, csv, field, c, cr_date_form_text(of->form));
        v = of->clock ? v : floor(v / 86400);
    }
    if (of->category)
        v = cr_category_code(of->category, text, len);
    if (of->category && v == 0 && len > 0 && f->unknown++ == 0) {
        f->unknown_field = of->name;
        f->unknown_text = shown(f, field);
    }
    if (v < 0 && of->category) {
        cr_error(f->config->diag, cr_csv_at(csv, field), CR_E_DATA_RANGE,
                 "column '%s': field '%s' has more than %d distinct strings",
                 c->of.name, of->name, CR_CATEGORIES_MAX);
        cr_hint(f->config->diag, "remove fields of ids; make a text a column "
                                 "of its own with type: string");
        return false;
    }
    return put_real(f, csv, field, c, v, to);
}

static bool word(struct cr_csv_dataset *f, const struct cr_csv *csv,
                 const struct cr_csv_field *field,
                 struct cr_csv_dataset_column *c, char *to)
{
    bool preset = field->len == 0 && c->of.has_preset;
    const char *text = preset ? c->of.preset_text : field->text;
    size_t len = preset ? strlen(text) : field->len;
    int32_t code = cr_category_table_code(&c->words, text, len,
                                          c->of.classes.n == 0 && len > 0);

    if (len == 0 && code < 0)
        return wrong(f, csv, field, c, "a class");
    if (code >= 0) {
        *(int32_t *)(void *)to = code;
        return true;
    }
    if (c->of.classes.n == 0 &&
        (!c->words.broken_int || !c->words.broken_real)) {
        cr_csv_dataset_decide(f, c, f->rows); /* too many distinct values for
                                                 classes: numbers */
        c->guessed = true;
        return number(f, csv, field, c, to);
    }
    if (c->of.classes.n == 0) {
        cr_error(f->config->diag, cr_csv_at(csv, field), CR_E_DATA_RANGE,
                 "column '%s' has more than %d distinct strings", c->of.name,
                 CR_CATEGORIES_MAX);
        cr_note(f->config->diag, "set type for numbers, type: string for text, "
                                 "or classes for a list of classes");
        return false;
    }
    cr_error(f->config->diag, cr_csv_at(csv, field), CR_E_DATA_RANGE,
             "column '%s': '%s' is not one of the classes %s%s", c->of.name,
             shown(f, field),
             cr_category_table_list(f->config->arena, &c->words),
             c->of.named ? "" : " of the training data");
    return false;
}

static bool text(struct cr_csv_dataset *f, const struct cr_csv *csv,
                 const struct cr_csv_field *field,
                 const struct cr_csv_dataset_column *c, int file, char *to)
{
    struct cr_csv_dataset_place *p = (struct cr_csv_dataset_place *)(void *)to;

    (void)f;
    (void)csv;
    *p = (struct cr_csv_dataset_place){ field->at, (uint32_t)field->raw,
                                        field->len == 0 && c->of.has_preset
                                            ? -1
                                            : file };
    return true;
}

static bool field(struct cr_csv_dataset *f, const struct cr_csv *csv,
                  struct cr_csv_dataset_column *c, int file, int k, char *to)
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

/* ---- inferred types ---- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void cr_csv_dataset_decide(struct cr_csv_dataset *f,
                           struct cr_csv_dataset_column *c, int64_t rows)
{
    struct cr_category_table *w = &c->words;
    struct cr_category_table sorted = { .arena = f->config->arena };
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
            cr_category_table_code(&sorted, names[k], strlen(names[k]), true);
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
            to[k].i =
                cr_category_table_code(&sorted, word, strlen(word), false);
        }
    }
    for (i = 0; i < rows; i++) {
        int32_t code;

        memcpy(&code, cr_csv_dataset_row_at(c, i), sizeof code);
        memcpy(cr_csv_dataset_row_at(c, i), &to[code], sizeof code);
    }
    c->of.words = !numbers;
    c->of.type = numbers && w->broken_int ? CR_F32 : CR_I32;
    if (numbers)
        return;
    c->of.classes = (struct cr_strs){ .v = names, .n = w->n };
    c->words = sorted;
}

/* ---- rows ---- */

bool cr_csv_dataset_row(struct cr_csv_dataset *f, const struct cr_csv *csv,
                        int file, int wanted)
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
        struct cr_csv_dataset_column *c = &f->column[i];
        char *to = cr_csv_dataset_row_new(f, c, f->rows);

        for (k = 0; k < c->of.n; k++) {
            if (field(f, csv, c, file, k, to))
                continue;
            ok = false;
            if (is_blank(csv, c))
                break; /* the others miss the same */
        }
    }
    f->rows++;
    return ok;
}
