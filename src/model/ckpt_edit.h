/*
 * Commands that write a checkpoint from others: ckpt convert, rename, strip and
 * average, and export.
 */
#ifndef CR_MODEL_CKPT_EDIT_H
#define CR_MODEL_CKPT_EDIT_H

#include "conf/command_line.h"
#include "num/spec.h"

struct cr_model;

struct cr_ckpt_edit {
    const char *out;       /* file to write; its suffix selects the format */
    const char *match;     /* glob of the tensors to convert; NULL: all */
    struct cr_strs rename; /* rules, "PATTERN=REPLACEMENT" */
    int dtype;             /* CR_SAVED_DTYPES */
};

/* Writes the matching tensors of a file, renamed by the rules. The config and
 * state of a run are dropped, except for the optimizer's numbers in MindSpore's
 * format: other formats cannot hold them. False after reporting. */
bool cr_ckpt_convert(struct cr_cli *cli, const struct cr_ckpt_edit *o,
                     const char *path);

/* Writes the weights of a file without optimizer slots and resume state, as
 * checkpoint.weights_only does. False after reporting. */
bool cr_ckpt_strip(struct cr_cli *cli, const struct cr_ckpt_edit *o,
                   const char *path);

/* Writes the weights that eval and predict use, without metadata: for other
 * programs. With `of`, whose network was built, they are those that it loads
 * from the file, under its names; NULL: those of the file's own config. With
 * eval.use_ema the moving averages take the place of the parameters. Floating
 * point is converted to `type` (CR_TYPES: unchanged); `suffix` selects the
 * format. False after reporting. */
bool cr_ckpt_weights(struct cr_cli *cli, const struct cr_ckpt_edit *o,
                     const char *path, const struct cr_model *of,
                     const char *suffix, enum cr_type type);

/* Writes the arithmetic mean of the weights of n >= 1 files, computed in
 * double, with the config of the first (Izmailov et al. 2018, Averaging Weights
 * Leads to Wider Optima and Better Generalization). Tensors that are not of
 * floating point are those of the first file. A file that is named twice counts
 * once. False after reporting. */
bool cr_ckpt_average(struct cr_cli *cli, const struct cr_ckpt_edit *o,
                     const char *const *paths, int n);

#endif
