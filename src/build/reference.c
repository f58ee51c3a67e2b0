/*
 * Members that others are made of: `seq: [conv, bn, relu]` below `cells`.
 *
 * A text in small letters where a cell stands is a member of the same `cells`,
 * declared before. It is one cell with one set of parameters, whoever calls
 * it. What it is called is MindSpore's Parameter.name: each attribute that
 * takes a cell prefixes its parameters anew, so the last one gives the name;
 * but where an attribute of another cell takes the whole, that prefixes the
 * names by which the cell itself finds them first, those of the declaration.
 */
#include "base/str.h"
#include "graph/graph.h"

#include <string.h>

static const struct cr_node *named(const struct cr_node *cells,
                                   const struct cr_node *node)
{
    return node->kind == CR_NODE_STR && node->text[0] >= 'a' &&
                   node->text[0] <= 'z'
               ? cr_node_get(cells, node->text)
               : NULL;
}

const struct cr_node *cr_reference(const struct cr_node *cells,
                                   const struct cr_node *node)
{
    const struct cr_node *other;

    while (cells && (other = named(cells, node)))
        node = other;
    return node;
}

/* The members of a list or map, whatever modifiers it has. */
static const struct cr_node *members_of(const struct cr_node *node)
{
    const struct cr_node *args;
    const char *type = cr_node_type(node, &args);
    const struct cr_cell *cell = type ? cr_cell_find(type) : NULL;

    if (type)
        node = cell && cell->takes_cells ? args : NULL;
    return node &&
                   (node->kind == CR_NODE_LIST || node->kind == CR_NODE_MAP) &&
                   !cr_is_construct(node)
               ? node
               : NULL;
}

static int place(const struct cr_node *cells, const struct cr_node *member)
{
    int i = 0;

    for (CR_EACH(m, cells)) {
        if (m == member)
            break;
        i++;
    }
    return i;
}

/* ---- auto_prefix ---- */

/* Where the name begins in the path: after the members of cells that prefix
 * none, as long as the outermost are such. */
static size_t bare(const struct cr_build *b, const char *path)
{
    const struct cr_node *word;
    size_t n, at;

    if (!b)
        return 0;
    n = bare(b->parent, path);
    at = strlen(b->path);
    word = b->block ? cr_node_get(b->block, "auto_prefix") : NULL;
    if (n < at || !word || word->kind != CR_NODE_BOOL || word->boolean)
        return n;
    path += at + (at > 0);
    return at + (at > 0) + strcspn(path, ".") + (strchr(path, '.') != NULL);
}

const char *cr_param_name(const struct cr_build *b, const char *path)
{
    const char *name = path + bare(b, path), *dot = strrchr(path, '.');

    return name[0] || !path[0] ? name /* else that of a Parameter */
           : dot               ? dot + 1
                               : path;
}

/* ---- names ---- */

struct search {
    struct cr_arena *arena;
    const struct cr_node *cells, *key;
    bool *seen; /* members of cells that do not hold it */
};

/* The path of the first place below `node` that holds the key; or NULL. */
static const char *find(const struct search *s, const struct cr_node *node,
                        const char *path)
{
    const struct cr_node *other = named(s->cells, node);
    const char *found = NULL;
    int i = 0, at = other ? place(s->cells, other) : 0;

    if (other == s->key)
        return path;
    if (other && s->seen[at])
        return NULL;
    if (other) {
        found = find(s, other, path);
        s->seen[at] = !found;
        return found;
    }
    for (CR_EACH(m, members_of(node))) {
        if (m->key && strcmp(m->key, "inputs") == 0)
            continue;
        found = find(s, m,
                     cr_path_of(s->arena, path,
                                cr_member_name(s->arena, m, i++)));
        if (found)
            return found;
    }
    return NULL;
}

/* The strings below cells: a call in a text asks for each name among them. */
struct cr_mentions {
    const struct cr_node *cells;
    struct cr_name_map names;
    struct cr_mentions *next;
};

static void mention(struct cr_arena *arena, struct cr_mentions *to,
                    const struct cr_node *node)
{
    if (node->kind == CR_NODE_STR) {
        if (cr_name_map_get(&to->names, node->text) < 0)
            cr_name_map_add(arena, &to->names, node->text, 1);
        return;
    }
    for (CR_EACH(m, members_of(node)))
        mention(arena, to, m);
}

