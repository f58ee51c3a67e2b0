/*
 * The windows of a pooling: where they begin, what of them is inside, how their
 * indices are stored. Private to src/kernels.
 */
#ifndef CR_KERNELS_POOL_WINDOW_H
#define CR_KERNELS_POOL_WINDOW_H

#include "base/compiler.h"
#include "kernels/pool.h"

/* One dimension of a window: positions from + k dilation, low <= k < high. */
struct span {
    int64_t from, low, high;
};

CR_INLINE struct span span_of(const struct cr_window *w, int64_t o)
{
    struct span s = { 0 };

    if (w->adaptive) {
        s.from = o * w->in / w->out;
        s.high = ((o + 1) * w->in + w->out - 1) / w->out - s.from;
        return s;
    }
    s.from = o * w->stride - w->pad_before;
    if (w->dilation == 1) {
        s.low = s.from < 0 ? -s.from : 0;
        s.high = w->in - s.from < w->kernel ? w->in - s.from : w->kernel;
        return s;
    }
    s.low = s.from < 0 ? (-s.from + w->dilation - 1) / w->dilation : 0;
    s.high = (w->in - s.from + w->dilation - 1) / w->dilation;
    if (s.high > w->kernel)
        s.high = w->kernel;
    return s;
}

CR_INLINE int64_t widest(const struct cr_window *w)
{
    return w->adaptive ? (w->in + w->out - 1) / w->out + 1 : w->kernel;
}

/* The window of an output: its spans, element 0, and steps between elements. */
struct place {
    struct span s[3];
    int64_t at, step[3];
};

CR_INLINE struct place place_of(const struct cr_pool *p, int64_t od, int64_t oh,
                                int64_t ow)
{
    const struct cr_window *w = p->w;
    struct place a = {
        { span_of(&w[0], od), span_of(&w[1], oh), span_of(&w[2], ow) }, 0, { 0 }
    };

    a.at = (a.s[0].from * w[1].in + a.s[1].from) * w[2].in + a.s[2].from;
    a.step[2] = w[2].adaptive ? 1 : w[2].dilation;
    a.step[1] = (w[1].adaptive ? 1 : w[1].dilation) * w[2].in;
    a.step[0] = (w[0].adaptive ? 1 : w[0].dilation) * w[1].in * w[2].in;
    return a;
}

/* For each element of window a: its place in the plane and its index, of
 * which r has the strides. */
#define EACH_ELEMENT(r, a, i, index)                                          \
    for (int64_t kd_ = (a).s[0].low; kd_ < (a).s[0].high; kd_++)              \
        for (int64_t kh_ = (a).s[1].low; kh_ < (a).s[1].high; kh_++)          \
            for (int64_t kw_ = (a).s[2].low,                                  \
                         i = (a).at + kd_ * (a).step[0] + kh_ * (a).step[1] + \
                             kw_ * (a).step[2],                               \
                         index = kd_ * (r)->khw + kh_ * (r)->kw + kw_;        \
                 kw_ < (a).s[2].high; kw_++, i += (a).step[2], index++)

CR_INLINE int32_t get_index(const void *from, size_t size, int64_t at)
{
    return size == 1   ? ((const uint8_t *)from)[at]
           : size == 2 ? ((const uint16_t *)from)[at]
                       : ((const int32_t *)from)[at];
}

#endif
