#include "data/field_columns.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

/* ---- words ---- */

static uint32_t words_slot(const struct cr_words *w, const char *text,
                           size_t len)
{
    uint32_t at = (uint32_t)cr_hash(CR_HASH, text, len) & (w->room - 1);

    for (; w->slot[at]; at = (at + 1) & (w->room - 1)) {
        const char *word = w->word[w->slot[at] - 1];

        if (strncmp(word, text, len) == 0 && word[len] == '\0')
            break;
    }
    return at;
}

int32_t cr_words_code(struct cr_words *w, const char *text, size_t len,
                      bool add)
{
    double real;
    int64_t integer;
    uint32_t at;

    if (!w->slot) {
        w->room = 32768; /* at least three times what may be in it */
        w->slot = CR_NEWS(w->arena, int32_t, w->room);
        w->word = CR_NEWS(w->arena, const char *, CR_WORDS_MAX);
    }
    at = words_slot(w, text, len);
    if (w->slot[at])
        return w->slot[at] - 1;
    if (!add || w->n == CR_WORDS_MAX)
        return -1;
    w->word[w->n++] = cr_strndup(w->arena, text, len);
    w->slot[at] = w->n;
    if (!cr_csv_int(text, len, &integer) || integer < INT32_MIN ||
        integer > INT32_MAX)
        w->broken_int = true;
    if (!cr_csv_real(text, len, &real) || !isfinite((float)real))
        w->broken_real = true;
    return w->n - 1;
}

const char *cr_words_list(struct cr_arena *arena, const struct cr_words *w)
{
    struct cr_buf b = { .arena = arena };
    int i, n = w->n <= 10 ? w->n : 8;

    for (i = 0; i < n; i++)
        cr_buf_f(&b, "%s%s", i ? ", " : "",
                 cr_quote(arena, w->word[i], strlen(w->word[i])));
    if (n < w->n)
        cr_buf_f(&b, " and %d more", w->n - n);
    return cr_buf_text(&b);
}

/* ---- names of fields ---- */

bool cr_field_header(const struct cr_fields_opts *o)
{
    return o->header == CR_BOOL_NONE ? o->column_names.n == 0 : o->header;
}

/* By name, then by place: the names lie in one array. */
static int names_order(const void *a, const void *b)
{
    const char *const *x = *(const char *const *const *)a;
    const char *const *y = *(const char *const *const *)b;
    int order = strcmp(*x, *y);

    return order != 0 ? order : x < y ? -1 : x > y;
}

/* The first name that stood before already; -1: none. */
static int names_twice(struct cr_arena *arena, const struct cr_strs *names)
{
    const char *const **by = CR_NEWS(arena, const char *const *, names->n + 1);
    int i, first = -1;

    for (i = 0; i < names->n; i++)
        by[i] = &names->v[i];
    qsort(by, (size_t)names->n, sizeof *by, names_order);
    for (i = 1; i < names->n; i++)
        if (strcmp(*by[i - 1], *by[i]) == 0 &&
            (first < 0 || by[i] - names->v < first))
            first = (int)(by[i] - names->v);
    return first;
}

struct cr_strs cr_field_names(struct cr_config *config,
                              const struct cr_fields_opts *o,
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
    twice = names_twice(arena, &names);
    if (twice < 0)
        return names;
    cr_error(config->diag, cr_csv_at(csv, &csv->field[twice]),
             CR_E_DATA_FORMAT, "the name '%s' stands twice in the first line",
             cr_quote(arena, v[twice], strlen(v[twice])));
    cr_note(config->diag, "header: false takes that line as data");
    return (struct cr_strs){ 0 };
}

/* ---- which fields ---- */

static bool take(struct cr_field_column *c, int field, int fields)
{
    if (c->n == fields)
        return false;
    c->field[c->n++] = field;
    return true;
}

/* "a:b", either of which may be left out. */
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

/* Not the config is wrong, but the file that predict was given: it lacks what
 * the training data had. */
static bool lacks(struct cr_config *config, const struct cr_csv *csv,
                  const char *column, const char *field,
                  const struct cr_strs *names)
{
    const char *near = cr_nearest(field, names->v);
    int at = 0;

    while (near && strcmp(names->v[at], near) != 0)
        at++;
    cr_error(config->diag, cr_csv_at(csv, &csv->field[at]), CR_E_DATA_FORMAT,
             "column '%s' is made of the field '%s', which the rows, of %d "
             "field%s, have not", column,
             cr_quote(config->arena, field, strlen(field)), names->n,
             names->n == 1 ? "" : "s");
    if (near)
        cr_hint(config->diag, "is '%s' meant to be '%s'?",
                cr_quote(config->arena, near, strlen(near)), field);
    return false;
}

