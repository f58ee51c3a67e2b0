/*
 * Patterns over names, as freeze, init, load.skip and group_params take them.
 *
 *   layer1.* *.bias      globs over the whole name: * (dots too) ? [ab] [a-c]
 *                        [!a]; several are separated by blanks
 *   /^conv[0-9]+[.]/     a POSIX extended regular expression, found anywhere
 *   ["*.gamma", "*.beta *.bias"]   a list of either
 */
#include <regex.h>
#include <string.h>

#include "base/str.h"
#include "conf/config.h"

#define COUNT_MAX 500   /* patterns in one place */
#define TEXT_MAX 500    /* bytes of one pattern */
#define REPEAT_MAX 1000 /* product of all {n,m} of a regular expression */

struct pattern {
    const char *text; /* without the slashes of a regular expression */
    bool regex;
    struct cr_pos pos;
};

struct cr_patterns {
    int n;
    struct pattern *v;
    const char *as_written;
};

/* One step of a glob: does the element at p match c? Sets *next behind it. An
 * unclosed '[' is an ordinary character. */
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

/* On a mismatch the last star takes one character more: no recursion, and at
 * worst the product of both lengths. */
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

/* Compiled anew each time: the compiled form would need to be freed, and
 * there are few names and fewer expressions. */
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

static bool pattern_match(const struct pattern *p, const char *name)
{
    return p->regex ? pattern_regex(p->text, name)
                    : pattern_glob(p->text, name);
}

/* regcomp unrolls counts, so nested ones can ask for all memory there is. */
static bool pattern_modest(const char *text)
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

    if (strlen(p->text) > TEXT_MAX || (p->regex && !pattern_modest(p->text)))
        return cr_error(c->diag, p->pos, CR_E_LIMIT,
                        "the pattern is too long, or repeats too often");
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
                    "'%s' is no regular expression: %s",
                    cr_quote(c->arena, p->text, strlen(p->text)), why);
}

/* The end of the pattern at s: the next blank, or for a regular expression
 * the slash that stands before a blank or the end. */
static const char *pattern_end(const char *s)
{
    const char *q = s + 1;

    if (*s == '/')
        for (; (q = strchr(q, '/')) != NULL; q++)
            if (q[1] == ' ' || !q[1])
                return q + 1;
    return s + strcspn(s, " ");
}

static bool pattern_add(struct cr_config *c, struct cr_patterns *to,
                        const struct cr_node *node, const char *at,
                        const char *end)
{
    struct pattern p = { .pos = node->pos };
    size_t len = (size_t)(end - at);

    p.regex = len > 1 && *at == '/' && end[-1] == '/';
    p.text = p.regex ? cr_strndup(c->arena, at + 1, len - 2)
                     : cr_strndup(c->arena, at, len);
    if (len < strlen(node->text) && p.pos.col > 0) {
        size_t before = (size_t)(at - node->text);

        p.pos.col += (int)cr_utf8_count(node->text, before) + node->quoted;
        p.pos.len = (int)cr_utf8_count(at, len);
    }
    if (to->n == COUNT_MAX)
        return cr_error(c->diag, node->pos, CR_E_LIMIT, "more than %d patterns",
                        COUNT_MAX);
    if (!pattern_check(c, &p))
        return false;
    if (!to->v)
        to->v = CR_NEWS(c->arena, struct pattern, COUNT_MAX);
    to->v[to->n++] = p;
    return true;
}

static bool pattern_read(struct cr_config *c, struct cr_patterns *to,
                         const struct cr_node *node)
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
        ok = pattern_add(c, to, node, s, end) && ok;
        if (to->n == COUNT_MAX && !ok)
            break;
        s = end;
    }
    return ok;
}

struct cr_patterns *cr_patterns_read(struct cr_config *config,
                                     const struct cr_node *node)
{
    struct cr_patterns *to = CR_NEW(config->arena, struct cr_patterns);
    struct cr_buf text = { .arena = config->arena };

    if (node && node->kind == CR_NODE_LIST) {
        for (CR_EACH(m, node))
            pattern_read(config, to, m);
    } else if (node && node->kind != CR_NODE_NULL) {
        pattern_read(config, to, node);
    }
    for (int i = 0; i < to->n; i++)
        cr_buf_f(&text, to->v[i].regex ? "%s/%s/" : "%s%s", i ? " " : "",
                 to->v[i].text);
    to->as_written = cr_buf_text(&text);
    return to;
}

const char *cr_patterns_text(const struct cr_patterns *patterns)
{
    return patterns->as_written;
}

bool cr_patterns_match(const struct cr_patterns *patterns, const char *name)
{
    for (int i = 0; i < patterns->n; i++)
        if (pattern_match(&patterns->v[i], name))
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

static void pattern_nearest(struct cr_config *c, const struct pattern *p,
                            const char *const *names)
{
    enum {
        SHOWN = 3
    };
    struct cr_buf buf = { .arena = c->arena };
    int best = 1 << 20, shown = 0;

    for (int i = 0; names[i]; i++) {
        int d = p->regex ? 0 : pattern_distance(p->text, names[i]);

        best = d < best ? d : best;
    }
    for (int i = 0; names[i] && shown < SHOWN; i++)
        if (p->regex || pattern_distance(p->text, names[i]) == best) {
            cr_buf_f(&buf, " %s", names[i]);
            shown++;
        }
    if (shown > 0)
        cr_note(c->diag, p->regex ? "there are:%s ..." : "nearest:%s",
                cr_buf_text(&buf));
}

bool cr_patterns_used(struct cr_config *config,
                      const struct cr_patterns *patterns,
                      const char *const *names, const char *what)
{
    bool ok = true;

    for (int i = 0; i < patterns->n; i++) {
        const struct pattern *p = &patterns->v[i];
        int k = 0;

        while (names[k] && !pattern_match(p, names[k]))
            k++;
        if (names[k])
            continue;
        ok = cr_error(config->diag, p->pos, CR_E_NO_MATCH,
                      "pattern '%s' matches no %s",
                      cr_quote(config->arena, p->text, strlen(p->text)), what);
        pattern_nearest(config, p, names);
    }
    return ok;
}
