#include "data/csv_schema.h"

#include <string.h>

#include "base/str.h"
#include "data/features.h"
#include "data/infer.h"
#include "data/tokenizer.h"
#include "data/transform.h"

/* ---- one type for all fields ---- */

enum { TYPE_NONE, TYPE_STRING, TYPE_CATEGORY, TYPE_INT32, TYPE_INT64,
       TYPE_FLOAT32, TYPE_FLOAT64, TYPE_IMAGE, TYPE_MASK };

static const enum cr_type types[] = {
    [TYPE_NONE] = CR_STRING,  [TYPE_STRING] = CR_STRING,
    [TYPE_CATEGORY] = CR_F64, [TYPE_INT32] = CR_I32,
    [TYPE_INT64] = CR_I64,    [TYPE_FLOAT32] = CR_F32,
    [TYPE_FLOAT64] = CR_F64,  [TYPE_IMAGE] = CR_STRING,
    [TYPE_MASK] = CR_STRING,
};

struct what {
    const struct cr_node *fields, *numbers, *categories, *dates;
    int type;
    struct cr_strs classes;
    const struct cr_node *preset;
};

static const struct cr_opt what_opts[] = {
    CR_NODE(struct what, fields, "Fields of a row that make up the column."),
    CR_ENUM_DEFAULT(struct what, type, TYPE_NONE,
                    "auto|string|category|int32|int64|float32|float64|image|"
                    "mask",
                    "Type of the elements."),
    CR_NODE(struct what, numbers, "Fields of numbers."),
    CR_NODE(struct what, categories, "Fields of categories."),
    CR_NODE(struct what, dates, "Fields of dates or times."),
    CR_STRS_OPTIONAL(struct what, classes, "Strings for the indices 0, 1, ..."),
    { .name = "default",
      .at = offsetof(struct what, preset),
      .type = CR_OPT_NODE,
      .need = CR_OPTIONAL,
      .doc = "Value of missing fields." },
    { 0 },
};

static const struct cr_descriptor what_about = {
    .name = "columns",
    .opts = what_opts,
    .size = sizeof(struct what),
};

/* State of making the columns. */
struct making {
    struct cr_config *config;
    const struct cr_csv_dataset_opts *o;
    const struct cr_csv *csv;
    const struct cr_strs *names;
    struct cr_table_facts *facts; /* NULL: not read yet */
    bool *used;             /* per field: a column names it */
    bool broken;
};

static bool is_label(const char *name)
{
    return strcmp(name, "label") == 0;
}

/* The input file of predict; NULL for files of the config. */
static const struct cr_csv *predict_file(const struct making *m)
{
    return m->o->only ? m->csv : NULL;
}

/* The inferred content of field i; NULL after reporting. */
static const struct cr_field_facts *facts_of(struct making *m, int i)
{
    const struct cr_csv_dataset_opts *o = m->o;
    struct cr_infer_opts opts = { .delimiter = *o->field_delim,
                                  .header = cr_field_header(o),
                                  .n_names = m->names->n,
                                  .names = m->names->v };

    if (o->paths.n == 0) { /* predict: files are not read in advance */
        cr_error(m->config->diag, CR_NOWHERE, CR_E_CKPT_FORMAT,
                 "the checkpoint does not record how to read the field '%s'",
                 m->names->v[i]);
        return NULL;
    }
    if (!m->facts && !m->broken) {
        m->facts = CR_NEW(m->config->arena, struct cr_table_facts);
        m->broken = !cr_infer(m->config->arena, m->config->diag, o->paths.v,
                              o->paths.n, &opts, m->facts);
    }
    return m->broken ? NULL : &m->facts->field[i];
}

static bool default_wrong(struct cr_config *config, const struct what *w,
                          const char *expected)
{
    return cr_error(config->diag, w->preset->pos, CR_E_WRONG_TYPE,
                    "default: found %s, expected %s",
                    cr_node_what(config->arena, w->preset), expected);
}

