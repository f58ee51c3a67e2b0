#include "base/atomic_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

#define ATOMIC_CHUNK ((size_t)1 << 30)
#define ATOMIC_BUFFER ((size_t)1 << 16)

static bool atomic_fail(struct cr_atomic_file *f, const char *what, int why)
{
    f->failed = true;
    return cr_error(f->diag, cr_at_file(f->diag->arena, f->path), CR_E_SYSTEM,
                    "%s: %s", what, strerror(why));
}

static bool atomic_close(struct cr_atomic_file *f)
{
    int fd = f->fd;

    f->fd = -1;
    return fd < 0 || close(fd) == 0;
}

static void atomic_free(struct cr_atomic_file *f)
{
    atomic_close(f);
    if (f->part && !f->unnamed)
        unlinkat(f->dir, f->part, 0);
    if (f->dir >= 0)
        close(f->dir);
    cr_arena_free(&f->mem);
    f->dir = -1;
    f->part = NULL;
}

/* ---- Files of writers that were killed */

/* .NAME.tmp.NUMBER */
static bool atomic_is_part(const char *entry, const char *name)
{
    const char *dot = strrchr(entry, '.');
    size_t stem;

    if (entry[0] != '.' || !dot || dot - entry < 6 || !dot[1] ||
        strspn(dot + 1, "0123456789") != strlen(dot + 1) ||
        strncmp(dot - 4, ".tmp", 4) != 0)
        return false;
    stem = (size_t)(dot - 4 - (entry + 1));
    return !name ||
           (strlen(name) == stem && strncmp(entry + 1, name, stem) == 0);
}

/* Whether no process holds the lock; false where file locks are not
 * supported. */
