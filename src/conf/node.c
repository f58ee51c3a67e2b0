#include "conf/node.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "conf/opt.h"
#include "conf/scalar.h"

int cr_node_count(const struct cr_node *node)
{
    int n = 0;

    for (CR_EACH(m, node))
        n++;
    return n;
}

struct cr_node *cr_node_get(const struct cr_node *node, const char *key)
{
    if (!node || node->kind != CR_NODE_MAP)
        return NULL;
    for (struct cr_node *m = node->child; m; m = m->next)
        if (m->key[0] == key[0] && strcmp(m->key, key) == 0)
            return m;
    return NULL;
}

struct cr_node *cr_node_at(const struct cr_node *node, int index)
{
    struct cr_node *m;

    if (!node || node->kind != CR_NODE_LIST || index < 0)
        return NULL;
    for (m = node->child; m && index > 0; index--)
        m = m->next;
    return m;
}

/* The member that a key of a path names, without descending into types. */
static struct cr_node *node_member(const struct cr_node *node, const char *part)
{
    char *end;
    long index;

    if (!node || node->kind != CR_NODE_LIST)
        return cr_node_get(node, part);
    if (!isdigit((unsigned char)*part))
        return NULL;
    index = strtol(part, &end, 10);
    return *end || index > INT32_MAX ? NULL : cr_node_at(node, (int)index);
}

struct cr_node *cr_node_find(const struct cr_node *node, const char *path)
{
    struct cr_arena mem = { 0 };
    struct cr_node *found = NULL;

    while (node) {
        size_t n = strcspn(path, ".");
        const char *part = cr_strndup(&mem, path, n);
        const struct cr_node *args;

        found = node_member(node, part);
        if (!found && cr_node_type(node, &args))
            found = node_member(args, part);
        if (!path[n])
            break;
        path += n + 1;
        node = found;
        found = NULL;
    }
    cr_arena_free(&mem);
    return found;
}

static bool node_capital(const char *key)
{
    return *key >= 'A' && *key <= 'Z';
}

/* Only MindSpore's functions, such as cosine_decay_lr, are types in lower
 * case. */
static bool node_lower_type(const char *key)
{
    return cr_ends(key, "_lr") &&
           cr_registry_find(CR_KIND_SCHEDULE, key) != NULL;
}

const char *cr_node_type(const struct cr_node *node,
                         const struct cr_node **args)
{
    const struct cr_node *found = NULL;

    *args = NULL;
    if (!node)
        return NULL;
    if (node->kind == CR_NODE_STR)
        return node_capital(node->text) ? node->text : NULL;
    if (node->kind != CR_NODE_MAP)
        return NULL;
    for (CR_EACH(m, node)) {
        if (!node_capital(m->key))
            continue;
        if (found)
            return NULL;
        found = m;
    }
    if (!found)
        for (CR_EACH(m, node))
            if (node_lower_type(m->key)) {
                found = m;
                break;
            }
    if (!found)
        return NULL;
    if (found->kind != CR_NODE_NULL)
        *args = found;
    return found->key;
}

const char *cr_cells_hint(const struct cr_node *node)
{
    return node->key && strcmp(node->key, "cells") == 0
               ? "names of cells begin with a lower-case letter"
               : NULL;
}

const char *cr_node_what(struct cr_arena *arena, const struct cr_node *node)
{
    const struct cr_node *args;
    const char *text, *type;

    if (!node)
        return "nothing";
    text = node->text ? cr_quote(arena, node->text, strlen(node->text)) : "";
    switch (node->kind) {
    case CR_NODE_NULL:
        return "nothing";
    case CR_NODE_BOOL:
        return cr_strf(arena, "the truth value %s",
                       node->boolean ? "true" : "false");
    case CR_NODE_INT:
    case CR_NODE_REAL:
        return cr_strf(arena, "the number %s", text);
    case CR_NODE_STR:
        return cr_strf(arena, "'%s'", text);
    case CR_NODE_LIST:
        return node->child ? "a list" : "an empty list";
    case CR_NODE_MAP:
        break;
    }
    type = cr_node_type(node, &args);
    if (type)
        return cr_strf(arena, "the type '%s'",
                       cr_quote(arena, type, strlen(type)));
    return node->child ? "a map" : "an empty map";
}

