/*
 * Which configs a run directory's own runs have put into its checkpoints.
 *
 * A run of the user's leaves provenance.json in its directory:
 *
 *   stamp    inode and time of the last change of config.yaml there, which a
 *            run writes once
 *   configs  SHA-256 of each config that its checkpoints carry, together with
 *            all else in them that the program would act on: the folder of
 *            relative paths and the hashes of plug-ins
 *
 * A checkpoint is the user's own if it lies in such a directory and carries
 * one of these configs. Nobody else can make such a directory: the kernel
 * sets the time of change, so that config.yaml has another one after it was
 * copied or unpacked, whatever an archive says. Both files must be the user's,
 * and provenance.json one that nobody else may write to.
 */
#ifndef CR_CKPT_PROVENANCE_H
#define CR_CKPT_PROVENANCE_H

#include "ckpt/json.h"

#define CR_PROVENANCE "provenance.json"
#define CR_PROVENANCE_STAMP "config.yaml"

/* The SHA-256 of a config and of what else a checkpoint makes the program act
 * on, in hex digits, as provenance.json stores it. */
const char *cr_provenance_hash(struct cr_arena *arena, const char *config,
                               const char *config_dir,
                               const struct cr_node *plugins);

/* Adds a hash to those of a run directory, which has a config.yaml. False
 * after reporting. */
bool cr_provenance_add(struct cr_arena *arena, struct cr_diag *diag,
                       const char *dir, const char *hash);

/* Whether a run of this user's has made the checkpoint: a path
 * DIR/ckpt/FILE, and the hash of what it carries. */
bool cr_provenance_own(struct cr_arena *arena, const char *ckpt,
                       const char *hash);

#endif
