/* The functions of functions.def, as ops that have a text alone. */
#include "graph/op.h"

#define CR_FUNCTION(leaf, call, what, ...) \
    const struct cr_op cr_op_##leaf = { \
        .about = { .name = #leaf, .summary = what }, \
        .signature = call, \
        .text = __VA_ARGS__, \
    };
#include "construct/functions.def"
