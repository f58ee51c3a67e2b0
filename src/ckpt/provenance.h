/*
 * The configs that the runs of a run directory have stored in checkpoints.
 *
 * A run of the user writes provenance.json to its directory:
 *
 *   stamp    inode and time of the last change of config.yaml there, which a
 *            run writes once
 *   configs  SHA-256 of each config in its checkpoints, together with the other
 *            metadata that the program acts on: the folder of relative paths
 *            and the hashes of plug-ins
 *
 * A checkpoint is the user's own if it is in such a directory and contains one
 * of these configs. Others cannot forge such a directory: the kernel sets the
 * time of change, so config.yaml has another one after it was copied or
 * unpacked, regardless of the archive. Both files must belong to the user, and
 * only the user may have write permission for provenance.json.
 */
#ifndef CR_CKPT_PROVENANCE_H
#define CR_CKPT_PROVENANCE_H

#include "ckpt/json.h"

#define CR_PROVENANCE "provenance.json"
#define CR_PROVENANCE_STAMP "config.yaml"

/* The SHA-256 of a config and of the other metadata that the program acts on,
 * in hexadecimal digits, as stored in provenance.json. */
const char *cr_provenance_hash(struct cr_arena *arena, const char *config,
                               const char *config_dir,
                               const struct cr_node *plugins);

/* Adds a hash to provenance.json of a run directory that has a config.yaml.
 * False after reporting. */
bool cr_provenance_add(struct cr_arena *arena, struct cr_diag *diag,
                       const char *dir, const char *hash);

/* Sets *own: whether a run of this user has written the checkpoint, by its path
 * DIR/ckpt/FILE and its hash. False after reporting. */
bool cr_provenance_own(struct cr_arena *arena, struct cr_diag *diag,
                       const char *ckpt, const char *hash, bool *own);

#endif
