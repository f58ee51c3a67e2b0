/*
 * Checks the typed nodes of a tree against their option tables before anything
 * is built, so that errors in the network and the optimizer are reported
 * together, even if the data are missing.
 */
#include <string.h>
#include <strings.h>

#include "conf/typed_node.h"

struct check {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const struct cr_node *blocks; /* whose uses have been replaced; or NULL */
    bool *unknown; /* set by cells of unknown types; NULL: errors */
};

/* Whether a key of a composite cell is a member and not an option. */
static bool check_is_member(const char *key)
{
    return strcmp(key, "cells") == 0 ||
           (strcmp(key, "params") != 0 && !cr_is_cell_key(key));
}

/* A word that the row allows in place of a cell. */
static bool check_word(const struct cr_opt *row, const struct cr_node *node)
{
    const char *at = row->choices;
    size_t n = node->kind == CR_NODE_STR ? strlen(node->text) : 0;

    for (; at && n > 0; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, node->text, n) == 0 && (at[n] == '|' || !at[n]))
            return true;
    }
    return false;
}

/* The cell or block of that name but for upper and lower case. */
static const char *check_type_like(const struct check *c, const char *name)
{
    const char *like = cr_registry_like(CR_KIND_CELL, name);

    for (CR_EACH(b, c->blocks))
        if (!like && strcasecmp(b->key, name) == 0)
            like = b->key;
    return like;
}

static bool check_is_value(const struct cr_node *node)
{
    return node->kind != CR_NODE_STR && node->kind != CR_NODE_LIST &&
           node->kind != CR_NODE_MAP;
}

/* Reports a type in lower case, which is the name of a member: one whose value
 * is no cell, but arguments. */
static bool check_is_lower_case(const struct check *c,
                                const struct cr_node *node, const char *name,
                                struct cr_pos pos)
{
    const struct cr_node *args;
    const char *like = name ? check_type_like(c, name) : NULL;
    bool values = check_is_value(node) || node->kind == CR_NODE_STR;

    if (!like || cr_node_type(node, &args))
        return false;
    for (CR_EACH(m, values ? NULL : node))
        values = values || (check_is_value(m) &&
                            (!m->key || check_is_member(m->key)));
    if (!values)
        return false;
    cr_error(c->diag, pos, CR_E_UNKNOWN_TYPE, "unknown cell '%s'",
             cr_quote(c->arena, name, strlen(name)));
    cr_hint(c->diag, "did you mean '%s'?", like);
    return true;
}

/* `cells`: the surrounding cells, whose members the node may name; or NULL. */
static bool check_cells(const struct check *c, const struct cr_node *node,
                        const struct cr_node *cells)
{
    const struct cr_node *args;
    const char *type = cr_node_type(node, &args);
    struct cr_obj obj;
    bool ok = true, loss;

    if (!type && (node->kind == CR_NODE_LIST || node->kind == CR_NODE_MAP)) {
        for (CR_EACH(m, node))
            if (!m->key || check_is_member(m->key))
                ok = (m->kind == CR_NODE_STR ||
                      !check_is_lower_case(c, m, m->key, m->key_pos)) &&
                     check_cells(
                         c, m,
                         m->key && strcmp(m->key, "cells") == 0 ? m : cells) &&
                     ok;
        return ok;
    }
    if (!type && node->kind == CR_NODE_STR && cells &&
        cr_node_get(cells, node->text))
        return true;
    if (!type && node->kind == CR_NODE_STR &&
        check_is_lower_case(c, node, node->text, node->pos))
        return false;
    if (c->unknown && type && !cr_registry_find(CR_KIND_CELL, type) &&
        !cr_registry_find(CR_KIND_LOSS, type)) {
        *c->unknown = true;
        return true;
    }
    /* a loss may be a member of a loss written in the config; its nodes are
     * weights */
    loss = type && !cr_registry_find(CR_KIND_CELL, type) &&
           cr_registry_find(CR_KIND_LOSS, type);
    ok = cr_obj_read(c->arena, c->diag, loss ? CR_KIND_LOSS : CR_KIND_CELL,
                     node, &obj);
    if (!ok || loss || !obj.about->opts)
        return ok;
    /* a composite cell: its only row is the node with its members */
    for (const struct cr_opt *row = obj.about->opts; row->name; row++)
        if (row->type == CR_OPT_NODE) {
            const struct cr_node *const *inside =
                (const struct cr_node *const *)((const char *)obj.opts +
                                                row->at);

            ok = (!*inside || check_word(row, *inside) ||
                  check_cells(c, *inside, cells)) &&
                 ok;
        }
    return ok;
}

static bool check_objs(const struct check *c, enum cr_kind kind,
                       const struct cr_node *node)
{
    struct cr_obj obj;
    bool ok = true;

    if (!node || node->kind != CR_NODE_LIST)
        return !node || cr_obj_read(c->arena, c->diag, kind, node, &obj);
    for (CR_EACH(m, node))
        ok = cr_obj_read(c->arena, c->diag, kind, m, &obj) && ok;
    return ok;
}

/* A metric may be the name of an auxiliary value of the loss (aux). */
static bool check_metric(const struct check *c, const struct cr_node *node,
                         const struct cr_node *aux)
{
    if (node && node->kind == CR_NODE_STR && aux && aux->kind == CR_NODE_LIST)
        for (CR_EACH(m, aux))
            if (m->kind == CR_NODE_STR && strcmp(m->text, node->text) == 0)
                return true;
    return check_objs(c, CR_KIND_METRIC, node);
}

/* A metric may be written in the config, as a cell is. */
static bool check_metrics(const struct check *c, const struct cr_node *node,
                          const struct cr_node *aux)
{
    bool ok = true;

    if (node && cr_node_get(node, "construct"))
        return check_cells(c, node, NULL);
    if (!node || node->kind != CR_NODE_LIST)
        return check_metric(c, node, aux);
    for (CR_EACH(m, node))
        ok = (cr_node_get(m, "construct") ? check_cells(c, m, NULL)
                                          : check_metric(c, m, aux)) &&
             ok;
    return ok;
}

bool cr_typed_check(struct cr_arena *arena, struct cr_diag *diag,
                    const struct cr_node *root, const struct cr_node *blocks,
                    bool *unknown)
{
    const struct check checked = { arena, diag, blocks, unknown },
                       *c = &checked;
    const struct cr_node *network = cr_node_get(root, "network");
    const struct cr_node *loss = cr_node_get(root, "loss");
    bool ok = !network || check_cells(c, network, NULL);

    if (loss && cr_node_get(loss, "construct"))
        ok = check_cells(c, loss, NULL) && ok;
    else
        ok = check_objs(c, CR_KIND_LOSS, loss) && ok;
    ok = check_objs(c, CR_KIND_OPTIM, cr_node_get(root, "optimizer")) && ok;
    return check_metrics(c, cr_node_get(root, "metrics"),
                         cr_node_get(loss, "aux")) &&
           ok;
}
