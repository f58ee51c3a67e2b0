#include "num/rng.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define LANES 32 /* blocks made at once */

struct cr_rng cr_rng(uint64_t seed, enum cr_stream stream, uint64_t a,
                     uint64_t b)
{
    return (struct cr_rng){ seed, (uint32_t)stream, a, b };
}

/* splitmix64's finaliser (Steele, Lea, Flood, OOPSLA 2014): spreads a key of
 * our choosing over all bits. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void cr_philox(const uint32_t counter[4], const uint32_t key[2],
               uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3],
             k0 = key[0], k1 = key[1];
    int round;

    for (round = 0; round < 10; round++) {
        uint64_t p = (uint64_t)0xd2511f53u * c0, q = (uint64_t)0xcd9e8d57u * c2;

        c0 = (uint32_t)(q >> 32) ^ c1 ^ k0;
        c1 = (uint32_t)q;
        c2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
        c3 = (uint32_t)p;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

/* The counter is the block's number and the key b; the key is made of seed,
 * stream and key a. */
static void rng_key(const struct cr_rng *rng, uint32_t key[2])
{
    uint64_t k = mix(mix(mix(rng->seed) ^ rng->stream) ^ rng->a);

    key[0] = (uint32_t)k;
    key[1] = (uint32_t)(k >> 32);
}

static void rng_block_of(const struct cr_rng *rng, const uint32_t key[2],
                         uint64_t i, uint32_t out[4])
{
    cr_philox((const uint32_t[]){ (uint32_t)i, (uint32_t)(i >> 32),
                                  (uint32_t)rng->b, (uint32_t)(rng->b >> 32) },
              key, out);
}

void cr_rng_block(const struct cr_rng *rng, uint64_t i, uint32_t out[4])
{
    uint32_t key[2];

    rng_key(rng, key);
    rng_block_of(rng, key, i, out);
}

