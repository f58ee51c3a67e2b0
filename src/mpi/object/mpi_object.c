/*
 * The calls of MPI, for src/mpi/mpi.c, which opens this object under mpirun.
 * Compiled once by each of mpicc.openmpi and mpicc.mpich: all that differs
 * between the two is in their <mpi.h>. MPI ends the run on any error of its
 * own, with its message.
 */
#include "mpi/mpi_calls.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    AT_ONCE = CR_MPI_SLOTS, /* slot of what this process waits for at once */
    SLOTS,
    AWAKE = 2000, /* tests before a process that waits begins to sleep */
    NAP = 20000,  /* nanoseconds */
    WATCH = 256,  /* naps between two looks at who else waits */
    POLL = 200000,  /* nanoseconds between two polls of the progress thread */
    LONG = 1000000, /* without a poll: then that thread is worth waking ... */
    RECENT = 256,   /* ... for so many sums */
    ANSWER = 5,   /* seconds in which a process that waits answers */
    ASK = 1,      /* tags of `watch` */
    HERE
};

static MPI_Request under_way[SLOTS];
static MPI_Comm apart[SLOTS]; /* of a slot; made when first needed */
static MPI_Comm watch;        /* apart from what is waited for */
static MPI_Comm around;       /* of rings */
static double limit;   /* seconds that a process waits; 0: for ever */
static void (*out_of_memory)(size_t bytes);
static int own, n_all;
static char (*hosts)[64];

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static MPI_Datatype type_of(enum cr_mpi_type type)
{
    return type == CR_MPI_FLOAT    ? MPI_FLOAT
           : type == CR_MPI_DOUBLE ? MPI_DOUBLE
                                   : MPI_INT64_T;
}

/* ---- Around a ring ----
 *
 * Of n processes each sends to the next one only: a range of the numbers, to
 * which the next one adds its own, n - 1 times; then the sum of each range goes
 * round (Patarasuk, Yuan, J. Parallel Distrib. Comput. 69, 2009). So a process
 * sends 2 (n - 1) / n of its numbers, however many processes there are, and a
 * machine no more than one of its processes. Open MPI's MPI_Iallreduce in place
 * sends all of them up a tree and down again.
 *
 * A sum is made of pieces, each with a ring of its own, and some pieces are
 * under way at a time: one is added while others are sent, and messages are
 * short, which TCP sends in both directions at once. All processes begin pieces
 * in the same order. So once all have started a sum, the oldest piece that is
 * not complete has a lane in each of them, and lanes cannot wait for one
 * another. What a process waits for at once has lanes of its own, and does not
 * wait for other sums.
 */

enum {
    LANES = 32,      /* pieces under way, */
    MORE = 8,        /* and of what is waited for at once */
    ALL = LANES + MORE,
    PIECE = 1 << 17, /* bytes of a range of a piece, about */
    TAGS = 1 << 14   /* of either: pieces under way have different ones */
};

static struct ring {
    char *data;
    int64_t n;
    int size; /* bytes of a number */
    MPI_Datatype type;
    MPI_Op op;
    const int *bytes, *at; /* of each process, which are gathered; NULL: sums */
    int64_t pieces, begun, done;
} rings[SLOTS];

static int waiting[SLOTS], n_waiting; /* with pieces that are not begun, without
                                         AT_ONCE */
static int64_t rounds; /* that are complete, of all pieces */
static double polled;  /* when messages last could proceed */

static struct lane {
    struct ring *ring; /* NULL: free */
    int64_t piece;
    int tag, round, rounds;
    char *room; /* of a range */
} lanes[ALL];

static MPI_Request requests[2 * ALL]; /* of a lane: from the one before, and to
                                         the next one */

/* Part i of k of n things: the first of them, and how many. */
static int64_t part_of(int64_t n, int64_t i, int64_t k, int64_t *size)
{
    int64_t begin = n * i / k;

    *size = n * (i + 1) / k - begin;
    return begin;
}

/* Range r, modulo n_all, of the lane's piece. Where parts are gathered, that of
 * a process is the range whose sum it would have. */
static char *lane_range(const struct lane *l, int r, int *n)
{
    const struct ring *g = l->ring;
    int64_t first, begin, all;

    r = (r - (g->bytes ? 1 : 0) + 3 * n_all) % n_all;
    if (g->bytes) {
        first = g->at[r];
        begin = part_of(g->bytes[r], l->piece, g->pieces, &all);
    } else {
        first = part_of(g->n, l->piece, g->pieces, &all);
        begin = part_of(all, r, n_all, &all);
    }
    *n = (int)all;
    return g->data + (first + begin) * g->size;
}

