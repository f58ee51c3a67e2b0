/*
 * A sheet of pictures with words under them: what `data show` draws. Pixels
 * are 8-bit RGB, row by row from the top.
 */
#ifndef CR_DATA_CONTACT_SHEET_H
#define CR_DATA_CONTACT_SHEET_H

#include "base/arena.h"

#include <stdint.h>

/* Letters are 5 x 7 in a box of 6 x 9. */
#define CR_LETTER_W 6
#define CR_LETTER_H 9

struct cr_contact_sheet {
    int64_t h, w;
    unsigned char *rgb;
};

/* White; h w 3 must fit (the caller limits the size). */
struct cr_contact_sheet cr_contact_sheet_make(struct cr_arena *arena, int64_t h,
                                              int64_t w);
/* An image (h, w, 3), each pixel as a square of zoom x zoom, with its upper
 * left corner at (top, left). */
void cr_contact_sheet_image(struct cr_contact_sheet *sheet, int64_t top,
                            int64_t left, int64_t h, int64_t w,
                            const unsigned char *rgb, int64_t zoom);
/* The first `most` letters of a text in black; what is not ASCII becomes a
 * box. Nothing is drawn beyond the sheet. */
void cr_contact_sheet_text(struct cr_contact_sheet *sheet, int64_t top,
                           int64_t left, const char *text, int64_t most);

#endif
