/* Low precision in vectors of 16 bytes: the bits of cr_round_to_type, cr_narrow
 * and cr_widen, for numbers of all signs and exponents, next to ties,
 * subnormal, infinite and NaN. */
#include "kernels/simd_portable.h"

#include "tap.h"

#include <string.h>

static cr_real number(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return (cr_real)x;
}

static void rounds(const char *name, enum cr_type type)
{
    static const uint32_t low[] = { 0,      1,      0x0fff, 0x1000,
                                    0x1001, 0x7fff, 0x8000, 0x8001 };
    cr_real x[LANES], want[LANES], got[LANES];
    uint16_t low_want[LANES], low_got[LANES];
    uint32_t high;
    int i, k, bad = 0;

    for (high = 0; high < 0x10000; high++)
        for (i = 0; i < 8; i += LANES) {
            for (k = 0; k < LANES; k++)
                x[k] = number(high << 16 | low[i + k]);
            cr_round_to_type(type, LANES, x, want);
            V_STORE(got, simd_round(type, V_LOAD(x)));
            cr_narrow(type, LANES, x, low_want);
            simd_narrow(type, low_got, LANES, V_LOAD(x));
            for (k = 0; k < LANES; k++)
                bad += low_want[k] != low_got[k] && x[k] == x[k];
            for (k = 0; k < LANES; k++)
                bad += memcmp(&got[k], &want[k], sizeof *got) != 0 &&
                       !(want[k] != want[k] && got[k] != got[k]);
        }
    for (high = 0; high < 0x10000; high++) {
        for (k = 0; k < LANES; k++)
            low_want[k] = (uint16_t)(high + (uint32_t)k);
        cr_widen(type, LANES, low_want, want);
        V_STORE(got, simd_widen(type, low_want, LANES));
        /* a signalling NaN may become a quiet one */
        for (k = 0; k < LANES; k++)
            bad += memcmp(&got[k], &want[k], sizeof *got) != 0 &&
                   !(want[k] != want[k] && got[k] != got[k]);
    }
    ok(bad == 0, "%s: %d of 524288 numbers differ", name, bad);
}

int main(void)
{
    rounds("float16", CR_F16);
    rounds("bfloat16", CR_BF16);
    return done();
}
