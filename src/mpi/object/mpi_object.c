/*
 * The calls of MPI, for src/mpi/mpi.c, which opens this object under mpirun.
 * Compiled once by each of mpicc.openmpi and mpicc.mpich: all that differs
 * between the two is in their <mpi.h>. MPI ends the run on any error of its
 * own, with its message.
 */
#include "mpi/mpi_calls.h"

#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    AWAKE = 2000, /* tests before a process that waits begins to sleep */
    NAP = 20000,  /* nanoseconds */
    WATCH = 256,  /* naps between two looks at who else waits */
    ANSWER = 5,   /* seconds in which a process that waits answers */
    ASK = 1,      /* tags of `watch` */
    HERE
};

static MPI_Request under_way[CR_MPI_SLOTS];
static MPI_Comm apart[CR_MPI_SLOTS]; /* of a slot; made when first needed */
static MPI_Comm watch; /* apart from what is waited for */
static double limit;   /* seconds that a process waits; 0: for ever */
static int own, n_all;
static char (*hosts)[64];

static MPI_Datatype type_of(enum cr_mpi_type type)
{
    return type == CR_MPI_FLOAT    ? MPI_FLOAT
           : type == CR_MPI_DOUBLE ? MPI_DOUBLE
                                   : MPI_INT64_T;
}

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

static const char *object_start(double timeout, int *rank, int *size,
                                int *local, double *cpus)
{
    MPI_Comm here;
    int level;

    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) !=
        MPI_SUCCESS)
        return "MPI_Init_thread failed";
    MPI_Comm_rank(MPI_COMM_WORLD, rank);
    MPI_Comm_size(MPI_COMM_WORLD, size);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &here);
    *cpus = cpus_of(here);
    MPI_Comm_size(here, local);
    MPI_Comm_free(&here);
    for (int i = 0; i < CR_MPI_SLOTS; i++) {
        under_way[i] = MPI_REQUEST_NULL;
        apart[i] = MPI_COMM_NULL;
    }
    limit = timeout;
    own = *rank;
    n_all = *size;
    MPI_Comm_dup(MPI_COMM_WORLD, &watch);
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

/* ---- Waiting */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
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
static bool watch_ask(MPI_Request *request)
{
    const struct timespec nap = { .tv_nsec = 1000000 };
    char *here = calloc((size_t)n_all, 2), *asked, c = 0;
    int done = 0, r;
    double end;

    if (!here)
        return false;
    asked = here + n_all;
    here[own] = 1;
    for (r = 0; r < n_all; r++) {
        MPI_Request sent;

        if (r == own)
            continue;
        MPI_Isend(&c, 1, MPI_CHAR, r, ASK, watch, &sent);
        MPI_Request_free(&sent);
    }
    for (end = now() + ANSWER; now() < end && !done;) {
        nanosleep(&nap, NULL);
        watch_answer(here, asked);
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        for (r = 0; r < own; r++)
            if (asked[r]) {
                end += 2 * ANSWER; /* leaves it to that one */
                asked[r] = 0;
            }
    }
    if (!done)
        watch_end(here);
    free(here);
    return true;
}

/* Waits for the others: awake at first, then with short sleeps, so that a
 * process that shares its processor leaves it to those it waits for. Time in
 * which it was suspended itself does not count. */
static void complete(MPI_Request *request)
{
    const struct timespec nap = { .tv_nsec = NAP };
    double waited = 0, last = 0, time;
    int done = 0;

    for (int i = 0; !done; i++) {
        if (i > AWAKE)
            nanosleep(&nap, NULL);
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done || i % WATCH != 0 || i <= AWAKE)
            continue;
        watch_answer(NULL, NULL);
        time = now();
        if (last > 0)
            waited += time - last < 1 ? time - last : 1;
        last = time;
        if (limit > 0 && waited > limit)
            done = watch_ask(request);
    }
}

/* ---- The table */

static void object_end(void)
{
    MPI_Request request;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    complete(&request);
    for (int i = 0; i < CR_MPI_SLOTS; i++)
        if (apart[i] != MPI_COMM_NULL)
            MPI_Comm_free(&apart[i]);
    MPI_Comm_free(&watch);
    free(hosts);
    MPI_Finalize();
}

static void object_abort(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
    _Exit(status);
}

static void object_reduce(void *data, int n, enum cr_mpi_type type,
                          enum cr_mpi_op op)
{
    MPI_Request request;

    MPI_Iallreduce(MPI_IN_PLACE, data, n, type_of(type),
                   op == CR_MPI_SUM ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD,
                   &request);
    complete(&request);
}

static void object_reduce_start(int slot, void *data, int n,
                                enum cr_mpi_type type)
{
    MPI_Iallreduce(MPI_IN_PLACE, data, n, type_of(type), MPI_SUM,
                   MPI_COMM_WORLD, &under_way[slot]);
}

/* All processes start sums in one order, so this one is collective. */
static MPI_Comm apart_of(int slot)
{
    MPI_Request request;

    if (apart[slot] == MPI_COMM_NULL) {
        MPI_Comm_idup(MPI_COMM_WORLD, &apart[slot], &request);
        complete(&request);
    }
    return apart[slot];
}

static void object_exchange_start(int slot, const void *data, const int *n,
                                  const int *at, void *to, const int *n_to,
                                  const int *at_to)
{
    MPI_Ialltoallv(data, n, at, MPI_BYTE, to, n_to, at_to, MPI_BYTE,
                   apart_of(slot), &under_way[slot]);
}

static void object_gather_start(int slot, void *all, const int *n,
                                const int *at)
{
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, at, MPI_BYTE,
                    apart_of(slot), &under_way[slot]);
}

static int object_done(int slot)
{
    int done;

    MPI_Test(&under_way[slot], &done, MPI_STATUS_IGNORE);
    return done;
}

static void object_wait(int slot)
{
    complete(&under_way[slot]);
}

static void object_broadcast(void *data, int n, int from)
{
    MPI_Request request;

    MPI_Ibcast(data, n, MPI_BYTE, from, MPI_COMM_WORLD, &request);
    complete(&request);
}

static void object_gather(void *all, const int *n, const int *at)
{
    MPI_Request request;

    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, n, at, MPI_BYTE,
                    MPI_COMM_WORLD, &request);
    complete(&request);
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
