#include "mpi/shared.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "mpi/bfloat16.h"
#include "num/low_precision.h"

#define SPINS 4000              /* some 50 us of pauses before sleeping */
#define NAP 50000000L           /* nanoseconds of a sleep, at most */
#define PAGE_BYTES ((size_t)1 << 18) /* of one message, and of its next one */
#define SUMS_BYTES ((size_t)1 << 24) /* of the sums under way */
#define SLOTS 64
#define DIRECT 2                /* processes of which each adds up all */

/*
 * A process counts the messages that it has written: `ready`. It writes message
 * k to its page k % 2, once all have written message k - 1, and so have read
 * message k - 2, which was there.
 *
 * Sums that are started have a counter and memory of their own. A round begins
 * when none is under way, and once all have read the last round: `done`.
 */
struct seat {
    _Alignas(64) atomic_uint_least64_t ready;
    atomic_uint_least64_t sums, reduced; /* sums written; of which its range is
                                            added up */
    atomic_uint_least64_t done;          /* rounds */
    atomic_uint_least64_t met;           /* times at cr_shared_meet */
    _Alignas(64) atomic_uint asleep;
    atomic_uint late; /* in number 0: one has reported that another is */
};

struct sum {
    uint64_t number; /* 0: none */
    size_t at;
    int64_t n;
    enum cr_mpi_type type;
};

/* Memory of all processes. */
struct memory {
    char *base; /* NULL: none */
    size_t bytes;
    int file;
};

static struct {
    struct cr_shared_opts opts;
    struct memory seats;
    struct memory parts;
    size_t once, each; /* bytes of parts: for all, and of each process */
    size_t reserved;   /* of the sums of this process */
    uint64_t ready, sums, reduced, rounds, met;
    size_t used; /* of this round */
    int under_way;
    struct sum sum[SLOTS];
} shared;

/* ---- Memory */

static size_t seat_bytes(void)
{
    return sizeof(struct seat) + 2 * PAGE_BYTES + SUMS_BYTES;
}

static struct seat *seat_of(int rank)
{
    return (struct seat *)(void *)(shared.seats.base +
                                    (size_t)rank * seat_bytes());
}

static char *page_of(int rank, uint64_t message)
{
    return (char *)(seat_of(rank) + 1) + (message & 1) * PAGE_BYTES;
}

static char *sums_of(int rank)
{
    return (char *)(seat_of(rank) + 1) + 2 * PAGE_BYTES;
}

/* Number 0 notes which file it is; another process checks that it has the
 * same. */
static bool is_place(int file, struct cr_shared_place *from, bool note)
{
    struct stat s;

    if (fstat(file, &s) != 0)
        return false;
    if (note) {
        from->device = s.st_dev;
        from->inode = s.st_ino;
    }
    return from->device == s.st_dev && from->inode == s.st_ino;
}

/* The file that number 0 makes, and keeps for the others. */
static int file_open(size_t bytes, struct cr_shared_place *from)
{
    bool first = shared.opts.rank == 0;
    char path[80];
    int file;

    if (first) {
        file = memfd_create("cellrun-mpi", MFD_CLOEXEC);
        from->process = getpid();
        from->file = file;
    } else {
        snprintf(path, sizeof path, "/proc/%lld/fd/%lld",
                 (long long)from->process, (long long)from->file);
        file = open(path, O_RDWR | O_CLOEXEC);
    }
    if (file >= 0 && ((first && ftruncate(file, (off_t)bytes) != 0) ||
                      !is_place(file, from, first))) {
        close(file);
        file = -1;
    }
    return file;
}

static void memory_close(struct memory *m)
{
    if (!m->base)
        return;
    munmap(m->base, m->bytes);
    close(m->file);
    m->base = NULL;
}

static bool memory_open(struct memory *m, size_t bytes,
                        struct cr_shared_place *from)
{
    void *at;

    m->bytes = bytes;
    m->file = file_open(bytes, from);
    if (m->file < 0)
        return false;
    at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->file, 0);
    if (at == MAP_FAILED)
        close(m->file);
    else
        m->base = at;
    return m->base != NULL;
}

/* Takes pages for what this process writes, near its processor. One that is not
 * there when it is written, and cannot be had then, would be a SIGBUS. */
static bool reserve(const struct memory *m, const void *at, size_t bytes)
{
    int status;

    if (bytes == 0)
        return true;
    do
        status = fallocate(m->file, FALLOC_FL_KEEP_SIZE,
                           (const char *)at - m->base, (off_t)bytes);
    while (status != 0 && errno == EINTR);
    return status == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
}

