/*
 * What a config may make the program do, by where it came from.
 *
 * A file of the user's, and what the user types, may do everything. A config
 * inside a checkpoint was written by whoever made the checkpoint: unless the
 * user trusts it, the program does nothing that such a config asks for except
 * to compute. The table in trust.c has one row for each action; whoever is
 * about to act on the word of a config asks here first.
 */
#ifndef CR_CONF_TRUST_H
#define CR_CONF_TRUST_H

#include "base/diag.h"

struct cr_config;

/* Where the text of a config came from. */
enum cr_origin_kind {
    CR_FROM_FILE, /* a file of the user's */
    CR_FROM_LINE, /* typed: the command line, CELLRUN_SET */
    CR_FROM_CKPT, /* inside a checkpoint that is not trusted */
    CR_ORIGIN_KINDS
};

enum cr_action {
    CR_OPEN_PLUGIN,
    CR_RUN_COMMAND,
    CR_READ_BASE,
    CR_READ_ENV,
    CR_READ_DATA, /* of a data set or vocabulary */
    CR_READ_FILE, /* weights of `load`, learning rates, initial values */
    CR_WRITE_FOLDER,
    CR_WRITE_FILE, /* of what watch sees */
    CR_ACTIONS
};

/* Whether the action is allowed on `text` at the place `pos`; reports. */
bool cr_config_may(const struct cr_config *config, enum cr_action action,
                   const char *text, struct cr_pos pos);
/* The same for a path of the tree, which knows its own place: the very text
 * of a node, or a path that cr_config_name was given. */
bool cr_config_may_path(const struct cr_config *config, enum cr_action action,
                        const char *path);
/* Whether cr_config_may_path would allow it; does not report. */
bool cr_config_allows(const struct cr_config *config, enum cr_action action,
                      const char *path);
/* Where the node at a place came from. */
enum cr_origin_kind cr_config_kind(const struct cr_config *config,
                                   struct cr_pos pos);
/* Whether some of the config comes from a checkpoint that is not trusted. */
bool cr_config_foreign(const struct cr_config *config);
/* The user has typed this path: it counts as the command line's. */
void cr_config_name(struct cr_config *config, const char *path);

#endif
