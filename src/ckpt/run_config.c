#include "ckpt/run_config.h"

#include <string.h>

#include "base/str.h"
#include "conf/scalar.h"
#include "conf/yaml.h"

#define SHEETS_MAX 64 /* compared with a text; further ones are parsed */
#define CHANGES_MAX 64

struct sheet_line {
    const char *text;
    size_t len;                 /* with the line feed */
    const struct cr_node *node; /* the only value on the line, if plain */
    bool several;               /* more than one value, or one that is not */
    bool changed;               /* in some run */
};

struct sheet_lookup {
    const char *path;
    const struct cr_node *node;
    struct sheet_lookup *next;
};

struct cr_run_sheet {
    const struct cr_node *root; /* NULL: not valid */
    int n_lines;
    struct sheet_line *line;
    struct sheet_lookup *lookups;
    struct cr_run_sheet *next;
};

/* ---- Sheets */

static void sheet_split(struct cr_arena *arena, struct cr_run_sheet *sheet,
                        const char *text, size_t len)
{
    const char *end = text + len, *next;
    int n = 0;

    for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p)));
         p++)
        n++;
    sheet->line = CR_NEWS(arena, struct sheet_line, n + 1);
    for (const char *p = text; sheet->n_lines < n; p = next) {
        next = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
        sheet->line[sheet->n_lines++] =
            (struct sheet_line){ .text = p, .len = (size_t)(next - p) };
    }
}

static bool sheet_is_plain(const struct sheet_line *line,
                           const struct cr_node *node)
{
    size_t at = (size_t)node->pos.col - 1;

    return node->pos.col > 1 && !node->quoted && node->text && *node->text &&
           at + strlen(node->text) < line->len &&
           memcmp(line->text + at, node->text, strlen(node->text)) == 0;
}

/* Notes the value of each line. */
static void sheet_index(struct cr_run_sheet *sheet, const struct cr_node *node)
{
    int at = node->pos.line - 1;
    struct sheet_line *line =
        at >= 0 && at < sheet->n_lines ? &sheet->line[at] : NULL;

    if (node->kind == CR_NODE_MAP || node->kind == CR_NODE_LIST) {
        for (CR_EACH(m, node))
            sheet_index(sheet, m);
        return;
    }
    if (!line)
        return;
    if (line->node || !sheet_is_plain(line, node))
        line->several = true;
    line->node = node;
}

static struct cr_run_sheet *sheet_new(struct cr_arena *arena, const char *text,
                                      size_t len)
{
    struct cr_run_sheet *sheet = CR_NEW(arena, struct cr_run_sheet);
    struct cr_source *src = CR_NEW(arena, struct cr_source);
    struct cr_diag quiet = { .arena = arena };

    *src = (struct cr_source){ .name = "", .text = text, .len = len };
    sheet->root = cr_yaml_read(arena, &quiet, src, 0, len);
    if (sheet->root && sheet->root->kind != CR_NODE_MAP)
        sheet->root = NULL;
    sheet_split(arena, sheet, text, len);
    if (sheet->root)
        sheet_index(sheet, sheet->root);
    return sheet;
}

/* ---- Comparing a text with a sheet */

/* The length of a plain scalar that is one in every context: words of letters,
 * digits and a few signs, single-spaced. */
static size_t sheet_scalar(const char *at, const char *end)
{
    static const char first[] = "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789_./+-";
    const char *p = at;

    if (p == end || !strchr(first, *p) ||
        (*p == '-' && (p + 1 == end || strchr(" -", p[1]))))
        return 0;
    while (p < end && *p && (strchr(first, *p) || *p == '%' ||
                             (*p == ' ' && p + 1 < end && p[1] != ' ' &&
                              strchr(first, p[1]))))
        p++;
    return (size_t)(p - at);
}

/* Whether only a comment of printable ASCII follows. */
static bool sheet_is_comment(const char *at, const char *end)
{
    const char *p = at;

    while (p < end && *p == ' ')
        p++;
    if (p < end && (*p != '#' || p == at))
        return false;
    while (p < end && *p >= ' ' && *p <= '~')
        p++;
    return p == end;
}

/* Compares a line that is not the same; adds a change if the value differs. */
static bool sheet_change(struct cr_arena *arena, const struct sheet_line *line,
                         const char *text, size_t len,
                         struct cr_run_change *change, int *n)
{
    const char *rest = text, *end = text + len, *sheet_rest;
    size_t at, value, sheet_len = line->len - 1;
    struct cr_node *node;

