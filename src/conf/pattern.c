/*
 * Patterns over names, as freeze, init, load.skip and group_params take them.
 *
 *   layer1.* *.bias      globs over the whole name: * (dots too) ? [ab] [a-c]
 *                        [!a]; several are separated by spaces
 *   /^conv[0-9]+[.]/     a POSIX extended regular expression, found anywhere
 *   {match: PATTERNS, of: TYPES}   names that match, of a cell of that
 *                        type, or of one of a list of types; either may be
 *                        omitted
 *   ["*.gamma", {of: Dense}]   a list of these
 */
#include <regex.h>
#include <string.h>

#include "base/str.h"
#include "conf/config.h"

#define COUNT_MAX 500   /* patterns of one list */
#define TEXT_MAX 500    /* bytes of one pattern */
#define REPEAT_MAX 1000 /* product of all {n,m} of a regular expression */

struct pattern {
    const char *text; /* without the slashes of a regular expression; NULL:
                         any name */
    bool regex;
    struct cr_strs of; /* n == 0: of any type */
    struct cr_pos pos;
};

struct cr_patterns {
    int n;
    struct pattern *v;
    const char *as_written;
};

/* Whether the element of a glob at p matches c. Sets *next to the element after
 * it. An unclosed '[' is an ordinary character. */
static bool pattern_one(const char *p, char c, const char **next)
{
    const char *q = p + 1;
    bool no, hit = false;

    *next = q;
    if (*p == '?')
        return true;
    if (*p != '[')
        return *p == c;
    no = *q == '!' || *q == '^';
    q += no;
    if (!strchr(*q ? q + 1 : q, ']'))
        return c == '[';
    do {
        if (q[1] == '-' && q[2] != ']' && q[2]) {
            hit = hit || (c >= q[0] && c <= q[2]);
            q += 3;
        } else {
            hit = hit || c == *q;
            q++;
        }
    } while (*q && *q != ']');
    *next = *q ? q + 1 : q;
    return hit != no;
}

/* On a mismatch the last star matches one more character: no recursion, and at
 * most the product of both lengths in steps. */
static bool pattern_glob(const char *p, const char *name)
{
    const char *star = NULL, *from = NULL, *next;

    while (*name) {
        if (*p == '*') {
            star = ++p;
            from = name;
        } else if (*p && pattern_one(p, *name, &next)) {
            p = next;
            name++;
        } else if (star) {
            p = star;
            name = ++from;
        } else {
            return false;
        }
    }
    while (*p == '*')
        p++;
    return !*p;
}

/* Compiled at each match, because the compiled form would have to be freed;
 * names and expressions are few. */
