/*
 * Merging of configs; cellrun-config(5), Files and merging, has the rules:
 *
 *   map over map             key by key
 *   scalar, list             replaces
 *   type over the same type  key by key; over another type: replaces
 *   !replace                 replaces any value
 *   key: !delete, ~key       removes
 *   !append, !prepend        before a list: extends the list of the base
 *   train.steps              removes train.epochs of the base, and vice versa
 */
#ifndef CR_CONF_MERGE_H
#define CR_CONF_MERGE_H

#include "conf/node.h"

/* Merges the map `over` into the map `root`, which takes its nodes and then has
 * no tags. False after reporting. */
bool cr_merge(struct cr_arena *arena, struct cr_diag *diag,
              struct cr_node *root, struct cr_node *over);

/* Applies the bytes [from, to) of a source as an assignment: "a.b.0=value" or
 * "~a.b". Types may be omitted from the path. */
bool cr_assign(struct cr_arena *arena, struct cr_diag *diag,
               struct cr_node *root, const struct cr_source *src, size_t from,
               size_t to);

#endif