/* Reads the value that replaces missing values of a feature. */
static bool preset_feature(struct cr_config *config, const struct what *w,
                           const struct cr_feature *f,
                           struct cr_field_column *c)
{
    const char *text = w->preset->text;

    if (f->category)
        return true;
    if (!f->form)
        return w->preset->kind != CR_NODE_STR ||
               default_wrong(config, w, "a number");
    if (!cr_date_read(text, strlen(text), f->form, &c->preset))
        return default_wrong(config, w, cr_date_form_text(f->form));
    if (!f->clock)
        c->preset /= 86400;
    return true;
}

static bool preset_class(struct cr_config *config, const struct what *w,
                         const struct cr_field_column *c)
{
    for (int i = 0; i < c->classes.n; i++)
        if (strcmp(c->classes.v[i], w->preset->text) == 0)
            return true;
    return c->classes.n == 0 ||
           default_wrong(config, w, "one of the classes");
}

/* Reads one default for all features, which then must have one kind. */
static bool preset_features(struct cr_config *config, const struct what *w,
                            struct cr_field_column *c)
{
    const struct cr_feature *f = c->features->v;

    for (int i = 0; i < c->features->n; i++) {
        if (f[i].form != f->form || !f[i].category != !f->category)
            return cr_error(config->diag, w->preset->pos, CR_E_CONFLICT,
                            "default: column '%s' has fields of several kinds; "
                            "use FillMissing, which has a value for each",
                            c->name);
        if (!preset_feature(config, w, &f[i], c))
            return false;
    }
    return true;
}

/* Reads `default` of a column. */
static bool preset_of(struct cr_config *config, const struct what *w,
                      struct cr_field_column *c)
{
    const struct cr_node *p = w->preset;

    if (!p)
        return true;
    c->has_preset = true;
    c->preset_text = p->text;
    c->preset = p->real;
    if (p->kind != CR_NODE_STR && p->kind != CR_NODE_INT &&
        p->kind != CR_NODE_REAL)
        return default_wrong(config, w, "a number or a string");
    if (c->words)
        return preset_class(config, w, c);
    if (c->features)
        return preset_features(config, w, c);
    return c->type == CR_STRING || p->kind == CR_NODE_INT ||
           default_wrong(config, w,
                         cr_strf(config->arena, "a number of the column's "
                                 "type, %s", cr_type_name(c->type)));
}

/* Makes the features of a column of plain numbers. */
static void number_features(struct making *m, struct cr_field_column *c)
{
    struct cr_arena *arena = m->config->arena;

    c->features = CR_NEW(arena, struct cr_features);
    c->features->v = CR_NEWS(arena, struct cr_feature, c->n + 1);
    for (; c->features->n < c->n; c->features->n++)
        c->features->v[c->features->n].name =
            m->names->v[c->field[c->features->n]];
}

/* Sets type, classes and default of a column, and checks that they are
 * consistent. */
static bool resolve_column(struct making *m, struct cr_pos pos,
                           const struct what *w, struct cr_field_column *c)
{
    struct cr_config *config = m->config;
    struct cr_diag *diag = config->diag;

    c->type = types[w->type];
    if (w->classes.n > 0) {
        c->classes = w->classes;
        c->named = c->words = true;
        if (w->type != TYPE_NONE && w->type != TYPE_INT32)
            return cr_error(diag, pos, CR_E_CONFLICT,
                            "column '%s' has classes: its type must be int32",
                            c->name);
    } else if (w->type == TYPE_NONE && is_label(c->name)) {
        c->words = true;
        c->classes = config->classes;
    }
    if (c->words)
        c->type = CR_I32;
    if ((c->words || c->type == CR_STRING) && c->n != 1) {
        cr_error(diag, pos, CR_E_CONFLICT,
                 "column '%s' has %d fields of %s, expected one", c->name, c->n,
                 c->words ? "classes" : "text");
        cr_note(diag, "set a type for numbers: {fields: ..., type: float32}");
        return false;
    }
    if (c->type == CR_STRING || c->words)
        c->list = false;
    c->mask = w->type == TYPE_MASK;
    c->image = w->type == TYPE_IMAGE || c->mask;
    if (c->type == CR_F32 || c->type == CR_F64)
        number_features(m, c);
    return preset_of(config, w, c);
}

