/*
 * Export: writes a checkpoint for other programs.
 *
 * A format is one source file with its row in cr_export_formats (export.c).
 * Formats of weights get a tensor file; formats of the network also get the
 * graph of the network in predict mode, with its weights.
 *
 * export.c opens the checkpoint; tensors.c writes formats of weights, onnx.c
 * and c.c those of the network.
 *
 * Called by the command export. Knows nothing of training, and writes no file
 * but the one it is asked for.
 *
 * Includes: base build ckpt data families graph model.
 */
#ifndef CR_EXPORT_EXPORT_H
#define CR_EXPORT_EXPORT_H

#include "build/inference.h"
#include "ckpt/dtype.h"
#include "model/model.h"

/* The flags of the command. */
struct cr_export_opts {
    int to;      /* CR_EXPORT_TO */
    int dtype;   /* CR_SAVED_DTYPES */
    bool normalize;
    const char *out, *ckpt;
};
/* Choices of --to: auto, the format of the suffix of -o, and the names of the
 * formats. */
#define CR_EXPORT_TO "auto|c|ckpt|npz|onnx|safetensors"

struct cr_export {
    struct cr_cli *cli;
    struct cr_arena *arena;
    struct cr_diag *diag;
    const struct cr_export_opts *o;
    const struct cr_export_format *format;
    enum cr_type dtype; /* of stored weights: CR_F32, CR_F16 or CR_BF16;
                           CR_TYPES: as in the checkpoint, in a network
                           float32 */
    /* Formats of the network: */
    struct cr_model model;            /* config, state, class names */
    const struct cr_inference *graph; /* parameters have their values */
    const char *config_hash; /* SHA-256 of the config, 64 hexadecimal digits */
};

struct cr_export_format {
    const char *name, *suffix; /* "onnx", ".onnx" */
    bool network;              /* ->graph is set before write */
    bool (*write)(struct cr_export *e); /* false after reporting */
};

/* Ends with NULL. */
extern const struct cr_export_format *const cr_export_formats[];

/* Writes the operand of the command line, a checkpoint, run directory, weight
 * file or config with --ckpt, according to the options. False after
 * reporting. */
bool cr_export(struct cr_cli *cli, const struct cr_export_opts *o);
/* Opens the checkpoint and builds the network, without values. False after
 * reporting. */
bool cr_export_inspect(struct cr_export *e);

/* ---- The formats */

extern const struct cr_export_format cr_export_c, cr_export_ckpt,
    cr_export_npz, cr_export_onnx, cr_export_safetensors;

#endif
