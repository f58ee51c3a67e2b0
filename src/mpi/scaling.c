#include "mpi/scaling.h"

#include "base/arena.h"
#include "base/clock.h"
#include "mpi/mpi.h"

#include <math.h>
#include <stdlib.h>

#define LARGE ((int64_t)1 << 20)   /* numbers of a large sum, at least ... */
#define LARGEST ((int64_t)1 << 24) /* ... and at most */
#define SHORT_TIMES 101
#define LARGE_TIMES 11
#define BACKWARD (2.0 / 3) /* of the time that a step computes */

/* Median of the seconds of a sum, by this process's clock. It is started and
 * waited for, as those of gradients are: more of such a sum is under way at
 * once than of one whose numbers are needed right now. */
static double measure(void *data, int64_t n, enum cr_mpi_type type, int times)
{
    double seconds[SHORT_TIMES];
    double start;
    int i;

    for (i = -times / 10; i < times; i++) {
        start = cr_now();
        cr_mpi_sum_start(0, data, n, type);
        cr_mpi_sum_wait(0);
        if (i >= 0)
            seconds[i] = cr_now() - start;
    }
    return cr_median(seconds, times);
}

static int rounds_of(int n)
{
    int rounds = 0;

    for (; 1 << rounds < n; rounds++)
        ;
    return rounds;
}

struct cr_mpi_link cr_mpi_measure(int64_t bytes, bool bf16)
{
    enum cr_mpi_type type = bf16                               ? CR_MPI_BF16
                            : sizeof(cr_real) == sizeof(float) ? CR_MPI_FLOAT
                                                               : CR_MPI_DOUBLE;
    int64_t each = bf16 ? 2 : sizeof(cr_real), n = bytes / each;
    int processes = cr_mpi_size(), rounds = 2 * rounds_of(processes);
    struct cr_mpi_link link;
    cr_real *data;
    double sum;

    n = n < LARGE ? LARGE : n > LARGEST ? LARGEST : n;
    data = calloc((size_t)n, sizeof *data);
    if (!data)
        cr_out_of_memory((size_t)n * sizeof *data);
    link.latency = measure(data, 1, CR_MPI_INT64, SHORT_TIMES) / rounds;
    sum = measure(data, n, type, LARGE_TIMES);
    free(data);
    link.per_byte = (sum / (2 * (processes - 1)) - link.latency) * processes /
                    (double)(n * each);
    if (link.per_byte < 0)
        link.per_byte = 0;
    return link;
}

/* A sum: rounds one after another, each of which sends `part` of the bytes. */
struct way {
    int rounds;
    double part;
};

static struct way way_of(const struct cr_mpi_link *link, int n, double bytes)
{
    struct way tree = { 2 * rounds_of(n), 1 }, ring = { 2 * (n - 1), 1.0 / n };
    double send = bytes * link->per_byte;

    return tree.rounds * (link->latency + send) <
                   ring.rounds * (link->latency + send / n)
               ? tree
               : ring;
}

/* `calls` of the same size, one after another, or all under way at once. */
static double calls_seconds(const struct cr_mpi_link *link, int64_t calls,
                            int64_t bytes, int n, bool at_once)
{
    double k = (double)calls;
    struct way way;

    if (calls == 0)
        return 0;
    way = way_of(link, n, (double)bytes / k);
    return way.rounds * ((at_once ? 1 : k) * link->latency +
                         way.part * (double)bytes * link->per_byte);
}

double cr_mpi_sums_seconds(const struct cr_mpi_link *link,
                           const struct cr_mpi_step *step, int n)
{
    return calls_seconds(link, step->traffic.sums, step->traffic.sum_bytes, n,
                         !step->in_turn);
}

double cr_mpi_waits_seconds(const struct cr_mpi_link *link,
                            const struct cr_mpi_step *step, int n)
{
    return calls_seconds(link, step->traffic.waits, step->traffic.wait_bytes, n,
                         false);
}

double cr_mpi_hidden_most(double sums, double compute)
{
    return fmin(sums, BACKWARD * compute);
}

double cr_mpi_step_seconds(const struct cr_mpi_link *link,
                           const struct cr_mpi_step *step, int n, double rows)
{
    double compute = step->fixed + step->per_row * rows;
    double sums = cr_mpi_sums_seconds(link, step, n);
    double hidden = step->hidden * cr_mpi_hidden_most(sums, compute);

    if (n == 1)
        return compute;
    return compute + sums - hidden + step->skew +
           cr_mpi_waits_seconds(link, step, n);
}