/* ---- columns of several kinds ---- */

static void feature_add(struct making *m, struct cr_field_column *c,
                        int field, enum cr_feature_kind kind)
{
    struct cr_features *f = c->features;

    c->field[f->n] = field;
    f->v[f->n++] = (struct cr_feature){ .name = m->names->v[field],
                                        .kind = kind };
    c->n = f->n;
}

/* Sets the format of the dates of a field: from the checkpoint, else the
 * inferred one. */
static bool date_form(struct making *m, struct cr_pos pos,
                      struct cr_feature *f, const struct cr_features *kept,
                      int field)
{
    const struct cr_field_facts *facts;
    int i;

    for (i = 0; kept && i < kept->n; i++)
        if (strcmp(kept->v[i].name, f->name) == 0 && kept->v[i].form) {
            f->form = kept->v[i].form;
            f->clock = kept->v[i].clock;
            return true;
        }
    facts = facts_of(m, field);
    if (!facts)
        return false;
    f->form = facts->form;
    f->clock = facts->clock;
    if (f->form)
        return true;
    cr_error(m->config->diag, pos, CR_E_DATA_FORMAT,
             "field '%s': the values are not dates of one form", f->name);
    cr_hint(m->config->diag, "dates have the form 2024-03-05, 5.3.2024, "
                             "3/5/2024 or Mar 5, 2024, times 14:30:05");
    return false;
}

/* Adds the fields under `numbers`, `categories` or `dates`. */
static bool kind_fields(struct making *m, const struct cr_node *node,
                        enum cr_feature_kind kind, bool dates,
                        struct cr_field_column *c)
{
    struct cr_field_column part = { .name = c->name };
    const struct cr_features *kept = cr_features_find(m->config, c->name);
    int i, k;

    if (!node)
        return true;
    if (!cr_field_choose(m->config, node, predict_file(m), m->names, &part))
        return false;
    c->list = c->list || part.list || c->n > 0;
    for (i = 0; i < part.n; i++) {
        for (k = 0; k < c->n; k++)
            if (c->field[k] == part.field[i])
                return cr_error(m->config->diag, node->pos, CR_E_CONFLICT,
                                "column '%s': duplicate field '%s'", c->name,
                                m->names->v[c->field[k]]);
        feature_add(m, c, part.field[i], kind);
        if (dates && !date_form(m, node->pos, &c->features->v[c->n - 1],
                                kept, part.field[i]))
            return false;
    }
    return true;
}

/* Adds the fields that a checkpoint records, in its order. */
static bool kept_fields(struct making *m, struct cr_pos pos,
                        const struct cr_features *kept,
                        struct cr_field_column *c)
{
    int i, k;

    for (i = 0; i < kept->n; i++) {
        for (k = 0; k < m->names->n; k++)
            if (strcmp(m->names->v[k], kept->v[i].name) == 0)
                break;
        if (c->n == m->names->n) /* the names are distinct, so the column is
                                    full */
            k = c->n;
        if (k == m->names->n && predict_file(m))
            return cr_field_lacks(m->config, m->csv, c->name, kept->v[i].name,
                         m->names);
        if (k == m->names->n)
            return cr_error(m->config->diag, pos, CR_E_NO_MATCH,
                            "field '%s' not found in rows of %d fields; column "
                            "'%s' had it in training",
                            kept->v[i].name, m->names->n, c->name);
        feature_add(m, c, k, kept->v[i].kind);
        c->features->v[i].form = kept->v[i].form;
        c->features->v[i].clock = kept->v[i].clock;
    }
    return true;
}