static void node_flow(struct cr_buf *buf, const struct cr_node *node)
{
    bool first = true;

    if (node->kind != CR_NODE_LIST && node->kind != CR_NODE_MAP) {
        cr_scalar_write(buf, node, true);
        return;
    }
    cr_buf_char(buf, node->kind == CR_NODE_LIST ? '[' : '{');
    for (CR_EACH(m, node)) {
        if (!first)
            cr_buf_str(buf, ", ");
        first = false;
        if (node->kind == CR_NODE_MAP) {
            cr_string_write(buf, m->key, true, true);
            cr_buf_str(buf, ": ");
        }
        node_flow(buf, m);
    }
    cr_buf_char(buf, node->kind == CR_NODE_LIST ? ']' : '}');
}

const char *cr_node_flow(struct cr_arena *arena, const struct cr_node *node)
{
    struct cr_buf buf = { .arena = arena };

    if (!node)
        return "null";
    node_flow(&buf, node);
    return cr_buf_text(&buf);
}

static void node_json(struct cr_buf *buf, const struct cr_node *node)
{
    bool first = true;

    switch (node->kind) {
    case CR_NODE_NULL:
        cr_buf_str(buf, "null");
        return;
    case CR_NODE_BOOL:
        cr_buf_str(buf, node->boolean ? "true" : "false");
        return;
    case CR_NODE_INT:
        cr_buf_f(buf, "%" PRId64, node->integer);
        return;
    case CR_NODE_REAL:
        /* JSON has no infinity: it is written as a string, which configs
         * accept */
        if (isfinite(node->real))
            cr_buf_str(buf, cr_real_text(buf->arena, node->real));
        else
            cr_buf_json(buf, cr_real_text(buf->arena, node->real));
        return;
    case CR_NODE_STR:
        cr_buf_json(buf, node->text);
        return;
    case CR_NODE_LIST:
    case CR_NODE_MAP:
        break;
    }
    cr_buf_char(buf, node->kind == CR_NODE_LIST ? '[' : '{');
    for (CR_EACH(m, node)) {
        if (!first)
            cr_buf_str(buf, ", ");
        first = false;
        if (node->kind == CR_NODE_MAP) {
            cr_buf_json(buf, m->key);
            cr_buf_str(buf, ": ");
        }
        node_json(buf, m);
    }
    cr_buf_char(buf, node->kind == CR_NODE_LIST ? ']' : '}');
}

const char *cr_node_json(struct cr_arena *arena, const struct cr_node *node)
{
    struct cr_buf buf = { .arena = arena };

    if (!node)
        return "null";
    node_json(&buf, node);
    return cr_buf_text(&buf);
}

struct cr_node *cr_node_copy(struct cr_arena *arena, const struct cr_node *node)
{
    struct cr_node *copy, **last;

    if (!node)
        return NULL;
    copy = CR_NEW(arena, struct cr_node);
    *copy = *node;
    copy->next = NULL;
    last = &copy->child;
    for (CR_EACH(m, node)) {
        *last = cr_node_copy(arena, m);
        last = &(*last)->next;
    }
    return copy;
}

struct cr_node *cr_node_take(struct cr_node *map, const char *key)
{
    struct cr_node *found = cr_node_get(map, key), **p;

    if (!found)
        return NULL;
    for (p = &map->child; *p != found;)
        p = &(*p)->next;
    *p = found->next;
    found->next = NULL;
    return found;
}

void cr_node_measure(const struct cr_node *node, int depth, int *size,
                     int *deepest)
{
    ++*size;
    if (depth > *deepest)
        *deepest = depth;
    for (CR_EACH(m, node))
        cr_node_measure(m, depth + 1, size, deepest);
}

const char *cr_node_nearest(struct cr_arena *arena, const struct cr_node *map,
                            const char *word)
{
    const char **names = CR_NEWS(arena, const char *, cr_node_count(map) + 1);
    int n = 0;

    if (map && map->kind == CR_NODE_MAP)
        for (CR_EACH(m, map))
            names[n++] = m->key;
    return cr_closest_name(word, names);
}
