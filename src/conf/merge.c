#include "conf/merge.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "conf/opt.h"
#include "conf/typed_node.h"
#include "conf/yaml.h"

struct merger {
    struct cr_arena *arena;
    struct cr_diag *diag;
};

static void merge_map(struct merger *m, struct cr_node *base,
                      struct cr_node *over);

static bool merge_tagged(const struct cr_node *node, const char *tag)
{
    return node->tag && strcmp(node->tag, tag) == 0;
}

/* Copies the content of `from` to `to`, which keeps its position in its
 * parent. */
static void merge_become(struct cr_node *to, const struct cr_node *from)
{
    struct cr_node *next = to->next;
    const char *key = to->key;

    *to = *from;
    to->next = next;
    to->key = key;
}

static void merge_note_keys(struct merger *m, const struct cr_node *in)
{
    struct cr_buf names = { .arena = m->arena };

    if (!in || in->kind != CR_NODE_MAP || !in->child)
        return;
    for (CR_EACH(c, in))
        cr_buf_f(&names, " %s", cr_quote(m->arena, c->key, strlen(c->key)));
    cr_note(m->diag, "existing keys:%s", cr_buf_text(&names));
}

static void merge_nothing(struct merger *m, const struct cr_node *in,
                          const char *key, struct cr_pos pos)
{
    const char *near = cr_node_nearest(m->arena, in, key);

    cr_error(m->diag, pos, CR_E_UNKNOWN_KEY, "key '%s' to remove not found",
             cr_quote(m->arena, key, strlen(key)));
    if (near)
        cr_hint(m->diag, "did you mean '%s'?", near);
    else
        merge_note_keys(m, in);
}

/* Removes the tags of a tree that is merged into nothing. */
static void merge_clean(struct merger *m, struct cr_node *node)
{
    struct cr_node **p = &node->child;

    node->tag = NULL;
    while (*p) {
        struct cr_node *c = *p;

        if (!merge_tagged(c, "!delete")) {
            merge_clean(m, c);
            p = &c->next;
            continue;
        }
        *p = c->next;
        if (node->kind == CR_NODE_MAP)
            merge_nothing(m, node, c->key, c->key_pos);
        else
            cr_error(
                m->diag, c->pos, CR_E_FORM,
                "!delete is allowed as the value of a key only, not in a list");
    }
}

/* ReLU as {ReLU: } so that it merges like any typed node. */
static void merge_typed_scalar(struct merger *m, struct cr_node *node)
{
    struct cr_node *child = CR_NEW(m->arena, struct cr_node);

    child->key = node->text;
    child->key_pos = child->pos = node->pos;
    node->kind = CR_NODE_MAP;
    node->child = child;
}

static void merge_extend(struct merger *m, struct cr_node *base,
                         struct cr_node *over)
{
    bool append = merge_tagged(over, "!append");
    struct cr_node **p = append ? &base->child : &over->child;
    struct cr_node *head = append ? NULL : over->child;

    if (base->kind != CR_NODE_LIST && base->kind != CR_NODE_NULL) {
        cr_error(m->diag, over->pos, CR_E_FORM,
                 "%s extends a list of a base config, but found %s there",
                 over->tag, cr_node_what(m->arena, base));
        cr_note(m->diag, "at %s:%d:%d", base->pos.src->name, base->pos.line,
                base->pos.col);
        return;
    }
    merge_clean(m, over);
    base->kind = CR_NODE_LIST;
    while (*p)
        p = &(*p)->next;
    *p = append ? over->child : base->child;
    if (head)
        base->child = head;
}

static void merge_node(struct merger *m, struct cr_node *base,
                       struct cr_node *over)
{
    const struct cr_node *unused;
    const char *below = cr_node_type(base, &unused);
    const char *above = cr_node_type(over, &unused);

    if (merge_tagged(over, "!append") || merge_tagged(over, "!prepend")) {
        merge_extend(m, base, over);
        return;
    }
    if (below && above && strcmp(below, above) == 0 &&
        !merge_tagged(over, "!replace")) {
        if (over->kind == CR_NODE_STR)
            return;
        if (base->kind == CR_NODE_STR)
            merge_typed_scalar(m, base);
        merge_map(m, base, over);
        return;
    }
    if (base->kind != CR_NODE_MAP || over->kind != CR_NODE_MAP || above ||
        merge_tagged(over, "!replace")) {
        merge_clean(m, over);
        merge_become(base, over);
        return;
    }
    merge_map(m, base, over);
}

