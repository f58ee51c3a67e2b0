/*
 * Replacing $x and $(...), resolving `when` and `repeat`, and expanding blocks.
 *
 * $name and $a.b are members of `vars`, or built in; a text that is nothing
 * but one of them takes the value's type (a list or map too), in a longer
 * text it is put in as text; $$ is a dollar. A '$' before anything else is
 * itself. Afterwards the tree has no `vars`.
 *
 * repeat: N beside the type of a list's member stands for N such members.
 * when: false beside a type removes it from its list or map, except in the
 * network, where it becomes Identity and keeps its place and name.
 *
 * A block is a cell with parameters, under `blocks`. A use of it, in the
 * network or as the loss, becomes a copy of its body in which the
 * parameters stand for the values of this use; afterwards the tree has no
 * `blocks`. Inside, $name is a parameter first, then a variable.
 *
 * $vocab.COLUMN.size and $data.classes are sizes that the data tell: where a
 * text asks for one, the sections that say what the data are come first.
 */
#ifndef CR_CONF_EXPAND_H
#define CR_CONF_EXPAND_H

#include "conf/node.h"

struct cr_config;

/* What the names that are built in stand for. */
struct cr_builtins {
    const char *config_dir, *config_name, *runs;
    struct cr_config *config; /* whom cr_config_size is asked for */
};

/* False after reporting; where a plug-in could not be loaded, the tree is as
 * it was before all that. */
bool cr_expand(struct cr_arena *arena, struct cr_diag *diag,
               struct cr_node *root, const struct cr_builtins *builtins);

#endif