/* As cr_philox, one block per lane. */
CR_CLONES
static void rng_lanes(const struct cr_rng *rng, const uint32_t key[2],
                      uint64_t first, uint32_t *out)
{
    uint32_t c0[LANES], c1[LANES], c2[LANES], c3[LANES];
    uint32_t k0 = key[0], k1 = key[1];
    int round, i;

    for (i = 0; i < LANES; i++) {
        c0[i] = (uint32_t)(first + (uint64_t)i);
        c1[i] = (uint32_t)((first + (uint64_t)i) >> 32);
        c2[i] = (uint32_t)rng->b;
        c3[i] = (uint32_t)(rng->b >> 32);
    }
    for (round = 0; round < 10; round++) {
        CR_SIMD
        for (i = 0; i < LANES; i++) {
            uint64_t p = (uint64_t)0xd2511f53u * c0[i],
                     q = (uint64_t)0xcd9e8d57u * c2[i];

            c0[i] = (uint32_t)(q >> 32) ^ c1[i] ^ k0;
            c1[i] = (uint32_t)q;
            c2[i] = (uint32_t)(p >> 32) ^ c3[i] ^ k1;
            c3[i] = (uint32_t)p;
        }
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    CR_SIMD
    for (i = 0; i < LANES; i++) {
        out[4 * i] = c0[i];
        out[4 * i + 1] = c1[i];
        out[4 * i + 2] = c2[i];
        out[4 * i + 3] = c3[i];
    }
}

#if defined(__x86_64__)
/* The ten rounds over four vectors of each word. */
#define ROUNDS(vec, set, mul, xor_srl)                  \
    for (round = 0; round < 10; round++) {              \
        vec a = set(k0), b = set(k1);                   \
                                                        \
        _Pragma("GCC unroll 4") for (i = 0; i < 4; i++) \
        {                                               \
            vec p = mul(m0, c0[i]), q = mul(m1, c2[i]); \
                                                        \
            c0[i] = xor_srl(q, c1[i], a);               \
            c1[i] = q;                                  \
            c2[i] = xor_srl(p, c3[i], b);               \
            c3[i] = p;                                  \
        }                                               \
        k0 += 0x9e3779b9u;                              \
        k1 += 0xbb67ae85u;                              \
    }

/* The upper half of each lane of x, xor y, xor z. */
CR_TARGET("avx512f")
static __m512i xor_srl_avx512(__m512i x, __m512i y, __m512i z)
{
    return _mm512_ternarylogic_epi64(_mm512_srli_epi64(x, 32), y, z, 0x96);
}

CR_TARGET("avx2")
static __m256i xor_srl_avx2(__m256i x, __m256i y, __m256i z)
{
    return _mm256_xor_si256(_mm256_srli_epi64(x, 32), _mm256_xor_si256(y, z));
}

/* The same: a word in the lower half of each lane, which is all that the
 * multiplication looks at; what rises into the upper halves is cut off at the
 * end. Four vectors at a time, as one has to wait for its products. */
CR_TARGET("avx512f")
static void rng_lanes_avx512(const struct cr_rng *rng, const uint32_t key[2],
                             uint64_t first, uint32_t *out)
{
    const __m512i m0 = _mm512_set1_epi64(0xd2511f53),
                  m1 = _mm512_set1_epi64(0xcd9e8d57),
                  low = _mm512_set1_epi64(0xffffffff),
                  even = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                  odd = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    __m512i c0[4], c1[4], c2[4], c3[4];
    uint32_t k0 = key[0], k1 = key[1];
    int round, i;

#pragma GCC unroll 4
    for (i = 0; i < 4; i++) {
        c0[i] = _mm512_add_epi64(_mm512_set1_epi64((int64_t)first + 8 * i),
                                 _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
        c1[i] = _mm512_srli_epi64(c0[i], 32);
        c2[i] = _mm512_set1_epi64((int64_t)(uint32_t)rng->b);
        c3[i] = _mm512_set1_epi64((int64_t)(rng->b >> 32));
    }
    ROUNDS(__m512i, _mm512_set1_epi64, _mm512_mul_epu32, xor_srl_avx512);
#pragma GCC unroll 4
    for (i = 0; i < 4; i++) {
        __m512i x = _mm512_or_si512(_mm512_and_si512(c0[i], low),
                                    _mm512_slli_epi64(c1[i], 32));
        __m512i y = _mm512_or_si512(_mm512_and_si512(c2[i], low),
                                    _mm512_slli_epi64(c3[i], 32));

        _mm512_storeu_si512(out + 32 * i,
                            _mm512_permutex2var_epi64(x, even, y));
        _mm512_storeu_si512(out + 32 * i + 16,
                            _mm512_permutex2var_epi64(x, odd, y));
    }
}

/* The same in vectors of four lanes, eight of them. */
CR_TARGET("avx2")
static void rng_lanes_avx2(const struct cr_rng *rng, const uint32_t key[2],
                           uint64_t first, uint32_t *out)
{
    const __m256i m0 = _mm256_set1_epi64x(0xd2511f53),
                  m1 = _mm256_set1_epi64x(0xcd9e8d57);
    __m256i c0[4], c1[4], c2[4], c3[4];
    int round, i, half;

    for (half = 0; half < 2; half++, first += 16, out += 64) {
        uint32_t k0 = key[0], k1 = key[1];

#pragma GCC unroll 4
        for (i = 0; i < 4; i++) {
            c0[i] = _mm256_add_epi64(_mm256_set1_epi64x((int64_t)first + 4 * i),
                                     _mm256_setr_epi64x(0, 1, 2, 3));
            c1[i] = _mm256_srli_epi64(c0[i], 32);
            c2[i] = _mm256_set1_epi64x((int64_t)(uint32_t)rng->b);
            c3[i] = _mm256_set1_epi64x((int64_t)(rng->b >> 32));
        }
        ROUNDS(__m256i, _mm256_set1_epi64x, _mm256_mul_epu32, xor_srl_avx2);
#pragma GCC unroll 4
        for (i = 0; i < 4; i++) {
            __m256i x =
                _mm256_blend_epi32(c0[i], _mm256_slli_epi64(c1[i], 32), 0xaa);
            __m256i y =
                _mm256_blend_epi32(c2[i], _mm256_slli_epi64(c3[i], 32), 0xaa);
            /* words 0 to 3 of blocks 0 and 2, of blocks 1 and 3 */
            __m256i even = _mm256_unpacklo_epi64(x, y),
                    odd = _mm256_unpackhi_epi64(x, y);

            _mm256_storeu_si256((__m256i *)(void *)(out + 16 * i),
                                _mm256_permute2x128_si256(even, odd, 0x20));
            _mm256_storeu_si256((__m256i *)(void *)(out + 16 * i + 8),
                                _mm256_permute2x128_si256(even, odd, 0x31));
        }
    }
}
#endif

typedef void rng_lanes_fn(const struct cr_rng *rng, const uint32_t key[2],
                          uint64_t first, uint32_t *out);

static rng_lanes_fn *rng_lanes_best(void)
{
#if defined(__x86_64__)
    if (cr_isa() == CR_ISA_AVX512)
        return rng_lanes_avx512;
    if (cr_isa() == CR_ISA_AVX2)
        return rng_lanes_avx2;
#endif
    return rng_lanes;
}

void cr_rng_blocks(const struct cr_rng *rng, uint64_t first, int64_t n,
                   uint32_t *out)
{
    uint32_t some[4 * LANES], key[2];
    rng_lanes_fn *lanes = rng_lanes_best();
    int64_t i;

    rng_key(rng, key);
    for (i = 0; i + LANES <= n; i += LANES)
        lanes(rng, key, first + (uint64_t)i, out + 4 * i);
    if (i == n)
        return;
    lanes(rng, key, first + (uint64_t)i, some);
    memcpy(out + 4 * i, some, (size_t)(n - i) * 4 * sizeof *out);
}

CR_CLONES_WIDE
static void below(int64_t n, const unsigned char *x, unsigned char most,
                  unsigned char *to)
{
    int64_t i;

    CR_SIMD
    for (i = 0; i < n; i++)
        to[i] = x[i] < most;
}

/* to[at[i]] for i in 0 .. n - 1, elements after `first` whose byte equals that
 * of the probability: by their 24 bits more, each in another block. */
static void bernoulli_further(const struct cr_rng *rng, uint64_t first,
                              uint32_t part, const int *at, int n,
                              unsigned char *to)
{
    struct cr_rng further = *rng;
    uint32_t word[4], key[2];
    int i;

    further.stream += CR_RNG_FURTHER;
    rng_key(&further, key);
    for (i = 0; i < n; i++) {
        uint64_t element = first + (uint64_t)at[i];

        rng_block_of(&further, key, element / 4, word);
        to[at[i]] = word[element % 4] >> 8 < (part & 0xffffff);
    }
}

void cr_rng_bernoulli(const struct cr_rng *rng, uint64_t first, int64_t n,
                      double p, unsigned char *to)
{
    uint32_t part = (uint32_t)(p * 4294967296.0), word[4 * 4 * LANES];
    unsigned char high = (unsigned char)(part >> 24), *byte, *at;
    int equal[sizeof word], n_equal;
    int64_t m;

    for (; n > 0; n -= m, first += (uint64_t)m, to += m) {
        byte = (unsigned char *)word + first % 16;
        m = (int64_t)(sizeof word - first % 16);
        m = n < m ? n : m;
        cr_rng_blocks(rng, first / 16, ((int64_t)(first % 16) + m + 15) / 16,
                      word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        for (size_t i = 0; i < sizeof word / sizeof *word; i++)
            word[i] = __builtin_bswap32(word[i]);
#endif
        below(m, byte, high, to);
        n_equal = 0;
        for (at = byte; (at = memchr(at, high, (size_t)(byte + m - at)));
             at++)
            equal[n_equal++] = (int)(at - byte);
        bernoulli_further(rng, first, part, equal, n_equal, to);
    }
}

uint32_t cr_rng_u32(const struct cr_rng *rng, uint64_t i)
{
    uint32_t out[4];

    cr_rng_block(rng, i / 4, out);
    return out[i % 4];
}

uint64_t cr_rng_u64(const struct cr_rng *rng, uint64_t i)
{
    uint32_t out[4];

    cr_rng_block(rng, i / 2, out);
    return (uint64_t)out[i % 2 * 2 + 1] << 32 | out[i % 2 * 2];
}

float cr_rng_float(const struct cr_rng *rng, uint64_t i)
{
    return (float)(cr_rng_u32(rng, i) >> 8) * 0x1p-24f;
}

double cr_rng_double(const struct cr_rng *rng, uint64_t i)
{
    return (double)(cr_rng_u64(rng, i) >> 11) * 0x1p-53;
}

/* Box and Muller, 1958. Elements 2j and 2j+1 are the pair of block j. */
double cr_rng_normal(const struct cr_rng *rng, uint64_t i)
{
    uint32_t out[4];
    double u, angle, radius;

    cr_rng_block(rng, i / 2, out);
    u = ((double)(((uint64_t)out[1] << 32 | out[0]) >> 11) + 1) * 0x1p-53;
    angle = (double)(((uint64_t)out[3] << 32 | out[2]) >> 11) * 0x1p-53 *
            6.283185307179586477;
    radius = sqrt(-2 * log(u));
    return i % 2 == 0 ? radius * cos(angle) : radius * sin(angle);
}

/* Lemire's multiplication ("Fast random integer generation in an interval",
 * 2019) over 64 bits: the bias is below n / 2^64. */
uint64_t cr_rng_below(const struct cr_rng *rng, uint64_t i, uint64_t n)
{
    __extension__ typedef unsigned __int128 wide;

    return (uint64_t)((wide)cr_rng_u64(rng, i) * n >> 64);
}

void cr_rng_permute(const struct cr_rng *rng, int64_t n, int64_t *order)
{
    int64_t i, k, t;

    for (i = 0; i < n; i++)
        order[i] = i;
    for (i = n - 1; i > 0; i--) {
        k = (int64_t)cr_rng_below(rng, (uint64_t)i, (uint64_t)i + 1);
        t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
}