/* Merges one member into a map; the member is not part of it yet. */
static void merge_member(struct merger *m, struct cr_node *base,
                         struct cr_node *over)
{
    struct cr_node *old = cr_node_get(base, over->key), **last = &base->child;
    struct cr_pos key_pos = over->key_pos;

    if (merge_tagged(over, "!delete")) {
        if (!cr_node_take(base, over->key))
            merge_nothing(m, base, over->key, over->key_pos);
        return;
    }
    if (!old) {
        merge_clean(m, over);
        while (*last)
            last = &(*last)->next;
        over->next = NULL;
        *last = over;
        return;
    }
    /* `Dense:` without arguments leaves the arguments of the base */
    if (over->kind == CR_NODE_NULL && !over->tag && *over->key >= 'A' &&
        *over->key <= 'Z')
        return;
    merge_node(m, old, over);
    old->key_pos = key_pos;
}

static void merge_map(struct merger *m, struct cr_node *base,
                      struct cr_node *over)
{
    struct cr_node *next;

    for (struct cr_node *c = over->child; c; c = next) {
        next = c->next;
        merge_member(m, base, c);
    }
}

/* Replaces the short form of a section, `load: FILE`, by the equivalent map
 * {ckpt: FILE}, so that other keys can be merged. */
static void merge_short(struct merger *m, struct cr_node *section)
{
    const struct cr_descriptor *about =
        cr_registry_find(CR_KIND_SECTION, section->key);
    struct cr_node *child;

    if (!about || !about->opts || section->kind == CR_NODE_MAP ||
        section->kind == CR_NODE_LIST || section->kind == CR_NODE_NULL)
        return;
    child = CR_NEW(m->arena, struct cr_node);
    *child = *section;
    child->key = about->opts[0].name;
    child->key_pos = section->pos;
    child->next = NULL;
    section->kind = CR_NODE_MAP;
    section->text = NULL;
    section->child = child;
}

/* The later of steps and epochs wins; both in one file are an error that the
 * reader of the section reports. */
static void merge_length(struct cr_node *root, const struct cr_node *train)
{
    struct cr_node *below = cr_node_get(root, "train");
    const struct cr_node *steps = cr_node_get(train, "steps");
    const struct cr_node *epochs = cr_node_get(train, "epochs");

    if (!below || below->kind != CR_NODE_MAP || !steps == !epochs)
        return;
    if (!merge_tagged(steps ? steps : epochs, "!delete"))
        cr_node_take(below, steps ? "epochs" : "steps");
}

/* A section with keys chosen by the user: a single capitalised key is not a
 * typed node. */
static void merge_names(struct merger *m, struct cr_node *root,
                        struct cr_node *over, const char *section)
{
    struct cr_node *below = cr_node_get(root, section);
    struct cr_node *above = cr_node_get(over, section);

    if (!below || !above || below->kind != CR_NODE_MAP ||
        above->kind != CR_NODE_MAP || above->tag)
        return;
    merge_map(m, below, cr_node_take(over, section));
}

bool cr_merge(struct cr_arena *arena, struct cr_diag *diag,
              struct cr_node *root, struct cr_node *over)
{
    struct merger m = { arena, diag };
    int before = diag->errors;

    for (struct cr_node *section = root->child; section;
         section = section->next) {
        const struct cr_node *above = cr_node_get(over, section->key);

        if (above && above->kind == CR_NODE_MAP && !above->tag)
            merge_short(&m, section);
    }
    merge_length(root, cr_node_get(over, "train"));
    merge_names(&m, root, over, "blocks");
    merge_names(&m, root, over, "vars");
    merge_map(&m, root, over);
    return diag->errors == before;
}

/* ---- assignments ---- */

struct assign {
    struct merger m;
    struct cr_node *root;
    const struct cr_source *src;
    const char *section;  /* the first key of the path */
    const char *at, *end; /* the current key, in the text of the source */
    const char *stop;     /* the end of the path */
};

static struct cr_pos assign_pos(const struct assign *a)
{
    return cr_pos_at(a->src, (size_t)(a->at - a->src->text),
                     (size_t)(a->end - a->at));
}

static const char *assign_part(const struct assign *a)
{
    return cr_strndup(a->m.arena, a->at, (size_t)(a->end - a->at));
}

static void assign_next(struct assign *a)
{
    const char *dot;

    a->at = a->end + 1;
    dot = memchr(a->at, '.', (size_t)(a->stop - a->at));
    a->end = dot ? dot : a->stop;
}