static bool pattern_regex(const char *text, const char *name)
{
    regex_t re;
    bool hit;

    if (regcomp(&re, text, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    hit = regexec(&re, name, 0, NULL, 0) == 0;
    regfree(&re);
    return hit;
}

static bool pattern_of(const struct pattern *p, const char *const *types)
{
    if (p->of.n == 0)
        return true;
    for (; types && *types; types++)
        for (int i = 0; i < p->of.n; i++)
            if (strcmp(*types, p->of.v[i]) == 0)
                return true;
    return false;
}

static bool pattern_match(const struct pattern *p,
                          const struct cr_subject *subject)
{
    return pattern_of(p, subject->types) &&
           (!p->text     ? true
            : p->regex   ? pattern_regex(p->text, subject->name)
                         : pattern_glob(p->text, subject->name));
}

/* regcomp unrolls repetitions, so nested ones could exhaust the memory. */
static bool pattern_check_size(const char *text)
{
    long product = 1;

    for (const char *p = text; (p = strchr(p, '{')) != NULL; p++) {
        long most = 0, n = 0;

        for (const char *q = p + 1; *q && *q != '}'; q++) {
            n = *q >= '0' && *q <= '9' ? 10 * n + (*q - '0') : 0;
            if (n > REPEAT_MAX)
                return false;
            most = n > most ? n : most;
        }
        product *= most > 1 ? most : 1;
        if (product > REPEAT_MAX)
            return false;
    }
    return true;
}

static bool pattern_check(struct cr_config *c, const struct pattern *p)
{
    char why[160];
    regex_t re;
    int status;

    if (strlen(p->text) > TEXT_MAX ||
        (p->regex && !pattern_check_size(p->text)))
        return cr_error(c->diag, p->pos, CR_E_LIMIT,
                        "the pattern is too long or has too many repetitions");
    if (!*p->text)
        return cr_error(c->diag, p->pos, CR_E_FORM, "an empty pattern");
    if (!p->regex)
        return true;
    status = regcomp(&re, p->text, REG_EXTENDED | REG_NOSUB);
    if (status == 0) {
        regfree(&re);
        return true;
    }
    regerror(status, &re, why, sizeof why);
    return cr_error(c->diag, p->pos, CR_E_FORM,
                    "'%s' is not a valid regular expression: %s",
                    cr_quote(c->arena, p->text, strlen(p->text)), why);
}

/* The end of the pattern at s: the next space, or for a regular expression the
 * slash before a space or the end. */
static const char *pattern_end(const char *s)
{
    const char *q = s + 1;

    if (*s == '/')
        for (; (q = strchr(q, '/')) != NULL; q++)
            if (q[1] == ' ' || !q[1])
                return q + 1;
    return s + strcspn(s, " ");
}

static bool pattern_put(struct cr_config *c, struct cr_patterns *to,
                        const struct pattern *p)
{
    if (to->n == COUNT_MAX)
        return cr_error(c->diag, p->pos, CR_E_LIMIT, "more than %d patterns",
                        COUNT_MAX);
    if (!to->v)
        to->v = CR_NEWS(c->arena, struct pattern, COUNT_MAX);
    to->v[to->n++] = *p;
    return true;
}

static bool pattern_add(struct cr_config *c, struct cr_patterns *to,
                        const struct cr_node *node, const char *at,
                        const char *end, const struct cr_strs *of)
{
    struct pattern p = { .pos = node->pos, .of = *of };
    size_t len = (size_t)(end - at);

    p.regex = len > 1 && *at == '/' && end[-1] == '/';
    p.text = p.regex ? cr_strndup(c->arena, at + 1, len - 2)
                     : cr_strndup(c->arena, at, len);
    if (len < strlen(node->text) && p.pos.col > 0) {
        size_t before = (size_t)(at - node->text);

        p.pos.col += (int)cr_utf8_count(node->text, before) + node->quoted;
        p.pos.len = (int)cr_utf8_count(at, len);
    }
    return pattern_check(c, &p) && pattern_put(c, to, &p);
}

/* The globs and regular expressions of a text. */
static bool pattern_read(struct cr_config *c, struct cr_patterns *to,
                         const struct cr_node *node, const struct cr_strs *of)
{
    bool ok = true;

    if (node->kind == CR_NODE_LIST || node->kind == CR_NODE_MAP ||
        node->kind == CR_NODE_NULL)
        return cr_error(c->diag, node->pos, CR_E_WRONG_TYPE,
                        "found %s, expected patterns over names",
                        cr_node_what(c->arena, node));
    for (const char *s = node->text; *s;) {
        const char *end;

        if (*s == ' ' || *s == '\n') {
            s++;
            continue;
        }
        end = pattern_end(s);
        ok = pattern_add(c, to, node, s, end, of) && ok;
        if (to->n == COUNT_MAX && !ok)
            break;
        s = end;
    }
    return ok;
}

/* ---- Types */

static const struct cr_descriptor *pattern_type(const char *name)
{
    const struct cr_descriptor *cell = cr_registry_find(CR_KIND_CELL, name);

    return cell ? cell : cr_registry_find(CR_KIND_LOSS, name);
}

static const char *pattern_near_type(struct cr_config *c, const char *name)
{
    const struct cr_descriptor *const *list = cr_registry_list(CR_KIND_CELL);
    const char **names;
    int n = 0;

    while (list[n])
        n++;
    names = CR_NEWS(c->arena, const char *, n + 1);
    for (n = 0; list[n]; n++)
        names[n] = list[n]->name;
    return cr_closest_name(name, names);
}

static bool pattern_of_one(struct cr_config *c, const struct cr_node *node,
                           const char **to)
{
    const struct cr_descriptor *about =
        node->kind == CR_NODE_STR ? pattern_type(node->text) : NULL;
    const char *near;

    *to = about ? about->name : NULL;
    if (about)
        return true;
    cr_error(c->diag, node->pos, CR_E_UNKNOWN_TYPE,
             "of: found %s, expected the type of a cell",
             cr_node_what(c->arena, node));
    near = node->kind == CR_NODE_STR ? pattern_near_type(c, node->text) : NULL;
    if (near)
        cr_hint(c->diag, "did you mean '%s'?", near);
    return false;
}

static bool pattern_of_read(struct cr_config *c, const struct cr_node *node,
                            struct cr_strs *to)
{
    int n = node->kind == CR_NODE_LIST ? cr_node_count(node) : 1;
    const char **v = CR_NEWS(c->arena, const char *, n + 1);
    bool ok = true;

    to->v = v;
    if (node->kind != CR_NODE_LIST) {
        to->n = 1;
        return pattern_of_one(c, node, &v[0]);
    }
    for (CR_EACH(m, node))
        ok = pattern_of_one(c, m, &v[to->n++]) && ok;
    if (to->n == 0)
        ok = cr_error(c->diag, node->pos, CR_E_FORM,
                      "of: found an empty list, expected types of cells");
    return ok;
}

/* ---- Reading */

static bool pattern_map(struct cr_config *c, struct cr_patterns *to,
                        const struct cr_node *node)
{
    const struct cr_node *match = cr_node_get(node, "match");
    const struct cr_node *of = cr_node_get(node, "of");
    struct pattern any = { .pos = node->pos };
    bool ok = true;

    if (!match && !of)
        return cr_error(
            c->diag, node->pos, CR_E_MISSING_KEY,
            "found a pattern without `match` and `of`, expected one of them");
    if (of) {
        any.pos = of->pos;
        ok = pattern_of_read(c, of, &any.of);
        if (!ok)
            any.of.n = 0;
    }
    if (!match)
        return ok && pattern_put(c, to, &any);
    if (match->kind != CR_NODE_LIST)
        return pattern_read(c, to, match, &any.of) && ok;
    for (CR_EACH(m, match))
        ok = pattern_read(c, to, m, &any.of) && ok;
    return ok;
}

static bool pattern_any(struct cr_config *c, struct cr_patterns *to,
                        const struct cr_node *node)
{
    static const struct cr_strs none = { 0 };
    bool ok = true;

    if (node->kind != CR_NODE_MAP)
        return pattern_read(c, to, node, &none);
    for (CR_EACH(m, node))
        if (strcmp(m->key, "match") != 0 && strcmp(m->key, "of") != 0)
            ok = cr_error(c->diag, m->key_pos, CR_E_UNKNOWN_KEY,
                          "'%s' is not a key of a pattern: found '%s', "
                          "expected `match` or `of`",
                          m->key, m->key);
    return ok && pattern_map(c, to, node);
}

static void pattern_text(struct cr_config *c, struct cr_patterns *to)
{
    struct cr_buf text = { .arena = c->arena };

    for (int i = 0; i < to->n; i++) {
        const struct pattern *p = &to->v[i];

        cr_buf_f(&text, p->regex ? "%s/%s/" : "%s%s", i ? " " : "",
                 p->text ? p->text : "");
        for (int k = 0; k < p->of.n; k++)
            cr_buf_f(&text, "%s%s", k ? "|" : p->text ? " of " : "of ",
                     p->of.v[k]);
    }
    to->as_written = cr_buf_text(&text);
}

struct cr_patterns *cr_patterns_read(struct cr_config *config,
                                     const struct cr_node *node)
{
    struct cr_patterns *to = CR_NEW(config->arena, struct cr_patterns);

    if (node && node->kind == CR_NODE_LIST) {
        for (CR_EACH(m, node))
            pattern_any(config, to, m);
    } else if (node && node->kind != CR_NODE_NULL) {
        pattern_any(config, to, node);
    }
    pattern_text(config, to);
    return to;
}

struct cr_patterns *cr_patterns_beside(struct cr_config *config,
                                       const struct cr_node *node)
{
    struct cr_patterns *to = CR_NEW(config->arena, struct cr_patterns);

    if (!pattern_map(config, to, node))
        return NULL;
    pattern_text(config, to);
    return to;
}

const char *cr_patterns_text(const struct cr_patterns *patterns)
{
    return patterns->as_written;
}

bool cr_patterns_match(const struct cr_patterns *patterns,
                       const struct cr_subject *subject)
{
    for (int i = 0; i < patterns->n; i++)
        if (pattern_match(&patterns->v[i], subject))
            return true;
    return false;
}

/* Edit distance of a glob and a name, where a star costs nothing. */
static int pattern_distance(const char *p, const char *name)
{
    enum {
        MAX = 128
    };
    int row[MAX + 1], n = (int)strlen(name);

    if (n > MAX)
        return MAX;
    for (int j = 0; j <= n; j++)
        row[j] = j;
    for (; *p; p++) {
        int left = row[0];

        row[0] += *p != '*';
        for (int j = 1; j <= n; j++) {
            int up = row[j], best;

            if (*p == '*') {
                best = up < row[j - 1] ? up : row[j - 1];
            } else {
                best = left + (*p != name[j - 1] && *p != '?');
                best = up + 1 < best ? up + 1 : best;
                best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            }
            left = up;
            row[j] = best;
        }
    }
    return row[n];
}

/* The types of the subjects, without duplicates. */
static void pattern_types(struct cr_config *c, const struct cr_subject *v,
                          int n)
{
    enum {
        SHOWN = 12
    };
    const char *seen[SHOWN];
    struct cr_buf buf = { .arena = c->arena };
    int shown = 0;

    for (int i = 0; i < n && shown < SHOWN; i++) {
        int k = 0;

        if (!v[i].types || !v[i].types[0])
            continue;
        while (k < shown && strcmp(seen[k], v[i].types[0]) != 0)
            k++;
        if (k == shown) {
            seen[shown++] = v[i].types[0];
            cr_buf_f(&buf, " %s", v[i].types[0]);
        }
    }
    if (shown > 0)
        cr_note(c->diag, "existing types:%s", cr_buf_text(&buf));
}

/* Whether the pattern is the name of a cell: the beginning of longer names. */
static bool pattern_is_cell(const struct pattern *p, const struct cr_subject *v,
                            int n)
{
    size_t len = p->text && !p->regex ? strlen(p->text) : 0;

    for (int i = 0; len > 0 && i < n; i++)
        if (strncmp(v[i].name, p->text, len) == 0 && v[i].name[len] == '.')
            return true;
    return false;
}

/* Notes the closest names of subjects with a matching type, or the types. */
static void pattern_nearest(struct cr_config *c, const struct pattern *p,
                            const struct cr_subject *v, int n)
{
    enum {
        SHOWN = 3
    };
    struct cr_buf buf = { .arena = c->arena };
    int best = 1 << 20, shown = 0;

    if (pattern_is_cell(p, v, n)) {
        cr_hint(c->diag, "write '%s.*' for all below it", p->text);
        return;
    }
    for (int i = 0; i < n && p->text; i++) {
        int d = best;

        if (pattern_of(p, v[i].types))
            d = p->regex ? 0 : pattern_distance(p->text, v[i].name);

        best = d < best ? d : best;
    }
    for (int i = 0; i < n && shown < SHOWN && p->text; i++)
        if (pattern_of(p, v[i].types) &&
            (p->regex || pattern_distance(p->text, v[i].name) == best)) {
            cr_buf_f(&buf, " %s", v[i].name);
            shown++;
        }
    if (shown > 0)
        cr_note(c->diag, p->regex ? "existing names:%s ..." : "closest:%s",
                cr_buf_text(&buf));
    else
        pattern_types(c, v, n);
}

/* "pattern 'fc.*' of Dense", for messages. */
static const char *pattern_show(struct cr_config *c, const struct pattern *p)
{
    struct cr_buf buf = { .arena = c->arena };

    if (p->text)
        cr_buf_f(&buf, "pattern '%s'%s",
                 cr_quote(c->arena, p->text, strlen(p->text)),
                 p->of.n > 0 ? " " : "");
    for (int i = 0; i < p->of.n; i++)
        cr_buf_f(&buf, "%s%s", i > 0 ? " or " : p->text ? "of " : "of: ",
                 p->of.v[i]);
    return cr_buf_text(&buf);
}

bool cr_patterns_used(struct cr_config *config,
                      const struct cr_patterns *patterns,
                      const struct cr_subject *subjects, int n,
                      const char *what)
{
    bool ok = true;

    for (int i = 0; i < patterns->n; i++) {
        const struct pattern *p = &patterns->v[i];
        int k = 0;

        while (k < n && !pattern_match(p, &subjects[k]))
            k++;
        if (k < n)
            continue;
        ok = cr_error(config->diag, p->pos, CR_E_NO_MATCH,
                      "%s matches no %s", pattern_show(config, p), what);
        pattern_nearest(config, p, subjects, n);
    }
    return ok;
}
