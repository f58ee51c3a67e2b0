/*
 * The state of loading weights by name, shared by load.c, which does the
 * loading, and load_report.c, which reports on it.
 */
#ifndef CR_CKPT_LOAD_INTERNAL_H
#define CR_CKPT_LOAD_INTERNAL_H

#include "ckpt/load.h"
#include "ckpt/rename.h"

enum cr_load_status {
    CR_LOAD_MISSING,
    CR_LOAD_DONE,
    CR_LOAD_SKIPPED,
    CR_LOAD_SHAPE,
    CR_LOAD_DTYPE
};

struct cr_load_target {
    struct cr_param *param;
    enum cr_load_status status;
    const struct cr_tensor_info *entry; /* NULL: not found in the file */
};

struct cr_load_source {
    const struct cr_tensor_info *entry;
    const char *name; /* after renaming */
    bool used, read;
};

struct cr_load_job {
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_tensor_file *file;
    const struct cr_net *net; /* whose parameters the targets are */
    struct cr_load_target *target;
    struct cr_load_source *source, **by_name;
    struct cr_rename_rule *rule;
    int n_targets, n_sources, n_rules;
    int torch; /* parameters found under their name in PyTorch, the last: */
    const char *torch_name, *own_name;
    const char *prefix; /* with which `rescued` missing names were found */
    int rescued;
};

/* The first prefix under which the file has a missing name, with the number of
 * missing names that it has under it; NULL if there is none. */
const char *cr_load_prefix(const struct cr_load_job *job, int *many);

/* Whether a tensor of the file is not a weight but other state of a run: an
 * optimizer slot, a counter or state of cellrun, which `load` ignores. */
bool cr_load_is_state(const struct cr_load_job *job, const char *name);

/* The lines to add to `load` that a message shows. */
enum cr_load_fix {
    CR_LOAD_FIX_NONE,
    CR_LOAD_FIX_NAMES, /* a rule of rename */
    CR_LOAD_FIX_ALL    /* or parameters to skip */
};

/* Reports all mismatches in one message; true if there are none. With `extra`
 * unused tensors are errors too. */
bool cr_load_refuse(struct cr_load_job *job, bool extra,
                    enum cr_load_fix fix);
/* Fills the report; `skip` is the config's node, or NULL. */
void cr_load_report_text(const struct cr_load_job *job,
                         const struct cr_config *config,
                         const struct cr_node *skip, struct cr_load_report *to);

#endif
