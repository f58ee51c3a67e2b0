#include "rundir/run_column.h"

#include <string.h>

#include "base/table.h"

bool cr_run_is_path(const char *name)
{
    return strcmp(name, "run") == 0 || strcmp(name, "path") == 0;
}

const char *cr_run_text(struct cr_arena *arena, const struct cr_node *node)
{
    if (!node || node->kind == CR_NODE_NULL)
        return "";
    if (node->kind == CR_NODE_REAL)
        return cr_real_text(arena, node->real);
    return node->text ? node->text : cr_node_json(arena, node);
}

char *cr_run_trim(char *text)
{
    size_t n;

    text += strspn(text, " \t");
    for (n = strlen(text); n > 0 && strchr(" \t", text[n - 1]); n--)
        text[n - 1] = '\0';
    return text;
}

/* ---- Names of columns, for messages */

struct names {
    struct cr_arena *arena;
    int n, cap;
    const char **name; /* ends with NULL */
};

static void names_add(struct names *names, const char *name)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->name[i], name) == 0)
            return;
    if (names->n + 1 >= names->cap) {
        names->cap = 2 * names->cap + 64;
        names->name = cr_grow(names->arena, names->name, (size_t)names->n,
                              (size_t)names->cap, sizeof *names->name);
    }
    names->name[names->n++] = name;
}

/* Adds the scalars below a node, without the types in their paths. */
static void names_below(struct names *names, const char *path,
                        const struct cr_node *node)
{
    for (CR_EACH(m, node)) {
        const char *key = m->key;

        if (*path)
            key = key[0] >= 'A' && key[0] <= 'Z'
                      ? path
                      : cr_strf(names->arena, "%s.%s", path, key);
        if (m->kind == CR_NODE_MAP)
            names_below(names, key, m);
        else
            names_add(names, key);
    }
}

/* Keys that a record may lack: of a run under way, or without a failure. */
static bool names_is_key(const char *name)
{
    static const char *const keys[] = { "ended", "seconds", "exit",  "error",
                                        "ckpt",  "skipped", "eval",  "best",
                                        "name",  "config",  "steps", "loss" };

    for (size_t i = 0; i < CR_LEN(keys); i++)
        if (strcmp(keys[i], name) == 0)
            return true;
    return false;
}

/* Whether the name may be that of a metric: no run has been evaluated yet. */
static bool names_may_come(const struct cr_runs *runs, const char *name)
{
    for (int i = 0; i < runs->n; i++)
        if (runs->run[i].eval)
            return false;
    return cr_run_bare(name) != name || cr_starts(name, "best.") ||
           !strchr(name, '.');
}

bool cr_runs_has(struct cr_runs *runs, const char *option, const char *name)
{
    struct names names = { .arena = runs->arena };
    const char *near, *bare = cr_run_bare(name);
    struct cr_buf list = { .arena = runs->arena };
    int n_record;

    if (runs->n == 0 || cr_run_is_path(name) || names_is_key(name) ||
        names_may_come(runs, name))
        return true;
    for (int i = 0; i < runs->n; i++)
        if (cr_run_value(runs, &runs->run[i], name) ||
            strcmp(cr_json_str(cr_node_get(runs->run[i].record, "best"),
                               "metric", ""), bare) == 0)
            return true;
    names_add(&names, "run");
    for (int i = 0; i < runs->n; i++) {
        const char *best = cr_json_str(cr_node_get(runs->run[i].record,
                                                   "best"), "metric", NULL);

        names_below(&names, "", runs->run[i].eval);
        if (best)
            names_add(&names, cr_strf(runs->arena, "best.%s", best));
    }
    for (int i = 0; i < runs->n; i++)
        for (CR_EACH(m, runs->run[i].record))
            if (strcmp(m->key, "vars") == 0)
                names_below(&names, m->key, m);
            else if (m->kind != CR_NODE_MAP)
                names_add(&names, m->key);
    n_record = names.n;
    names_below(&names, "", cr_run_config(runs, &runs->run[0]));
    cr_error(runs->diag, CR_NOWHERE, CR_E_USAGE, "%s: no run has a '%s'",
             option, cr_quote(runs->arena, name, strlen(name)));
    near = cr_closest_name(name, names.name);
    if (!near && bare != name)
        near = cr_closest_name(bare, names.name);
    if (near)
        cr_hint(runs->diag, "did you mean '%s'?", near);
    for (int i = 0; i < n_record; i++)
        cr_buf_f(&list, " %s", cr_escape(runs->arena, names.name[i]));
    cr_note(runs->diag, "columns are:%s, and keys of the config such as "
                        "optimizer.learning_rate", cr_buf_text(&list));
    return false;
}