static bool lane_adds(const struct lane *l)
{
    return l->round < n_all - 1;
}

static void lane_post(int i)
{
    struct lane *l = &lanes[i];
    int r = own - l->round, n_to, n_from;
    char *to = lane_range(l, r, &n_to);
    char *from = lane_range(l, r - 1, &n_from);

    MPI_Irecv(lane_adds(l) ? l->room : from, n_from, l->ring->type,
              (own + n_all - 1) % n_all, l->tag, around, &requests[2 * i]);
    MPI_Isend(to, n_to, l->ring->type, (own + 1) % n_all, l->tag, around,
              &requests[2 * i + 1]);
}

/* Begins the next piece of a slot in a free lane. */
static void lane_begin(int i, int slot)
{
    static unsigned begun[2];
    struct lane *l = &lanes[i];
    struct ring *g = &rings[slot];
    bool at_once = slot == AT_ONCE;

    *l = (struct lane){ .ring = g,
                        .piece = g->begun++,
                        .tag = (int)(begun[at_once]++ % TAGS) + at_once * TAGS,
                        .round = g->bytes ? n_all - 1 : 0,
                        .rounds = 2 * (n_all - 1),
                        .room = l->room };
    lane_post(i);
}

/* Fills free lanes. */
static void lanes_begin(void)
{
    for (int i = 0; i < LANES && n_waiting > 0; i++) {
        struct ring *g = &rings[waiting[0]];

        if (lanes[i].ring)
            continue;
        lane_begin(i, waiting[0]);
        if (g->begun == g->pieces)
            memmove(waiting, waiting + 1,
                    (size_t)--n_waiting * sizeof *waiting);
    }
    for (int i = LANES;
         i < ALL && rings[AT_ONCE].begun < rings[AT_ONCE].pieces; i++)
        if (!lanes[i].ring)
            lane_begin(i, AT_ONCE);
}

/* After both messages of a round have come. */
static void lane_advance(int i)
{
    struct lane *l = &lanes[i];
    int n;

    rounds++;
    if (lane_adds(l)) {
        char *to = lane_range(l, own - l->round - 1, &n);

        MPI_Reduce_local(l->room, to, n, l->ring->type, l->ring->op);
    }
    if (++l->round < l->rounds) {
        lane_post(i);
        return;
    }
    l->ring->done++;
    l->ring = NULL;
}

/* MPI_UNDEFINED, which is negative: nothing is under way. */
static int requests_test(void)
{
    MPI_Status status[2 * ALL]; /* MPICH's header takes none for an error */
    int done[2 * ALL], n;

    MPI_Testsome(2 * ALL, requests, &n, done, status);
    if (n == 0) /* Open MPI lets messages proceed after it has looked */
        MPI_Testsome(2 * ALL, requests, &n, done, status);
    return n;
}

static void rings_advance(void)
{
    int i;

    polled = now();
    do {
        lanes_begin();
        if (requests_test() <= 0)
            return;
        for (i = 0; i < ALL; i++)
            if (lanes[i].ring && requests[2 * i] == MPI_REQUEST_NULL &&
                requests[2 * i + 1] == MPI_REQUEST_NULL)
                lane_advance(i);
    } while (true);
}

static void ring_start(int slot, struct ring ring)
{
    const size_t room = PIECE + 64;

    for (int i = 0; i < ALL; i++) {
        lanes[i].room = lanes[i].room ? lanes[i].room : malloc(room);
        if (!lanes[i].room)
            out_of_memory(room);
    }
    rings[slot] = ring;
    if (slot != AT_ONCE)
        waiting[n_waiting++] = slot;
    rings_advance();
}

static void ring_sum(int slot, void *data, int n, enum cr_mpi_type type,
                     MPI_Op op)
{
    int size = type == CR_MPI_FLOAT ? 4 : 8;
    int64_t most = (int64_t)n_all * PIECE / size;

    ring_start(slot, (struct ring){ .data = data,
                                    .n = n,
                                    .size = size,
                                    .type = type_of(type),
                                    .op = op,
                                    .pieces = (n + most - 1) / most });
}

static void ring_gather(int slot, void *all, const int *n, const int *at)
{
    int most = 1;

    for (int r = 0; r < n_all; r++)
        most = n[r] > most ? n[r] : most;
    ring_start(slot, (struct ring){ .data = all,
                                    .size = 1,
                                    .type = MPI_BYTE,
                                    .bytes = n,
                                    .at = at,
                                    .pieces = ((int64_t)most + PIECE - 1) /
                                              PIECE });
}

