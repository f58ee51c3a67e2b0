/*
 * What the option tables tell about typed nodes before anybody reads them.
 *
 * A type's name alone does not say which kind it is of (Identity is a cell
 * and an initialiser), so both functions walk the tree with the kind that
 * the place asks for: the section at the top, the row inside a type.
 */
#ifndef CR_CONF_TYPED_NODE_H
#define CR_CONF_TYPED_NODE_H

#include "conf/opt.h"

/* Gives positional arguments their names: Dense: [784, 512] becomes
 * Dense: {in_channels: 784, out_channels: 512}. What does not fit stays as it
 * is for cr_opts_read to refuse; so does a list that is the only argument of
 * its type and holds typed nodes (SequentialCell). */
void cr_typed_names(struct cr_arena *arena, struct cr_node *root);

/* The same for the node that an assignment put at a path of the tree. */
void cr_typed_names_at(struct cr_arena *arena, struct cr_node *node,
                       const char *section);

/* Adds every default that is not given, in all sections and types. */
void cr_typed_fill(struct cr_arena *arena, struct cr_node *root);

/* Reads all typed nodes of network, loss, optimizer and metrics and reports
 * what is wrong with them. With `unknown`, cells of unknown types
 * are not errors: *unknown is set. */
bool cr_typed_check(struct cr_arena *arena, struct cr_diag *diag,
                    const struct cr_node *root, bool *unknown);

/* True if the type of a typed node takes an argument of that name. */
bool cr_type_has_argument(const char *type, const char *argument);

#endif
