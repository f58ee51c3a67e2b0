/*
 * The numbers of sections are those of FIPS 180-4.
 */
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

/* 4.2.2: fractional parts of the cube roots of the first 64 primes. */
static const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static uint32_t rotr(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

/* 6.2.2: one block of 64 bytes. */
static void sha256_block(uint32_t h[8], const unsigned char *p)
{
    uint32_t w[64], v[8];
    int t;

    for (t = 0; t < 16; t++)
        w[t] = (uint32_t)p[4 * t] << 24 | (uint32_t)p[4 * t + 1] << 16 |
               (uint32_t)p[4 * t + 2] << 8 | p[4 * t + 3];
    for (; t < 64; t++) {
        uint32_t a = w[t - 15], b = w[t - 2];

        w[t] = (rotr(b, 17) ^ rotr(b, 19) ^ b >> 10) + w[t - 7] +
               (rotr(a, 7) ^ rotr(a, 18) ^ a >> 3) + w[t - 16];
    }
    memcpy(v, h, sizeof v);
    for (t = 0; t < 64; t++) {
        uint32_t a = v[0], e = v[4];
        uint32_t t1 = v[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) +
                      ((e & v[5]) ^ (~e & v[6])) + sha256_k[t] + w[t];
        uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) +
                      ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (t = 0; t < 8; t++)
        h[t] += v[t];
}

void cr_sha256_start(struct cr_sha256 *hash)
{
    /* 5.3.3: of the square roots of the first 8 primes */
    static const uint32_t first[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372,
                                       0xa54ff53a, 0x510e527f, 0x9b05688c,
                                       0x1f83d9ab, 0x5be0cd19 };

    hash->len = 0;
    memcpy(hash->state, first, sizeof first);
}

void cr_sha256_add(struct cr_sha256 *hash, const void *data, size_t n)
{
    const unsigned char *p = data;

    while (n > 0) {
        size_t at = hash->len % 64, take = 64 - at < n ? 64 - at : n;

        memcpy(hash->block + at, p, take);
        hash->len += take;
        p += take;
        n -= take;
        if (at + take == 64)
            sha256_block(hash->state, hash->block);
    }
}

void cr_sha256_end(struct cr_sha256 *hash, char hex[CR_SHA256_DIGITS + 1])
{
    static const unsigned char pad[64] = { 0x80 };
    uint64_t bits = 8 * hash->len;
    unsigned char size[8];
    int i;

    /* 5.1.1: a one, zeros up to 8 bytes before a block's end, the length */
    for (i = 0; i < 8; i++)
        size[i] = (unsigned char)(bits >> (56 - 8 * i));
    cr_sha256_add(hash, pad, 64 - (hash->len + 8) % 64);
    cr_sha256_add(hash, size, sizeof size);
    for (i = 0; i < 8; i++)
        snprintf(hex + (size_t)i * 8, 9, "%08x", (unsigned)hash->state[i]);
}
