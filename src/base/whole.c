#include "base/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

#define WHOLE_CHUNK ((size_t)1 << 30)

static bool whole_fail(struct cr_whole *w, const char *what, int why)
{
    w->failed = true;
    return cr_error(w->diag, cr_at_file(w->diag->arena, w->path), CR_E_SYSTEM,
                    "%s: %s", what, strerror(why));
}

static void whole_free(struct cr_whole *w)
{
    if (w->fd >= 0)
        close(w->fd);
    if (w->dir >= 0)
        close(w->dir);
    cr_arena_free(&w->mem);
    w->fd = w->dir = -1;
}

/* Room for the file at once; where the file system cannot tell, true. */
static bool whole_reserve(struct cr_whole *w, int64_t size)
{
    /* not posix_fallocate: where it must pretend, it writes */
    while (size > 0 && fallocate(w->fd, 0, 0, size) != 0) {
        if (errno == EINTR)
            continue;
        if (errno == EOPNOTSUPP || errno == ENOSYS)
            break;
        return whole_fail(
            w, cr_strf(&w->mem, "cannot write %lld bytes", (long long)size),
            errno);
    }
    return true;
}

static bool whole_is_device(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

bool cr_whole_open(struct cr_whole *w, struct cr_diag *diag, const char *path,
                   int64_t size)
{
    struct stat st;
    char *target;

    *w = (struct cr_whole){ .diag = diag, .path = path, .fd = -1, .dir = -1 };
    if (whole_is_device(path)) {
        w->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return w->fd >= 0 || whole_fail(w, "cannot write", errno);
    }
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) &&
        (target = realpath(path, NULL)) != NULL) {
        path = cr_strdup(&w->mem, target);
        free(target);
    }
    w->name = cr_path_base(path);
    w->part = cr_strf(&w->mem, ".%s.tmp.%ld", w->name, (long)getpid());
    w->dir =
        open(cr_path_dir(&w->mem, path), O_DIRECTORY | O_RDONLY | O_CLOEXEC);
    if (w->dir < 0) {
        whole_fail(w, "cannot write into its folder", errno);
        goto fail;
    }
    /* of a process of ours that died under the same number */
    unlinkat(w->dir, w->part, 0);
    w->fd =
        openat(w->dir, w->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (w->fd < 0) {
        whole_fail(w, "cannot write", errno);
        goto fail;
    }
    if (whole_reserve(w, size))
        return true;
    unlinkat(w->dir, w->part, 0);
fail:
    whole_free(w);
    return false;
}

bool cr_whole_put(struct cr_whole *w, const void *data, size_t len)
{
    const char *from = data;

    while (!w->failed && len > 0) {
        size_t part = len < WHOLE_CHUNK ? len : WHOLE_CHUNK;
        ssize_t n = write(w->fd, from, part);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return whole_fail(w, "cannot write", n < 0 ? errno : ENOSPC);
        from += n;
        len -= (size_t)n;
    }
    return !w->failed;
}

/* A failed fsync is final: the kernel may have dropped the pages since. */
bool cr_whole_close(struct cr_whole *w)
{
    if (w->part && !w->failed && fsync(w->fd) != 0)
        whole_fail(w, "cannot write", errno);
    if (close(w->fd) != 0 && !w->failed)
        whole_fail(w, "cannot write", errno);
    w->fd = -1;
    if (!w->part)
        goto done;
    if (!w->failed && renameat(w->dir, w->part, w->dir, w->name) != 0)
        whole_fail(w, "cannot write", errno);
    if (w->failed)
        unlinkat(w->dir, w->part, 0);
    else
        /* some file systems cannot; the file itself is synced already */
        (void)fsync(w->dir);
done:
    whole_free(w);
    return !w->failed;
}
