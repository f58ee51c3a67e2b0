/*
 * The model of bench --mpi, against its formulas worked out by hand.
 */
#include "mpi/scaling.h"
#include "tap.h"

#include <math.h>

static bool near(double x, double y)
{
    return fabs(x - y) <= 1e-9 * fabs(y);
}

static double sum(int n, int64_t bytes)
{
    struct cr_mpi_link link = { 0.5, 0.01 };
    struct cr_mpi_step step = { .traffic = { .sums = 1, .sum_bytes = bytes } };

    return cr_mpi_sums_seconds(&link, &step, n);
}

static void sums(void)
{
    struct cr_mpi_link link = { 0.5, 0.01 };
    struct cr_mpi_step step = { .traffic = { 10, 500, 10, 500 } };

    ok(near(sum(2, 50), 1.5), "two processes exchange halves, and their sums");
    ok(near(sum(8, 10), 3 * 1.2),
       "a short sum over 8: three rounds up a tree, and down");
    /* 7 + 2 * 7/8 * 10 = 24.5 < 3 * 21 */
    ok(near(sum(8, 1000), 24.5), "a long sum over 8: around a ring");
    ok(near(sum(5, 0), 3), "a number of processes between powers of two");
    ok(near(sum(1024, 1000), 10 * 21),
       "a tree, where a ring has too many rounds");
    ok(sum(1024, 1000000) < 2e4 + 1023,
       "a long sum hardly grows with the number of processes");
    ok(near(cr_mpi_sums_seconds(&link, &step, 2), 2 * (0.5 + 2.5)),
       "sums that are under way at once wait for one latency");
    step.in_turn = true;
    ok(near(cr_mpi_sums_seconds(&link, &step, 2), 10 * 1.5),
       "sums in turn, each for its own");
    ok(near(cr_mpi_waits_seconds(&link, &step, 2), 10 * 1.5),
       "those that a process waits for, each for its own");
}

static void steps(void)
{
    struct cr_mpi_link link = { 0.5, 0.01 };
    struct cr_mpi_step step = {
        .fixed = 3,
        .per_row = 0.5,
        .traffic = { .sums = 2, .sum_bytes = 100, .waits = 3 },
        .hidden = 0.5,
        .skew = 0.25,
    };

    ok(near(cr_mpi_step_seconds(&link, &step, 1, 64), 35),
       "one process sends nothing");
    /* sums of 2 (0.5 + 0.5), half of them hidden; 3 waits of 1 */
    ok(near(cr_mpi_step_seconds(&link, &step, 2, 32), 19 + 1 + 3 + 0.25),
       "two processes");
    step.per_row = 0.025; /* 0.95 in all: 2 / 3 of that can hide sums */
    step.fixed = 0.15;
    ok(near(cr_mpi_step_seconds(&link, &step, 2, 32),
            0.95 + 2 - 0.95 / 3 + 3.25),
       "half of what can be hidden, where that is less than all");
    step.hidden = 1;
    step.fixed = 0.3;
    ok(near(cr_mpi_step_seconds(&link, &step, 2, 0), 0.3 + 2 - 0.2 + 3.25),
       "two thirds of the time that it computes hide sums, at most");
}

int main(void)
{
    sums();
    steps();
    return done();
}
