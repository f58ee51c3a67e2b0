/*
 * The sources of a config: what kind each is of, and where its relative paths
 * start: in the folder of the file, or, on the command line, in the current
 * one.
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

/* A path that starts in another folder than the config's own is replaced in
 * the tree once it is found, so that the config kept in a checkpoint still
 * finds it. Whoever read it before has the text that was. */
struct cr_rebased_path {
    const char *old, *rebased, *absolute;
    struct cr_rebased_path *next;
};

#endif
