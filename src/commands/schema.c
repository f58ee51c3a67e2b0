/*
 * schema: the config language as JSON Schema 2020-12, for editors.
 *
 * $defs holds one schema per section ("section.train"), per kind ("loss": all
 * that is valid as a loss) and per type ("loss.MSELoss": its arguments). Every
 * scalar may be an expression. Unknown types are blocks or plug-in cells, with
 * any arguments. Nothing is required: missing keys may come from a base
 * config.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "conf/command_line.h"
#include "conf/help_tables.h"

struct schema {
    const char *key;
};

static const struct cr_opt schema_opts[] = {
    CR_STR_OPTIONAL(
        struct schema, key,
        "Only the schema of this key (train, train.epochs) or type (SGD).",
        .text = "KEY"),
    { 0 },
};

/* A member of a cell, loss or metric written as a block. */
#define MEMBER                                     \
    "{\"anyOf\": [{\"$ref\": \"#/$defs/cells\"}, " \
    "{\"$ref\": \"#/$defs/losses\"}]}"
#define EXPR "{\"$ref\": \"#/$defs/expression\"}"

static void schema_row(struct cr_buf *buf, const struct cr_opt *row);

/* Appends a bound as JSON, which has no inf or nan. */
static void schema_bound(struct cr_buf *buf, const char *name, double value)
{
    if (fabs(value) < 0x1p62)
        cr_buf_f(buf, ", \"%s\": %.17g", name, value);
}

static void schema_number(struct cr_buf *buf, const struct cr_opt *row,
                          const char *type)
{
    cr_buf_f(buf, "{\"anyOf\": [{\"type\": \"%s\"", type);
    schema_bound(buf, row->min_exclusive ? "exclusiveMinimum" : "minimum",
                 row->min);
    schema_bound(buf, "maximum", row->max);
    cr_buf_str(buf, "}, " EXPR "]}");
}

static void schema_choices(struct cr_buf *buf, const struct cr_opt *row)
{
    const char *const *words = cr_opt_choices(buf->arena, row);

    cr_buf_str(buf, "{\"anyOf\": [{\"enum\": [");
    for (int i = 0; words[i]; i++) {
        if (i > 0)
            cr_buf_str(buf, ", ");
        if (strcmp(words[i], "true") == 0 || strcmp(words[i], "false") == 0)
            cr_buf_str(buf, words[i]);
        else
            cr_buf_json(buf, words[i]);
    }
    cr_buf_str(buf, "]}, " EXPR "]}");
}

/* One value, or a list of values. */
static void schema_list(struct cr_buf *buf, const char *item)
{
    cr_buf_f(buf, "{\"anyOf\": [%s, {\"type\": \"array\", \"items\": %s}]}",
             item, item);
}

static const char *schema_item(struct cr_arena *arena, const struct cr_opt *row)
{
    struct cr_buf item = { .arena = arena };

    switch (row->type) {
    case CR_OPT_INTS:
        if (row->pairs) {
            cr_buf_str(&item, "{\"type\": \"array\", \"items\": "
                              "{\"type\": \"integer\"}}");
            break;
        }
        cr_buf_str(&item,
                   row->nullable ? "{\"anyOf\": [{\"type\": \"null\"}, " : "");
        schema_number(&item, row, "integer");
        cr_buf_str(&item, row->nullable ? "]}" : "");
        break;
    case CR_OPT_REALS:
        schema_number(&item, row, "number");
        break;
    case CR_OPT_OBJS:
        cr_buf_f(&item, "{\"$ref\": \"#/$defs/%s\"}",
                 cr_kind_plural(row->kind));
        break;
    default:
        cr_buf_str(&item, "{\"type\": [\"string\", \"number\"]}");
    }
    return cr_buf_text(&item);
}

/* Appends "properties" and related keywords for a table of rows; keys without
 * a row have the schema `others`. */
static void schema_rows(struct cr_buf *buf, const struct cr_opt *rows,
                        const char *others)
{
    cr_buf_str(buf, "{\"type\": \"object\", \"properties\": {");
    for (const struct cr_opt *row = rows; row && row->name; row++) {
        cr_buf_f(buf, "%s\n    \"%s\": ", row == rows ? "" : ",", row->name);
        schema_row(buf, row);
    }
    cr_buf_f(buf, "}, \"additionalProperties\": %s}", others);
}

