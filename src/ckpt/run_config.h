/*
 * The resolved configs of many runs. Runs of a sweep differ in a few values, so
 * a resolved.yaml is parsed only if it differs from those parsed before in more
 * than plain scalars at the ends of lines.
 */
#ifndef CR_CKPT_RUN_CONFIG_H
#define CR_CKPT_RUN_CONFIG_H

#include "conf/node.h"

/* A parsed resolved.yaml. */
struct cr_run_sheet;

/* A scalar with another value than in the sheet. */
struct cr_run_change {
    int line;                  /* of the sheet, from 0 */
    const struct cr_node *was; /* in the sheet */
    struct cr_node *node;
};

/* The config of a run: that of a sheet with changes. All zero: none. */
struct cr_run_settings {
    struct cr_run_sheet *sheet;
    int n_changes;
    const struct cr_run_change *change; /* by line */
    const struct cr_node *root;         /* NULL: not built yet */
};

/* Reads a resolved.yaml of len bytes, which must end with NUL and live as long
 * as the arena; *sheets is the list of sheets read so far. */
void cr_run_settings_read(struct cr_arena *arena, struct cr_run_sheet **sheets,
                          const char *text, size_t len,
                          struct cr_run_settings *to);

/* The whole config; NULL if it is not valid. */
const struct cr_node *cr_run_settings_root(struct cr_arena *arena,
                                           struct cr_run_settings *settings);

/* The value at a path, as of cr_node_find. */
const struct cr_node *cr_run_settings_find(struct cr_arena *arena,
                                           struct cr_run_settings *settings,
                                           const char *path);

/* The paths, without types, at which configs of the sheets may differ: the
 * number is *n. */
const char *const *cr_run_sheets_differences(struct cr_arena *arena,
                                             const struct cr_run_sheet *sheets,
                                             int *n);

#endif
