#include "train/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "ckpt/checkpoint.h"
#include "train/console.h"

#define RUNDIR_BEAT 10.0        /* seconds between signs of life */
#define RUNDIR_STALE 120.0      /* older ones are of the dead */
#define RUNDIR_LINE_MAX (1 << 20)

static const char *const rundir_files[] = {
    "config.yaml", "resolved.yaml", "command", "record.json",
    "metrics.jsonl", "log.txt", NULL
};

static bool rundir_failed(struct cr_rundir *dir, const char *path,
                          const char *what)
{
    return cr_error(dir->diag, cr_at_file(dir->arena, path), CR_E_SYSTEM,
                    "cannot %s: %s", what, strerror(errno));
}

const char *cr_rundir_file(const struct cr_rundir *dir, const char *name)
{
    return cr_path_join(dir->arena, dir->path, name);
}

const char *cr_rundir_of(struct cr_arena *arena, const char *ckpt)
{
    const char *folder = cr_path_dir(arena, ckpt), *parent;

    if (strcmp(cr_path_base(folder), "ckpt") != 0)
        return NULL;
    parent = cr_path_dir(arena, folder);
    if (access(cr_path_join(arena, parent, "record.json"), F_OK) != 0)
        return NULL;
    return parent;
}

/* ---- The lock ----------------------------------------------------------
 * One line: host, process, and when that process started (field 22 of its
 * stat in /proc), so that another process with a dead one's number is not
 * taken for it. */

struct owner {
    char host[256];
    long pid;
    unsigned long long start;
};

/* 0 if it is not known; *dead is set for one that only waits to be reaped. */
static unsigned long long rundir_start_of(long pid, bool *dead)
{
    char path[64], text[1024], *p;
    unsigned long long start = 0;
    size_t n;
    FILE *f;

    *dead = false;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    f = fopen(path, "r");
    if (!f)
        return 0;
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    p = strrchr(text, ')'); /* the name may hold anything */
    *dead = p && p[1] && (p[2] == 'Z' || p[2] == 'X');
    for (int field = 2; p && field < 22; field++)
        p = strchr(p + 1, ' ');
    if (p)
        start = strtoull(p, NULL, 10);
    return start;
}

static void rundir_self(struct owner *self)
{
    bool dead;

    *self = (struct owner){ .pid = (long)getpid() };
    if (gethostname(self->host, sizeof self->host - 1) != 0 || !*self->host)
        strcpy(self->host, "localhost");
    self->start = rundir_start_of(self->pid, &dead);
}

static bool rundir_owner(const char *lock, struct owner *to)
{
    FILE *f = fopen(lock, "r");
    int n = 0;

    if (f) {
        n = fscanf(f, "%255s %ld %llu", to->host, &to->pid, &to->start);
        fclose(f);
    }
    return n == 3;
}

static bool rundir_alive(const struct owner *owner, const struct owner *self,
                         const struct stat *st)
{
    unsigned long long start;
    bool dead;

    if (strcmp(owner->host, self->host) != 0)
        return difftime(time(NULL), st->st_mtime) < RUNDIR_STALE;
    if (owner->pid <= 0 ||
        (kill((pid_t)owner->pid, 0) != 0 && errno == ESRCH))
        return false;
    start = rundir_start_of(owner->pid, &dead);
    return !dead && (owner->start == 0 || start == owner->start);
}

/* Writes a new file; its name may exist. */
static bool rundir_create(const char *path, const char *text)
{
    FILE *f = fopen(path, "we");
    bool ok;

    if (!f)
        return false;
    ok = fputs(text, f) >= 0;
    return fclose(f) == 0 && ok;
}

/* What processes of this host left that died while they claimed: nobody else
 * of us claims while the folder is held. */
