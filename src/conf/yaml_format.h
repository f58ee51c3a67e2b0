/*
 * The canonical layout of a config (the command fmt).
 *
 * Two blanks of indentation, lists indented below their key, one space after
 * ':' and ',', double quotes, no two consecutive empty lines, lists and maps
 * in [] and {} only if they fit into 100 columns and have no comments inside,
 * top-level keys in the order of cellrun-config(5). Comments stay at their
 * nodes. The text has the same meaning as before.
 */
#ifndef CR_CONF_YAML_FORMAT_H
#define CR_CONF_YAML_FORMAT_H

#include "base/str.h"

/* The text of a source in canonical layout; NULL after reporting a syntax
 * error. */
const char *cr_yaml_format(struct cr_arena *arena, struct cr_diag *diag,
                           const struct cr_source *src);

#endif
