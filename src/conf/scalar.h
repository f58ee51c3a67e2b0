/*
 * Plain scalars of YAML 1.2: their values, and values as text.
 *
 * Only true, false and null are special, so no, on, yes and ~ are strings; 12
 * 0x1f 0o17 are integers; 1e-3 .5 inf nan are reals.
 */
#ifndef CR_CONF_SCALAR_H
#define CR_CONF_SCALAR_H

#include "base/str.h"
#include "conf/node.h"

/* Sets kind and value of a node from its text, unless it is quoted. False if
 * the number is too large for a double. */
bool cr_scalar_resolve(struct cr_node *node);

/* Appends the scalar in YAML so that it reads as the same value again. With
 * `flow` also inside {} and []. */
void cr_scalar_write(struct cr_buf *buf, const struct cr_node *node, bool flow);

/* Appends a string or key, quoted if it would read as another value. Keys are
 * always strings, so numbers are not quoted there. */
void cr_string_write(struct cr_buf *buf, const char *text, bool flow, bool key);

/* Hints at true or false where the node is a boolean of YAML 1.1 or Python,
 * such as yes or True. */
void cr_scalar_hint_bool(struct cr_diag *diag, const struct cr_node *node);

#endif
