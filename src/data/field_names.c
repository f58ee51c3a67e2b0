#include "data/csv_schema.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* ---- names of fields ---- */

bool cr_field_header(const struct cr_csv_dataset_opts *o)
{
    return o->header == CR_BOOL_NONE ? o->column_names.n == 0 : o->header;
}

/* Orders by name, then by position: the names are in one array. */
static int by_name_and_index(const void *a, const void *b)
{
    const char *const *x = *(const char *const *const *)a;
    const char *const *y = *(const char *const *const *)b;
    int order = strcmp(*x, *y);

    return order != 0 ? order : x < y ? -1 : x > y;
}

/* The first name that is equal to an earlier one; -1: none. */
static int first_duplicate(struct cr_arena *arena, const struct cr_strs *names)
{
    const char *const **by = CR_NEWS(arena, const char *const *, names->n + 1);
    int i, first = -1;

    for (i = 0; i < names->n; i++)
        by[i] = &names->v[i];
    qsort(by, (size_t)names->n, sizeof *by, by_name_and_index);
    for (i = 1; i < names->n; i++)
        if (strcmp(*by[i - 1], *by[i]) == 0 &&
            (first < 0 || by[i] - names->v < first))
            first = (int)(by[i] - names->v);
    return first;
}

struct cr_strs cr_field_names(struct cr_config *config,
                              const struct cr_csv_dataset_opts *o,
                              const struct cr_csv *csv)
{
    struct cr_arena *arena = config->arena;
    const char **v = CR_NEWS(arena, const char *, csv->n + 1);
    struct cr_strs names = { .n = csv->n, .v = v };
    bool given = o->column_names.n > 0;
    int i, twice;

    if (given && o->column_names.n != csv->n) {
        cr_error(config->diag, cr_csv_at(csv, &csv->field[0]),
                 CR_E_DATA_FORMAT,
                 "the row has %d field%s, but column_names has %d", csv->n,
                 csv->n == 1 ? "" : "s", o->column_names.n);
        return (struct cr_strs){ 0 };
    }
    for (i = 0; i < csv->n; i++)
        v[i] = given ? o->column_names.v[i]
               : cr_field_header(o)
                   ? cr_strndup(arena, csv->field[i].text, csv->field[i].len)
                   : cr_strf(arena, "column_%d", i);
    if (given || !cr_field_header(o))
        return names;
    twice = first_duplicate(arena, &names);
    if (twice < 0)
        return names;
    cr_error(config->diag, cr_csv_at(csv, &csv->field[twice]), CR_E_DATA_FORMAT,
             "duplicate name '%s' in the first line",
             cr_quote(arena, v[twice], strlen(v[twice])));
    cr_note(config->diag, "use header: false if that line holds data");
    return (struct cr_strs){ 0 };
}

/* ---- selecting fields ---- */

static bool take(struct cr_field_column *c, int field, int fields)
{
    if (c->n == fields)
        return false;
    c->field[c->n++] = field;
    return true;
}

/* Parses "a:b"; either number may be omitted. */
static bool slice(const char *text, int n, int *from, int *to)
{
    char *end;
    long a = 0, b = n;

    if (*text != ':')
        a = strtol(text, &end, 10);
    else
        end = (char *)(uintptr_t)text;
    if (*text == '-' || *end != ':')
        return false;
    text = end + 1;
    if (*text)
        b = strtol(text, &end, 10);
    else
        end = (char *)(uintptr_t)text;
    if (*end || a < 0 || b < a || b > n || *text == '-')
        return false;
    *from = (int)a;
    *to = (int)b;
    return true;
}

/* The names in a message, at most 12. */
static const char *list_names(struct cr_arena *arena,
                              const struct cr_strs *names)
{
    struct cr_buf b = { .arena = arena };

    for (int i = 0; i < names->n && i < 12; i++)
        cr_buf_f(&b, "%s%s", i ? ", " : "",
                 cr_quote(arena, names->v[i], strlen(names->v[i])));
    cr_buf_str(&b, names->n > 12 ? ", ..." : "");
    return cr_buf_text(&b);
}

static bool any_number(const struct cr_strs *names)
{
    double v;

    for (int i = 0; i < names->n; i++)
        if (cr_csv_real(names->v[i], strlen(names->v[i]), &v))
            return true;
    return false;
}

