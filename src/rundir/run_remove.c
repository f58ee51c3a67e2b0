#include "rundir/run_remove.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "rundir/run_files.h"
#include "rundir/run_lock.h"

#define REMOVED ".removed."

/* A file with several names; its size counts once. */
struct linked {
    dev_t dev;
    ino_t ino;
    struct linked *next;
};

struct contents {
    struct cr_arena *arena;
    struct cr_run_contents *to;
    int cap; /* of to->other */
    struct linked *linked;
};

static int remove_open(int above, const char *name)
{
    return openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static bool remove_is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Opens the entries of a directory for reading; takes over the descriptor. */
static DIR *remove_entries(int fd)
{
    DIR *d = fd < 0 ? NULL : fdopendir(fd);

    if (!d && fd >= 0)
        close(fd);
    return d;
}

/* ---- Listing */

static void contents_other(struct contents *c, const char *name)
{
    struct cr_run_contents *to = c->to;

    if (to->n_others == c->cap) {
        c->cap = 2 * c->cap + 8;
        to->other = cr_grow(c->arena, to->other, (size_t)to->n_others,
                            (size_t)c->cap, sizeof *to->other);
    }
    to->other[to->n_others++] = name;
}

static bool contents_is_counted(struct contents *c, const struct stat *st)
{
    struct linked *l;

    if (st->st_nlink < 2)
        return false;
    for (l = c->linked; l; l = l->next)
        if (l->dev == st->st_dev && l->ino == st->st_ino)
            return true;
    l = CR_NEW(c->arena, struct linked);
    *l = (struct linked){ st->st_dev, st->st_ino, c->linked };
    c->linked = l;
    return false;
}

/* Whether the entry is a file that a run writes, or a symbolic link in its
 * place, which is removed and not followed. */
static bool contents_is_own(bool (*is)(const char *name), const char *name,
                            const struct stat *st)
{
    return (S_ISREG(st->st_mode) || S_ISLNK(st->st_mode)) && is(name);
}

static bool contents_folder(struct contents *c, int fd, const char *prefix,
                            bool (*is)(const char *name))
{
    DIR *d = remove_entries(fd);
    struct dirent *e;
    struct stat st;
    bool ok = d != NULL;
    int inner;

    while (d && ok && (e = readdir(d)) != NULL) {
        const char *name = cr_strf(c->arena, "%s%s", prefix, e->d_name);

        if (remove_is_dots(e->d_name) ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (contents_is_own(is, e->d_name, &st)) {
            c->to->files++;
            if (!contents_is_counted(c, &st))
                c->to->bytes += st.st_size;
        } else if (!*prefix && strcmp(e->d_name, "ckpt") == 0 &&
                   S_ISDIR(st.st_mode)) {
            inner = remove_open(dirfd(d), e->d_name);
            ok = contents_folder(c, inner, "ckpt/", cr_run_is_ckpt);
        } else {
            contents_other(c, name);
        }
    }
    if (d)
        closedir(d);
    return ok;
}

static int contents_by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool cr_run_contents(struct cr_arena *arena, const char *path,
                     struct cr_run_contents *to)
{
    struct contents c = { .arena = arena, .to = to };

    *to = (struct cr_run_contents){ 0 };
    if (!contents_folder(&c, remove_open(AT_FDCWD, path), "", cr_run_is_file))
        return false;
    if (to->n_others > 0)
        qsort(to->other, (size_t)to->n_others, sizeof *to->other,
              contents_by_name);
    return true;
}

/* ---- Deleting */

static bool remove_fail(struct cr_arena *arena, struct cr_diag *diag,
                        const char *path)
{
    return cr_error(diag, cr_at_file(arena, path), CR_E_SYSTEM,
                    "cannot delete: %s", strerror(errno));
}

/* Deletes the files of a run in an open directory, except `lock` and
 * record.json. An entry that another process has deleted is no error. */
static bool remove_files(int fd, bool (*is)(const char *name))
{
    DIR *d = remove_entries(fd);
    struct dirent *e;
    struct stat st;
    bool ok = d != NULL;

    while (d && ok && (e = readdir(d)) != NULL) {
        if (strcmp(e->d_name, "lock") == 0 ||
            strcmp(e->d_name, "record.json") == 0 ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (contents_is_own(is, e->d_name, &st) &&
            unlinkat(dirfd(d), e->d_name, 0) != 0 && errno != ENOENT)
            ok = false;
    }
    if (d)
        closedir(d);
    return ok;
}

/* Deletes the files of a run directory; the record is the last one, and the
 * lock stays. */
static bool remove_contents(const char *path)
{
    int fd = remove_open(AT_FDCWD, path);
    int inner = fd >= 0 ? remove_open(fd, "ckpt") : -1;
    bool ok = fd >= 0 && (inner >= 0 || errno == ENOENT || errno == ENOTDIR ||
                          errno == ELOOP);

    if (ok && inner >= 0) {
        ok = remove_files(inner, cr_run_is_ckpt) &&
             (unlinkat(fd, "ckpt", AT_REMOVEDIR) == 0 || errno == ENOENT ||
              errno == ENOTEMPTY || errno == EEXIST);
    }
    ok = ok && remove_files(remove_open(fd, "."), cr_run_is_file) &&
         (unlinkat(fd, "record.json", 0) == 0 || errno == ENOENT);
    if (fd >= 0)
        close(fd);
    return ok;
}

/* Deletes a directory unless it has entries left. */
static bool remove_folder(const char *path)
{
    return rmdir(path) == 0 || errno == ENOENT || errno == ENOTEMPTY ||
           errno == EEXIST || errno == EBUSY || errno == EINVAL;
}

/* Gives the directory its name for removal; returns the path to delete: the old
 * one where a directory cannot be renamed, such as a mount point. */
static const char *remove_rename(struct cr_arena *arena, const char *path)
{
    const char *above = cr_path_dir(arena, path);
    const char *name =
        cr_strf(arena, ".%s" REMOVED "%ld", cr_path_base(path), (long)getpid());
    const char *to = cr_path_join(arena, above, name);

    if (rename(path, to) == 0)
        return to;
    return errno == EBUSY || errno == EINVAL ? path : NULL;
}

bool cr_run_remove(struct cr_arena *arena, struct cr_diag *diag,
                   const char *path, bool unbegun)
{
    struct cr_diag quiet = { .arena = arena };
    struct cr_run_lock lock = { 0 };
    struct cr_run_contents contents;
    const char *now = path;
    bool ok;

    if (!cr_run_contents(arena, path, &contents))
        return errno == ENOENT || remove_fail(arena, diag, path);
    if (!cr_run_lock_take(arena, &quiet, &lock, path)) {
        if (access(path, F_OK) != 0 && errno == ENOENT)
            return true; /* another process has deleted it */
        cr_diag_append(diag, &quiet);
        return false;
    }
    if (unbegun &&
        access(cr_path_join(arena, path, "record.json"), F_OK) == 0) {
        cr_run_lock_release(&lock);
        return true;
    }
    ok = cr_run_contents(arena, path, &contents);
    if (ok && contents.n_others == 0)
        now = remove_rename(arena, path);
    if (ok && now && now != path)
        cr_run_lock_moved(arena, &lock, now);
    ok = ok && now && remove_contents(now);
    if (!ok)
        remove_fail(arena, diag, now ? now : path);
    cr_run_lock_release(&lock);
    if (ok && contents.n_others == 0)
        ok = remove_folder(now) || remove_fail(arena, diag, now);
    return ok;
}

/* ---- What a killed process left */

bool cr_run_is_removed(const char *name)
{
    const char *at = name, *found = NULL;

    while ((at = strstr(at, REMOVED)) != NULL)
        found = at++;
    return name[0] == '.' && found && found > name &&
           found[strlen(REMOVED)] != '\0' &&
           strspn(found + strlen(REMOVED), "0123456789") ==
               strlen(found + strlen(REMOVED));
}

bool cr_run_remove_rest(struct cr_arena *arena, struct cr_diag *diag,
                        const char *path)
{
    int fd;

    if (!remove_contents(path))
        return errno == ENOENT || remove_fail(arena, diag, path);
    fd = remove_open(AT_FDCWD, path);
    if (fd >= 0) {
        (void)unlinkat(fd, "lock", 0);
        close(fd);
    }
    return remove_folder(path) || remove_fail(arena, diag, path);
}
