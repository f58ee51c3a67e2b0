/*
 * Shared by expand.c and block.c. Private to src/conf.
 */
#ifndef CR_CONF_EXPAND_INTERNAL_H
#define CR_CONF_EXPAND_INTERNAL_H

#include "conf/expand.h"

#define CR_EXPAND_DEEP 32 /* nested variables, or nested blocks */

struct cr_expander {
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_node *root, *vars;
    const struct cr_builtins *builtins;
    struct cr_node **ready; /* variables and sections that are expanded */
    int n_ready, cap_ready;
    const struct cr_node **used; /* variables that some text names */
    int n_used, cap_used;
    struct cr_node
        *expanding[CR_EXPAND_DEEP]; /* those being expanded, outer first */
    int n_expanding;
    const struct cr_node *blocks, *params; /* params: of the block's use */
    const char *uses[CR_EXPAND_DEEP]; /* blocks being expanded, outer first */
    int n_uses;
    int nodes; /* copied in place of variables, repeats and blocks */
    size_t bytes;
    int64_t classes;  /* $data.classes; set at its first use */
    bool sizing_data; /* the sections of the data are being expanded or read */
    bool full;        /* a limit is exceeded and reported: no further copies */
};

/* What a walk expands. Modifiers in variables are expanded where the variable
 * is used, because `when` has another meaning in the network. */
enum cr_expand_what {
    TEXTS = 1,
    CONTROL = 2,
    NETWORK = 4,
    BLOCKS = 8
};

/* Walks below a node, and the node's own text. */
void cr_expand_walk(struct cr_expander *x, struct cr_node *node, int depth,
                    enum cr_expand_what what);
/* Whether `times` copies of a node at a depth are within the limits; counts
 * them. */
bool cr_expand_fits(struct cr_expander *x, const struct cr_node *node,
                    int64_t times, int depth, struct cr_pos pos);

/* block.c: expands uses of blocks in a member and its repetitions, up to
 * `last`. */
void cr_expand_blocks(struct cr_expander *x, struct cr_node *m,
                      const struct cr_node *last, int depth,
                      enum cr_expand_what what);
void cr_expand_block_names(struct cr_expander *x);
/* Gives metrics that are blocks the name of the block, if they have none. */
void cr_expand_block_called(struct cr_expander *x, struct cr_node *metrics);

#endif
