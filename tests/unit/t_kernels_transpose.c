/* Transposing stripes of matrices with random sizes, on each implementation,
 * against a plain loop over bytes. */
#include "kernels/transpose.h"

#include "kernels.h"

#include <string.h>

static enum verdict transposed(void)
{
    struct cr_transpose t = { .rows = draw_one_in(2) ? draw(1, 9) : draw(1, 40),
                              .cols = draw_one_in(2) ? draw(1, 9) : draw(1, 70),
                              .size = draw_one_in(2)
                                          ? 4
                                          : (size_t)1 << draw(0, 3) };
    size_t n = (size_t)(t.rows * t.cols), i;
    unsigned char *x = fence_new(n * t.size), *y = fence_new(n * t.size);
    cr_transpose_stripe *stripe = cr_transpose_kernel(&t);
    int64_t at,
        stripes = (t.cols + CR_TRANSPOSE_STRIPE - 1) / CR_TRANSPOSE_STRIPE;

    setting_is("%lld rows, %lld columns, %d bytes", (long long)t.rows,
               (long long)t.cols, (int)t.size);
    for (i = 0; i < n * t.size; i++)
        x[i] = (unsigned char)draw(0, 255);
    for (at = stripes; at-- > 0;) { /* in any order */
        int64_t from = at * CR_TRANSPOSE_STRIPE;
        int64_t to = from + CR_TRANSPOSE_STRIPE;

        stripe(&t, from, to < t.cols ? to : t.cols, x, y);
    }
    for (i = 0; i < n; i++) {
        size_t row = i / (size_t)t.cols, col = i % (size_t)t.cols;

        if (memcmp(x + i * t.size, y + (col * (size_t)t.rows + row) * t.size,
                   t.size) != 0) {
            printf("# row %d, column %d\n", (int)row, (int)col);
            return WRONG;
        }
    }
    return RIGHT;
}

int main(void)
{
    int i;

    kernels_begin(2000);
    for (i = 0; i < OWN; i++)
        kernel_compare("transposing", i, transposed);
    return done();
}
