#include "conf/expand_internal.h"

#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "conf/config.h"
#include "conf/expr.h"
#include "conf/scalar.h"
#include "conf/yaml.h"

#define STRING_MAX 65536 /* bytes of one string after replacement */
#define STRINGS_MAX ((size_t)1 << 24) /* bytes of all strings */

/* ---- limits ---- */

/* Whether `times` copies of a node at a depth are within the limits. */
bool cr_expand_fits(struct cr_expander *x, const struct cr_node *node,
                    int64_t times, int depth, struct cr_pos pos)
{
    int size = 0, deepest = depth;

    if (x->full)
        return false;
    cr_node_measure(node, depth, &size, &deepest);
    if (deepest <= CR_DEPTH_MAX && times <= CR_NODES_MAX / size &&
        x->nodes <= CR_NODES_MAX - (int)times * size) {
        x->nodes += (int)times * size;
        return true;
    }
    x->full = true;
    if (deepest > CR_DEPTH_MAX)
        return cr_error(x->diag, pos, CR_E_LIMIT,
                        "the value makes the config nested more than %d deep",
                        CR_DEPTH_MAX);
    return cr_error(x->diag, pos, CR_E_LIMIT,
                    "variables, repeats and blocks make more than %d values",
                    CR_NODES_MAX);
}

/* ---- names ---- */

static void expand_note(struct cr_expander *x, const struct cr_node *node)
{
    const char *flow = cr_node_flow(x->arena, node);

    cr_note(x->diag, "%s: %s      (%s:%d)", node->key,
            cr_quote(x->arena, flow, strlen(flow)), node->pos.src->name,
            node->pos.line);
}

static bool expand_is_ready(const struct cr_expander *x,
                            const struct cr_node *node)
{
    for (int i = 0; i < x->n_ready; i++)
        if (x->ready[i] == node)
            return true;
    return false;
}

static void expand_add_ready(struct cr_expander *x, struct cr_node *node)
{
    if (x->n_ready == x->cap_ready) {
        int cap = 2 * x->cap_ready + 16;

        x->ready = cr_grow(x->arena, x->ready, (size_t)x->n_ready, (size_t)cap,
                           sizeof *x->ready);
        x->cap_ready = cap;
    }
    x->ready[x->n_ready++] = node;
}

/* Expands a variable or section before its first use; reports cycles. */
static bool expand_ready(struct cr_expander *x, struct cr_node *node,
                         const char *name, struct cr_pos pos)
{
    if (expand_is_ready(x, node))
        return true;
    for (int i = 0; i < x->n_expanding; i++)
        if (x->expanding[i] == node) {
            cr_error(x->diag, pos, CR_E_REFERENCE,
                     "variable '$%s' refers to itself", name);
            for (; i < x->n_expanding; i++)
                expand_note(x, x->expanding[i]);
            return false;
        }
    if (x->n_expanding == CR_EXPAND_DEEP)
        return cr_error(x->diag, pos, CR_E_LIMIT,
                        "variables refer to each other more than %d deep",
                        CR_EXPAND_DEEP);
    x->expanding[x->n_expanding++] = node;
    cr_expand_walk(x, node, 1, TEXTS);
    x->n_expanding--;
    expand_add_ready(x, node);
    return true;
}

static const struct cr_node *expand_run(struct cr_expander *x, const char *name,
                                        struct cr_pos pos)
{
    struct cr_node *run = cr_node_get(x->root, "run");
    struct cr_node *given = cr_node_get(run, name + 4);

    if (given && given->kind == CR_NODE_STR)
        return expand_ready(x, given, name, pos) ? given : NULL;
    return cr_node_str(x->arena, strcmp(name, "run.dir") == 0
                                     ? x->builtins->runs
                                     : x->builtins->config_name);
}

