#include "base/append_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

#define APPEND_WAIT_MAX ((size_t)64 << 20) /* of the buffer */

static struct cr_pos append_pos(const struct cr_append_file *f,
                                struct cr_diag *diag)
{
    return cr_at_file(diag->arena, f->path);
}

bool cr_append_file_open(struct cr_append_file *f, struct cr_diag *diag,
                         const char *path)
{
    struct stat st;
    char last;

    *f = (struct cr_append_file){ .path = path };
    f->fd =
        open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (f->fd < 0 || fstat(f->fd, &st) != 0) {
        cr_error(diag, append_pos(f, diag), CR_E_SYSTEM, "cannot write: %s",
                 strerror(errno));
        if (f->fd >= 0)
            close(f->fd);
        f->path = NULL;
        return false;
    }
    f->size = S_ISREG(st.st_mode) ? (int64_t)st.st_size : 0;
    if (f->size > 0 && pread(f->fd, &last, 1, (off_t)(f->size - 1)) == 1 &&
        last != '\n')
        cr_append_file_add(f, "\n", 1);
    return true;
}

void cr_append_file_add(struct cr_append_file *f, const char *text, size_t len)
{
    if (!f->path)
        return;
    if (len > APPEND_WAIT_MAX - f->len) {
        for (size_t i = 0; i < len; i++)
            f->dropped += text[i] == '\n';
        return;
    }
    if (len > f->cap - f->len) {
        size_t cap = 2 * (f->len + len) + 4096;
        char *fresh = realloc(f->text, cap);

        if (!fresh)
            cr_out_of_memory(cap);
        f->text = fresh;
        f->cap = cap;
    }
    memcpy(f->text + f->len, text, len);
    f->len += len;
}

/* Removes the partial line that a failed flush has written. */
static bool append_cut(struct cr_append_file *f)
{
    struct stat st;

    if (f->error == 0)
        return true;
    return fstat(f->fd, &st) == 0 &&
           (!S_ISREG(st.st_mode) || (int64_t)st.st_size <= f->size ||
            ftruncate(f->fd, (off_t)f->size) == 0);
}

static bool append_write(struct cr_append_file *f)
{
    const char *from = f->text;
    size_t left = f->len;

    if (!append_cut(f))
        return false;
    while (left > 0) {
        ssize_t n = write(f->fd, from, left);

        if (n < 0 && errno == EINTR)
            continue;
        if (n == 0)
            errno = ENOSPC;
        if (n <= 0)
            return false;
        from += n;
        left -= (size_t)n;
    }
    f->size += (int64_t)f->len;
    f->len = 0;
    return true;
}

void cr_append_file_flush(struct cr_append_file *f, struct cr_diag *diag)
{
    int before = f->error, error;

    if (!f->path || (f->len == 0 && before == 0))
        return;
    if (append_write(f)) {
        f->error = 0;
        return;
    }
    error = errno;
    f->error = error;
    (void)append_cut(f); /* if it fails: before the next flush */
    if (before == 0)
        cr_warn(diag, append_pos(f, diag), CR_E_SYSTEM,
                "cannot write: %s; its lines wait in memory until there is "
                "space",
                strerror(error));
}

void cr_append_file_sync(struct cr_append_file *f, struct cr_diag *diag)
{
    cr_append_file_flush(f, diag);
    if (f->path && f->error == 0 && fdatasync(f->fd) != 0 && errno != EINVAL &&
        errno != EROFS)
        cr_warn(diag, append_pos(f, diag), CR_E_SYSTEM, "cannot sync: %s",
                strerror(errno));
}

static int64_t append_lines(const struct cr_append_file *f)
{
    int64_t n = 0;

    for (size_t i = 0; i < f->len; i++)
        n += f->text[i] == '\n';
    return n;
}

bool cr_append_file_close(struct cr_append_file *f, struct cr_diag *diag)
{
    const char *why = "";
    int64_t lost;

    if (!f->path)
        return true;
    cr_append_file_flush(f, diag);
    lost = f->dropped + append_lines(f);
    if (f->error != 0)
        why = cr_strf(diag->arena, ": %s", strerror(f->error));
    if (close(f->fd) != 0 && f->error == 0) {
        lost += lost == 0;
        why = cr_strf(diag->arena, ": %s", strerror(errno));
    }
    if (lost > 0)
        cr_error(diag, append_pos(f, diag), CR_E_SYSTEM,
                 "%" PRId64 " line%s could not be written%s", lost,
                 lost == 1 ? "" : "s", why);
    free(f->text);
    *f = (struct cr_append_file){ 0 };
    return lost == 0;
}
