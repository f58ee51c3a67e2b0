/*
 * The folder of a run's checkpoints: file names, the links `last` and `best`,
 * and the deletion of old checkpoints.
 */
#include "ckpt/tensor_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/checked_math.h"

#define PUBLISH_SUFFIX ".safetensors"

const char *cr_ckpt_name(struct cr_arena *arena, const char *dir,
                         const char *prefix, int64_t epoch, int64_t step)
{
    return cr_path_join(arena, dir,
                        cr_strf(arena, "%s-%" PRId64 "_%" PRId64 PUBLISH_SUFFIX,
                                prefix, epoch, step));
}

/* Parses the digits from `at` to `end`; false if there are none or the number
 * overflows. */
static bool retention_number(const char *at, const char *end, int64_t *to)
{
    if (at == end)
        return false;
    for (*to = 0; at < end; at++)
        if (*at < '0' || *at > '9' || !cr_checked_mul(to, *to, 10) ||
            !cr_checked_add(to, *to, *at - '0'))
            return false;
    return true;
}

/* PREFIX-EPOCH_STEP.safetensors */
static bool retention_parse(struct cr_arena *arena, const char *dir,
                            const char *name, struct cr_ckpt_file *to)
{
    const char *dot, *line, *dash;

    if (!cr_ends(name, PUBLISH_SUFFIX) || name[0] == '.')
        return false;
    dot = name + strlen(name) - strlen(PUBLISH_SUFFIX);
    line = memrchr(name, '_', (size_t)(dot - name));
    dash = line ? memrchr(name, '-', (size_t)(line - name)) : NULL;
    if (!dash || dash == name ||
        !retention_number(dash + 1, line, &to->epoch) ||
        !retention_number(line + 1, dot, &to->step))
        return false;
    to->prefix = cr_strndup(arena, name, (size_t)(dash - name));
    to->path = cr_path_join(arena, dir, name);
    return true;
}

static int retention_newest(const void *a, const void *b)
{
    const struct cr_ckpt_file *x = a, *y = b;

    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? 1 : -1;
    if (x->step != y->step)
        return x->step < y->step ? 1 : -1;
    return strcmp(x->path, y->path);
}

const struct cr_ckpt_file *cr_ckpt_list(struct cr_arena *arena,
                                        struct cr_diag *diag, const char *dir,
                                        const char *prefix, int *n)
{
    struct cr_ckpt_file *file = NULL;
    DIR *d = opendir(dir);
    struct dirent *e;
    bool ok = d || errno == ENOENT;
    int cap = 0;

    *n = 0;
    while (ok && d) {
        struct cr_ckpt_file one;

        errno = 0;
        e = readdir(d);
        ok = e || errno == 0;
        if (!e)
            break;
        if (!retention_parse(arena, dir, e->d_name, &one) ||
            (prefix && strcmp(one.prefix, prefix) != 0))
            continue;
        if (*n == cap) {
            cap = 2 * cap + 16;
            file = cr_grow(arena, file, (size_t)*n, (size_t)cap, sizeof *file);
        }
        file[(*n)++] = one;
    }
    if (!ok) {
        cr_error(diag, cr_at_file(diag->arena, dir), CR_E_SYSTEM,
                 "cannot read the folder: %s", strerror(errno));
        *n = -1;
    }
    if (d)
        closedir(d);
    if (*n > 0)
        qsort(file, (size_t)*n, sizeof *file, retention_newest);
    return file;
}

bool cr_ckpt_same(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* Copies a file, where the file system does not support links. */
static bool retention_copy(struct cr_diag *diag, const char *from,
                           const char *to)
{
    struct cr_arena mem = { 0 };
    struct cr_atomic_file file;
    const size_t size = 1 << 20;
    char *chunk = CR_NEWS(&mem, char, size);
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    struct stat st;
    ssize_t n = -1;
    bool ok = false;

    if (fd < 0 || fstat(fd, &st) != 0)
        goto done;
    if (!cr_atomic_file_open(&file, diag, to, st.st_size)) {
        n = 0; /* reported */
        goto done;
    }
    while ((n = read(fd, chunk, size)) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            cr_atomic_file_write(&file, chunk, (size_t)n);
    if (n == 0)
        ok = cr_atomic_file_commit(&file);
    else
        cr_atomic_file_discard(&file);
done:
    if (n < 0)
        cr_error(diag, cr_at_file(diag->arena, from), CR_E_SYSTEM,
                 "cannot read: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    cr_arena_free(&mem);
    return ok;
}

/* Makes `to` another name of the file `from`, atomically. */
static bool retention_link(struct cr_diag *diag, const char *from,
                           const char *to)
{
    struct cr_arena mem = { 0 };
    const char *part =
        cr_strf(&mem, ".%s.tmp.%ld", cr_path_base(to), (long)getpid());
    bool ok = true;

    if (cr_ckpt_same(from, to))
        goto done;
    part = cr_path_join(&mem, cr_path_dir(&mem, to), part);
    unlink(part);
    if (link(from, part) != 0) {
        ok = retention_copy(diag, from, to);
    } else if (rename(part, to) != 0) {
        ok = cr_error(diag, cr_at_file(diag->arena, to), CR_E_SYSTEM,
                      "cannot write: %s", strerror(errno));
        unlink(part);
    }
done:
    cr_arena_free(&mem);
    return ok;
}

static void retention_sync(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        /* not all file systems support it; the names are then durable a little
         * later */
        (void)fsync(fd);
        close(fd);
    }
}

bool cr_ckpt_retain(struct cr_diag *diag, const struct cr_retention *p)
{
    struct cr_arena mem = { 0 };
    const char *dir = cr_path_dir(&mem, p->path);
    const char *best = cr_path_join(&mem, dir, "best" PUBLISH_SUFFIX);
    const char *last = cr_path_join(&mem, dir, "last" PUBLISH_SUFFIX);
    const struct cr_ckpt_file *file;
    struct cr_ckpt_file own;
    int n = 0;
    bool ok;

    ok = !p->best || retention_link(diag, p->best, best);
    ok = retention_link(diag, p->path, last) && ok;
    if (!ok) /* a checkpoint that still has to be linked must not be deleted */
        goto done;
    retention_sync(dir);
    if (p->keep <= 0 ||
        !retention_parse(&mem, dir, cr_path_base(p->path), &own))
        goto done;
    file = cr_ckpt_list(&mem, diag, dir, own.prefix, &n);
    ok = n >= 0;
    for (int i = 0; i < n; i++)
        if (i >= p->keep && !cr_ckpt_same(file[i].path, p->path) &&
            !cr_ckpt_same(file[i].path, best) &&
            !(p->resumed && cr_ckpt_same(file[i].path, p->resumed)) &&
            !(p->good && cr_ckpt_same(file[i].path, p->good)))
            unlink(file[i].path);
done:
    cr_arena_free(&mem);
    return ok;
}