    if (!line->node || line->several)
        return false;
    at = (size_t)line->node->pos.col - 1;
    if (len <= at || memcmp(text, line->text, at) != 0)
        return false;
    value = sheet_scalar(text + at, end);
    rest = text + at + value;
    sheet_rest = line->text + at + strlen(line->node->text);
    sheet_len -= (size_t)(sheet_rest - line->text);
    if (value == 0 ||
        !((sheet_is_comment(rest, end) &&
           sheet_is_comment(sheet_rest, sheet_rest + sheet_len)) ||
          ((size_t)(end - rest) == sheet_len &&
           memcmp(rest, sheet_rest, sheet_len) == 0)))
        return false;
    if (strlen(line->node->text) == value &&
        memcmp(line->node->text, text + at, value) == 0)
        return true;
    if (*n == CHANGES_MAX)
        return false;
    node = CR_NEW(arena, struct cr_node);
    *node = (struct cr_node){ .kind = CR_NODE_STR,
                              .pos = line->node->pos,
                              .key_pos = line->node->key_pos,
                              .key = line->node->key };
    node->text = cr_strndup(arena, text + at, value);
    change[*n].was = line->node;
    change[(*n)++].node = node;
    return cr_scalar_resolve(node);
}

static bool sheet_match(struct cr_arena *arena, struct cr_run_sheet *sheet,
                        const char *text, size_t len,
                        struct cr_run_settings *to)
{
    struct cr_run_change change[CHANGES_MAX];
    const char *end = text + len, *p = text, *stop;
    int n = 0;

    for (int i = 0; i < sheet->n_lines; i++) {
        const struct sheet_line *line = &sheet->line[i];
        int before = n;

        if ((size_t)(end - p) >= line->len &&
            memcmp(p, line->text, line->len) == 0) {
            p += line->len;
            continue;
        }
        stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop || !sheet_change(arena, line, p, (size_t)(stop - p), change,
                                   &n))
            return false;
        if (n > before)
            change[before].line = i;
        p = stop + 1;
    }
    if (p != end)
        return false;
    for (int i = 0; i < n; i++)
        sheet->line[change[i].line].changed = true;
    to->sheet = sheet;
    to->n_changes = n;
    if (n > 0)
        to->change = cr_grow(arena, change, (size_t)n, (size_t)n,
                             sizeof *change);
    return true;
}

void cr_run_settings_read(struct cr_arena *arena, struct cr_run_sheet **sheets,
                          const char *text, size_t len,
                          struct cr_run_settings *to)
{
    struct cr_run_sheet **link = sheets, *sheet;
    int n = 0;

    for (; *link && n < SHEETS_MAX; link = &(*link)->next, n++)
        if ((*link)->root && sheet_match(arena, *link, text, len, to)) {
            sheet = *link; /* likely to match the next text too */
            *link = sheet->next;
            sheet->next = *sheets;
            *sheets = sheet;
            return;
        }
    to->sheet = sheet = sheet_new(arena, text, len);
    sheet->next = *sheets;
    *sheets = sheet;
}

/* ---- Values */

static struct cr_node *settings_build(struct cr_arena *arena,
                                      const struct cr_run_settings *s,
                                      const struct cr_node *node)
{
    struct cr_node *copy, **last;

    for (int i = 0; i < s->n_changes; i++)
        if (s->change[i].was == node) {
            copy = CR_NEW(arena, struct cr_node);
            *copy = *s->change[i].node;
            return copy;
        }
    copy = CR_NEW(arena, struct cr_node);
    *copy = *node;
    copy->next = NULL;
    last = &copy->child;
    for (CR_EACH(m, node)) {
        *last = settings_build(arena, s, m);
        last = &(*last)->next;
    }
    return copy;
}

const struct cr_node *cr_run_settings_root(struct cr_arena *arena,
                                           struct cr_run_settings *s)
{
    if (!s->root && s->sheet && s->sheet->root)
        s->root = s->n_changes > 0 ? settings_build(arena, s, s->sheet->root)
                                   : s->sheet->root;
    return s->root;
}

const struct cr_node *cr_run_settings_find(struct cr_arena *arena,
                                           struct cr_run_settings *s,
                                           const char *path)
{
    struct sheet_lookup *l;

    if (!s->sheet || !s->sheet->root)
        return NULL;
    for (l = s->sheet->lookups; l && strcmp(l->path, path) != 0;)
        l = l->next;
    if (!l) {
        l = CR_NEW(arena, struct sheet_lookup);
        l->path = cr_strdup(arena, path);
        l->node = cr_node_find(s->sheet->root, path);
        l->next = s->sheet->lookups;
        s->sheet->lookups = l;
    }
    if (!l->node || s->n_changes == 0)
        return l->node;
    if (l->node->child)
        return cr_node_find(cr_run_settings_root(arena, s), path);
    for (int i = 0; i < s->n_changes; i++)
        if (s->change[i].was == l->node)
            return s->change[i].node;
    return l->node;
}