enum {
    LATENCY = 10000, /* bytes that take as long as a message */
    LEAST = 8192     /* bytes of a sum */
};

/* Where it takes less time than a tree, which has 2 log2(n) rounds of all
 * bytes. */
static bool ring_pays(int n, enum cr_mpi_type type)
{
    double bytes = (type == CR_MPI_FLOAT ? 4.0 : 8.0) * n;
    int tree = 0, rounds = 2 * (n_all - 1);

    while (1 << tree < n_all)
        tree++;
    return bytes >= LEAST && n >= n_all &&
           rounds * (LATENCY + bytes / n_all) <= 2 * tree * (LATENCY + bytes);
}

/* A machine sends what any of its processes sends only once, but messages wait
 * for one another. */
static bool ring_gather_pays(const int *n)
{
    double bytes = 0;

    for (int r = 0; r < n_all; r++)
        bytes += n[r];
    return bytes >= (double)n_all * LATENCY;
}

/* ---- Progress thread ----
 *
 * A message proceeds when its process calls MPI. It does between two steps of
 * the network; where one of them takes long, a progress thread polls while
 * something is under way. Where all are short it would only take time. Whoever
 * calls MPI has the lock: a process that waits keeps it.
 */

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t begun;
    bool may, runs, ends;
    int worth;   /* sums for which it is woken */
    double left; /* when this process last went on to compute */
} progress = { .lock = PTHREAD_MUTEX_INITIALIZER,
               .begun = PTHREAD_COND_INITIALIZER };

/* Of what this process does not wait for. */
static bool some_under_way(void)
{
    for (int i = 0; i < CR_MPI_SLOTS; i++)
        if (rings[i].done < rings[i].pieces ||
            under_way[i] != MPI_REQUEST_NULL)
            return true;
    return false;
}

static void *progress_run(void *none)
{
    const struct timespec nap = { .tv_nsec = POLL };
    int done;

    pthread_mutex_lock(&progress.lock);
    while (!progress.ends) {
        if (!some_under_way()) {
            pthread_cond_wait(&progress.begun, &progress.lock);
            continue;
        }
        pthread_mutex_unlock(&progress.lock);
        nanosleep(&nap, NULL);
        pthread_mutex_lock(&progress.lock);
        if (now() < polled + 1e-9 * POLL)
            continue;
        rings_advance();
        for (int i = 0; i < CR_MPI_SLOTS; i++)
            MPI_Test(&under_way[i], &done, MPI_STATUS_IGNORE);
    }
    pthread_mutex_unlock(&progress.lock);
    return none;
}

/* Signals are for the other threads. */
static void progress_begin(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    progress.runs =
        pthread_create(&progress.thread, NULL, progress_run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    progress.may = progress.runs;
    if (progress.runs)
        pthread_setname_np(progress.thread, "mpi-progress");
}

/* After something was started. */
static void progress_wake(void)
{
    if (!progress.may || progress.worth == 0)
        return;
    progress.worth--;
    if (progress.runs)
        pthread_cond_signal(&progress.begun);
    else
        progress_begin();
}

static void progress_end(void)
{
    if (!progress.runs)
        return;
    pthread_mutex_lock(&progress.lock);
    progress.ends = true;
    pthread_cond_signal(&progress.begun);
    pthread_mutex_unlock(&progress.lock);
    pthread_join(progress.thread, NULL);
    progress.runs = progress.may = false;
}

/* Before and after calls of the thread that computes. */
static void enter(void)
{
    pthread_mutex_lock(&progress.lock);
    if (some_under_way() && now() > progress.left + 1e-9 * LONG)
        progress.worth = RECENT;
}

static void leave(void)
{
    progress.left = now();
    pthread_mutex_unlock(&progress.lock);
}

/* ---- Waiting */

/* Whether all of a slot has come; lets all slots proceed. */
static bool slot_done(int slot)
{
    int done;

    rings_advance();
    if (rings[slot].done < rings[slot].pieces)
        return false;
    MPI_Test(&under_way[slot], &done, MPI_STATUS_IGNORE);
    return done;
}

/* Tells those who ask that this process waits, too; notes who has answered,
 * and who has asked. */
static void watch_answer(char *here, char *asked)
{
    MPI_Status from;
    char c = 0;
    int some;

    for (;;) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, watch, &some, &from);
        if (!some)
            return;
        MPI_Recv(&c, 1, MPI_CHAR, from.MPI_SOURCE, from.MPI_TAG, watch,
                 MPI_STATUS_IGNORE);
        if (from.MPI_TAG == ASK)
            MPI_Send(&c, 1, MPI_CHAR, from.MPI_SOURCE, HERE, watch);
        if (here)
            here[from.MPI_SOURCE] = 1;
        if (asked && from.MPI_TAG == ASK)
            asked[from.MPI_SOURCE] = 1;
    }
}

