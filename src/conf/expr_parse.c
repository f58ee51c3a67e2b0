#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "conf/ast.h"
#include "conf/scalar.h"

#define DEPTH_MAX 50    /* of parentheses and signs */
#define TERMS_MAX \
    200 /* operators: the tree of a sum is as deep as the sum is long */
#define LENGTH_MAX 4096 /* bytes */

struct parser {
    const struct cr_expr *e;
    size_t at;
    int depth, terms;
};

static struct cr_ast *parse_ternary(struct parser *p);

struct cr_pos cr_expr_pos(const struct cr_expr *e, size_t at, size_t len)
{
    struct cr_pos pos = e->pos;

    if (!e->exact)
        return pos;
    pos.col += (int)cr_utf8_count(e->text, at);
    pos.len = (int)cr_utf8_count(e->text + at, len);
    return pos;
}

static struct cr_ast *parse_syntax(struct parser *p, const char *what)
{
    size_t len = p->at < p->e->len;

    cr_error(p->e->diag, cr_expr_pos(p->e, p->at, len), CR_E_EXPRESSION,
             "%s in "
             "'%s'",
             what, cr_quote(p->e->arena, p->e->text, p->e->len));
    return NULL;
}

static struct cr_ast *parse_new(struct parser *p, enum cr_ast_op op, size_t at,
                                struct cr_ast *args)
{
    struct cr_ast *a = CR_NEW(p->e->arena, struct cr_ast);

    a->op = op;
    a->at = at;
    a->len = p->at - at;
    a->args = args;
    return a;
}

static char parse_peek(struct parser *p)
{
    while (p->at < p->e->len && isspace((unsigned char)p->e->text[p->at]))
        p->at++;
    return p->at < p->e->len ? p->e->text[p->at] : '\0';
}

static bool parse_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool parse_word(struct parser *p, const char *word)
{
    size_t n = strlen(word);

    parse_peek(p);
    if (p->e->len - p->at < n || memcmp(p->e->text + p->at, word, n) != 0 ||
        (p->e->len - p->at > n && parse_word_char(p->e->text[p->at + n])))
        return false;
    p->at += n;
    return true;
}

/* Parses one of the operators in `signs`, longest first; ops[i] is the operator
 * of signs[i]. */
static bool parse_sign(struct parser *p, const char *const *signs,
                       const enum cr_ast_op *ops, enum cr_ast_op *op)
{
    parse_peek(p);
    for (int i = 0; signs[i]; i++) {
        size_t n = strlen(signs[i]);
        const char *s = p->e->text + p->at;

        if (p->e->len - p->at < n || memcmp(s, signs[i], n) != 0)
            continue;
        p->at += n;
        *op = ops[i];
        return true;
    }
    return false;
}

static struct cr_ast *parse_number(struct parser *p)
{
    struct cr_node *node = CR_NEW(p->e->arena, struct cr_node);
    const char *s = p->e->text;
    size_t at = p->at, len;
    bool hex = s[at] == '0' && p->e->len - at > 1 && s[at + 1] == 'x';
    struct cr_ast *a;

    while (p->at < p->e->len &&
           (parse_word_char(s[p->at]) || s[p->at] == '.' ||
            ((s[p->at] == '-' || s[p->at] == '+') && !hex &&
             (s[p->at - 1] == 'e' || s[p->at - 1] == 'E'))))
        p->at++;
    len = p->at - at;
    node->text = cr_strndup(p->e->arena, s + at, len);
    if (!cr_scalar_resolve(node) ||
        (node->kind != CR_NODE_INT && node->kind != CR_NODE_REAL)) {
        p->at = at;
        return parse_syntax(p, cr_strf(p->e->arena, "'%s' is not a number",
                                       cr_quote(p->e->arena, s + at, len)));
    }
    a = parse_new(p, OP_VALUE, at, NULL);
    a->value = node;
    return a;
}

static struct cr_ast *parse_string(struct parser *p)
{
    const char *s = p->e->text + p->at;
    const char *end = memchr(s + 1, *s, p->e->len - p->at - 1);
    size_t at = p->at;
    struct cr_ast *a;