bool cr_shared_open(const struct cr_shared_opts *opts,
                    struct cr_shared_place *from)
{
    shared.opts = *opts;
    if (memory_open(&shared.seats, (size_t)opts->size * seat_bytes(), from) &&
        reserve(&shared.seats, seat_of(opts->rank),
                seat_bytes() - SUMS_BYTES))
        return true;
    memory_close(&shared.seats);
    return false;
}

bool cr_shared_parts_open(size_t once, size_t each,
                          struct cr_shared_place *from)
{
    struct memory *m = &shared.parts;

    shared.once = (once + 4095) / 4096 * 4096;
    shared.each = (each + 4095) / 4096 * 4096;
    if (memory_open(m, shared.once + (size_t)shared.opts.size * shared.each,
                    from) &&
        reserve(m, m->base, shared.opts.rank == 0 ? shared.once : 0) &&
        reserve(m, cr_shared_part(), shared.each))
        return true;
    memory_close(m);
    return false;
}

void *cr_shared_once(void)
{
    return shared.parts.base;
}

void *cr_shared_part(void)
{
    return shared.parts.base + shared.once +
           (size_t)shared.opts.rank * shared.each;
}

void *cr_shared_part_of(int rank, const void *own)
{
    return (char *)own - (ptrdiff_t)shared.opts.rank * (ptrdiff_t)shared.each +
           (ptrdiff_t)rank * (ptrdiff_t)shared.each;
}

void cr_shared_parts_close(void)
{
    memory_close(&shared.parts);
}

void cr_shared_close(void)
{
    memory_close(&shared.seats);
    memory_close(&shared.parts);
}

/* ---- Waiting */

static void futex(atomic_uint *at, int op, unsigned value,
                  const struct timespec *timeout)
{
    syscall(SYS_futex, at, op, value, timeout, NULL, 0);
}

