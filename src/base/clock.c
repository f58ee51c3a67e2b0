#include "base/clock.h"

#include <stdlib.h>
#include <time.h>

double cr_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double cr_median(double *v, int64_t n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
    return v[n / 2];
}
