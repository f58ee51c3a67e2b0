/*
 * Numbers of float32 as text, in as few digits as give the same number again.
 */
#ifndef CR_BASE_FLOAT_TEXT_H
#define CR_BASE_FLOAT_TEXT_H

#include <stddef.h>

#define CR_FLOAT_TEXT 24 /* bytes that such a text needs, with its NUL */

/* Writes the text and a NUL; returns its length. Large and small numbers have
 * an exponent, as %g writes it; the others are "inf", "-inf" and "nan". */
size_t cr_float_text(char to[CR_FLOAT_TEXT], float value);

#endif
