#define ZLIB_CONST /* next_in points to const */

#include "base/gz.h"

#include "base/arena.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

uint32_t cr_crc32(uint32_t crc, const void *data, size_t len)
{
    /* with NULL, zlib returns the initial value and ignores crc */
    return len > 0 ? (uint32_t)crc32_z(crc, data, len) : crc;
}

uint32_t cr_crc32_join(uint32_t a, uint32_t b, int64_t len_b)
{
    return (uint32_t)crc32_combine(a, b, len_b);
}

bool cr_inflate(const void *from, size_t len, void *to, size_t size, bool whole)
{
    z_stream z = { 0 };
    const unsigned char *in = from;
    unsigned char *out = to;
    int status = Z_OK;

    if (inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return false;
    /* the sizes of zlib are of type unsigned int */
    while (status == Z_OK && (size > 0 || whole)) {
        z.next_in = in;
        z.avail_in = len < INT_MAX ? (unsigned)len : INT_MAX;
        z.next_out = out;
        z.avail_out = size < INT_MAX ? (unsigned)size : INT_MAX;
        status = inflate(&z, Z_NO_FLUSH);
        len -= (size_t)(z.next_in - in);
        size -= (size_t)(z.next_out - out);
        in = z.next_in;
        out = z.next_out;
    }
    inflateEnd(&z);
    return size == 0 && (whole ? status == Z_STREAM_END : status >= 0);
}

/* ---- streams ---- */

#define GZ_ROOM 65536

struct cr_gz {
    z_stream z;
    int fd;
    bool inside;  /* a member has started and not ended */
    bool ended;   /* the file has ended */
    unsigned char buffer[GZ_ROOM];
};

struct cr_gz *cr_gz_open(int fd)
{
    struct cr_gz *gz = calloc(1, sizeof *gz);

    if (!gz || inflateInit2(&gz->z, 16 + MAX_WBITS) != Z_OK)
        cr_out_of_memory(sizeof *gz);
    gz->fd = fd;
    return gz;
}

static bool gz_fill(struct cr_gz *gz)
{
    ssize_t n;

    do
        n = read(gz->fd, gz->buffer, sizeof gz->buffer);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return false;
    gz->ended = n == 0;
    gz->z.next_in = gz->buffer;
    gz->z.avail_in = (unsigned)n;
    return true;
}

int64_t cr_gz_read(struct cr_gz *gz, void *to, size_t n, const char **why)
{
    size_t left = n;
    int status;

    while (left > 0) {
        if (gz->z.avail_in == 0 && !gz->ended && !gz_fill(gz)) {
            *why = strerror(errno);
            return -1;
        }
        if (gz->z.avail_in == 0 && gz->ended) {
            if (!gz->inside)
                break; /* the end of the data */
            *why = "the gzip data is cut short";
            return -1;
        }
        gz->inside = true;
        gz->z.next_out = (unsigned char *)to + (n - left);
        gz->z.avail_out = left < INT_MAX ? (unsigned)left : INT_MAX;
        left -= gz->z.avail_out;
        status = inflate(&gz->z, Z_NO_FLUSH);
        left += gz->z.avail_out;
        if (status == Z_STREAM_END) {
            gz->inside = false;
            if (inflateReset(&gz->z) != Z_OK)
                status = Z_DATA_ERROR;
        }
        if (status != Z_OK && status != Z_STREAM_END &&
            status != Z_BUF_ERROR) {
            *why = "the gzip data is damaged";
            return -1;
        }
    }
    return (int64_t)(n - left);
}

void cr_gz_close(struct cr_gz *gz)
{
    inflateEnd(&gz->z);
    free(gz);
}

bool cr_gz_magic(const unsigned char *head, size_t n)
{
    return n >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8;
}