static void schema_value(struct cr_buf *buf, const struct cr_opt *row)
{
    switch (row->type) {
    case CR_OPT_INT:
        schema_number(buf, row, "integer");
        return;
    case CR_OPT_REAL:
        schema_number(buf, row, "number");
        return;
    case CR_OPT_BOOL:
        cr_buf_str(buf, "{\"anyOf\": [{\"type\": \"boolean\"}, " EXPR "]}");
        return;
    case CR_OPT_STR:
        cr_buf_str(buf, "{\"type\": [\"string\", \"number\", \"boolean\"]}");
        return;
    case CR_OPT_ENUM:
        schema_choices(buf, row);
        return;
    case CR_OPT_INTS:
    case CR_OPT_REALS:
    case CR_OPT_STRS:
    case CR_OPT_OBJS:
        schema_list(buf, schema_item(buf->arena, row));
        return;
    case CR_OPT_OBJ:
        cr_buf_f(buf, "{\"$ref\": \"#/$defs/%s\"}", cr_kind_plural(row->kind));
        return;
    case CR_OPT_QUANTITY:
        cr_buf_str(buf, row->nullable
                            ? "{\"anyOf\": [{\"const\": \"off\"}, {\"$ref\": "
                              "\"#/$defs/amount\"}]}"
                            : "{\"$ref\": \"#/$defs/amount\"}");
        return;
    case CR_OPT_SUB:
        if (cr_opt_switch(row))
            cr_buf_str(buf, "{\"anyOf\": [{\"type\": \"boolean\"}, ");
        schema_rows(buf, row->sub, "false");
        if (cr_opt_switch(row))
            cr_buf_str(buf, "]}");
        return;
    case CR_OPT_NODE:
    case CR_OPT_END:
        break;
    }
    cr_buf_str(buf, "{}");
}

/* The schema of a value with the documentation and default of its row. */
static void schema_row(struct cr_buf *buf, const struct cr_opt *row)
{
    struct cr_buf value = { .arena = buf->arena };
    const char *preset = cr_opt_default(buf->arena, row);
    const char *text;

    schema_value(&value, row);
    text = cr_buf_text(&value);
    cr_buf_str(buf, "{\"description\": ");
    cr_buf_json(buf, row->doc);
    if (preset) {
        bool bare = row->type == CR_OPT_INT || row->type == CR_OPT_BOOL ||
                    (row->type == CR_OPT_REAL && isfinite(row->real_default));

        cr_buf_str(buf, ", \"default\": ");
        if (bare)
            cr_buf_str(buf, preset);
        else
            cr_buf_json(buf, preset);
    }
    if (text[1] != '}')
        cr_buf_str(buf, ", ");
    cr_buf_str(buf, text + 1);
}

/* The arguments of a type: by name, in order, or the first alone. */
static void schema_type(struct cr_buf *buf, const struct cr_descriptor *about)
{
    const struct cr_opt *rows = about->opts;

    cr_buf_str(buf, "{\"description\": ");
    cr_buf_json(buf, about->summary);
    cr_buf_str(buf, ", \"anyOf\": [{\"type\": \"null\"}, ");
    if (about->takes_map)
        cr_buf_str(buf, "{\"type\": \"object\", \"additionalProperties\": "
                        "{\"$ref\": \"#/$defs/cells\"}}");
    else
        schema_rows(buf, rows, "false");
    if (rows && rows->name && !about->keyword_only) {
        cr_buf_str(buf, ", {\"type\": \"array\"}, "
                        "{\"type\": [\"string\", \"number\", \"boolean\"]}");
    }
    cr_buf_str(buf, "]}");
}

/* Alternatives of a cell, loss or metric: a block, a plug-in cell, or one that
 * is written out. */
