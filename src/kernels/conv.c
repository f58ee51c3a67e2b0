#include "kernels/conv.h"

#include "base/thread_pool.h"
#include "kernels/parallel_for.h"

/* In order of preference. Ours where our own kernels compute products: so plain
 * and the libraries can be had for comparison. */
static const struct cr_kernel *const rows[] = { &cr_conv_grouped.head,
                                                &cr_conv_nhwc_amx.head,
                                                &cr_conv_nhwc_bf16.head,
                                                &cr_conv_pointwise.head,
                                                &cr_conv_winograd.head,
                                                &cr_conv_nhwc.head,
                                                &cr_conv_nchw.head,
                                                &cr_conv_depth.head,
#ifndef CR_DOUBLE
                                                &cr_conv_onednn.head,
#endif
                                                &cr_conv_im2col.head,
                                                NULL };

const struct cr_kernels cr_kernels_conv = { rows };

static const struct cr_conv_kernel *kernel_of(const struct cr_conv *c)
{
    return (const struct cr_conv_kernel *)(const void *)cr_kernel_choose(
        &cr_kernels_conv, c);
}

/* And what it is given. */
static const struct cr_conv_kernel *kernel_for(const struct cr_conv *c,
                                               struct cr_conv *as)
{
    const struct cr_conv_kernel *k = kernel_of(c);

    *as = *c;
    as->in_pairs = k->in_pairs;
    as->in_tiles = k->in_tiles;
    return k;
}

unsigned cr_conv_takes(const struct cr_conv *c)
{
    return kernel_of(c)->takes;
}

bool cr_conv_low_x(const struct cr_conv *c)
{
    return kernel_of(c)->low_x;
}

bool cr_conv_low_dy(const struct cr_conv *c)
{
    return kernel_of(c)->low_dy;
}

bool cr_conv_low_to(const struct cr_conv *c)
{
    return kernel_of(c)->low_to;
}

size_t cr_conv_scratch(const struct cr_conv *c)
{
    struct cr_conv as;

    return kernel_for(c, &as)->scratch(&as);
}

size_t cr_conv_thread_scratch(const struct cr_conv *c)
{
    struct cr_conv as;

    return kernel_for(c, &as)->thread_scratch(&as);
}

bool cr_conv_prefers_last(const struct cr_conv *c)
{
    struct cr_conv last = *c;
    const struct cr_kernel *of_last, *of_plain;

    last.x = last.y = CR_CHANNELS_LAST;
    of_last = &kernel_of(&last)->head;
    of_plain = &kernel_of(c)->head;
    if (of_last == &cr_conv_im2col.head)
        return false;
    if (cr_kernel_prefers(&cr_kernels_conv)) {
        last.bf16 = true; /* its numbers may be */
        return cr_kernel_is_preferred(of_last) ||
               cr_kernel_is_preferred(&kernel_of(&last)->head);
    }
    return cr_kernel_compare(of_plain, of_last, c) <= 0;
}

const char *cr_conv_kernel_name(const struct cr_conv *c)
{
    return kernel_of(c)->head.name;
}

size_t cr_conv_packed(const struct cr_conv *c)
{
    struct cr_conv as;
    const struct cr_conv_kernel *k = kernel_for(c, &as);

    return k->packed ? k->packed(&as) : 0;
}

void cr_conv_pack(const struct cr_conv *c, const cr_real *w, cr_real *packed)
{
    struct cr_conv as;

    kernel_for(c, &as)->pack(&as, w, packed);
}

/* ---- maps of kernels that take none ---- */

struct late_map {
    const struct cr_epilogue *end;
    cr_real *y;
};

static void late_map_range(void *ctx, int64_t from, int64_t to)
{
    const struct late_map *m = ctx;
    const struct cr_epilogue *end = m->end;

    end->map(end->attr, to - from, m->y + from,
             (end->map_to ? end->map_to : m->y) + from);
}

/* What the kernel does of an epilogue. */
static struct cr_epilogue taken(const struct cr_conv_kernel *k,
                                const struct cr_epilogue *end)
{
    struct cr_epilogue e = *end;

    if (!(k->takes & CR_END_MAP)) {
        e.map = NULL;
        e.map_to = NULL;
    }
    return e;
}

/* The rest, of n numbers of y. */
static void finish(const struct cr_epilogue *end, const struct cr_epilogue *did,
                   int64_t n, cr_real *y)
{
    if (end->map && !did->map)
        cr_parallel_for(n, 1, &(struct late_map){ end, y }, late_map_range);
}

static int64_t numbers(int64_t images, int64_t channels, const int64_t size[3])
{
    return images * channels * size[0] * size[1] * size[2];
}

/* ---- all three ---- */

void cr_conv_forward(const struct cr_conv *c, const cr_real *x,
                     const cr_real *w, const cr_real *packed,
                     const struct cr_epilogue *end, cr_real *y, void *scratch)
{
    struct cr_conv as;
    const struct cr_conv_kernel *k = kernel_for(c, &as);
    struct cr_epilogue e = taken(k, end);

    k->forward(&as, x, w, packed, &e, y, scratch);
    finish(end, &e, numbers(c->n, c->co, c->out), y);
}

void cr_conv_input(const struct cr_conv *c, const cr_real *dy, const cr_real *w,
                   const struct cr_epilogue *end, cr_real *dx, void *scratch)
{
    struct cr_conv as;
    const struct cr_conv_kernel *k = kernel_for(c, &as);
    struct cr_epilogue e = taken(k, end);

    k->input(&as, dy, w, &e, dx, scratch);
    finish(end, &e, numbers(c->n, c->ci, c->in), dx);
}

void cr_conv_weight(const struct cr_conv *c, const cr_real *x,
                    const cr_real *dy, cr_real alpha, bool add, cr_real *dw,
                    void *scratch)
{
    struct cr_conv as;

    kernel_for(c, &as)->weight(&as, x, dy, alpha, add, dw, scratch);
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
        cr_sum_rows(n * space, channels, CR_REAL, dy, alpha, add, db);
    else
        cr_parallel_run(sums_part, &s,
                        n * channels * space < 65536 ? 1 : cr_thread_count());
}