/* ---- Differences */

struct differences {
    struct cr_arena *arena;
    const struct cr_run_sheet *sheet;
    int n, cap;
    const char **path;
};

static void differences_add(struct differences *d, const char *path)
{
    for (int i = 0; i < d->n; i++)
        if (strcmp(d->path[i], path) == 0)
            return;
    if (d->n == d->cap) {
        d->cap = 2 * d->cap + 16;
        d->path = cr_grow(d->arena, d->path, (size_t)d->n, (size_t)d->cap,
                          sizeof *d->path);
    }
    d->path[d->n++] = path;
}

static const char *differences_below(struct differences *d, const char *path,
                                     const char *key)
{
    if (!*path)
        return key;
    return key[0] >= 'A' && key[0] <= 'Z'
               ? path
               : cr_strf(d->arena, "%s.%s", path, key);
}

/* Whether the elements of a list are values of their own: maps or lists, such
 * as the layers of a network. A list of scalars is one value. */
static bool differences_nested(const struct cr_node *list)
{
    for (CR_EACH(m, list))
        if (m->kind == CR_NODE_MAP || m->kind == CR_NODE_LIST)
            return true;
    return false;
}

/* Adds the paths of values that a run has changed; `list`: the path of the list
 * of scalars that the node belongs to, or NULL. */
static void differences_changed(struct differences *d, const char *path,
                                const struct cr_node *node, const char *list)
{
    bool nested = node->kind == CR_NODE_LIST && differences_nested(node);
    int k = 0;

    if (node->kind == CR_NODE_MAP || node->kind == CR_NODE_LIST) {
        if (node->kind == CR_NODE_LIST && !nested && !list)
            list = path;
        for (CR_EACH(m, node)) {
            const char *key = m->key ? m->key : cr_strf(d->arena, "%d", k++);

            differences_changed(d, differences_below(d, path, key), m, list);
        }
        return;
    }
    for (int i = 0; i < d->sheet->n_lines; i++)
        if (d->sheet->line[i].changed && d->sheet->line[i].node == node)
            differences_add(d, list ? list : path);
}

static void differences_between(struct differences *d, const char *path,
                                const struct cr_node *a,
                                const struct cr_node *b)
{
    const struct cr_node *x, *y;
    int k = 0;

    if (cr_node_type(a, &x) && cr_node_type(b, &y) && x && y &&
        strcmp(x->key ? x->key : "", y->key ? y->key : "") != 0) {
        differences_add(d, path);
        for (CR_EACH(m, x)) /* arguments that both types have */
            if (m->key && cr_node_get(y, m->key))
                differences_between(d, differences_below(d, path, m->key), m,
                                    cr_node_get(y, m->key));
        return;
    }
    if (a && b && a->kind == CR_NODE_MAP && b->kind == CR_NODE_MAP) {
        for (CR_EACH(m, a))
            differences_between(d, differences_below(d, path, m->key), m,
                                cr_node_get(b, m->key));
        for (CR_EACH(m, b))
            if (!cr_node_get(a, m->key))
                differences_add(d, differences_below(d, path, m->key));
        return;
    }
    if (a && b && a->kind == CR_NODE_LIST && b->kind == CR_NODE_LIST &&
        differences_nested(a) && cr_node_count(a) == cr_node_count(b)) {
        for (x = a->child, y = b->child; x && y; x = x->next, y = y->next)
            differences_between(
                d, differences_below(d, path, cr_strf(d->arena, "%d", k++)), x,
                y);
        return;
    }
    if (!a || !b ||
        strcmp(cr_node_flow(d->arena, a), cr_node_flow(d->arena, b)) != 0)
        differences_add(d, path);
}

const char *const *cr_run_sheets_differences(struct cr_arena *arena,
                                             const struct cr_run_sheet *sheets,
                                             int *n)
{
    struct differences d = { .arena = arena };

    for (d.sheet = sheets; d.sheet; d.sheet = d.sheet->next) {
        if (!d.sheet->root)
            continue;
        differences_changed(&d, "", d.sheet->root, NULL);
        if (d.sheet->next && d.sheet->next->root)
            differences_between(&d, "", d.sheet->root, d.sheet->next->root);
    }
    *n = d.n;
    return d.path;
}
