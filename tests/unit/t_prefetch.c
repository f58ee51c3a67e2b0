/* Files read ahead: base/prefetch.c. */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/prefetch.h"
#include "base/str.h"

enum {
    N = 200,  /* directories */
    SLOW = 40 /* the program takes its time from here on */
};

static struct cr_arena arena;
static const char *dir[N];

/* The number of threads of this process. */
static int threads(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    int n = 0;

    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "Threads:", 8) == 0)
            n = atoi(line + 8);
    if (f)
        fclose(f);
    return n;
}

/* Goes through the directories; slow: as if each file took milliseconds.
 * Returns the number of threads that were started. */
static int pass(bool slow)
{
    struct timespec pause = { .tv_nsec = 2000000 };
    struct cr_prefetch *p = cr_prefetch_start(&arena, dir, N, "f");

    for (int i = 0; i < N; i++) {
        cr_prefetch_reach(p, i);
        if (slow && i < SLOW)
            nanosleep(&pause, NULL);
    }
    return cr_prefetch_end(p);
}

int main(void)
{
    char *top = cr_strdup(&arena, "/tmp/t_prefetch.XXXXXX");
    int before;

    if (!mkdtemp(top))
        abort();
    for (int i = 0; i < N; i++) {
        const char *file;
        int fd;

        dir[i] = cr_strf(&arena, "%s/%d", top, i);
        file = cr_strf(&arena, "%s/f", dir[i]);
        if (mkdir(dir[i], 0777) != 0)
            abort();
        if (i % 3 == 1) /* no process writes it: opening it must not wait */
            (void)mkfifo(file, 0666);
        fd = i % 3 == 0 ? open(file, O_WRONLY | O_CREAT, 0666) : -1;
        if (fd >= 0)
            close(fd);
    }
    before = threads();
    ok(pass(true) > 0, "slow files are read ahead by threads");
    for (int i = 0; i < 5000 && threads() > before; i++)
        usleep(1000); /* a thread is listed a little longer than it runs */
    ok(threads() == before, "which end with the last file");
    for (int i = 0; i < N; i++) {
        unlink(cr_strf(&arena, "%s/f", dir[i]));
        rmdir(dir[i]);
    }
    ok(pass(true) > 0, "folders that do not exist are no error");
    ok(rmdir(top) == 0, "and nothing is left");
    cr_arena_free(&arena);
    return done();
}