static void schema_own(struct cr_buf *buf, enum cr_kind kind)
{
    const struct cr_descriptor *const *list = cr_registry_list(kind);
    struct cr_buf other = { .arena = buf->arena };

    cr_buf_str(&other, "^(?!(");
    for (int i = 0; list[i]; i++) {
        cr_buf_f(&other, "%s%s", i ? "|" : "", list[i]->name);
        for (const char *const *p = list[i]->aliases; p && *p; p++)
            cr_buf_f(&other, "|%s", *p);
    }
    cr_buf_str(&other, ")$)[A-Z][A-Za-z0-9_]*$");
    cr_buf_str(buf, ", {\"description\": \"a block, or a plug-in's\", "
                    "\"type\": \"string\", \"pattern\": ");
    cr_buf_json(buf, cr_buf_text(&other));
    cr_buf_str(buf, "}, {\"type\": \"object\", \"patternProperties\": {");
    cr_buf_json(buf, cr_buf_text(&other));
    cr_buf_str(buf, ": {}}, \"properties\": {");
    for (const char *const *p = cr_modifiers(CR_KIND_CELL); *p; p++)
        cr_buf_f(buf, "%s\"%s\": {}",
                 p == cr_modifiers(CR_KIND_CELL) ? "" : ", ", *p);
    cr_buf_str(buf, "}, \"additionalProperties\": false, "
                    "\"minProperties\": 1}, {\"$ref\": "
                    "\"#/$defs/written\"}");
}

/* All that is valid for a kind: a name, or a typed node with modifiers. */
static void schema_kind(struct cr_buf *buf, enum cr_kind kind)
{
    const struct cr_descriptor *const *list = cr_registry_list(kind);
    const char *plural = cr_kind_plural(kind);

    cr_buf_str(buf, "{\"anyOf\": [{\"enum\": [null");
    for (int i = 0; list[i]; i++) {
        cr_buf_f(buf, ", \"%s\"", list[i]->name);
        for (const char *const *p = list[i]->aliases; p && *p; p++)
            cr_buf_f(buf, ", \"%s\"", *p);
    }
    cr_buf_str(buf, "]}, {\"type\": \"object\", \"properties\": {");
    for (int i = 0; list[i]; i++)
        cr_buf_f(buf, "%s\n    \"%s\": {\"$ref\": \"#/$defs/%s.%s\"}",
                 i ? "," : "", list[i]->name, plural, list[i]->name);
    for (int i = 0; list[i]; i++)
        for (const char *const *p = list[i]->aliases; p && *p; p++)
            cr_buf_f(buf, ",\n    \"%s\": {\"$ref\": \"#/$defs/%s.%s\"}", *p,
                     plural, list[i]->name);
    for (const char *const *p = cr_modifiers(kind); *p; p++)
        cr_buf_f(buf, "%s\n    \"%s\": {}",
                 list[0] || p != cr_modifiers(kind) ? "," : "", *p);
    cr_buf_str(buf, "}, \"additionalProperties\": false, "
                    "\"minProperties\": 1}");
    if (kind == CR_KIND_CELL || kind == CR_KIND_LOSS || kind == CR_KIND_METRIC)
        schema_own(buf, kind);
    if (kind == CR_KIND_CELL) {
        /* or members by name, or a list of members */
        cr_buf_str(buf, ", {\"type\": \"object\", \"properties\": {"
                        "\"inputs\": {}");
        for (const char *const *p = cr_modifiers(kind); *p; p++)
            cr_buf_f(buf, ", \"%s\": {}", *p);
        cr_buf_str(buf, "}, \"propertyNames\": {\"pattern\": \"^[a-z_]\"}, "
                        "\"additionalProperties\": "
                        "{\"$ref\": \"#/$defs/cells\"}}, "
                        "{\"type\": \"array\", \"items\": "
                        "{\"$ref\": \"#/$defs/cells\"}}");
    }
    /* an auxiliary value of a loss; a member declared before */
    if (kind == CR_KIND_METRIC || kind == CR_KIND_CELL)
        cr_buf_str(buf, ", {\"type\": \"string\", \"pattern\": "
                        "\"^[a-z][A-Za-z0-9_]*$\"}");
    if (kind == CR_KIND_INIT || kind == CR_KIND_SCHEDULE)
        cr_buf_str(buf, ", {\"type\": [\"number\", \"string\", \"array\"]}");
    cr_buf_str(buf, "]}");
}

