#include "train/restore.h"

#include <string.h>

#include "base/str.h"

static bool restore_one(struct cr_store *store, struct cr_diag *diag,
                        const char *name, const struct cr_spec *spec,
                        cr_real *to)
{
    const struct cr_entry *entry = cr_store_find(store, name);
    struct cr_pos at = cr_at_file(diag->arena, cr_store_path(store));
    struct cr_spec have;

    if (!entry)
        return cr_error(diag, at, CR_E_CKPT_MISMATCH,
                        "the checkpoint has no tensor '%s' %s", name,
                        cr_show(diag->arena, spec));
    have = entry->spec;
    have.type = spec->type;
    if (!entry->readable || !cr_spec_same(&have, spec))
        return cr_error(diag, at, CR_E_CKPT_MISMATCH,
                        "tensor '%s' is %s in the checkpoint, %s in the "
                        "network", name, cr_show(diag->arena, &entry->spec),
                        cr_show(diag->arena, spec));
    return cr_store_read(store, diag, entry, CR_REAL, to);
}

/* A tensor of the file that is no parameter: a slot is, where none is asked
 * for, the name of a parameter behind the name of the slot. */
static bool restore_known(const struct cr_net *net, const char *name,
                          bool slots)
{
    const char *dot;
    int n;
    const struct cr_tensor *slot;

    if (cr_net_param(net, name) || cr_starts(name, "cellrun."))
        return true;
    if (!slots) {
        dot = strchr(name, '.');
        return dot && cr_net_param(net, dot + 1);
    }
    slot = cr_net_slots(net, &n);
    for (int i = 0; i < n; i++)
        if (strcmp(slot[i].name, name) == 0)
            return true;
    return false;
}

bool cr_net_restore(struct cr_net *net, struct cr_store *store,
                    struct cr_diag *diag, bool slots)
{
    const struct cr_param *params;
    const struct cr_entry *entries;
    const struct cr_tensor *slot;
    bool ok = true;
    int n;

    params = cr_net_params(net, &n);
    for (int i = 0; i < n; i++)
        ok = restore_one(store, diag, params[i].name, &params[i].spec,
                         params[i].data) && ok;
    if (slots) {
        slot = cr_net_slots(net, &n);
        for (int i = 0; i < n; i++)
            ok = restore_one(store, diag, slot[i].name, &slot[i].spec,
                             slot[i].data) && ok;
    }
    entries = cr_store_entries(store, &n);
    for (int i = 0; i < n; i++)
        if (!restore_known(net, entries[i].name, slots))
            ok = cr_error(diag,
                          cr_at_file(diag->arena, cr_store_path(store)),
                          CR_E_CKPT_MISMATCH,
                          "the network has no parameter '%s'",
                          entries[i].name);
    return ok;
}