    if (!end)
        return parse_syntax(p, "unclosed quote");
    p->at += (size_t)(end - s) + 1;
    a = parse_new(p, OP_VALUE, at, NULL);
    a->value = cr_node_str(
        p->e->arena, cr_strndup(p->e->arena, s + 1, (size_t)(end - s - 1)));
    return a;
}

static struct cr_ast *parse_call(struct parser *p, size_t at, const char *name)
{
    struct cr_ast *a, *first = NULL, **last = &first;

    p->at++;
    if (parse_peek(p) == ')') {
        p->at++;
    } else {
        for (;;) {
            *last = parse_ternary(p);
            if (!*last)
                return NULL;
            last = &(*last)->next;
            if (parse_peek(p) == ')')
                break;
            if (parse_peek(p) != ',')
                return parse_syntax(p, "expected ',' or ')'");
            p->at++;
        }
        p->at++;
    }
    a = parse_new(p, OP_CALL, at, first);
    a->name = name;
    return a;
}

static struct cr_ast *parse_name(struct parser *p)
{
    const char *s = p->e->text;
    size_t at = p->at, len;
    struct cr_ast *a;
    const struct cr_node *constant = NULL;

    if (parse_word(p, "true") || parse_word(p, "false"))
        constant = cr_node_bool(p->e->arena, s[at] == 't');
    else if (parse_word(p, "null"))
        constant = CR_NEW(p->e->arena, struct cr_node);
    if (constant) {
        a = parse_new(p, OP_VALUE, at, NULL);
        a->value = constant;
        return a;
    }
    while (p->at < p->e->len && (parse_word_char(s[p->at]) ||
                                 (s[p->at] == '.' && p->at + 1 < p->e->len &&
                                  parse_word_char(s[p->at + 1]))))
        p->at++;
    len = p->at - at;
    a = parse_new(p, OP_NAME, at, NULL);
    a->name = cr_strndup(p->e->arena, s + at, len);
    if (parse_peek(p) == '(')
        return parse_call(p, at, a->name);
    return a;
}

static struct cr_ast *parse_primary(struct parser *p)
{
    char c = parse_peek(p);
    size_t at = p->at;
    struct cr_ast *a;

    if (c == '(') {
        p->at++;
        a = parse_ternary(p);
        if (!a)
            return NULL;
        if (parse_peek(p) != ')')
            return parse_syntax(p, "expected ')'");
        p->at++;
        a->at = at;
        a->len = p->at - at;
        return a;
    }
    if (isdigit((unsigned char)c) || c == '.')
        return parse_number(p);
    if (c == '"' || c == '\'')
        return parse_string(p);
    if (isalpha((unsigned char)c) || c == '_')
        return parse_name(p);
    if (c == '$')
        return parse_syntax(p, "names inside $(...) are written without '$'");
    return parse_syntax(p, c ? "expected a value" : "a value is missing");
}

/* -x ** 2 is -(x ** 2), and 2 ** -1 is allowed, as in Python. */
static struct cr_ast *parse_unary(struct parser *p)
{
    static const char *const signs[] = { "-", "+", NULL };
    static const enum cr_ast_op ops[] = { OP_NEG, OP_POS };
    static const char *const power[] = { "**", NULL };
    static const enum cr_ast_op pow_op[] = { OP_POW };
    size_t at;
    enum cr_ast_op op;
    struct cr_ast *a;

    parse_peek(p);
    at = p->at;
    if (p->depth >= DEPTH_MAX)
        return parse_syntax(p, "nested too deeply");
    p->depth++;
    if (parse_sign(p, signs, ops, &op)) {
        a = parse_unary(p);
        a = a ? parse_new(p, op, at, a) : NULL;
    } else {
        a = parse_primary(p);
        if (a && parse_sign(p, power, pow_op, &op)) {
            a->next = parse_unary(p);
            a = a->next ? parse_new(p, op, at, a) : NULL;
        }
    }
    p->depth--;
    return a;
}

