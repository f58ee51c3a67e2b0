/*
 * A parsed expression: the result of conf/expr_parse.c, evaluated by
 * conf/expr.c.
 */
#ifndef CR_CONF_AST_H
#define CR_CONF_AST_H

#include "conf/expr.h"

enum cr_ast_op {
    OP_VALUE,
    OP_NAME,
    OP_CALL,
    OP_NEG,
    OP_POS,
    OP_NOT,
    OP_AND,
    OP_OR,
    OP_IF,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_FLOOR,
    OP_MOD,
    OP_POW,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_EQ,
    OP_NE
};

/* args is a list linked by next. In a chain a < b < c the arguments of the
 * comparison are a, b, c; b and c each have the operator before them in
 * chain. */
struct cr_ast {
    enum cr_ast_op op, chain;
    size_t at, len; /* in the text */
    const char *name;
    const struct cr_node *value;
    struct cr_ast *args, *next;
};

/* Parses an expression; NULL after reporting. */
const struct cr_ast *cr_expr_parse(const struct cr_expr *expr);

/* The position of len bytes of the text from `at`. */
struct cr_pos cr_expr_pos(const struct cr_expr *expr, size_t at, size_t len);

#endif
