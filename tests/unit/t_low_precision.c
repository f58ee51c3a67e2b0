/* Rounding to float16 and bfloat16: every number of either type, the middle
 * between neighbours, and just next to it. */
#include "num/low_precision.h"
#include "tap.h"

#include <math.h>
#include <string.h>

/* A NaN may have other bits. */
static bool equal(cr_real x, cr_real y)
{
    return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
}

/* Rounds x nine times: vectors of eight, and one that is left over, agree or
 * nothing fits. So do the two bytes of each. */
static float round_one(enum cr_type to, float x)
{
    cr_real in[9], out[9], back[9];
    uint16_t bits[9];

    for (int i = 0; i < 9; i++)
        in[i] = (cr_real)x;
    cr_round_to_type(to, 9, in, out);
    for (int i = 0; i < 8; i++)
        if (!equal(out[i], out[8]))
            return 12345;
    cr_narrow(to, 9, in, bits);
    cr_widen(to, 9, bits, back);
    for (int i = 0; i < 9; i++)
        if (!equal(back[i], out[i]))
            return 12345;
    return (float)out[8];
}

/* Number k of the type, counted from 0: fraction bits and smallest exponent. */
static float number(int k, int fraction, int least)
{
    int exponent = k >> fraction, rest = k & ((1 << fraction) - 1);

    if (exponent == 0)
        return ldexpf((float)rest, least - fraction);
    return ldexpf((float)(rest + (1 << fraction)),
                  exponent - 1 + least - fraction);
}

static void neighbours(enum cr_type to, int fraction, int least, int count,
                       const char *what)
{
    int k, wrong = 0;

    for (k = 0; k + 1 < count; k++) {
        float low = number(k, fraction, least);
        float high = number(k + 1, fraction, least);
        float middle = low / 2 + high / 2;
        float even = k % 2 == 0 ? low : high;

        if (high < 1e-37f) /* the middles of the smallest are no float32 */
            continue;
        wrong += round_one(to, low) != low || round_one(to, -high) != -high ||
                 round_one(to, middle) != even ||
                 round_one(to, -middle) != -even ||
                 round_one(to, nextafterf(middle, 0)) != low ||
                 round_one(to, nextafterf(middle, INFINITY)) != high;
    }
    ok(wrong == 0, "%s", what);
}

static float nan_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

int main(void)
{
    neighbours(CR_F16, 10, -14, 31 << 10, "float16, all of them");
    neighbours(CR_BF16, 7, -126, 255 << 7, "bfloat16, all of them");
    ok(round_one(CR_F16, 65519.996F) == 65504, "the last that is finite");
    ok(isinf(round_one(CR_F16, 65520)), "and the first that is not");
    ok(isinf(round_one(CR_BF16, 3.4e38F)), "beyond bfloat16");
    ok(isnan(round_one(CR_F16, NAN)) && isnan(round_one(CR_BF16, -NAN)),
       "NaN stays");
    ok(isnan(round_one(CR_BF16, nan_of(0x7f800001))) &&
           isnan(round_one(CR_F16, nan_of(0xff800001))),
       "one whose last bit makes it one too");
    ok(signbit(round_one(CR_F16, -1e-20F)), "a zero keeps its sign");
    return done();
}
