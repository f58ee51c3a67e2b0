#define ZLIB_CONST /* next_in points to const */

#include "base/gz.h"

#include <limits.h>
#include <zlib.h>

uint32_t cr_crc32(uint32_t crc, const void *data, size_t len)
{
    /* for NULL zlib gives the start value, whatever went before */
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
    /* zlib counts in int */
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
