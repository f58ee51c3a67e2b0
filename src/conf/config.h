/*
 * Loading of configs: files and arguments become one tree.
 *
 * Later sources override earlier ones: `base` files, files in the order given,
 * CELLRUN_SET, key=value arguments (conf/merge.h has the rules). Then variables
 * and expressions are replaced. The owner of a section reads it with
 * cr_section_read, which fills the struct of the section's descriptor; a
 * section without a descriptor is an error (cr_config_check).
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
    const struct cr_node *vars; /* values of `vars`; NULL: none */
    const struct cr_node *blocks; /* their uses are replaced; NULL: none */
    const char *dir;            /* folder of the first file */
    const char *name;           /* of the first file, without suffix */
    const char *text;           /* of the first file, for config.yaml */
    struct cr_source_dir
        *source_dirs; /* sources and the folders of their paths */
    struct cr_rebased_path **rebased; /* paths found elsewhere than in dir */
    struct cr_named *named;     /* paths that the user has typed */
    bool closed;                /* its plug-ins are not opened */
    bool unknown;               /* cr_config_check found types that they may
                                   define */
    const struct cr_node *plugin_marks; /* {"scale.so": SHA-256}: the only
                                   files opened as plug-ins; NULL: all */
    const char *resume_dir;             /* the run to resume, whose checkpoints
                                   have vocabularies in place of the file of
                                   load; or NULL */
    const struct cr_vocab *vocabs;      /* data/vocab.h */
    const struct cr_vocab *failed_vocabs; /* their errors are reported */
    const struct cr_node *fitted;     /* fitted statistics of transforms, from a
                                   checkpoint: {x.0: [...]}; or NULL */
    struct cr_config_object *objects; /* see cr_config_object */
    struct cr_strs classes;           /* class names, of the training data or
                                   checkpoint; n 0: none */
    bool load_failed;                 /* a file was not read to its end, or a
                              plug-in not loaded */
};

/* An object that modules attach to a config under a name. */
struct cr_config_object {
    const char *name;
    void *self;
    struct cr_config_object *next;
};
/* The pointer stored under the name; NULL at first. */
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
    const char *resume_dir;     /* as in the config */
    bool closed;                /* no plug-in is opened: its cells stay
                                   unknown, and are no errors */
};
struct cr_config *cr_config_load(struct cr_arena *arena, struct cr_diag *diag,
                                 const struct cr_config_from *from);

/* The value of `vocab.COLUMN.size` or `data.classes` in an expression; false
 * after reporting. Defined in data/vocab.c. Called while the config is
 * resolved, after `dataset` and `vocab`. */
bool cr_config_size(struct cr_config *config, const char *name,
                    struct cr_pos pos, int64_t *to);

/* Loads the plug-ins of the section plugin, as soon as it is resolved, so that
 * their cell types are known. False after reporting. Defined in
 * plugin/plugin.c. */
bool cr_config_plugins(struct cr_config *config);

/* Classes of a label column: the weights of `weight: balanced`, NULL after
 * reporting; the index of a class name, -1 if there is none. Defined in
 * data/class_stats.c. */
const double *cr_class_weights(struct cr_config *config, struct cr_pos pos,
                               const char *column, int64_t classes);
int64_t cr_config_class(struct cr_config *config, const char *name);
/* The class names in order; n 0: not known (yet). */
const struct cr_strs *cr_config_classes(struct cr_config *config);

/* A section's descriptor; `owner` modules define them (registry.def). */
struct cr_section {
    struct cr_descriptor about;
    bool raw; /* the owner reads the node itself, as of network */
};

/* Fills `to` by the section's rows, with defaults if it is absent. False after
 * reporting. */
bool cr_section_read(struct cr_config *config, const char *name, void *to);
/* The section's node, NULL when it is absent. */
const struct cr_node *cr_section(const struct cr_config *config,
                                 const char *name);
/* Reports unknown sections and the errors of every section. False if there is
 * any error, including those of loading. */
bool cr_config_check(struct cr_config *config);

/* The resolved config as YAML text; `origin` adds "# file:line" comments,
 * `full` adds defaults from the tables. Reading the text again gives the
 * same tree. */
const char *cr_config_yaml(struct cr_config *config, bool origin, bool full);

/* The existing file or folder of a path of the config: absolute, relative to
 * the file that contains it, or, for data and plug-ins, below a folder of
 * CELLRUN_DATA. NULL if there is none, or if the action is not allowed
 * (cr_config_may_path reports why). A path relative to another folder than that
 * of the config is replaced in the tree by one relative to the config. */
const char *cr_config_path(const struct cr_config *config,
                           enum cr_action action, const char *path);
/* Reports that cr_config_path has not found a data path: at the path itself,
 * which may be in an assignment, or at pos if no node has that string. `what`
 * is "file" or "data set". Returns false. */
bool cr_config_path_missing(const struct cr_config *config, struct cr_pos pos,
                            const char *what, const char *path);

/* Keys that affect no step of a run and so do not count for its ID; a resumed
 * run may change them. NULL-terminated. */
extern const char *const cr_config_free[];
/* Whether a path is one of them or below one of them. */
bool cr_config_is_free(const char *path);
/* 16 hex digits: the hash of the resolved config without cr_config_free. */
const char *cr_config_id(struct cr_config *config);

/* Patterns over names: globs separated by space, a list of them, /regex/;
 * and {match: PATTERNS, of: TYPES}, which also tests the type of the cell. */
struct cr_patterns;
struct cr_patterns *cr_patterns_read(struct cr_config *config,
                                     const struct cr_node *node);
/* The keys match and of in a map with other keys, such as a rule of init; NULL
 * after reporting. */
struct cr_patterns *cr_patterns_beside(struct cr_config *config,
                                       const struct cr_node *node);
/* A name that patterns are matched against. */
struct cr_subject {
    const char *name;
    const char *const *types; /* types for `of`, ends with NULL: of a parameter
                                 those of its cell and of the cells that
                                 contain it; NULL: none */
};
bool cr_patterns_match(const struct cr_patterns *patterns,
                       const struct cr_subject *subject);
/* As written, separated by spaces. */
const char *cr_patterns_text(const struct cr_patterns *patterns);
/* Reports each pattern that matched no subject; `what` names the subjects, as
 * in "matches no parameter". */
bool cr_patterns_used(struct cr_config *config,
                      const struct cr_patterns *patterns,
                      const struct cr_subject *subjects, int n,
                      const char *what);

#endif
