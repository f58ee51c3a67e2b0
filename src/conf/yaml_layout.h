/*
 * A YAML text as it is written: nodes with their style, source text and
 * comments. conf/yaml_format.c prints it again, conf/yaml.c reads its meaning.
 *
 * A comment belongs to the member of a block list or map whose line it ends
 * (trailing), to the next member (before), or to the end of the list or map
 * whose indentation it shares (after).
 */
#ifndef CR_CONF_YAML_LAYOUT_H
#define CR_CONF_YAML_LAYOUT_H

#include "base/str.h"

enum cr_layout_kind {
    CR_LAYOUT_SCALAR,   /* also an alias */
    CR_LAYOUT_BLOCK,    /* a block scalar: | or > */
    CR_LAYOUT_LIST,
    CR_LAYOUT_MAP
};

struct cr_comment {
    const char *text;   /* from '#' to the end of the line, without blanks */
    size_t at;          /* byte in the source */
    int col;            /* from 0 */
    bool trailing;      /* something precedes it on its line */
    bool blank_before;  /* an empty line precedes it */
    struct cr_comment *next;
};

struct cr_layout {
    enum cr_layout_kind kind;
    size_t from, to;            /* bytes in the source, with properties */
    size_t start;               /* of the member: its key or dash */
    int col;                    /* column of start, from 0 */
    const char *props;          /* anchor and tag of a list or map; or NULL */
    const char *text;           /* scalars: as written */
    int indent;                 /* block scalars: of their lines */
    bool brackets;              /* written in [] or {} */
    bool flow;                  /* the same, and without comments inside */
    bool blank_before;          /* an empty line precedes start */
    struct cr_layout *key;      /* in a map */
    struct cr_comment *before, *trailing, *after;
    struct cr_layout *child, *next;
};

struct cr_layout_text {
    struct cr_layout *root;     /* NULL: only comments */
    int n_comments;
    bool has_anchors;           /* or aliases */
};

/* The layout of a text that cr_yaml_read has accepted, whose lines end with \n.
 * False if an unquoted scalar in brackets has empty lines. All nodes live in
 * the arena. */
bool cr_yaml_layout(struct cr_arena *arena, const struct cr_source *src,
                    struct cr_layout_text *to);

#endif