/* Sections that consist of one typed node have no rows. */
static void schema_section(struct cr_buf *buf,
                           const struct cr_descriptor *about)
{
    const struct cr_section *section = (const struct cr_section *)about;
    static const struct {
        const char *name;
        enum cr_kind kind;
        bool many;
    } typed[] = {
        { "network", CR_KIND_CELL, false },
        { "loss", CR_KIND_LOSS, false },
        { "optimizer", CR_KIND_OPTIM, false },
        { "metrics", CR_KIND_METRIC, true },
    };
    struct cr_buf value = { .arena = buf->arena };

    cr_buf_str(buf, "{\"description\": ");
    cr_buf_json(buf, about->summary);
    for (size_t i = 0; i < CR_LEN(typed); i++)
        if (strcmp(typed[i].name, about->name) == 0) {
            const char *ref = cr_strf(buf->arena, "{\"$ref\": \"#/$defs/%s\"}",
                                      cr_kind_plural(typed[i].kind));

            if (typed[i].many)
                schema_list(&value, ref);
            else
                cr_buf_str(&value, ref);
            cr_buf_f(buf, ", %s", cr_buf_text(&value) + 1);
            return;
        }
    if (!about->opts || !about->opts->name) {
        cr_buf_char(buf, '}');
        return;
    }
    cr_buf_str(buf, ", \"anyOf\": [");
    /* a datapipe also has a key per column of the data */
    schema_rows(buf, about->opts,
                strcmp(about->name, "datapipe") == 0
                    ? "{\"anyOf\": [{\"$ref\": \"#/$defs/transforms\"}, "
                      "{\"$ref\": \"#/$defs/tokenizers\"}, "
                      "{\"type\": \"array\", \"items\": {\"anyOf\": ["
                      "{\"$ref\": \"#/$defs/transforms\"}, "
                      "{\"$ref\": \"#/$defs/tokenizers\"}]}}]}"
                    : "false");
    if (section->raw) {
        /* the section's reader also accepts shorter forms, such as a bare
         * list */
        cr_buf_str(buf, ", {\"not\": {\"type\": \"object\"}}");
    } else if (!about->opts[1].name || about->opts->need == CR_REQUIRED) {
        cr_buf_str(buf, ", ");
        schema_row(buf, about->opts);
    }
    cr_buf_str(buf, "]}");
}

/* A cell written out, with lines and members. The body of a block may also be
 * a list of members, and it has parameters. */
static void schema_written(struct cr_buf *buf, const char *name, bool block)
{
    cr_buf_f(buf,
             ",\n  \"%s\": {\"type\": \"object\", \"properties\": {"
             "\"inputs\": {}, \"cells\": {\"type\": [\"object\", "
             "\"null\"], \"additionalProperties\": " MEMBER "}, "
             "\"construct\": {\"type\": \"string\"}, "
             "\"bprop\": {\"type\": \"string\"}, "
             "\"auto_prefix\": {\"type\": [\"boolean\", \"string\"]}, "
             "\"aux\": {\"type\": \"array\"}, "
             "\"has_aux\": {\"type\": [\"boolean\", \"string\"]}",
             name);
    for (const char *const *p = cr_modifiers(CR_KIND_CELL); *p; p++)
        cr_buf_f(buf, ", \"%s\": {}", *p);
    if (block)
        cr_buf_str(buf, ", \"params\": {\"type\": [\"object\", \"null\"]}}, "
                        "\"additionalProperties\": " MEMBER "}");
    else
        cr_buf_str(buf, "}, \"required\": [\"construct\"], "
                        "\"additionalProperties\": false}");
}

static void schema_defs(struct cr_buf *buf)
{
    cr_buf_str(
        buf,
        "\"$defs\": {\n"
        "  \"expression\": {\"type\": \"string\", \"pattern\": \"\\\\$\"},\n"
        "  \"amount\": {\"description\": \"a number with a unit: steps, "
        "epochs, samples, s, min, h or %\", \"anyOf\": [{\"type\": "
        "\"number\", \"minimum\": 0}, {\"type\": \"string\", \"pattern\": "
        "\"^[0-9.]+(e[-+]?[0-9]+)?[kMG]? *(steps?|epochs?|samples?|s|sec|"
        "min|h|d|%)?$\"}, " EXPR "]}");
    schema_written(buf, "written", false);
    schema_written(buf, "block", true);
    for (int k = 0; k < CR_KINDS; k++) {
        enum cr_kind kind = (enum cr_kind)k;

        if (kind == CR_KIND_OP || kind == CR_KIND_COMMAND ||
            kind == CR_KIND_FORMAT)
            continue;
        if (kind != CR_KIND_SECTION) {
            cr_buf_f(buf, ",\n  \"%s\": ", cr_kind_plural(kind));
            schema_kind(buf, kind);
        }
        for (const struct cr_descriptor *const *p = cr_registry_list(kind); *p;
             p++)
            if (kind == CR_KIND_SECTION) {
                cr_buf_f(buf, ",\n  \"section.%s\": ", (*p)->name);
                schema_section(buf, *p);
            } else {
                cr_buf_f(buf, ",\n  \"%s.%s\": ", cr_kind_plural(kind),
                         (*p)->name);
                schema_type(buf, *p);
            }
    }
    cr_buf_str(buf, "}");
}

