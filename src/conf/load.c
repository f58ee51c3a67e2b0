/*
 * From files, CELLRUN_SET and assignments to one resolved tree.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "conf/config.h"
#include "conf/expand.h"
#include "conf/merge.h"
#include "conf/source_dir.h"
#include "conf/typed_node.h"
#include "conf/yaml.h"

#define FILES_MAX 200 /* files of one config, `base` followed */
#define CHAIN_MAX 32  /* of nested base files */

struct loader {
    struct cr_config *c;
    const char *chain[CHAIN_MAX]; /* absolute paths, outermost first */
    const char *given[CHAIN_MAX]; /* the same as written */
    int n_chain, n_files;
};

static bool load_file(struct loader *l, const char *path, struct cr_pos pos);

static struct cr_source *load_source(struct cr_config *c, const char *name,
                                     const char *dir,
                                     enum cr_origin_kind kind)
{
    struct cr_source *src = CR_NEW(c->arena, struct cr_source);
    struct cr_source_dir *origin = CR_NEW(c->arena, struct cr_source_dir);

    src->name = name;
    *origin = (struct cr_source_dir){ src, dir, kind, c->source_dirs };
    c->source_dirs = origin;
    return src;
}

/* ---- errors of one file ---- */

/* YAML reads `epochs:3` below `train:` as a string. */
static void load_check_colon(struct cr_config *c, struct cr_node *node)
{
    const char *s = node->text;
    size_t n;

    if (node->kind != CR_NODE_STR || node->quoted || !node->key ||
        node->pos.line <= node->key_pos.line || *s < 'a' || *s > 'z')
        return;
    n = strspn(s, "abcdefghijklmnopqrstuvwxyz_0123456789");
    if (s[n] != ':' || !s[n + 1] || s[n + 1] == '/')
        return;
    node->pos.len = (int)n + 1;
    cr_error(c->diag, node->pos, CR_E_SYNTAX, "no space after ':' in '%s'",
             cr_quote(c->arena, s, strlen(s)));
    cr_hint(c->diag, "write '%s: %s'", cr_strndup(c->arena, s, n),
            cr_quote(c->arena, s + n + 1, strcspn(s + n + 1, " ")));
    node->pos.offset = -1;
}

/* Prevents further messages about a node that has an error. */
static void load_silence(struct cr_node *node)
{
    node->pos.offset = node->key_pos.offset = -1;
    for (struct cr_node *m = node->child; m; m = m->next)
        load_silence(m);
}

/* {type: Dropout, p: 0.1}, as in other programs. */
static void load_check_type(struct cr_config *c, struct cr_node *node)
{
    const struct cr_node *type = cr_node_get(node, "type"), *args;
    struct cr_node rest = { .kind = CR_NODE_MAP }, **last = &rest.child;

    if (!type || type->kind != CR_NODE_STR || !cr_node_type(type, &args))
        return;
    for (CR_EACH(m, node))
        if (m != type) {
            *last = CR_NEW(c->arena, struct cr_node);
            **last = *m;
            (*last)->next = NULL;
            last = &(*last)->next;
        }
    cr_error(c->diag, type->key_pos, CR_E_FORM,
             "the type is the key itself, not a value of 'type'");
    cr_hint(c->diag, "write %s: %s",
            cr_quote(c->arena, type->text, strlen(type->text)),
            cr_node_flow(c->arena, &rest));
    node->pos.offset = -1;
    for (struct cr_node *m = node->child; m; m = m->next)
        load_silence(m);
}

static void load_check(struct cr_config *c, struct cr_node *node)
{
    if (node->kind == CR_NODE_MAP)
        load_check_type(c, node);
    load_check_colon(c, node);
    for (struct cr_node *m = node->child; m; m = m->next)
        load_check(c, m);
}

/* ---- base ---- */

static const char *load_find_base(struct loader *l, const char *dir,
                                  const char *name)
{
    struct cr_arena *arena = l->c->arena;
    const char *path = cr_path_join(arena, dir, name), *other;

    if (access(path, F_OK) == 0 || name[0] == '/')
        return path;
    other = cr_path_search(arena, getenv("CELLRUN_PATH"), name);
    return other ? other : path;
}

static bool load_base(struct loader *l, const struct cr_node *node,
                      const char *dir)
{
    bool ok = true;

    if (node->kind == CR_NODE_LIST) {
        for (CR_EACH(m, node))
            ok = load_base(l, m, dir) && ok;
        return ok;
    }
    if (node->kind != CR_NODE_STR || !*node->text ||
        strcmp(node->text, "-") == 0)
        return cr_error(l->c->diag, node->pos, CR_E_WRONG_TYPE,
                        "'base': found %s, expected a file or a list of files",
                        cr_node_what(l->c->arena, node));
    if (!cr_config_may(l->c, CR_READ_BASE, node->text, node->pos))
        return false;
    return load_file(l, load_find_base(l, dir, node->text), node->pos);
}

static bool load_cycle(struct loader *l, const char *real, const char *path,
                       struct cr_pos pos)
{
    struct cr_diag *diag = l->c->diag;
    int i = 0;

