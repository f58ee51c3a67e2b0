/*
 * Types: what a value becomes in another one. The vectors of halves are those
 * of IEEE 754 round to nearest even.
 */
#include "num/spec.h"
#include "tap.h"

#include <math.h>

static uint16_t half(enum cr_type type, double x)
{
    uint16_t h = 0;

    cr_convert(CR_F64, &x, type, &h, 1);
    return h;
}

static void to_halves(void)
{
    static const struct {
        double x;
        unsigned f16, bf16;
    } v[] = {
        { 0.0, 0, 0 },
        { -0.0, 0x8000, 0x8000 },
        { 1, 0x3c00, 0x3f80 },
        { -2, 0xc000, 0xc000 },
        { 65504, 0x7bff, 0x4780 },
        { 65519.99, 0x7bff, 0x4780 },
        { 65520, 0x7c00, 0x4780 },
        { 1e300, 0x7c00, 0x7f80 },
        { -HUGE_VAL, 0xfc00, 0xff80 },
        { 0x1p-14, 0x0400, 0x3880 },
        { 0x1p-24, 0x0001, 0x3380 },
        { 0x1p-25, 0x0000, 0x3300 },
        { 0x1.004p-25, 0x0001, 0x3300 },
        { 0x1.8p-24, 0x0002, 0x33c0 },
        { 0x1.ff8p-15, 0x03ff, 0x3880 },
        { 0x1.ffep-15, 0x0400, 0x3880 },
        /* ties: to even */
        { 1 + 0x1p-11, 0x3c00, 0x3f80 },
        { 1 + 3 * 0x1p-11, 0x3c02, 0x3f80 },
        { 1 + 0x1p-8, 0x3c04, 0x3f80 },
        { 1 + 3 * 0x1p-8, 0x3c0c, 0x3f82 },
        /* above a tie by less than a float tells */
        { 1 + 0x1p-11 + 0x1p-40, 0x3c01, 0x3f80 },
        { 1 + 0x1p-8 + 0x1p-40, 0x3c04, 0x3f81 },
        { 1 + 3 * 0x1p-8 - 0x1p-40, 0x3c0c, 0x3f81 },
        { -1 - 0x1p-11 - 0x1p-40, 0xbc01, 0xbf80 },
        { 0x1p-25 + 0x1p-60, 0x0001, 0x3300 },
        { 65520 - 0x1p-20, 0x7bff, 0x4780 },
    };
    size_t i;

    test_begin("numbers to float16 and bfloat16");
    for (i = 0; i < sizeof v / sizeof v[0]; i++) {
        ok(half(CR_F16, v[i].x) == v[i].f16, "%a is %04x as float16, not %04x",
           v[i].x, v[i].f16, (unsigned)half(CR_F16, v[i].x));
        ok(half(CR_BF16, v[i].x) == v[i].bf16,
           "%a is %04x as bfloat16, not %04x", v[i].x, v[i].bf16,
           (unsigned)half(CR_BF16, v[i].x));
    }
    test_end();
    ok((half(CR_F16, (double)NAN) & 0x7fff) > 0x7c00 &&
           (half(CR_BF16, (double)NAN) & 0x7fff) > 0x7f80,
       "NaN stays NaN");
}

/* The value of a float16 by its definition. */
static double f16_value(unsigned h)
{
    int exponent = h >> 10 & 31, fraction = h & 1023;
    double x = exponent == 0    ? ldexp(fraction, -24)
               : exponent == 31 ? HUGE_VAL
                                : ldexp(1024 + fraction, exponent - 25);

    return h & 0x8000 ? -x : x;
}

