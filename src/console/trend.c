#include "console/trend.h"

void cr_trend_add(struct cr_trend *trend, double value)
{
    if (trend->n == CR_TREND_MAX && trend->in == 0) { /* full: join pairs */
        for (int i = 0; i < CR_TREND_MAX / 2; i++)
            trend->sum[i] = trend->sum[2 * i] + trend->sum[2 * i + 1];
        trend->n = CR_TREND_MAX / 2;
        trend->per *= 2;
    }
    if (trend->per == 0)
        trend->per = 1;
    if (trend->in == 0)
        trend->sum[trend->n++] = 0;
    trend->sum[trend->n - 1] += value;
    trend->in = (trend->in + 1) % trend->per;
}

double cr_trend_mean(const struct cr_trend *trend, int from, int to)
{
    double sum = 0, count = (double)(to - from) * (double)trend->per;

    for (int i = from; i < to; i++)
        sum += trend->sum[i];
    if (to == trend->n && trend->in > 0) /* the last block is not complete */
        count -= (double)(trend->per - trend->in);
    return sum / count;
}
