/*
 * zlib, which is met here only: checksums and unpacking.
 */
#ifndef CR_BASE_GZ_H
#define CR_BASE_GZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CRC-32 (ISO-HDLC) of what went before, 0 at first, and len more bytes. */
uint32_t cr_crc32(uint32_t crc, const void *data, size_t len);
/* The CRC of a text and one of len_b bytes behind it, from their own. */
uint32_t cr_crc32_join(uint32_t a, uint32_t b, int64_t len_b);

/* Unpacks raw deflate data: exactly `size` bytes into `to`, with which the
 * data end if `whole`. */
bool cr_inflate(const void *from, size_t len, void *to, size_t size,
                bool whole);

/* A gzip file (RFC 1952), decompressed as a stream; several members may follow
 * one another. The caller closes the descriptor. */
struct cr_gz;
struct cr_gz *cr_gz_open(int fd);
/* Bytes unpacked, fewer than n at the end of the data only; -1 when the file
 * is damaged or cut short: *why says how. */
int64_t cr_gz_read(struct cr_gz *gz, void *to, size_t n, const char **why);
void cr_gz_close(struct cr_gz *gz);
/* Whether a file that begins so is gzip. */
bool cr_gz_magic(const unsigned char *head, size_t n);

#endif
