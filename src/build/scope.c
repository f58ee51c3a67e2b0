/*
 * The cells that a name of the config stands for: members of lists, and what
 * they are called.
 */
#include "base/str.h"
#include "construct/script_interp.h"

#include <string.h>

const char *cr_member_name(struct cr_arena *arena, const struct cr_node *member,
                           int index)
{
    const struct cr_node *args, *name = NULL;

    if (member->kind == CR_NODE_MAP &&
        (cr_node_type(member, &args) || cr_is_construct(member)))
        name = cr_node_get(member, "name");
    return name && name->kind == CR_NODE_STR && name->text[0] ? name->text
           : member->key                                      ? member->key
                         : cr_strf(arena, "%d", index);
}

bool cr_member_key(struct cr_build *b, const struct cr_node *m)
{
    const char *c = m->key;

    if (*c >= '0' && *c <= '9') /* as in a list */
        c += strspn(c, "0123456789");
    else
        while ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
               (*c >= '0' && *c <= '9') || *c == '_')
            c++;
    if (!*c)
        return true;
    b->pos = m->key_pos;
    return cr_fail(b, CR_E_FORM,
                   "the name of a cell: found '%s', expected a letter or _, "
                   "then letters, digits and _",
                   cr_quote(b->net->arena, m->key, strlen(m->key)));
}

const char *cr_member_checked(struct cr_build *b, const struct cr_node *m,
                              int index)
{
    const struct cr_node *args, *name = NULL;
    const char *c;

    if (cr_node_type(m, &args) || cr_is_construct(m))
        name = m->kind == CR_NODE_MAP ? cr_node_get(m, "name") : NULL;
    if (m->key && !cr_member_key(b, m))
        return NULL;
    if (!name)
        return cr_member_name(b->net->arena, m, index);
    b->pos = name->pos;
    if (m->key) {
        cr_fail(b, CR_E_CONFLICT,
                "the cell already has the name '%s'; use 'name' for members of "
                "a list only",
                m->key);
        return NULL;
    }
    c = name->kind == CR_NODE_STR ? name->text : "";
    if (*c >= 'a' && *c <= 'z')
        while ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
               (*c >= '0' && *c <= '9') || *c == '_')
            c++;
    if (*c || c == name->text || name->kind != CR_NODE_STR) {
        cr_fail(b, CR_E_FORM,
                "name: found %s, expected a lower-case letter, then letters, "
                "digits and _",
                cr_node_what(b->net->arena, name));
        return NULL;
    }
    return name->text;
}

const struct cr_node *cr_cell_list(const struct cr_node *node)
{
    const struct cr_node *args;
    const char *type = cr_node_type(node, &args);
    const struct cr_cell *cell = type ? cr_cell_find(type) : NULL;

    if (type)
        node =
            cell && cell->takes_cells && cr_node_count(node) == 1 ? args : NULL;
    if (!node || (node->kind != CR_NODE_LIST && node->kind != CR_NODE_MAP) ||
        cr_is_construct(node))
        return NULL;
    return node;
}

bool cr_cell_members(struct cr_interp *m, const struct cr_script *e,
                     const struct cr_script_value *cells,
                     struct cr_script_value *to)
{
    struct cr_arena *arena = m->b->net->arena;
    const struct cr_node *list = cr_cell_list(cells->node);
    const char *path = cells->text;
    struct cr_script_value all = { .kind = CR_SV_TUPLE };
    const struct cr_node *member;
    const char *name;
    int index = 0;

    if (!list)
        return cr_interp_fail(
            m, e,
            cr_strf(arena,
                    "'%s' is not a list of cells, or has modifiers next to it: "
                    "its members cannot be called",
                    path));
    all.keys = CR_NEWS(arena, const char *, cr_node_count(list) + 1);
    all.items = CR_NEWS(arena, struct cr_script_value, cr_node_count(list) + 1);
    for (CR_EACH(c, list)) {
        if (c->key && strcmp(c->key, "inputs") == 0)
            continue;
        member = cr_reference(m->cells, c);
        name = cr_member_name(arena, c, index++);
        all.keys[all.n] = name;
        all.items[all.n++] = (struct cr_script_value){
            .kind = CR_SV_CELL,
            .node = member,
            .text = member == c ? cr_path_of(arena, path, name) : member->key,
        };
    }
    *to = all;
    return true;
}
