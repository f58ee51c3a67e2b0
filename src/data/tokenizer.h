/*
 * Tokenizers: each splits a text into tokens. In a datapipe a tokenizer is a
 * transform of a text column; the section `vocab` counts tokens with it.
 */
#ifndef CR_DATA_TOKENIZER_H
#define CR_DATA_TOKENIZER_H

#include "data/transform.h"

/* The tokens so far; each is a struct cr_ragged of bytes, in `mem`. */
struct cr_tokens {
    struct cr_arena *mem;
    struct cr_ragged *v;
    int64_t n, cap;
};

/* Appends a copy of the text. */
void cr_tokens_add(struct cr_tokens *tokens, const char *text, size_t len);

struct cr_tokenizer {
    struct cr_descriptor about;
    /* Appends the tokens of a text. False after reporting, without a position:
     * the text is not UTF-8. */
    bool (*split)(const void *opts, struct cr_diag *diag, const char *text,
                  size_t len, struct cr_tokens *to);
};

/* The tokenizer as a transform, whose options are those of the tokenizer. NULL:
 * unknown name. */
const struct cr_transform *cr_tokenizer_op(const char *name);

#endif
