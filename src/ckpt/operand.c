#include "ckpt/operand.h"

#include <sys/stat.h>

#include "base/str.h"
#include "ckpt/load.h"

/* A run directory, a safetensors file or its name without the suffix, or
 * MindSpore's file (which has no config, and so is refused with a reason). */
static bool operand_is_ckpt(struct cr_arena *arena, const char *name)
{
    struct stat st;

    if (cr_ends(name, ".safetensors") || cr_ends(name, ".ckpt"))
        return true;
    if (stat(name, &st) == 0)
        return S_ISDIR(st.st_mode);
    return stat(cr_strf(arena, "%s.safetensors", name), &st) == 0;
}

struct cr_config *cr_operand_config(struct cr_cli *cli, struct cr_store **store)
{
    struct cr_config_from from = { .sets = cli->sets,
                                   .set_args = cli->set_args };
    struct cr_config *config;

    *store = NULL;
    if (cli->n_operands == 1 && operand_is_ckpt(cli->arena, cli->operands[0])) {
        *store = cr_store_open(cli->arena, cli->diag, cli->operands[0]);
        config = *store ? cr_store_config(*store, cli->diag, &from) : NULL;
    } else {
        config = cr_cli_config(cli);
    }
    return config && !config->broken ? config : NULL;
}
