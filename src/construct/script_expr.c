#include "construct/script_parser.h"

#include "base/str.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define HEIGHT_MAX 1000  /* of what a part is made of: a + b + c + ... */
#define PARTS_MAX 2000000 /* of all expressions of a text */

/* ---- places ---- */

static const char *source_line(struct cr_line_cursor *c,
                               const struct cr_source *src, int line)
{
    return src->text ? cr_line_cursor_to(c, src->text, src->len, line) : NULL;
}

struct cr_pos cr_script_pos(struct cr_text_place *p,
                            const struct cr_node *text, size_t at, size_t len)
{
    struct cr_pos pos = text->pos;
    const char *s = text->text, *first, *source;
    size_t n, skip, blanks, eol;
    int line;

    if (!pos.src)
        return pos;
    cr_line_cursor_at(&p->text, s, s + at);
    line = p->text.line - 1;
    n = (size_t)(s + at - p->text.start);
    eol = strcspn(s + at, "\n");
    len = len > eol ? eol : len;
    source = source_line(&p->begin, pos.src, pos.line);
    /* a block's place is already the line after its | */
    if (source && text->quoted && pos.col > 0 && source[pos.col - 1] != '"' &&
        source[pos.col - 1] != '\'') {
        source = source_line(&p->file, pos.src, pos.line + line);
        if (!source)
            return pos;
        blanks = strspn(source, " ");
        skip = strspn(p->text.start, " ");
        first = p->text.start + skip;
        if (n < skip)
            return pos;
        pos.line += line;
        pos.col = (int)blanks + 1;
        pos.len = 1;
        /* what stands before it may have been a variable */
        if (strncmp(source + blanks, first, n - skip) == 0) {
            pos.col += (int)cr_utf8_count(first, n - skip);
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

struct cr_script *cr_parse_fail_at(struct cr_parser *p, size_t at, size_t len,
                                   const char *what)
{
    cr_error(p->diag, cr_script_pos(&p->place, p->node, at, len),
             CR_E_CONSTRUCT, "%s", what);
    return NULL;
}

struct cr_script *cr_parse_fail(struct cr_parser *p, const char *expected)
{
    const char *s = p->s + p->at;
    size_t n = 1;

    if (*s == '\0' || *s == '\n')
        return cr_parse_fail_at(
            p, p->at > 0 ? p->at - 1 : 0, 1,
            cr_strf(p->arena, "the line ends here, expected %s", expected));
    while (isalnum((unsigned char)*s) && isalnum((unsigned char)s[n]))
        n++;
    while (((unsigned char)*s & 0x80) && ((unsigned char)s[n] & 0xC0) == 0x80)
        n++; /* of one character */
    return cr_parse_fail_at(p, p->at, n,
                            cr_strf(p->arena, "found '%s', expected %s",
                                    cr_quote(p->arena, s, n), expected));
}

/* Blanks and comments; line ends too inside brackets. */
char cr_parse_peek(struct cr_parser *p)
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

bool cr_parse_take(struct cr_parser *p, const char *sign)
{
    size_t n = strlen(sign);

    cr_parse_peek(p);
    if (strncmp(p->s + p->at, sign, n) != 0 ||
        (word_char(sign[0]) && word_char(p->s[p->at + n])))
        return false;
    p->at += n;
    p->end = p->at;
    return true;
}

bool cr_script_is_word(const char *name)
{
    static const char *const words[] = { "True", "true",   "False", "false",
                                         "None", "null",   "and",   "or",
                                         "not",  "in",     "is",    "if",
                                         "elif", "else",   "for",   "pass",
                                         "return" };

    for (size_t i = 0; i < CR_LEN(words); i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return false;
}

const char *cr_parse_name(struct cr_parser *p)
{
    size_t at, n = 0;

    cr_parse_peek(p);
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

struct cr_script *cr_parse_part(struct cr_parser *p, enum cr_script_op op,
                                size_t at, struct cr_script *args)
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

/* What is walked later by a function that calls itself. */
static bool too_high(struct cr_parser *p, const struct cr_script *e)
{
    if (e->height < HEIGHT_MAX)
        return false;
    cr_parse_fail_at(p, e->at, 1,
                     "the expression is too long; write it in several lines");
    return true;
}

/* ---- expressions, from the tightest ---- */

static struct cr_script *number(struct cr_parser *p)
{
    size_t at = p->at, n;
    const char *s = p->s + at;
    struct cr_script *e;
    char *end;

    n = strspn(s, "0123456789");
    if (s[n] == '.' || s[n] == 'e' || s[n] == 'E') {
        double v = strtod(s, &end);

        p->at = p->end = at + (size_t)(end - s);
        e = cr_parse_part(p, CR_SCRIPT_REAL, at, NULL);
        e->real = v;
    } else {
        if (n > 18)
            return cr_parse_fail_at(p, at, n, "the number is too large");
        p->at = p->end = at + n;
        e = cr_parse_part(p, CR_SCRIPT_INT, at, NULL);
        e->integer = strtoll(s, NULL, 10);
        e->real = (double)e->integer;
    }
    if (word_char(p->s[p->at]))
        return cr_parse_fail_at(p, at, p->at + 1 - at, "invalid number");
    return e;
}

static struct cr_script *text(struct cr_parser *p)
{
    size_t at = p->at, n = 1;
    char quote = p->s[at];
    struct cr_script *e;

    while (p->s[at + n] && p->s[at + n] != quote && p->s[at + n] != '\n')
        n++;
    if (p->s[at + n] != quote)
        return cr_parse_fail_at(p, at, n, "the string has no closing quote");
    p->at = p->end = at + n + 1;
    e = cr_parse_part(p, CR_SCRIPT_STRING, at, NULL);
    e->name = cr_strndup(p->arena, p->s + at + 1, n - 1);
    return e;
}

/* *e: the members of a tuple as so many arguments. */
static struct cr_script *splat(struct cr_parser *p)
{
    size_t at = p->at++;
    struct cr_script *e = cr_parse_expr(p);

    return e ? cr_parse_part(p, CR_SCRIPT_SPLAT, at, e) : NULL;
}

/* Arguments up to `close`; keywords where they are allowed. *comma: whether
 * there was any. */
static bool arguments(struct cr_parser *p, const char *close, bool keywords,
                      struct cr_script **to, bool *comma)
{
    struct cr_script *a, **last = to;
    bool named = false;

    *to = NULL;
    *comma = false;
    p->brackets++;
    while (!cr_parse_take(p, close)) {
        size_t start = (cr_parse_peek(p), p->at);
        const char *keyword = keywords ? cr_parse_name(p) : NULL;

        if (keyword && cr_parse_peek(p) == '=' && p->s[p->at + 1] != '=') {
            p->at++;
            named = true;
        } else {
            keyword = NULL;
            p->at = start;
        }
        if (named && !keyword)
            return cr_parse_fail(
                p, "an argument with its name, like those before it");
        a = !keyword && cr_parse_peek(p) == '*' ? splat(p) : cr_parse_expr(p);
        if (!a)
            return false;
        a->keyword = keyword;
        *last = a;
        last = &a->next;
        if (cr_parse_take(p, ",")) {
            *comma = true;
        } else if (!cr_parse_take(p, close)) {
            return cr_parse_fail(p, cr_strf(p->arena, "',' or '%s'", close));
        } else {
            break;
        }
    }
    p->brackets--;
    return true;
}

static struct cr_script *name_or_call(struct cr_parser *p)
{
    size_t at = p->at;
    const char *name = cr_parse_name(p);
    struct cr_script *e, *args = NULL;
    bool comma;

    if (!name)
        return cr_parse_fail(p, "a value");
    /* the latter as the config writes them, after a $name */
    if (strcmp(name, "None") == 0 || strcmp(name, "null") == 0)
        return cr_parse_part(p, CR_SCRIPT_NONE, at, NULL);
    if (strcmp(name, "True") == 0 || strcmp(name, "true") == 0 ||
        strcmp(name, "False") == 0 || strcmp(name, "false") == 0) {
        e = cr_parse_part(p, CR_SCRIPT_BOOL, at, NULL);
        e->truth = name[0] == 'T' || name[0] == 't';
        return e;
    }
    if (cr_parse_peek(p) != '(') {
        e = cr_parse_part(p, CR_SCRIPT_NAME, at, NULL);
    } else {
        p->at++;
        if (!arguments(p, ")", true, &args, &comma))
            return NULL;
        e = cr_parse_part(p, CR_SCRIPT_CALL, at, args);
    }
    e->name = name;
    return e;
}

static struct cr_script *group(struct cr_parser *p)
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
    return cr_parse_part(p, CR_SCRIPT_TUPLE, at, args);
}

/* [a, b]: the same as (a, b) */
static struct cr_script *list(struct cr_parser *p)
{
    size_t at = p->at++;
    struct cr_script *args;
    bool comma;

    if (!arguments(p, "]", false, &args, &comma))
        return NULL;
    return cr_parse_part(p, CR_SCRIPT_TUPLE, at, args);
}

/* {name: expr, a.b: expr} */
static struct cr_script *map(struct cr_parser *p)
{
    size_t at = p->at++;
    struct cr_script *args = NULL, **last = &args, *a;

    p->brackets++;
    while (!cr_parse_take(p, "}")) {
        const char *name = cr_parse_name(p);

        while (name && p->s[p->at] == '.' && word_char(p->s[p->at + 1])) {
            p->at++;
            name = cr_strf(p->arena, "%s.%s", name, cr_parse_name(p));
        }
        if (!name)
            return cr_parse_fail(p, "a parameter's name or '}'");
        if (!cr_parse_take(p, ":"))
            return cr_parse_fail(p, "':'");
        a = cr_parse_expr(p);
        if (!a)
            return NULL;
        a->keyword = name;
        *last = a;
        last = &a->next;
        if (!cr_parse_take(p, ",") && cr_parse_peek(p) != '}')
            return cr_parse_fail(p, "',' or '}'");
    }
    p->brackets--;
    return cr_parse_part(p, CR_SCRIPT_MAP, at, args);
}

/* begin:end:step, ..., or a plain index */
static struct cr_script *index_item(struct cr_parser *p)
{
    struct cr_script *v[3] = { NULL };
    size_t at;
    int i = 0;
    bool slice = false;

    cr_parse_peek(p);
    at = p->at;
    if (cr_parse_take(p, "..."))
        return cr_parse_part(p, CR_SCRIPT_ELLIPSIS, at, NULL);
    for (;;) {
        char c = cr_parse_peek(p);

        if (c != ':' && c != ',' && c != ']') {
            v[i] = cr_parse_expr(p);
            if (!v[i])
                return NULL;
        }
        if (i == 2 || !cr_parse_take(p, ":"))
            break;
        slice = true;
        i++;
    }
    if (!slice)
        return v[0] ? v[0] : cr_parse_fail(p, "an index");
    for (i = 0; i < 3; i++)
        if (!v[i])
            v[i] = cr_parse_part(p, CR_SCRIPT_NONE, at, NULL);
    v[0]->next = v[1];
    v[1]->next = v[2];
    return cr_parse_part(p, CR_SCRIPT_SLICE, at, v[0]);
}

static struct cr_script *index_of(struct cr_parser *p, struct cr_script *e)
{
    struct cr_script **last = &e->next;

    p->at++;
    p->brackets++;
    do {
        *last = index_item(p);
        if (!*last)
            return NULL;
        last = &(*last)->next;
    } while (cr_parse_take(p, ",") && cr_parse_peek(p) != ']');
    if (!cr_parse_take(p, "]"))
        return cr_parse_fail(p, "']'");
    p->brackets--;
    return cr_parse_part(p, CR_SCRIPT_INDEX, e->at, e);
}

/* e.name; e.name(args) is name(e, args) */
static struct cr_script *member_of(struct cr_parser *p, struct cr_script *e)
{
    size_t at = e->at;
    const char *name;
    bool comma;

    p->at++;
    name = cr_parse_name(p);
    if (!name)
        return cr_parse_fail(p, "a name");
    if (cr_parse_peek(p) != '(') {
        e = cr_parse_part(p, CR_SCRIPT_MEMBER, at, e);
    } else {
        p->at++;
        if (!arguments(p, ")", true, &e->next, &comma))
            return NULL;
        e = cr_parse_part(p, CR_SCRIPT_CALL, at, e);
        e->method = true;
    }
    e->name = name;
    return e;
}

/* A call of what is no name: layers[0](x). */
static struct cr_script *apply(struct cr_parser *p, struct cr_script *e)
{
    bool comma;

    p->at++;
    if (!arguments(p, ")", true, &e->next, &comma))
        return NULL;
    return cr_parse_part(p, CR_SCRIPT_APPLY, e->at, e);
}

static struct cr_script *postfix(struct cr_parser *p)
{
    size_t at = (cr_parse_peek(p), p->at);
    char c = p->s[at];
    struct cr_script *e;

    e = c == '('                ? group(p)
        : c == '['              ? list(p)
        : c == '{'              ? map(p)
        : c == '"' || c == '\'' ? text(p)
        : isdigit((unsigned char)c) ||
                (c == '.' && isdigit((unsigned char)p->s[at + 1]))
            ? number(p)
            : name_or_call(p);
    while (e) {
        c = cr_parse_peek(p);
        if (c != '[' && c != '.' && !(c == '(' && e->op == CR_SCRIPT_INDEX))
            break;
        if (too_high(p, e))
            return NULL;
        e = c == '['   ? index_of(p, e)
            : c == '.' ? member_of(p, e)
                       : apply(p, e);
    }
    return e;
}

static struct cr_script *unary(struct cr_parser *p);

struct cr_script *cr_parse_two(struct cr_parser *p, const char *sign,
                               struct cr_script *a, struct cr_script *b)
{
    struct cr_script *e;

    if (!a || !b || too_high(p, a) || too_high(p, b))
        return NULL;
    a->next = b;
    b->next = NULL;
    e = cr_parse_part(p, CR_SCRIPT_BINARY, a->at, a);
    e->sign = sign;
    return e;
}

static struct cr_script *power(struct cr_parser *p)
{
    struct cr_script *e = postfix(p);

    if (!e || !cr_parse_take(p, "**"))
        return e;
    if (++p->depth > CR_PARSE_DEPTH)
        return cr_parse_fail_at(p, p->end - 2, 2,
                                "powers are nested too deeply");
    e = cr_parse_two(p, "pow", e, unary(p));
    p->depth--;
    return e;
}

static struct cr_script *unary(struct cr_parser *p)
{
    size_t at = (cr_parse_peek(p), p->at);
    bool minus = p->s[at] == '-';
    struct cr_script *e;

    if (!minus && p->s[at] != '+')
        return power(p);
    p->at++;
    if (++p->depth > CR_PARSE_DEPTH)
        return cr_parse_fail_at(p, at, 1, "signs are nested too deeply");
    e = unary(p);
    p->depth--;
    if (!e || !minus)
        return e;
    e = cr_parse_part(p, CR_SCRIPT_UNARY, at, e);
    e->sign = "neg";
    return e;
}

/* One of the signs in `signs` (pairs of sign and op); NULL: none. */
static const char *sign_of(struct cr_parser *p, const char *const *signs)
{
    for (; *signs; signs += 2)
        if (cr_parse_take(p, signs[0]))
            return signs[1];
    return NULL;
}

static struct cr_script *product(struct cr_parser *p)
{
    static const char *const signs[] = { "//", "floor_div", "*", "mul",
                                         "/",  "div",       "%", "mod",
                                         "@",  "matmul",    NULL };
    struct cr_script *e = unary(p);
    const char *sign;

    while (e && (sign = sign_of(p, signs)))
        e = cr_parse_two(p, sign, e, unary(p));
    return e;
}

static struct cr_script *sum(struct cr_parser *p)
{
    static const char *const signs[] = { "+", "add", "-", "sub", NULL };
    struct cr_script *e = product(p);
    const char *sign;

    while (e && (sign = sign_of(p, signs)))
        e = cr_parse_two(p, sign, e, product(p));
    return e;
}

/* The op of a comparison; NULL: none begins here. */
static const char *compared(struct cr_parser *p)
{
    static const char *const signs[] = {
        "<=", "less_equal", "<",  "less",  ">=", "greater_equal",
        ">",  "greater",    "==", "equal", "!=", "not_equal",
        NULL
    };

    size_t at = p->at;

    if (cr_parse_take(p, "is"))
        return cr_parse_take(p, "not") ? "is not" : "is";
    if (cr_parse_take(p, "in"))
        return "in";
    if (cr_parse_take(p, "not") && cr_parse_take(p, "in"))
        return "not in";
    p->at = at;
    return sign_of(p, signs);
}

static struct cr_script *comparison(struct cr_parser *p)
{
    struct cr_script *e = sum(p), *link, **last;
    const char *sign = e ? compared(p) : NULL;

    if (!sign)
        return e;
    last = &e->next;
    do {
        struct cr_script *b = sum(p);

        if (!b)
            return NULL;
        link = cr_parse_part(p, CR_SCRIPT_LINK, b->at, b);
        link->sign = sign;
        *last = link;
        last = &link->next;
        sign = compared(p);
    } while (sign);
    return cr_parse_part(p, CR_SCRIPT_CHAIN, e->at, e);
}

static struct cr_script *negation(struct cr_parser *p)
{
    size_t at = (cr_parse_peek(p), p->at);
    struct cr_script *e;

    if (!cr_parse_take(p, "not"))
        return comparison(p);
    if (++p->depth > CR_PARSE_DEPTH)
        return cr_parse_fail_at(p, at, 3, "signs are nested too deeply");
    e = negation(p);
    p->depth--;
    if (!e)
        return NULL;
    e = cr_parse_part(p, CR_SCRIPT_UNARY, at, e);
    e->sign = "logical_not";
    return e;
}

static struct cr_script *conjunction(struct cr_parser *p)
{
    struct cr_script *e = negation(p);

    while (e && cr_parse_take(p, "and"))
        e = cr_parse_two(p, "logical_and", e, negation(p));
    return e;
}

static struct cr_script *disjunction(struct cr_parser *p)
{
    struct cr_script *e = conjunction(p);

    while (e && cr_parse_take(p, "or"))
        e = cr_parse_two(p, "logical_or", e, conjunction(p));
    return e;
}

/* e if condition else other */
static struct cr_script *choice(struct cr_parser *p, struct cr_script *e)
{
    struct cr_script *other;

    e->next = disjunction(p);
    if (!e->next)
        return NULL;
    if (!cr_parse_take(p, "else"))
        return cr_parse_fail(p, "'else'");
    other = cr_parse_expr(p);
    if (!other || too_high(p, e) || too_high(p, e->next) || too_high(p, other))
        return NULL;
    e->next->next = other;
    return cr_parse_part(p, CR_SCRIPT_CHOICE, e->at, e);
}

struct cr_script *cr_parse_expr(struct cr_parser *p)
{
    size_t at = (cr_parse_peek(p), p->at);
    struct cr_script *e;

    if (++p->depth > CR_PARSE_DEPTH)
        return cr_parse_fail_at(p, at, 1, "brackets are nested too deeply");
    if (p->parts > PARTS_MAX)
        return cr_parse_fail_at(p, at, 1, "the text has too many parts");
    e = disjunction(p);
    if (e && cr_parse_take(p, "if"))
        e = choice(p, e);
    p->depth--;
    return e;
}