static void rundir_bury(const struct cr_rundir *dir, const char *host)
{
    const char *start = cr_strf(dir->arena, "lock.tmp.%s.", host);
    DIR *d = opendir(dir->path);
    struct dirent *e;

    while (d && (e = readdir(d)) != NULL)
        if (cr_starts(e->d_name, start))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

/* A second try follows the removal of a dead owner's lock. The folder itself
 * is held meanwhile, so that two of us do not bury the same dead. */
static bool rundir_claim(struct cr_rundir *dir)
{
    const char *lock = cr_rundir_file(dir, "lock");
    struct owner self, owner = { .pid = 0 };
    const char *mine;
    struct stat st;
    bool ok = false;
    int fd = open(dir->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    rundir_self(&self);
    mine = cr_strf(dir->arena, "%s.tmp.%s.%ld", lock, self.host, self.pid);
    if (fd >= 0 && flock(fd, LOCK_EX) == 0)
        rundir_bury(dir, self.host);
    if (!rundir_create(mine, cr_strf(dir->arena, "%s %ld %llu\n", self.host,
                                     self.pid, self.start))) {
        rundir_failed(dir, dir->path, "write the run directory");
        goto done;
    }
    for (int i = 0; i < 2 && !ok; i++) {
        if (link(mine, lock) == 0) {
            ok = true;
        } else if (errno != EEXIST) {
            /* no links here: the folder's own lock has to do */
            ok = rename(mine, lock) == 0;
            break;
        } else if (stat(lock, &st) == 0 && rundir_owner(lock, &owner) &&
                   rundir_alive(&owner, &self, &st)) {
            break;
        } else {
            unlink(lock);
        }
    }
    if (ok) {
        dir->lock = lock;
        dir->beat_next = cr_now() + RUNDIR_BEAT;
    } else {
        cr_error(dir->diag, cr_at_file(dir->arena, dir->path), CR_E_RUN_DIR,
                 "process %ld on %s works in this run directory", owner.pid,
                 owner.host);
    }
done:
    unlink(mine);
    if (fd >= 0)
        close(fd);
    return ok;
}

void cr_rundir_beat(struct cr_rundir *dir, double now)
{
    if (!dir->lock || now < dir->beat_next)
        return;
    utimensat(AT_FDCWD, dir->lock, NULL, 0);
    dir->beat_next = now + RUNDIR_BEAT;
}

/* ---- The directory */

static bool rundir_make(struct cr_rundir *dir, const char *path)
{
    char *part = cr_strdup(dir->arena, path);

    for (char *p = part + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            if (mkdir(part, 0777) != 0 && errno != EEXIST)
                return rundir_failed(dir, part, "make the folder");
            *p = '/';
        }
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
        return rundir_failed(dir, part, "make the folder");
    return true;
}

/* Whether the folder holds anything besides locks. */
static bool rundir_used(const char *path)
{
    DIR *d = opendir(path);
    struct dirent *e;
    bool used = false;

    while (d && (e = readdir(d)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            strcmp(e->d_name, "lock") != 0 &&
            !cr_starts(e->d_name, "lock.tmp."))
            used = true;
    if (d)
        closedir(d);
    return used;
}

void cr_rundir_clear(struct cr_rundir *dir)
{
    DIR *d = opendir(dir->ckpt);
    struct dirent *e;

    for (int i = 0; rundir_files[i]; i++)
        unlink(cr_rundir_file(dir, rundir_files[i]));
    while (d && (e = readdir(d)) != NULL)
        if (cr_ends(e->d_name, ".safetensors"))
            unlink(cr_path_join(dir->arena, dir->ckpt, e->d_name));
    if (d)
        closedir(d);
}

bool cr_rundir_open(struct cr_rundir *dir, const char *path,
                    enum cr_run_how how)
{
    dir->path = path;
    dir->ckpt = cr_path_join(dir->arena, path, "ckpt");
    if (!rundir_make(dir, path) || !rundir_claim(dir))
        return false;
    if (how == CR_RUN_NEW && rundir_used(path)) {
        cr_error(dir->diag, cr_at_file(dir->arena, path), CR_E_RUN_DIR,
                 "the run directory is not empty");
        cr_note(dir->diag, "--force starts over in it, --resume auto goes on "
                           "with the run that it holds");
        cr_rundir_close(dir);
        return false;
    }
    for (int i = 0; rundir_files[i]; i++)
        cr_atomic_file_sweep(path, rundir_files[i]);
    cr_atomic_file_sweep(dir->ckpt, NULL);
    if (how == CR_RUN_FORCE)
        cr_rundir_clear(dir);
    if (mkdir(dir->ckpt, 0777) != 0 && errno != EEXIST) {
        rundir_failed(dir, dir->ckpt, "make the folder");
        cr_rundir_close(dir);
        return false;
    }
    return true;
}

void cr_rundir_close(struct cr_rundir *dir)
{
    if (dir->metrics)
        fclose(dir->metrics);
    dir->metrics = NULL;
    if (dir->lock)
        unlink(dir->lock);
    dir->lock = NULL;
}

bool cr_rundir_put(struct cr_rundir *dir, const char *name, const char *text)
{
    return cr_write_file(dir->diag, cr_rundir_file(dir, name), text,
                         strlen(text));
}

bool cr_rundir_metrics(struct cr_rundir *dir,
                       bool (*keep)(void *ctx, const char *line), void *ctx)
{
    const char *path = cr_rundir_file(dir, "metrics.jsonl");
    struct cr_arena mem = { 0 };
    struct cr_buf kept = { .arena = &mem };
    FILE *old = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    bool ok = true;

    /* a last line without its end was cut off by a kill */
    while (old && (len = getline(&line, &room, old)) > 0)
        if (len < RUNDIR_LINE_MAX && line[len - 1] == '\n' && keep(ctx, line))
            cr_buf_add(&kept, line, (size_t)len);
    free(line);
    if (old) {
        fclose(old);
        ok = cr_rundir_put(dir, "metrics.jsonl", cr_buf_text(&kept));
    }
    cr_arena_free(&mem);
    if (!ok)
        return false;
    dir->metrics = fopen(path, "ae");
    if (!dir->metrics)
        return rundir_failed(dir, path, "write");
    return true;
}
