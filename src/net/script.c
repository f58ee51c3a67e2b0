#include "net/script.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64     /* of brackets and signs */
#define HEIGHT_MAX 1000  /* of what a part is made of: a + b + c + ... */
#define PARTS_MAX 100000 /* of all expressions of a text */
#define NAMES_MAX 32     /* on the left of one line */

struct parser {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const struct cr_node *node;
    const char *s;
    size_t at, end; /* end: of the part before `at` */
    int depth, brackets, parts;
};

/* ---- places ---- */

/* The start of line number `line` (from 1) of a source; NULL: none. */
static const char *source_line(const struct cr_source *src, int line)
{
    const char *s = src->text, *end = s ? s + src->len : NULL;

    for (; s && line > 1; line--) {
        s = memchr(s, '\n', (size_t)(end - s));
        s = s ? s + 1 : NULL;
    }
    return s;
}

struct cr_pos cr_script_pos(const struct cr_node *text, size_t at, size_t len)
{
    struct cr_pos pos = text->pos;
    const char *s = text->text, *start = s, *p, *source;
    size_t n, blanks, eol;
    int line = 0;

    if (!pos.src)
        return pos;
    for (p = s; p < s + at; p++)
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    n = (size_t)(s + at - start);
    eol = strcspn(s + at, "\n");
    len = len > eol ? eol : len;
    source = source_line(pos.src, pos.line);
    /* a block's place is already the line behind its | */
    if (source && text->quoted && pos.col > 0 &&
        source[pos.col - 1] != '"' && source[pos.col - 1] != '\'') {
        source = source_line(pos.src, pos.line + line);
        if (!source)
            return pos;
        blanks = strspn(source, " ");
        p = start + strspn(start, " ");
        if (n < (size_t)(p - start))
            return pos;
        pos.line += line;
        pos.col = (int)blanks + 1;
        pos.len = 1;
        /* what stands before it may have been a variable */
        if (strncmp(source + blanks, p, n - (size_t)(p - start)) == 0) {
            pos.col += (int)cr_utf8_count(p, n - (size_t)(p - start));
            pos.len = (int)cr_utf8_count(s + at, len);
        }
        return pos;
    }
    if (source && (size_t)pos.len ==
                      cr_utf8_count(s, strlen(s)) + 2 * (size_t)text->quoted) {
        pos.col += (int)cr_utf8_count(s, at) + text->quoted;
        pos.len = (int)cr_utf8_count(s + at, len);
    }
    return pos;
}

/* ---- words ---- */

static struct cr_script *fail_at(struct parser *p, size_t at, size_t len,
                                 const char *what)
{
    cr_error(p->diag, cr_script_pos(p->node, at, len), CR_E_CONSTRUCT, "%s",
             what);
    return NULL;
}

static struct cr_script *fail(struct parser *p, const char *expected)
{
    const char *s = p->s + p->at;
    size_t n = 1;

    if (*s == '\0' || *s == '\n')
        return fail_at(
            p, p->at > 0 ? p->at - 1 : 0, 1,
            cr_strf(p->arena, "the line ends here, expected %s", expected));
    while (isalnum((unsigned char)*s) && isalnum((unsigned char)s[n]))
        n++;
    while (((unsigned char)*s & 0x80) && ((unsigned char)s[n] & 0xC0) == 0x80)
        n++; /* of one character */
    return fail_at(p, p->at, n,
                   cr_strf(p->arena, "found '%s', expected %s",
                           cr_quote(p->arena, s, n), expected));
}

/* Blanks and comments; line ends too inside brackets. */
static char peek(struct parser *p)
{
    for (;; p->at++) {
        char c = p->s[p->at];

        if (c == '#')
            p->at += strcspn(p->s + p->at, "\n");
        c = p->s[p->at];
        if (c != ' ' && c != '\t' && c != '\r' &&
            !(c == '\n' && p->brackets > 0))
            return c;
    }
}

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool take(struct parser *p, const char *sign)
{
    size_t n = strlen(sign);

    peek(p);
    if (strncmp(p->s + p->at, sign, n) != 0 ||
        (word_char(sign[0]) && word_char(p->s[p->at + n])))
        return false;
    p->at += n;
    p->end = p->at;
    return true;
}

