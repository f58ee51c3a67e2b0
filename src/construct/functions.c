/* The functions of functions.def, as ops that have a text alone. */
#include "graph/op.h"

#define CR_FUNCTION(leaf, call, what, lines) \
    const struct cr_op cr_op_##leaf = { \
        .about = { .name = #leaf, .summary = what }, \
        .signature = call, \
        .text = lines, \
    };
#include "construct/functions.def"
