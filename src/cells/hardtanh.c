/* Hardtanh: y = x between min_val and max_val, else the nearer one;
 * dx = dy inside, half of it at the ends, as MindSpore has it. */
#include "base/attr.h"
#include "net/cell.h"
#include "net/pointwise.h"

struct hardtanh {
    double min_val, max_val;
};

static const struct cr_opt hardtanh_opts[] = {
    CR_REAL_OR(struct hardtanh, min_val, -1, -1e30, 1e30, "The lower end."),
    CR_REAL_OR(struct hardtanh, max_val, 1, -1e30, 1e30, "The upper end."),
    { 0 },
};

static bool hardtanh_check(struct cr_diag *diag, struct cr_pos pos,
                           const void *opts)
{
    const struct hardtanh *o = opts;

    return o->min_val < o->max_val ||
           cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                    "Hardtanh takes a min_val below its max_val");
}

CR_CLONES
static void hardtanh_map(const void *attr, int64_t n, const cr_real *x,
                         cr_real *y)
{
    cr_real low = (cr_real)((const struct hardtanh *)attr)->min_val;
    cr_real high = (cr_real)((const struct hardtanh *)attr)->max_val;
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i];

        y[i] = v < low ? low : v > high ? high : v;
    }
}

static void hardtanh_forward(const struct cr_step *s)
{
    cr_pointwise(s, 0.3, hardtanh_map);
}

CR_CLONES
static void hardtanh_back(const void *attr, int64_t n, const cr_real *x,
                          const cr_real *y, const cr_real *dy, cr_real *d)
{
    cr_real low = (cr_real)((const struct hardtanh *)attr)->min_val;
    cr_real high = (cr_real)((const struct hardtanh *)attr)->max_val;
    int64_t i;

    (void)y;
    CR_SIMD
    for (i = 0; i < n; i++) {
        cr_real v = x[i], g = dy[i];

        d[i] = v > low && v < high      ? g
               : v == low || v == high ? g / 2
                                       : 0;
    }
}

static void hardtanh_backward(const struct cr_step *s)
{
    cr_pointwise_back(s, 0.5, hardtanh_back);
}

static const struct cr_op hardtanh_op = {
    .about = { .name = "hardtanh" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .reads = CR_X(0),
    .layouts = CR_LAYOUT_FLAT,
    .plan = cr_pointwise_plan,
    .forward = hardtanh_forward,
    .backward = hardtanh_backward,
};

static struct cr_val *hardtanh_build(struct cr_build *b,
                                     struct cr_val *const *in)
{
    return CR_EMIT_OP(b, &hardtanh_op, cr_opts(b), in[0]);
}

const struct cr_cell cr_cell_hardtanh = {
    .about = {
        .name = "Hardtanh",
        .summary = "x, cut off at min_val and max_val.",
        .detail = "Any shape.",
        .example = "network: [Flatten, {Dense: [784, 10]}, Hardtanh]\n",
        .opts = hardtanh_opts,
        .size = sizeof(struct hardtanh),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = hardtanh_check,
    .activation = "hardtanh",
    .build = hardtanh_build,
};
