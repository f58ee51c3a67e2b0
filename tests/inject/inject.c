/*
 * Calls that fail on demand, without root: a library for LD_PRELOAD.
 *
 *   INJECT_KIND=write INJECT_AT=3   the third write fails, as a full disk
 *   INJECT_STOP=1                   it stops the process instead, until that
 *                                   is continued
 *   INJECT_LOG=FILE                 at the end of the process `KIND CALLS` for
 *                                   each kind, and `failed KIND PATH` for the
 *                                   call that failed
 *
 * Only calls that the program itself makes count, not those of libraries (the
 * loader, OpenBLAS): what is to be tested is what the program does about them.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind {
    OPEN,
    READ,
    WRITE,
    SYNC,
    RENAME,
    LINK,
    UNLINK,
    MKDIR,
    TRUNCATE,
    ALLOCATE,
    CLOSE,
    FLUSH,
    STAT,
    FOLDER,
    ENTRY,
    FLOCK,
    MMAP,
    MALLOC,
    THREAD,
    REOPEN,
    KINDS
};

static const struct {
    const char *name;
    int error;
} kinds[KINDS] = {
    [OPEN] = { "open", EMFILE },      [READ] = { "read", EIO },
    [WRITE] = { "write", ENOSPC },    [SYNC] = { "sync", EIO },
    [RENAME] = { "rename", EIO },     [LINK] = { "link", EPERM },
    [UNLINK] = { "unlink", EIO },     [MKDIR] = { "mkdir", ENOSPC },
    [TRUNCATE] = { "truncate", EIO }, [ALLOCATE] = { "allocate", ENOSPC },
    [CLOSE] = { "close", EIO },       [FLUSH] = { "flush", ENOSPC },
    [STAT] = { "stat", EIO },         [FOLDER] = { "folder", EMFILE },
    [ENTRY] = { "entry", EIO },       [FLOCK] = { "flock", ENOLCK },
    [MMAP] = { "mmap", ENOMEM },      [MALLOC] = { "malloc", ENOMEM },
    [THREAD] = { "thread", EAGAIN },  [REOPEN] = { "reopen", EMFILE },
};

static uintptr_t program_from, program_to; /* 0: not known yet */
static long calls[KINDS], fails_at;
static enum kind fails;
static char failed[4200];

/* The functions that allocate, under the names that the linker leaves alone. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

static int find_program(struct dl_phdr_info *info, size_t size, void *ctx)
{
    (void)size;
    (void)ctx;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        program_from = info->dlpi_addr + p->p_vaddr;
        program_to = program_from + p->p_memsz;
    }
    return 1; /* the program is the first */
}

__attribute__((constructor)) static void inject_start(void)
{
    const char *kind = getenv("INJECT_KIND"), *at = getenv("INJECT_AT");

    for (int k = 0; k < KINDS && kind && at; k++)
        if (strcmp(kinds[k].name, kind) == 0) {
            fails = (enum kind)k;
            fails_at = atol(at);
        }
    dl_iterate_phdr(find_program, NULL);
}

__attribute__((destructor)) static void inject_end(void)
{
    const char *path = getenv("INJECT_LOG");
    FILE *f = path ? fopen(path, "a") : NULL;

    for (int k = 0; k < KINDS && f && !fails_at; k++)
        fprintf(f, "%s %ld\n", kinds[k].name, calls[k]);
    if (f && *failed)
        fprintf(f, "failed %s %s\n", kinds[fails].name, failed);
    if (f)
        fclose(f);
}

/* Counts a call from `caller`; whether it is to fail, with errno set. */
static int hit(enum kind kind, const void *caller, const char *path)
{
    uintptr_t at = (uintptr_t)caller;
    long n;

    if (at < program_from || at >= program_to)
        return 0;
    n = __atomic_add_fetch(&calls[kind], 1, __ATOMIC_RELAXED);
    if (kind != fails || n != fails_at)
        return 0;
    if (getenv("INJECT_STOP")) {
        raise(SIGSTOP);
        return 0;
    }
    snprintf(failed, sizeof failed, "%s", path ? path : "?");
    errno = kinds[kind].error;
    return 1;
}