/* csv: the file, where it is another than the config's; else NULL. */
static bool one_field(struct cr_config *config, const struct cr_node *node,
                      const struct cr_csv *csv, const struct cr_strs *names,
                      struct cr_field_column *c)
{
    const char *text = node->text;
    int i, from, to, before = c->n;
    bool room = true;

    if (node->kind == CR_NODE_INT) {
        if (csv && node->integer >= names->n)
            return lacks(config, csv, c->name, text, names);
        if (node->integer < 0 || node->integer >= names->n)
            return cr_error(config->diag, node->pos, CR_E_OUT_OF_RANGE,
                            "there is no field %lld, rows have %d: 0 to %d",
                            (long long)node->integer, names->n, names->n - 1);
        room = take(c, (int)node->integer, names->n);
    } else if (node->kind != CR_NODE_STR) {
        return cr_error(config->diag, node->pos, CR_E_WRONG_TYPE,
                        "fields takes positions, names, globs and slices "
                        "\"a:b\", not %s", cr_node_what(config->arena, node));
    } else {
        for (i = 0; i < names->n && c->n == before; i++)
            if (strcmp(names->v[i], text) == 0)
                room = take(c, i, names->n);
        if (c->n == before && room && slice(text, names->n, &from, &to)) {
            for (i = from; i < to && room; i++)
                room = take(c, i, names->n);
            c->list = true;
        } else if (c->n == before && room && strpbrk(text, "*?[")) {
            for (i = 0; i < names->n && room; i++)
                if (fnmatch(text, names->v[i], 0) == 0)
                    room = take(c, i, names->n);
            c->list = true;
        }
    }
    if (!room)
        return cr_error(config->diag, node->pos, CR_E_LIMIT,
                        "column '%s' takes more fields than a row has, %d",
                        c->name, names->n);
    if (c->n > before)
        return true;
    if (csv)
        return lacks(config, csv, c->name, text, names);
    cr_error(config->diag, node->pos, CR_E_NO_MATCH,
             "there is no field '%s' in rows of %d fields",
             cr_quote(config->arena, text, strlen(text)), names->n);
    if (cr_nearest(text, names->v))
        cr_hint(config->diag, "did you mean '%s'?",
                cr_nearest(text, names->v));
    return false;
}