static const char *take_name(struct parser *p)
{
    size_t at, n = 0;

    peek(p);
    at = p->at;
    if (isdigit((unsigned char)p->s[at]))
        return NULL;
    while (word_char(p->s[at + n]))
        n++;
    if (n == 0)
        return NULL;
    p->at += n;
    p->end = p->at;
    return cr_strndup(p->arena, p->s + at, n);
}

static struct cr_script *part(struct parser *p, enum cr_script_op op, size_t at,
                              struct cr_script *args)
{
    struct cr_script *e = CR_NEW(p->arena, struct cr_script);

    e->op = op;
    e->at = at;
    e->len = p->end - at;
    e->args = args;
    for (; args; args = args->next)
        if (args->height >= e->height)
            e->height = args->height + 1;
    p->parts++;
    return e;
}

static struct cr_script *expr(struct parser *p);

/* What is walked later by a function that calls itself. */
static bool too_high(struct parser *p, const struct cr_script *e)
{
    if (e->height < HEIGHT_MAX)
        return false;
    fail_at(p, e->at, 1,
            "the expression is too long; write it in several lines");
    return true;
}

/* ---- expressions, from the tightest ---- */

static struct cr_script *number(struct parser *p)
{
    size_t at = p->at, n;
    const char *s = p->s + at;
    struct cr_script *e;
    char *end;

    n = strspn(s, "0123456789");
    if (s[n] == '.' || s[n] == 'e' || s[n] == 'E') {
        double v = strtod(s, &end);

        p->at = p->end = at + (size_t)(end - s);
        e = part(p, CR_SCRIPT_REAL, at, NULL);
        e->real = v;
    } else {
        if (n > 18)
            return fail_at(p, at, n, "the number is too large");
        p->at = p->end = at + n;
        e = part(p, CR_SCRIPT_INT, at, NULL);
        e->integer = strtoll(s, NULL, 10);
        e->real = (double)e->integer;
    }
    if (word_char(p->s[p->at]))
        return fail_at(p, at, p->at + 1 - at, "this is no number");
    return e;
}

static struct cr_script *text(struct parser *p)
{
    size_t at = p->at, n = 1;
    char quote = p->s[at];
    struct cr_script *e;

    while (p->s[at + n] && p->s[at + n] != quote && p->s[at + n] != '\n')
        n++;
    if (p->s[at + n] != quote)
        return fail_at(p, at, n, "the text has no closing quote");
    p->at = p->end = at + n + 1;
    e = part(p, CR_SCRIPT_TEXT, at, NULL);
    e->name = cr_strndup(p->arena, p->s + at + 1, n - 1);
    return e;
}

/* Arguments up to `close`; keywords where they are allowed. *comma: whether
 * there was any. */
static bool arguments(struct parser *p, const char *close, bool keywords,
                      struct cr_script **to, bool *comma)
{
    struct cr_script *a, **last = to;
    bool named = false;

    *to = NULL;
    *comma = false;
    p->brackets++;
    while (!take(p, close)) {
        size_t start = (peek(p), p->at);
        const char *keyword = keywords ? take_name(p) : NULL;

        if (keyword && peek(p) == '=' && p->s[p->at + 1] != '=') {
            p->at++;
            named = true;
        } else {
            keyword = NULL;
            p->at = start;
        }
        if (named && !keyword)
            return fail(p, "an argument with its name, like those before it");
        a = expr(p);
        if (!a)
            return false;
        a->keyword = keyword;
        *last = a;
        last = &a->next;
        if (take(p, ",")) {
            *comma = true;
        } else if (!take(p, close)) {
            return fail(p, cr_strf(p->arena, "',' or '%s'", close));
        } else {
            break;
        }
    }
    p->brackets--;
    return true;
}

static struct cr_script *name_or_call(struct parser *p)
{
    size_t at = p->at;
    const char *name = take_name(p);
    struct cr_script *e, *args = NULL;
    bool comma;

