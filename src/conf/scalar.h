/*
 * What a plain word of YAML 1.2 means, and how a value is spelt as a word.
 *
 * Ours, not libyaml's: true, false and null only, so that no, on, yes and ~
 * stay strings; 12 0x1f 0o17 are integers; 1e-3 .5 inf nan are reals.
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

/* A string or key; quoted where it would read as something else. Keys are
 * always strings, so a number needs no quotes there. */
void cr_string_write(struct cr_buf *buf, const char *text, bool flow, bool key);

/* A hint where a truth value was expected and a word of YAML 1.1 or Python
 * stands, such as yes or True. */
void cr_scalar_hint_bool(struct cr_diag *diag, const struct cr_node *node);

#endif
