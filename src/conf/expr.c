#include "conf/expr.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked_math.h"
#include "base/str.h"
#include "conf/ast.h"
#include "conf/scalar.h"

#define STRING_MAX 65536 /* bytes of a computed string */

static const struct cr_node *expr_eval(const struct cr_expr *e,
                                       const struct cr_ast *a);

/* ---- values ---- */

static struct cr_node *expr_scalar(struct cr_arena *arena,
                                   enum cr_node_kind kind, const char *text)
{
    struct cr_node *node = CR_NEW(arena, struct cr_node);

    node->kind = kind;
    node->text = text;
    return node;
}

struct cr_node *cr_node_int(struct cr_arena *arena, int64_t value)
{
    struct cr_node *node =
        expr_scalar(arena, CR_NODE_INT, cr_strf(arena, "%" PRId64, value));

    node->integer = value;
    node->real = (double)value;
    return node;
}

struct cr_node *cr_node_real(struct cr_arena *arena, double value)
{
    struct cr_node *node =
        expr_scalar(arena, CR_NODE_REAL, cr_real_text(arena, value));

    node->real = value;
    return node;
}

struct cr_node *cr_node_bool(struct cr_arena *arena, bool value)
{
    struct cr_node *node =
        expr_scalar(arena, CR_NODE_BOOL, value ? "true" : "false");

    node->boolean = value;
    return node;
}

struct cr_node *cr_node_str(struct cr_arena *arena, const char *text)
{
    return expr_scalar(arena, CR_NODE_STR, cr_strdup(arena, text));
}

static bool expr_bad(const struct cr_expr *e, const struct cr_ast *a,
                     const char *what)
{
    return cr_error(e->diag, cr_expr_pos(e, a->at, a->len), CR_E_EXPRESSION,
                    "%s", what);
}

/* ---- computing ---- */

static bool expr_is_number(const struct cr_node *v)
{
    return v->kind == CR_NODE_INT || v->kind == CR_NODE_REAL;
}

static const struct cr_node *expr_found(const struct cr_expr *e,
                                        const struct cr_ast *a,
                                        const struct cr_node *v,
                                        const char *expected)
{
    expr_bad(e, a,
             cr_strf(e->arena, "found %s, expected %s",
                     cr_node_what(e->arena, v), expected));
    return NULL;
}

static const struct cr_node *expr_need(const struct cr_expr *e,
                                       const struct cr_ast *a)
{
    const struct cr_node *v = expr_eval(e, a);

    if (v && !expr_is_number(v))
        return expr_found(e, a, v, "a number");
    return v;
}

/* The value of a boolean; other kinds are an error. */
static const struct cr_node *expr_bool(const struct cr_expr *e,
                                       const struct cr_ast *a)
{
    const struct cr_node *v = expr_eval(e, a);

    if (v && v->kind != CR_NODE_BOOL)
        return expr_found(e, a, v, "true or false");
    return v;
}

static const struct cr_node *expr_real(const struct cr_expr *e,
                                       const struct cr_ast *a, double result,
                                       double x, double y)
{
    if (!isfinite(result) && isfinite(x) && isfinite(y)) {
        expr_bad(e, a,
                 isnan(result) ? "the result is not a number"
                               : "the result is too large");
        return NULL;
    }
    return cr_node_real(e->arena, result);
}

static const struct cr_node *expr_too_large(const struct cr_expr *e,
                                            const struct cr_ast *a)
{
    expr_bad(e, a, "the result is too large for an integer of 64 bits");
    return NULL;
}

/* Converts a real with an integer value to an integer. */
static const struct cr_node *expr_whole(const struct cr_expr *e,
                                        const struct cr_ast *a, double x)
{
    if (!(x >= -0x1p63 && x < 0x1p63))
        return expr_too_large(e, a);
    return cr_node_int(e->arena, (int64_t)x);
}

static bool expr_int_pow(int64_t x, int64_t n, int64_t *result)
{
    *result = 1;
    for (; n > 0; n /= 2) {
        if (n % 2 == 1 && !cr_checked_mul(result, *result, x))
            return false;
        if (n > 1 && !cr_checked_mul(&x, x, x))
            return false;
    }
    return true;
}

