/*
 * A contact sheet: images with captions, for `data show` and predict --wrong.
 * Pixels are 8-bit RGB, row by row from the top.
 */
#ifndef CR_DATA_CONTACT_SHEET_H
#define CR_DATA_CONTACT_SHEET_H

#include "base/arena.h"

#include <stdint.h>

/* A glyph has 5 x 7 pixels in a cell of 6 x 9. */
#define CR_LETTER_W 6
#define CR_LETTER_H 9

struct cr_contact_sheet {
    int64_t h, w;
    unsigned char *rgb;
};

/* A white sheet. The caller makes sure that h * w * 3 does not overflow. */
struct cr_contact_sheet cr_contact_sheet_make(struct cr_arena *arena, int64_t h,
                                              int64_t w);
/* Draws an image (h, w, 3) with its upper left corner at (top, left), each
 * pixel as a square of zoom x zoom pixels. */
void cr_contact_sheet_image(struct cr_contact_sheet *sheet, int64_t top,
                            int64_t left, int64_t h, int64_t w,
                            const unsigned char *rgb, int64_t zoom);
/* Draws the first `most` characters of a text in black; other characters than
 * ASCII become boxes. Clipped to the sheet. */
void cr_contact_sheet_text(struct cr_contact_sheet *sheet, int64_t top,
                           int64_t left, const char *text, int64_t most);

#endif