static void pause_once(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Sets a counter of this process, and wakes those that may wait for it. */
static void counter_set(atomic_uint_least64_t *counter, uint64_t value)
{
    int r;

    atomic_store(counter, value);
    for (r = 0; r < shared.opts.size; r++) {
        atomic_uint *asleep = &seat_of(r)->asleep;

        if (r != shared.opts.rank && atomic_load(asleep) &&
            atomic_exchange(asleep, 0))
            futex(asleep, FUTEX_WAKE, 1, NULL);
    }
}

/* The process that lags: the first one that does not wait itself. */
static int late_rank(int waited_for)
{
    int r;

    for (r = 0; r < shared.opts.size; r++)
        if (r != shared.opts.rank && !atomic_load(&seat_of(r)->asleep))
            return r;
    return waited_for;
}

/* Time in which this process was suspended itself does not count. */
static void counter_sleep(int rank, const atomic_uint_least64_t *counter,
                          uint64_t value)
{
    static const struct timespec nap = { .tv_nsec = NAP };
    atomic_uint *asleep = &seat_of(shared.opts.rank)->asleep;
    double last = cr_now(), waited = 0, time;

    for (;;) {
        atomic_store(asleep, 1);
        if (atomic_load(counter) >= value)
            break;
        futex(asleep, FUTEX_WAIT, 1, &nap);
        time = cr_now();
        waited += time - last < 1 ? time - last : 1;
        last = time;
        if (shared.opts.limit > 0 && waited > shared.opts.limit &&
            atomic_load(counter) < value &&
            !atomic_exchange(&seat_of(0)->late, 1))
            shared.opts.late(late_rank(rank));
    }
    atomic_store(asleep, 0);
}

/* Waits until a counter of that process has the value. */
static void counter_wait(int rank, const atomic_uint_least64_t *counter,
                         uint64_t value)
{
    int i, spins = shared.opts.spin ? SPINS : 0;

    for (i = 0; i < spins; i++) {
        if (atomic_load_explicit(counter, memory_order_acquire) >= value)
            return;
        pause_once();
    }
    if (atomic_load_explicit(counter, memory_order_acquire) < value)
        counter_sleep(rank, counter, value);
}

static void ready_wait(uint64_t value)
{
    for (int r = 0; r < shared.opts.size; r++)
        if (r != shared.opts.rank)
            counter_wait(r, &seat_of(r)->ready, value);
}

void cr_shared_meet(void)
{
    counter_set(&seat_of(shared.opts.rank)->met, ++shared.met);
    for (int r = 0; r < shared.opts.size; r++)
        if (r != shared.opts.rank)
            counter_wait(r, &seat_of(r)->met, shared.met);
}

/* ---- Arithmetic */

static size_t size_of(enum cr_mpi_type type)
{
    return type == CR_MPI_FLOAT  ? sizeof(float)
           : type == CR_MPI_BF16 ? sizeof(cr_real)
                                 : sizeof(double);
}

/* Of an element where it is shared. */
static size_t shared_size(enum cr_mpi_type type)
{
    return type == CR_MPI_BF16 ? sizeof(uint16_t) : size_of(type);
}

/* Copies to and from memory that is shared. */
static void put(char *to, const char *data, int64_t n, enum cr_mpi_type type)
{
    if (type == CR_MPI_BF16)
        cr_narrow(CR_BF16, n, (const cr_real *)(const void *)data,
                  (uint16_t *)(void *)to);
    else
        memcpy(to, data, (size_t)n * size_of(type));
}

static void get(char *data, const char *from, int64_t n, enum cr_mpi_type type)
{
    if (type == CR_MPI_BF16)
        cr_widen(CR_BF16, n, (const uint16_t *)(const void *)from,
                 (cr_real *)(void *)data);
    else
        memcpy(data, from, (size_t)n * size_of(type));
}

CR_O3

CR_CLONES static void add_floats(float *to, const float *x, int64_t n)
{
    CR_SIMD
    for (int64_t i = 0; i < n; i++)
        to[i] += x[i];
}

CR_CLONES static void add_two(float *to, const float *x, const float *y,
                              int64_t n)
{
    CR_SIMD
    for (int64_t i = 0; i < n; i++)
        to[i] = x[i] + y[i];
}

static void add_doubles(double *to, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        to[i] += x[i];
}

static void fold_integers(int64_t *to, const int64_t *x, int64_t n,
                          enum cr_mpi_op op)
{
    for (int64_t i = 0; i < n; i++)
        to[i] = op == CR_MPI_SUM ? to[i] + x[i] : to[i] > x[i] ? to[i] : x[i];
}

/* What process r has shared; of the first two, `own` where it is that of this
 * process, which is one memory less to read. */
static float *floats_of(int r, char *shared_by_r, char *own)
{
    return (float *)(void *)(r == shared.opts.rank ? own : shared_by_r);
}

/* Adds up elements from <= i < to of what all processes have at `of`, in their
 * order. `out` has those of this process. */
static void fold(char *out, char *(*of)(int rank, uint64_t at), uint64_t at,
                 int64_t from, int64_t to, enum cr_mpi_type type,
                 enum cr_mpi_op op)
{
    size_t skip = (size_t)from * shared_size(type);
    int64_t n = to - from;
    int r = 2;

    if (type == CR_MPI_BF16) {
        cr_bf16_sum((cr_real *)(void *)out, n, of(0, at) + skip, seat_bytes(),
                    shared.opts.size);
        return;
    }
    if (type == CR_MPI_FLOAT) {
        add_two((float *)(void *)out, floats_of(0, of(0, at) + skip, out),
                floats_of(1, of(1, at) + skip, out), n);
    } else {
        memcpy(out, of(0, at) + skip, (size_t)n * size_of(type));
        r = 1;
    }
    for (; r < shared.opts.size; r++) {
        void *x = of(r, at) + skip;

        if (type == CR_MPI_FLOAT)
            add_floats((float *)(void *)out, x, n);
        else if (type == CR_MPI_DOUBLE)
            add_doubles((double *)(void *)out, x, n);
        else
            fold_integers((int64_t *)(void *)out, x, n, op);
    }
}

/* The range of n elements that a process adds up for all, in whole cache
 * lines. */
static int64_t range_begin(int64_t n, int rank)
{
    int64_t begin = (n + shared.opts.size * 32 - 1) / (shared.opts.size * 32) *
                    32 * rank;

    return begin < n ? begin : n;
}

/* ---- Messages */

/* The memory of this process for its next message. */
static char *message_begin(void)
{
    shared.ready++;
    if (shared.ready > 1)
        ready_wait(shared.ready - 1);
    return page_of(shared.opts.rank, shared.ready);
}

static void message_end(void)
{
    counter_set(&seat_of(shared.opts.rank)->ready, shared.ready);
}

static void reduce_page(char *data, int64_t n, enum cr_mpi_type type,
                        enum cr_mpi_op op)
{
    put(message_begin(), data, n, type);
    message_end();
    ready_wait(shared.ready);
    fold(data, page_of, shared.ready, 0, n, type, op);
}

void cr_shared_reduce(void *data, int64_t n, enum cr_mpi_type type,
                      enum cr_mpi_op op)
{
    int64_t most = (int64_t)(PAGE_BYTES / size_of(type)), now;
    char *at = data;

    for (; n > 0; n -= now, at += (size_t)now * size_of(type)) {
        now = n < most ? n : most;
        reduce_page(at, now, type, op);
    }
}

void cr_shared_broadcast(void *data, size_t bytes, int from)
{
    char *at = data;
    size_t now;

    for (; bytes > 0; bytes -= now, at += now) {
        char *page = message_begin();

        now = bytes < PAGE_BYTES ? bytes : PAGE_BYTES;
        if (shared.opts.rank == from)
            memcpy(page, at, now);
        else
            counter_wait(from, &seat_of(from)->ready, shared.ready);
        if (shared.opts.rank != from)
            memcpy(at, page_of(from, shared.ready), now);
        message_end();
    }
}

void cr_shared_gather(void *all, const size_t *from)
{
    size_t most = 0, at, now;
    int r, own = shared.opts.rank;

    for (r = 0; r < shared.opts.size; r++)
        most = from[r + 1] - from[r] > most ? from[r + 1] - from[r] : most;
    for (at = 0; at < most; at += PAGE_BYTES) {
        char *page = message_begin();

        for (r = -1; r < shared.opts.size; r++) { /* its own, then others' */
            int of = r < 0 ? own : r;
            size_t n = from[of + 1] - from[of];
            char *to = (char *)all + from[of] + at;

            now = n <= at ? 0 : n - at < PAGE_BYTES ? n - at : PAGE_BYTES;
            if (r < 0) {
                memcpy(page, to, now);
                message_end();
            } else if (r != own) {
                counter_wait(r, &seat_of(r)->ready, shared.ready);
                memcpy(to, page_of(r, shared.ready), now);
            }
        }
    }
}

/* ---- Sums that are started */

static char *sum_at(int rank, uint64_t at)
{
    return sums_of(rank) + at;
}

/* Pages for the sums that are under way, if there were never as many. */
static void sums_reserve(void)
{
    size_t more = shared.used - shared.reserved;

    if (shared.used <= shared.reserved)
        return;
    if (!reserve(&shared.seats, sum_at(shared.opts.rank, shared.reserved),
                 more))
        cr_out_of_memory(more);
    shared.reserved = shared.used;
}

bool cr_shared_sum_start(int slot, const void *data, int64_t n,
                         enum cr_mpi_type type)
{
    size_t bytes = (size_t)n * shared_size(type);
    struct seat *own = seat_of(shared.opts.rank);
    struct sum *s = &shared.sum[slot];
    int r;

    assert(s->number == 0);
    if (shared.under_way == 0)
        shared.used = 0;
    if (bytes > SUMS_BYTES - shared.used)
        return false;
    if (shared.under_way++ == 0)
        for (r = 0; r < shared.opts.size; r++)
            if (r != shared.opts.rank)
                counter_wait(r, &seat_of(r)->done, shared.rounds);
    *s = (struct sum){ ++shared.sums, shared.used, n, type };
    shared.used += (bytes + 63) / 64 * 64;
    sums_reserve();
    put(sum_at(shared.opts.rank, s->at), data, n, type);
    counter_set(&own->sums, shared.sums);
    return true;
}

/* Each process adds up its range, in place, then reads those of the others. */
static void sum_by_ranges(const struct sum *s, char *data)
{
    size_t size = size_of(s->type), at_size = shared_size(s->type);
    int r, own = shared.opts.rank;
    int64_t from = range_begin(s->n, own), to = range_begin(s->n, own + 1);

    fold(data + (size_t)from * size, sum_at, s->at, from, to, s->type,
         CR_MPI_SUM);
    put(sum_at(own, s->at) + (size_t)from * at_size,
        data + (size_t)from * size, to - from, s->type);
    counter_set(&seat_of(own)->reduced, ++shared.reduced);
    for (r = 0; r < shared.opts.size; r++) {
        from = range_begin(s->n, r);
        to = range_begin(s->n, r + 1);
        if (r == own)
            continue;
        counter_wait(r, &seat_of(r)->reduced, shared.reduced);
        get(data + (size_t)from * size,
            sum_at(r, s->at) + (size_t)from * at_size, to - from, s->type);
    }
}

void cr_shared_sum_wait(int slot, void *data)
{
    struct sum *s = &shared.sum[slot];
    int r;

    for (r = 0; r < shared.opts.size; r++)
        if (r != shared.opts.rank)
            counter_wait(r, &seat_of(r)->sums, s->number);
    if (shared.opts.size <= DIRECT)
        fold(data, sum_at, s->at, 0, s->n, s->type, CR_MPI_SUM);
    else
        sum_by_ranges(s, data);
    s->number = 0;
    if (--shared.under_way == 0)
        counter_set(&seat_of(shared.opts.rank)->done, ++shared.rounds);
}