static const struct cr_node *expand_unknown(struct cr_expander *x,
                                            const char *name, struct cr_pos pos)
{
    const char *shown = cr_quote(x->arena, name, strlen(name));
    const char *near = cr_node_nearest(x->arena, x->vars, name);
    struct cr_buf buf = { .arena = x->arena };
    size_t first = strcspn(name, ".");
    int n = 0;

    for (CR_EACH(m, x->vars)) {
        cr_buf_f(&buf, " %s", cr_quote(x->arena, m->key, strlen(m->key)));
        n++;
    }
    cr_error(x->diag, pos, CR_E_REFERENCE, "undefined variable '$%s'", shown);
    if (x->n_uses > 0)
        cr_note(x->diag, "in block %s", x->uses[x->n_uses - 1]);
    if (!near)
        near = cr_node_nearest(x->arena, x->params, name);
    if (cr_node_get(x->vars, cr_strndup(x->arena, name, first)))
        cr_hint(x->diag, "to append text to the value write $(%.*s)%s",
                (int)first, name, name + first);
    else if (near)
        cr_hint(x->diag, "did you mean '$%s'?", near);
    else if (n > 0 && n < 30)
        cr_note(x->diag, "vars:%s", cr_buf_text(&buf));
    else if (n == 0)
        cr_hint(x->diag, "define it: vars: {%s: ...}; '$$' is a dollar", shown);
    return NULL;
}

static void expand_use(struct cr_expander *x, const struct cr_node *var)
{
    for (int i = 0; i < x->n_used; i++)
        if (x->used[i] == var)
            return;
    if (x->n_used == x->cap_used) {
        int cap = 2 * x->cap_used + 16;

        x->used = cr_grow(x->arena, x->used, (size_t)x->n_used, (size_t)cap,
                          sizeof *x->used);
        x->cap_used = cap;
    }
    x->used[x->n_used++] = var;
}

/* A variable that is set on the command line and not used is an error; in files
 * it may come from a base. */
static void expand_check_used(struct cr_expander *x)
{
    const char **names = CR_NEWS(x->arena, const char *, x->n_used + 1);
    const char *near;

    for (int i = 0; i < x->n_used; i++)
        names[i] = x->used[i]->key;
    for (CR_EACH(v, x->vars)) {
        int i = 0;

        while (i < x->n_used && x->used[i] != v)
            i++;
        if (i < x->n_used || !v->key_pos.src || !v->key_pos.src->argument)
            continue;
        cr_error(x->diag, v->key_pos, CR_E_REFERENCE,
                 "variable '%s' is not used",
                 cr_quote(x->arena, v->key, strlen(v->key)));
        near = cr_closest_name(v->key, names);
        if (near)
            cr_hint(x->diag, "did you mean '%s'?", near);
    }
}

/* Expands a section that describes the data, once: in its order, or when a text
 * of another section needs a size. */
static void expand_data_section(struct cr_expander *x, struct cr_node *node)
{
    if (expand_is_ready(x, node))
        return;
    expand_add_ready(x, node);
    x->sizing_data = true;
    cr_expand_walk(x, node, 1, TEXTS | CONTROL);
    x->sizing_data = false;
}

static bool expand_is_data(const char *key)
{
    return strcmp(key, "dataset") == 0 || strcmp(key, "vocab") == 0 ||
           strcmp(key, "load") == 0; /* whose file may have the vocabulary */
}

/* Plug-ins are loaded before any node that may name one of their cells. */
static bool expand_plugins(struct cr_expander *x)
{
    struct cr_node *node = cr_node_get(x->root, "plugin");
    struct cr_config *config = x->builtins->config;
    int before = x->diag->errors;

    if (!node)
        return true;
    expand_data_section(x, node);
    /* its cells are not known, so checks are impossible */
    config->load_failed =
        x->diag->errors > before || !cr_config_plugins(config);
    return !config->load_failed;
}

