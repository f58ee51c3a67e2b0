/*
 * Max and average pooling with windows of one to three dimensions, of
 * tensors (n, c, spatial) or, with channels last, (n, spatial, c).
 *
 * Threads share the outputs, in backward the samples and channels; each value
 * is computed by one thread, in a fixed order. All kernels give the same
 * numbers, but for the order of the library's sums.
 */
#ifndef CR_KERNELS_POOL_H
#define CR_KERNELS_POOL_H

#include "kernels/kernel.h"
#include "num/spec.h"

/* The windows along one dimension: window o covers in[o * stride - pad_before +
 * k * dilation], k < kernel, as far as it is inside. Adaptive: window o is
 * floor(o in / out) to ceil((o + 1) in / out), exclusive. */
struct cr_window {
    int64_t in, out, kernel, stride, dilation, pad_before, pad_after;
    bool adaptive;
};

struct cr_pool {
    int64_t n, c;
    bool last;
    struct cr_window w[3]; /* missing dimensions first, of size 1 */
    bool count_pad;        /* means: count padding, not the excess of ceil */
    int64_t divisor;       /* means: divisor instead of the count; 0: none */
};

/* One way to compute pooling; the functions below call those of the kernel that
 * is chosen. Private to src/kernels and its tests. */
struct cr_pool_kernel {
    struct cr_kernel head; /* .accepts is given the struct cr_pool */
    /* Bytes that it takes from cr_thread_scratch; NULL: none. */
    size_t (*thread_scratch)(const struct cr_pool *p);
    /* NULL: means only */
    void (*max)(const struct cr_pool *p, const cr_real *x, cr_real *y,
                void *at);
    void (*max_backward)(const struct cr_pool *p, const cr_real *dy,
                         const void *at, const cr_real *y, bool add,
                         cr_real *dx);
    /* The same of tensors in two bytes per number; NULL: it cannot. */
    void (*max_low)(const struct cr_pool *p, enum cr_type type,
                    const uint16_t *x, uint16_t *y, void *at);
    void (*max_backward_low)(const struct cr_pool *p, enum cr_type type,
                             const void *dy, bool dy_low, const void *at,
                             const uint16_t *y, uint16_t *dx);
    /* NULL: maxima only */
    void (*mean)(const struct cr_pool *p, const cr_real *x, cr_real *y);
    void (*mean_backward)(const struct cr_pool *p, const cr_real *dy, bool add,
                          cr_real *dx);
};

/* Windows of any kind. */
extern const struct cr_pool_kernel cr_pool_avx2, cr_pool_portable;
/* 2 x 2 windows side by side, row-major. */
extern const struct cr_pool_kernel cr_max_pool_2x2_avx512, cr_max_pool_2x2_avx2;
/* Channels last, indices of a byte. */
extern const struct cr_pool_kernel cr_max_pool_last_avx512;
/* Windows that oneDNN has. */
extern const struct cr_pool_kernel cr_max_pool_onednn, cr_mean_pool_onednn;

/* Names of the kernels that are chosen. */
const char *cr_pool_max_kernel_name(const struct cr_pool *p);
const char *cr_pool_mean_kernel_name(const struct cr_pool *p);

/* Bytes that maxima and means ask cr_thread_scratch for. */
size_t cr_pool_max_thread_scratch(const struct cr_pool *p);
size_t cr_pool_mean_thread_scratch(const struct cr_pool *p);

/* Number of elements of the largest window, and bytes of an index into it. */
int64_t cr_pool_volume(const struct cr_pool *p);
size_t cr_pool_index(const struct cr_pool *p);

/* Maximum of each window, the first one of equals; a NaN counts as the maximum.
 * at: its index in the window, cr_pool_index bytes each, in the order of y. A
 * window within the padding gives -infinity. */
void cr_pool_max(const struct cr_pool *p, const cr_real *x, cr_real *y,
                 void *at);
/* Converts these indices to h W + w within the channel, in the order of y. */
void cr_pool_places(const struct cr_pool *p, const void *at, int32_t *to);
/* dx = (add ? dx : 0) + dy at the maximum; without windows whose y <= 0, unless
 * y is NULL. */
void cr_pool_max_backward(const struct cr_pool *p, const cr_real *dy,
                          const void *at, const cr_real *y, bool add,
                          cr_real *dx);

/* Both of tensors in two bytes per number of that type, if the kernel can; dy
 * may be float32 (not dy_low) and is rounded then. */
bool cr_pool_max_has_low(const struct cr_pool *p);
void cr_pool_max_low(const struct cr_pool *p, enum cr_type type,
                     const uint16_t *x, uint16_t *y, void *at);
void cr_pool_max_backward_low(const struct cr_pool *p, enum cr_type type,
                              const void *dy, bool dy_low, const void *at,
                              const uint16_t *y, uint16_t *dx);

void cr_pool_mean(const struct cr_pool *p, const cr_real *x, cr_real *y);
void cr_pool_mean_backward(const struct cr_pool *p, const cr_real *dy, bool add,
                           cr_real *dx);

#endif
