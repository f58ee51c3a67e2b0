#include "rundir/run_lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "base/thread_pool.h"

#define LOCK_BEAT 10.0   /* seconds between heartbeats */
#define LOCK_STALE 120.0 /* after this time a heartbeat belongs to a dead
                            process */

struct owner {
    char host[256];
    long pid;
    unsigned long long start; /* start time of the process; 0: unknown */
    char boot[64], space[64]; /* boot and PID namespace; empty: unknown */
};

/* ---- The owner */

/* Start time of a process, or 0 if it is unknown; sets *dead for a zombie. */
static unsigned long long lock_start_of(long pid, bool *dead)
{
    char path[64], text[1024], *p;
    unsigned long long start = 0;
    size_t n;
    FILE *f;

    *dead = false;
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    f = fopen(path, "re");
    if (!f)
        return 0;
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    p = strrchr(text, ')'); /* the name in parentheses may hold any character */
    *dead = p && p[1] && (p[2] == 'Z' || p[2] == 'X');
    for (int field = 2; p && field < 22; field++)
        p = strchr(p + 1, ' ');
    if (p)
        start = strtoull(p, NULL, 10);
    return start;
}

static void lock_self(struct owner *self)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool dead;
    ssize_t n;

    *self = (struct owner){ .pid = (long)getpid() };
    if (gethostname(self->host, sizeof self->host - 1) != 0 || !*self->host)
        strcpy(self->host, "localhost");
    self->start = lock_start_of(self->pid, &dead);
    if (f && fscanf(f, "%63s", self->boot) != 1)
        *self->boot = '\0';
    if (f)
        fclose(f);
    n = readlink("/proc/self/ns/pid", self->space, sizeof self->space - 1);
    if (n < 0 || !*self->boot)
        *self->space = *self->boot = '\0';
}

/* Reads the owner. Older versions wrote no boot and no namespace. */
static bool lock_read(int fd, struct owner *to)
{
    char text[512];
    ssize_t n = pread(fd, text, sizeof text - 1, 0);

    *to = (struct owner){ 0 };
    if (n < 0)
        return false;
    text[n] = '\0';
    return sscanf(text, "%255s %ld %llu %63s %63s", to->host, &to->pid,
                  &to->start, to->boot, to->space) >= 3;
}

static bool lock_is_here(const struct owner *owner, const struct owner *self)
{
    return *owner->boot && *self->boot ? strcmp(owner->boot, self->boot) == 0
                                       : strcmp(owner->host, self->host) == 0;
}

/* Whether only its heartbeat shows that the owner is alive: it is on another
 * machine or in another PID namespace. */
static bool lock_is_remote(const struct owner *owner, const struct owner *self)
{
    return !lock_is_here(owner, self) ||
           (*owner->boot && *self->boot &&
            strcmp(owner->space, self->space) != 0);
}

/* Whether the owner of a lock lives if its kernel lock is not visibly held.
 * `free`: this process could take the kernel lock. `now` is by the clock of
 * the file system. */
static bool lock_owner_lives(const struct owner *owner,
                             const struct owner *self, bool free,
                             time_t changed, time_t now)
{
    unsigned long long start;
    bool dead;

    if (*owner->boot && *self->boot && lock_is_here(owner, self) && free)
        return false;
    if (lock_is_remote(owner, self))
        return difftime(now, changed) < LOCK_STALE;
    if (owner->pid <= 0 || (kill((pid_t)owner->pid, 0) != 0 && errno == ESRCH))
        return false;
    start = lock_start_of(owner->pid, &dead);
    return !dead && (owner->start == 0 || start == owner->start);
}

/* ---- Acquiring */

struct claim {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const char *folder, *path; /* path: of the lock */
    const char *mine;          /* temporary file that becomes the lock */
    int fd;                    /* descriptor of that file */
    struct owner self, owner;
};

static bool lock_fail(const struct claim *c, const char *what, int why)
{
    return cr_error(c->diag, cr_at_file(c->arena, c->folder), CR_E_SYSTEM,
                    "%s: %s", what, strerror(why));
}

static bool lock_same(const char *path, const struct stat *as)
{
    struct stat st;

    return stat(path, &st) == 0 && st.st_dev == as->st_dev &&
           st.st_ino == as->st_ino;
}

/* Removes claims of dead processes of this host. No other process of this host
 * makes a claim while the folder is locked. */
static void lock_bury_claims(const struct claim *c)
{
    const char *start = cr_strf(c->arena, "lock.tmp.%s.", c->self.host);
    DIR *d = opendir(c->folder);
    struct dirent *e;

    while (d && (e = readdir(d)) != NULL)
        if (cr_starts(e->d_name, start))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}