static bool atomic_is_orphan(int dir, const char *entry)
{
    int fd = openat(dir, entry, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool free = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;

    if (fd >= 0)
        close(fd);
    return free;
}

void cr_atomic_file_sweep(const char *dir, const char *name)
{
    DIR *d = opendir(dir);
    struct dirent *e;

    while (d && (e = readdir(d)) != NULL)
        if (atomic_is_part(e->d_name, name) &&
            atomic_is_orphan(dirfd(d), e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

/* ---- Opening */

/* Reserves the file's blocks; true where the file system cannot. */
static bool atomic_reserve(struct cr_atomic_file *f, int64_t size)
{
    /* not posix_fallocate: where the file system lacks it, it writes */
    while (size > 0 && fallocate(f->fd, 0, 0, size) != 0) {
        if (errno == EINTR)
            continue;
        if (errno == EOPNOTSUPP || errno == ENOSYS)
            break;
        return atomic_fail(
            f, cr_strf(&f->mem, "cannot write %lld bytes", (long long)size),
            errno);
    }
    return true;
}

static bool atomic_is_device(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* The path in /proc by which an open file can be linked. */
static const char *atomic_proc(struct cr_atomic_file *f)
{
    return cr_strf(&f->mem, "/proc/self/fd/%d", f->fd);
}

static void atomic_create_unnamed(struct cr_atomic_file *f)
{
    f->fd = openat(f->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (f->fd < 0)
        return;
    f->unnamed = faccessat(AT_FDCWD, atomic_proc(f), F_OK, 0) == 0;
    if (!f->unnamed) { /* no /proc */
        close(f->fd);
        f->fd = -1;
    }
}

static void atomic_create_named(struct cr_atomic_file *f, const char *dir)
{
    struct stat st;

    cr_atomic_file_sweep(dir, f->name);
    /* A process in another container may have the same number: then its
     * lock is held, and the error is that the file exists. */
    do {
        if (f->fd >= 0)
            close(f->fd);
        f->fd = openat(f->dir, f->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                       0666);
        if (f->fd >= 0)
            (void)flock(f->fd, LOCK_EX | LOCK_NB);
        /* another process may have deleted it before it was locked */
    } while (f->fd >= 0 && fstat(f->fd, &st) == 0 && st.st_nlink == 0);
}

bool cr_atomic_file_open(struct cr_atomic_file *f, struct cr_diag *diag,
                         const char *path, int64_t size)
{
    struct stat st;
    const char *dir;
    char *target;

    *f = (struct cr_atomic_file){
        .diag = diag, .path = path, .fd = -1, .dir = -1
    };
    f->standard = strcmp(path, "-") == 0;
    if (f->standard)
        return true;
    if (atomic_is_device(path)) {
        f->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        return f->fd >= 0 || atomic_fail(f, "cannot write", errno);
    }
    if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode) &&
        (target = realpath(path, NULL)) != NULL) {
        path = cr_strdup(&f->mem, target);
        free(target);
    }
    f->name = cr_path_base(path);
    dir = cr_path_dir(&f->mem, path);
    f->dir = open(dir, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
    if (f->dir < 0) {
        atomic_fail(f, "cannot write into its folder", errno);
        goto fail;
    }
    atomic_create_unnamed(f);
    f->part = cr_strf(&f->mem, ".%s.tmp.%ld", f->name, (long)getpid());
    if (f->fd < 0)
        atomic_create_named(f, dir);
    if (f->fd < 0) {
        f->part = NULL;
        atomic_fail(f, "cannot write", errno);
        goto fail;
    }
    /* the new file is as private as the old one */
    if (fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(st.st_mode))
        (void)fchmod(f->fd, st.st_mode & 0777);
    if (atomic_reserve(f, size))
        return true;
fail:
    atomic_free(f);
    return false;
}

/* ---- Writing */

static bool atomic_put(struct cr_atomic_file *f, const char *from, size_t len)
{
    if (f->standard && len > 0)
        f->failed = f->failed || fwrite(from, 1, len, stdout) != len;
    while (!f->standard && !f->failed && len > 0) {
        size_t part = len < ATOMIC_CHUNK ? len : ATOMIC_CHUNK;
        ssize_t n = write(f->fd, from, part);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return atomic_fail(f, "cannot write", n < 0 ? errno : ENOSPC);
        from += n;
        len -= (size_t)n;
    }
    return !f->failed;
}

static bool atomic_flush(struct cr_atomic_file *f)
{
    size_t n = f->waiting;

    f->waiting = 0;
    return atomic_put(f, f->buffer, n);
}

bool cr_atomic_file_write(struct cr_atomic_file *f, const void *data,
                          size_t len)
{
    if (f->failed)
        return false;
    if (len > ATOMIC_BUFFER - f->waiting && !atomic_flush(f))
        return false;
    if (len >= ATOMIC_BUFFER)
        return atomic_put(f, data, len);
    if (!f->buffer)
        f->buffer = CR_NEWS(&f->mem, char, ATOMIC_BUFFER);
    if (len > 0)
        memcpy(f->buffer + f->waiting, data, len);
    f->waiting += len;
    return true;
}

/* Names an unnamed file in two steps, because link cannot replace a file. */
static bool atomic_name(struct cr_atomic_file *f)
{
    if (f->unnamed) {
        const char *from = atomic_proc(f);

        /* a killed process with the same number may have left this name; the
         * lock shows other processes that this process is alive */
        unlinkat(f->dir, f->part, 0);
        (void)flock(f->fd, LOCK_EX | LOCK_NB);
        if (linkat(AT_FDCWD, from, f->dir, f->part, AT_SYMLINK_FOLLOW) != 0)
            return false;
        f->unnamed = false;
    }
    if (renameat(f->dir, f->part, f->dir, f->name) != 0)
        return false;
    f->part = NULL;
    return true;
}

/* A failed fsync is final: the kernel may have dropped the pages since. */
bool cr_atomic_file_commit(struct cr_atomic_file *f)
{
    atomic_flush(f);
    if (f->part && !f->failed && (fsync(f->fd) != 0 || !atomic_name(f)))
        atomic_fail(f, "cannot write", errno);
    if (!atomic_close(f) && !f->failed)
        atomic_fail(f, "cannot write", errno);
    if (f->dir >= 0 && !f->failed)
        /* some file systems cannot; the file itself is synced already */
        (void)fsync(f->dir);
    atomic_free(f);
    return !f->failed;
}

void cr_atomic_file_discard(struct cr_atomic_file *f)
{
    atomic_free(f);
}
