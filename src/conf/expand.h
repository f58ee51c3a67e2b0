/*
 * Replacing $x and $(...), resolving `when` and `repeat`, and expanding blocks.
 *
 * $name and $a.b are members of `vars`, or built in. A text that is a single
 * variable takes the type of its value, which may be a list or map; in a longer
 * text the value is inserted as text. $$ is a dollar sign; so is '$' before
 * anything else. The resulting tree has no `vars`.
 *
 * repeat: N next to the type of a list's member is replaced by N such members.
 * when: false next to a type removes it from its list or map, except in the
 * network, where it becomes Identity and keeps its position and name.
 *
 * A block is a cell with parameters, under `blocks`. A use of it, in the
 * network or as the loss, becomes a copy of its body in which the parameters
 * have the values of this use; the resulting tree has no `blocks`. In a block,
 * $name is a parameter first, then a variable.
 *
 * $vocab.COLUMN.size and $data.classes are sizes that come from the data; the
 * sections that describe the data are expanded before a text that uses one.
 */
#ifndef CR_CONF_EXPAND_H
#define CR_CONF_EXPAND_H

#include "conf/node.h"

struct cr_config;

/* The values of built-in variables. */
struct cr_builtins {
    const char *config_dir, *config_name, *runs;
    struct cr_config *config; /* for cr_config_size */
};

/* False after reporting; if a plug-in cannot be loaded, the tree is not
 * changed. */
bool cr_expand(struct cr_arena *arena, struct cr_diag *diag,
               struct cr_node *root, const struct cr_builtins *builtins);

#endif