/* $vocab.COLUMN.size, $data.classes */
static const struct cr_node *expand_size(struct cr_expander *x,
                                         const char *name, struct cr_pos pos)
{
    struct cr_node *node;
    int before = x->diag->errors;
    int64_t size = 0;
    bool ok;

    if (x->sizing_data) {
        cr_error(x->diag, pos, CR_E_REFERENCE,
                 "'$%s' comes from the data and cannot be used here",
                 cr_quote(x->arena, name, strlen(name)));
        cr_hint(x->diag, "write the number, or add it to vars");
        return NULL;
    }
    for (node = x->root->child; node; node = node->next)
        if (expand_is_data(node->key))
            expand_data_section(x, node);
    if (x->classes > 0 && strcmp(name, "data.classes") == 0)
        return cr_node_int(x->arena, x->classes);
    x->sizing_data = true;
    ok = x->diag->errors == before &&
         cr_config_size(x->builtins->config, name, pos, &size);
    x->sizing_data = false;
    if (ok && strcmp(name, "data.classes") == 0)
        x->classes = size;
    return ok ? cr_node_int(x->arena, size) : NULL;
}

static const struct cr_node *expand_lookup(void *context, const char *name,
                                           struct cr_pos pos)
{
    struct cr_expander *x = context;
    const char *inner = cr_starts(name, "vars.") ? name + 5 : name;
    size_t n = strcspn(inner, ".");
    struct cr_node *var = cr_node_get(x->vars, cr_strndup(x->arena, inner, n));
    const struct cr_node *found =
        cr_node_get(x->params, cr_strndup(x->arena, inner, n));

    if (found) {
        if (found->pos.offset < 0)
            return NULL; /* reported */
        found = inner[n] ? cr_node_find(found, inner + n + 1) : found;
        return found ? found : expand_unknown(x, name, pos);
    }

    if (var) {
        expand_use(x, var);
        if (!expand_ready(x, var, cr_strndup(x->arena, inner, n), pos))
            return NULL;
        found = inner[n] ? cr_node_find(var, inner + n + 1) : var;
        if (found && found->pos.offset < 0)
            return NULL; /* reported */
        return found ? found : expand_unknown(x, name, pos);
    }
    if (strcmp(name, "run.dir") == 0 || strcmp(name, "run.name") == 0)
        return expand_run(x, name, pos);
    if (strcmp(name, "config.dir") == 0)
        return cr_node_str(x->arena, x->builtins->config_dir);
    if (strcmp(name, "data.classes") == 0 ||
        (cr_starts(name, "vocab.") && cr_ends(name, ".size") &&
         strlen(name) > strlen("vocab..size")))
        return expand_size(x, name, pos);
    return expand_unknown(x, name, pos);
}

/* ---- texts ---- */

struct piece {
    size_t at, len; /* in the text, with $ and parentheses */
    size_t name, name_len;
    bool expr;
};

/* The end of $( ... ): parentheses balance, those in quotes do not count. */
static size_t expand_close(const char *s, size_t at)
{
    char quote = '\0';
    int depth = 0;

    for (; s[at]; at++) {
        if (quote)
            quote = s[at] == quote ? '\0' : quote;
        else if (s[at] == '"' || s[at] == '\'')
            quote = s[at];
        else if (s[at] == '(')
            depth++;
        else if (s[at] == ')' && --depth == 0)
            return at + 1;
    }
    return 0;
}

static bool expand_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Characters of the text count columns only when its source has no escapes:
 * when the underlined part is as long as text and quotes. */
static bool expand_exact(const struct cr_node *node)
{
    size_t n = cr_utf8_count(node->text, strlen(node->text));

    return (size_t)node->pos.len == n + 2 * (size_t)node->quoted;
}

static struct cr_pos expand_pos(const struct cr_node *node, size_t at,
                                size_t len)
{
    struct cr_pos pos = node->pos;

    if (!expand_exact(node))
        return pos;
    pos.col += (int)cr_utf8_count(node->text, at) + node->quoted;
    pos.len = (int)cr_utf8_count(node->text + at, len);
    return pos;
}

