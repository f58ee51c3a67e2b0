/*
 * Random numbers as a function: Philox4x32-10 (Salmon et al., "Parallel
 * random numbers: as easy as 1, 2, 3", SC 2011).
 *
 * There is no state: a value is a function of the seed of the run, the stream
 * (its purpose), two keys chosen by the caller (hash of the cell path and
 * update, epoch and sample ...) and the index of the element. Values do not
 * change if work is split, pruned, resumed or spread over more threads.
 */
#ifndef CR_NUM_RNG_H
#define CR_NUM_RNG_H

#include "num/real.h"

#include <stdint.h>

enum cr_stream {
    CR_STREAM_INIT,
    CR_STREAM_SHUFFLE,
    CR_STREAM_AUGMENT,
    CR_STREAM_DROPOUT,
    CR_STREAM_SPLIT,
    CR_STREAM_TEST,
    CR_STREAM_TEXT,
    CR_STREAM_SCALE,
    CR_STREAM_NOISE,
    CR_STREAM_SAMPLER,
    CR_STREAM_SWEEP
};

struct cr_rng {
    uint64_t seed;
    uint32_t stream;
    uint64_t a, b;      /* keys of the stream */
};

struct cr_rng cr_rng(uint64_t seed, enum cr_stream stream, uint64_t a,
                     uint64_t b);

/* Philox4x32-10 as published. */
void cr_philox(const uint32_t counter[4], const uint32_t key[2],
               uint32_t out[4]);
/* Block i of the sequence: four 32-bit words. */
void cr_rng_block(const struct cr_rng *rng, uint64_t i, uint32_t out[4]);
/* Blocks first .. first + n - 1, consecutively, computed in vectors. */
void cr_rng_blocks(const struct cr_rng *rng, uint64_t first, int64_t n,
                   uint32_t *out);
/* to[j] = 1 with probability p in [0, 1), to 2^-32, else 0, for elements
 * first .. first + n - 1: whether byte i % 16 of block i / 16 (the lowest byte
 * of a word first) is below the upper 8 bits of p; where they are equal, 24
 * bits of word i of the stream CR_RNG_FURTHER on decide. */
#define CR_RNG_FURTHER 0x10000u
void cr_rng_bernoulli(const struct cr_rng *rng, uint64_t first, int64_t n,
                      double p, unsigned char *to);
/* Element i: word i % 4 of block i / 4. */
uint32_t cr_rng_u32(const struct cr_rng *rng, uint64_t i);
uint64_t cr_rng_u64(const struct cr_rng *rng, uint64_t i);
/* Uniform in [0, 1) with 24 or 53 bits; (0, 1) excludes 0 too. */
float cr_rng_float(const struct cr_rng *rng, uint64_t i);
double cr_rng_double(const struct cr_rng *rng, uint64_t i);
/* Standard normal (Box-Muller in double), element i. */
double cr_rng_normal(const struct cr_rng *rng, uint64_t i);
/* Uniform integer in [0, n), without bias; uses element i only. */
uint64_t cr_rng_below(const struct cr_rng *rng, uint64_t i, uint64_t n);

/* order[0..n) becomes a permutation of 0..n-1 (Fisher-Yates). */
void cr_rng_permute(const struct cr_rng *rng, int64_t n, int64_t *order);

#endif
