/*
 * What a `construct` text computes with: tensors, numbers, truth values,
 * texts, tuples, maps of names, cells and None. Private to src/construct.
 */
#ifndef CR_CONSTRUCT_SCRIPT_VALUE_H
#define CR_CONSTRUCT_SCRIPT_VALUE_H

#include "graph/graph.h"

enum cr_script_value_kind {
    CR_SV_NONE,
    CR_SV_TENSOR,
    CR_SV_INT,
    CR_SV_REAL,
    CR_SV_BOOL,
    CR_SV_STRING,
    CR_SV_TUPLE,
    CR_SV_MAP,
    CR_SV_CELL
};

struct cr_script_value {
    enum cr_script_value_kind kind;
    struct cr_val *val;
    int64_t integer;  /* CR_SV_BOOL: 0 or 1 */
    double real;      /* CR_SV_INT, CR_SV_REAL, CR_SV_BOOL */
    const char *text; /* CR_SV_CELL: its name below the cell of the text */
    const struct cr_node *node; /* CR_SV_CELL */
    int n;                      /* CR_SV_TUPLE, CR_SV_MAP */
    struct cr_script_value *items;
    int weight; /* CR_SV_TUPLE, CR_SV_MAP: members, and theirs, to the last */
    const char **keys; /* CR_SV_MAP; of the members of a list of cells */
};

struct cr_script_value cr_script_value_tensor(struct cr_val *val);
struct cr_script_value cr_script_value_integer(int64_t v);
struct cr_script_value cr_script_value_real(double v);
struct cr_script_value cr_script_value_truth(bool v);
/* What a cell gave: a tensor, or a tuple of such. */
struct cr_script_value cr_script_value_result(struct cr_arena *arena,
                                              struct cr_val *v);
/* What a call of an op, or of the text of a cell (NULL), gave: the same, or a
 * tuple of its outputs. */
struct cr_script_value cr_script_value_outputs(struct cr_arena *arena,
                                               const struct cr_op *op,
                                               struct cr_val *v);
/* Counts what a new tuple has within; false if that is too much to walk:
 * a = (a, a) doubles with every line. */
bool cr_script_value_weigh(struct cr_script_value *t);
#define CR_SCRIPT_VALUE_MAX 100000
bool cr_script_value_number(const struct cr_script_value *t);
/* "a tensor (2, 3)", "a tuple of 2", "7" ... */
const char *cr_script_value_what(struct cr_arena *arena,
                                 const struct cr_script_value *t);

/* As a value of the graph, numbers as constants; NULL if it can be none. */
struct cr_val *cr_script_value_val(struct cr_build *b,
                                   const struct cr_script_value *t);
/* A number, text or tuple of such as a node of the config; NULL: it is none */
struct cr_node *cr_script_value_node(struct cr_arena *arena, struct cr_pos pos,
                                     const struct cr_script_value *t);
/* Two numbers under an op ("add", "less" ...) in Python's sense. NULL, or what
 * is wrong. */
const char *cr_script_value_fold(const char *op,
                                 const struct cr_script_value *a,
                                 const struct cr_script_value *b,
                                 struct cr_script_value *to);

#endif
