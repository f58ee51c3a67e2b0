/* Transposing matrices with random sizes tile by tile, and parts of larger ones
 * as a whole, on each implementation, against a plain loop over bytes. */
#include "kernels/transpose.h"

#include "kernels.h"

#include <string.h>

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Of a whole matrix; the tiles in any order. */
static void by_tiles(const struct cr_transposed *t, const unsigned char *x,
                     unsigned char *y)
{
    cr_transpose_run *run = cr_transpose_kernel(t);
    int64_t rows, cols, down, across, at, row, col;

    cr_transpose_tile(t, &rows, &cols);
    down = (t->rows + rows - 1) / rows;
    across = (t->cols + cols - 1) / cols;
    if (rows * cols > CR_TRANSPOSE_TILE) {
        printf("# a tile of %d x %d\n", (int)rows, (int)cols);
        return;
    }
    for (at = down * across; at-- > 0;) {
        struct cr_transposed part = *t;

        row = at / across * rows;
        col = at % across * cols;
        part.rows = least(t->rows - row, rows);
        part.cols = least(t->cols - col, cols);
        run(&part, x + (size_t)(row * t->x_stride + col) * t->size,
            y + (size_t)(col * t->y_stride + row) * t->size);
    }
}

/* What lies between the rows stays as it is. */
static enum verdict compare(const struct cr_transposed *t,
                            const unsigned char *x, const unsigned char *y,
                            int64_t end)
{
    int64_t at, row, col;
    size_t i;

    for (at = 0; at < end; at++) {
        const unsigned char *want = NULL;

        row = at % t->y_stride;
        col = at / t->y_stride;
        if (row < t->rows)
            want = x + (size_t)(row * t->x_stride + col) * t->size;
        for (i = 0; i < t->size; i++)
            if (y[(size_t)at * t->size + i] != (want ? want[i] : 0xa5)) {
                printf("# row %d, column %d\n", (int)row, (int)col);
                return WRONG;
            }
    }
    return RIGHT;
}

static int64_t draw_side(void)
{
    return draw_one_in(2)   ? draw(1, 9)
           : draw_one_in(3) ? draw(60, 200)
                            : draw(1, 70);
}

static enum verdict transposed(void)
{
    struct cr_transposed t = { .rows = draw_side(),
                              .cols = draw_side(),
                              .size = (size_t)1 << draw(0, 3) };
    bool part = draw_one_in(2);
    int64_t x_end, y_end;
    unsigned char *x, *y;
    size_t i;

    t.x_stride = t.cols + (part ? draw(0, 20) : 0);
    t.y_stride = t.rows + (part ? draw(0, 20) : 0);
    x_end = (t.rows - 1) * t.x_stride + t.cols;
    y_end = (t.cols - 1) * t.y_stride + t.rows;
    x = fence_new((size_t)x_end * t.size);
    y = fence_new((size_t)y_end * t.size);
    setting_is("%lld rows by %lld, %lld columns by %lld, %d bytes",
               (long long)t.rows, (long long)t.x_stride, (long long)t.cols,
               (long long)t.y_stride, (int)t.size);
    for (i = 0; i < (size_t)x_end * t.size; i++)
        x[i] = (unsigned char)draw(0, 255);
    memset(y, 0xa5, (size_t)y_end * t.size);
    if (part)
        cr_transpose_kernel(&t)(&t, x, y);
    else
        by_tiles(&t, x, y);
    return compare(&t, x, y, y_end);
}

int main(void)
{
    int i;

    kernels_begin(2000);
    for (i = 0; i < OWN; i++)
        kernel_compare("transposing", i, transposed);
    return done();
}
