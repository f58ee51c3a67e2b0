#include "base/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The signal handler may read any entry at any time, so entries are never
 * freed, but reused. */
struct cr_mapping {
    struct cr_mapping *next;
    atomic_uintptr_t start, end; /* end is at a page's end; 0: closed */
    atomic_bool damaged;
    bool used;
    int fd;
    size_t size;
    char *path;
};

static _Atomic(struct cr_mapping *) mappings;
static atomic_bool any_damaged;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Everything here is a system call or an atomic operation. */
static void on_lost_page(int signal_number, siginfo_t *info, void *context)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)info->si_addr;
    struct cr_mapping *m;
    int error = errno;

    (void)context;
    for (m = atomic_load(&mappings); m; m = m->next) {
        uintptr_t from = at - at % page, end = atomic_load(&m->end);

        if (at < atomic_load(&m->start) || at >= end)
            continue;
        if (mmap((void *)from, end - from, PROT_READ,
                 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                 0) == MAP_FAILED)
            break;
        atomic_store(&m->damaged, true);
        atomic_store(&any_damaged, true);
        errno = error;
        return;
    }
    signal(signal_number, SIG_DFL); /* the access is repeated */
}

static void install(void)
{
    struct sigaction action = { .sa_sigaction = on_lost_page,
                                .sa_flags = SA_SIGINFO };

    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

static struct cr_mapping *mapping_new(void)
{
    struct cr_mapping *m = atomic_load(&mappings);

    while (m && (m->used || atomic_load(&m->damaged)))
        m = m->next;
    if (m)
        return m;
    m = calloc(1, sizeof *m);
    if (!m)
        cr_out_of_memory(sizeof *m);
    m->next = atomic_load(&mappings);
    if (!m->next)
        install();
    atomic_store(&mappings, m);
    return m;
}

struct cr_mapping *cr_mapping_open(int fd, size_t size, const char *path)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    struct cr_mapping *m;

    if (at == MAP_FAILED)
        return NULL;
    pthread_mutex_lock(&lock);
    m = mapping_new();
    free(m->path);
    m->path = strdup(path);
    m->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (!m->path)
        cr_out_of_memory(strlen(path));
    m->size = size;
    m->used = true;
    atomic_store(&m->start, (uintptr_t)at);
    atomic_store(&m->end, (uintptr_t)at + (size + page - 1) / page * page);
    pthread_mutex_unlock(&lock);
    return m;
}

const unsigned char *cr_mapping_bytes(const struct cr_mapping *m)
{
    return (const unsigned char *)atomic_load(&m->start);
}

void cr_mapping_close(struct cr_mapping *m)
{
    pthread_mutex_lock(&lock);
    atomic_store(&m->end, 0);
    munmap((void *)atomic_load(&m->start), m->size);
    if (m->fd >= 0)
        close(m->fd);
    m->used = false;
    pthread_mutex_unlock(&lock);
}

static bool is_shorter(const struct cr_mapping *m)
{
    struct stat st;

    return m->used && m->fd >= 0 && fstat(m->fd, &st) == 0 &&
           (uint64_t)st.st_size < m->size;
}

static bool check_all(struct cr_diag *diag, bool sizes)
{
    struct cr_mapping *m;
    bool ok = true;

    pthread_mutex_lock(&lock);
    for (m = atomic_load(&mappings); m; m = m->next) {
        if (sizes && is_shorter(m)) {
            atomic_store(&m->damaged, true);
            atomic_store(&any_damaged, true);
        }
        if (atomic_load(&m->damaged))
            ok =
                cr_error(diag, cr_at_file(diag->arena, m->path), CR_E_DATA_READ,
                         "the file became shorter than %zu bytes, or part "
                         "of it unreadable, while it was in use",
                         m->size);
    }
    pthread_mutex_unlock(&lock);
    return ok;
}

bool cr_mapping_check(struct cr_diag *diag)
{
    return !atomic_load(&any_damaged) || check_all(diag, false);
}

bool cr_mapping_check_sizes(struct cr_diag *diag)
{
    return check_all(diag, true);
}

void cr_signals_blockable(sigset_t *set)
{
    sigfillset(set);
    sigdelset(set, SIGBUS);
}
