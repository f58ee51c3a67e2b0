/*
 * Words of other frameworks and of the field with their names in cellrun, for
 * help and for hints of errors.
 */
#ifndef CR_CONF_TERMS_H
#define CR_CONF_TERMS_H

#include "base/diag.h"
#include "base/str.h"

struct cr_term {
    const char *words; /* "Linear, fc" */
    const char *names; /* "Dense", of keys the path; the best one first */
    const char *text;  /* one sentence or two */
};
extern const struct cr_term cr_terms[]; /* ends with a NULL words */

/* The part of "torch.nn.Linear(3, 4)" that is a name: "Linear". */
const char *cr_term_name(struct cr_arena *arena, const char *word);

/* The first term at or after `from` that has the word in any spelling; NULL if
 * none has. Start with cr_terms. */
const struct cr_term *cr_term_find(const struct cr_term *from,
                                   const char *word);

/* The full path of a key that a word stands for: a term, or the name of a key
 * of a section ("epochs" is train.epochs). NULL if there is none. */
const char *cr_term_key(struct cr_arena *arena, const char *word);

/* Adds to the last message what an unknown word stands for: a name of the
 * list, by its term or else its spelling, or the path of a key. Returns
 * whether there was anything to add. */
bool cr_term_hint(struct cr_diag *diag, const char *word,
                  const char *const *names);

#endif