    if (!name)
        return fail(p, "a value");
    if (strcmp(name, "None") == 0)
        return part(p, CR_SCRIPT_NONE, at, NULL);
    if (strcmp(name, "True") == 0 || strcmp(name, "False") == 0) {
        e = part(p, CR_SCRIPT_TRUTH, at, NULL);
        e->truth = name[0] == 'T';
        return e;
    }
    while (p->s[p->at] == '.' && word_char(p->s[p->at + 1])) {
        p->at++;
        name = cr_strf(p->arena, "%s.%s", name, take_name(p));
    }
    if (peek(p) != '(') {
        e = part(p, CR_SCRIPT_NAME, at, NULL);
    } else {
        p->at++;
        if (!arguments(p, ")", true, &args, &comma))
            return NULL;
        e = part(p, CR_SCRIPT_CALL, at, args);
    }
    e->name = name;
    return e;
}

static struct cr_script *group(struct parser *p)
{
    size_t at = p->at++;
    struct cr_script *args;
    bool comma;

    if (!arguments(p, ")", false, &args, &comma))
        return NULL;
    if (args && !comma) {
        args->at = at;
        args->len = p->end - at;
        return args;
    }
    return part(p, CR_SCRIPT_TUPLE, at, args);
}

/* {name: expr, a.b: expr} */
static struct cr_script *map(struct parser *p)
{
    size_t at = p->at++;
    struct cr_script *args = NULL, **last = &args, *a;

    p->brackets++;
    while (!take(p, "}")) {
        const char *name = take_name(p);

        while (name && p->s[p->at] == '.' && word_char(p->s[p->at + 1])) {
            p->at++;
            name = cr_strf(p->arena, "%s.%s", name, take_name(p));
        }
        if (!name)
            return fail(p, "a parameter's name or '}'");
        if (!take(p, ":"))
            return fail(p, "':'");
        a = expr(p);
        if (!a)
            return NULL;
        a->keyword = name;
        *last = a;
        last = &a->next;
        if (!take(p, ",") && peek(p) != '}')
            return fail(p, "',' or '}'");
    }
    p->brackets--;
    return part(p, CR_SCRIPT_MAP, at, args);
}

/* begin:end:step, or a plain index */
static struct cr_script *index_item(struct parser *p)
{
    struct cr_script *v[3] = { NULL };
    size_t at;
    int i = 0;
    bool slice = false;

    peek(p);
    at = p->at;
    for (;;) {
        char c = peek(p);

        if (c != ':' && c != ',' && c != ']') {
            v[i] = expr(p);
            if (!v[i])
                return NULL;
        }
        if (i == 2 || !take(p, ":"))
            break;
        slice = true;
        i++;
    }
    if (!slice)
        return v[0] ? v[0] : fail(p, "an index");
    for (i = 0; i < 3; i++)
        if (!v[i])
            v[i] = part(p, CR_SCRIPT_NONE, at, NULL);
    v[0]->next = v[1];
    v[1]->next = v[2];
    return part(p, CR_SCRIPT_SLICE, at, v[0]);
}

static struct cr_script *postfix(struct parser *p)
{
    size_t at = (peek(p), p->at);
    char c = p->s[at];
    struct cr_script *e, **last;

    e = c == '('                ? group(p)
        : c == '{'              ? map(p)
        : c == '"' || c == '\'' ? text(p)
        : isdigit((unsigned char)c) ||
                (c == '.' && isdigit((unsigned char)p->s[at + 1]))
            ? number(p)
            : name_or_call(p);
    while (e && peek(p) == '[') {
        if (too_high(p, e))
            return NULL;
        p->at++;
        p->brackets++;
        last = &e->next;
        do {
            *last = index_item(p);
            if (!*last)
                return NULL;
            last = &(*last)->next;
        } while (take(p, ",") && peek(p) != ']');
        if (!take(p, "]"))
            return fail(p, "']'");
        p->brackets--;
        e = part(p, CR_SCRIPT_INDEX, at, e);
    }
    return e;
}

static struct cr_script *unary(struct parser *p);

