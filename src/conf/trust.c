#include "conf/trust.h"

#include <string.h>

#include "conf/config.h"
#include "conf/source_dir.h"

#define USER                                         \
    {                                                \
        [CR_FROM_FILE] = true, [CR_FROM_LINE] = true \
    }

static const struct rule {
    bool may[CR_ORIGIN_KINDS];
    const char *refused; /* what the message calls the refused action; '%s':
                            the text of the config */
    const char *instead; /* an alternative for the user; NULL: none */
} trust_rules[] = {
    [CR_OPEN_PLUGIN] = { USER, "plug-in '%s' was not opened",
                         "use plugin=PATH to open a plug-in" },
    [CR_RUN_COMMAND] = { USER, "command '%s' is not allowed",
                         "use ~run.exec_on_eval to remove it" },
    [CR_READ_BASE] = { USER, "base '%s' was not read", NULL },
    [CR_READ_ENV] = { USER, "environment variable '%s' was not read", NULL },
    [CR_READ_DATA] = { USER, "data '%s' was not read",
                       "use KEY=PATH, eval --data or trace --feed to name "
                       "data" },
    [CR_READ_FILE] = { USER, "file '%s' was not read",
                       "use KEY=PATH to name a file" },
    [CR_WRITE_FILE] = { USER, "file '%s' was not written",
                        "use ~watch to remove its entries" },
    [CR_WRITE_FOLDER] = { USER, "folder '%s' was not written", NULL },
};

/* A path that the user typed and that is not in the tree. */
struct cr_named {
    const char *path;
    struct cr_named *next;
};

void cr_config_name(struct cr_config *config, const char *path)
{
    struct cr_named *named = CR_NEW(config->arena, struct cr_named);

    *named = (struct cr_named){ path, config->named };
    config->named = named;
}

bool cr_config_foreign(const struct cr_config *config)
{
    for (const struct cr_source_dir *o = config->source_dirs; o; o = o->next)
        if (o->kind == CR_FROM_CKPT)
            return true;
    return false;
}

/* A text of unknown source is treated as the least trusted one. */
static enum cr_origin_kind trust_kind(const struct cr_config *config,
                                      const struct cr_source *src)
{
    for (const struct cr_source_dir *o = config->source_dirs; o; o = o->next)
        if (o->src == src)
            return o->kind;
    return cr_config_foreign(config) ? CR_FROM_CKPT : CR_FROM_FILE;
}

static const struct cr_node *trust_holder(const struct cr_node *node,
                                          const char *text)
{
    const struct cr_node *found = NULL;

    if (node->kind == CR_NODE_STR && node->text == text)
        return node;
    for (CR_EACH(m, node))
        if (!found)
            found = trust_holder(m, text);
    return found;
}

/* The position of a path of the tree; else CR_NOWHERE. */
static struct cr_pos trust_pos(const struct cr_config *config, const char *path)
{
    const struct cr_node *node = trust_holder(config->root, path);

    return node ? node->pos : CR_NOWHERE;
}

enum cr_origin_kind cr_config_kind(const struct cr_config *config,
                                   struct cr_pos pos)
{
    return trust_kind(config, pos.src);
}

bool cr_config_allows(const struct cr_config *config, enum cr_action action,
                      const char *path)
{
    const bool *may = trust_rules[action].may;

    for (const struct cr_named *n = config->named; n; n = n->next)
        if (n->path == path)
            return may[CR_FROM_LINE];
    /* only allowed paths are replaced in the tree */
    for (const struct cr_rebased_path *m = *config->rebased; m; m = m->next)
        if (m->old == path || m->rebased == path)
            return true;
    return may[trust_kind(config, trust_pos(config, path).src)];
}

static bool trust_refuse(const struct cr_config *config, enum cr_action action,
                         const char *text, struct cr_pos pos)
{
    const struct rule *rule = &trust_rules[action];
    const struct cr_message *m = config->diag->first;

    while (m && m->code != CR_E_TRUST)
        m = m->next;
    cr_error(config->diag, pos.src ? pos : config->root->pos, CR_E_TRUST,
             "%s: requested only by the checkpoint, which is not trusted",
             cr_strf(config->arena, rule->refused,
                     cr_quote(config->arena, text, strlen(text))));
    if (rule->instead)
        cr_note(config->diag, "%s", rule->instead);
    if (!m) /* added to the first such message only */
        cr_note(config->diag,
                "use --trust to allow everything that the checkpoint requests");
    return false;
}

bool cr_config_may(const struct cr_config *config, enum cr_action action,
                   const char *text, struct cr_pos pos)
{
    return trust_rules[action].may[trust_kind(config, pos.src)] ||
           trust_refuse(config, action, text, pos);
}

bool cr_config_may_path(const struct cr_config *config, enum cr_action action,
                        const char *path)
{
    return cr_config_allows(config, action, path) ||
           trust_refuse(config, action, path, trust_pos(config, path));
}
