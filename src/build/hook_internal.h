/* The hooks of a network, as the section `watch` gave them. Private to
 * src/build. */
#ifndef CR_BUILD_HOOK_INTERNAL_H
#define CR_BUILD_HOOK_INTERNAL_H

#include "build/hook.h"
#include "graph/graph.h"

struct cr_hooks {
    struct cr_hook *v; /* those that are enabled */
    int n;
    bool any, back; /* some replaces something; in the backward pass */
    bool broken;    /* the section has mistakes, which were reported */
    const struct cr_node **names; /* of all entries */
    int n_names;
    const char **points; /* full names, ends with NULL */
    int n_points, room_points;
};

#endif