static struct cr_ast *parse_left(struct parser *p, const char *const *signs,
                                 const enum cr_ast_op *ops,
                                 struct cr_ast *(*inner)(struct parser *))
{
    struct cr_ast *a = inner(p);
    enum cr_ast_op op;

    while (a && parse_sign(p, signs, ops, &op)) {
        size_t at = a->at;

        if (++p->terms > TERMS_MAX)
            return parse_syntax(p, "too many operators");
        a->next = inner(p);
        a = a->next ? parse_new(p, op, at, a) : NULL;
    }
    return a;
}

static struct cr_ast *parse_term(struct parser *p)
{
    static const char *const signs[] = { "*", "//", "/", "%", NULL };
    static const enum cr_ast_op ops[] = { OP_MUL, OP_FLOOR, OP_DIV, OP_MOD };

    return parse_left(p, signs, ops, parse_unary);
}

static struct cr_ast *parse_sum(struct parser *p)
{
    static const char *const signs[] = { "+", "-", NULL };
    static const enum cr_ast_op ops[] = { OP_ADD, OP_SUB };

    return parse_left(p, signs, ops, parse_term);
}

static struct cr_ast *parse_compare(struct parser *p)
{
    static const char *const signs[] = {
        "<=", ">=", "==", "!=", "<", ">", NULL
    };
    static const enum cr_ast_op ops[] = { OP_LE, OP_GE, OP_EQ,
                                          OP_NE, OP_LT, OP_GT };
    struct cr_ast *first = parse_sum(p), *last = first;
    enum cr_ast_op op;

    while (last && parse_sign(p, signs, ops, &op)) {
        last->next = parse_sum(p);
        last = last->next;
        if (last)
            last->chain = op;
    }
    if (!last)
        return NULL;
    return last == first ? first : parse_new(p, OP_LT, first->at, first);
}

static struct cr_ast *parse_not(struct parser *p)
{
    size_t at;
    struct cr_ast *a;

    parse_peek(p);
    at = p->at;
    if (!parse_word(p, "not"))
        return parse_compare(p);
    if (p->depth >= DEPTH_MAX)
        return parse_syntax(p, "nested too deeply");
    p->depth++;
    a = parse_not(p);
    p->depth--;
    return a ? parse_new(p, OP_NOT, at, a) : NULL;
}

static struct cr_ast *parse_and(struct parser *p)
{
    struct cr_ast *a = parse_not(p);

    while (a && parse_word(p, "and")) {
        if (++p->terms > TERMS_MAX)
            return parse_syntax(p, "too many operators");
        a->next = parse_not(p);
        a = a->next ? parse_new(p, OP_AND, a->at, a) : NULL;
    }
    return a;
}

static struct cr_ast *parse_or(struct parser *p)
{
    struct cr_ast *a = parse_and(p);

    while (a && parse_word(p, "or")) {
        if (++p->terms > TERMS_MAX)
            return parse_syntax(p, "too many operators");
        a->next = parse_and(p);
        a = a->next ? parse_new(p, OP_OR, a->at, a) : NULL;
    }
    return a;
}

static struct cr_ast *parse_ternary(struct parser *p)
{
    struct cr_ast *a = parse_or(p);

    if (!a || !parse_word(p, "if"))
        return a;
    if (p->depth >= DEPTH_MAX)
        return parse_syntax(p, "nested too deeply");
    p->depth++;
    a->next = parse_or(p);
    if (!a->next)
        return NULL;
    if (!parse_word(p, "else"))
        return parse_syntax(p, "expected 'else'");
    a->next->next = parse_ternary(p);
    p->depth--;
    return a->next->next ? parse_new(p, OP_IF, a->at, a) : NULL;
}

const struct cr_ast *cr_expr_parse(const struct cr_expr *expr)
{
    struct parser p = { .e = expr };
    const struct cr_ast *a;

    if (expr->len > LENGTH_MAX) {
        cr_error(expr->diag, expr->pos, CR_E_LIMIT,
                 "an expression of more than %d bytes", LENGTH_MAX);
        return NULL;
    }
    a = parse_ternary(&p);
    if (a && parse_peek(&p))
        return parse_syntax(&p, "expected an operator");
    return a;
}
