/*
 * The lines of a `construct` text: what they are, and which belong together.
 * As in Python, the lines below `if`, `else` and `for` are indented alike.
 */
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "construct/script_parser.h"

#define TARGETS_MAX 32 /* in one pair of brackets */

/* The right side; a, b without brackets is a tuple. */
static struct cr_script *side(struct cr_parser *p)
{
    size_t at = (cr_parse_peek(p), p->at);
    struct cr_script *e = cr_parse_expr(p), **last;

    if (!e || cr_parse_peek(p) != ',')
        return e;
    last = &e->next;
    while (cr_parse_take(p, ",") && cr_parse_peek(p) != '\n' && p->s[p->at]) {
        *last = cr_parse_expr(p);
        if (!*last)
            return NULL;
        last = &(*last)->next;
    }
    return cr_parse_part(p, CR_SCRIPT_TUPLE, at, e);
}

static bool targets(struct cr_parser *p, struct cr_script_target *to,
                    bool list);

/* NAME, (TARGET, ...) or [TARGET, ...] */
static bool target(struct cr_parser *p, struct cr_script_target *to)
{
    size_t at = (cr_parse_peek(p), p->at);
    bool list = cr_parse_take(p, "["), ok;

    if (!list && !cr_parse_take(p, "(")) {
        to->name = cr_parse_name(p);
        if (to->name && cr_script_is_word(to->name))
            return cr_parse_fail_at(
                p, at, strlen(to->name),
                cr_strf(p->arena, "'%s' is no name of a variable", to->name));
        return to->name || cr_parse_fail(p, "a name");
    }
    if (++p->depth > CR_PARSE_DEPTH)
        return cr_parse_fail_at(p, at, 1, "brackets are nested too deeply");
    ok = targets(p, to, list) &&
         (cr_parse_take(p, list ? "]" : ")") ||
          cr_parse_fail(p, list ? "']'" : "')'"));
    p->depth--;
    return ok;
}

/* Whether the targets end here. */
static bool targets_end(struct cr_parser *p)
{
    char next = cr_parse_peek(p);
    size_t at = p->at, end = p->end;
    bool in = cr_parse_take(p, "in");

    p->at = at;
    p->end = end;
    return in || next == ')' || next == ']' || next == '=';
}

/* TARGET, TARGET ...; one without a comma is itself, unless in a list. */
static bool targets(struct cr_parser *p, struct cr_script_target *to,
                    bool list)
{
    struct cr_script_target found[TARGETS_MAX] = { 0 };
    int n = 0;

    do {
        if (n == TARGETS_MAX)
            return cr_parse_fail_at(p, p->at, 1, "too many names");
        if (!target(p, &found[n++]))
            return false;
        if (!cr_parse_take(p, ","))
            break;
        list = true;
    } while (!targets_end(p));
    if (!list) {
        *to = found[0];
        return true;
    }
    to->n = n;
    to->items = CR_NEWS(p->arena, struct cr_script_target, n);
    memcpy(to->items, found, (size_t)n * sizeof *found);
    return true;
}

/* The op of NAME += ...; NULL: none stands here. */
static const char *augmented(struct cr_parser *p)
{
    static const char *const signs[] = { "//=", "floor_div", "**=", "pow",
                                         "+=",  "add",       "-=",  "sub",
                                         "*=",  "mul",       "/=",  "div",
                                         "%=",  "mod",       "@=",  "matmul",
                                         NULL };
    int i = 0;

    while (signs[i] && !cr_parse_take(p, signs[i]))
        i += 2;
    return signs[i] ? signs[i + 1] : NULL;
}

static bool assignment(struct cr_parser *p, struct cr_script_line *line)
{
    size_t at = (cr_parse_peek(p), p->at);
    struct cr_script *was;
    const char *sign;

    line->kind = CR_SCRIPT_ASSIGN;
    if (!targets(p, &line->target, false))
        return false;
    was = cr_parse_part(p, CR_SCRIPT_NAME, at, NULL);
    was->name = line->target.name;
    sign = line->target.name ? augmented(p) : NULL;
    if (!sign && (cr_parse_peek(p) != '=' || p->s[p->at + 1] == '=')) {
        cr_parse_fail(p, "'=' (a line is NAME = EXPRESSION or return "
                         "EXPRESSION)");
        if (p->s[p->at] == '[')
            cr_hint(p->diag, "elements are not assigned: build the tensor by "
                             "where, concat or stack");
        return false;
    }
    p->at += !sign;
    line->expr = side(p);
    if (sign && line->expr)
        line->expr = cr_parse_two(p, sign, was, line->expr);
    return line->expr;
}

