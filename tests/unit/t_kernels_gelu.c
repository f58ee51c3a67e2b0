/* GELU and its slope against the library's erf and exp in double, over floats
 * of all sizes, by every instruction set that the processor has. */
#include "base/cpu.h"
#include "kernels/gelu.h"
#include "num/real.h"
#include "tap.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define N 41 /* not a multiple of any vector */

static double normal(double x)
{
    return 0.5 * erfc(-x * sqrt(0.5));
}

static double slope(double x)
{
    return normal(x) +
           (fabs(x) < 40 ? x * exp(-x * x / 2) / sqrt(2 * M_PI) : 0);
}

/* Fills x with floats from *bits on; false at the end of all floats. */
static bool some(uint32_t *bits, cr_real *x)
{
    int i;

    for (i = 0; i < N; i++) {
        float f;

        memcpy(&f, bits, sizeof f);
        x[i] = isfinite(f) ? (cr_real)f : 0;
        if (*bits > UINT32_MAX - 99991)
            return false;
        *bits += 99991;
    }
    return true;
}

static void check_all(const char *isa)
{
    cr_real x[N], y[N], dy[N], d[N];
    double worst = 0, worst_slope = 0;
    uint32_t bits = 0;
    bool ends = true, more = true;
    int i;

    for (i = 0; i < N; i++)
        dy[i] = 1;
    while (more) {
        more = some(&bits, x);
        cr_gelu(N, x, y);
        cr_gelu_grad(N, x, dy, d);
        for (i = 0; i < N; i++) {
            double v = (double)x[i];
            double off = fabs((double)y[i] - v * normal(v));

            worst = fmax(worst, off / fmax(fabs(v), 1e-30));
            worst_slope = fmax(worst_slope, fabs((double)d[i] - slope(v)));
            if (fabs(v) >= 6)
                ends = ends && fabs((double)y[i] - (v > 0 ? v : 0)) < 1e-30;
        }
    }
    ok(worst < 1.5e-7, "%s: gelu is off by %.2g |x|", isa, worst);
    ok(worst_slope < 3e-7, "%s: its slope by %.2g", isa, worst_slope);
    ok(sizeof(cr_real) > sizeof(float) || ends, "far out it is x or 0");
    x[0] = (cr_real)NAN;
    cr_gelu(1, x, y);
    cr_gelu_grad(1, x, dy, d);
    ok(isnan(y[0]) && isnan(d[0]), "NaN stays NaN");
    x[0] = 1;
    cr_gelu(1, x, y);
    x[0] = 1;
    x[1] = x[2] = 0;
    cr_gelu_grad(3, x, x, x);
    ok(fabs((double)x[0] - slope(1)) < 3e-7 && x[1] == 0 && x[2] == 0,
       "the gradient may be written in place");
}

int main(void)
{
    enum cr_isa isa;

    for (isa = CR_ISA_GENERIC; isa <= cr_isa_best(); isa++) {
        cr_isa_force(isa);
        check_all(cr_isa_name(isa));
    }
    return done();
}
