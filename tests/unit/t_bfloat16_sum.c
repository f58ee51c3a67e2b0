/* Sums of bfloat16 parts against integers: a float32 rounded to bfloat16 is
 * bits >> 16, plus 1 above the middle, and on it where that makes it even. */
#include "mpi/bfloat16.h"
#include "num/low_precision.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 5, MOST = 5003 };

static float of_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static float to_bf16(float x)
{
    uint32_t bits, rest;

    memcpy(&bits, &x, sizeof bits);
    rest = bits & 0xffffu;
    bits >>= 16;
    if (rest > 0x8000u || (rest == 0x8000u && bits % 2 == 1))
        bits++;
    return of_bits(bits << 16);
}

static uint32_t random_bits(void)
{
    static uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 32);
}

/* n numbers of all signs, from 2^-30 to 2^33. */
static void fill(uint16_t *part, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        part[i] = (uint16_t)(random_bits() % 2 << 15 |
                             (random_bits() % 64 + 97) << 7 |
                             random_bits() % 128);
}

static bool right(const cr_real *got, const uint16_t *all, int64_t stride,
                  int parts, int64_t i)
{
    float sum = of_bits((uint32_t)all[i] << 16), x;
    double exact = sum, size = fabs(exact);

    for (int r = 1; r < parts; r++) {
        x = of_bits((uint32_t)all[r * stride + i] << 16);
        sum += x;
        exact += (double)x;
        size += fabs((double)x);
    }
    if (sizeof(cr_real) == sizeof(float) && (float)got[i] != to_bf16(sum))
        return false;
    return fabs((double)got[i] - exact) <=
           0x1p-8 * fabs(exact) * (1 + 1e-6) + 1e-6 * size;
}

static void sums(int64_t n, int parts, int64_t gap)
{
    static uint16_t memory[PARTS * (MOST + 64) + 1];
    static cr_real sum[MOST + 1];
    uint16_t *all = memory + gap % 2; /* of any address */
    int64_t i, stride = n + gap;
    int wrong = 0;

    for (int r = 0; r < parts; r++)
        fill(all + r * stride, n);
    sum[n] = 7;
    cr_bf16_sum(sum, n, all, (size_t)stride * sizeof *all, parts);
    for (i = 0; i < n; i++)
        wrong += !right(sum, all, stride, parts, i);
    ok(wrong == 0 && sum[n] == 7,
       "%d sums of %d parts, with %d between them: %d are wrong", (int)n,
       parts, (int)gap, wrong);
}

static float sum_of(float x, float y, float z)
{
    const cr_real in[3] = { (cr_real)x, (cr_real)y, (cr_real)z };
    uint16_t bits[3];
    cr_real sum;

    cr_narrow(CR_BF16, 3, in, bits);
    cr_bf16_sum(&sum, 1, bits, sizeof *bits, 3);
    return (float)sum;
}

int main(void)
{
    static const int64_t n[] = { 0, 1, 31, 32, 33, 2047, 2048, 2049, MOST };

    test_begin("sums are rounded once, of any number and place");
    for (size_t k = 0; k < sizeof n / sizeof *n; k++)
        for (int parts = 2; parts <= PARTS; parts++)
            for (int64_t gap = 0; gap < 3; gap++)
                sums(n[k], parts, gap);
    test_end();

    test_begin("infinity and NaN stay");
    ok(sum_of(1, INFINITY, 2) == INFINITY, "infinity");
    ok(sum_of(-INFINITY, -INFINITY, 2) == -INFINITY, "minus infinity");
    ok(isnan(sum_of(INFINITY, 3, -INFINITY)), "of both");
    ok(isnan(sum_of(1, 2, NAN)), "NaN");
    ok(isnan(sum_of(of_bits(0x7f800001u), 2, 3)), "a NaN of the last bit");
    ok(sum_of(0x1p127f, 0x1p127f, 0) == INFINITY, "above the largest number");
    ok(sum_of(of_bits(0x7f7fffffu), 0, 0) == INFINITY, "a part above it");
    test_end();

    test_begin("small numbers, ties, and a sum in float32");
    ok(sum_of(0x1p-133f, 0x1p-133f, 0) == 0x1p-132f, "subnormal numbers");
    ok(sum_of(1 + 0x1p-8f, 0, 0) == 1, "a part's tie, below");
    ok(sum_of(1 + 3 * 0x1p-8f, 0, 0) == 1 + 0x1p-6f, "a part's tie, above");
    ok(sum_of(1, 0x1p-8f, 0x1p-23f) == 1 + 0x1p-7f,
       "small parts are not lost one by one");
    test_end();
    return done();
}