static struct cr_script *two(struct parser *p, const char *sign,
                             struct cr_script *a, struct cr_script *b)
{
    struct cr_script *e;

    if (!a || !b || too_high(p, a) || too_high(p, b))
        return NULL;
    a->next = b;
    b->next = NULL;
    e = part(p, CR_SCRIPT_BINARY, a->at, a);
    e->sign = sign;
    return e;
}

static struct cr_script *power(struct parser *p)
{
    struct cr_script *e = postfix(p);

    if (!e || !take(p, "**"))
        return e;
    if (++p->depth > DEPTH_MAX)
        return fail_at(p, p->end - 2, 2, "powers are nested too deep");
    e = two(p, "pow", e, unary(p));
    p->depth--;
    return e;
}

static struct cr_script *unary(struct parser *p)
{
    size_t at = (peek(p), p->at);
    bool minus = p->s[at] == '-';
    struct cr_script *e;

    if (!minus && p->s[at] != '+')
        return power(p);
    p->at++;
    if (++p->depth > DEPTH_MAX)
        return fail_at(p, at, 1, "signs are nested too deep");
    e = unary(p);
    p->depth--;
    if (!e || !minus)
        return e;
    e = part(p, CR_SCRIPT_UNARY, at, e);
    e->sign = "neg";
    return e;
}

/* One of the signs in `signs` (pairs of sign and op); NULL: none. */
static const char *sign_of(struct parser *p, const char *const *signs)
{
    for (; *signs; signs += 2)
        if (take(p, signs[0]))
            return signs[1];
    return NULL;
}

static struct cr_script *product(struct parser *p)
{
    static const char *const signs[] = { "//", "floor_div", "*", "mul",
                                         "/",  "div",       "%", "mod",
                                         "@",  "matmul",    NULL };
    struct cr_script *e = unary(p);
    const char *sign;

    while (e && (sign = sign_of(p, signs)))
        e = two(p, sign, e, unary(p));
    return e;
}

static struct cr_script *sum(struct parser *p)
{
    static const char *const signs[] = { "+", "add", "-", "sub", NULL };
    struct cr_script *e = product(p);
    const char *sign;

    while (e && (sign = sign_of(p, signs)))
        e = two(p, sign, e, product(p));
    return e;
}

static struct cr_script *comparison(struct parser *p)
{
    static const char *const signs[] = {
        "<=", "less_equal", "<",  "less",  ">=", "greater_equal",
        ">",  "greater",    "==", "equal", "!=", "not_equal",
        NULL
    };
    struct cr_script *e = sum(p), *link, **last;
    const char *sign = e ? sign_of(p, signs) : NULL;

    if (!sign)
        return e;
    last = &e->next;
    do {
        struct cr_script *b = sum(p);

        if (!b)
            return NULL;
        link = part(p, CR_SCRIPT_LINK, b->at, b);
        link->sign = sign;
        *last = link;
        last = &link->next;
        sign = sign_of(p, signs);
    } while (sign);
    return part(p, CR_SCRIPT_CHAIN, e->at, e);
}

static struct cr_script *negation(struct parser *p)
{
    size_t at = (peek(p), p->at);
    struct cr_script *e;

    if (!take(p, "not"))
        return comparison(p);
    if (++p->depth > DEPTH_MAX)
        return fail_at(p, at, 3, "signs are nested too deep");
    e = negation(p);
    p->depth--;
    if (!e)
        return NULL;
    e = part(p, CR_SCRIPT_UNARY, at, e);
    e->sign = "logical_not";
    return e;
}

static struct cr_script *conjunction(struct parser *p)
{
    struct cr_script *e = negation(p);

    while (e && take(p, "and"))
        e = two(p, "logical_and", e, negation(p));
    return e;
}

static struct cr_script *expr(struct parser *p)
{
    size_t at = (peek(p), p->at);
    struct cr_script *e;

