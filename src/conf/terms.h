/*
 * Terms of other frameworks and of the field with their names in cellrun, for
 * help and for the hints of errors.
 */
#ifndef CR_CONF_TERMS_H
#define CR_CONF_TERMS_H

#include "base/diag.h"
#include "base/str.h"

struct cr_term {
    const char *words; /* "Linear, fc" */
    const char *names; /* "Dense", of keys the full path; the best name first */
    const char *text;  /* one sentence or two */
};
extern const struct cr_term cr_terms[]; /* ends with a NULL words */

/* The name in a word such as "torch.nn.Linear(3, 4)": "Linear". */
const char *cr_term_name(struct cr_arena *arena, const char *word);

/* The first term at or after `from` that has the word, ignoring case and
 * separators; NULL if there is none. Start with cr_terms. */
const struct cr_term *cr_term_find(const struct cr_term *from,
                                   const char *word);

/* The full path of a key for a word: by the terms, or as the name of a key of a
 * section ("epochs" is train.epochs). NULL if there is none. */
const char *cr_term_key(struct cr_arena *arena, const char *word);

/* Adds a suggestion for an unknown word to the last message: a name of the
 * list, by the terms or by spelling. False if there is none. */
bool cr_term_hint_name(struct cr_diag *diag, const char *word,
                       const char *const *names);
/* The same, or else the path of a key, or the sentence of the word's term. */
bool cr_term_hint(struct cr_diag *diag, const char *word,
                  const char *const *names);

/* The subcommand of the list that the word may stand for, such as ls for list,
 * or the closest one by spelling; NULL if there is none. */
const char *cr_term_subcommand(const char *word, const char *const *names);
/* The same for the long name of a flag, such as to for format. */
const char *cr_term_flag(const char *word, const char *const *names);
/* The value of the list that the word may stand for, such as float16 for fp16,
 * or the closest one by spelling; NULL if there is none. */
const char *cr_term_value(const char *word, const char *const *names);

#endif
