/*
 * Parsing of YAML into nodes.
 *
 * The pos of a scalar is that of its first character. The pos of a block scalar
 * (| and >) is its first content line, even if empty, and the column where its
 * content begins: line k of a literal is at (pos.line + k, pos.col).
 */
#ifndef CR_CONF_YAML_H
#define CR_CONF_YAML_H

#include "conf/node.h"

#define CR_DEPTH_MAX 64               /* of nested lists and maps */
#define CR_NODES_MAX 1000000           /* of a text, aliases expanded */
#define CR_TEXT_MAX ((size_t)4 << 20) /* bytes of a config file */

/* The bytes [from, to) of a source as one node, which may have a tag; an
 * empty text gives a null node. NULL after a syntax error. All other problems
 * are reported too, but return a node with which reading continues. */
struct cr_node *cr_yaml_read(struct cr_arena *arena, struct cr_diag *diag,
                             const struct cr_source *src, size_t from,
                             size_t to);

/* The position of bytes [at, at + len) of a source. */
struct cr_pos cr_pos_at(const struct cr_source *src, size_t at, size_t len);

/* Reports a syntax error of libyaml, given by its texts and byte offsets. */
struct cr_yaml_error {
    const struct cr_source *src;
    size_t from, to;               /* the bytes that were read */
    const char *problem, *context; /* context: NULL for none */
    size_t problem_at, context_at;
};
bool cr_yaml_error(struct cr_diag *diag, const struct cr_yaml_error *error);

/* Reports an unclosed $( in the text at src[at]; shows it with quotes. */
bool cr_yaml_error_unclosed(struct cr_diag *diag, const struct cr_source *src,
                            size_t at);

#endif
