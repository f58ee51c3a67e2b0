/*
 * The text of `construct`, parsed. Private to src/net.
 *
 *   line:  NAME[, NAME ...] = expr      `_` drops a value
 *          NAME(expr ...)               a call alone: a statement
 *          return expr                  the last line
 *          of bprop also return expr, {NAME: expr, ...}
 *   expr:  calls with keywords, + - * / // % ** @, comparisons, and or not,
 *          (tuples), t[i], t[:, a:b, None], numbers, names, 'texts'
 *
 * Lines may go on inside brackets; # begins a comment.
 */
#ifndef CR_NET_SCRIPT_H
#define CR_NET_SCRIPT_H

#include "conf/node.h"

enum cr_script_op {
    CR_SCRIPT_NAME,
    CR_SCRIPT_INT,
    CR_SCRIPT_REAL,
    CR_SCRIPT_TEXT,
    CR_SCRIPT_NONE,
    CR_SCRIPT_TRUTH,    /* True, False */
    CR_SCRIPT_CALL,     /* name; args */
    CR_SCRIPT_TUPLE,    /* args */
    CR_SCRIPT_MAP,      /* args, each with a keyword: a.b too */
    CR_SCRIPT_INDEX,    /* args: what, then one per axis */
    CR_SCRIPT_SLICE,    /* args: begin, end, step; CR_SCRIPT_NONE if absent */
    CR_SCRIPT_UNARY,    /* sign "neg" or "logical_not"; args */
    CR_SCRIPT_BINARY,   /* sign: the op's name; args: two */
    CR_SCRIPT_CHAIN,    /* a < b < c: args, links but for the first */
    CR_SCRIPT_LINK      /* sign "less" ...; args: one */
};

struct cr_script {
    enum cr_script_op op;
    size_t at, len;     /* in the text */
    const char *name;   /* also the text of CR_SCRIPT_TEXT */
    const char *sign;   /* "add", "less" ... */
    const char *keyword; /* of an argument; NULL: by position */
    int64_t integer;
    double real;
    bool truth;
    int height;         /* of the parts below it; bounded */
    struct cr_script *args, *next;
};

struct cr_script_line {
    bool statement;     /* expr is a call whose value nobody takes */
    int n_names;        /* 0, without `statement`: return */
    const char **names;
    size_t at, len;
    struct cr_script *expr;
    struct cr_script_line *next;
};

/* NULL after reporting; `text` is the value of the key `construct`, say. */
struct cr_script_line *cr_script_parse(struct cr_arena *arena,
                                       struct cr_diag *diag,
                                       const struct cr_node *text);
/* The place in the file of a part of the text. */
struct cr_pos cr_script_pos(const struct cr_node *text, size_t at, size_t len);

#endif
