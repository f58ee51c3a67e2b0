#include "families/two_bytes.h"

#include "kernels/parallel_for.h"
#include "num/low_precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define STRETCH 256 /* elements that are checked at a time */

/* Aborts unless y are the bits of x. */
static void check_exact(enum cr_type type, int64_t n, const cr_real *x,
                        const uint16_t *y)
{
    cr_real back[STRETCH];
    int64_t i, k, len;

    for (i = 0; i < n; i += len) {
        len = n - i < STRETCH ? n - i : STRETCH;
        cr_widen(type, len, y + i, back);
        for (k = 0; k < len; k++)
            if (!(back[k] == x[i + k] || (isnan(back[k]) && isnan(x[i + k])))) {
                fprintf(stderr, "cellrun: %.9g is no number of type %s\n",
                        (double)x[i + k], cr_type_name(type));
                abort();
            }
    }
}

static void narrow_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;
    const cr_real *x = cr_creals(s->x[0]) + from;
    uint16_t *y = (uint16_t *)s->y[0] + from;

    cr_narrow(s->out[0].type, to - from, x, y);
    if (*(const bool *)s->attr)
        check_exact(s->out[0].type, to - from, x, y);
}

static void narrow_forward(const struct cr_op_ctx *s)
{
    cr_parallel_for(cr_count(&s->in[0]), 0.5, (void *)s, narrow_range);
}

static void widen_range(void *ctx, int64_t from, int64_t to)
{
    const struct cr_op_ctx *s = ctx;

    cr_widen(s->in[0].type, to - from, (const uint16_t *)s->x[0] + from,
             cr_reals(s->y[0]) + from);
}

static void widen_forward(const struct cr_op_ctx *s)
{
    cr_parallel_for(cr_count(&s->in[0]), 0.5, (void *)s, widen_range);
}

const struct cr_op cr_two_bytes_narrow = {
    .about = { .name = "narrow",
               .summary = "The two bytes of each value of low precision." },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .forward = narrow_forward,
};

const struct cr_op cr_two_bytes_widen = {
    .about = { .name = "widen",
               .summary = "The values of low precision in two bytes each." },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .forward = widen_forward,
};