/* Integers; division rounds towards minus infinity. */
static const struct cr_node *
expr_ints(const struct cr_expr *e, const struct cr_ast *a, int64_t x, int64_t y)
{
    int64_t r = 0;
    bool ok = true;

    switch (a->op) {
    case OP_ADD:
        ok = cr_checked_add(&r, x, y);
        break;
    case OP_SUB:
        ok = cr_checked_sub(&r, x, y);
        break;
    case OP_MUL:
        ok = cr_checked_mul(&r, x, y);
        break;
    case OP_FLOOR:
        ok = !(x == INT64_MIN && y == -1);
        if (ok)
            r = x / y - (x % y != 0 && (x < 0) != (y < 0));
        break;
    case OP_MOD:
        r = y == -1 ? 0 : x % y;
        if (r != 0 && (r < 0) != (y < 0))
            r += y;
        break;
    default:
        ok = expr_int_pow(x, y, &r);
        break;
    }
    return ok ? cr_node_int(e->arena, r) : expr_too_large(e, a);
}

static const struct cr_node *
expr_reals(const struct cr_expr *e, const struct cr_ast *a, double x, double y)
{
    double r;

    switch (a->op) {
    case OP_ADD:
        r = x + y;
        break;
    case OP_SUB:
        r = x - y;
        break;
    case OP_MUL:
        r = x * y;
        break;
    case OP_DIV:
        r = x / y;
        break;
    case OP_FLOOR:
        r = floor(x / y);
        break;
    case OP_MOD:
        r = fmod(x, y);
        if (r != 0 && (r < 0) != (y < 0))
            r += y;
        break;
    default:
        r = pow(x, y);
        break;
    }
    return expr_real(e, a, r, x, y);
}

static const struct cr_node *expr_arithmetic(const struct cr_expr *e,
                                             const struct cr_ast *a)
{
    const struct cr_node *x = expr_eval(e, a->args);
    const struct cr_node *y = x ? expr_eval(e, a->args->next) : NULL;
    bool divides = a->op == OP_DIV || a->op == OP_FLOOR || a->op == OP_MOD;

    if (!x || !y)
        return NULL;
    if (a->op == OP_ADD && x->kind == CR_NODE_STR && y->kind == CR_NODE_STR) {
        if (strlen(x->text) + strlen(y->text) > STRING_MAX) {
            expr_bad(e, a, "the result is too long");
            return NULL;
        }
        return cr_node_str(e->arena,
                           cr_strf(e->arena, "%s%s", x->text, y->text));
    }
    if (!expr_is_number(x))
        return expr_found(e, a->args, x, "a number");
    if (!expr_is_number(y))
        return expr_found(e, a->args->next, y, "a number");
    if (divides && y->real == 0) {
        expr_bad(e, a, "division by zero");
        return NULL;
    }
    if (x->kind == CR_NODE_INT && y->kind == CR_NODE_INT && a->op != OP_DIV &&
        !(a->op == OP_POW && y->integer < 0))
        return expr_ints(e, a, x->integer, y->integer);
    return expr_reals(e, a, x->real, y->real);
}

/* The sign of x - y for two numbers. A comparison of an integer with a real is
 * made in double, as everywhere in configs. */
static int expr_order(const struct cr_node *x, const struct cr_node *y)
{
    if (x->kind == CR_NODE_STR)
        return strcmp(x->text, y->text);
    if (x->kind == CR_NODE_INT && y->kind == CR_NODE_INT)
        return (x->integer > y->integer) - (x->integer < y->integer);
    return (x->real > y->real) - (x->real < y->real);
}

static bool expr_equal(const struct cr_node *x, const struct cr_node *y)
{
    if (expr_is_number(x) && expr_is_number(y))
        return !isnan(x->real) && !isnan(y->real) && expr_order(x, y) == 0;
    if (x->kind != y->kind)
        return false;
    if (x->kind == CR_NODE_BOOL)
        return x->boolean == y->boolean;
    return x->kind == CR_NODE_NULL ||
           (x->kind == CR_NODE_STR && strcmp(x->text, y->text) == 0);
}

