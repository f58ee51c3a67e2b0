/*
 * Actions that a config may cause, by its source.
 *
 * Files of the user and the command line may cause any action. A config inside
 * a checkpoint was written by the author of the checkpoint: unless the user
 * trusts it, it may cause computation only. The table in trust.c has one row
 * per action; code that acts on a value of a config checks here first.
 */
#ifndef CR_CONF_TRUST_H
#define CR_CONF_TRUST_H

#include "base/diag.h"

struct cr_config;

/* The source of a config. */
enum cr_origin_kind {
    CR_FROM_FILE, /* a file of the user */
    CR_FROM_LINE, /* the command line or CELLRUN_SET */
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
    CR_WRITE_FILE, /* records of the section watch */
    CR_ACTIONS
};

/* Whether the action is allowed on `text` at `pos`. False after reporting. */
bool cr_config_may(const struct cr_config *config, enum cr_action action,
                   const char *text, struct cr_pos pos);
/* The same for a path that is the text of a node of the tree (the same pointer)
 * or was passed to cr_config_name. */
bool cr_config_may_path(const struct cr_config *config, enum cr_action action,
                        const char *path);
/* Whether cr_config_may_path would allow it; does not report. */
bool cr_config_allows(const struct cr_config *config, enum cr_action action,
                      const char *path);
/* The source of the node at a position. */
enum cr_origin_kind cr_config_kind(const struct cr_config *config,
                                   struct cr_pos pos);
/* Whether any part of the config comes from an untrusted checkpoint. */
bool cr_config_foreign(const struct cr_config *config);
/* Records that the user typed this path: it is trusted like the command
 * line. */
void cr_config_name(struct cr_config *config, const char *path);

#endif
