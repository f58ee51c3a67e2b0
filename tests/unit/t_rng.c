/*
 * Random numbers: the published vectors of Philox4x32-10 (Random123,
 * kat_vectors), and that streams, keys and elements are distinct.
 */
#include "bernoulli.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define N 65536
#define EVENTS 200000

static void philox(uint32_t c, uint32_t k, uint32_t a, uint32_t b, uint32_t d,
                   uint32_t e)
{
    uint32_t out[4];

    cr_philox((const uint32_t[]){ c, c, c, c }, (const uint32_t[]){ k, k },
              out);
    ok(out[0] == a && out[1] == b && out[2] == d && out[3] == e,
       "counter of %08x, key of %08x", (unsigned)c, (unsigned)k);
}

static void published(void)
{
    uint32_t out[4];

    philox(0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8);
    philox(0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
           0x6d5451fd);
    cr_philox((const uint32_t[]){ 0x243f6a88, 0x85a308d3, 0x13198a2e,
                                  0x03707344 },
              (const uint32_t[]){ 0xa4093822, 0x299f31d0 }, out);
    ok(out[0] == 0xd16cfe09 && out[1] == 0x94fdcceb &&
           out[2] == 0x5001e420 && out[3] == 0x24126ea1,
       "counter and key of pi");
}

/* Chi square of 256 equal cells: mean 255, deviation 22.6. */
static double chi(const struct cr_rng *rng, int shift)
{
    double count[256] = { 0 }, sum = 0;
    uint64_t i;

    for (i = 0; i < N; i++)
        count[cr_rng_u32(rng, i) >> shift & 255]++;
    for (i = 0; i < 256; i++)
        sum += (count[i] - N / 256) * (count[i] - N / 256) / (N / 256);
    return sum;
}

static void uniform(void)
{
    struct cr_rng rng = cr_rng(1, CR_STREAM_TEST, 2, 3);
    double low = 1, high = 0, sum = 0, normal = 0, square = 0;
    int shift;
    uint64_t i;

    for (shift = 0; shift < 32; shift += 8)
        ok(fabs(chi(&rng, shift) - 255) < 5 * 22.6,
           "bytes from bit %d are equally frequent", shift);
    for (i = 0; i < N; i++) {
        double u = cr_rng_double(&rng, i), z = cr_rng_normal(&rng, i);
        double f = (double)cr_rng_float(&rng, i);

        low = fmin(low, fmin(u, f));
        high = fmax(high, fmax(u, f));
        sum += u;
        normal += z;
        square += z * z;
    }
    ok(low >= 0 && high < 1, "uniform numbers are in [0, 1)");
    ok(fabs(sum / N - 0.5) < 5 * 0.2887 / 256, "their mean is 1/2");
    ok(fabs(normal / N) < 5.0 / 256, "normal numbers have mean 0");
    ok(fabs(square / N - 1) < 5 * 1.4143 / 256, "and variance 1");
}

/* The correlation of two sequences: deviation 1/256. */
static void apart(const char *what, struct cr_rng a, struct cr_rng b,
                  uint64_t shift)
{
    double sum = 0;
    uint64_t i;

    for (i = 0; i < N; i++)
        sum += (cr_rng_double(&a, i) - 0.5) *
               (cr_rng_double(&b, i + shift) - 0.5) * 12;
    ok(fabs(sum / N) < 5.0 / 256, "independent of one another: %s", what);
}

static void keys(void)
{
    struct cr_rng rng = cr_rng(1, CR_STREAM_INIT, 0, 0);

    apart("seeds", rng, cr_rng(2, CR_STREAM_INIT, 0, 0), 0);
    apart("streams", rng, cr_rng(1, CR_STREAM_SHUFFLE, 0, 0), 0);
    apart("keys a", rng, cr_rng(1, CR_STREAM_INIT, 1, 0), 0);
    apart("keys b", rng, cr_rng(1, CR_STREAM_INIT, 0, 1), 0);
    apart("high bits of key b", rng,
          cr_rng(1, CR_STREAM_INIT, 0, (uint64_t)1 << 32), 0);
    apart("neighbours", rng, rng, 1);
    apart("normal pairs' blocks", rng, rng, 2);
}

