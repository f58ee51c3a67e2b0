/* clamp: y = min(max(a, min), max);  da = dy where min <= a <= max.
 * NaN stays NaN. */
#include "families/broadcast.h"

struct clamp {
    double min, max; /* NaN: none */
};

static const struct cr_opt clamp_opts[] = {
    CR_REAL_OPTIONAL(struct clamp, min, -DBL_MAX, DBL_MAX, "Minimum."),
    CR_REAL_OPTIONAL(struct clamp, max, -DBL_MAX, DBL_MAX, "Maximum."),
    { 0 },
};

static struct clamp clamp_bounds(const void *attr)
{
    struct clamp o = *(const struct clamp *)attr;

    o.min = isnan(o.min) ? -INFINITY : o.min;
    o.max = isnan(o.max) ? INFINITY : o.max;
    return o;
}

CR_CLONES static void clamp_real(const void *attr, int64_t n,
                                 const void *const *in, const int64_t *inc,
                                 void *out)
{
    struct clamp o = clamp_bounds(attr);
    cr_real low = (cr_real)o.min, high = (cr_real)o.max, *y = out;
    const cr_real *a = in[0];
    int64_t i;

    (void)inc;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = a[i] < low ? low : a[i];

        y[i] = v > high ? high : v;
    }
}

/* For integers the bounds are rounded inwards. */
static void clamp_whole(const void *attr, int64_t n, const void *const *in,
                        const int64_t *inc, void *out)
{
    struct clamp o = clamp_bounds(attr);
    double low = fmin(fmax(ceil(o.min), INT32_MIN), INT32_MAX);
    double high = fmin(fmax(floor(o.max), INT32_MIN), INT32_MAX);
    const int32_t *a = in[0];
    int32_t *y = out;
    int64_t i;

    (void)inc;
    for (i = 0; i < n; i++)
        y[i] = (int32_t)fmin(fmax(a[i], low), high);
}

CR_CLONES static void clamp_grad(const void *attr, int64_t n, int of,
                                 const void *const *in, const int64_t *inc,
                                 const cr_real *y, const cr_real *dy,
                                 cr_real *d)
{
    struct clamp o = clamp_bounds(attr);
    cr_real low = (cr_real)o.min, high = (cr_real)o.max;
    const cr_real *a = in[0];
    int64_t i;

    (void)of;
    (void)inc;
    (void)y;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real g = dy[i];

        d[i] = ((a[i] < low) | (a[i] > high)) ? 0 : g;
    }
}

CR_BROADCAST(clamp, 1, .real = clamp_real, .integer = clamp_whole,
             .grad = clamp_grad, .cost = 0.5)
CR_BROADCAST_BACKWARD(clamp)

const struct cr_op cr_op_clamp = {
    .about = { .name = "clamp",
               .summary = "Clamps elements between a minimum and a maximum.",
               .opts = clamp_opts,
               .size = sizeof(struct clamp) },
    CR_BROADCAST_OP(clamp, 1, cr_input),
    .saved_for_backward = CR_X(0),
    .bprop = "if min is not None:\n"
             "    dy = where(a < min, 0.0, dy)\n"
             "if max is not None:\n"
             "    dy = where(a > max, 0.0, dy)\n"
             "return dy",
    .backward = clamp_backward,
};
