/*
 * The expressions of $(...), evaluated as in Python over numbers, booleans and
 * strings.
 *
 *   + - * / // % **    < <= > >= == !=    and or not    a if c else b
 *   min max round int len log2 ceil       env("NAME", default)
 *   numbers, "strings", true false null, names with dots
 *
 * Integers have 64 bits and overflow is an error; / returns a real; // and %
 * round down; inf and nan result only from operands that are inf or nan.
 */
#ifndef CR_CONF_EXPR_H
#define CR_CONF_EXPR_H

#include "conf/node.h"

struct cr_expr {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const char *text; /* the text between the parentheses */
    size_t len;
    struct cr_pos pos; /* of text */
    bool exact;        /* characters of text count columns from pos */
    /* The value of a name. NULL after reporting. */
    const struct cr_node *(*lookup)(void *context, const char *name,
                                    struct cr_pos pos);
    void *context;
    /* Whether env may read this variable; false after reporting. NULL: any. */
    bool (*may_read)(void *context, const char *name, struct cr_pos pos);
};

/* Evaluates the expression to a scalar node (a list or map if it is the value
 * of a variable). NULL after reporting. */
const struct cr_node *cr_expr(const struct cr_expr *expr);

/* Makes a scalar node of a value, with its text. */
struct cr_node *cr_node_int(struct cr_arena *arena, int64_t value);
struct cr_node *cr_node_real(struct cr_arena *arena, double value);
struct cr_node *cr_node_bool(struct cr_arena *arena, bool value);
struct cr_node *cr_node_str(struct cr_arena *arena, const char *text);

#endif
