/* The lock of a run directory: rundir/run_lock.c. */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "rundir/run_lock.h"

static struct cr_arena arena;
static struct cr_diag diag = { .arena = &arena };
static const char *folder, *path;

/* This machine's clock may differ from that of the file system. */
static time_t skew;

time_t time(time_t *to)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    if (to)
        *to = now.tv_sec + skew;
    return now.tv_sec + skew;
}

static bool take(struct cr_run_lock *lock)
{
    *lock = (struct cr_run_lock){ .beat = 0.01 };
    return cr_run_lock_take(&arena, &diag, lock, folder);
}

/* Whether it can be taken; it is given back. */
static bool can_take(void)
{
    struct cr_run_lock lock;
    bool taken = take(&lock);

    cr_run_lock_release(&lock);
    return taken;
}

/* The line of a lock that this process would write. */
static const char *own_line(void)
{
    struct cr_run_lock lock;
    const char *line;
    size_t len;

    if (!take(&lock))
        abort();
    line =
        cr_read_file(&arena, &diag, CR_NOWHERE, path, CR_E_SYSTEM, 4096, &len);
    cr_run_lock_release(&lock);
    return line;
}

static void put(const char *line)
{
    if (!cr_write_file(&diag, path, line, strlen(line)))
        abort();
}

/* Sets its time of change back. */
static void age(int seconds)
{
    struct timespec at[2] = { { .tv_sec = time(NULL) - seconds } };

    at[1] = at[0];
    utimensat(AT_FDCWD, path, at, 0);
}

static time_t changed(void)
{
    struct stat st;

    return stat(path, &st) == 0 ? st.st_mtime : 0;
}

static void lives(void)
{
    struct cr_run_lock lock;
    struct cr_run_lock other;

    ok(take(&lock), "the lock of an empty folder");
    ok(!take(&other) && diag.last->code == CR_E_RUN_DIR,
       "a second process is refused");
    age(3600);
    for (int i = 0; i < 3000 && changed() < time(NULL) - 60; i++)
        usleep(10000);
    ok(changed() >= time(NULL) - 60,
       "it is touched whatever its owner does meanwhile");
    ok(!cr_run_lock_lost(&lock), "and belongs to its owner");
    if (rename(path, cr_strf(&arena, "%s.away", path)) != 0)
        abort();
    put("elsewhere 1 1 boot space\n");
    for (int i = 0; i < 3000 && !cr_run_lock_lost(&lock); i++)
        usleep(10000);
    ok(cr_run_lock_lost(&lock), "an owner notices that it was replaced");
    cr_run_lock_release(&lock);
    ok(access(path, F_OK) == 0, "and leaves the new owner's lock");
    unlink(path);
    unlink(cr_strf(&arena, "%s.away", path));
    ok(take(&lock), "a lock that is given back can be taken");
    cr_run_lock_release(&lock);
    ok(access(path, F_OK) != 0, "and no file is left");
}

/* `line` in a lock whose kernel lock another process holds, or not. */
static bool taken_from(const char *line, bool held)
{
    int fd;
    bool taken;

    put(line);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (held && flock(fd, LOCK_EX | LOCK_NB) != 0)
        abort();
    taken = can_take();
    close(fd);
    unlink(path);
    return taken;
}

static void owners(void)
{
    const char *own = own_line(), *boot, *space;
    char host[256] = "", rest[128] = "";
    long pid;
    unsigned long long start;

    if (sscanf(own, "%255s %ld %llu %127[^\n]", host, &pid, &start, rest) != 4)
        abort();
    space = strchr(rest, ' ');
    boot = cr_strndup(&arena, rest, (size_t)(space - rest));
    space++;

    ok(!taken_from(cr_strf(&arena, "%s 4194305 1 %s\n", host, rest), true),
       "the kernel's lock decides, not the line");
    ok(!taken_from(cr_strf(&arena, "%s 1 1 %s pid:[1]\n", host, boot), true),
       "so a process in another container keeps its lock");
    ok(taken_from(cr_strf(&arena, "%s 1 1 %s pid:[1]\n", host, boot), false),
       "and loses it when it is dead, whatever lives under its number");
    ok(taken_from(own, false), "a dead process of this system");
    ok(!taken_from("elsewhere 1 1 other-boot pid:[1]\n", false),
       "another machine's lock is not taken at once");
    ok(!taken_from(cr_strf(&arena, "%s 4194305 1 other-boot %s\n", host, space),
                   false),
       "nor one of a machine of the same name");
    put("elsewhere 1 1 other-boot pid:[1]\n");
    age(100);
    ok(!can_take(), "one with a sign of life within two minutes neither");
    age(140);
    ok(can_take(), "but after two minutes");
    ok(taken_from("what is this\n", false), "a line that no process wrote");
    ok(taken_from(cr_strf(&arena, "%s 4194305 1\n", host), false),
       "a dead process of an older version");
    ok(!taken_from(cr_strf(&arena, "%s %ld %llu\n", host, pid, start), false),
       "a live one of an older version");
}

/* Signs of life from another machine, while the clock of this one is wrong. */
static void clocks(void)
{
    put("elsewhere 1 1 other-boot pid:[1]\n");
    age(0);
    ok(cr_run_lock_is_live(&arena, folder), "a sign of life just now");
    skew = 3600;
    ok(cr_run_lock_is_live(&arena, folder),
       "it is one too where this machine's clock is ahead");
    skew = 0;
    age(140);
    skew = -3600;
    ok(!cr_run_lock_is_live(&arena, folder),
       "an old one is old too where this machine's clock is late");
    skew = 0;
    ok(!cr_run_lock_is_live(&arena, folder), "as where it is right");
    unlink(path);
}

enum {
    MANY = 8
};

/* Waits for the start, tells whether it has the lock, holds it to the end. */
static void racer(int go, int result, int end)
{
    struct cr_run_lock lock;
    char c;

    if (read(go, &c, 1) != 0)
        _exit(2);
    c = take(&lock) ? 'y' : 'n';
    if (write(result, &c, 1) != 1 || read(end, &c, 1) != 0)
        _exit(2);
    _exit(0); /* as one that is killed */
}

static void race(void)
{
    int go[2], result[2], end[2], winners = 0;
    char c;

    put("elsewhere 1 1 other-boot pid:[1]\n");
    age(3600);
    if (pipe(go) != 0 || pipe(result) != 0 || pipe(end) != 0)
        abort();
    for (int i = 0; i < MANY; i++)
        if (fork() == 0) {
            close(go[1]);
            close(end[1]);
            racer(go[0], result[1], end[0]);
        }
    close(go[1]);
    for (int i = 0; i < MANY; i++)
        winners += read(result[0], &c, 1) == 1 && c == 'y';
    ok(winners == 1, "of many processes one takes a dead lock");
    close(end[1]);
    for (int i = 0; i < MANY; i++)
        wait(NULL);
    ok(can_take(), "and is dead in turn");
}

int main(void)
{
    char dir[] = "/tmp/cellrun-lock-XXXXXX";

    folder = mkdtemp(dir);
    if (!folder)
        abort();
    path = cr_path_join(&arena, folder, "lock");
    lives();
    owners();
    clocks();
    race();
    ok(rmdir(folder) == 0, "nothing is left in the folder");
    cr_arena_free(&arena);
    return done();
}