/* Ends all processes, with the name of one that has not answered. */
static void watch_end(const char *here)
{
    int r = 0;

    while (r < n_all && here[r])
        r++;
    if (r < n_all)
        fprintf(stderr,
                "cellrun: error: rank %d on %s has not answered for %.0f "
                "seconds [E0601]\n",
                r, hosts[r], limit);
    else
        fprintf(stderr,
                "cellrun: error: no message has come to rank %d on %s for "
                "%.0f seconds, though all processes wait for one [E0601]\n",
                own, hosts[own], limit);
    fprintf(stderr, "   the limit is CELLRUN_MPI_TIMEOUT\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
    _Exit(1);
}

/* Asks all others whether they wait, too. Of several that ask, the first one
 * reports. Returns true once the message has come. */
static bool watch_ask(int slot)
{
    const struct timespec nap = { .tv_nsec = 1000000 };
    char *here = calloc((size_t)n_all, 2), *asked, c = 0;
    int64_t before = rounds;
    bool done = false;
    double end;
    int r;

    if (!here)
        return false;
    asked = here + n_all;
    here[own] = 1;
    for (r = 0; r < n_all; r++) {
        MPI_Request question;

        if (r == own)
            continue;
        MPI_Isend(&c, 1, MPI_CHAR, r, ASK, watch, &question);
        MPI_Request_free(&question);
    }
    for (end = now() + ANSWER; now() < end && !done;) {
        nanosleep(&nap, NULL);
        watch_answer(here, asked);
        done = slot_done(slot);
        for (r = 0; r < own; r++)
            if (asked[r]) {
                end += 2 * ANSWER; /* leaves it to that one */
                asked[r] = 0;
            }
    }
    if (!done && rounds == before)
        watch_end(here);
    free(here);
    return done;
}

/* Waits for the others: awake at first, then with short sleeps, so that a
 * process that shares its processor leaves it to those it waits for. Time in
 * which it was suspended itself does not count. */
static void complete(int slot)
{
    const struct timespec nap = { .tv_nsec = NAP };
    double waited = 0, last = 0, time;
    int64_t before = rounds;
    bool done = false;

    for (int64_t i = 0; !done; i++) {
        if (i > AWAKE)
            nanosleep(&nap, NULL);
        done = slot_done(slot);
        if (done || i % WATCH != 0 || i <= AWAKE)
            continue;
        watch_answer(NULL, NULL);
        time = now();
        if (last > 0)
            waited += time - last < 1 ? time - last : 1;
        last = time;
        if (rounds != before) /* something has come */
            waited = 0;
        before = rounds;
        if (limit > 0 && waited > limit) {
            done = watch_ask(slot);
            waited = 0;
        }
    }
}

/* ---- The table */

/* Processors that this process may use, where one that n processes of this
 * machine may use counts 1 / n. */
static double cpus_of(MPI_Comm here)
{
    static int n[CPU_SETSIZE];
    double sum = 0;
    cpu_set_t set;

    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE; i++)
        n[i] = CPU_ISSET(i, &set) != 0;
    MPI_Allreduce(MPI_IN_PLACE, n, CPU_SETSIZE, MPI_INT, MPI_SUM, here);
    for (int i = 0; i < CPU_SETSIZE; i++)
        sum += CPU_ISSET(i, &set) ? 1.0 / n[i] : 0;
    return sum;
}

static const char *object_start(double timeout, void (*no_memory)(size_t),
                                int *rank, int *size, int *local,
                                double *cpus)
{
    MPI_Comm here;
    int level;

    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) !=
        MPI_SUCCESS)
        return "MPI_Init_thread failed";
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &here);
    *cpus = cpus_of(here);
    MPI_Comm_size(here, local);
    MPI_Comm_free(&here);
    for (int i = 0; i < SLOTS; i++) {
        under_way[i] = MPI_REQUEST_NULL;
        apart[i] = MPI_COMM_NULL;
    }
    for (int i = 0; i < 2 * ALL; i++)
        requests[i] = MPI_REQUEST_NULL;
    progress.may = level >= MPI_THREAD_SERIALIZED;
    limit = timeout;
    out_of_memory = no_memory;
    own = *rank;
    n_all = *size;
    MPI_Comm_dup(MPI_COMM_WORLD, &watch);
    MPI_Comm_dup(MPI_COMM_WORLD, &around);
    hosts = calloc((size_t)n_all, sizeof *hosts);
    if (!hosts)
        return "out of memory";
    gethostname(hosts[own], sizeof *hosts - 1);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, hosts, sizeof *hosts,
                  MPI_CHAR, MPI_COMM_WORLD);
    return level < MPI_THREAD_FUNNELED ? "this MPI does not support programs "
                                         "with threads"
                                       : NULL;
}

