/* Files that are complete or absent: base/atomic_file.c. */
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/str.h"

static struct cr_arena arena;
static struct cr_diag diag = { .arena = &arena };
static const char *base;

static const char *in(const char *name)
{
    return cr_path_join(&arena, base, name);
}

static void put(const char *name, const char *text)
{
    FILE *f = fopen(in(name), "w");

    if (!f || fputs(text, f) < 0 || fclose(f) != 0)
        abort();
}

static bool holds(const char *name, const char *text)
{
    size_t len = 0;
    struct cr_diag quiet = { .arena = &arena };
    const char *got = cr_read_file(&arena, &quiet, CR_NOWHERE, in(name),
                                   CR_E_SYSTEM, 1 << 20, &len);

    return got && len == strlen(text) && memcmp(got, text, len) == 0;
}

/* How many entries the folder has, hidden ones too. */
static int entries(void)
{
    char *got = NULL;
    size_t room = 0;
    int n = 0;
    FILE *f = popen(cr_strf(&arena, "ls -A '%s'", base), "r");

    while (f && getline(&got, &room, f) > 0)
        n++;
    free(got);
    if (f)
        pclose(f);
    return n;
}

static void writes(void)
{
    static char big[100000];
    struct cr_atomic_file f;
    const char *got;
    size_t len;
    bool good;
    struct stat st;

    put("a", "old");
    ok(cr_atomic_file_open(&f, &diag, in("a"), 3) &&
           cr_atomic_file_write(&f, "new", 3) && holds("a", "old"),
       "before the commit the name means the old file");
    ok(cr_atomic_file_commit(&f) && holds("a", "new") && entries() == 1,
       "after the commit it means the new one, and nothing else is left");

    chmod(in("a"), 0600);
    ok(cr_write_file(&diag, in("a"), "new", 3) && stat(in("a"), &st) == 0 &&
           (st.st_mode & 0777) == 0600,
       "a private file stays private");
    chmod(in("a"), 0644);

    good = cr_atomic_file_open(&f, &diag, in("a"), 0);
    for (int i = 0; i < 40000; i++)
        good = cr_atomic_file_write(&f, "12345", 5) && good;
    memset(big, 'x', sizeof big);
    good = cr_atomic_file_write(&f, big, sizeof big) && good;
    good = cr_atomic_file_write(&f, "end", 3) && good;
    good = cr_atomic_file_commit(&f) && good;
    got = cr_read_file(&arena, &diag, CR_NOWHERE, in("a"), CR_E_SYSTEM, 1 << 20,
                       &len);
    good = good && got && len == 200000 + sizeof big + 3 &&
           memcmp(got + 200000, big, sizeof big) == 0 &&
           memcmp(got + 200000 + sizeof big, "end", 3) == 0;
    for (int i = 0; i < 200000 && good; i++)
        good = got[i] == "12345"[i % 5];
    ok(good, "small and large writes follow each other");
    cr_write_file(&diag, in("a"), "2 lines\n", 8);

    if (cr_atomic_file_open(&f, &diag, in("a"), 0) &&
        cr_atomic_file_write(&f, "x", 1))
        cr_atomic_file_discard(&f);
    ok(holds("a", "2 lines\n") && entries() == 1,
       "a file that is discarded leaves the old one");

    if (symlink("a", in("link")) != 0)
        abort();
    ok(cr_write_file(&diag, in("link"), "by link", 7) &&
           lstat(in("link"), &st) == 0 && S_ISLNK(st.st_mode) &&
           holds("a", "by link"),
       "a symbolic link stays, and its target is replaced");
    unlink(in("link"));
    ok(cr_write_file(&diag, "/dev/null", "x", 1),
       "a device is written in place");
    ok(diag.errors == 0, "and none of this is an error");
}

static void fails(void)
{
    static char many[100000];
    struct rlimit was, small;
    struct cr_atomic_file f;
    bool good;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &was);
    small = was;
    small.rlim_cur = 4;
    put("a", "old");
    setrlimit(RLIMIT_FSIZE, &small);
    good = cr_atomic_file_open(&f, &diag, in("a"), 0) &&
           !cr_atomic_file_write(&f, many, sizeof many) &&
           !cr_atomic_file_write(&f, "1", 1) && !cr_atomic_file_commit(&f);
    setrlimit(RLIMIT_FSIZE, &was); /* which holds for our output too */
    ok(good, "what is larger than the limit on files is not written");
    ok(diag.errors == 1 && strstr(diag.first->text, "File too large"),
       "one message has the reason");
    ok(holds("a", "old") && entries() == 1, "and the old file stays");

    setrlimit(RLIMIT_FSIZE, &small);
    good = cr_atomic_file_open(&f, &diag, in("a"), 0) &&
           cr_atomic_file_write(&f, "12345678", 8) &&
           !cr_atomic_file_commit(&f);
    setrlimit(RLIMIT_FSIZE, &was);
    ok(good, "a small write that fails later fails the commit");
    ok(holds("a", "old") && entries() == 1, "and the old file stays there too");

    if (mkdir(in("folder"), 0777) != 0)
        abort();
    ok(!cr_write_file(&diag, in("folder"), "x", 1),
       "a folder's name cannot be taken");
    rmdir(in("folder"));
    ok(!cr_write_file(&diag, in("none/file"), "x", 1),
       "a folder that is not there is an error");
    ok(entries() == 1, "none of them leaves a file");
}

static void killed(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        struct cr_atomic_file f;

        if (cr_atomic_file_open(&f, &diag, in("a"), 0))
            cr_atomic_file_write(&f, "half", 4);
        kill(getpid(), SIGKILL);
    }
    waitpid(child, &status, 0);
    cr_atomic_file_sweep(base, "a");
    ok(holds("a", "old") && entries() == 1,
       "a writer that is killed leaves the old file and no other");
}

static void sweeps(void)
{
    int fd;

    put(".a.tmp.7", "");
    put(".ab.tmp.7", "");
    put(".a.tmp.x", "");
    put(".a.tmp.8", "");
    fd = open(in(".a.tmp.8"), O_RDONLY);
    flock(fd, LOCK_EX);
    cr_atomic_file_sweep(base, "a");
    ok(access(in(".a.tmp.7"), F_OK) != 0, "the file of a dead writer goes");
    ok(access(in(".a.tmp.8"), F_OK) == 0, "the one of a live writer stays");
    ok(holds(".ab.tmp.7", "") && holds(".a.tmp.x", "") && holds("a", "old"),
       "and so does every file of another name");
    close(fd);
    cr_atomic_file_sweep(base, NULL);
    ok(access(in(".a.tmp.8"), F_OK) != 0 &&
           access(in(".ab.tmp.7"), F_OK) != 0 && holds(".a.tmp.x", "") &&
           holds("a", "old"),
       "without a name all names are swept");
}

int main(void)
{
    char dir[] = "/tmp/cellrun-atomic-XXXXXX";

    base = mkdtemp(dir);
    if (!base)
        abort();
    writes();
    fails();
    killed();
    sweeps();
    if (system(cr_strf(&arena, "rm -r '%s'", base)) != 0)
        abort();
    cr_arena_free(&arena);
    return done();
}
