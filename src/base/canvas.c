#include "base/canvas.h"

#include <stdlib.h>

struct cr_canvas cr_canvas_make(struct cr_arena *arena, int columns, int rows,
                                bool braille)
{
    struct cr_canvas c = { .width = braille ? 2 * columns : columns,
                           .height = braille ? 4 * rows : rows,
                           .braille = braille };

    c.dot = CR_NEWS(arena, unsigned char, c.width * c.height);
    return c;
}

void cr_canvas_line(struct cr_canvas *c, int x0, int y0, int x1, int y1,
                    int curve)
{
    int dx = abs(x1 - x0), dy = abs(y1 - y0), n = dx > dy ? dx : dy;

    for (int k = 0; k <= n; k++) {
        /* rounded to the nearest dot, the same in both directions */
        int x = n ? (2 * (x0 * (n - k) + x1 * k) + n) / (2 * n) : x0;
        int y = n ? (2 * (y0 * (n - k) + y1 * k) + n) / (2 * n) : y0;

        if (x >= 0 && x < c->width && y >= 0 && y < c->height)
            c->dot[y * c->width + x] = (unsigned char)curve;
    }
}

char cr_canvas_mark(int curve)
{
    static const char marks[] = "*+ox#@%&=^svzcHKNTXYZ";

    return marks[(curve - 1) % ((int)sizeof marks - 1)];
}

const char *cr_canvas_color(int curve)
{
    static const char *const escapes[] = {
        "\033[34m", "\033[33m", "\033[32m", "\033[35m",
        "\033[36m", "\033[31m", "\033[94m", "\033[93m",
    };

    return escapes[(curve - 1) % 8];
}

/* The bits of the dots of a braille character (Unicode 28xx); *curve: the
 * largest number among them. */
static unsigned canvas_cell(const struct cr_canvas *c, int row, int x,
                            int *curve)
{
    static const unsigned char bit[4][2] = {
        { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
    };
    unsigned code = 0;

    *curve = 0;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 2; k++) {
            int dot = c->dot[(c->height - 1 - (4 * row + i)) * c->width +
                             2 * x + k];

            code |= dot ? bit[i][k] : 0;
            *curve = dot > *curve ? dot : *curve;
        }
    return code;
}

void cr_canvas_row(struct cr_buf *to, const struct cr_canvas *c, int row)
{
    int columns = c->braille ? c->width / 2 : c->width, blanks = 0, last = 0;

    for (int x = 0; x < columns; x++) {
        int curve = c->dot[c->braille
                               ? 0
                               : (c->height - 1 - row) * c->width + x];
        unsigned code = c->braille ? canvas_cell(c, row, x, &curve) : 0;

        if (curve == 0) {
            blanks++;
            continue;
        }
        cr_buf_f(to, "%*s", blanks, "");
        blanks = 0;
        if (c->color && curve != last)
            cr_buf_str(to, cr_canvas_color(curve));
        last = curve;
        if (c->braille)
            cr_buf_f(to, "\xe2%c%c", (int)(0xa0 + (code >> 6)),
                     (int)(0x80 + (code & 63)));
        else
            cr_buf_char(to, c->marks ? cr_canvas_mark(curve) : '*');
    }
    if (c->color && last)
        cr_buf_str(to, CR_COLOR_END);
}