static void object_end(void)
{
    progress_end();
    MPI_Ibarrier(MPI_COMM_WORLD, &under_way[AT_ONCE]);
    complete(AT_ONCE);
    for (int i = 0; i < SLOTS; i++)
        if (apart[i] != MPI_COMM_NULL)
            MPI_Comm_free(&apart[i]);
    for (int i = 0; i < ALL; i++)
        free(lanes[i].room);
    MPI_Comm_free(&watch);
    MPI_Comm_free(&around);
    free(hosts);
    MPI_Finalize();
}

static void object_abort(int status)
{
    pthread_mutex_trylock(&progress.lock); /* this thread may have it */
    MPI_Abort(MPI_COMM_WORLD, status);
    _Exit(status);
}

static void reduce(int slot, void *data, int n, enum cr_mpi_type type,
                   MPI_Op op)
{
    if (ring_pays(n, type))
        ring_sum(slot, data, n, type, op);
    else
        MPI_Iallreduce(MPI_IN_PLACE, data, n, type_of(type), op,
                       MPI_COMM_WORLD, &under_way[slot]);
}

static void object_reduce(void *data, int n, enum cr_mpi_type type,
                          enum cr_mpi_op op)
{
    enter();
    reduce(AT_ONCE, data, n, type, op == CR_MPI_SUM ? MPI_SUM : MPI_MAX);
    complete(AT_ONCE);
    leave();
}

static void object_reduce_start(int slot, void *data, int n,
                                enum cr_mpi_type type)
{
    enter();
    reduce(slot, data, n, type, MPI_SUM);
    leave();
    progress_wake();
}

/* All processes start sums in one order, so this one is collective. */
static MPI_Comm apart_of(int slot)
{
    if (apart[slot] == MPI_COMM_NULL) {
        MPI_Comm_idup(MPI_COMM_WORLD, &apart[slot], &under_way[AT_ONCE]);
        complete(AT_ONCE);
    }
    return apart[slot];
}

static void object_exchange_start(int slot, const void *data, const int *n,
                                  const int *at, void *to, const int *n_to,
                                  const int *at_to)
{
    enter();
    MPI_Ialltoallv(data, n, at, MPI_BYTE, to, n_to, at_to, MPI_BYTE,
                   apart_of(slot), &under_way[slot]);
    leave();
    progress_wake();
}

static void object_gather_start(int slot, void *all, const int *n,
                                const int *at)
{
    enter();
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, at, MPI_BYTE,
                    apart_of(slot), &under_way[slot]);
    leave();
    progress_wake();
}

static int object_done(int slot)
{
    int done;

    enter();
    done = slot_done(slot);
    leave();
    return done;
}

static void object_wait(int slot)
{
    enter();
    complete(slot);
    leave();
}

static void object_broadcast(void *data, int n, int from)
{
    enter();
    MPI_Ibcast(data, n, MPI_BYTE, from, MPI_COMM_WORLD, &under_way[AT_ONCE]);
    complete(AT_ONCE);
    leave();
}

static void object_gather(void *all, const int *n, const int *at)
{
    enter();
    if (ring_gather_pays(n))
        ring_gather(AT_ONCE, all, n, at);
    else
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, at,
                        MPI_BYTE, MPI_COMM_WORLD, &under_way[AT_ONCE]);
    complete(AT_ONCE);
    leave();
}

cr_mpi_calls_fn cr_mpi_calls;

const struct cr_mpi_calls *cr_mpi_calls(void)
{
    static const struct cr_mpi_calls calls = {
        .version = CR_MPI_CALLS_VERSION,
        .start = object_start,
        .end = object_end,
        .abort = object_abort,
        .reduce = object_reduce,
        .reduce_start = object_reduce_start,
        .exchange_start = object_exchange_start,
        .gather_start = object_gather_start,
        .done = object_done,
        .wait = object_wait,
        .broadcast = object_broadcast,
        .gather = object_gather,
    };

    return &calls;
}