/* Creates the file that becomes the lock, writes its line and locks it. */
static bool lock_prepare(struct claim *c)
{
    const char *text =
        cr_strf(c->arena, "%s %ld %llu %s %s\n", c->self.host, c->self.pid,
                c->self.start, c->self.boot, c->self.space);
    ssize_t n;

    c->fd = open(c->mine, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (c->fd < 0)
        return lock_fail(c, "cannot write the run directory", errno);
    n = write(c->fd, text, strlen(text));
    if (n != (ssize_t)strlen(text))
        return lock_fail(c, "cannot write the run directory",
                         n < 0 ? errno : ENOSPC);
    (void)flock(c->fd, LOCK_EX | LOCK_NB); /* not supported on some file
                                              systems */
    return true;
}

/* Removes the lock that is open as `fd`, but not a newer one: another machine
 * may have removed the stale lock and acquired its own. */
static void lock_bury(const struct claim *c, const struct stat *st)
{
    const char *grave = cr_strf(c->arena, "%s.old", c->mine);

    if (rename(c->path, grave) != 0)
        return;
    if (!lock_same(grave, st))
        (void)!link(grave, c->path);
    unlink(grave);
}

/* Whether the owner of the present lock lives; removes the lock of a dead one.
 * Sets c->owner. */
static bool lock_is_held(struct claim *c)
{
    int fd = open(c->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    struct stat st, mine;
    bool free, held;

    if (fd < 0)
        fd = open(c->path,
                  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return errno != ENOENT;
    free = flock(fd, LOCK_EX | LOCK_NB) == 0;
    held = (!free && errno == EWOULDBLOCK) || fstat(fd, &st) != 0 ||
           fstat(c->fd, &mine) != 0;
    if (lock_read(fd, &c->owner) && !held)
        held = lock_owner_lives(&c->owner, &c->self, free, st.st_mtime,
                                mine.st_mtime);
    if (!held)
        lock_bury(c, &st);
    close(fd);
    return held;
}

static bool lock_claim(struct claim *c)
{
    for (int i = 0; i < 10; i++) {
        if (link(c->mine, c->path) == 0)
            return true;
        if (errno != EEXIST) {
            /* no hard links here: the lock of the folder must suffice */
            if (rename(c->mine, c->path) == 0)
                return true;
            return lock_fail(c, "cannot write the run directory", errno);
        }
        if (lock_is_held(c))
            break;
    }
    return cr_error(c->diag, cr_at_file(c->arena, c->folder), CR_E_RUN_DIR,
                    "process %ld on %s is using this run directory",
                    c->owner.pid, *c->owner.host ? c->owner.host : "?");
}

/* The time by the clock of the file system, which the heartbeats of other
 * machines follow: that of a new file. A folder that cannot be written leaves
 * the clock of this machine. */
static time_t lock_now(struct cr_arena *arena, const char *folder,
                       const struct owner *self)
{
    const char *path = cr_strf(arena, "%s/lock.tmp.%s.%ld.now", folder,
                               self->host, self->pid);
    int fd = open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    bool named = fd < 0;
    struct stat st;
    time_t now = time(NULL);

    if (named)
        fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0 && fstat(fd, &st) == 0)
        now = st.st_mtime;
    if (named && fd >= 0)
        unlink(path);
    if (fd >= 0)
        close(fd);
    return now;
}

bool cr_run_lock_is_live(struct cr_arena *arena, const char *folder)
{
    int fd = open(cr_path_join(arena, folder, "lock"),
                  O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct owner owner, self;
    bool free = false, live = true;
    struct stat st;

    if (fd < 0)
        return errno != ENOENT && errno != ENOTDIR;
    lock_self(&self);
    if (lock_read(fd, &owner) && fstat(fd, &st) == 0) {
        /* Other namespaces have other process numbers: only there the kernel's
         * lock is tried, for a moment, since a run that starts would see it. */
        if (strcmp(owner.space, self.space) != 0)
            free = flock(fd, LOCK_SH | LOCK_NB) == 0;
        live = (!free && strcmp(owner.space, self.space) != 0 &&
                strcmp(owner.boot, self.boot) == 0) ||
               lock_owner_lives(&owner, &self, free, st.st_mtime,
                                lock_is_remote(&owner, &self)
                                    ? lock_now(arena, folder, &self)
                                    : st.st_mtime);
    }
    close(fd);
    return live;
}

/* ---- Holding */

static void lock_tell(const struct cr_run_lock *lock, const char *path)
{
    if (lock->on_change)
        lock->on_change(path);
}

/* Looks whether path and folder are still the ones that were taken. */
static void lock_look(struct cr_run_lock *lock)
{
    struct stat st, now;
    bool other = lock->ino != 0 && stat(lock->folder, &now) == 0 &&
                 (now.st_dev != lock->dev || now.st_ino != lock->ino);

    /* A lock removed by hand names no other owner. */
    if (!other && fstat(lock->fd, &st) == 0 && stat(lock->path, &now) == 0)
        other = now.st_dev != st.st_dev || now.st_ino != st.st_ino;
    if (other) {
        lock_tell(lock, NULL); /* now belongs to another process */
        __atomic_store_n(&lock->lost, true, __ATOMIC_RELAXED);
    }
}

static void lock_touch(struct cr_run_lock *lock)
{
    futimens(lock->fd, NULL);
    lock_look(lock);
}

static void *lock_thread(void *of)
{
    struct cr_run_lock *lock = of;
    struct timespec next;

    cr_thread_unpin();
    pthread_mutex_lock(&lock->mutex);
    clock_gettime(CLOCK_MONOTONIC, &next);
    while (!lock->stop) {
        long long wait = (long long)(lock->beat * 1e9) + next.tv_nsec;

        next.tv_sec += (time_t)(wait / 1000000000);
        next.tv_nsec = (long)(wait % 1000000000);
        while (!lock->stop && pthread_cond_timedwait(&lock->wake, &lock->mutex,
                                                     &next) != ETIMEDOUT)
            ;
        if (lock->stop)
            break;
        lock_touch(lock);
        clock_gettime(CLOCK_MONOTONIC, &next);
    }
    pthread_mutex_unlock(&lock->mutex);
    return NULL;
}

/* Starts the heartbeat. Returns 0 or an error number. */
static int lock_start_thread(struct cr_run_lock *lock)
{
    pthread_condattr_t monotonic;
    sigset_t all, old;
    int error;

    pthread_mutex_init(&lock->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&lock->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    error = pthread_create(&lock->thread, NULL, lock_thread, lock);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error;
}

bool cr_run_lock_take(struct cr_arena *arena, struct cr_diag *diag,
                      struct cr_run_lock *lock, const char *folder)
{
    struct claim c = { .arena = arena,
                       .diag = diag,
                       .folder = folder,
                       .path = cr_path_join(arena, folder, "lock"),
                       .fd = -1 };
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error;
    struct stat st;
    bool ok;

    lock_self(&c.self);
    c.mine = cr_strf(arena, "%s.tmp.%s.%ld", c.path, c.self.host, c.self.pid);
    if (dir >= 0 && flock(dir, LOCK_EX) == 0)
        lock_bury_claims(&c);
    ok = lock_prepare(&c) && lock_claim(&c);
    unlink(c.mine);
    lock->folder = folder;
    lock->ino = 0;
    if (dir >= 0 && fstat(dir, &st) == 0) {
        lock->dev = st.st_dev;
        lock->ino = st.st_ino;
    }
    if (dir >= 0)
        close(dir);
    lock->fd = c.fd;
    lock->stop = lock->lost = false;
    if (lock->beat <= 0)
        lock->beat = LOCK_BEAT;
    if (ok) {
        lock->path = c.path;
        lock_tell(lock, c.path);
        error = lock_start_thread(lock);
        if (error == 0)
            return true;
        lock_fail(&c, "cannot start a thread", error);
        lock_tell(lock, NULL);
        unlink(lock->path);
        lock->path = NULL;
    }
    if (c.fd >= 0)
        close(c.fd);
    return false;
}

void cr_run_lock_moved(struct cr_arena *arena, struct cr_run_lock *lock,
                       const char *folder)
{
    pthread_mutex_lock(&lock->mutex);
    lock->path = cr_path_join(arena, folder, "lock");
    lock->folder = folder;
    lock_tell(lock, lock->path);
    pthread_mutex_unlock(&lock->mutex);
}

bool cr_run_lock_lost(const struct cr_run_lock *lock)
{
    return __atomic_load_n(&lock->lost, __ATOMIC_RELAXED);
}

bool cr_run_lock_lost_now(struct cr_run_lock *lock)
{
    if (lock->path && !cr_run_lock_lost(lock))
        lock_look(lock);
    return cr_run_lock_lost(lock);
}

void cr_run_lock_release(struct cr_run_lock *lock)
{
    if (!lock->path)
        return;
    pthread_mutex_lock(&lock->mutex);
    lock->stop = true;
    pthread_cond_signal(&lock->wake);
    pthread_mutex_unlock(&lock->mutex);
    pthread_join(lock->thread, NULL);
    pthread_cond_destroy(&lock->wake);
    pthread_mutex_destroy(&lock->mutex);
    lock_touch(lock);
    lock_tell(lock, NULL);
    if (!lock->lost)
        unlink(lock->path);
    close(lock->fd);
    lock->path = NULL;
}
