/*
 * Plug-ins: cells that a shared object brings, described by cellrun.h.
 *
 * plugin.c opens files and turns their descriptions into descriptors of
 * cells, which stand in the registry after the built-in ones until the
 * process ends: a shared object belongs to the process, whichever config
 * named it. plugin_cell.c builds and runs such a cell.
 *
 * Called when a config names a plug-in. Trusts the code of a shared object, not
 * its description. Knows nothing of plans and of training.
 *
 * Includes: base cellrun.h conf graph kernels num.
 */
#ifndef CR_PLUGIN_PLUGIN_H
#define CR_PLUGIN_PLUGIN_H

#include "cellrun.h"
#include "graph/cell.h"
#include "graph/op.h"

struct cr_config;

/* A cell of a plug-in; the registry knows it by the first member. */
struct cr_plugin_cell {
    struct cr_cell cell;
    struct cr_op op;
    const struct cellrun_cell *of;
    const char *file; /* as messages call the plug-in */
    size_t real_size; /* of its arrays' elements */
    int n_in, n_out, n_params;
    const struct cr_obj *init; /* of each parameter; zeroed: 0 */
    bool statistics;           /* some parameter is one */
};

/* plugin_cell.c: fills .cell.build and .op, when the rest is there. */
void cr_plugin_cell_make(struct cr_plugin_cell *cell);

/* Opens a file and puts its cells into the registry; once if it is named
 * again. False after reporting at pos. */
bool cr_plugin_load(struct cr_diag *diag, struct cr_pos pos, const char *path);

/* The cells of a file that was loaded; ends with NULL. */
const struct cr_plugin_cell *const *cr_plugin_cells(const char *path);

/* What a config's plug-ins are: {"scale.so": "01234..."}, the SHA-256 of each
 * file, for the checkpoint; NULL: none. */
const struct cr_node *cr_plugin_marks(struct cr_config *config);
/* Warns at pos of those whose bytes are others than a checkpoint tells. */
void cr_plugin_compare(struct cr_config *config, const struct cr_node *marks,
                       struct cr_pos pos);
/* Tells each file that the config would open, and opens none. False after
 * reporting one that cannot be read. */
bool cr_plugin_each(struct cr_config *config,
                    void (*each)(void *ctx, const char *path,
                                 const char *sha256),
                    void *ctx);

#endif
