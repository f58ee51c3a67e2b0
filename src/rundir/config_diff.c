/*
 * Compares two configs by the texts that the printer writes, with all
 * defaults, so a key is missing from one of them only if the type differs.
 */
#include "rundir/config_diff.h"

#include <string.h>

#include "base/str.h"
#include "base/table.h"
#include "conf/yaml.h"

enum { VALUE_MAX = 60 }; /* longer values are not shown */

struct differ {
    struct cr_arena *arena;
    const char *path;
    const struct cr_node *old, *new; /* NULL: the key is missing */
};

static bool config_diff_at(struct differ *d, const char *path,
                           const struct cr_node *old,
                           const struct cr_node *new);

static bool config_diff_in(struct differ *d, const char *path, const char *key,
                           const struct cr_node *old, const struct cr_node *new)
{
    const char *at =
        *path ? cr_strf(d->arena, "%s.%s", path, key) : key;

    return !cr_config_is_free(at) && config_diff_at(d, at, old, new);
}

/* Whether both are types, and different ones. */
static bool config_diff_in_type(const struct cr_node *old,
                                const struct cr_node *new)
{
    const struct cr_node *args;
    const char *a = cr_node_type(old, &args), *b = cr_node_type(new, &args);

    return a && b && strcmp(a, b) != 0;
}

/* Whether the nodes differ; stores the first difference. */
static bool config_diff_at(struct differ *d, const char *path,
                           const struct cr_node *old, const struct cr_node *new)
{
    if (old && new && old->kind == CR_NODE_MAP &&new->kind == CR_NODE_MAP &&
        !config_diff_in_type(old, new)) {
        for (CR_EACH(m, old))
            if (config_diff_in(d, path, m->key, m, cr_node_get(new, m->key)))
                return true;
        for (CR_EACH(m, new))
            if (!cr_node_get(old, m->key) &&
                config_diff_in(d, path, m->key, NULL, m))
                return true;
        return false;
    }
    if (old && new && strcmp(cr_node_flow(d->arena, old),
                             cr_node_flow(d->arena, new)) == 0)
        return false;
    d->path = path;
    d->old = old;
    d->new = new;
    return true;
}

static const struct cr_node *config_diff_read(struct cr_arena *arena,
                                              const char *text, size_t len)
{
    struct cr_diag quiet = { .arena = arena };
    struct cr_source *src = CR_NEW(arena, struct cr_source);

    *src = (struct cr_source){ .name = "resolved.yaml", .text = text,
                               .len = len };
    return cr_yaml_read(arena, &quiet, src, 0, len);
}

static const char *config_diff_value(struct cr_arena *arena,
                                     const struct cr_node *node)
{
    const char *text = node ? cr_node_flow(arena, node) : "not set";

    return strlen(text) <= VALUE_MAX ? cr_escape(arena, text)
                                     : cr_node_what(arena, node);
}

const char *cr_config_diff(struct cr_config *config, const char *old,
                           size_t len)
{
    const char *new = cr_config_yaml(config, false, true);
    struct differ d = { .arena = config->arena };
    const struct cr_node *a = config_diff_read(d.arena, old, len);
    const struct cr_node *b = config_diff_read(d.arena, new, strlen(new));

    if (!a || !b || !config_diff_at(&d, "", a, b))
        return NULL;
    return cr_strf(d.arena, "'%s' changed from %s to %s", d.path,
                   config_diff_value(d.arena, d.old),
                   config_diff_value(d.arena, d.new));
}
