/*
 * Vocabularies: the tokens that the indices in a column stand for.
 *
 * $vocab.COLUMN.size and $data.classes: while a config is resolved, a string
 * that contains one of them calls cr_config_size (conf/config.h), which vocab.c
 * implements. The sections `dataset` and `vocab` are expanded before that.
 *   $data.classes       is cr_dataset.classes of the first of train, eval and
 *                       test that exists, which is opened and closed for it,
 *   $vocab.COLUMN.size  is cr_vocab_of(config, COLUMN)->n.
 * The resolved config contains the numbers, so that the network of a checkpoint
 * is built without the data.
 *
 * All data sets and transforms of a config share its vocabularies. They come
 * from the first of these that has the column:
 *   1. the checkpoint that contained the config (ckpt/vocab.h),
 *   2. the section `vocab`, which counts tokens,
 *   3. the data set, by cr_dataset_type.vocab: from all of the data, not only
 *      from the samples that are trained on.
 * Tokens are not counted if the file of `load` has a vocabulary of the column:
 * its weights belong to its tokens, by their index (cr_vocab_loaded).
 */
#ifndef CR_DATA_VOCAB_H
#define CR_DATA_VOCAB_H

#include "data/dataset.h"

struct cr_vocab {
    const char *column;
    int64_t n;
    /* The token of each index, NUL-terminated UTF-8, all distinct. NULL: index
     * i is the byte i, and n is 256. */
    const char *const *token;
    const char *joint; /* separates the tokens of a text: "" or " " */
    const char *file;  /* of `load` that it comes from; NULL: none */
    const struct cr_vocab *next;
    int64_t *slots;         /* hash table of indices; -1: free */
    uint64_t n_slots;       /* slots, a power of two */
};

/* Creates a vocabulary; the tokens are not copied. NULL if two are equal. */
struct cr_vocab *cr_vocab_make(struct cr_arena *arena, const char *column,
                               int64_t n, const char *const *token,
                               const char *joint);
/* The index of a token; -1: not in the vocabulary. */
int64_t cr_vocab_find(const struct cr_vocab *vocab, const char *token,
                      size_t len);

/* Stores a vocabulary in the config, in place of the column's former one. */
void cr_vocab_keep(struct cr_config *config, struct cr_vocab *vocab);
/* The stored vocabulary of a column; NULL: none yet. */
const struct cr_vocab *cr_vocab_kept(const struct cr_config *config,
                                     const char *column);
/* The vocabulary of a column in the file of the section `load`. *to is NULL
 * without one, or if load.vocab is false. False after reporting. Defined in
 * ckpt/load.c. */
bool cr_vocab_loaded(struct cr_config *config, const char *column,
                     struct cr_vocab **to);
/* Builds the vocabulary of a column of the section `vocab`. NULL after
 * reporting. */
struct cr_vocab *cr_vocab_build(struct cr_config *config, const char *column);
/* The stored vocabulary of a column, or a new one, which is stored. NULL after
 * reporting, at `pos` if none can be made. */
const struct cr_vocab *cr_vocab_of(struct cr_config *config,
                                   const char *column, struct cr_pos pos);

#endif
