/* Element-wise comparison of two arrays: a and b differ if |a - b| > atol +
 * rtol |b|. */
#include "ckpt/checkpoint.h"

#include <inttypes.h>
#include <math.h>

#include "base/str.h"

#define APART_CHUNK 1024

static double tensor_diff_at(double a, double b)
{
    if (isnan(a) && isnan(b))
        return 0;
    if (isnan(a) || isnan(b))
        return INFINITY;
    return a == b ? 0 : fabs(a - b); /* two infinities of one sign are equal */
}

void cr_tensor_diff(const struct cr_spec *spec, const void *a,
                    enum cr_type b_type, const void *b, double rtol,
                    double atol, struct cr_tensor_diff *to)
{
    size_t a_size = cr_type_size(spec->type), b_size = cr_type_size(b_type);
    double x[APART_CHUNK], y[APART_CHUNK];
    int64_t n = cr_count(spec);

    *to = (struct cr_tensor_diff){ .deviation = -1 };
    for (int64_t at = 0; at < n; at += APART_CHUNK) {
        int64_t some = n - at < APART_CHUNK ? n - at : APART_CHUNK;

        cr_convert(spec->type, (const char *)a + (size_t)at * a_size, CR_F64, x,
                   some);
        cr_convert(b_type, (const char *)b + (size_t)at * b_size, CR_F64, y,
                   some);
        for (int64_t i = 0; i < some; i++) {
            double d = tensor_diff_at(x[i], y[i]);
            double tolerance = atol + rtol * fabs(y[i]);

            /* an infinite or NaN reference is equal only to itself */
            to->beyond += d > 0 && (!isfinite(d) || !(d <= tolerance));
            if (d > to->deviation) {
                to->deviation = d;
                to->at = at + i;
                to->a = x[i];
                to->b = y[i];
            }
        }
    }
    if (n == 0)
        to->deviation = 0;
}

const char *cr_tensor_index_text(struct cr_arena *arena,
                                 const struct cr_spec *spec, int64_t at)
{
    struct cr_buf text = { .arena = arena };
    int64_t index[CR_RANK_MAX];

    for (int k = spec->rank - 1; k >= 0; k--) {
        index[k] = at % spec->dim[k];
        at /= spec->dim[k];
    }
    for (int k = 0; k < spec->rank; k++)
        cr_buf_f(&text, "%s%" PRId64, k > 0 ? ", " : "[", index[k]);
    if (spec->rank > 0)
        cr_buf_char(&text, ']');
    return cr_buf_text(&text);
}