/* A line that is NAME(...) or NAME.NAME(...) as far as its bracket. */
static bool starts_with_call(struct cr_parser *p)
{
    size_t at = (cr_parse_peek(p), p->at), n = at;

    while (isalnum((unsigned char)p->s[n]) || p->s[n] == '_' ||
           (n > at && p->s[n] == '.'))
        n++;
    while (p->s[n] == ' ' || p->s[n] == '\t')
        n++;
    return n > at && p->s[n] == '(';
}

static struct cr_script_line *line_new(struct cr_parser *p)
{
    struct cr_script_line *line = CR_NEW(p->arena, struct cr_script_line);

    line->at = p->at;
    return line;
}

/* A line that holds no others. */
static struct cr_script_line *simple_line(struct cr_parser *p)
{
    struct cr_script_line *line = line_new(p);
    bool ok = true;

    if (cr_parse_take(p, "return")) {
        line->kind = CR_SCRIPT_RETURN;
        line->expr = side(p);
        ok = line->expr;
    } else if (cr_parse_take(p, "pass")) {
        line->kind = CR_SCRIPT_PASS;
    } else if (starts_with_call(p)) {
        line->kind = CR_SCRIPT_STATEMENT;
        line->expr = cr_parse_expr(p);
        ok = line->expr;
    } else {
        ok = assignment(p, line);
    }
    if (!ok)
        return NULL;
    line->len = p->end - line->at;
    if (cr_parse_peek(p) != '\n' && p->s[p->at]) {
        bool call = cr_parse_peek(p) == '(';

        cr_parse_fail(p, "the end of the line");
        if (call)
            cr_hint(p->diag, "a cell is made under cells, such as act: ReLU, "
                             "and called by its name: act(x)");
        return NULL;
    }
    return line;
}

static struct cr_script_line *block(struct cr_parser *p, size_t above);

/* Goes to the next line that has something; how far it is indented. False at
 * the end of the text. */
static bool next_line(struct cr_parser *p, size_t *indent)
{
    size_t start;

    while (cr_parse_peek(p) == '\n')
        p->at++;
    start = p->at;
    while (start > 0 && p->s[start - 1] != '\n')
        start--;
    *indent = p->at - start;
    return p->s[p->at];
}

/* What stands after the ':' of an `if`, `else` or `for`. */
static struct cr_script_line *body(struct cr_parser *p, size_t indent)
{
    if (!cr_parse_take(p, ":")) {
        cr_parse_fail(p, "':'");
        return NULL;
    }
    if (cr_parse_peek(p) != '\n' && p->s[p->at])
        return simple_line(p);
    return block(p, indent + 1);
}

/* Behind the word `if` or `elif`. */
static struct cr_script_line *condition(struct cr_parser *p, size_t indent,
                                        size_t at)
{
    struct cr_script_line *line = line_new(p);
    size_t back, deep;

    line->kind = CR_SCRIPT_IF;
    line->at = at;
    line->expr = cr_parse_expr(p);
    line->len = p->end - at;
    line->body = line->expr ? body(p, indent) : NULL;
    if (!line->body)
        return NULL;
    back = p->at;
    if (!next_line(p, &deep) || deep != indent) {
        p->at = back;
        return line;
    }
    at = p->at;
    if (cr_parse_take(p, "elif")) {
        if (++p->depth > CR_PARSE_DEPTH) {
            cr_parse_fail_at(p, at, 4, "lines are nested too deeply");
            return NULL;
        }
        line->other = condition(p, indent, at);
        p->depth--;
        return line->other ? line : NULL;
    }
    if (cr_parse_take(p, "else")) {
        line->other = body(p, indent);
        return line->other ? line : NULL;
    }
    p->at = back;
    return line;
}

