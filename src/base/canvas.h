/*
 * Dots in a terminal: braille characters of two by four dots, or one ASCII
 * character per dot.
 */
#ifndef CR_BASE_CANVAS_H
#define CR_BASE_CANVAS_H

#include "base/str.h"

struct cr_canvas {
    int width, height;  /* dots; for braille multiples of 2 and 4 */
    unsigned char *dot; /* [height][width] from the bottom: 0, or the number
                           of a curve from 1 */
    bool braille;
    bool marks; /* ASCII: each curve has a character of its own */
    bool color; /* ANSI escapes, by the number of the curve */
};

struct cr_canvas cr_canvas_make(struct cr_arena *arena, int columns, int rows,
                                bool braille);
/* A straight line between two dots, clipped to the canvas. */
void cr_canvas_line(struct cr_canvas *canvas, int x0, int y0, int x1, int y1,
                    int curve);
/* Appends a row of characters, from the top, without blanks at its end and
 * without a line feed. */
void cr_canvas_row(struct cr_buf *to, const struct cr_canvas *canvas, int row);
/* The ASCII character of a curve, and the escape that selects its colour. */
char cr_canvas_mark(int curve);
const char *cr_canvas_color(int curve);
#define CR_COLOR_END "\033[0m"

#endif
