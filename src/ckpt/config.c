/* The config that a checkpoint holds. */
#include <string.h>

#include "ckpt/json.h"
#include "ckpt/load.h"
#include "ckpt/store.h"
#include "ckpt/vocab.h"

struct cr_config *cr_store_config(struct cr_store *store, struct cr_diag *diag,
                                  const struct cr_config_from *from)
{
    const char *text = cr_store_meta(store, "cellrun.state"), *why;
    struct cr_config_from of = {
        .text = cr_store_meta(store, "cellrun.config"),
        .text_name =
            cr_strf(store->arena, "config in %s", cr_store_path(store)),
        .sets = from->sets,
        .set_args = from->set_args,
    };
    struct cr_config *config;
    size_t at;

    if (!of.text) {
        cr_error(diag, cr_at_file(diag->arena, cr_store_path(store)),
                 CR_E_CKPT_FORMAT, "no config in it; give one");
        return NULL;
    }
    if (text)
        of.text_dir = cr_json_str(
            cr_json_read(store->arena, text, strlen(text), &why, &at),
            "config_dir", NULL);
    config = cr_config_load(store->arena, diag, &of);
    return cr_vocabs_read(config, store) ? config : NULL;
}
