/*
 * Blocks: cells with parameters, copied at each use (conf/expand.h).
 */
#include "conf/expand_internal.h"

#include <string.h>

#include "base/str.h"
#include "conf/config.h"

static const struct cr_node *expand_block_of(const struct cr_expander *x,
                                             const struct cr_node *node,
                                             const struct cr_node **args)
{
    const char *type = x->blocks ? cr_node_type(node, args) : NULL;

    return type ? cr_node_get(x->blocks, type) : NULL;
}

/* The arguments of a use by name: a map, a list in the order of the
 * parameters, or one value. */
static const struct cr_node *expand_arg(const struct cr_node *args,
                                        const char *name, int at)
{
    if (!args || args->kind == CR_NODE_NULL)
        return NULL;
    if (args->kind == CR_NODE_MAP)
        return cr_node_get(args, name);
    if (args->kind == CR_NODE_LIST)
        return cr_node_at(args, at);
    return at == 0 ? args : NULL;
}

static bool expand_args_known(struct cr_expander *x,
                              const struct cr_node *params,
                              const struct cr_node *args, const char *type)
{
    int n = args && args->kind == CR_NODE_LIST ? cr_node_count(args)
            : args && args->kind != CR_NODE_MAP && args->kind != CR_NODE_NULL
                ? 1
                : 0;
    bool ok = true;

    if (n > cr_node_count(params))
        return cr_error(x->diag, args->pos, CR_E_UNKNOWN_KEY,
                        "%s has %d parameter%s, %d arguments are given", type,
                        cr_node_count(params),
                        cr_node_count(params) == 1 ? "" : "s", n);
    for (CR_EACH(a, args && args->kind == CR_NODE_MAP ? args : NULL)) {
        if (cr_node_get(params, a->key))
            continue;
        ok = cr_error(x->diag, a->key_pos, CR_E_UNKNOWN_KEY,
                      "'%s' is not a parameter of block %s",
                      cr_quote(x->arena, a->key, strlen(a->key)), type);
        if (cr_node_nearest(x->arena, params, a->key))
            cr_hint(x->diag, "did you mean '%s'?",
                    cr_node_nearest(x->arena, params, a->key));
    }
    return ok;
}

/* The values of one use, each with its parameter's name; NULL after
 * reporting. */
static struct cr_node *expand_params(struct cr_expander *x,
                                     const struct cr_node *params,
                                     const struct cr_node *args,
                                     const char *type, struct cr_pos pos,
                                     int depth)
{
    struct cr_node *to = CR_NEW(x->arena, struct cr_node), **last = &to->child;
    const struct cr_node *outer = x->params;
    int at = 0;
    bool ok = expand_args_known(x, params, args, type);

    to->kind = CR_NODE_MAP;
    for (CR_EACH(p, params)) {
        const struct cr_node *given = expand_arg(args, p->key, at++);
        struct cr_node *value;

        if (!given && p->kind == CR_NODE_STR &&
            strcmp(p->text, "required") == 0) {
            ok = cr_error(x->diag, pos, CR_E_MISSING_KEY,
                          "block %s: parameter '%s' is missing", type, p->key);
            continue;
        }
        value = cr_node_copy(x->arena, given ? given : p);
        value->next = NULL;
        value->key = p->key;
        *last = value;
        last = &value->next;
        if (!given) { /* a default may name parameters before it */
            x->params = to;
            cr_expand_walk(x, value, depth, TEXTS);
            x->params = outer;
        }
    }
    return ok ? to : NULL;
}

/* Whether the params of a block are a map; reports other values. */
static bool expand_params_fit(struct cr_expander *x,
                              const struct cr_node *params, const char *type)
{
    const struct cr_node *m;

    if (!params || params->kind == CR_NODE_MAP || params->kind == CR_NODE_NULL)
        return true;
    cr_error(x->diag, params->pos, CR_E_WRONG_TYPE,
             "block %s: params: found %s, expected a map from names to "
             "defaults", type, cr_node_what(x->arena, params));
    m = params->kind == CR_NODE_LIST ? params->child : params;
    cr_hint(x->diag, "write {%s: DEFAULT}, or {%s: required}",
            m && m->kind == CR_NODE_STR ? m->text : "NAME",
            m && m->kind == CR_NODE_STR ? m->text : "NAME");
    return false;
}

static const char *expand_use_text(struct cr_expander *x, const char *type,
                                   const struct cr_node *values,
                                   struct cr_pos pos)
{
    struct cr_buf buf = { .arena = x->arena };

    cr_buf_f(&buf, "%s(", type);
    for (CR_EACH(v, values)) {
        const char *flow = cr_node_flow(x->arena, v);

        cr_buf_f(&buf, "%s%s=%s", v == values->child ? "" : ", ", v->key,
                 cr_quote(x->arena, flow, strlen(flow)));
    }
    cr_buf_f(&buf, "), used at %s", cr_pos_text(x->arena, pos));
    return cr_buf_text(&buf);
}

/* Makes a use harmless after its error was reported. */
static void expand_block_failed(struct cr_node *node)
{
    node->kind = CR_NODE_STR;
    node->text = "Identity";
    node->quoted = false;
    node->child = NULL;
}

/* Replaces a use by the body of the block; modifiers next to its type stay. */
static void expand_block(struct cr_expander *x, struct cr_node *node, int depth,
                         enum cr_expand_what what)
{
    const struct cr_node *args = NULL, *outer = x->params;
    const struct cr_node *block = expand_block_of(x, node, &args), *params;
    const char *type = cr_node_type(node, &args);
    struct cr_pos pos = args ? args->key_pos : node->pos;
    struct cr_node *body, *values, *m, **last;

