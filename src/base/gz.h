/*
 * Checksums and decompression; the only file that uses zlib.
 */
#ifndef CR_BASE_GZ_H
#define CR_BASE_GZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Extends a CRC-32 (ISO-HDLC) by len bytes; `crc` is the CRC of the bytes
 * before (0: none). */
uint32_t cr_crc32(uint32_t crc, const void *data, size_t len);
/* The CRC of the concatenation of two texts from their CRCs; the second text
 * has len_b bytes. */
uint32_t cr_crc32_join(uint32_t a, uint32_t b, int64_t len_b);

/* Decompresses raw deflate data: exactly `size` bytes into `to`; with `whole`
 * the data must end there. */
bool cr_inflate(const void *from, size_t len, void *to, size_t size,
                bool whole);

/* A gzip file (RFC 1952), decompressed as a stream; several members may follow
 * one another. The caller closes the descriptor. */
struct cr_gz;
struct cr_gz *cr_gz_open(int fd);
/* Returns the number of bytes decompressed, fewer than n only at the end of the
 * data; -1 if the file is damaged or truncated: *why describes it. */
int64_t cr_gz_read(struct cr_gz *gz, void *to, size_t n, const char **why);
void cr_gz_close(struct cr_gz *gz);
/* Whether a file with these first bytes is gzip. */
bool cr_gz_magic(const unsigned char *head, size_t n);

#endif
