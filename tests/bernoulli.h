/* What cr_rng_bernoulli draws, one element at a time. */
#ifndef CR_TESTS_BERNOULLI_H
#define CR_TESTS_BERNOULLI_H

#include "num/rng.h"

#include <stdbool.h>

static bool bernoulli(const struct cr_rng *rng, uint64_t i, double p)
{
    uint32_t part = (uint32_t)(p * 4294967296.0);
    uint32_t byte = cr_rng_u32(rng, i / 4) >> 8 * (i % 4) & 255;
    struct cr_rng further = *rng;

    further.stream += CR_RNG_FURTHER;
    if (byte != part >> 24)
        return byte < part >> 24;
    return cr_rng_u32(&further, i) >> 8 < (part & 0xffffff);
}

#endif