    for (int i = 0; i < x->n_uses; i++)
        if (strncmp(x->uses[i], type, strlen(type)) == 0 &&
            x->uses[i][strlen(type)] == '(') {
            cr_error(x->diag, pos, CR_E_REFERENCE, "block %s contains itself",
                     type);
            for (; i < x->n_uses; i++)
                cr_note(x->diag, "in block %s", x->uses[i]);
            expand_block_failed(node);
            return;
        }
    if (block->kind != CR_NODE_MAP) {
        cr_error(x->diag, block->pos, CR_E_WRONG_TYPE,
                 "found %s, expected a block: a map with params, inputs, cells "
                 "and construct",
                 cr_node_what(x->arena, block));
        expand_block_failed(node);
        return;
    }
    if (x->n_uses == CR_EXPAND_DEEP ||
        !cr_expand_fits(x, block, 1, depth, pos)) {
        if (!x->full)
            cr_error(x->diag, pos, CR_E_LIMIT,
                     "blocks are nested more than %d deep", CR_EXPAND_DEEP);
        expand_block_failed(node);
        return;
    }
    params = cr_node_get(block, "params");
    values = expand_params_fit(x, params, type)
                 ? expand_params(x, params, args, type, pos, depth)
                 : NULL;
    if (!values) {
        expand_block_failed(node);
        return;
    }
    body = cr_node_copy(x->arena, block);
    cr_node_take(body, "params");
    body->block = expand_use_text(x, type, values, pos);
    x->uses[x->n_uses++] = body->block;
    x->params = values;
    cr_expand_walk(x, body, depth, what | TEXTS);
    x->params = outer;
    x->n_uses--;
    for (last = &body->child; *last; last = &(*last)->next)
        ;
    for (m = node->kind == CR_NODE_MAP ? node->child : NULL; m; m = m->next)
        if (strcmp(m->key, type) != 0) {
            *last = cr_node_copy(x->arena, m);
            (*last)->next = NULL;
            last = &(*last)->next;
        }
    node->kind = CR_NODE_MAP;
    node->text = NULL;
    node->child = body->child;
    node->block = body->block;
}

/* Reports an unknown type that resembles the name of a block. */
static void expand_hint_block(struct cr_expander *x, struct cr_node *node)
{
    const struct cr_node *args = NULL;
    const char *type = x->blocks ? cr_node_type(node, &args) : NULL, *near;

    if (!type || cr_registry_find(CR_KIND_CELL, type) ||
        cr_registry_find(CR_KIND_LOSS, type) ||
        cr_registry_find(CR_KIND_METRIC, type))
        return;
    near = cr_node_nearest(x->arena, x->blocks, type);
    /* a plug-in that is not opened may define it */
    if (!near ||
        (x->builtins->config->closed && cr_node_get(x->root, "plugin")))
        return;
    cr_error(x->diag, args ? args->key_pos : node->pos, CR_E_UNKNOWN_TYPE,
             "cell or block '%s' not found",
             cr_quote(x->arena, type, strlen(type)));
    cr_hint(x->diag, "did you mean '%s'?", near);
    expand_block_failed(node);
}

/* Expands uses of blocks in a member and its repetitions. */
void cr_expand_blocks(struct cr_expander *x, struct cr_node *m,
                      const struct cr_node *last, int depth,
                      enum cr_expand_what what)
{
    const struct cr_node *args;

    for (; !x->full; m = m->next) {
        if (m->pos.offset >= 0 && expand_block_of(x, m, &args))
            expand_block(x, m, depth, what);
        else
            expand_hint_block(x, m);
        if (m == last)
            return;
    }
}

void cr_expand_block_names(struct cr_expander *x)
{
    for (CR_EACH(b, x->blocks && x->blocks->kind == CR_NODE_MAP ? x->blocks
                                                                : NULL)) {
        if (b->key[0] < 'A' || b->key[0] > 'Z')
            cr_error(x->diag, b->key_pos, CR_E_FORM,
                     "the name of a block must begin with a capital letter, "
                     "found '%s'",
                     cr_quote(x->arena, b->key, strlen(b->key)));
        else if (cr_registry_find(CR_KIND_CELL, b->key) ||
                 cr_registry_find(CR_KIND_LOSS, b->key))
            cr_error(
                x->diag, b->key_pos, CR_E_FORM,
                "'%s' is already a type; choose another name for the block",
                cr_quote(x->arena, b->key, strlen(b->key)));
    }
}

static void expand_called(struct cr_expander *x, struct cr_node *m)
{
    struct cr_node *name;

    if (m->kind != CR_NODE_MAP || !m->block || cr_node_get(m, "name"))
        return;
    name = CR_NEW(x->arena, struct cr_node);
    name->kind = CR_NODE_STR;
    name->key = "name";
    name->pos = name->key_pos = m->pos;
    name->text = cr_strndup(x->arena, m->block, strcspn(m->block, "("));
    name->next = m->child;
    m->child = name;
}

void cr_expand_block_called(struct cr_expander *x, struct cr_node *metrics)
{
    struct cr_node **at = &metrics->child;

    if (metrics->kind != CR_NODE_LIST) {
        expand_called(x, metrics);
        return;
    }
    while (*at) {
        /* a node whose error is reported is not a metric */
        if (x->diag->errors > 0 && (*at)->kind == CR_NODE_STR &&
            strcmp((*at)->text, "Identity") == 0) {
            *at = (*at)->next;
            continue;
        }
        expand_called(x, *at);
        at = &(*at)->next;
    }
}
