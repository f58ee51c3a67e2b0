#include "conf/config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "conf/origin.h"
#include "conf/typed.h"

const struct cr_node *cr_section(const struct cr_config *config,
                                 const char *name)
{
    return cr_node_get(config->root, name);
}

bool cr_section_read(struct cr_config *config, const char *name, void *to)
{
    const struct cr_about *about = cr_find(CR_KIND_SECTION, name);
    const struct cr_node *node = cr_section(config, name);

    assert(about);
    return cr_opts_read(config->arena, config->diag, about, node,
                        node ? node->pos : config->root->pos, to);
}

static void config_unknown(struct cr_config *c, const struct cr_node *m)
{
    const struct cr_about *const *list = cr_list(CR_KIND_SECTION);
    const char **names;
    const char *near;
    int n = 0;

    while (list[n])
        n++;
    names = CR_NEWS(c->arena, const char *, n + 1);
    for (int i = 0; i < n; i++)
        names[i] = list[i]->name;
    cr_error(c->diag, m->key_pos, CR_E_UNKNOWN_KEY, "unknown key '%s'",
             cr_quote(c->arena, m->key, strlen(m->key)));
    cr_path(c->diag, m->key);
    near = cr_nearest(m->key, names);
    if (near)
        cr_hint(c->diag, "did you mean '%s'?", near);
}

bool cr_config_check(struct cr_config *config)
{
    const struct cr_about *const *list = cr_list(CR_KIND_SECTION);

    if (config->broken)
        return false;
    for (CR_EACH(m, config->root))
        if (!cr_find(CR_KIND_SECTION, m->key))
            config_unknown(config, m);
    for (; *list; list++) {
        const struct cr_section *section = (const struct cr_section *)*list;

        if (!section->raw && cr_section(config, section->about.name))
            cr_section_read(config, section->about.name,
                            cr_alloc(config->arena, 1, section->about.size));
    }
    cr_typed_check(config->arena, config->diag, config->root);
    return config->diag->errors == 0;
}

/* ---- paths ---- */

/* The node a text comes from: the very same one, else one that equals it. */
static const struct cr_node *config_holder(const struct cr_node *node,
                                           const char *text, bool same)
{
    const struct cr_node *found = NULL;

    if (node->kind == CR_NODE_STR &&
        (node->text == text || (!same && strcmp(node->text, text) == 0)))
        return node;
    for (CR_EACH(m, node)) {
        found = config_holder(m, text, same);
        if (found)
            break;
    }
    return found;
}

static const char *config_dir_of(const struct cr_config *config,
                                 const char *path)
{
    const struct cr_node *node = config_holder(config->root, path, true);

    if (!node)
        node = config_holder(config->root, path, false);
    for (const struct cr_origin *o = config->origins; o && node; o = o->next)
        if (o->src == node->pos.src)
            return o->dir;
    return config->dir;
}

const char *cr_config_path(const struct cr_config *config, const char *path,
                           bool data)
{
    const char *list = data ? getenv("CELLRUN_DATA") : NULL;
    const char *full =
        cr_path_join(config->arena, config_dir_of(config, path), path);

    if (access(full, F_OK) == 0)
        return full;
    if (path[0] == '/')
        return NULL;
    while (list && *list) {
        size_t n = strcspn(list, ":");

        full = cr_path_join(config->arena, cr_strndup(config->arena, list, n),
                            path);
        if (n > 0 && access(full, F_OK) == 0)
            return full;
        list += n + (list[n] == ':');
    }
    return NULL;
}
