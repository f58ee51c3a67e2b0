/*
 * The vocabularies of a config in a checkpoint, as `cellrun.vocab` (the head
 * of checkpoint.c has the format): what text a network's numbers stand for is
 * part of the network.
 */
#ifndef CR_CKPT_VOCAB_H
#define CR_CKPT_VOCAB_H

#include "ckpt/checkpoint.h"
#include "data/vocab.h"

/* Those that the config keeps, as JSON in the arena; NULL: none. */
const char *cr_vocabs_json(struct cr_arena *arena,
                           const struct cr_config *config);

/* The config keeps those of the file from now on. False after reporting. */
bool cr_vocabs_read(struct cr_config *config,
                    const struct cr_tensor_file *file);

#endif