/* The next variable or expression of the text, from `at` on. Returns 1, 0 at
 * the end, -1 after reporting. */
static int expand_next(struct cr_expander *x, const struct cr_node *node,
                       size_t at, struct piece *p)
{
    const char *s = node->text;

    for (; s[at]; at++) {
        size_t end = at + 1;

        if (s[at] != '$')
            continue;
        if (s[end] == '{') {
            cr_error(x->diag, expand_pos(node, at, 2), CR_E_EXPRESSION,
                     "'${' does not begin a variable");
            cr_hint(x->diag, "write $x or $(x)");
            return -1;
        }
        if (s[end] == '(') {
            end = expand_close(s, end);
            *p = (struct piece){ at, end - at, at + 2, end - at - 3, true };
            if (end)
                return 1;
            cr_error(x->diag, expand_pos(node, at, strlen(s) - at),
                     CR_E_EXPRESSION, "unclosed '$('");
            cr_hint(x->diag, "')' is missing");
            return -1;
        }
        if (s[end] == '$') {
            *p = (struct piece){ .at = at, .len = 2 };
            return 1;
        }
        if (!isalpha((unsigned char)s[end]) && s[end] != '_')
            continue;
        while (expand_name_char(s[end]) ||
               (s[end] == '.' && expand_name_char(s[end + 1])))
            end++;
        *p = (struct piece){ at, end - at, at + 1, end - at - 1, false };
        return 1;
    }
    return 0;
}

static bool expand_may_read(void *context, const char *name,
                            struct cr_pos pos)
{
    const struct cr_expander *x = context;

    return cr_config_may(x->builtins->config, CR_READ_ENV, name, pos);
}

static const struct cr_node *expand_piece(struct cr_expander *x,
                                          const struct cr_node *node,
                                          const struct piece *p)
{
    const char *s = node->text;

    if (!p->expr)
        return expand_lookup(x, cr_strndup(x->arena, s + p->name, p->name_len),
                             expand_pos(node, p->at, p->len));
    return cr_expr(&(struct cr_expr){
        .arena = x->arena,
        .diag = x->diag,
        .text = cr_strndup(x->arena, s + p->name, p->name_len),
        .len = p->name_len,
        .pos = expand_pos(node, p->name, p->name_len),
        .exact = expand_exact(node),
        .lookup = expand_lookup,
        .context = x,
        .may_read = expand_may_read,
    });
}

/* The text is a single variable: the node takes the kind of its value. */
static void expand_become(struct cr_expander *x, struct cr_node *node,
                          const struct cr_node *value, int depth)
{
    struct cr_node *copy;

    if (!cr_expand_fits(x, value, 1, depth, node->pos))
        return;
    copy = cr_node_copy(x->arena, value);
    copy->key = node->key;
    copy->key_pos = node->key_pos;
    copy->pos = node->pos;
    copy->next = node->next;
    copy->tag = NULL;
    *node = *copy;
}

static bool expand_append(struct cr_expander *x, struct cr_buf *buf,
                          const struct cr_node *node,
                          const struct cr_node *value, const struct piece *p)
{
    if (value->kind == CR_NODE_LIST || value->kind == CR_NODE_MAP)
        return cr_error(x->diag, expand_pos(node, p->at, p->len),
                        CR_E_EXPRESSION, "%s cannot be part of a longer text",
                        cr_node_what(x->arena, value));
    if (value->text)
        cr_buf_str(buf, value->text);
    x->bytes += buf->len;
    if (buf->len <= STRING_MAX && x->bytes <= STRINGS_MAX)
        return true;
    x->full = true;
    return cr_error(x->diag, node->pos, CR_E_LIMIT,
                    "variables make the text longer than %d bytes", STRING_MAX);
}

