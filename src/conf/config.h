/*
 * A config, from files and arguments to a plain tree.
 *
 * Order, later over earlier: `base` files, files in the order given,
 * CELLRUN_SET, key=value arguments (conf/merge.c has the rules). Then
 * variables and expressions are replaced. The sections are read by those who
 * own them: cr_section_read fills the struct of a section's descriptor, and
 * a section that no descriptor names is an error (cr_config_check).
 */
#ifndef CR_CONF_CONFIG_H
#define CR_CONF_CONFIG_H

#include "conf/opt.h"
#include "conf/trust.h"

struct cr_vocab;

struct cr_config {
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_node *root;       /* resolved; a map */
    const char *dir;            /* of the first file: relative paths start */
    const char *name;           /* of the first file, without suffix */
    const char *text;           /* as given (first file), for config.yaml */
    struct cr_source_dir
        *source_dirs; /* sources and the folders of their paths */
    struct cr_rebased_path **rebased; /* paths found elsewhere than in dir */
    struct cr_named *named;     /* paths that the user has typed */
    bool closed;                /* its plug-ins stay closed, */
    bool unknown;               /* and cr_config_check met types that may be
                                   theirs */
    const struct cr_node *plugin_marks; /* {"scale.so": SHA-256}: no other
                                   files are opened as plug-ins; or NULL */
    const struct cr_vocab *vocabs; /* what its data mean: data/vocab.h */
    const struct cr_node *fitted; /* numbers that a checkpoint keeps for the ops
                                   of the datapipe: {x.0: [...]}; or NULL */
    struct cr_config_object *objects; /* what its users share (below) */
    struct cr_strs classes;     /* names of the label's classes, of the
                                   training data or checkpoint; n 0: none */
    bool load_failed;           /* a file could not be read to its end, or a
                              plug-in not loaded */
};

/* Things that were made for a config and that others find by name. */
struct cr_config_object {
    const char *name;
    void *self;
    struct cr_config_object *next;
};
/* The thing's place; it holds NULL at first. */
void **cr_config_object(struct cr_config *config, const char *name);

/* Reads files ("-" is standard input) and assignments ("a.b=1", "~key").
 * Reports all problems of all files. `text`, when not NULL, is read instead
 * of files (the config kept in a checkpoint; `name` is then its name). */
struct cr_config_from {
    const char *const *files;   /* NULL-terminated; or NULL */
    const char *const *sets;    /* NULL-terminated; or NULL */
    const int *set_args;        /* argument numbers of sets, for messages */
    const char *text, *text_name, *text_dir;
    enum cr_origin_kind text_kind;
    const struct cr_node *plugin_marks; /* as in the config */
    bool closed;                /* no plug-in is opened: its cells stay
                                   unknown, and are no errors */
};
struct cr_config *cr_config_load(struct cr_arena *arena, struct cr_diag *diag,
                                 const struct cr_config_from *from);

/* What `vocab.COLUMN.size` or `data.classes` stands for in an expression;
 * false after reporting. Defined in data/vocab.c: the data tell, of which
 * nothing is known here. Asked while the config is resolved, when `dataset`
 * and `vocab` are, but not yet the sections that ask. */
bool cr_config_size(struct cr_config *config, const char *name,
                    struct cr_pos pos, int64_t *to);

/* Loads what the section plugin names, so that the types of its cells are
 * known: as soon as that section is resolved. False after reporting. Defined
 * in net/plugin.c, since what a plug-in brings is nothing of ours. */
bool cr_config_plugins(struct cr_config *config);

/* Of the classes of a column of labels: what `weight: balanced` stands for,
 * NULL after reporting; the number of a name, -1: no class has it. Defined in
 * data/class_stats.c. */
const double *cr_class_weights(struct cr_config *config, struct cr_pos pos,
                               const char *column, int64_t classes);
int64_t cr_config_class(struct cr_config *config, const char *name);
/* All of them, in order; n 0: none is known (yet). */
const struct cr_strs *cr_config_classes(struct cr_config *config);

/* A section's descriptor; `owner` modules define them (registry.def). */
struct cr_section {
    struct cr_descriptor about;
    bool raw;                   /* the owner reads the node itself: network */
};

/* Fills `to` from the section's rows, with defaults when it is absent. */
bool cr_section_read(struct cr_config *config, const char *name, void *to);
/* The section's node, NULL when it is absent. */
const struct cr_node *cr_section(const struct cr_config *config,
                                 const char *name);
/* Reports every unknown key at the top, and every section's own problems.
 * False if there is any error, those of loading among them. */
bool cr_config_check(struct cr_config *config);

/* The resolved config as YAML text; `origin` adds "# file:line" comments,
 * `full` adds defaults from the tables. Reading the text again gives the
 * same tree. */
const char *cr_config_yaml(struct cr_config *config, bool origin, bool full);

/* An existing file or folder for a path of the config: absolute, relative to
 * the file that holds it, and for data and plug-ins also below each folder of
 * CELLRUN_DATA. NULL if there is none, or if the action is not allowed
 * (cr_config_may_path says why). A path that starts in another folder than the
 * config is replaced in the tree by one that is right from the config's
 * folder. */
const char *cr_config_path(const struct cr_config *config,
                           enum cr_action action, const char *path);

/* 16 hex digits: the hash of the resolved config without run, log,
 * checkpoint, train.epochs, train.steps and train.time_limit. */
const char *cr_config_id(struct cr_config *config);

/* Patterns over names: globs separated by space, a list of them, /regex/;
 * and {match: PATTERNS, of: TYPES}, which asks for the type of the cell too. */
struct cr_patterns;
struct cr_patterns *cr_patterns_read(struct cr_config *config,
                                     const struct cr_node *node);
/* The keys match and of of a map that has others as well, a rule of init;
 * NULL after reporting. */
struct cr_patterns *cr_patterns_beside(struct cr_config *config,
                                       const struct cr_node *node);
/* What a pattern is asked about. */
struct cr_subject {
    const char *name;
    const char *const *types; /* those it may be `of`, ends with NULL; of a
                                 parameter its cell's and those of all cells
                                 around it; NULL: none */
};
bool cr_patterns_match(const struct cr_patterns *patterns,
                       const struct cr_subject *subject);
/* As written, separated by spaces. */
const char *cr_patterns_text(const struct cr_patterns *patterns);
/* Reports each single pattern that matched none of the subjects; what: what
 * they are, as in "matches no parameter". */
bool cr_patterns_used(struct cr_config *config,
                      const struct cr_patterns *patterns,
                      const struct cr_subject *subjects, int n,
                      const char *what);

#endif