static bool expr_one_compare(const struct cr_expr *e,
                             const struct cr_ast *right,
                             const struct cr_node *x, const struct cr_node *y,
                             bool *holds)
{
    bool none = (expr_is_number(x) && isnan(x->real)) ||
                (expr_is_number(y) && isnan(y->real));

    if (right->chain == OP_EQ || right->chain == OP_NE) {
        *holds = expr_equal(x, y) == (right->chain == OP_EQ);
        return true;
    }
    if (!(expr_is_number(x) && expr_is_number(y)) &&
        !(x->kind == CR_NODE_STR && y->kind == CR_NODE_STR))
        return expr_bad(e, right,
                        cr_strf(e->arena, "cannot compare %s with %s",
                                cr_node_what(e->arena, x),
                                cr_node_what(e->arena, y)));
    *holds = !none && (right->chain == OP_LT   ? expr_order(x, y) < 0
                       : right->chain == OP_LE ? expr_order(x, y) <= 0
                       : right->chain == OP_GT ? expr_order(x, y) > 0
                                               : expr_order(x, y) >= 0);
    return true;
}

static const struct cr_node *expr_comparison(const struct cr_expr *e,
                                             const struct cr_ast *a)
{
    const struct cr_ast *right = a->args->next;
    const struct cr_node *x = expr_eval(e, a->args), *y;
    bool holds = true;

    for (; x && right && holds; right = right->next) {
        y = expr_eval(e, right);
        if (!y || !expr_one_compare(e, right, x, y, &holds))
            return NULL;
        x = y;
    }
    return x ? cr_node_bool(e->arena, holds) : NULL;
}

/* ---- functions ---- */

/* Computes min(a, b, ...) or max; of a single list, over its members. */
static const struct cr_node *expr_extreme(const struct cr_expr *e,
                                          const struct cr_ast *a)
{
    int sign = strcmp(a->name, "min") == 0 ? -1 : 1;
    const struct cr_node *best = NULL, *v;

    if (!a->args->next) {
        v = expr_eval(e, a->args);
        if (!v || v->kind != CR_NODE_LIST || !v->child)
            return v ? expr_found(e, a->args, v, "several numbers or a list")
                     : NULL;
        for (CR_EACH(m, v)) {
            if (!expr_is_number(m))
                return expr_found(e, a->args, m, "numbers in the list");
            if (!best || sign * expr_order(m, best) > 0)
                best = m;
        }
        return best;
    }
    for (const struct cr_ast *arg = a->args; arg; arg = arg->next) {
        v = expr_need(e, arg);
        if (!v)
            return NULL;
        if (!best || sign * expr_order(v, best) > 0)
            best = v;
    }
    return best;
}

static const struct cr_node *expr_round(const struct cr_expr *e,
                                        const struct cr_ast *a)
{
    const struct cr_node *x = expr_need(e, a->args);

    if (!x || x->kind == CR_NODE_INT)
        return x;
    if (strcmp(a->name, "ceil") == 0)
        return expr_whole(e, a, ceil(x->real));
    if (strcmp(a->name, "int") == 0)
        return expr_whole(e, a, trunc(x->real));
    return expr_whole(e, a, nearbyint(x->real)); /* halves to even */
}

static const struct cr_node *expr_log2(const struct cr_expr *e,
                                       const struct cr_ast *a)
{
    const struct cr_node *x = expr_need(e, a->args);

    if (x && !(x->real > 0)) {
        expr_bad(e, a, "log2: expected a number above 0");
        return NULL;
    }
    return x ? cr_node_real(e->arena, log2(x->real)) : NULL;
}

static const struct cr_node *expr_len(const struct cr_expr *e,
                                      const struct cr_ast *a)
{
    const struct cr_node *x = expr_eval(e, a->args);

    if (!x)
        return NULL;
    if (x->kind == CR_NODE_LIST || x->kind == CR_NODE_MAP)
        return cr_node_int(e->arena, cr_node_count(x));
    if (x->kind == CR_NODE_STR)
        return cr_node_int(e->arena,
                           (int64_t)cr_utf8_count(x->text, strlen(x->text)));
    return expr_found(e, a->args, x, "a list, a map or a string");
}

