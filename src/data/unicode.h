/*
 * Properties of characters that tokenizers need.
 */
#ifndef CR_DATA_UNICODE_H
#define CR_DATA_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

bool cr_is_punctuation(uint32_t c);     /* category P */
bool cr_is_control(uint32_t c);         /* Cc or Cf */
bool cr_is_space(uint32_t c);           /* Z, tab, LF, FF, CR */
bool cr_is_ideograph(uint32_t c);       /* CJK: each is a word */

#define CR_FOLD_MAX 24

/* Folds case and width and removes marks: NFKC_Casefold, then NFD, then without
 * category Mn (unicode.inc). Returns the number of characters in `to`; 0: none
 * remains. */
int cr_fold(uint32_t c, uint32_t to[CR_FOLD_MAX]);

/* Writes a character in UTF-8; returns its 1 to 4 bytes. */
int cr_put_utf8(uint32_t c, char to[4]);

#endif
