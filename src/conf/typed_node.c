#include "conf/typed_node.h"

#include <string.h>

#include "conf/opt_hint.h"
#include "conf/scalar.h"

static enum cr_kind typed_section(const char *key)
{
    static const struct {
        const char *key;
        enum cr_kind kind;
    } table[] = {
        { "network", CR_KIND_CELL },    { "loss", CR_KIND_LOSS },
        { "optimizer", CR_KIND_OPTIM }, { "metrics", CR_KIND_METRIC },
        { "dataset", CR_KIND_DATASET }, { "datapipe", CR_KIND_TRANSFORM },
        { "init", CR_KIND_INIT },
    };

    for (size_t i = 0; i < CR_LEN(table); i++)
        if (strcmp(table[i].key, key) == 0)
            return table[i].kind;
    return CR_KINDS;
}

/* The type of the required kind, else of any kind that has the name. */
static const struct cr_descriptor *typed_find(enum cr_kind kind,
                                              const char *name)
{
    const struct cr_descriptor *about = NULL;

    if (kind < CR_KINDS)
        about = cr_registry_find(kind, name);
    for (int k = 0; k < CR_KIND_SECTION && !about; k++)
        about = cr_registry_find((enum cr_kind)k, name);
    return about;
}

bool cr_type_has_argument(const char *type, const char *argument)
{
    for (int k = 0; k < CR_KIND_SECTION; k++) {
        const struct cr_descriptor *about =
            cr_registry_find((enum cr_kind)k, type);

        for (const struct cr_opt *row = about ? about->opts : NULL;
             row && row->name; row++)
            if (strcmp(row->name, argument) == 0)
                return true;
    }
    return false;
}

static const struct cr_opt *typed_row(const struct cr_opt *rows,
                                      const char *name)
{
    for (; rows && rows->name; rows++)
        if (strcmp(rows->name, name) == 0)
            return rows;
    return NULL;
}

static enum cr_kind typed_inside(const struct cr_opt *row, enum cr_kind kind)
{
    if (row && (row->type == CR_OPT_OBJ || row->type == CR_OPT_OBJS))
        return row->kind;
    return kind;
}

static bool typed_many(enum cr_opt_type type)
{
    return type == CR_OPT_INTS || type == CR_OPT_REALS || type == CR_OPT_STRS ||
           type == CR_OPT_OBJS || type == CR_OPT_NODE;
}

/* Positional arguments as a map, in the order of the rows. */
static void typed_name_args(struct cr_arena *arena,
                            const struct cr_descriptor *about,
                            struct cr_node *args)
{
    const struct cr_opt *row = about->opts;
    struct cr_node *m, *next, **last;

    if (!row || !row->name || about->keyword_only ||
        args->kind == CR_NODE_MAP || args->kind == CR_NODE_NULL || args->tag)
        return;
    if (args->kind != CR_NODE_LIST ||
        (cr_opt_is_last(row) && typed_many(row->type))) {
        if (row->type == CR_OPT_OBJS || row->type == CR_OPT_NODE)
            return;
        m = CR_NEW(arena, struct cr_node);
        *m = *args;
        m->next = NULL;
    } else {
        int rows = 0;

        while (row[rows].name && !row[rows].keyword_only)
            rows++;
        if (cr_node_count(args) > rows || cr_opt_mixed_map(row, args))
            return;
        m = args->child;
    }
    *args = (struct cr_node){ .kind = CR_NODE_MAP,
                              .pos = args->pos,
                              .key_pos = args->key_pos,
                              .key = args->key,
                              .next = args->next };
    last = &args->child;
    for (; m; m = next, row++) {
        next = m->next;
        m->next = NULL;
        m->key = row->name;
        m->key_pos = m->pos;
        if (m->kind == CR_NODE_NULL)
            continue;
        *last = m;
        last = &m->next;
    }
}

static void typed_names(struct cr_arena *arena, struct cr_node *node,
                        enum cr_kind kind)
{
    const struct cr_node *args;
    const char *type = cr_node_type(node, &args);
    const struct cr_descriptor *about = type ? typed_find(kind, type) : NULL;
    struct cr_node *inside = cr_node_get(node, type ? type : "");

    if (about && inside)
        typed_name_args(arena, about, inside);
    for (struct cr_node *m = node->child; m; m = m->next) {
        if (m != inside || !about || m->kind != CR_NODE_MAP) {
            typed_names(arena, m,
                        m != inside && m->key && strcmp(m->key, "init") == 0
                            ? CR_KIND_INIT
                            : kind);
            continue;
        }
        for (struct cr_node *a = m->child; a; a = a->next)
            typed_names(arena, a,
                        typed_inside(typed_row(about->opts, a->key), kind));
    }
}