/* Adds fields of another table, by position, in the order of the checkpoint. */
static bool placed_fields(struct making *m, struct cr_pos pos,
                          const struct cr_features *kept,
                          const struct cr_field_column *part,
                          struct cr_field_column *c)
{
    if (part->n != kept->n)
        return cr_error(m->config->diag, pos, CR_E_CKPT_FORMAT,
                        "column '%s' has %d fields, but had %d in "
                        "training",
                        c->name, part->n, kept->n);
    for (int i = 0; i < kept->n; i++) {
        feature_add(m, c, part->field[i], kept->v[i].kind);
        c->features->v[i] = kept->v[i];
    }
    return true;
}

/* Whether the first transform of the column accepts text: then the column is
 * text. */
static bool wants_text(const struct making *m, const struct cr_field_column *c)
{
    const struct cr_node *args, *ops =
        cr_node_get(cr_section(m->config, "datapipe"), c->name);
    const char *type = ops && ops->kind == CR_NODE_LIST && ops->child
                           ? cr_node_type(ops->child, &args)
                           : NULL;
    const struct cr_transform *op = type ? cr_transform_find(type) : NULL;

    return type &&
           (cr_registry_find(CR_KIND_TOKENIZER, type) || (op && op->ragged));
}

/* Adds fields with their inferred kinds. A single field may be a text. */
static bool auto_fields(struct making *m, struct cr_pos pos,
                        const struct cr_field_column *part, bool named,
                        struct cr_field_column *c)
{
    int i;

    for (i = 0; i < part->n; i++) {
        const struct cr_field_facts *f = facts_of(m, part->field[i]);
        bool words;

        if (!f)
            return false;
        words = f->kind == CR_FIELD_CATEGORY ||
                (f->kind == CR_FIELD_CONSTANT && !f->numbers && !f->form);
        if (!named && (f->kind < CR_FIELD_INTEGER || f->kind == CR_FIELD_TEXT ||
                       m->used[part->field[i]]))
            continue;
        if (!part->list && !f->numbers &&
            (wants_text(m, c) || f->kind == CR_FIELD_TEXT ||
             f->kind == CR_FIELD_ID)) {
            feature_add(m, c, part->field[i], CR_FEATURE_NUMBER);
            c->type = CR_STRING;
            return true;
        }
        if (!f->numbers && (f->kind == CR_FIELD_TEXT || f->kind == CR_FIELD_ID))
            return cr_error(m->config->diag, pos, CR_E_DATA_FORMAT,
                            "column '%s', field '%s': found %s, expected "
                            "numbers, dates or categories", c->name, f->name,
                            f->kind == CR_FIELD_ID ? "ids" : "text");
        feature_add(m, c, part->field[i],
                    words ? CR_FEATURE_CATEGORY : CR_FEATURE_NUMBER);
        c->features->v[c->n - 1].form = f->form;
        c->features->v[c->n - 1].clock = f->clock;
    }
    return c->n > 0 || cr_error(m->config->diag, pos, CR_E_DATA_FORMAT,
                                "column '%s' has no fields of numbers, dates "
                                "or categories", c->name);
}

static bool auto_column(struct making *m, struct cr_pos pos,
                        const struct cr_node *fields,
                        struct cr_field_column *c)
{
    const struct cr_features *kept = cr_features_find(m->config, c->name);
    struct cr_field_column part = { .name = c->name, .list = true };
    int i;

    if (fields) {
        part.list = false;
        if (!cr_field_choose(m->config, fields, predict_file(m), m->names,
                             &part))
            return false;
    } else {
        part.field = CR_NEWS(m->config->arena, int, m->names->n);
        for (; part.n < m->names->n; part.n++)
            part.field[part.n] = part.n;
    }
    c->list = part.list;
    if (kept && fields && m->o->only)
        return placed_fields(m, pos, kept, &part, c);
    if (kept)
        return kept_fields(m, pos, kept, c);
    if (!m->o->only)
        return auto_fields(m, pos, &part, fields != NULL, c);
    for (i = 0; i < part.n; i++) /* the checkpoint has no features: a text */
        feature_add(m, c, part.field[i], CR_FEATURE_NUMBER);
    c->type = CR_STRING;
    return true;
}

