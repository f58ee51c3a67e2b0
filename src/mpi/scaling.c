#include "mpi/scaling.h"

#include "base/arena.h"
#include "base/clock.h"
#include "mpi/mpi.h"

#include <stdlib.h>

#define LARGE ((int64_t)1 << 20) /* numbers of a large sum: 4 MiB */
#define SHORT_TIMES 101
#define LARGE_TIMES 11
#define BACKWARD (2.0 / 3) /* of the time that a step computes */

/* Median of the seconds of a sum, by this process's clock. */
static double measure(float *data, int64_t n, int times)
{
    double seconds[SHORT_TIMES];
    double start;
    int i;

    for (i = -times / 10; i < times; i++) {
        start = cr_now();
        cr_mpi_sum(data, n, CR_MPI_FLOAT);
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

struct cr_mpi_link cr_mpi_measure(void)
{
    float *data = calloc((size_t)LARGE, sizeof *data);
    struct cr_mpi_link link;
    int n = cr_mpi_size();
    double sum, bytes = (double)LARGE * sizeof *data;

    if (!data)
        cr_out_of_memory((size_t)LARGE * sizeof *data);
    link.latency = measure(data, 1, SHORT_TIMES) / (2 * rounds_of(n));
    sum = measure(data, LARGE, LARGE_TIMES);
    free(data);
    link.per_byte = (sum / (2 * (n - 1)) - link.latency) / (bytes / n);
    if (link.per_byte < 0)
        link.per_byte = 0;
    return link;
}

double cr_mpi_sum_seconds(const struct cr_mpi_link *link, int n, double bytes)
{
    double tree = 2 * rounds_of(n) * (link->latency + bytes * link->per_byte);
    double ring = 2 * (n - 1) * (link->latency + bytes / n * link->per_byte);

    return tree < ring ? tree : ring;
}

/* `calls` of the same size. */
static double calls_seconds(const struct cr_mpi_link *link, int64_t calls,
                            int64_t bytes, int n)
{
    return calls == 0
               ? 0
               : (double)calls *
                     cr_mpi_sum_seconds(link, n, (double)bytes / (double)calls);
}

double cr_mpi_sums_seconds(const struct cr_mpi_link *link,
                           const struct cr_mpi_traffic *t, int n)
{
    return calls_seconds(link, t->sums, t->sum_bytes, n);
}

double cr_mpi_waits_seconds(const struct cr_mpi_link *link,
                            const struct cr_mpi_traffic *t, int n)
{
    return calls_seconds(link, t->waits, t->wait_bytes, n);
}

double cr_mpi_step_seconds(const struct cr_mpi_link *link,
                           const struct cr_mpi_step *step, int n, double rows)
{
    double compute = step->fixed + step->per_row * rows;
    double sums = cr_mpi_sums_seconds(link, &step->traffic, n);
    double hidden = step->hidden * sums;

    if (n == 1)
        return compute;
    if (hidden > BACKWARD * compute)
        hidden = BACKWARD * compute;
    return compute + sums - hidden + step->skew +
           cr_mpi_waits_seconds(link, &step->traffic, n);
}