/* Prevents further messages about a text that has an error. */
static void expand_failed(struct cr_node *node)
{
    node->pos.offset = -1;
}

static void expand_text(struct cr_expander *x, struct cr_node *node, int depth)
{
    struct cr_buf buf = { .arena = x->arena };
    const char *s = node->text;
    struct piece p = { 0 };
    size_t at = 0;
    int more;

    while (!x->full && (more = expand_next(x, node, at, &p)) != 0) {
        const struct cr_node *value = NULL;

        if (more > 0 && (p.name_len > 0 || p.expr))
            value = expand_piece(x, node, &p);
        if (more < 0 || (!value && (p.name_len > 0 || p.expr))) {
            expand_failed(node);
            return;
        }
        if (value && p.at == 0 && !s[p.len]) {
            expand_become(x, node, value, depth);
            return;
        }
        cr_buf_add(&buf, s + at, p.at - at);
        if (!value)
            cr_buf_char(&buf, '$');
        else if (!expand_append(x, &buf, node, value, &p))
            return;
        at = p.at + p.len;
    }
    if (x->full || at == 0)
        return;
    cr_buf_str(&buf, s + at);
    node->text = buf.text;
}

/* ---- when, repeat ---- */

static bool expand_typed(const struct cr_node *node)
{
    const struct cr_node *args;

    return node->kind == CR_NODE_MAP && cr_node_type(node, &args);
}

/* False if the node is to be removed; in the network it becomes Identity. */
static bool expand_when(struct cr_expander *x, struct cr_node *node,
                        bool network)
{
    struct cr_node *when;

    if (!expand_typed(node) && !(network && node->kind == CR_NODE_MAP))
        return true;
    when = cr_node_take(node, "when");
    if (!when)
        return true;
    if (when->kind != CR_NODE_BOOL) {
        cr_error(x->diag, when->pos, CR_E_WRONG_TYPE,
                 "'when': found %s, expected true or false",
                 cr_node_what(x->arena, when));
        cr_scalar_hint_bool(x->diag, when);
        return true;
    }
    if (when->boolean || !network)
        return when->boolean;
    node->kind = CR_NODE_STR;
    node->text = "Identity";
    node->quoted = false;
    node->child = NULL;
    return true;
}

/* Returns the last of the copies in the list, or NULL if there are none. */
static struct cr_node *expand_repeat(struct cr_expander *x,
                                     struct cr_node *node, bool in_list,
                                     int depth)
{
    struct cr_node *repeat =
        expand_typed(node) ? cr_node_take(node, "repeat") : NULL;
    struct cr_node *copy;

    if (!repeat)
        return node;
    if (repeat->kind != CR_NODE_INT || repeat->integer < 0) {
        cr_error(x->diag, repeat->pos, CR_E_WRONG_TYPE,
                 "'repeat': found %s, expected an integer of at least 0",
                 cr_node_what(x->arena, repeat));
        return node;
    }
    if (!in_list) {
        cr_error(x->diag, repeat->key_pos, CR_E_FORM,
                 "'repeat' is allowed in members of a list only");
        cr_hint(x->diag, "write [{..., repeat: %s}]", repeat->text);
        return node;
    }
    if (repeat->integer == 0)
        return NULL;
    if (!cr_expand_fits(x, node, repeat->integer, depth, repeat->pos))
        return node;
    for (int64_t i = 1; i < repeat->integer; i++) {
        copy = cr_node_copy(x->arena, node);
        copy->next = node->next;
        node->next = copy;
    }
    while (--repeat->integer > 0)
        node = node->next;
    return node;
}

/* ---- the tree ---- */

void cr_expand_walk(struct cr_expander *x, struct cr_node *node, int depth,
                        enum cr_expand_what what)
{
    struct cr_node **p = &node->child;
    bool list = node->kind == CR_NODE_LIST;

