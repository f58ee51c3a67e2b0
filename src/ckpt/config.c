/* What a checkpoint knows of its run: the config, and how far it came. */
#include <string.h>

#include "ckpt/json.h"
#include "ckpt/load.h"
#include "ckpt/store.h"

/* The run's state as a tree; NULL if there is none, or no JSON. */
static const struct cr_node *config_state(struct cr_store *store)
{
    const char *text = cr_store_meta(store, "cellrun.state"), *why;
    size_t at;

    return text ? cr_json_read(store->arena, text, strlen(text), &why, &at)
                : NULL;
}

struct cr_config *cr_store_config(struct cr_store *store, struct cr_diag *diag,
                                  const struct cr_config_from *from)
{
    struct cr_config_from of = {
        .text = cr_store_meta(store, "cellrun.config"),
        .text_name = cr_store_path(store),
        .text_dir = cr_json_str(config_state(store), "config_dir", "."),
    };

    if (!of.text) {
        cr_error(diag, cr_at_file(diag->arena, cr_store_path(store)),
                 CR_E_CKPT_FORMAT, "no config in it; give one");
        return NULL;
    }
    if (from) {
        of.sets = from->sets;
        of.set_args = from->set_args;
    }
    return cr_config_load(store->arena, diag, &of);
}

int64_t cr_store_step(struct cr_store *store)
{
    return cr_json_int(config_state(store), "step", 0);
}
