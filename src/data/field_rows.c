#include "data/csv_dataset_internal.h"

#include <string.h>

#include "base/str.h"
#include "data/features.h"

struct cr_field_rows {
    struct cr_csv_dataset f;
    struct cr_config config; /* copy of the config with the messages about a
                                row */
    int wanted;              /* fields of a row */
    struct cr_ragged text[CR_COLUMNS_MAX];
};

/* The entry of a column in the map; without one, the name of the column as the
 * name of its field. */
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

/* An entry for a column of `type: auto`, whose field has the same name. */
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
                                         const struct cr_csv_dataset_opts *o,
                                         struct cr_pos pos,
                                         const struct cr_csv *csv,
                                         const struct cr_strs *names,
                                         const char *const *wanted)
{
    struct cr_arena *arena = config->arena;
    struct cr_field_rows *r = CR_NEW(arena, struct cr_field_rows);
    struct cr_node *map = CR_NEW(arena, struct cr_node), **at = &map->child;
    struct cr_csv_dataset_opts own = *o;

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
    if (!cr_csv_dataset_make(&r->f, &own, pos, csv, names))
        return NULL;
    for (int i = 0; i < r->f.columns; i++)
        cr_csv_dataset_row_new(&r->f, &r->f.column[i], 0);
    return r;
}

struct cr_spec cr_field_rows_spec(const struct cr_field_rows *r, int k)
{
    return cr_csv_dataset_spec(&r->f.column[k].of);
}

const void *cr_field_rows_at(const struct cr_field_rows *r, int k)
{
    return r->f.column[k].of.type == CR_STRING
               ? (const void *)&r->text[k]
               : cr_csv_dataset_row_at(&r->f.column[k], 0);
}

bool cr_field_rows_read(struct cr_field_rows *r, struct cr_diag *diag,
                        const struct cr_csv *csv)
{
    bool ok;

    r->config.diag = diag;
    r->config.arena = diag->arena;
    r->f.unknown = 0;
    ok = cr_csv_dataset_row(&r->f, csv, 0, r->wanted);
    r->f.rows = 0;
    for (int i = 0; i < r->f.columns && ok; i++)
        if (r->f.column[i].of.type == CR_STRING) {
            const struct cr_field_column *of = &r->f.column[i].of;
            const struct cr_csv_field *field = &csv->field[of->field[0]];
            bool preset = of->has_preset && field->len == 0;
            const char *text = preset ? of->preset_text : field->text;
            size_t len = preset ? strlen(text) : field->len;

            r->text[i] = (struct cr_ragged){ cr_strndup(diag->arena, text, len),
                                             (int64_t)len };
        }
    return ok;
}

int cr_field_rows_unknown(const struct cr_field_rows *rows, const char **field,
                          const char **text)
{
    *field = rows->f.unknown_field;
    *text = rows->f.unknown_text;
    return rows->f.unknown;
}
