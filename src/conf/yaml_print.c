/*
 * The resolved config as YAML from which the same tree is read.
 *
 * Short lists and maps are on one line, others in block style. Strings are
 * quoted only if they would read as another value; '$' is doubled if it would
 * begin a variable. With `full`, defaults of the option tables are added.
 */
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "conf/config.h"
#include "conf/scalar.h"
#include "conf/typed_node.h"

#define LINE_MAX_FLOW 68 /* bytes of a list or map on one line */

struct printer {
    struct cr_buf buf;
    struct cr_arena *arena;
    bool origin;
};

static void print_members(struct printer *p, const struct cr_node *node,
                          int indent);

/* Doubles each '$' that would begin a variable or expression. */
static const char *print_dollars(struct cr_arena *arena, const char *text)
{
    struct cr_buf buf = { .arena = arena };

    if (!strchr(text, '$'))
        return text;
    for (const char *s = text; *s; s++) {
        cr_buf_char(&buf, *s);
        if (*s == '$' &&
            (isalpha((unsigned char)s[1]) || (s[1] && strchr("_({$", s[1]))))
            cr_buf_char(&buf, '$');
    }
    return cr_buf_text(&buf);
}

static void print_escape(struct cr_arena *arena, struct cr_node *node)
{
    if (node->kind == CR_NODE_STR)
        node->text = print_dollars(arena, node->text);
    for (struct cr_node *m = node->child; m; m = m->next)
        print_escape(arena, m);
}

static bool print_plain_list(const struct cr_node *node)
{
    for (CR_EACH(m, node))
        if (m->child)
            return false;
    return node->kind == CR_NODE_LIST;
}

/* The text on the line of the key; NULL if the node needs lines of its own. */
static const char *print_line(struct printer *p, const struct cr_node *node)
{
    const char *text;

    if (!node->child || print_plain_list(node))
        return cr_node_flow(p->arena, node);
    if (p->origin)
        return NULL;
    for (CR_EACH(m, node))
        if (m->child && !print_plain_list(m))
            return NULL;
    text = cr_node_flow(p->arena, node);
    return strlen(text) <= LINE_MAX_FLOW ? text : NULL;
}

static void print_origin(struct printer *p, const struct cr_node *node)
{
    const struct cr_source *src = node->pos.src;
    const char *name;

    if (!p->origin)
        return;
    if (!src) {
        cr_buf_str(&p->buf, "  # default");
        return;
    }
    name = cr_quote(p->arena, src->name, strlen(src->name));
    if (src->argument > 0)
        cr_buf_f(&p->buf, "  # command line, argument %d", src->argument);
    else
        cr_buf_f(&p->buf, "  # %s:%d", name, node->pos.line);
}

static void print_value(struct printer *p, const struct cr_node *node,
                        int indent, bool in_list)
{
    const char *line = print_line(p, node);

    if (line) {
        if (!in_list)
            cr_buf_char(&p->buf, ' ');
        cr_buf_str(&p->buf, line);
        print_origin(p, node);
        cr_buf_char(&p->buf, '\n');
        return;
    }
    /* the first member follows the dash */
    if (!in_list) {
        cr_buf_char(&p->buf, '\n');
        for (int i = 0; i < indent; i++)
            cr_buf_char(&p->buf, ' ');
    }
    print_members(p, node, indent);
}

/* The indentation of the first line is already written. */
static void print_members(struct printer *p, const struct cr_node *node,
                          int indent)
{
    bool first = true;

    for (CR_EACH(m, node)) {
        for (int i = 0; !first && i < indent; i++)
            cr_buf_char(&p->buf, ' ');
        first = false;
        if (node->kind == CR_NODE_LIST) {
            cr_buf_str(&p->buf, "- ");
            print_value(p, m, indent + 2, true);
            continue;
        }
        cr_string_write(&p->buf, m->key, true, true);
        cr_buf_char(&p->buf, ':');
        print_value(p, m, indent + 2, false);
    }
}

const char *cr_config_yaml(struct cr_config *config, bool origin, bool full)
{
    struct printer p = { .buf = { .arena = config->arena },
                         .arena = config->arena,
                         .origin = origin };
    struct cr_node *root = cr_node_copy(config->arena, config->root);

    if (full)
        cr_typed_fill(config->arena, root);
    print_escape(config->arena, root);
    print_members(&p, root, 0);
    return root->child ? cr_buf_text(&p.buf) : "{}\n";
}

const char *const cr_config_free[] = { "run",
                                       "log",
                                       "checkpoint",
                                       "sweep",
                                       "train.epochs",
                                       "train.steps",
                                       "train.time_limit",
                                       "train.stop_after",
                                       "train.shard",
                                       NULL };

bool cr_config_is_free(const char *path)
{
    for (int i = 0; cr_config_free[i]; i++) {
        size_t n = strlen(cr_config_free[i]);

        if (strncmp(path, cr_config_free[i], n) == 0 &&
            (path[n] == '\0' || path[n] == '.'))
            return true;
    }
    return false;
}

/* Drops the free keys of a map, whose path is `path`. */
static void print_drop(struct cr_arena *arena, struct cr_node *map,
                       const char *path)
{
    struct cr_node **p = map && map->kind == CR_NODE_MAP ? &map->child : NULL;

    while (p && *p)
        if (cr_config_is_free(cr_strf(arena, "%s%s", path, (*p)->key)))
            *p = (*p)->next;
        else
            p = &(*p)->next;
}

const char *cr_config_id(struct cr_config *config)
{
    struct cr_node *root = cr_node_copy(config->arena, config->root);
    struct cr_node *train;
    const char *text;

    train = cr_node_get(root, "train");
    print_drop(config->arena, train, "train.");
    print_drop(config->arena, root, "");
    if (train && !train->child)
        for (struct cr_node **p = &root->child; *p; p = &(*p)->next)
            if (*p == train) {
                *p = train->next;
                break;
            }
    text = cr_node_json(config->arena, root);
    return cr_strf(config->arena, "%016llx",
                   (unsigned long long)cr_hash(CR_HASH, text, strlen(text)));
}
