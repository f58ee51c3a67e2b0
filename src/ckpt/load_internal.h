/*
 * One loading of weights by name, between load.c, which does it, and
 * load_report.c, which tells of it.
 */
#ifndef CR_CKPT_LOAD_INTERNAL_H
#define CR_CKPT_LOAD_INTERNAL_H

#include <regex.h>

#include "ckpt/load.h"

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
    const struct cr_tensor_info *entry; /* NULL: the file has none */
};

struct cr_load_source {
    const struct cr_tensor_info *entry;
    const char *name; /* after renaming */
    bool used, read;
};

struct cr_load_rule {
    regex_t regex;
    const char *with;
    int used;
};

struct cr_load_job {
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_tensor_file *file;
    const struct cr_net *net; /* whose parameters the targets are */
    struct cr_load_target *target;
    struct cr_load_source *source, **by_name;
    struct cr_load_rule *rule;
    int n_targets, n_sources, n_rules;
    const char *prefix; /* behind which names were found, and how many */
    int rescued;
};

/* The first prefix under which the file has a missing name, with the number of
 * missing names that it has under it; NULL if there is none. */
const char *cr_load_prefix(const struct cr_load_job *job, int *many);

/* Whether a tensor of the file is no weight but what a run keeps beside them:
 * a slot, a number, state of ours. Nobody expects `load` to take it. */
bool cr_load_is_state(const struct cr_load_job *job, const char *name);

/* One message for all that does not fit; true if all does. With `extra`
 * unused tensors are faults too, with `cure` it tells the lines to add. */
bool cr_load_refuse(struct cr_load_job *job, bool extra, bool cure);
/* The report; `skip` as the config has it, or NULL. */
void cr_load_report_text(const struct cr_load_job *job,
                         const struct cr_node *skip, struct cr_load_report *to);

#endif
