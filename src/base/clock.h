/*
 * The clock that measures durations, and the statistic of repeated ones.
 */
#ifndef CR_BASE_CLOCK_H
#define CR_BASE_CLOCK_H

#include <stdint.h>

/* Seconds since an arbitrary point; never set back (CLOCK_MONOTONIC). */
double cr_now(void);
/* Of n > 0 numbers, which are sorted; the upper one of two in the middle. */
double cr_median(double *v, int64_t n);

#endif