static bool assign_control(const char *key)
{
    static const enum cr_kind kinds[] = { CR_KIND_CELL, CR_KIND_SCHEDULE,
                                          CR_KIND_INIT, CR_KIND_TRANSFORM };
    size_t i;

    for (i = 0; i < CR_LEN(kinds); i++)
        if (cr_is_modifier(kinds[i], key))
            return true;
    return strcmp(key, "weight") == 0;
}

/* The node whose member the key of the path names: the arguments of a typed
 * node, unless the key is a type or a modifier. */
static struct cr_node *assign_into(struct assign *a, struct cr_node *node,
                                   const char *part)
{
    const struct cr_node *args;
    const char *type = cr_node_type(node, &args);
    struct cr_node *inside;

    if (!type || cr_node_get(node, part) || (*part >= 'A' && *part <= 'Z'))
        return node;
    if (node->kind == CR_NODE_STR)
        merge_typed_scalar(&a->m, node);
    if (assign_control(part) && !cr_type_has_argument(type, part))
        return node;
    inside = cr_node_get(node, type);
    if (inside->kind == CR_NODE_NULL)
        inside->kind = CR_NODE_MAP;
    return inside;
}

/* The member with {name: NAME}; else NULL, with the closest name in *near. */
static struct cr_node *assign_named(struct assign *a, struct cr_node *list,
                                    const char *part, const char **near)
{
    const char **names =
        CR_NEWS(a->m.arena, const char *, cr_node_count(list) + 1);
    int n = 0;

    for (struct cr_node *m = list->child; m; m = m->next) {
        const struct cr_node *name = cr_node_get(m, "name");

        if (!name || name->kind != CR_NODE_STR)
            continue;
        if (strcmp(name->text, part) == 0)
            return m;
        names[n++] = name->text;
    }
    *near = cr_closest_name(part, names);
    return NULL;
}

/* A list's member of that index or name; reports. */
static struct cr_node *assign_index(struct assign *a, struct cr_node *list,
                                    const char *part)
{
    int n = cr_node_count(list);
    size_t digits = strspn(part, "0123456789");
    const char *near = NULL;
    struct cr_node *m;

    if (digits > 0 && digits < 9 && !part[digits])
        m = cr_node_at(list, atoi(part));
    else
        m = assign_named(a, list, part, &near);
    if (m)
        return m;
    cr_error(a->m.diag, assign_pos(a), CR_E_UNKNOWN_KEY,
             "'%s' is not a member of a list of %d",
             cr_quote(a->m.arena, part, strlen(part)), n);
    if (near)
        cr_hint(a->m.diag, "did you mean '%s'?", near);
    else if (cr_is_modifier(CR_KIND_CELL, part))
        cr_hint(a->m.diag,
                "%s stands next to a type: {SequentialCell: [...], %s: ...}",
                part, part);
    else if (n > 0)
        cr_hint(a->m.diag, "members are 0 to %d", n - 1);
    return NULL;
}

/* Descends by one key. Keys may be new, but not inside a network, where a typo
 * would create a new cell. */
static struct cr_node *assign_step(struct assign *a, struct cr_node *node,
                                   bool network)
{
    const char *part = assign_part(a), *near;
    struct cr_node *m, **last;

    if (node->kind == CR_NODE_LIST)
        return assign_index(a, node, part);
    if (node->kind == CR_NODE_NULL)
        node->kind = CR_NODE_MAP;
    if (node->kind != CR_NODE_MAP) {
        cr_error(a->m.diag, assign_pos(a), CR_E_UNKNOWN_KEY,
                 "'%s' not found in %s",
                 cr_quote(a->m.arena, part, strlen(part)),
                 cr_node_what(a->m.arena, node));
        if (node->kind == CR_NODE_STR && strcmp(node->text, part) == 0)
            cr_hint(a->m.diag, "remove '%s.'", part);
        return NULL;
    }
    m = cr_node_get(node, part);
    if (m)
        return m;
    if (network) {
        near = cr_node_nearest(a->m.arena, node, part);
        cr_error(a->m.diag, assign_pos(a), CR_E_UNKNOWN_KEY,
                 "'%s' not found in the network here",
                 cr_quote(a->m.arena, part, strlen(part)));
        if (cr_node_get(cr_node_get(node, "cells"), part))
            cr_hint(a->m.diag, "write 'cells.%s'", part);
        else if (near)
            cr_hint(a->m.diag, "did you mean '%s'?", near);
        return NULL;
    }
    m = CR_NEW(a->m.arena, struct cr_node);
    m->kind = CR_NODE_MAP;
    m->key = part;
    m->key_pos = m->pos = assign_pos(a);
    for (last = &node->child; *last;)
        last = &(*last)->next;
    *last = m;
    return m;
}