static const struct cr_opt *schema_find(const struct cr_opt *rows,
                                        const char *name, size_t len)
{
    for (; rows && rows->name; rows++)
        if (strlen(rows->name) == len && strncmp(rows->name, name, len) == 0)
            return rows;
    return NULL;
}

/* JSON pointer to the schema of a key or type; NULL if there is none. */
static const char *schema_pointer(struct cr_arena *arena, const char *key)
{
    size_t n = strcspn(key, ".");
    const struct cr_descriptor *about =
        cr_registry_find(CR_KIND_SECTION, cr_strndup(arena, key, n));
    struct cr_buf at = { .arena = arena };
    const struct cr_opt *rows;

    for (int k = 0; !about && k < CR_KINDS; k++) {
        enum cr_kind kind = (enum cr_kind)k;

        if (kind != CR_KIND_OP && kind != CR_KIND_COMMAND &&
            kind != CR_KIND_FORMAT && cr_registry_find(kind, key))
            return cr_strf(arena, "#/$defs/%s.%s", cr_kind_plural(kind),
                           cr_registry_find(kind, key)->name);
    }
    if (!about)
        return NULL;
    cr_buf_f(&at, "#/$defs/section.%s", about->name);
    rows = about->opts;
    while (key[n] == '.') {
        const struct cr_opt *row;

        key += n + 1;
        n = strcspn(key, ".");
        row = schema_find(rows, key, n);
        if (!row)
            return NULL;
        /* the section's own rows come first in its anyOf */
        cr_buf_f(&at, "%s/properties/%s", rows == about->opts ? "/anyOf/0" : "",
                 row->name);
        rows = row->sub;
    }
    return cr_buf_text(&at);
}

static int schema_run(struct cr_cli *cli)
{
    const struct schema *o = cr_cli_opts(cli);
    struct cr_buf buf = { .arena = cli->arena };
    const struct cr_descriptor *const *p = cr_registry_list(CR_KIND_SECTION);

    cr_buf_str(&buf, "{\"$schema\": "
                     "\"https://json-schema.org/draft/2020-12/schema\",\n");
    if (o->key) {
        const char *at = schema_pointer(cli->arena, o->key);

        if (!at) {
            cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                     "no key or type is called '%s'",
                     cr_quote(cli->arena, o->key, strlen(o->key)));
            return 2;
        }
        cr_buf_f(&buf, "\"$ref\": \"%s\",\n", at);
    } else {
        cr_buf_str(
            &buf,
            "\"title\": \"cellrun config\",\n"
            "\"type\": \"object\",\n\"additionalProperties\": false,\n"
            "\"properties\": {\n"
            "  \"base\": {\"description\": \"configs that this one extends\", "
            "\"type\": [\"string\", \"array\"]},\n"
            "  \"vars\": {\"description\": \"values for $name\", "
            "\"type\": \"object\"},\n"
            "  \"blocks\": {\"description\": \"cells with parameters, for "
            "use as types\", \"type\": \"object\", \"additionalProperties\": "
            "{\"$ref\": \"#/$defs/block\"}}");
        for (; *p; p++)
            cr_buf_f(&buf, ",\n  \"%s\": {\"$ref\": \"#/$defs/section.%s\"}",
                     (*p)->name, (*p)->name);
        cr_buf_str(&buf, "},\n");
    }
    schema_defs(&buf);
    cr_buf_str(&buf, "}\n");
    fputs(cr_buf_text(&buf), stdout);
    return 0;
}

const struct cr_command cr_command_schema = {
    .about = {
        .name = "schema",
        .summary = "Print the config language as JSON Schema, for editors.",
        .detail =
            "The schema accepts every valid config and some invalid ones: an "
            "unknown capitalised type may be a block or a plug-in cell, and "
            "missing keys may come from `base`. Run `cellrun check` to be "
            "sure.",
        .example = "cellrun schema >cellrun.schema.json\n"
                   "cellrun schema --key train.epochs\n",
        .opts = schema_opts,
        .size = sizeof(struct schema),
    },
    .usage = "[--key KEY]",
    .run = schema_run,
};
