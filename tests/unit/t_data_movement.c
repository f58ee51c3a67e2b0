/* Moving elements: every order of the axes, near and far apart, against the
 * loop that explains. */
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "families/data_movement.h"
#include "graph/op.h"
#include "tap.h"

extern const struct cr_op cr_op_reorder;

#define ROOM (3 * 530 * 37)

static cr_real from[ROOM], to[ROOM], back[ROOM];

static void check(const int64_t *dim, const int *axis)
{
    struct cr_spec x = CR_SPEC(dim[0], dim[1], dim[2]), y = x;
    int64_t of[3], step[3], i, j, k, n = cr_count(&x), at = 0;
    struct cr_data_move m;
    bool same = true, returned = true, added = true;

    cr_data_move_dense(&x, of);
    for (i = 0; i < 3; i++) {
        y.dim[i] = x.dim[axis[i]];
        step[i] = of[axis[i]];
    }
    cr_data_move_open(&m, &y, step, 0);
    for (i = 0; i < n; i++) {
        from[i] = (cr_real)i;
        to[i] = back[i] = -1;
    }
    cr_data_move_gather(&m, CR_REAL, from, to);
    for (i = 0; i < y.dim[0]; i++)
        for (j = 0; j < y.dim[1]; j++)
            for (k = 0; k < y.dim[2]; k++)
                same =
                    to[at++] == from[i * step[0] + j * step[1] + k * step[2]] &&
                    same;
    cr_data_move_scatter(&m, CR_REAL, to, back);
    for (i = 0; i < n; i++)
        returned = back[i] == from[i] && returned;
    cr_data_move_scatter_add(&m, to, back, true);
    cr_data_move_gather_add(&m, from, to, true);
    for (i = 0; i < n; i++)
        added = back[i] == 2 * from[i] && added;
    for (at = i = 0; i < y.dim[0]; i++)
        for (j = 0; j < y.dim[1]; j++)
            for (k = 0; k < y.dim[2]; k++)
                added = to[at++] ==
                            2 * from[i * step[0] + j * step[1] + k * step[2]] &&
                        added;
    ok(same && returned && added, "%lld x %lld x %lld to %d %d %d",
       (long long)dim[0], (long long)dim[1], (long long)dim[2], axis[0],
       axis[1], axis[2]);
}

/* Images of c channels to channels last and back, of numbers and of two bytes
 * each. */
static void check_reorder(int64_t c, bool two_bytes)
{
    struct cr_spec in[CR_OP_MAX] = { CR_SPEC(2, c, 5, 7) };
    struct cr_spec out[CR_OP_MAX] = { in[0] };
    struct cr_op_ctx s = { .in = in, .out = out, .x = { from }, .y = { to } };
    int64_t n = cr_count(&in[0]), space = 35, i, at;
    bool good = true;

    out[0].layout = CR_CHANNELS_LAST;
    if (two_bytes) {
        s.low = CR_F16;
        s.two_bytes = CR_X(0) | CR_Y(0);
    }
    for (i = 0; i < n; i++)
        if (two_bytes)
            ((uint16_t *)(void *)from)[i] = (uint16_t)i;
        else
            from[i] = (cr_real)i;
    cr_op_reorder.forward(&s);
    for (i = 0; i < n; i++) {
        at = i / (c * space) * c * space + i % space * c + i / space % c;
        good = good && (two_bytes ? ((uint16_t *)(void *)to)[at] == (uint16_t)i
                                  : to[at] == (cr_real)i);
    }
    in[0].layout = CR_CHANNELS_LAST;
    out[0].layout = CR_ROW_MAJOR;
    s.x[0] = to;
    s.y[0] = back;
    cr_op_reorder.forward(&s);
    ok(good && memcmp(back, from, (size_t)n * (two_bytes ? 2 : sizeof *from)) ==
                   0,
       "%lld channels%s", (long long)c, two_bytes ? ", two bytes" : "");
}

int main(void)
{
    int64_t c;

    static const int orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                     { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    static const int64_t dims[][3] = { { 3, 530, 37 },
                                       { 37, 3, 530 },
                                       { 530, 37, 3 },
                                       { 2, 3, 5 },
                                       { 1, 16, 512 } };

    for (size_t d = 0; d < CR_LEN(dims); d++)
        for (size_t o = 0; o < CR_LEN(orders); o++)
            check(dims[d], orders[o]);
    for (c = 2; c <= 40; c++) {
        check_reorder(c, false);
        check_reorder(c, true);
    }
    return done();
}