static bool mixed_column(struct making *m, struct cr_pos pos,
                         const struct what *w, struct cr_field_column *c)
{
    struct cr_config *config = m->config;
    bool given = w->numbers || w->categories || w->dates, ok;
    int i;

    c->type = CR_F64;
    c->field = CR_NEWS(config->arena, int, m->names->n + 1);
    c->features = CR_NEW(config->arena, struct cr_features);
    c->features->v = CR_NEWS(config->arena, struct cr_feature,
                             m->names->n + 1);
    if (given && (w->fields || w->type != TYPE_NONE || w->classes.n > 0))
        return cr_error(config->diag, pos, CR_E_CONFLICT,
                        "column '%s': fields, type and classes are not allowed "
                        "next to numbers, categories or dates",
                        c->name);
    if (given)
        ok = kind_fields(m, w->numbers, CR_FEATURE_NUMBER, false, c) &&
             kind_fields(m, w->categories, CR_FEATURE_CATEGORY, false, c) &&
             kind_fields(m, w->dates, CR_FEATURE_NUMBER, true, c);
    else if (w->type == TYPE_CATEGORY)
        ok = kind_fields(m, w->fields, CR_FEATURE_CATEGORY, false, c);
    else
        ok = auto_column(m, pos, w->fields, c);
    if (!ok)
        return false;
    if (c->type == CR_STRING) {
        c->features = NULL;
        return preset_of(config, w, c);
    }
    for (i = 0; i < c->n; i++)
        if (c->features->v[i].kind == CR_FEATURE_CATEGORY)
            c->features->v[i].category =
                cr_category_of(config, c->name,
                               c->n > 1 ? c->features->v[i].name : NULL);
    return preset_of(config, w, c);
}

/* ---- the section `columns` ---- */

/* Whether the column gets all fields that no other column names. */
static bool takes_rest(const struct cr_node *node)
{
    const struct cr_node *type = cr_node_get(node, "type");

    return type && type->kind == CR_NODE_STR &&
           strcmp(type->text, "auto") == 0 && !cr_node_get(node, "fields");
}

static bool column_of(struct making *m, const struct cr_node *node,
                      struct cr_field_column *c)
{
    struct cr_config *config = m->config;
    struct what w = { .fields = node };
    bool found = false;
    int i;

    if (node->kind == CR_NODE_MAP) {
        w = (struct what){ 0 };
        if (!cr_opts_read(config->arena, config->diag, &what_about, node,
                          node->pos, &w))
            return false;
        found = w.type == TYPE_NONE && cr_node_get(node, "type") &&
                !is_label(c->name);
        if (!w.fields && !found && !w.numbers && !w.categories && !w.dates)
            return cr_error(config->diag, node->pos, CR_E_MISSING_KEY,
                            "column '%s': fields are missing", c->name);
    }
    if (found || w.type == TYPE_CATEGORY || w.numbers || w.categories ||
        w.dates) {
        if (!mixed_column(m, node->pos, &w, c))
            return false;
    } else if (!cr_field_choose(config, w.fields, predict_file(m), m->names,
                                c) ||
               !resolve_column(m, w.fields->pos, &w, c)) {
        return false;
    }
    for (i = 0; i < c->n; i++)
        m->used[c->field[i]] = true;
    return true;
}

/* Makes a column of every field, with its inferred type or the type of
 * MindSpore's column_defaults. */