static void from_halves(void)
{
    int wrong[4] = { 0 };
    unsigned h;

    for (h = 0; h < 65536; h++) {
        uint16_t in = (uint16_t)h, out;
        double x;
        uint32_t bits;
        float f;

        cr_convert(CR_F16, &in, CR_F64, &x, 1);
        if ((h & 0x7fff) > 0x7c00) {
            wrong[0] += !isnan(x);
        } else {
            wrong[0] += x != f16_value(h) || !signbit(x) != !(h & 0x8000);
            wrong[1] += half(CR_F16, x) != h;
        }
        cr_convert(CR_BF16, &in, CR_F32, &f, 1);
        memcpy(&bits, &f, sizeof bits);
        wrong[2] += isnan(f) ? (h & 0x7fff) <= 0x7f80 : bits != h << 16;
        cr_convert(CR_F32, &f, CR_BF16, &out, 1);
        wrong[3] += !isnan(f) && out != h;
    }
    ok(wrong[0] == 0, "all float16 have their values");
    ok(wrong[1] == 0, "all float16 come back");
    ok(wrong[2] == 0, "all bfloat16 have their values");
    ok(wrong[3] == 0, "all bfloat16 come back");
}

static void to_integers(void)
{
    static const double x[] = { 3.9,  -3.9, (double)NAN, HUGE_VAL,
                                3e9, -2147483648.5, 300, -1 };
    static const int32_t i32[] = { 3,         -3,        INT32_MIN, INT32_MIN,
                                   INT32_MIN, INT32_MIN, 300,       -1 };
    static const int64_t i64[] = { 3,          -3,          INT64_MIN,
                                   INT64_MIN,  3000000000,  -2147483648,
                                   300,        -1 };
    static const uint8_t u8[] = { 3, 253, 0, 0, 0, 0, 44, 255 };
    static const uint8_t truth[] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    double big = 0x1.8p63, zero = -0.0;
    uint8_t b[8];
    int32_t i[8];
    int64_t k[8];
    uint64_t u;

    cr_convert(CR_F64, x, CR_I32, i, 8);
    ok(memcmp(i, i32, sizeof i) == 0, "float64 to int32");
    cr_convert(CR_F64, x, CR_I64, k, 8);
    ok(memcmp(k, i64, sizeof k) == 0, "float64 to int64");
    cr_convert(CR_F64, x, CR_U8, b, 8);
    ok(memcmp(b, u8, sizeof b) == 0, "float64 to uint8");
    cr_convert(CR_F64, x, CR_BOOL, b, 8);
    ok(memcmp(b, truth, sizeof b) == 0, "float64 to bool: NaN is true");
    cr_convert(CR_F64, &zero, CR_BOOL, b, 1);
    ok(b[0] == 0, "-0 is false");
    cr_convert(CR_F64, &big, CR_U64, &u, 1);
    ok(u == (uint64_t)3 << 62, "float64 above 2^63 to uint64");
}

static void from_integers(void)
{
    int64_t i = ((int64_t)1 << 60) + ((int64_t)1 << 36) + 1;
    uint64_t u = UINT64_MAX;
    unsigned char two = 2;
    double d;
    float f;

    cr_convert(CR_I64, &i, CR_F32, &f, 1);
    ok(f == 0x1p60f + 0x1p37f, "int64 to float32 is rounded once");
    cr_convert(CR_U64, &u, CR_F64, &d, 1);
    ok(d == 0x1p64, "uint64 above 2^63 to float64");
    cr_convert(CR_U64, &u, CR_F32, &f, 1);
    ok(f == 0x1p64f, "and to float32");
    cr_convert(CR_BOOL, &two, CR_F32, &f, 1);
    ok(f == 1, "true is 1, however it is stored");
}

static void sizes(void)
{
    struct cr_spec none = {
        CR_F64, CR_ROW_MAJOR, 3, { 0, (int64_t)1 << 40, (int64_t)1 << 40 }
    };

    ok(!cr_spec_fits(&none), "no rows of 2^83 bytes do not fit");
    none.dim[1] = none.dim[2] = 1000;
    ok(cr_spec_fits(&none) && cr_bytes(&none) == 0, "no rows of 8 MB do");
    none.dim[1] = -1;
    ok(!cr_spec_fits(&none), "a negative size does not");
}

int main(void)
{
    to_halves();
    from_halves();
    to_integers();
    from_integers();
    sizes();
    return done();
}