/* A path is a sequence of keys, separated by dots. */
static bool assign_path(struct assign *a)
{
    int depth = 1;

    for (const char *p = a->at; p < a->stop; p++)
        depth += *p == '.';
    if (depth > CR_DEPTH_MAX / 2)
        return cr_error(a->m.diag, cr_pos_at(a->src, 0, 1), CR_E_LIMIT,
                        "the path has more than %d keys", CR_DEPTH_MAX / 2);
    for (const char *p = a->at, *q; p <= a->stop; p = q + 1) {
        q = memchr(p, '.', (size_t)(a->stop - p));
        q = q ? q : a->stop;
        for (const char *s = p; s < q; s++)
            if (isspace((unsigned char)*s) || strchr("\"'{}[],:#", *s))
                q = p;
        if (q > p)
            continue;
        a->at = p;
        a->end = p < a->stop ? p + 1 : p;
        cr_error(a->m.diag, assign_pos(a), CR_E_USAGE,
                 "expected an assignment: key=value or ~key, with dots between "
                 "keys");
        return false;
    }
    return true;
}

static bool assign_remove(struct assign *a, struct cr_node *node,
                          const char *part)
{
    struct cr_node **p;

    if (node->kind == CR_NODE_LIST) {
        struct cr_node *m = assign_index(a, node, part);

        for (p = &node->child; m && *p != m;)
            p = &(*p)->next;
        if (m)
            *p = m->next;
        return m != NULL;
    }
    if (node->kind == CR_NODE_MAP && cr_node_take(node, part))
        return true;
    merge_nothing(&a->m, node, part, assign_pos(a));
    return false;
}

/* A value for a member of a list is merged like a value for a key. */
static void assign_value(struct assign *a, struct cr_node *node,
                         struct cr_node *value)
{
    struct cr_node *m;

    if (node->kind == CR_NODE_LIST) {
        m = assign_index(a, node, value->key);
        if (!m)
            return;
        if (merge_tagged(value, "!delete")) {
            assign_remove(a, node, value->key);
            return;
        }
        value->key = NULL;
        merge_node(&a->m, m, value);
        return;
    }
    if (node->kind == CR_NODE_NULL)
        node->kind = CR_NODE_MAP;
    if (node->kind == CR_NODE_MAP)
        merge_member(&a->m, node, value);
    else
        assign_step(a, node, false); /* reports why not */
}

bool cr_assign(struct cr_arena *arena, struct cr_diag *diag,
               struct cr_node *root, const struct cr_source *src, size_t from,
               size_t to)
{
    const char *text = src->text;
    const char *equal = memchr(text + from, '=', to - from);
    bool remove = from < to && text[from] == '~';
    struct assign a = { .m = { arena, diag },
                        .root = root,
                        .src = src,
                        .at = text + from + remove,
                        .stop = text + to };
    struct cr_node over = { .kind = CR_NODE_MAP };
    struct cr_node *node = root, *value = NULL;
    int before = diag->errors;

    if (!remove && !equal)
        return cr_error(diag, cr_pos_at(src, from, to - from), CR_E_USAGE,
                        "expected an assignment: key=value or ~key");
    if (!remove)
        a.stop = equal;
    if (!assign_path(&a))
        return false;
    if (!remove) {
        value = cr_yaml_read(arena, diag, src, (size_t)(equal + 1 - text), to);
        if (!value)
            return false;
        if (value->pos.line < 1)
            value->pos = cr_pos_at(src, from, to - from);
    }
    a.end = a.at - 1;
    assign_next(&a);
    a.section = assign_part(&a);
    if (strcmp(a.section, "base") == 0)
        return cr_error(
            diag, assign_pos(&a), CR_E_USAGE,
            "'base' is allowed in files only; name further files on the "
            "command line");
    while (a.end < a.stop) {
        node = assign_into(&a, node, assign_part(&a));
        node = assign_step(&a, node,
                           strcmp(a.section, "network") == 0 && node != root);
        if (!node)
            return false;
        if (cr_node_get(root, a.section) == node)
            merge_short(&a.m, node);
        assign_next(&a);
    }
    node = assign_into(&a, node, assign_part(&a));
    if (remove)
        return assign_remove(&a, node, assign_part(&a));
    value->key = assign_part(&a);
    value->key_pos = assign_pos(&a);
    over.child = value;
    cr_typed_names_at(arena, &over, a.section);
    if (node == cr_node_get(root, "train"))
        merge_length(root, &over);
    else if (node == root && strcmp(a.section, "train") == 0)
        merge_length(root, value);
    assign_value(&a, node, value);
    return diag->errors == before;
}