    if (++p->depth > DEPTH_MAX)
        return fail_at(p, at, 1, "brackets are nested too deep");
    if (p->parts > PARTS_MAX)
        return fail_at(p, at, 1, "the text has too many parts");
    e = conjunction(p);
    while (e && take(p, "or"))
        e = two(p, "logical_or", e, conjunction(p));
    p->depth--;
    return e;
}

/* ---- lines ---- */

/* The right side; a, b without brackets is a tuple. */
static struct cr_script *side(struct parser *p)
{
    size_t at = (peek(p), p->at);
    struct cr_script *e = expr(p), **last;

    if (!e || peek(p) != ',')
        return e;
    last = &e->next;
    while (take(p, ",") && peek(p) != '\n' && p->s[p->at]) {
        *last = expr(p);
        if (!*last)
            return NULL;
        last = &(*last)->next;
    }
    return part(p, CR_SCRIPT_TUPLE, at, e);
}

static bool targets(struct parser *p, struct cr_script_line *line)
{
    const char *names[NAMES_MAX];
    bool round = take(p, "(");
    int i;

    do {
        if (line->n_names == NAMES_MAX)
            return fail_at(p, p->at, 1, "too many names");
        names[line->n_names] = take_name(p);
        if (!names[line->n_names])
            return fail(p, "a name");
        line->n_names++;
    } while (take(p, ","));
    if (round && !take(p, ")"))
        return fail(p, "')'");
    if (peek(p) != '=' || p->s[p->at + 1] == '=')
        return fail(p, "'=' (a line is NAME = EXPRESSION or return "
                       "EXPRESSION)");
    p->at++;
    line->names = CR_NEWS(p->arena, const char *, line->n_names);
    for (i = 0; i < line->n_names; i++)
        line->names[i] = names[i];
    return true;
}

/* A line that is NAME(...) or NAME.NAME(...) as far as its bracket. */
static bool starts_with_call(struct parser *p)
{
    size_t at = (peek(p), p->at), n = at;

    while (word_char(p->s[n]) || (n > at && p->s[n] == '.'))
        n++;
    while (p->s[n] == ' ' || p->s[n] == '\t')
        n++;
    return n > at && p->s[n] == '(';
}

static struct cr_script_line *parse_line(struct parser *p)
{
    struct cr_script_line *line = CR_NEW(p->arena, struct cr_script_line);
    bool returns;

    line->at = p->at;
    returns = take(p, "return");
    line->statement = !returns && starts_with_call(p);
    if (!returns && !line->statement && !targets(p, line))
        return NULL;
    line->expr = line->statement ? name_or_call(p) : side(p);
    if (!line->expr)
        return NULL;
    line->len = p->end - line->at;
    if (peek(p) != '\n' && p->s[p->at]) {
        fail(p, "the end of the line");
        return NULL;
    }
    return line;
}

static bool line_returns(const struct cr_script_line *line)
{
    return line->n_names == 0 && !line->statement;
}

struct cr_script_line *cr_script_parse(struct cr_arena *arena,
                                       struct cr_diag *diag,
                                       const struct cr_node *node)
{
    struct parser p = { .arena = arena, .diag = diag, .node = node };
    struct cr_script_line *first = NULL, *line = NULL, **last = &first;

    if (node->kind != CR_NODE_STR) {
        cr_error(diag, node->pos, CR_E_WRONG_TYPE,
                 "%s is a text of lines, not %s",
                 node->key ? node->key : "construct",
                 cr_node_what(arena, node));
        return NULL;
    }
    p.s = node->text;
    for (;;) {
        while (peek(&p) == '\n')
            p.at++;
        if (!p.s[p.at])
            break;
        if (line && line_returns(line)) {
            fail_at(&p, p.at, strcspn(p.s + p.at, "\n"),
                    "nothing may stand behind 'return'");
            return NULL;
        }
        line = parse_line(&p);
        if (!line)
            return NULL;
        *last = line;
        last = &line->next;
    }
    if (!line || !line_returns(line)) {
        cr_error(diag,
                 line ? cr_script_pos(node, line->at, line->len) : node->pos,
                 CR_E_CONSTRUCT, "the last line must be 'return EXPRESSION'");
        return NULL;
    }
    return first;
}