/* The text of the variable is resolved like a plain scalar of a config. */
static const struct cr_node *expr_env(const struct cr_expr *e,
                                      const struct cr_ast *a)
{
    const struct cr_node *name = expr_eval(e, a->args);
    const char *text;
    struct cr_node *node;

    if (!name)
        return NULL;
    if (name->kind != CR_NODE_STR)
        return expr_found(e, a->args, name, "the name of a variable");
    if (e->may_read && !e->may_read(e->context, name->text, e->pos))
        return NULL;
    text = getenv(name->text);
    if (!text && a->args->next)
        return expr_eval(e, a->args->next);
    if (!text) {
        expr_bad(
            e, a,
            cr_strf(e->arena,
                    "environment variable '%s' is not set, and there is no "
                    "default",
                    cr_quote(e->arena, name->text, strlen(name->text))));
        return NULL;
    }
    node = cr_node_str(e->arena, text);
    if (strlen(text) > STRING_MAX || !cr_scalar_resolve(node)) {
        expr_bad(e, a, "the variable's value is too large");
        return NULL;
    }
    return node;
}

static const struct cr_node *expr_function(const struct cr_expr *e,
                                           const struct cr_ast *a)
{
    static const struct {
        const char *name;
        int least, most;
        const struct cr_node *(*run)(const struct cr_expr *e,
                                     const struct cr_ast *a);
    } table[] = {
        { "min", 1, 1000, expr_extreme }, { "max", 1, 1000, expr_extreme },
        { "round", 1, 1, expr_round },    { "int", 1, 1, expr_round },
        { "ceil", 1, 1, expr_round },     { "len", 1, 1, expr_len },
        { "log2", 1, 1, expr_log2 },      { "env", 1, 2, expr_env },
    };
    const char *names[CR_LEN(table) + 1] = { NULL }, *near;
    int n = 0;

    for (const struct cr_ast *arg = a->args; arg; arg = arg->next)
        n++;
    for (size_t i = 0; i < CR_LEN(table); i++) {
        names[i] = table[i].name;
        if (strcmp(a->name, table[i].name) != 0)
            continue;
        if (n >= table[i].least && n <= table[i].most)
            return table[i].run(e, a);
        expr_bad(e, a,
                 cr_strf(e->arena, "%s: expected %s, found %d", a->name,
                         table[i].most == 1   ? "1 argument"
                         : table[i].most == 2 ? "1 or 2 arguments"
                                              : "1 or more arguments",
                         n));
        return NULL;
    }
    expr_bad(e, a,
             cr_strf(e->arena, "unknown function '%s'",
                     cr_quote(e->arena, a->name, strlen(a->name))));
    near = cr_closest_name(a->name, names);
    if (near)
        cr_hint(e->diag, "did you mean '%s'?", near);
    else
        cr_note(e->diag, "functions: min max round int len log2 ceil env");
    return NULL;
}

static const struct cr_node *expr_sign_of(const struct cr_expr *e,
                                          const struct cr_ast *a)
{
    const struct cr_node *x = expr_need(e, a->args);

    if (!x || a->op == OP_POS)
        return x;
    if (x->kind == CR_NODE_REAL)
        return cr_node_real(e->arena, -x->real);
    if (x->integer == INT64_MIN)
        return expr_too_large(e, a);
    return cr_node_int(e->arena, -x->integer);
}

static const struct cr_node *expr_eval(const struct cr_expr *e,
                                       const struct cr_ast *a)
{
    const struct cr_node *x;

    switch (a->op) {
    case OP_VALUE:
        return a->value;
    case OP_NAME:
        return e->lookup(e->context, a->name, cr_expr_pos(e, a->at, a->len));
    case OP_CALL:
        return expr_function(e, a);
    case OP_NEG:
    case OP_POS:
        return expr_sign_of(e, a);
    case OP_NOT:
        x = expr_bool(e, a->args);
        return x ? cr_node_bool(e->arena, !x->boolean) : NULL;
    case OP_AND:
    case OP_OR:
        x = expr_bool(e, a->args);
        if (!x || x->boolean == (a->op == OP_OR))
            return x;
        return expr_bool(e, a->args->next);
    case OP_IF:
        x = expr_bool(e, a->args->next);
        if (!x)
            return NULL;
        return expr_eval(e, x->boolean ? a->args : a->args->next->next);
    case OP_LT:
    case OP_LE:
    case OP_GT:
    case OP_GE:
    case OP_EQ:
    case OP_NE:
        return expr_comparison(e, a);
    default:
        return expr_arithmetic(e, a);
    }
}

const struct cr_node *cr_expr(const struct cr_expr *expr)
{
    const struct cr_ast *a = cr_expr_parse(expr);

    return a ? expr_eval(expr, a) : NULL;
}