void cr_field_suggest(struct cr_diag *diag, const char *field,
                      const struct cr_strs *names)
{
    const char *near = cr_closest_name(field, names->v);

    if (near)
        cr_hint(diag, "did you mean '%s'?", near);
    else if (names->n == 1 && strpbrk(names->v[0], ",;\t|"))
        cr_hint(diag, "the first line is '%s': set field_delim to the "
                "character between its fields",
                cr_quote(diag->arena, names->v[0], strlen(names->v[0])));
    else if (any_number(names))
        cr_hint(diag, "the first line holds numbers: %s; if the file has no "
                "header, list the names under column_names",
                list_names(diag->arena, names));
    else
        cr_hint(diag, "the fields are: %s", list_names(diag->arena, names));
}

bool cr_field_lacks(struct cr_config *config, const struct cr_csv *csv,
                  const char *column, const char *field,
                  const struct cr_strs *names)
{
    const char *near = cr_closest_name(field, names->v);
    int at = 0;

    while (near && strcmp(names->v[at], near) != 0)
        at++;
    cr_error(config->diag, cr_csv_at(csv, &csv->field[at]), CR_E_DATA_FORMAT,
             "column '%s': field '%s' not found in rows of %d field%s", column,
             cr_quote(config->arena, field, strlen(field)), names->n,
             names->n == 1 ? "" : "s");
    if (near)
        cr_hint(config->diag, "the file has '%s'; rename it to '%s'?",
                cr_quote(config->arena, near, strlen(near)), field);
    else
        cr_field_suggest(config->diag, field, names);
    return false;
}

/* csv: the input file of predict; NULL for files of the config. */
static bool one_field(struct cr_config *config, const struct cr_node *node,
                      const struct cr_csv *csv, const struct cr_strs *names,
                      struct cr_field_column *c)
{
    const char *text = node->text;
    int i, from, to, before = c->n;
    bool fits = true;

    if (node->kind == CR_NODE_INT) {
        if (csv && node->integer >= names->n)
            return cr_field_lacks(config, csv, c->name, text, names);
        if (node->integer < 0 || node->integer >= names->n)
            return cr_error(config->diag, node->pos, CR_E_OUT_OF_RANGE,
                            "field %lld not found: rows have %d, 0 to %d",
                            (long long)node->integer, names->n, names->n - 1);
        fits = take(c, (int)node->integer, names->n);
    } else if (node->kind != CR_NODE_STR) {
        return cr_error(config->diag, node->pos, CR_E_WRONG_TYPE,
                        "fields: expected positions, names, globs and slices "
                        "\"a:b\", but found "
                        "%s",
                        cr_node_what(config->arena, node));
    } else {
        for (i = 0; i < names->n && c->n == before; i++)
            if (strcmp(names->v[i], text) == 0)
                fits = take(c, i, names->n);
        if (c->n == before && fits && slice(text, names->n, &from, &to)) {
            for (i = from; i < to && fits; i++)
                fits = take(c, i, names->n);
            c->list = true;
        } else if (c->n == before && fits && strpbrk(text, "*?[")) {
            for (i = 0; i < names->n && fits; i++)
                if (fnmatch(text, names->v[i], 0) == 0)
                    fits = take(c, i, names->n);
            c->list = true;
        }
    }
    if (!fits)
        return cr_error(config->diag, node->pos, CR_E_LIMIT,
                        "column '%s' has more fields than a row, %d", c->name,
                        names->n);
    if (c->n > before)
        return true;
    if (csv)
        return cr_field_lacks(config, csv, c->name, text, names);
    cr_error(config->diag, node->pos, CR_E_NO_MATCH,
             "field '%s' not found in rows of %d field%s",
             cr_quote(config->arena, text, strlen(text)), names->n,
             names->n == 1 ? "" : "s");
    cr_field_suggest(config->diag, text, names);
    return false;
}

bool cr_field_choose(struct cr_config *config, const struct cr_node *node,
                      const struct cr_csv *csv, const struct cr_strs *names,
                      struct cr_field_column *c)
{
    bool ok = true;

    c->field = CR_NEWS(config->arena, int, names->n);
    if (node->kind != CR_NODE_LIST)
        return one_field(config, node, csv, names, c);
    c->list = true;
    for (CR_EACH(m, node))
        ok = one_field(config, m, csv, names, c) && ok;
    return ok && (c->n > 0 ||
                  cr_error(config->diag, node->pos, CR_E_OUT_OF_RANGE,
                           "column '%s' has no fields", c->name));
}
