/*
 * The expressions of $(...): computed in Python's sense over numbers, truth
 * values and strings.
 *
 *   + - * / // % **    < <= > >= == !=    and or not    a if c else b
 *   min max round int len log2 ceil       env("NAME", default)
 *   numbers, "strings", true false null, names with dots
 *
 * Integers are 64 bits wide and never wrap; / always gives a real; // and %
 * round down; nothing gives inf or nan unless it was given one.
 */
#ifndef CR_CONF_EXPR_H
#define CR_CONF_EXPR_H

#include "conf/node.h"

struct cr_expr {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const char *text; /* what stands between the parentheses */
    size_t len;
    struct cr_pos pos; /* of text */
    bool exact;        /* characters of text count columns from pos */
    /* The value of a name; NULL after reporting. */
    const struct cr_node *(*lookup)(void *context, const char *name,
                                    struct cr_pos pos);
    void *context;
    /* Whether env may read this variable; reports. NULL: any. */
    bool (*may_read)(void *context, const char *name, struct cr_pos pos);
};

/* The value as a scalar node (a list or map, if it is a variable's), or NULL
 * after reporting. */
const struct cr_node *cr_expr(const struct cr_expr *expr);

/* A scalar node of a value, with its text. */
struct cr_node *cr_node_int(struct cr_arena *arena, int64_t value);
struct cr_node *cr_node_real(struct cr_arena *arena, double value);
struct cr_node *cr_node_bool(struct cr_arena *arena, bool value);
struct cr_node *cr_node_str(struct cr_arena *arena, const char *text);

#endif
