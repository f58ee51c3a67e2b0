#include "mpi/mpi.h"

#include "base/str.h"
#include "mpi/bfloat16.h"
#include "mpi/scaling.h"
#include "mpi/shared.h"

#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef CR_LIBDIR
#define CR_LIBDIR "/usr/local/lib/cellrun"
#endif

#define TIMEOUT 600     /* seconds */
#define RANKS 4096      /* of one call that has ranges of each */
#define CHUNK (1 << 30) /* bytes of one call of MPI, whose sizes are ints */

static struct {
    const struct cr_mpi_calls *calls; /* NULL: one process */
    int rank, size;
    double cpus; /* of this process */
    int local;   /* number of processes on this machine */
    bool shared; /* all on one machine: shared.h */
    struct started {
        enum {
            NOT_STARTED,
            UNDER_WAY,
            AT_WAIT
        } state;
        void *data;
        int64_t n;
        enum cr_mpi_type type;
        struct cr_bf16_sums *low; /* by messages; kept for later ones */
    } started[CR_MPI_SLOTS]; /* the last one for sums at once */
    int n_started;           /* under way */
    struct cr_mpi_traffic traffic;
} mpi = { .size = 1 };

/* A gather moves half as many bytes as a sum. */
static void count_wait(size_t bytes)
{
    mpi.traffic.waits++;
    mpi.traffic.wait_bytes += (int64_t)bytes;
}

struct cr_mpi_traffic cr_mpi_traffic(void)
{
    return mpi.traffic;
}

const char *cr_mpi_transport(void)
{
    return mpi.shared ? "shared memory" : "messages";
}

/* ---- What mpirun says in the environment */

static int number(const char *text, int otherwise)
{
    char *end;
    long n = text ? strtol(text, &end, 10) : -1;

    return text && end > text && !*end && n >= 0 && n < INT_MAX ? (int)n
                                                                : otherwise;
}

static int given(const char *name, int otherwise)
{
    return number(getenv(name), otherwise);
}

/* Seconds that a process waits for another one; 0: for ever. */
static int timeout(void)
{
    return number(getenv("CELLRUN_MPI_TIMEOUT"), TIMEOUT);
}

/* The MPI whose mpirun started this process, as in the name of its object;
 * NULL: none has, or it has started this process alone. */
static const char *mpi_kind(void)
{
    const char *off = getenv("CELLRUN_MPI");

    if (off && strcmp(off, "off") == 0)
        return NULL;
    /* Open MPI; srun --mpi=pmix says the rank only */
    if (given("OMPI_COMM_WORLD_SIZE",
              given("PMIX_RANK", -1) >= 0 ? given("SLURM_NTASKS", 1) : 1) > 1)
        return "openmpi";
    /* MPICH, and srun --mpi=pmi2 */
    return given("PMI_RANK", -1) >= 0 && given("PMI_SIZE", 1) > 1 ? "mpich"
                                                                  : NULL;
}

int cr_mpi_rank_given(void)
{
    if (!mpi_kind())
        return 0;
    return given("OMPI_COMM_WORLD_RANK",
                 given("PMIX_RANK", given("PMI_RANK", 0)));
}

/* ---- Start and end */

static void *mpi_open(struct cr_arena *arena, const char *file)
{
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    void *handle = NULL;
    char *slash;

    if (n > 0) {
        exe[n] = '\0';
        slash = strrchr(exe, '/');
        if (slash)
            *slash = '\0';
        handle = dlopen(cr_path_join(arena, exe, file), RTLD_NOW | RTLD_GLOBAL);
    }
    /* RTLD_GLOBAL: the parts that Open MPI loads need its symbols */
    return handle ? handle
                  : dlopen(cr_path_join(arena, CR_LIBDIR, file),
                           RTLD_NOW | RTLD_GLOBAL);
}

static void shared_late(int rank)
{
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    fprintf(stderr,
            "cellrun: error: rank %d on %s has not answered for %d seconds "
            "[E0601]\n   the limit is CELLRUN_MPI_TIMEOUT\n",
            rank, host, timeout());
    mpi.calls->abort(cr_code_exit(CR_E_SYSTEM));
}

