/*
 * What a `construct` text computes with: tensors, numbers, truth values,
 * texts, tuples, maps of names, cells and None. Private to src/net.
 */
#ifndef CR_NET_THING_H
#define CR_NET_THING_H

#include "net/graph.h"

enum cr_thing_kind {
    NOTHING,
    TENSOR,
    INTEGER,
    REAL,
    TRUTH,
    TEXT,
    TUPLE,
    MAP,
    CELL
};

struct cr_thing {
    enum cr_thing_kind kind;
    struct cr_val *val;
    int64_t integer;     /* TRUTH: 0 or 1 */
    double real;         /* INTEGER, REAL, TRUTH */
    const char *text;    /* CELL: its name below the cell of the text */
    const struct cr_node *node; /* CELL */
    int n;               /* TUPLE, MAP */
    struct cr_thing *items;
    int weight;          /* TUPLE, MAP: members, and theirs, to the last */
    const char **keys;   /* MAP; of the members of a list of cells */
};

struct cr_thing cr_thing_tensor(struct cr_val *val);
struct cr_thing cr_thing_integer(int64_t v);
struct cr_thing cr_thing_real(double v);
struct cr_thing cr_thing_truth(bool v);
/* What a cell gave: a tensor, or a tuple of such. */
struct cr_thing cr_thing_result(struct cr_arena *arena, struct cr_val *v);
/* Counts what a new tuple has within; false if that is too much to walk:
 * a = (a, a) doubles with every line. */
bool cr_thing_weigh(struct cr_thing *t);
#define CR_THING_MAX 100000
bool cr_thing_number(const struct cr_thing *t);
/* "a tensor (2, 3)", "a tuple of 2", "7" ... */
const char *cr_thing_what(struct cr_arena *arena, const struct cr_thing *t);

/* As a value of the graph, numbers as constants; NULL if it can be none. */
struct cr_val *cr_thing_val(struct cr_build *b, const struct cr_thing *t);
/* A number, text or tuple of such as a node of the config; NULL: it is none */
struct cr_node *cr_thing_node(struct cr_arena *arena, struct cr_pos pos,
                              const struct cr_thing *t);
/* Two numbers under an op ("add", "less" ...) in Python's sense. NULL, or what
 * is wrong. */
const char *cr_thing_fold(const char *op, const struct cr_thing *a,
                          const struct cr_thing *b, struct cr_thing *to);

#endif