void cr_typed_names_at(struct cr_arena *arena, struct cr_node *node,
                       const char *section)
{
    typed_names(arena, node, typed_section(section));
}

void cr_typed_names(struct cr_arena *arena, struct cr_node *root)
{
    for (struct cr_node *m = root->child; m; m = m->next)
        if (m->key)
            cr_typed_names_at(arena, m, m->key);
}

/* ---- defaults ---- */

static void typed_fill(struct cr_arena *arena, struct cr_node *node,
                       enum cr_kind kind);

static struct cr_node *typed_default(struct cr_arena *arena,
                                     const struct cr_opt *row)
{
    struct cr_node *m;
    const char *text =
        row->need == CR_DEFAULT ? cr_opt_default(arena, row) : NULL;

    if (!text)
        return NULL;
    m = CR_NEW(arena, struct cr_node);
    m->key = row->name;
    m->text = text;
    m->kind = CR_NODE_STR;
    if (row->type != CR_OPT_STR && row->type != CR_OPT_ENUM)
        cr_scalar_resolve(m);
    else
        m->quoted = row->type == CR_OPT_STR;
    return m;
}

/* Adds the defaults of rows to a map. */
static void typed_fill_rows(struct cr_arena *arena, struct cr_node *map,
                            const struct cr_opt *rows, enum cr_kind kind)
{
    for (const struct cr_opt *row = rows; row && row->name; row++) {
        struct cr_node *m = cr_node_get(map, row->name), **last = &map->child;

        if (m && row->type == CR_OPT_SUB && m->kind == CR_NODE_MAP)
            typed_fill_rows(arena, m, row->sub, kind);
        else if (m)
            typed_fill(arena, m, typed_inside(row, kind));
        if (m)
            continue;
        m = typed_default(arena, row);
        if (!m)
            continue;
        while (*last)
            last = &(*last)->next;
        *last = m;
    }
}

static void typed_fill(struct cr_arena *arena, struct cr_node *node,
                       enum cr_kind kind)
{
    const struct cr_node *args;
    const char *type = cr_node_type(node, &args);
    const struct cr_descriptor *about = type ? typed_find(kind, type) : NULL;
    struct cr_node *inside;

    if (!about || !about->opts) {
        for (struct cr_node *m = node->child; m; m = m->next)
            typed_fill(arena, m, kind);
        return;
    }
    if (node->kind == CR_NODE_STR) {
        inside = CR_NEW(arena, struct cr_node);
        inside->key = type;
        inside->pos = inside->key_pos = node->pos;
        node->kind = CR_NODE_MAP;
        node->child = inside;
    }
    inside = cr_node_get(node, type);
    if (inside->kind == CR_NODE_NULL)
        inside->kind = CR_NODE_MAP;
    if (inside->kind == CR_NODE_MAP && !about->takes_map)
        typed_fill_rows(arena, inside, about->opts, kind);
    else
        for (struct cr_node *m = inside->child; m; m = m->next)
            typed_fill(arena, m, kind);
}

/* Adds an absent section with its defaults, but only if it has no required
 * key. */
static void typed_fill_section(struct cr_arena *arena, struct cr_node *root,
                               const struct cr_descriptor *about)
{
    struct cr_node *m = cr_node_get(root, about->name), **last = &root->child;

    if (m && m->kind == CR_NODE_MAP && about->opts) {
        typed_fill_rows(arena, m, about->opts, typed_section(about->name));
        return;
    }
    if (m || !about->opts || !about->opts->name)
        return;
    for (const struct cr_opt *row = about->opts; row->name; row++)
        if (row->need == CR_REQUIRED)
            return;
    if (!about->opts[1].name) {
        m = typed_default(arena, about->opts);
    } else {
        m = CR_NEW(arena, struct cr_node);
        m->kind = CR_NODE_MAP;
        typed_fill_rows(arena, m, about->opts, typed_section(about->name));
    }
    if (!m || (m->kind == CR_NODE_MAP && !m->child))
        return;
    m->key = about->name;
    while (*last)
        last = &(*last)->next;
    *last = m;
}

void cr_typed_fill(struct cr_arena *arena, struct cr_node *root)
{
    for (const struct cr_descriptor *const *s =
             cr_registry_list(CR_KIND_SECTION);
         *s; s++)
        typed_fill_section(arena, root, *s);
    for (struct cr_node *m = root->child; m; m = m->next)
        typed_fill(arena, m, typed_section(m->key));
}
