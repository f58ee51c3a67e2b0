/*
 * The sources of a config, their kinds, and the folders to which their paths
 * are relative: that of the file, or, on the command line, the current one.
 */
#ifndef CR_CONF_SOURCE_DIR_H
#define CR_CONF_SOURCE_DIR_H

#include "conf/trust.h"

struct cr_source_dir {
    const struct cr_source *src;
    const char *dir;
    enum cr_origin_kind kind;
    struct cr_source_dir *next;
};

/* A path relative to another folder than that of the config. It is replaced in
 * the tree when it is found, so that the config in a checkpoint remains valid;
 * code that read it before has the old text. */
struct cr_rebased_path {
    const char *old, *rebased, *absolute;
    struct cr_rebased_path *next;
};

#endif
