/*
 * The config tree.
 *
 * conf/yaml.c parses text into nodes, conf/merge.c merges files, conf/expand.c
 * replaces $x and $(...), and conf/load.c calls them. The resulting tree has no
 * tags, variables or `base`. Every node keeps the position of its own text for
 * messages, also after merging. Nodes live in the arena of the config.
 */
#ifndef CR_CONF_NODE_H
#define CR_CONF_NODE_H

#include "base/diag.h"

enum cr_node_kind {
    CR_NODE_NULL,
    CR_NODE_BOOL,
    CR_NODE_INT,
    CR_NODE_REAL,
    CR_NODE_STR,
    CR_NODE_LIST,
    CR_NODE_MAP
};

struct cr_node {
    enum cr_node_kind kind;
    struct cr_pos pos;      /* of the value */
    struct cr_pos key_pos;  /* of the key, in a map */
    const char *key;        /* in a map; NULL in a list */
    const char *text;       /* scalars: the text, without quotes */
    bool quoted;            /* quoted or block scalars are strings */
    bool boolean;           /* CR_NODE_BOOL */
    int64_t integer;        /* CR_NODE_INT */
    double real;            /* CR_NODE_INT and CR_NODE_REAL */
    const char *tag;        /* "!replace" ... until merged; else NULL */
    const char *block;      /* "BasicBlock(channels=64), used at f.yaml:3:5":
                               the block of this cell; NULL: none */
    struct cr_node *child;  /* first member of a list or map */
    struct cr_node *next;   /* next member of the same parent */
};

/* Members of a list or map in order: for (CR_EACH(m, node)) ... */
#define CR_EACH(m, node) \
    const struct cr_node *m = (node) ? (node)->child : NULL; m; m = m->next

int cr_node_count(const struct cr_node *node);

/* The member with that key, or at that index; NULL if there is none, or if node
 * is NULL or not a map (not a list). */
struct cr_node *cr_node_get(const struct cr_node *node, const char *key);
struct cr_node *cr_node_at(const struct cr_node *node, int index);

/* The node at a path below node, such as "train.epochs" or
 * "network.dense_relu_sequential.0.Dense"; types may be omitted
 * ("optimizer.learning_rate"). NULL if there is none. */
struct cr_node *cr_node_find(const struct cr_node *node, const char *path);

/* A typed node: `ReLU`, {Dense: ...} or {Dense: ..., when: ...}. Returns the
 * type's name and sets *args to the node of its arguments (NULL: none);
 * returns NULL if the node is not one. Does not report. */
const char *cr_node_type(const struct cr_node *node,
                         const struct cr_node **args);

/* What to say of a map under `cells` that names a cell as a type; NULL: it is
 * another map. */
const char *cr_cells_hint(const struct cr_node *node);
/* "a number", "a list" ... for messages; the text of a scalar is quoted. */
const char *cr_node_what(struct cr_arena *arena, const struct cr_node *node);

/* The node as YAML text in flow style on one line, or as JSON. */
const char *cr_node_flow(struct cr_arena *arena, const struct cr_node *node);
const char *cr_node_json(struct cr_arena *arena, const struct cr_node *node);

struct cr_node *cr_node_copy(struct cr_arena *arena,
                             const struct cr_node *node);

/* Removes the member of that key from a map and returns it, or NULL. */
struct cr_node *cr_node_take(struct cr_node *map, const char *key);

/* Adds the number of nodes to *size, and raises *deepest to their maximum depth
 * if node itself is at `depth`. */
void cr_node_measure(const struct cr_node *node, int depth, int *size,
                     int *deepest);

/* The key of a map that is closest to a word; NULL if none is close. */
const char *cr_node_nearest(struct cr_arena *arena, const struct cr_node *map,
                            const char *word);

#endif