#define HIT(kind, path) hit(kind, __builtin_return_address(0), path)

static const char *fd_path(int fd)
{
    static char path[4096];
    char link[64];
    ssize_t n;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    n = readlink(link, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return path;
}

/* The function that ours replaces. */
#define REAL(to, name)                             \
    do {                                           \
        if (!(to)) {                               \
            void *found_ = dlsym(RTLD_NEXT, name); \
            memcpy(&(to), &found_, sizeof found_); \
        }                                          \
    } while (0)

static int mode_of(int flags, va_list args)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE
               ? va_arg(args, int)
               : 0;
}

int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    va_list args;
    int mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    REAL(real, "open");
    return HIT(OPEN, path) ? -1 : real(path, flags, mode);
}

int openat(int dir, const char *path, int flags, ...)
{
    static int (*real)(int, const char *, int, ...);
    va_list args;
    int mode;

    va_start(args, flags);
    mode = mode_of(flags, args);
    va_end(args);
    REAL(real, "openat");
    return HIT(OPEN, path) ? -1 : real(dir, path, flags, mode);
}

FILE *freopen(const char *path, const char *mode, FILE *f)
{
    static FILE *(*real)(const char *, const char *, FILE *);

    REAL(real, "freopen");
    return HIT(REOPEN, path) ? NULL : real(path, mode, f);
}

FILE *fopen(const char *path, const char *mode)
{
    static FILE *(*real)(const char *, const char *);

    REAL(real, "fopen");
    return HIT(OPEN, path) ? NULL : real(path, mode);
}

ssize_t read(int fd, void *to, size_t n)
{
    static ssize_t (*real)(int, void *, size_t);

    REAL(real, "read");
    return HIT(READ, fd_path(fd)) ? -1 : real(fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    static ssize_t (*real)(int, void *, size_t, off_t);

    REAL(real, "pread");
    return HIT(READ, fd_path(fd)) ? -1 : real(fd, to, n, at);
}

size_t fread(void *to, size_t size, size_t n, FILE *f)
{
    static size_t (*real)(void *, size_t, size_t, FILE *);

    REAL(real, "fread");
    if (HIT(READ, fd_path(fileno(f)))) {
        /* as after an error of the system: ferror is set */
        int fd = dup(fileno(f)), own = fileno(f);

        close(own);
        n = real(to, size, n, f);
        dup2(fd, own);
        close(fd);
        errno = kinds[READ].error;
        return n;
    }
    return real(to, size, n, f);
}

/* Half of it is written, as on a disk that becomes full: the next call finds
 * it full. */
ssize_t write(int fd, const void *from, size_t n)
{
    static ssize_t (*real)(int, const void *, size_t);
    static int full = -1;

    REAL(real, "write");
    if (full == fd) {
        full = -1;
        errno = kinds[WRITE].error;
        return -1;
    }
    if (HIT(WRITE, fd_path(fd))) {
        if (n < 2)
            return -1;
        full = fd;
        n /= 2;
    }
    return real(fd, from, n);
}

int fsync(int fd)
{
    static int (*real)(int);

    REAL(real, "fsync");
    return HIT(SYNC, fd_path(fd)) ? -1 : real(fd);
}

int fdatasync(int fd)
{
    static int (*real)(int);

    REAL(real, "fdatasync");
    return HIT(SYNC, fd_path(fd)) ? -1 : real(fd);
}

int rename(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);

    REAL(real, "rename");
    return HIT(RENAME, to) ? -1 : real(from, to);
}

int renameat(int a, const char *from, int b, const char *to)
{
    static int (*real)(int, const char *, int, const char *);

    REAL(real, "renameat");
    return HIT(RENAME, to) ? -1 : real(a, from, b, to);
}

int link(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);

    REAL(real, "link");
    return HIT(LINK, to) ? -1 : real(from, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
    static int (*real)(int, const char *, int, const char *, int);

    REAL(real, "linkat");
    return HIT(LINK, to) ? -1 : real(a, from, b, to, flags);
}

