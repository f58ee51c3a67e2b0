/*
 * What the numbers of a column stand for, and how the data tell the config
 * their sizes.
 *
 * $vocab.COLUMN.size and $data.classes. While a config is resolved, a text
 * that names one of them asks cr_config_size (conf/config.h), which vocab.c
 * answers: the sections `dataset` and `vocab` are expanded by then, and
 *   $data.classes       is cr_dataset.classes of the first data set there is,
 *                       train, eval or test: it is opened and closed again,
 *   $vocab.COLUMN.size  is cr_vocab_of(config, COLUMN)->n.
 * The numbers go into the resolved config, so a checkpoint's config asks no
 * more and its network is built without the data.
 *
 * A config keeps its vocabularies: all its data sets, and the ops over their
 * columns, use the same. A vocabulary comes from, in this order,
 *   1. the checkpoint that the config comes from (ckpt/vocab.h),
 *   2. the section `vocab`, which says how words are counted,
 *   3. the column's own data set, by cr_dataset_type.vocab: from all of the
 *      data, whatever part of them is trained on.
 */
#ifndef CR_DATA_VOCAB_H
#define CR_DATA_VOCAB_H

#include "data/dataset.h"

struct cr_vocab {
    const char *column;
    int64_t n;
    /* What number i stands for, NUL-terminated UTF-8, all different; NULL:
     * the byte i, and n is 256. */
    const char *const *token;
    const char *joint;      /* stands between tokens of a text: "" or " " */
    const struct cr_vocab *next;
    int64_t *slots;         /* numbers by hash, -1: none */
    uint64_t n_slots;       /* slots, a power of two */
};

/* A new one; the texts are not copied. NULL if two are equal. */
struct cr_vocab *cr_vocab_make(struct cr_arena *arena, const char *column,
                               int64_t n, const char *const *token,
                               const char *joint);
/* The number of a token; -1: it has none. */
int64_t cr_vocab_find(const struct cr_vocab *vocab, const char *token,
                      size_t len);

/* The config keeps it instead of any other of that column. */
void cr_vocab_keep(struct cr_config *config, struct cr_vocab *vocab);
/* The one that is kept; NULL: none yet. */
const struct cr_vocab *cr_vocab_kept(const struct cr_config *config,
                                     const char *column);
/* As the section `vocab` says, which has the column. NULL after reporting. */
struct cr_vocab *cr_vocab_build(struct cr_config *config, const char *column);
/* That one, else it is made now, and kept. NULL after reporting, at `pos`
 * where no data tell of that column. */
const struct cr_vocab *cr_vocab_of(struct cr_config *config,
                                   const char *column, struct cr_pos pos);

#endif