/* Whether all processes have the shared memory. */
static bool shared_start(void)
{
    const struct cr_shared_opts opts = {
        .rank = mpi.rank,
        .size = mpi.size,
        .spin = mpi.cpus > 0.99,
        .limit = timeout(),
        .late = shared_late,
    };
    const char *how = getenv("CELLRUN_MPI");
    struct cr_shared_place place = { 0 };
    bool ok = mpi.size > 1 && mpi.local == mpi.size &&
              mpi.size <= CR_SHARED_MAX &&
              !(how && strcmp(how, "messages") == 0);

    if (ok && mpi.rank == 0)
        ok = cr_shared_open(&opts, &place);
    if (!cr_mpi_all(ok))
        return false;
    cr_mpi_broadcast(&place, sizeof place, 0);
    if (mpi.rank > 0)
        ok = cr_shared_open(&opts, &place);
    if (cr_mpi_all(ok))
        return true;
    cr_shared_close();
    return false;
}

void cr_mpi_alone(void)
{
    if (mpi_kind())
        setenv("CELLRUN_MPI", "off", 1);
}

bool cr_mpi_start(struct cr_diag *diag)
{
    const char *kind = mpi_kind(), *why;
    const char *file;
    cr_mpi_calls_fn *calls;
    void *handle, *symbol;

    if (!kind)
        return true;
    file = cr_strf(diag->arena, "cellrun-mpi-%s.so", kind);
    handle = mpi_open(diag->arena, file);
    symbol = handle ? dlsym(handle, "cr_mpi_calls") : NULL;
    if (!symbol) {
        why = dlerror();
        cr_error(diag, CR_NOWHERE, CR_E_SYSTEM,
                 "started by mpirun, but %s cannot be loaded: %s", file,
                 why ? why : "it is not cellrun's");
        cr_hint(diag, "cellrun builds it where mpicc.%s is installed", kind);
        return false;
    }
    memcpy(&calls, &symbol, sizeof calls);
    if (calls()->version != CR_MPI_CALLS_VERSION)
        return cr_error(diag, CR_NOWHERE, CR_E_SYSTEM,
                        "%s belongs to another version of cellrun", file);
    /* where its mpirun is killed meanwhile, Open MPI waits for ever */
    if (strcmp(kind, "openmpi") == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    why =
        calls()->start(timeout(), cr_out_of_memory, &mpi.rank, &mpi.size,
                       &mpi.local, &mpi.cpus);
    if (strcmp(kind, "openmpi") == 0)
        prctl(PR_SET_PDEATHSIG, 0);
    if (why)
        return cr_error(diag, CR_NOWHERE, CR_E_SYSTEM, "MPI: %s", why);
    mpi.calls = calls();
    mpi.shared = shared_start();
    cr_out_of_memory_on(cr_mpi_name(diag->arena));
    cr_mpi_alone();
    return true;
}

int cr_mpi_end(int status)
{
    int64_t all = status;
    int i;

    if (!mpi.calls)
        return status;
    cr_mpi_max(&all, 1);
    if (mpi.shared)
        cr_shared_close();
    mpi.calls->end();
    mpi.calls = NULL;
    for (i = 0; i < CR_MPI_SLOTS; i++)
        cr_bf16_sums_free(mpi.started[i].low);
    return (int)all;
}

void cr_mpi_fail(struct cr_diag *diag, struct cr_diag_format how)
{
    if (!mpi.calls)
        return;
    diag->silent = false;
    cr_note(diag, "on %s", cr_mpi_name(diag->arena));
    cr_diag_print(diag, stderr, how);
    mpi.calls->abort(cr_diag_exit(diag));
}

int cr_mpi_rank(void)
{
    return mpi.rank;
}

int cr_mpi_size(void)
{
    return mpi.size;
}

int cr_mpi_cpus(int cpus)
{
    int own = (int)(mpi.cpus + 0.01);
    cpu_set_t set;

    if (!mpi.calls)
        return cpus;
    /* fewer than those that it may run on: a quota, of all processes here */
    if (sched_getaffinity(0, sizeof set, &set) == 0 && cpus < CPU_COUNT(&set))
        cpus = cpus / mpi.local > 1 ? cpus / mpi.local : 1;
    return own < 1 ? 1 : own < cpus ? own : cpus;
}

const char *cr_mpi_name(struct cr_arena *arena)
{
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    return cr_strf(arena, "rank %d on %s", mpi.rank, host);
}

void cr_mpi_rows(int64_t all, int rank, int64_t *first, int64_t *n)
{
    int64_t each = all / mpi.size, more = all % mpi.size;

    *first = rank * each + (rank < more ? rank : more);
    *n = each + (rank < more);
}

void cr_mpi_range(int64_t n, int rank, int64_t *from, int64_t *to)
{
    int64_t blocks = (n + 15) / 16;

    *from = blocks * rank / mpi.size * 16;
    *to = rank + 1 == mpi.size ? n : blocks * (rank + 1) / mpi.size * 16;
}

/* ---- Collective */

bool cr_mpi_agree(struct cr_diag *diag, bool ok)
{
    int64_t last = ok ? 0 : mpi.size - mpi.rank, code;
    const struct cr_message *m = diag->first;
    const char *text, *name, *hint;
    int from;

    if (!mpi.calls)
        return ok;
    cr_mpi_max(&last, 1);
    if (last == 0)
        return true;
    from = mpi.size - (int)last;
    while (m && m->warning)
        m = m->next;
    code = m ? (int64_t)m->code : CR_E_SYSTEM;
    cr_mpi_broadcast(&code, sizeof code, from);
    text = !m            ? "failed"
           : !m->pos.src ? m->text
                         : cr_strf(diag->arena, "%s: %s",
                                   cr_pos_text(diag->arena, m->pos), m->text);
    text = cr_mpi_broadcast_text(diag->arena, text, from);
    hint = cr_mpi_broadcast_text(diag->arena, m ? m->hint : NULL, from);
    name = cr_mpi_broadcast_text(diag->arena, cr_mpi_name(diag->arena), from);
    if (diag->errors == 0) {
        cr_error(diag, CR_NOWHERE, (enum cr_code)code, "%s", text);
        if (hint)
            cr_hint(diag, "%s", hint);
        cr_note(diag, "on %s", name);
    }
    return false;
}

bool cr_mpi_shares(int64_t rows)
{
    return rows >= 2 * mpi.size || rows == mpi.size;
}

bool cr_mpi_all(bool ok)
{
    int64_t bad = !ok;

    cr_mpi_max(&bad, 1);
    return bad == 0;
}

static size_t type_size(enum cr_mpi_type type)
{
    return type == CR_MPI_FLOAT  ? sizeof(float)
           : type == CR_MPI_BF16 ? sizeof(cr_real)
                                 : sizeof(double);
}

/* Of an element that is sent. */
static size_t sent_size(enum cr_mpi_type type)
{
    return type == CR_MPI_BF16 ? sizeof(uint16_t) : type_size(type);
}

static void low_start(int slot)
{
    struct started *s = &mpi.started[slot];

    if (!s->low)
        s->low = cr_bf16_sums(mpi.calls, slot, mpi.rank, mpi.size);
    cr_bf16_sums_start(s->low, s->data, s->n);
}

static void low_wait(int slot)
{
    do
        mpi.calls->wait(slot);
    while (!cr_bf16_sums_advance(mpi.started[slot].low));
}

static void reduce(void *data, int64_t n, enum cr_mpi_type type,
                   enum cr_mpi_op op)
{
    size_t size = type_size(type);
    int64_t most = (int64_t)(CHUNK / size), now;
    char *at = data;

    if (mpi.shared) {
        cr_shared_reduce(data, n, type, op);
        return;
    }
    for (; n > 0 && mpi.calls; n -= now, at += (size_t)now * size) {
        now = n < most ? n : most;
        mpi.calls->reduce(at, (int)now, type, op);
    }
}

static void sum(void *data, int64_t n, enum cr_mpi_type type)
{
    const int64_t most = (int64_t)(CHUNK / sizeof(cr_real));
    struct started *s = &mpi.started[CR_MPI_STARTED];
    cr_real *at = data;
    int64_t now;

    if (type != CR_MPI_BF16 || mpi.shared) {
        reduce(data, n, type, CR_MPI_SUM);
        return;
    }
    for (; n > 0 && mpi.calls; n -= now, at += now) {
        now = n < most ? n : most;
        s->data = at;
        s->n = now;
        s->type = type;
        low_start(CR_MPI_STARTED);
        low_wait(CR_MPI_STARTED);
    }
}

void cr_mpi_sum(void *data, int64_t n, enum cr_mpi_type type)
{
    count_wait((size_t)n * sent_size(type));
    sum(data, n, type);
}

void cr_mpi_max(int64_t *data, int64_t n)
{
    count_wait((size_t)n * sizeof *data);
    reduce(data, n, CR_MPI_INT64, CR_MPI_MAX);
}

void cr_mpi_sum_start(int slot, void *data, int64_t n, enum cr_mpi_type type)
{
    struct started *s = &mpi.started[slot];

    assert(slot < CR_MPI_STARTED && s->state == NOT_STARTED);
    if (!mpi.calls)
        return;
    mpi.traffic.sums++;
    mpi.traffic.sum_bytes += n * (int64_t)sent_size(type);
    *s = (struct started){ UNDER_WAY, data, n, type, s->low };
    if (mpi.shared ? !cr_shared_sum_start(slot, data, n, type)
                   : n > (int64_t)(CHUNK / type_size(type))) {
        s->state = AT_WAIT;
        return;
    }
    if (!mpi.shared && type == CR_MPI_BF16)
        low_start(slot);
    else if (!mpi.shared)
        mpi.calls->reduce_start(slot, data, (int)n, type);
    mpi.n_started++;
}

void cr_mpi_progress(void)
{
    int i;

    for (i = 0; i < CR_MPI_STARTED && mpi.n_started > 0 && !mpi.shared; i++)
        if (mpi.started[i].state == UNDER_WAY) {
            if (mpi.calls->done(i) &&
                (mpi.started[i].type != CR_MPI_BF16 ||
                 cr_bf16_sums_advance(mpi.started[i].low))) {
                mpi.started[i].state = NOT_STARTED;
                mpi.n_started--;
            }
            return; /* one test lets all of them proceed */
        }
}

void cr_mpi_sum_wait(int slot)
{
    struct started *s = &mpi.started[slot];

    if (s->state == AT_WAIT)
        sum(s->data, s->n, s->type);
    if (s->state == UNDER_WAY) {
        if (mpi.shared)
            cr_shared_sum_wait(slot, s->data);
        else if (s->type == CR_MPI_BF16)
            low_wait(slot);
        else
            mpi.calls->wait(slot);
        mpi.n_started--;
    }
    s->state = NOT_STARTED;
}

/* ---- Memory that all see */

bool cr_mpi_sees(void)
{
    return mpi.shared;
}

void *cr_mpi_parts(size_t once, size_t each)
{
    struct cr_shared_place place = { 0 };
    bool ok = mpi.shared;

    if (ok && mpi.rank == 0)
        ok = cr_shared_parts_open(once, each, &place);
    if (!cr_mpi_all(ok))
        return NULL;
    cr_mpi_broadcast(&place, sizeof place, 0);
    if (mpi.rank > 0)
        ok = cr_shared_parts_open(once, each, &place);
    if (cr_mpi_all(ok))
        return cr_shared_part();
    cr_shared_parts_close();
    return NULL;
}

void *cr_mpi_once(void)
{
    return cr_shared_once();
}

void cr_mpi_meet(void)
{
    if (mpi.shared)
        cr_shared_meet();
}

CR_O3

CR_CLONES static void add(cr_real *to, const cr_real *x, const cr_real *y,
                          int64_t n)
{
    CR_SIMD
    for (int64_t i = 0; i < n; i++)
        to[i] = x[i] + y[i];
}

/* In the order of the processes. */
static void parts_fold(const cr_real *own, int64_t n, cr_real *sum)
{
    const cr_real *x = cr_shared_part_of(0, own);

    for (int r = 1; r < mpi.size; r++, x = sum)
        add(sum, x, cr_shared_part_of(r, own), n);
}

/* More than two processes would read all of it too often: each adds up its
 * range, in its own memory. */
static bool parts_by_range(void)
{
    return mpi.size > 2;
}

void cr_mpi_parts_sum(int k, void *const *own, const int64_t *n)
{
    cr_real sum[2048];
    int64_t from, to, now;

    cr_mpi_meet();
    for (int i = 0; i < k; i++) {
        cr_real *part = own[i];

        mpi.traffic.sums++;
        mpi.traffic.sum_bytes += n[i] * (int64_t)sizeof *part;
        cr_mpi_range(n[i], mpi.rank, &from, &to);
        for (; from < to && parts_by_range(); from += now) {
            now = to - from < (int64_t)CR_LEN(sum) ? to - from
                                                   : (int64_t)CR_LEN(sum);
            parts_fold(part + from, now, sum);
            memcpy(part + from, sum, (size_t)now * sizeof *sum);
        }
    }
    if (parts_by_range())
        cr_mpi_meet();
}

const cr_real *cr_mpi_parts_read(const cr_real *own, int64_t all, int64_t from,
                                 int64_t n, cr_real *room)
{
    const cr_real *part;
    int64_t at, end, begin, now;

    if (!parts_by_range()) {
        parts_fold(own + from, n, room);
        return room;
    }
    for (int r = 0; r < mpi.size; r++) {
        cr_mpi_range(all, r, &begin, &end);
        at = from > begin ? from : begin;
        now = (from + n < end ? from + n : end) - at;
        if (now <= 0)
            continue;
        part = cr_shared_part_of(r, own + at);
        if (now == n)
            return part;
        memcpy(room + (at - from), part, (size_t)now * sizeof *part);
    }
    return room;
}

void cr_mpi_broadcast(void *data, size_t bytes, int from)
{
    size_t now;
    char *at = data;

    count_wait(bytes);
    if (mpi.shared) {
        cr_shared_broadcast(data, bytes, from);
        return;
    }
    for (; bytes > 0 && mpi.calls; bytes -= now, at += now) {
        now = bytes < CHUNK ? bytes : CHUNK;
        mpi.calls->broadcast(at, (int)now, from);
    }
}

const char *cr_mpi_broadcast_text(struct cr_arena *arena, const char *text,
                                  int from)
{
    int64_t len = text ? (int64_t)strlen(text) : -1;
    char *copy;

    if (!mpi.calls)
        return text;
    cr_mpi_broadcast(&len, sizeof len, from);
    if (len < 0)
        return NULL;
    copy = CR_NEWS(arena, char, len + 1);
    if (mpi.rank == from)
        memcpy(copy, text, (size_t)len);
    cr_mpi_broadcast(copy, (size_t)len, from);
    return copy;
}

/* Rows whose bytes do not fit into one call go in groups of a row of each
 * process; a row above 2^31 bytes cannot be sent. */
static void gather_large(char *all, int64_t rows, size_t bytes)
{
    int64_t first, n;
    int r;

    for (r = 0; r < mpi.size; r++) {
        cr_mpi_rows(rows, r, &first, &n);
        if (r != mpi.rank)
            memset(all + (size_t)first * bytes, 0, (size_t)n * bytes);
    }
    /* sums of bytes of which all but one are 0, as integers */
    sum(all, (int64_t)((size_t)rows * bytes / sizeof(int64_t)), CR_MPI_INT64);
    n = (int64_t)((size_t)rows * bytes % sizeof(int64_t));
    for (first = (int64_t)((size_t)rows * bytes) - n; n-- > 0; first++) {
        int64_t one = (unsigned char)all[first];

        sum(&one, 1, CR_MPI_INT64);
        all[first] = (char)one;
    }
}

static void gather_shared(void *all, int64_t rows, size_t bytes)
{
    size_t from[CR_SHARED_MAX + 1];
    int64_t first, n;
    int r;

    for (r = 0; r < mpi.size; r++) {
        cr_mpi_rows(rows, r, &first, &n);
        from[r] = (size_t)first * bytes;
    }
    from[r] = (size_t)rows * bytes;
    cr_shared_gather(all, from);
}

void cr_mpi_gather_rows(void *all, int64_t rows, size_t bytes)
{
    int n[RANKS], at[RANKS], r;

    if (!mpi.calls || rows == 0 || bytes == 0)
        return;
    count_wait((size_t)rows * bytes / 2);
    if (mpi.shared) {
        gather_shared(all, rows, bytes);
        return;
    }
    if (mpi.size > RANKS || (size_t)rows > INT_MAX / bytes) {
        gather_large(all, rows, bytes);
        return;
    }
    for (r = 0; r < mpi.size; r++) {
        int64_t first, own;

        cr_mpi_rows(rows, r, &first, &own);
        n[r] = (int)own * (int)bytes;
        at[r] = (int)first * (int)bytes;
    }
    mpi.calls->gather(all, n, at);
}

void cr_mpi_gather_parts(void *all, const size_t *from)
{
    int n[RANKS], at[RANKS], r;
    size_t bytes = from[mpi.size];

    if (!mpi.shared && (mpi.size > RANKS || bytes > INT_MAX)) {
        for (r = 0; r < mpi.size; r++)
            cr_mpi_broadcast((char *)all + from[r], from[r + 1] - from[r], r);
        return;
    }
    count_wait(bytes / 2);
    if (mpi.shared) {
        cr_shared_gather(all, from);
        return;
    }
    for (r = 0; r < mpi.size; r++) {
        at[r] = (int)from[r];
        n[r] = (int)from[r + 1] - at[r];
    }
    if (mpi.calls)
        mpi.calls->gather(all, n, at);
}