static bool fields_of(struct cr_config *config, const struct cr_node *node,
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

/* ---- columns ---- */

enum { TYPE_NONE, TYPE_STRING, TYPE_INT32, TYPE_INT64, TYPE_FLOAT32,
       TYPE_FLOAT64 };

static const enum cr_type types[] = {
    [TYPE_NONE] = CR_STRING, [TYPE_STRING] = CR_STRING,
    [TYPE_INT32] = CR_I32,   [TYPE_INT64] = CR_I64,
    [TYPE_FLOAT32] = CR_F32, [TYPE_FLOAT64] = CR_F64,
};

struct what {
    const struct cr_node *fields;
    int type;
    struct cr_strs classes;
    const struct cr_node *preset;
};

static const struct cr_opt what_opts[] = {
    CR_NODE(struct what, fields, "Which fields of a row."),
    CR_ENUM_OR(struct what, type, TYPE_NONE,
               "auto|string|int32|int64|float32|float64",
               "The type of its elements."),
    CR_STRS_MAY(struct what, classes, "Words that stand for 0, 1, ..."),
    { .name = "default", .at = offsetof(struct what, preset),
      .type = CR_OPT_NODE, .need = CR_OPTIONAL,
      .doc = "The value of fields with nothing in them." },
    { 0 },
};

static const struct cr_about what_about = {
    .name = "columns", .opts = what_opts, .size = sizeof(struct what),
};

static bool is_label(const char *name)
{
    return strcmp(name, "label") == 0;
}

/* Type, classes and default, and whether they go together. */
static bool settle(struct cr_config *config, struct cr_pos pos,
                   const struct what *w, struct cr_field_column *c)
{
    struct cr_diag *diag = config->diag;

    c->type = types[w->type];
    if (w->classes.n > 0) {
        c->classes = w->classes;
        c->named = c->words = true;
        if (w->type != TYPE_NONE && w->type != TYPE_INT32)
            return cr_error(diag, pos, CR_E_CONFLICT,
                            "column '%s' has classes, so its type is int32",
                            c->name);
    } else if (w->type == TYPE_NONE && is_label(c->name)) {
        c->words = true;
        c->classes = config->classes;
    }
    if (c->words)
        c->type = CR_I32;
    if ((c->words || c->type == CR_STRING) && c->n != 1) {
        cr_error(diag, pos, CR_E_CONFLICT,
                 "column '%s' has %d fields of %s, which takes one", c->name,
                 c->n, c->words ? "classes" : "text");
        cr_note(diag, "numbers need a type: {fields: ..., type: float32}");
        return false;
    }
    if (c->type == CR_STRING || c->words)
        c->list = false;
    if (!w->preset)
        return true;
    if (c->words || c->type == CR_STRING ||
        (w->preset->kind != CR_NODE_INT &&
         (w->preset->kind != CR_NODE_REAL || c->type == CR_I32 ||
          c->type == CR_I64)))
        return cr_error(diag, w->preset->pos, CR_E_WRONG_TYPE,
                        "default is a number of the column's type, %s, not "
                        "%s", cr_type_name(c->type),
                        cr_node_what(config->arena, w->preset));
    c->has_preset = true;
    c->preset = w->preset->real;
    return true;
}

static bool column_of(struct cr_config *config, const struct cr_node *node,
                      const struct cr_csv *csv, const struct cr_strs *names,
                      struct cr_field_column *c)
{
    struct what w = { .fields = node };

    if (node->kind == CR_NODE_MAP) {
        w = (struct what){ 0 };
        if (!cr_opts_read(config->arena, config->diag, &what_about, node,
                          node->pos, &w))
            return false;
        if (!w.fields)
            return cr_error(config->diag, node->pos, CR_E_MISSING_KEY,
                            "column '%s' lacks its fields", c->name);
    }
    return fields_of(config, w.fields, csv, names, c) &&
           settle(config, w.fields->pos, &w, c);
}

/* Every field is a column; MindSpore's column_defaults tell the types. */
static struct cr_field_column *every_field(struct cr_config *config,
                                           const struct cr_fields_opts *o,
                                           struct cr_pos pos,
                                           const struct cr_csv *csv,
                                           const struct cr_strs *names,
                                           int *n)
{
    struct cr_field_column *c;
    const struct cr_node *list = o->column_defaults;
    bool ok = true;
    int i, wanted = 0;

    if (names->n > CR_COLUMNS_MAX) {
        cr_error(config->diag, pos, CR_E_LIMIT,
                 "rows have %d fields, more than the %d columns there may be",
                 names->n, CR_COLUMNS_MAX);
        cr_note(config->diag, "columns: {x: {fields: \"0:%d\", type: "
                              "float32}} makes one of many", names->n - 1);
        return NULL;
    }
    if (list && (list->kind != CR_NODE_LIST ||
                 cr_node_count(list) != names->n)) {
        cr_error(config->diag, list->pos, CR_E_WRONG_TYPE,
                 "column_defaults takes a list with one value for each of "
                 "the %d fields", names->n);
        return NULL;
    }
    c = CR_NEWS(config->arena, struct cr_field_column, names->n);
    for (i = 0; i < names->n; i++) {
        const struct cr_node *m = cr_node_at(list, i);
        struct what w = { 0 };

        wanted = o->only && strcmp(names->v[i], o->only) == 0 ? i : wanted;

        if (m)
            w.type = m->kind == CR_NODE_INT    ? TYPE_INT32
                     : m->kind == CR_NODE_REAL ? TYPE_FLOAT32
                                               : TYPE_STRING;
        c[i].name = names->v[i];
        c[i].field = CR_NEWS(config->arena, int, 1);
        c[i].field[0] = i;
        c[i].n = 1;
        ok = settle(config, pos, &w, &c[i]) && ok;
    }
    *n = names->n;
    if (o->only && ok) { /* which predict takes */
        ok = strcmp(names->v[wanted], o->only) == 0 ||
             lacks(config, csv, o->only, o->only, names);
        c += wanted;
        *n = 1;
    }
    return ok ? c : NULL;
}

struct cr_field_column *
cr_field_columns(struct cr_config *config, const struct cr_fields_opts *o,
                 struct cr_pos pos, const struct cr_csv *csv,
                 const struct cr_strs *names, int *n)
{
    const struct cr_node *map = o->columns;
    struct cr_field_column *c;
    bool ok = true;

    if (!map)
        return every_field(config, o, pos, csv, names, n);
    if (map->kind != CR_NODE_MAP || !map->child) {
        cr_error(config->diag, map->pos, CR_E_WRONG_TYPE,
                 "columns takes a map of names and fields, not %s",
                 cr_node_what(config->arena, map));
        return NULL;
    }
    if (o->column_defaults) {
        cr_error(config->diag, o->column_defaults->pos, CR_E_CONFLICT,
                 "columns have their own types, so column_defaults has no "
                 "place beside them");
        return NULL;
    }
    if (cr_node_count(map) > CR_COLUMNS_MAX) {
        cr_error(config->diag, map->pos, CR_E_LIMIT,
                 "%d columns, at most %d", cr_node_count(map),
                 CR_COLUMNS_MAX);
        return NULL;
    }
    c = CR_NEWS(config->arena, struct cr_field_column, cr_node_count(map));
    *n = 0;
    for (CR_EACH(m, map)) {
        c[*n].name = m->key;
        ok = column_of(config, m, o->only ? csv : NULL, names, &c[*n]) && ok;
        ++*n;
    }
    return ok ? c : NULL;
}
