/*
 * The course of a quantity over a run of any length, in constant memory: sums
 * over blocks of `per` values each. When the blocks are full, pairs are joined.
 */
#ifndef CR_CONSOLE_TREND_H
#define CR_CONSOLE_TREND_H

#include <stdint.h>

#define CR_TREND_MAX 64

struct cr_trend {
    double sum[CR_TREND_MAX];
    int n;           /* number of blocks; the last one covers */
    int64_t per, in; /* only `in` of its `per` values; 0: all */
};

void cr_trend_add(struct cr_trend *trend, double value);
/* Mean of the values in the blocks [from, to); from < to <= n. */
double cr_trend_mean(const struct cr_trend *trend, int from, int to);

#endif
