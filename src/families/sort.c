#include "families/sort.h"

#include "base/thread_pool.h"
#include "kernels/parallel_for.h"

#include <string.h>

#define FEW 16 /* elements that are found without sorting the others */

static bool before(cr_real a, cr_real b, bool falling)
{
    return falling ? a > b || (a != a && b == b) : a < b || (a == a && b != b);
}

/* Merges runs of 1, 2, 4 ... from one array to the other. */
void cr_argsort(const cr_real *x, int64_t pace, int64_t n, bool falling,
                int32_t *index, int32_t *room)
{
    int32_t *from = index, *to = room, *swap;
    int64_t width, low, i, j, k, middle, high;

    for (width = 1; width < n; width *= 2) {
        for (low = 0; low < n; low = high) {
            middle = low + width < n ? low + width : n;
            high = middle + width < n ? middle + width : n;
            for (i = low, j = middle, k = low; k < high; k++)
                if (j < high &&
                    (i == middle ||
                     before(x[from[j] * pace], x[from[i] * pace], falling)))
                    to[k] = from[j++];
                else
                    to[k] = from[i++];
        }
        swap = from;
        from = to;
        to = swap;
    }
    if (from != index)
        memcpy(index, from, (size_t)n * sizeof *index);
}

/* The first k of them, each of which is put before those that it precedes. */
static void first_of(const cr_real *x, int64_t pace, int64_t n, int64_t k,
                     bool falling, int32_t *index)
{
    int64_t c, at;

    for (c = 0; c < n; c++) {
        cr_real v = x[c * pace];

        if (c >= k && !before(v, x[index[k - 1] * pace], falling))
            continue;
        for (at = c < k ? c : k - 1;
             at > 0 && before(v, x[index[at - 1] * pace], falling); at--)
            index[at] = index[at - 1];
        index[at] = (int32_t)c;
    }
}

size_t cr_sort_scratch(int64_t n)
{
    return 2 * (size_t)n * sizeof(int32_t);
}

struct lines {
    const struct cr_op_ctx *s;
    struct cr_axis a, to; /* of the input and of the result */
    bool falling;
};

static void lines_range(void *ctx, int64_t from, int64_t to)
{
    const struct lines *l = ctx;
    int64_t line, c, n = l->a.n;
    int32_t *index = cr_thread_scratch(cr_sort_scratch(n));

    for (line = from; line < to; line++) {
        const cr_real *x =
            (const cr_real *)l->s->x[0] + cr_axis_line(&l->a, line);
        int64_t at = cr_axis_line(&l->to, line);

        if (l->to.n <= FEW) {
            first_of(x, l->a.inner, n, l->to.n, l->falling, index);
        } else {
            for (c = 0; c < n; c++)
                index[c] = (int32_t)c;
            cr_argsort(x, l->a.inner, n, l->falling, index, index + n);
        }
        for (c = 0; c < l->to.n; c++) {
            ((cr_real *)l->s->y[0])[at + c * l->a.inner] =
                x[index[c] * l->a.inner];
            ((int32_t *)l->s->y[1])[at + c * l->a.inner] = index[c];
        }
    }
}

void cr_sort_lines(const struct cr_op_ctx *s, int64_t axis, int64_t k,
                   bool falling)
{
    struct lines l = { .s = s,
                       .a = cr_axis_of(&s->in[0], axis),
                       .falling = falling };

    l.to = l.a;
    l.to.n = k;
    cr_parallel_for_coarse(l.a.outer * l.a.inner, 50 * (double)l.a.n, &l,
                           lines_range);
}

static void back_range(void *ctx, int64_t from, int64_t to)
{
    const struct lines *l = ctx;
    const cr_real *dy = l->s->dy[0];
    const int32_t *index = l->s->y[1];
    int64_t line, c, inner = l->a.inner;

    for (line = from; line < to; line++) {
        cr_real *dx = (cr_real *)l->s->dx[0] + cr_axis_line(&l->a, line);
        int64_t at = cr_axis_line(&l->to, line);

        for (c = 0; c < l->a.n && !l->s->accumulate[0]; c++)
            dx[c * inner] = 0;
        for (c = 0; c < l->to.n; c++)
            dx[index[at + c * inner] * inner] += dy[at + c * inner];
    }
}

void cr_sort_backward(const struct cr_op_ctx *s, int64_t axis, int64_t k)
{
    struct lines l = { .s = s, .a = cr_axis_of(&s->in[0], axis) };

    l.to = l.a;
    l.to.n = k;
    cr_parallel_for(l.a.outer * l.a.inner, 3 * (double)l.a.n, &l, back_range);
}
