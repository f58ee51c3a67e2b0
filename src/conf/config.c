#include "conf/config.h"

#include <assert.h>
#include <string.h>

#include "base/str.h"
#include "conf/yaml.h"

static struct cr_node *config_file(struct cr_config *c, const char *path)
{
    struct cr_source *src = CR_NEW(c->arena, struct cr_source);
    char *text;

    src->name = strcmp(path, "-") == 0 ? "standard input" : path;
    text = cr_read_file(c->arena, c->diag, cr_at_file(c->arena, path), path,
                        CR_E_INCLUDE, CR_TEXT_MAX, &src->len);
    if (!text)
        return NULL;
    src->text = text;
    return cr_yaml_read(c->arena, c->diag, src, 0, src->len);
}

struct cr_config *cr_config_load(struct cr_arena *arena, struct cr_diag *diag,
                                 const struct cr_config_from *from)
{
    struct cr_config *c = CR_NEW(arena, struct cr_config);

    c->arena = arena;
    c->diag = diag;
    c->root = CR_NEW(arena, struct cr_node);
    c->root->kind = CR_NODE_MAP;
    c->dir = ".";
    c->name = "config";
    if (from->files && from->files[0]) {
        struct cr_node *node = config_file(c, from->files[0]);

        c->dir = cr_path_dir(arena, from->files[0]);
        c->name = cr_path_stem(arena, from->files[0]);
        if (node && node->kind == CR_NODE_MAP)
            c->root = node;
        else if (node && node->kind != CR_NODE_NULL)
            cr_error(diag, node->pos, CR_E_FORM,
                     "a config is a map of keys, found %s",
                     cr_node_what(arena, node));
        if (node)
            c->text = node->pos.src->text;
    }
    return c;
}

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
    int before = config->diag->errors;

    for (CR_EACH(m, config->root))
        if (!cr_find(CR_KIND_SECTION, m->key))
            config_unknown(config, m);
    for (; *list; list++) {
        const struct cr_section *section = (const struct cr_section *)*list;

        if (!section->raw && cr_section(config, section->about.name))
            cr_section_read(config, section->about.name,
                            cr_alloc(config->arena, 1, section->about.size));
    }
    return config->diag->errors == before;
}
