#include "conf/config.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "conf/source_dir.h"
#include "conf/terms.h"
#include "conf/typed_node.h"

const struct cr_node *cr_section(const struct cr_config *config,
                                 const char *name)
{
    return cr_node_get(config->root, name);
}

bool cr_section_read(struct cr_config *config, const char *name, void *to)
{
    const struct cr_descriptor *about = cr_registry_find(CR_KIND_SECTION, name);
    const struct cr_node *node = cr_section(config, name);

    assert(about);
    return cr_opts_read(config->arena, config->diag, about, node,
                        node ? node->pos : config->root->pos, to);
}

static void config_unknown(struct cr_config *c, const struct cr_node *m)
{
    static const char *const keywords[] = { "base", "vars", "blocks", NULL };
    const struct cr_descriptor *const *list = cr_registry_list(CR_KIND_SECTION);
    const char **names;
    int n = 0;

    while (list[n])
        n++;
    names = CR_NEWS(c->arena, const char *, n + 4);
    for (int i = 0; i < n; i++)
        names[i] = list[i]->name;
    for (int i = 0; keywords[i]; i++)
        names[n++] = keywords[i];
    cr_error(c->diag, m->key_pos, CR_E_UNKNOWN_KEY, "unknown key '%s'",
             cr_quote(c->arena, m->key, strlen(m->key)));
    cr_path(c->diag, m->key);
    cr_term_hint(c->diag, m->key, names);
}

bool cr_config_check(struct cr_config *config)
{
    const struct cr_descriptor *const *list = cr_registry_list(CR_KIND_SECTION);

    if (config->load_failed)
        return false;
    for (CR_EACH(m, config->root))
        if (!cr_registry_find(CR_KIND_SECTION, m->key))
            config_unknown(config, m);
    for (; *list; list++) {
        const struct cr_section *section = (const struct cr_section *)*list;

        if (!section->raw && cr_section(config, section->about.name))
            cr_section_read(config, section->about.name,
                            cr_alloc(config->arena, 1, section->about.size));
    }
    cr_typed_check(config->arena, config->diag, config->root,
                   config->blocks,
                   config->closed && cr_section(config, "plugin")
                       ? &config->unknown
                       : NULL);
    return config->diag->errors == 0;
}

void **cr_config_object(struct cr_config *config, const char *name)
{
    struct cr_config_object *s = config->objects;

    while (s && strcmp(s->name, name) != 0)
        s = s->next;
    if (!s) {
        s = CR_NEW(config->arena, struct cr_config_object);
        s->name = cr_strdup(config->arena, name);
        s->next = config->objects;
        config->objects = s;
    }
    return &s->self;
}

/* ---- paths ---- */

/* The node of a text: by its address, which may be that of a number, else the
 * first string with an equal text. */
static struct cr_node *config_holder(struct cr_node *node, const char *text,
                                     bool same)
{
    struct cr_node *found = NULL;

    if (node->text == text || (!same && node->kind == CR_NODE_STR &&
                               strcmp(node->text, text) == 0))
        return node;
    for (struct cr_node *m = node->child; m && !found; m = m->next)
        found = config_holder(m, text, same);
    return found;
}

/* A path relative to dir, as a path relative to the folder of the config. */
static const char *config_from_here(const struct cr_config *config,
                                    const char *dir, const char *path)
{
    size_t n = strlen(config->dir);
    const char *full;
    char *real;

    if (strcmp(config->dir, ".") == 0 && dir[0] != '/')
        return cr_path_join(config->arena, dir, path);
    if (strncmp(dir, config->dir, n) == 0 && dir[n] == '/')
        return cr_path_join(config->arena, dir + n + 1, path);
    full = cr_path_join(config->arena, dir, path);
    real = realpath(full, NULL);
    if (real)
        full = cr_strdup(config->arena, real);
    free(real);
    return full;
}

/* A path relative to another folder than that of the config, or NULL. */
static const char *config_other(const struct cr_config *config,
                                const char *path)
{
    struct cr_node *same = config_holder(config->root, path, true);
    struct cr_node *node =
        same ? same : config_holder(config->root, path, false);
    const struct cr_source_dir *o = config->source_dirs;
    struct cr_rebased_path *moved = *config->rebased;
    const char *full;

    for (; moved; moved = moved->next)
        if (moved->old == path || moved->rebased == path)
            return moved->absolute;
    while (o && (!node || o->src != node->pos.src))
        o = o->next;
    if (!o || path[0] == '/' || strcmp(o->dir, config->dir) == 0)
        return NULL;
    full = cr_path_join(config->arena, o->dir, path);
    if (!same || access(full, F_OK) != 0)
        return full;
    same->text = config_from_here(config, o->dir, path);
    same->kind = CR_NODE_STR;
    moved = CR_NEW(config->arena, struct cr_rebased_path);
    *moved =
        (struct cr_rebased_path){ path, same->text, full, *config->rebased };
    *config->rebased = moved;
    return full;
}

const char *cr_config_path(const struct cr_config *config,
                           enum cr_action action, const char *path)
{
    const char *full, *found;
    int error;

    if (!cr_config_allows(config, action, path))
        return NULL;
    full = config_other(config, path);
    if (!full)
        full = cr_path_join(config->arena, config->dir, path);
    if (access(full, F_OK) == 0)
        return full;
    error = errno;
    found = path[0] == '/' || action == CR_READ_FILE
                ? NULL
                : cr_path_search(config->arena, getenv("CELLRUN_DATA"), path);
    /* in a folder that cannot be searched: opening it reports the reason */
    return !found && error != ENOENT && error != ENOTDIR ? full : found;
}

bool cr_config_path_missing(const struct cr_config *config, struct cr_pos pos,
                            const char *what, const char *path)
{
    const struct cr_node *node =
        config->root ? config_holder(config->root, path, true) : NULL;
    const struct cr_source_dir *o = config->source_dirs;

    if (node)
        pos = node->pos;
    while (o && o->src != pos.src)
        o = o->next;
    return cr_error(config->diag, pos, CR_E_DATA_MISSING,
                    "%s '%s' not found, neither %s nor in CELLRUN_DATA", what,
                    path,
                    o && o->kind == CR_FROM_LINE
                        ? "in the current directory"
                        : "relative to the config");
}