static struct cr_field_column *every_field(struct making *m, struct cr_pos pos,
                                           int *n)
{
    const struct cr_csv_dataset_opts *o = m->o;
    const struct cr_strs *names = m->names;
    struct cr_config *config = m->config;
    struct cr_field_column *c;
    const struct cr_node *list = o->column_defaults;
    bool ok = true;
    int i, wanted = 0;

    if (names->n > CR_COLUMNS_MAX) {
        cr_error(config->diag, pos, CR_E_LIMIT,
                 "found %d fields, expected at most %d columns", names->n,
                 CR_COLUMNS_MAX);
        cr_note(config->diag, "use columns: {x: {type: auto}, label: FIELD} to "
                              "combine fields into one column");
        return NULL;
    }
    if (list && (list->kind != CR_NODE_LIST ||
                 cr_node_count(list) != names->n)) {
        cr_error(config->diag, list->pos, CR_E_WRONG_TYPE,
                 "column_defaults: expected a list with one value for each of "
                 "the %d fields",
                 names->n);
        return NULL;
    }
    c = CR_NEWS(config->arena, struct cr_field_column, names->n);
    for (i = 0; i < names->n && ok; i++) {
        const struct cr_node *d = cr_node_at(list, i);
        struct cr_node field = { .kind = CR_NODE_INT, .integer = i,
                                 .text = names->v[i] };
        struct what w = { .fields = &field };

        if (o->only && strcmp(names->v[i], o->only) != 0)
            continue;
        wanted = i;
        if (d)
            w.type = d->kind == CR_NODE_INT    ? TYPE_INT32
                     : d->kind == CR_NODE_REAL ? TYPE_FLOAT32
                                               : TYPE_STRING;
        c[i].name = names->v[i];
        if (!d && !is_label(c[i].name))
            ok = mixed_column(m, pos, &w, &c[i]);
        else
            ok = cr_field_choose(config, &field, NULL, names, &c[i]) &&
                 resolve_column(m, pos, &w, &c[i]);
    }
    *n = names->n;
    if (o->only && ok) { /* predict reads a single column */
        ok = c[wanted].name ||
             cr_field_lacks(config, m->csv, o->only, o->only, names);
        c += wanted;
        *n = 1;
    }
    return ok ? c : NULL;
}

struct cr_field_column *cr_field_columns(struct cr_config *config,
                                         const struct cr_csv_dataset_opts *o,
                                         struct cr_pos pos,
                                         const struct cr_csv *csv,
                                         const struct cr_strs *names, int *n)
{
    const struct cr_node *map = o->columns;
    struct cr_field_column *c;
    struct making making = { .config = config, .o = o, .csv = csv,
                             .names = names };
    bool ok = true;
    int rest;

    making.used = CR_NEWS(config->arena, bool, names->n + 1);
    if (!map)
        return every_field(&making, pos, n);
    if (map->kind != CR_NODE_MAP || !map->child) {
        cr_error(config->diag, map->pos, CR_E_WRONG_TYPE,
                 "columns: found %s, expected a map of names to fields",
                 cr_node_what(config->arena, map));
        return NULL;
    }
    if (o->column_defaults) {
        cr_error(config->diag, o->column_defaults->pos, CR_E_CONFLICT,
                 "column_defaults is not allowed next to columns, which have "
                 "types of their own");
        return NULL;
    }
    if (cr_node_count(map) > CR_COLUMNS_MAX) {
        cr_error(config->diag, map->pos, CR_E_LIMIT,
                 "found %d columns, expected at most %d", cr_node_count(map),
                 CR_COLUMNS_MAX);
        return NULL;
    }
    c = CR_NEWS(config->arena, struct cr_field_column, cr_node_count(map));
    for (rest = 0; rest < 2; rest++) {
        *n = 0;
        for (CR_EACH(m, map)) {
            c[*n].name = m->key;
            if (takes_rest(m) == (rest > 0))
                ok = column_of(&making, m, &c[*n]) && ok;
            ++*n;
        }
    }
    return ok ? c : NULL;
}
