/*
 * SHA-256 (FIPS 180-4), to identify files in a way that cannot be forged.
 */
#ifndef CR_BASE_SHA256_H
#define CR_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define CR_SHA256_DIGITS 64

struct cr_sha256 {
    uint32_t state[8];
    uint64_t len;            /* bytes added */
    unsigned char block[64]; /* the last len % 64 of them */
};

void cr_sha256_start(struct cr_sha256 *hash);
void cr_sha256_add(struct cr_sha256 *hash, const void *data, size_t n);
/* The hash of what was added, as lower-case hex digits and a NUL. */
void cr_sha256_end(struct cr_sha256 *hash, char hex[CR_SHA256_DIGITS + 1]);

#endif
