/*
 * float32 numbers as text, with the fewest digits that give the same number
 * again.
 */
#ifndef CR_BASE_FLOAT_TEXT_H
#define CR_BASE_FLOAT_TEXT_H

#include <stddef.h>

#define CR_FLOAT_TEXT 24 /* maximum size of the text, with its NUL */

/* Writes the text and a NUL; returns its length. Large and small numbers have
 * an exponent, as %g writes it; the others are "inf", "-inf" and "nan". */
size_t cr_float_text(char to[CR_FLOAT_TEXT], float value);

#endif
