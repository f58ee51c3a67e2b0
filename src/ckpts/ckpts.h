/*
 * The subcommands of `cellrun ckpt`: listed in src/ckpts/subcommands.c.
 * src/commands/ckpt.c reads and checks the flags and calls them. What writes
 * checkpoints is in model/ckpt_edit.h.
 *
 * Called by the command ckpt, which finds the subcommand in its table. Knows
 * nothing of steps and of run directories.
 *
 * Includes: base ckpt conf model num train.
 */
#ifndef CR_CKPTS_CKPTS_H
#define CR_CKPTS_CKPTS_H

#include "base/str.h"
#include "ckpt/tensor_file.h"
#include "conf/command_line.h"
#include "model/ckpt_edit.h"

struct cr_ckpts_opts {
    const char *meta, *values;
    double rtol, atol;
    struct cr_ckpt_edit edit;
};

/* A subcommand has one of the four functions. Operands begin after its
 * name. */
struct cr_ckpts_sub {
    const char *name;
    int files; /* number of operands; 0: any number, at least one */
    void (*run)(struct cr_cli *cli, const char *path); /* for each of them */
    int (*run_all)(struct cr_cli *cli);
    bool (*write)(struct cr_cli *cli, const struct cr_ckpt_edit *edit,
                  const char *path);
    bool (*write_all)(struct cr_cli *cli, const struct cr_ckpt_edit *edit,
                      const char *const *paths, int n);
};

extern const struct cr_ckpts_sub cr_ckpts_sub_diff, cr_ckpts_sub_load_report,
    cr_ckpts_sub_ls, cr_ckpts_sub_show, cr_ckpts_sub_verify;

/* Ends with NULL. */
extern const struct cr_ckpts_sub *const cr_ckpts_subs[];

/* ---- For several subcommands */

/* Whether --match, if it is set, matches the name of a tensor. */
bool cr_ckpts_matches(const struct cr_cli *cli, const char *name);

/* "(10, 512)" */
const char *cr_ckpts_shape(struct cr_arena *arena,
                           const struct cr_tensor_info *e);

/* Prints the tensors of a file, or appends them as a JSON list. */
void cr_ckpts_tensors(struct cr_cli *cli, struct cr_tensor_file *file);
void cr_ckpts_tensors_json(struct cr_cli *cli, struct cr_tensor_file *file,
                           struct cr_buf *to);

#endif