    if (node->kind == CR_NODE_STR && (what & TEXTS)) {
        expand_text(x, node, depth);
        /* the texts of a variable are replaced already */
        what &= ~(enum cr_expand_what)TEXTS;
        list = node->kind == CR_NODE_LIST;
    }
    while (*p && !x->full) {
        struct cr_node *m = *p, *last = m;

        cr_expand_walk(x, m, depth + 1, what);
        if (what & CONTROL)
            last = expand_when(x, m, what & NETWORK)
                       ? expand_repeat(x, m, list, depth + 1)
                       : NULL;
        if (last && (what & BLOCKS))
            cr_expand_blocks(x, m, last, depth + 1, what);
        if (last)
            p = &last->next;
        else
            *p = m->next;
    }
}

/* Names of the run are expanded before the rest, and only once. */
static void expand_run_section(struct cr_expander *x, const struct cr_node *run)
{
    for (struct cr_node *m = run->child; m; m = m->next)
        if (m->kind == CR_NODE_STR && m->key)
            expand_ready(x, m, cr_strf(x->arena, "run.%s", m->key), m->pos);
        else
            cr_expand_walk(x, m, 2, TEXTS | CONTROL);
}

bool cr_expand(struct cr_arena *arena, struct cr_diag *diag,
               struct cr_node *root, const struct cr_builtins *builtins)
{
    struct cr_expander x = {
        .arena = arena, .diag = diag, .root = root, .builtins = builtins
    };
    int before = diag->errors;

    x.vars = cr_node_take(root, "vars");
    if (x.vars && x.vars->kind != CR_NODE_MAP) {
        if (x.vars->kind != CR_NODE_NULL)
            cr_error(diag, x.vars->pos, CR_E_WRONG_TYPE,
                     "'vars': found %s, expected a map of names and values",
                     cr_node_what(arena, x.vars));
        x.vars = NULL;
    }
    for (struct cr_node *v = x.vars ? x.vars->child : NULL; v; v = v->next)
        expand_ready(&x, v, v->key, v->pos);
    if (builtins->config)
        builtins->config->vars = x.vars;
    if (!expand_plugins(&x))
        return false;
    x.blocks = cr_node_take(root, "blocks");
    cr_expand_block_names(&x);
    if (x.blocks && x.blocks->kind != CR_NODE_MAP) {
        if (x.blocks->kind != CR_NODE_NULL)
            cr_error(diag, x.blocks->pos, CR_E_WRONG_TYPE,
                     "'blocks': found %s, expected a map of types and cells",
                     cr_node_what(arena, x.blocks));
        x.blocks = NULL;
    }
    if (builtins->config)
        builtins->config->blocks = x.blocks;
    for (struct cr_node **p = &root->child; *p && !x.full;) {
        struct cr_node *m = *p;
        bool network = strcmp(m->key, "network") == 0;
        bool metrics = strcmp(m->key, "metrics") == 0;
        bool blocks = network || metrics || strcmp(m->key, "loss") == 0;
        enum cr_expand_what what = TEXTS | CONTROL;

        if (network)
            what |= NETWORK;
        if (blocks)
            what |= BLOCKS;
        if (strcmp(m->key, "run") == 0 && m->kind == CR_NODE_MAP)
            expand_run_section(&x, m);
        else if (expand_is_data(m->key) || strcmp(m->key, "plugin") == 0)
            expand_data_section(&x, m);
        else
            cr_expand_walk(&x, m, 1, what);
        if (expand_when(&x, m, network)) {
            p = &expand_repeat(&x, m, false, 1)->next;
            if (blocks)
                cr_expand_blocks(&x, m, m, 1, what);
            if (metrics)
                cr_expand_block_called(&x, m);
        } else {
            *p = m->next;
        }
    }
    if (x.full && builtins->config) /* the rest is left as written */
        builtins->config->load_failed = true;
    else if (x.vars)
        expand_check_used(&x);
    return diag->errors == before;
}