static bool mentioned(struct cr_net *net, const struct cr_node *cells,
                      const char *name)
{
    struct cr_mentions *in = net->mentions;

    while (in && in->cells != cells)
        in = in->next;
    if (!in) {
        in = CR_NEW(net->arena, struct cr_mentions);
        in->cells = cells;
        in->next = net->mentions;
        net->mentions = in;
        for (CR_EACH(m, cells))
            mention(net->arena, in, m);
    }
    return cr_name_map_get(&in->names, name) >= 0;
}

/* The path in the last of the members that hold the one of that name. */
static const char *held(struct cr_net *net, const struct cr_node *cells,
                        const char *name)
{
    struct search s = { .arena = net->arena, .cells = cells };
    const char *found = NULL, *one;
    bool after = false;
    size_t n;

    if (mentioned(net, cells, name))
        s.key = cr_node_get(cells, name);
    if (!s.key)
        return NULL;
    n = (size_t)cr_node_count(cells);
    s.seen = CR_NEWS(net->arena, bool, (int)n + 1);
    for (CR_EACH(m, cells)) {
        if (after) {
            memset(s.seen, 0, n * sizeof *s.seen);
            one = find(&s, m, m->key);
            found = one ? one : found;
        }
        after = after || m == s.key;
    }
    return found;
}

bool cr_reference_held(struct cr_net *net, const struct cr_node *cells,
                       const char *name)
{
    return held(net, cells, name) != NULL;
}

const char *cr_reference_name(const struct cr_build *b, const char *name)
{
    struct cr_arena *arena = b->net->arena;
    const struct cr_node *cells =
        b->block ? cr_node_get(b->block, "cells") : NULL;
    size_t n = strcspn(name, ".");
    const char *found = NULL;

    if (cells && !b->path[bare(b->parent, b->path)])
        found = held(b->net, cells, cr_strndup(arena, name, n));
    return found ? cr_strf(arena, "%s%s", found, name + n) : name;
}

const struct cr_node *cr_reference_at(const struct cr_build *b,
                                      const struct cr_node *node,
                                      const char **path)
{
    const struct cr_node *member;

    while (b && !b->block)
        b = b->parent;
    if (!b)
        return NULL;
    member = cr_reference(cr_node_get(b->block, "cells"), node);
    if (member == node)
        return NULL;
    *path = cr_path_of(b->net->arena, b->path,
                       cr_reference_name(b, member->key));
    return member;
}

/* ---- whether all is right ---- */

/* The modifiers of a container count for all its members, so none that
 * changes them may stand where some are called from elsewhere too. */
static const struct cr_node *word_of(const struct cr_node *node)
{
    static const char *const words[] = { "freeze", "init", "to_float", "mode",
                                         "share", NULL };
    const struct cr_node *args, *word = NULL;
    int i;

    for (i = 0; words[i] && cr_node_type(node, &args) && !word; i++)
        word = node->kind == CR_NODE_MAP ? cr_node_get(node, words[i]) : NULL;
    return word;
}

static bool check(struct cr_build *b, const struct cr_node *cells,
                  const struct cr_node *from, const struct cr_node *node,
                  const struct cr_node *word)
{
    const struct cr_node *other = cells ? named(cells, node) : NULL;
    bool ok = true;

    if (other == from)
        ok = cr_error(b->net->diag, node->pos, CR_E_NETWORK,
                      "'%s' refers to itself", from->key);
    else if (other && place(cells, other) > place(cells, from))
        ok = cr_error(b->net->diag, node->pos, CR_E_NETWORK,
                      "'%s' refers to '%s', which is declared after it: "
                      "expected before it",
                      from->key, other->key);
    else if (other && word)
        ok = cr_error(b->net->diag, word->key_pos, CR_E_CONFLICT,
                      "modifier '%s' is next to a reference to '%s': expected "
                      "next to its declaration",
                      word->key, other->key);
    for (CR_EACH(m, members_of(node)))
        ok = check(b, cells, from, m, word ? word : word_of(node)) && ok;
    return ok;
}

bool cr_references_right(struct cr_build *b)
{
    const struct cr_node *cells = cr_node_get(b->node, "cells");
    bool ok = true;

    for (CR_EACH(m, cells))
        ok = check(b, cells, m, m, NULL) && ok;
    return ok;
}
