/* pow: y = a^b;  da = dy b a^(b - 1), db = dy y ln a
 *
 * A scalar exponent, in particular 2, has its own loop. b = 0 gives 1 and no
 * gradient to a; a = 0 gives none to b >= 0. Integers wrap around; with a
 * negative exponent they give 0, except for 1 and -1. */
#include "families/broadcast.h"

static int32_t pow_of(int32_t a, int32_t b)
{
    uint32_t base = (uint32_t)a, y = 1;

    if (b < 0)
        return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    for (; b > 0; b /= 2) {
        if (b % 2)
            y *= base;
        base *= base;
    }
    return (int32_t)y;
}

CR_LOOP2_AS(CR_CLONES_WIDE, pow_any, cr_real, cr_real, cr_pow(a, b))
CR_LOOP2(pow_two, cr_real, cr_real, (a * a))
CR_LOOP2(pow_half, cr_real, cr_real, cr_sqrt(a))
CR_LOOP2(pow_whole, int32_t, int32_t, pow_of(a, b))
CR_GRAD2_AS(CR_CLONES_WIDE, pow_any_grad, b == 0 ? 0 : g * b * cr_pow(a, b - 1),
            a == 0 && b >= 0 ? 0 : g * cr_pow(a, b) * cr_log(a))
CR_GRAD2(pow_two_grad, g * 2 * a, g * 0)

static void pow_real(const void *attr, int64_t n, const void *const *in,
                     const int64_t *inc, void *y)
{
    cr_real b = *(const cr_real *)in[1];

    (inc[1] == 0 && b == 2              ? pow_two
     : inc[1] == 0 && b == (cr_real)0.5 ? pow_half
                                        : pow_any)(attr, n, in, inc, y);
}

static void pow_grad(const void *attr, int64_t n, int of, const void *const *in,
                     const int64_t *inc, const cr_real *y, const cr_real *dy,
                     cr_real *d)
{
    bool two = of == 0 && inc[1] == 0 && *(const cr_real *)in[1] == 2;

    (two ? pow_two_grad : pow_any_grad)(attr, n, of, in, inc, y, dy, d);
}

static const char *const pow_inputs[] = { "input", "exponent", NULL };

CR_BROADCAST(pow, 2, .real = pow_real, .integer = pow_whole, .grad = pow_grad,
             .cost = 10)
CR_BROADCAST_BACKWARD(pow)

const struct cr_op cr_op_pow = {
    .about = { .name = "pow", .summary = "Elementwise power." },
    CR_BROADCAST_OP(pow, 2, pow_inputs),
    .saved_for_backward = CR_X(0) | CR_X(1),
    .bprop = "g = where(b == 0, 0.0, dy * b * a ** where(b == 0, 1.0, b - 1))\n"
             "positive = a > 0\n"
             "logarithm = log(where(positive, a, 1.0))\n"
             "h = where(positive, dy * y * logarithm, 0.0)\n"
             "return shaped(g, a), shaped(h, b)",
    .backward = pow_backward,
};