int unlink(const char *path)
{
    static int (*real)(const char *);

    REAL(real, "unlink");
    return HIT(UNLINK, path) ? -1 : real(path);
}

int unlinkat(int dir, const char *path, int flags)
{
    static int (*real)(int, const char *, int);

    REAL(real, "unlinkat");
    return HIT(UNLINK, path) ? -1 : real(dir, path, flags);
}

int mkdir(const char *path, mode_t mode)
{
    static int (*real)(const char *, mode_t);

    REAL(real, "mkdir");
    return HIT(MKDIR, path) ? -1 : real(path, mode);
}

int ftruncate(int fd, off_t size)
{
    static int (*real)(int, off_t);

    REAL(real, "ftruncate");
    return HIT(TRUNCATE, fd_path(fd)) ? -1 : real(fd, size);
}

int fallocate(int fd, int mode, off_t at, off_t size)
{
    static int (*real)(int, int, off_t, off_t);

    REAL(real, "fallocate");
    return HIT(ALLOCATE, fd_path(fd)) ? -1 : real(fd, mode, at, size);
}

/* What fails to be closed is closed nevertheless. */
int close(int fd)
{
    static int (*real)(int);
    int bad = HIT(CLOSE, fd_path(fd)), error = errno, got;

    REAL(real, "close");
    got = real(fd);
    errno = bad ? error : errno;
    return bad ? -1 : got;
}

int fclose(FILE *f)
{
    static int (*real)(FILE *);
    int bad = HIT(CLOSE, fd_path(fileno(f))), error = errno, got;

    REAL(real, "fclose");
    got = real(f);
    errno = bad ? error : errno;
    return bad ? EOF : got;
}

int fflush(FILE *f)
{
    static int (*real)(FILE *);

    REAL(real, "fflush");
    return HIT(FLUSH, f ? fd_path(fileno(f)) : NULL) ? EOF : real(f);
}

int stat(const char *path, struct stat *to)
{
    static int (*real)(const char *, struct stat *);

    REAL(real, "stat");
    return HIT(STAT, path) ? -1 : real(path, to);
}

int lstat(const char *path, struct stat *to)
{
    static int (*real)(const char *, struct stat *);

    REAL(real, "lstat");
    return HIT(STAT, path) ? -1 : real(path, to);
}

int fstat(int fd, struct stat *to)
{
    static int (*real)(int, struct stat *);

    REAL(real, "fstat");
    return HIT(STAT, fd_path(fd)) ? -1 : real(fd, to);
}

DIR *opendir(const char *path)
{
    static DIR *(*real)(const char *);

    REAL(real, "opendir");
    return HIT(FOLDER, path) ? NULL : real(path);
}

struct dirent *readdir(DIR *dir)
{
    static struct dirent *(*real)(DIR *);

    REAL(real, "readdir");
    return HIT(ENTRY, fd_path(dirfd(dir))) ? NULL : real(dir);
}

int flock(int fd, int how)
{
    static int (*real)(int, int);

    REAL(real, "flock");
    return HIT(FLOCK, fd_path(fd)) ? -1 : real(fd, how);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t from)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);

    REAL(real, "mmap");
    return HIT(MMAP, fd_path(fd)) ? MAP_FAILED
                                  : real(at, n, prot, flags, fd, from);
}

void *malloc(size_t size)
{
    return HIT(MALLOC, "memory") ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return HIT(MALLOC, "memory") ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return HIT(MALLOC, "memory") ? NULL : __libc_realloc(p, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return HIT(MALLOC, "memory") ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **to, size_t align, size_t size)
{
    if (HIT(MALLOC, "memory"))
        return ENOMEM;
    *to = __libc_memalign(align, size);
    return *to ? 0 : ENOMEM;
}

int pthread_create(pthread_t *to, const pthread_attr_t *attr,
                   void *(*run)(void *), void *ctx)
{
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                       void *);

    REAL(real, "pthread_create");
    return HIT(THREAD, "thread") ? EAGAIN : real(to, attr, run, ctx);
}
