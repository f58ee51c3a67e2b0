#include "data/fingerprint.h"

#include "base/gz.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)1 << 16)
#define FILES_MAX 64 /* files of a folder of images that are read */

uint32_t cr_fingerprint_name(uint32_t crc, const char *path, uint64_t size)
{
    const char *base = cr_path_base(path);
    unsigned char bytes[8];
    int i;

    for (i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(size >> 8 * i);
    crc = cr_crc32(crc, base, strlen(base) + 1);
    return cr_crc32(crc, bytes, sizeof bytes);
}

static bool contents_fail(struct cr_diag *diag, const char *path)
{
    return cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_READ,
                    "cannot read: %s", strerror(errno));
}

bool cr_fingerprint_file(struct cr_diag *diag, uint32_t *crc, const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return contents_fail(diag, path);
    *crc = cr_fingerprint_name(*crc, path, (uint64_t)st.st_size);
    return true;
}

/* Adds up to len bytes, starting at `at`; false with errno set. */
static bool add_piece(uint32_t *crc, int fd, int64_t at, size_t len)
{
    char block[BLOCK];

    while (len > 0) {
        ssize_t got = pread(fd, block, len < BLOCK ? len : BLOCK, at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0; /* the reader of the data reports a file that is
                                too short */
        *crc = cr_crc32(*crc, block, (size_t)got);
        at += got;
        len -= (size_t)got;
    }
    return true;
}

/* False with errno set. */
static bool add_file(uint32_t *crc, const char *path, size_t whole,
                     int64_t pieces)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;
    struct stat st;
    bool ok = fd >= 0 && fstat(fd, &st) == 0;
    int64_t last, k;

    if (ok && S_ISREG(st.st_mode)) {
        last = (int64_t)st.st_size - CR_CONTENTS_PIECE;
        if ((uint64_t)st.st_size <= whole)
            ok = add_piece(crc, fd, 0, (size_t)st.st_size);
        else
            for (k = 0; k < pieces && ok; k++)
                ok = add_piece(crc, fd,
                               last / (pieces - 1) * k +
                                   last % (pieces - 1) * k / (pieces - 1),
                               CR_CONTENTS_PIECE);
    }
    error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return ok;
}

bool cr_fingerprint_contents(struct cr_diag *diag, uint32_t *crc,
                             const char *path)
{
    return add_file(crc, path, CR_CONTENTS_WHOLE, CR_CONTENTS_PIECES) ||
           contents_fail(diag, path);
}

bool cr_fingerprint_among(struct cr_diag *diag, uint32_t *crc,
                          const char *path, int64_t i, int64_t n)
{
    /* one file in each of FILES_MAX equal ranges */
    if (n > FILES_MAX && i > 0 && i * FILES_MAX / n == (i - 1) * FILES_MAX / n)
        return true;
    return add_file(crc, path, BLOCK, (int64_t)(BLOCK / CR_CONTENTS_PIECE)) ||
           !diag || contents_fail(diag, path);
}
