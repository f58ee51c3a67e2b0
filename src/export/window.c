#include "export/window.h"

int64_t cr_window_pick(const struct cr_ints *list, int i, int64_t otherwise)
{
    return list->n == 0 ? otherwise : list->v[list->n == 1 ? 0 : i];
}

struct cr_pool_window cr_window_of_pool(const struct cr_pool_opts *a, int i,
                                   int64_t in, int64_t out)
{
    struct cr_pool_window w = { .in = in, .out = out, .dilation = 1 };
    int64_t all;

    if (a->output_size.n > 0) { /* adaptive, with equal windows */
        w.kernel = w.stride = in / out;
        return w;
    }
    w.kernel = cr_window_pick(&a->kernel_size, i, 1);
    w.stride = cr_window_pick(&a->stride, i, 1);
    w.dilation = cr_window_pick(&a->dilation, i, 1);
    if (a->pad_mode == CR_POOL_PAD)
        w.before = w.after = cr_window_pick(&a->padding, i, 0);
    all = (out - 1) * w.stride + w.dilation * (w.kernel - 1) + 1 - in;
    if (a->pad_mode == CR_POOL_SAME && all > 0) {
        w.before = all / 2;
        w.after = all - w.before;
    }
    if (all - w.before > w.after)
        w.beyond = all - w.before - w.after;
    return w;
}