/* All orders of four are equally frequent, and every one is an order. */
static void permutations(void)
{
    int count[256] = { 0 }, i, kinds = 0, wrong = 0;
    int64_t order[4];
    double sum = 0;

    for (i = 0; i < 24000; i++) {
        struct cr_rng rng = cr_rng(9, CR_STREAM_TEST, (uint64_t)i, 0);
        int k, mask = 0;

        cr_rng_permute(&rng, 4, order);
        for (k = 0; k < 4; k++)
            mask |= 1 << order[k];
        wrong += mask != 15;
        count[order[0] | order[1] << 2 | order[2] << 4 | order[3] << 6]++;
    }
    for (i = 0; i < 256; i++) {
        kinds += count[i] > 0;
        if (count[i] > 0)
            sum += (count[i] - 1000.0) * (count[i] - 1000.0) / 1000;
    }
    ok(wrong == 0 && kinds == 24, "24 orders of four");
    ok(sum < 23 + 5 * 6.8, "equally frequent");
}

static void below(void)
{
    struct cr_rng rng = cr_rng(3, CR_STREAM_TEST, 0, 0);
    int count[7] = { 0 }, i, wrong = 0;
    double sum = 0;

    for (i = 0; i < 7000; i++) {
        uint64_t v = cr_rng_below(&rng, (uint64_t)i, 7);

        wrong += v > 6;
        count[v % 7]++;
    }
    for (i = 0; i < 7; i++)
        sum += (count[i] - 1000.0) * (count[i] - 1000.0) / 1000;
    ok(wrong == 0 && sum < 6 + 5 * 3.5, "integers below 7");
    ok(cr_rng_below(&rng, 5, 1) == 0, "below 1 there is 0");
}

/* Many blocks are those that one would get one by one. */
static void blocks(void)
{
    const struct cr_rng rng = cr_rng(7, CR_STREAM_TEST, 5, (uint64_t)3 << 33);
    /* over the end of the counter's lower word too */
    const uint64_t from[] = { 0, 13, 0xfffffff0 };
    uint32_t got[4 * 77], want[4];
    bool same = true;
    size_t k;
    int i;

    for (k = 0; k < CR_LEN(from); k++) {
        cr_rng_blocks(&rng, from[k], 77, got);
        for (i = 0; i < 77; i++) {
            cr_rng_block(&rng, from[k] + (uint64_t)i, want);
            same = same && memcmp(want, got + 4 * i, sizeof want) == 0;
        }
    }
    ok(same, "many blocks at once are the same");
}

/* Of probability p, from `first` on: as one by one; and how many happen. */
static void events(double p, uint64_t first)
{
    const struct cr_rng rng = cr_rng(8, CR_STREAM_TEST, 5, 1);
    static unsigned char got[EVENTS + 1];
    int64_t happen = 0, wrong = 0, i, n;
    double sigma = sqrt(EVENTS * p * (1 - p));

    got[EVENTS] = 7;
    for (i = 0, n = 1; i < EVENTS; i += n, n = n * 2 % 1021 + 1) {
        n = EVENTS - i < n ? EVENTS - i : n;
        cr_rng_bernoulli(&rng, first + (uint64_t)i, n, p, got + i);
    }
    for (i = 0; i < EVENTS; i++) {
        happen += got[i];
        wrong += got[i] != bernoulli(&rng, first + (uint64_t)i, p);
    }
    ok(wrong == 0 && got[EVENTS] == 7 &&
           fabs((double)happen - EVENTS * p) <= 5 * sigma,
       "probability %g: %lld of %d, %lld wrong", p, (long long)happen, EVENTS,
       (long long)wrong);
}

int main(void)
{
    published();
    uniform();
    keys();
    permutations();
    below();
    blocks();
    events(0, 0);
    events(0.1, 3);
    events(1.5 / 256, 0xffffffff0); /* a half of the bytes that are equal */
    events(0.5, 1);
    events(0.9, 16);
    events(1 - 0x1p-20, 7);
    return done();
}
