/*
 * Export of weights without the network: MindSpore's .ckpt, NPZ, safetensors.
 */
#include "export/export.h"

#include <string.h>

#include "model/ckpt_edit.h"

static bool tensors_write(struct cr_export *e)
{
    struct cr_ckpt_edit edit = { .out = e->o->out };
    const char *path = e->o->ckpt;
    bool config = path && e->cli->n_operands > 0;

    if (!path && e->cli->n_operands == 1)
        path = e->cli->operands[0];
    if (!path)
        return cr_error(e->diag, CR_NOWHERE, CR_E_USAGE,
                        "export --to %s: found %d operands, expected one "
                        "checkpoint",
                        e->format->name, e->cli->n_operands);
    if (e->dtype == CR_BF16 && strcmp(e->format->name, "npz") == 0)
        return cr_error(e->diag, CR_NOWHERE, CR_E_USAGE,
                        "--dtype bfloat16: NPZ files cannot hold it");
    if (config && !cr_export_inspect(e))
        return false;
    return cr_ckpt_weights(e->cli, &edit, path, config ? &e->model : NULL,
                           e->format->suffix, e->dtype);
}

const struct cr_export_format cr_export_ckpt = {
    .name = "ckpt", .suffix = ".ckpt", .write = tensors_write
};

const struct cr_export_format cr_export_npz = {
    .name = "npz", .suffix = ".npz", .write = tensors_write
};

const struct cr_export_format cr_export_safetensors = {
    .name = "safetensors", .suffix = ".safetensors", .write = tensors_write
};
