/*
 * The vocabularies of a config in a checkpoint, as `cellrun.vocab`
 * (cellrun-checkpoint(5), VOCABULARIES).
 */
#ifndef CR_CKPT_VOCAB_H
#define CR_CKPT_VOCAB_H

#include "ckpt/checkpoint.h"
#include "data/vocab.h"

/* The vocabularies of the config as JSON in the arena; NULL: none. */
const char *cr_vocabs_json(struct cr_arena *arena,
                           const struct cr_config *config);

/* Stores the vocabularies of the file in the config. False after reporting. */
bool cr_vocabs_read(struct cr_config *config,
                    const struct cr_tensor_file *file);

/* The vocabulary of a column in the file. *to is NULL without one. False after
 * reporting. */
bool cr_vocab_read(struct cr_config *config, const struct cr_tensor_file *file,
                   const char *column, struct cr_vocab **to);

/* Warns of each column that has another vocabulary in the config than in the
 * file: weights from the file belong to its tokens, by their index. Not if
 * reads(ctx, n) says that no loaded weight reads n tokens. */
void cr_vocabs_compare(const struct cr_config *config,
                       const struct cr_tensor_file *file,
                       bool (*reads)(const void *ctx, int64_t n),
                       const void *ctx);

#endif