    while (i < l->n_chain && strcmp(l->chain[i], real) != 0)
        i++;
    if (i < l->n_chain) {
        cr_error(diag, pos, CR_E_INCLUDE, "the file is its own base");
        for (; i < l->n_chain; i++)
            cr_note(diag, "%s, which has the base", l->given[i]);
        cr_note(diag, "%s", path);
        return true;
    }
    if (l->n_chain == CHAIN_MAX || l->n_files == FILES_MAX) {
        cr_error(diag, pos, CR_E_LIMIT,
                 "too many base files with '%s': at most "
                 "%d files, %d deep",
                 path, FILES_MAX, CHAIN_MAX);
        return true;
    }
    return false;
}

/* ---- texts and files ---- */

/* Merges the tree of a source, after its bases, into the root. */
static bool load_text(struct loader *l, const struct cr_source *src,
                      const char *dir)
{
    struct cr_config *c = l->c;
    struct cr_node *node = cr_yaml_read(c->arena, c->diag, src, 0, src->len);
    const struct cr_node *base;
    bool ok = true;

    if (!node)
        return false;
    if (node->kind == CR_NODE_NULL)
        return true;
    load_check(c, node);
    if (node->kind != CR_NODE_MAP) {
        cr_error(c->diag, node->pos, CR_E_FORM,
                 "found %s, expected a config: a map of keys",
                 cr_node_what(c->arena, node));
        if (cr_ends(src->name, ".csv") || cr_ends(src->name, ".tsv"))
            cr_note(c->diag, "cellrun init --from-csv %s --target FIELD -o "
                    "NAME.yaml writes a config for a table", src->name);
        return false;
    }
    cr_typed_names(c->arena, node);
    base = cr_node_take(node, "base");
    if (base)
        ok = load_base(l, base, dir);
    cr_merge(c->arena, c->diag, c->root, node);
    return ok;
}

static bool load_file(struct loader *l, const char *path, struct cr_pos pos)
{
    struct cr_config *c = l->c;
    bool standard = strcmp(path, "-") == 0, ok;
    const char *dir = standard ? "." : cr_path_dir(c->arena, path);
    char *real = standard ? NULL : realpath(path, NULL);
    struct cr_source *src;
    const char *kept = real ? cr_strdup(c->arena, real) : path;

    free(real);
    if (load_cycle(l, kept, path, pos))
        return false;
    src = load_source(c, standard ? "standard input" : path, dir,
                      CR_FROM_FILE);
    src->text = cr_read_file(c->arena, c->diag, pos, path, CR_E_INCLUDE,
                             CR_TEXT_MAX, &src->len);
    if (!src->text)
        return false;
    if (!c->text)
        c->text = src->text;
    l->given[l->n_chain] = path;
    l->chain[l->n_chain++] = kept;
    l->n_files++;
    ok = load_text(l, src, dir);
    l->n_chain--;
    return ok;
}

/* ---- assignments ---- */

/* CELLRUN_SET has one a line; empty lines and comments are skipped. */
static void load_environment(struct cr_config *c)
{
    const char *text = getenv("CELLRUN_SET");
    struct cr_source *src;

    if (!text || !*text)
        return;
    src = load_source(c, "CELLRUN_SET", ".", CR_FROM_LINE);
    src->text = cr_strdup(c->arena, text);
    src->len = strlen(text);
    for (size_t at = 0; at < src->len;) {
        size_t n = strcspn(src->text + at, "\n"), end = at + n;

        at += strspn(src->text + at, " \t\r");
        while (end > at && strchr(" \t\r", src->text[end - 1]))
            end--;
        if (end > at && src->text[at] != '#')
            cr_assign(c->arena, c->diag, c->root, src, at, end);
        at = end + strcspn(src->text + end, "\n") + 1;
    }
}

static void load_sets(struct cr_config *c, const struct cr_config_from *from)
{
    for (int i = 0; from->sets && from->sets[i]; i++) {
        struct cr_source *src = load_source(c, "command line", ".",
                                            CR_FROM_LINE);

        src->text = from->sets[i];
        src->len = strlen(src->text);
        src->argument = from->set_args ? from->set_args[i] : 0;
        cr_assign(c->arena, c->diag, c->root, src, 0, src->len);
    }
}

/* Adds the parts of a value that another source gives. In the diag's arena: it
 * may outlive the config. */
static void load_elsewhere(struct cr_diag *diag, const struct cr_node *node,
                           const struct cr_node *above)
{
    const struct cr_node *args;
    const char *type = above ? cr_node_type(above, &args) : NULL;
    const struct cr_pos whole[] = { node->pos, node->key_pos,
                                    type && args == node ? above->pos
                                                         : node->pos };

    for (CR_EACH(m, node)) {
        for (size_t i = 0; m->key && m->pos.src && i < CR_LEN(whole); i++)
            if (whole[i].src && m->pos.src != whole[i].src) {
                struct cr_elsewhere *e = CR_NEW(diag->arena,
                                                struct cr_elsewhere);

                *e = (struct cr_elsewhere){ whole[i], m->pos,
                                            cr_strdup(diag->arena, m->key),
                                            diag->elsewhere };
                diag->elsewhere = e;
            }
        load_elsewhere(diag, m, node);
    }
}

