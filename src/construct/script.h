/*
 * The text of `construct`, parsed. Private to src/construct.
 *
 *   line:  TARGET[, TARGET ...] = expr  NAME or (TARGET, ...); `_` drops a
 *                                       value
 *          NAME += expr                 and -= *= /= //= %= **= @=
 *          NAME(expr ...)               a call alone: a statement
 *          if expr:  elif expr:  else:  lines indented below, or one after
 *          for TARGET[, TARGET ...] in expr:
 *          pass
 *          return expr                  the last line
 *          of bprop also return expr, {NAME: expr, ...}
 *   expr:  calls with keywords, + - * / // % ** @, comparisons, is, and or
 *          not, a if c else b, (tuples), [tuples], t[i],
 *          t[:, a:b, None, ...], x.name, x.name(expr ...), t[i](expr ...),
 *          *tuple among arguments, numbers, names, 'texts'
 *
 * Lines may continue inside brackets; # begins a comment.
 */
#ifndef CR_CONSTRUCT_SCRIPT_H
#define CR_CONSTRUCT_SCRIPT_H

#include "base/line_cursor.h"
#include "conf/node.h"

struct cr_script_value;

enum cr_script_op {
    CR_SCRIPT_NAME,
    CR_SCRIPT_INT,
    CR_SCRIPT_REAL,
    CR_SCRIPT_STRING,
    CR_SCRIPT_NONE,
    CR_SCRIPT_BOOL,     /* True, False */
    CR_SCRIPT_CALL,     /* name; args; method: args[0] stood before a dot */
    CR_SCRIPT_APPLY,    /* args: what is called, then its arguments */
    CR_SCRIPT_MEMBER,   /* args: of what; name */
    CR_SCRIPT_SPLAT,    /* args: the tuple */
    CR_SCRIPT_CHOICE,   /* args: value, condition, the other value */
    CR_SCRIPT_VALUE,    /* value: already computed */
    CR_SCRIPT_TUPLE,    /* args */
    CR_SCRIPT_MAP,      /* args, each with a keyword: a.b too */
    CR_SCRIPT_INDEX,    /* args: what, then one per axis */
    CR_SCRIPT_SLICE,    /* args: begin, end, step; CR_SCRIPT_NONE if absent */
    CR_SCRIPT_ELLIPSIS, /* ... among the items of CR_SCRIPT_INDEX */
    CR_SCRIPT_UNARY,    /* sign "neg" or "logical_not"; args */
    CR_SCRIPT_BINARY,   /* sign: the op's name; args: two */
    CR_SCRIPT_CHAIN,    /* a < b < c: args, links but for the first */
    CR_SCRIPT_LINK      /* sign "less" ...; args: one */
};

struct cr_script {
    enum cr_script_op op;
    size_t at, len;     /* in the text */
    const char *name;   /* also the text of CR_SCRIPT_STRING */
    const char *sign;   /* "add", "less" ... */
    const char *keyword; /* of an argument; NULL: by position */
    int64_t integer;
    double real;
    bool truth, method;
    const struct cr_script_value *value;
    int height;         /* of the parts below it; bounded */
    struct cr_script *args, *next;
};

/* What is assigned to: a name, or the targets of a tuple's members. */
struct cr_script_target {
    const char *name; /* NULL: a tuple */
    int n;
    struct cr_script_target *items;
};

enum cr_script_kind {
    CR_SCRIPT_ASSIGN,   /* target = expr */
    CR_SCRIPT_STATEMENT, /* expr: a call whose value is not used */
    CR_SCRIPT_RETURN,   /* expr */
    CR_SCRIPT_IF,       /* expr, body, other */
    CR_SCRIPT_FOR,      /* target, expr, body */
    CR_SCRIPT_PASS
};

struct cr_script_line {
    enum cr_script_kind kind;
    struct cr_script_target target; /* of kinds that have one */
    size_t at, len;
    struct cr_script *expr;
    struct cr_script_line *body, *other, *next;
};

/* Whether it is a constant or a word of the language, such as True or in, which
 * no variable or input may be called. */
bool cr_script_is_word(const char *name);
/* NULL after reporting; `text` is the value of the key `construct`, say. */
struct cr_script_line *cr_script_parse(struct cr_arena *arena,
                                       struct cr_diag *diag,
                                       const struct cr_node *text);
/* The place in the file of a part of the text; the search begins where the one
 * before has ended. */
struct cr_pos cr_script_pos(struct cr_text_place *place,
                            const struct cr_node *text, size_t at, size_t len);

#endif