static struct cr_script_line *loop(struct cr_parser *p, size_t indent,
                                   size_t at)
{
    struct cr_script_line *line = line_new(p);

    line->kind = CR_SCRIPT_FOR;
    line->at = at;
    if (!targets(p, &line->target, false))
        return NULL;
    if (!cr_parse_take(p, "in")) {
        cr_parse_fail(p, "'in'");
        return NULL;
    }
    line->expr = side(p);
    line->len = p->end - at;
    line->body = line->expr ? body(p, indent) : NULL;
    return line->body ? line : NULL;
}

static struct cr_script_line *one_line(struct cr_parser *p, size_t indent)
{
    size_t at = p->at;

    if (cr_parse_take(p, "if"))
        return condition(p, indent, at);
    if (cr_parse_take(p, "for"))
        return loop(p, indent, at);
    if (cr_parse_take(p, "elif") || cr_parse_take(p, "else")) {
        cr_parse_fail_at(p, at, p->at - at,
                         "no 'if' of this indentation before it");
        return NULL;
    }
    if (cr_parse_take(p, "while")) {
        cr_parse_fail_at(p, at, p->at - at,
                         "'while' is not supported: use for NAME in range(N):");
        return NULL;
    }
    return simple_line(p);
}

/* Lines of one indentation, of `least` blanks or more; NULL after reporting. */
static struct cr_script_line *block(struct cr_parser *p, size_t least)
{
    struct cr_script_line *first = NULL, *line = NULL, **last = &first;
    size_t indent = 0, deep;

    if (++p->depth > CR_PARSE_DEPTH) {
        cr_parse_fail_at(p, p->at, 1, "lines are nested too deeply");
        return NULL;
    }
    while (next_line(p, &deep)) {
        size_t rest = strcspn(p->s + p->at, "\n");

        if (deep < (first ? indent : least))
            break;
        if (!first)
            indent = deep;
        if (deep > indent)
            cr_parse_fail_at(p, p->at, rest,
                             "the line is indented more than the line above");
        else if (line && line->kind == CR_SCRIPT_RETURN)
            cr_parse_fail_at(p, p->at, rest, "unexpected text after 'return'");
        else
            line = *last = one_line(p, indent);
        if (!*last)
            return NULL;
        last = &line->next;
    }
    p->depth--;
    if (!first)
        cr_parse_fail(p, "an indented line");
    return first;
}

/* Whether every way through the lines ends with `return`. */
static bool returns(const struct cr_script_line *line,
                    const struct cr_script_line **end)
{
    for (; line; line = line->next) {
        if (!line->next || line->kind == CR_SCRIPT_RETURN)
            *end = line;
        if (line->kind == CR_SCRIPT_RETURN)
            return true;
        if (line->kind == CR_SCRIPT_IF && line->other &&
            returns(line->body, end) && returns(line->other, end))
            return true;
    }
    return false;
}

struct cr_script_line *cr_script_parse(struct cr_arena *arena,
                                       struct cr_diag *diag,
                                       const struct cr_node *node)
{
    struct cr_parser p = { .arena = arena, .diag = diag, .node = node };
    struct cr_script_line *first = NULL;
    const struct cr_script_line *end = NULL;
    size_t indent;

    if (node->kind != CR_NODE_STR) {
        cr_error(diag, node->pos, CR_E_WRONG_TYPE,
                 "%s: expected a text of lines, found %s",
                 node->key ? node->key : "construct",
                 cr_node_what(arena, node));
        return NULL;
    }
    p.s = node->text;
    if (next_line(&p, &indent)) {
        first = block(&p, 0);
        if (!first)
            return NULL;
        if (p.s[p.at]) {
            cr_parse_fail_at(&p, p.at, strcspn(p.s + p.at, "\n"),
                             "the line is indented less than the first");
            return NULL;
        }
    }
    if (!returns(first, &end)) {
        cr_error(diag, end ? cr_script_pos(&p.place, node, end->at, end->len)
                     : node->pos,
                 CR_E_CONSTRUCT, "the last line must be 'return EXPRESSION'");
        return NULL;
    }
    return first;
}
