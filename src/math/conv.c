#include "math/conv.h"

#include "base/thread_pool.h"
#include "math/conv_nchw.h"
#include "math/conv_nhwc.h"
#include "math/im2col.h"

/* One way to compute all three. */
struct way {
    size_t (*scratch)(const struct cr_conv *c);
    size_t (*room)(const struct cr_conv *c);
    void (*forward)(const struct cr_conv *c, const cr_real *x, const cr_real *w,
                    const struct cr_conv_epilogue *end, cr_real *y,
                    void *scratch);
    void (*input)(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                  const struct cr_conv_epilogue *end, cr_real *dx,
                  void *scratch);
    void (*weight)(const struct cr_conv *c, const cr_real *x, const cr_real *dy,
                   cr_real alpha, bool add, cr_real *dw, void *scratch);
};

static size_t im2col_room(const struct cr_conv *c)
{
    (void)c;
    return cr_gemm_thread_scratch();
}

static const struct way im2col = { cr_im2col_scratch, im2col_room,
                                   cr_im2col_forward, cr_im2col_input,
                                   cr_im2col_weight };
static const struct way direct = { cr_conv_nhwc_scratch,
                                   cr_conv_nhwc_thread_scratch,
                                   cr_conv_nhwc_forward, cr_conv_nhwc_input,
                                   cr_conv_nhwc_weight };
static const struct way planar = { cr_conv_nchw_scratch,
                                   cr_conv_nchw_thread_scratch,
                                   cr_conv_nchw_forward, cr_conv_nchw_input,
                                   cr_conv_nchw_weight };

/* Our own kernels where our own kernels compute products: so plain and the
 * libraries can be had for comparison. */
static const struct way *way_of(const struct cr_conv *c)
{
    if (!cr_blas_own())
        return &im2col;
    return cr_conv_nhwc_takes(c)   ? &direct
           : cr_conv_nchw_takes(c) ? &planar
                                   : &im2col;
}

size_t cr_conv_scratch(const struct cr_conv *c)
{
    return way_of(c)->scratch(c);
}

size_t cr_conv_thread_scratch(const struct cr_conv *c)
{
    return way_of(c)->room(c);
}

bool cr_conv_prefers_last(const struct cr_conv *c)
{
    struct cr_conv last = *c;

    last.x = last.y = CR_CHANNELS_LAST;
    return way_of(&last) == &direct &&
           !(way_of(c) == &planar && cr_conv_nchw_wins(c));
}

void cr_conv_forward(const struct cr_conv *c, const cr_real *x,
                     const cr_real *w, const struct cr_conv_epilogue *end,
                     cr_real *y, void *scratch)
{
    way_of(c)->forward(c, x, w, end, y, scratch);
}

void cr_conv_input(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                   const struct cr_conv_epilogue *end, cr_real *dx,
                   void *scratch)
{
    way_of(c)->input(c, dy, w, end, dx, scratch);
}

void cr_conv_weight(const struct cr_conv *c, const cr_real *x,
                    const cr_real *dy, cr_real alpha, bool add, cr_real *dw,
                    void *scratch)
{
    way_of(c)->weight(c, x, dy, alpha, add, dw, scratch);
}

/* ---- the gradient of the bias ---- */

struct sums {
    int64_t n, channels, space;
    const cr_real *dy;
    cr_real alpha, *db;
    bool add;
};

/* Plain: the planes of each channel; eight chains, then one. */
static void sums_part(void *ctx, int task, int n_tasks)
{
    const struct sums *s = ctx;
    int64_t c, i, j, k, to = s->channels * (task + 1) / n_tasks;

    for (c = s->channels * task / n_tasks; c < to; c++) {
        cr_real chain[8] = { 0 }, sum = 0;

        for (i = 0; i < s->n; i++) {
            const cr_real *dy = s->dy + (i * s->channels + c) * s->space;

            for (j = 0; j + 8 <= s->space; j += 8)
                for (k = 0; k < 8; k++)
                    chain[k] += dy[j + k];
            for (; j < s->space; j++)
                chain[0] += dy[j];
        }
        for (k = 0; k < 8; k++)
            sum += chain[k];
        s->db[c] = s->alpha * sum + (s->add ? s->db[c] : 0);
    }
}

void cr_conv_bias(int64_t n, int64_t channels, int64_t space,
                  enum cr_layout layout, const cr_real *dy, cr_real alpha,
                  bool add, cr_real *db)
{
    struct sums s = { n, channels, space, dy, alpha, db, add };

    if (layout == CR_CHANNELS_LAST || space == 1)
        cr_sum_rows(n * space, channels, dy, alpha, add, db);
    else
        cr_parallel_run(sums_part, &s,
                        n * channels * space < 65536 ? 1 : cr_thread_count());
}
