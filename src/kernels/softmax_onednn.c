/*
 * Softmax of lines by oneDNN 2, a few lines at a time. It passes over NaN, so
 * lines that hold NaN or an infinity are left to the portable row. Not its
 * gradients, which without AVX-512 are plain loops, and not the logarithm:
 * that of a sum next to 1 is wrong by 1e-6.
 */
#include "kernels/softmax.h"

#ifndef CR_DOUBLE

#include "base/thread_pool.h"
#include "kernels/onednn.h"

#define LINES 16 /* at a time */

struct key {
    int64_t lines, n;
};

struct soft_primitive {
    dnn_md x;
    struct cr_onednn_primitive forward;
};

static bool primitive_make(const void *key, void *value)
{
    const struct key *k = key;
    const struct cr_onednn *dnnl = cr_onednn();
    struct soft_primitive *p = value;
    dnn_desc d;

    return cr_onednn_plain(k->lines, k->n, &p->x) &&
           dnnl->softmax_forward(&d, DNN_FORWARD, &p->x, 1) == 0 &&
           cr_onednn_make(&p->forward, &d, NULL);
}

static struct cr_onednn_cache cache = {
    .key = sizeof(struct key),
    .value = sizeof(struct soft_primitive),
    .make = primitive_make,
};

static const struct soft_primitive *primitive_of(int64_t lines, int64_t n)
{
    struct key k = { lines, n };

    return cr_onednn_cached(&cache, &k);
}

static bool accepts(const void *what)
{
    const struct cr_softmax_rows *r = what;

    return r && !r->logarithm && primitive_of(LINES, r->n) &&
           primitive_of(1, r->n);
}

static void rows(int64_t lines, int64_t n, const cr_real *x, cr_real *y,
                 bool logarithm)
{
    const struct soft_primitive *many = primitive_of(LINES, n);
    const struct soft_primitive *one = primitive_of(1, n);
    int64_t i, k;

    for (i = 0; i < lines; i += k, x += k * n, y += k * n) {
        const struct soft_primitive *p = lines - i < LINES ? one : many;
        const struct cr_onednn_arg of[] = { { DNN_SRC, &p->x, x },
                                            { DNN_DST, &p->x, y } };

        k = p == one ? 1 : LINES;
        if (cr_onednn_finite(k * n, x))
            cr_onednn_run(&p->forward, of, 2,
                          cr_thread_scratch(p->forward.scratchpad_bytes));
        else
            cr_softmax_portable.rows(k, n, x, y, logarithm);
    }
}

const struct cr_softmax_kernel cr_softmax_onednn = {
    .head = { .name = "softmax_onednn", .blas = "onednn", .accepts = accepts },
    .rows = rows,
};

#endif
