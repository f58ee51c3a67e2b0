/* exp, exp - 1, sigmoid, SiLU and tanh of stretches against the library in
 * double, over floats of all sizes, by every instruction set that the processor
 * has. */
#include "base/cpu.h"
#include "kernels/exp.h"
#include "tap.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define N 211 /* not a multiple of any vector, more than are side by side */
#define EACH 9973

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double silu(double x)
{
    return x / (1 + exp(-x));
}

static const struct map {
    const char *name;
    double (*of)(double x);
    double low, limit; /* smallest result that counts; units of the last */
} maps[] = {
    { "exp", exp, 1.2e-38, 1.1 },
    { "expm1", expm1, 1.2e-38, 2 },
    { "sigmoid", sigmoid, 1.2e-38, 2.5 },
    { "silu", silu, 1.1e-36, 3 },
    { "tanh", tanh, 1.2e-38, 1.5 },
};

static cr_exp_map *map_at(const struct cr_exp_kernel *k, size_t i)
{
    cr_exp_map *of[] = { k->exp, k->expm1, k->sigmoid,
                         k->silu, k->tanh };

    return of[i];
}

/* Distance in units of the last place of a float from what is right. */
static double off(double want, double got)
{
    float near = (float)want;

    if (isnan(want) || isinf(near))
        return (isnan(want) && isnan(got)) || near == (float)got ? 0 : INFINITY;
    return fabs(got - want) /
           ((double)nextafterf(fabsf(near), INFINITY) - fabs((double)near));
}

static void check(const char *isa, const struct map *m, cr_exp_map *of)
{
    cr_real x[N], y[N];
    double worst = 0, at = 0;
    uint32_t bits = 0;
    bool more = true;
    int i;

    while (more) {
        for (i = 0; i < N; i++) {
            float f;

            memcpy(&f, &bits, sizeof f);
            x[i] = (cr_real)f;
            more = more && bits <= UINT32_MAX - EACH;
            bits += EACH;
        }
        of(N, x, y);
        for (i = 0; i < N; i++) {
            double want = m->of((double)x[i]);

            if (!(fabs(want) < m->low) && off(want, (double)y[i]) > worst) {
                worst = off(want, (double)y[i]);
                at = (double)x[i];
            }
        }
    }
    ok(worst < m->limit, "%s: %s is off by %.2f at %g", isa, m->name, worst,
       at);
}

/* Results of n numbers, the first n of x, are the same in place, and alone. */
static bool is_same(cr_exp_map *of, int64_t n, const cr_real *x)
{
    cr_real y[N], z[N];
    int64_t i;

    of(n, x, y);
    memcpy(z, x, sizeof z);
    of(n, z, z);
    if (memcmp(y, z, (size_t)n * sizeof *y) != 0 ||
        memcmp(z + n, x + n, (size_t)(N - n) * sizeof *z) != 0)
        return false;
    for (i = 0; i < n; i++) {
        of(1, x + i, z);
        if (memcmp(z, y + i, sizeof *z) != 0)
            return false;
    }
    return true;
}

static void check_places(const char *isa, const char *name, cr_exp_map *of)
{
    cr_real x[N];
    bool same = true;
    int64_t i;

    for (i = 0; i < N; i++)
        x[i] = (cr_real)(sin((double)i) * 30);
    for (i = 0; i <= N; i++)
        same = same && is_same(of, i, x);
    ok(same, "%s: %s does not depend on the place", isa, name);
}

static cr_real one(cr_exp_map *of, double x)
{
    cr_real v = (cr_real)x;

    of(1, &v, &v);
    return v;
}

static void check_ends(const char *isa, const struct cr_exp_kernel *k)
{
    const double inf = (double)INFINITY;

    ok(one(k->exp, 88.72) < (cr_real)inf && one(k->exp, -103) > 0 &&
           one(k->exp, inf) == (cr_real)inf && one(k->exp, -inf) == 0 &&
           one(k->exp, 0) == 1,
       "%s: exp from 0 over the smallest and largest floats to infinity", isa);
    ok(one(k->expm1, 88.72) < (cr_real)inf && one(k->expm1, -inf) == -1 &&
           one(k->expm1, inf) == (cr_real)inf && one(k->expm1, 0) == 0,
       "%s: exp - 1 at both ends and 0", isa);
    ok(one(k->sigmoid, -inf) == 0 && one(k->sigmoid, inf) == 1 &&
           one(k->sigmoid, 0) == (cr_real)0.5 && one(k->sigmoid, -1e30) == 0,
       "%s: sigmoid at both ends and 0", isa);
    ok(one(k->tanh, -inf) == -1 && one(k->tanh, inf) == 1 &&
           one(k->tanh, 0) == 0,
       "%s: tanh at both ends and 0", isa);
}

int main(void)
{
    enum cr_isa isa;
    size_t i;

    for (isa = CR_ISA_GENERIC; isa <= cr_isa_best(); isa++) {
        const char *name = cr_isa_name(isa);
        const struct cr_exp_kernel *k;

        cr_isa_force(isa);
        k = cr_exp_kernel();
        for (i = 0; i < CR_LEN(maps); i++) {
            check(name, &maps[i], map_at(k, i));
            check_places(name, maps[i].name, map_at(k, i));
            ok(isnan(one(map_at(k, i), NAN)) && isnan(one(map_at(k, i), -NAN)),
               "%s: %s of NaN is NaN", name, maps[i].name);
        }
        check_ends(name, k);
    }
    return done();
}
