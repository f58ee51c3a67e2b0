/*
 * Operations on typed nodes by their option tables, before they are read.
 *
 * The name of a type does not determine its kind (Identity is a cell and an
 * initialiser), so the functions walk the tree with the kind that the section
 * or the row requires.
 */
#ifndef CR_CONF_TYPED_NODE_H
#define CR_CONF_TYPED_NODE_H

#include "conf/opt.h"

/* Gives positional arguments their names: Dense: [784, 512] becomes
 * Dense: {in_channels: 784, out_channels: 512}. Nodes that do not match
 * their rows stay as they are, and cr_opts_read reports them; so do lists that
 * are the only argument of a type and contain typed nodes (SequentialCell). */
void cr_typed_names(struct cr_arena *arena, struct cr_node *root);

/* The same for the node that an assignment put at a path of the tree. */
void cr_typed_names_at(struct cr_arena *arena, struct cr_node *node,
                       const char *section);

/* Adds the defaults of all keys that are not set, in all sections and types. */
void cr_typed_fill(struct cr_arena *arena, struct cr_node *root);

/* Reads all typed nodes of network, loss, optimizer and metrics and reports
 * their errors, which suggest `blocks` too (NULL: none). With `unknown`, cells
 * of unknown types are not errors: *unknown is set. */
bool cr_typed_check(struct cr_arena *arena, struct cr_diag *diag,
                    const struct cr_node *root, const struct cr_node *blocks,
                    bool *unknown);

/* True if the type of a typed node takes an argument of that name. */
bool cr_type_has_argument(const char *type, const char *argument);

#endif