/* ---- the whole ---- */

/* Reports {Dense: ..., ReLU: }, which is neither a typed node nor a map of
 * names. */
static void load_check_types(struct cr_config *c, struct cr_node *node)
{
    const struct cr_node *first = NULL;

    if (!node || node->kind != CR_NODE_MAP)
        return;
    for (struct cr_node *m = node->child; m; m = m->next) {
        if (*m->key < 'A' || *m->key > 'Z')
            continue;
        if (!first) {
            first = m;
            continue;
        }
        cr_error(c->diag, m->key_pos, CR_E_FORM,
                 "two types in one map, '%s' and '%s'",
                 cr_quote(c->arena, first->key, strlen(first->key)),
                 cr_quote(c->arena, m->key, strlen(m->key)));
        cr_hint(c->diag, "%s",
                cr_cells_hint(node) ? cr_cells_hint(node)
                                    : "give them names, or use a list");
        node->pos.offset = -1;
        for (m = node->child; m; m = m->next)
            load_silence(m);
        return;
    }
}

/* Reserved words of later versions must not become names of cells. */
static void load_check_network(struct cr_config *c, struct cr_node *node)
{
    static const char *const unknown[] = { "params", NULL };
    const struct cr_node *args = NULL;
    const char *type = node ? cr_node_type(node, &args) : NULL;
    struct cr_node *m = node ? node->child : NULL;

    load_check_types(c, node);
    for (; m; m = m->next) {
        if (node->kind == CR_NODE_MAP)
            for (int i = 0; unknown[i]; i++)
                if (strcmp(m->key, unknown[i]) == 0) {
                    cr_error(c->diag, m->key_pos, CR_E_UNKNOWN_KEY,
                             "unknown key '%s': not supported by this version",
                             m->key);
                    cr_hint(c->diag, "it is reserved and cannot name a cell");
                }
        if (node->kind == CR_NODE_LIST || !type || m == args)
            load_check_network(c, m);
    }
}

static void load_first(struct cr_config *c, const struct cr_config_from *from)
{
    const char *path = from->files ? from->files[0] : NULL;

    c->dir = ".";
    c->name = "config";
    if (from->text) {
        c->text = from->text;
        c->dir = from->text_dir ? from->text_dir : ".";
        if (from->text_name)
            c->name = cr_path_stem(c->arena, from->text_name);
    } else if (path && strcmp(path, "-") == 0) {
        c->name = "stdin";
    } else if (path) {
        c->dir = cr_path_dir(c->arena, path);
        c->name = cr_path_stem(c->arena, path);
    }
}

struct cr_config *cr_config_load(struct cr_arena *arena, struct cr_diag *diag,
                                 const struct cr_config_from *from)
{
    struct cr_config *c = CR_NEW(arena, struct cr_config);
    struct loader l = { .c = c };
    const char *runs = getenv("CELLRUN_RUNS");
    bool plugins;

    c->arena = arena;
    c->diag = diag;
    c->closed = from->closed;
    c->plugin_marks = from->plugin_marks;
    c->resume_dir = from->resume_dir;
    c->rebased = CR_NEW(arena, struct cr_rebased_path *);
    c->root = CR_NEW(arena, struct cr_node);
    c->root->kind = CR_NODE_MAP;
    load_first(c, from);
    if (from->text) {
        struct cr_source *src = load_source(
            c, from->text_name ? from->text_name : "config", c->dir,
            from->text_kind);

        src->text = from->text;
        src->len = strlen(from->text);
        c->root->pos.src = src;
        c->load_failed = !load_text(&l, src, c->dir);
    } else {
        for (int i = 0; from->files && from->files[i]; i++) {
            bool standard = strcmp(from->files[i], "-") == 0;
            struct cr_pos pos =
                cr_at_file(arena, standard ? "standard input" : from->files[i]);

            if (!c->root->pos.src)
                c->root->pos = pos;
            if (!load_file(&l, from->files[i], pos))
                c->load_failed = true;
        }
    }
    load_environment(c);
    load_sets(c, from);
    diag->elsewhere = NULL;
    for (CR_EACH(section, c->root))
        load_elsewhere(diag, section, NULL);
    if (c->load_failed)
        return c;
    plugins = cr_node_get(c->root, "plugin") != NULL;
    cr_expand(arena, diag, c->root,
              &(struct cr_builtins){
                  .config_dir = c->dir,
                  .config_name = c->name,
                  .runs = runs && *runs ? runs : "runs",
                  .config = c,
              });
    if (c->load_failed)
        return c;
    /* cells of plug-ins were not known when the files were read */
    if (plugins)
        cr_typed_names(arena, c->root);
    load_check_network(c, cr_node_get(c->root, "network"));
    return c;
}
