/*
 * Scales of charts: ranges, round ticks and their texts.
 */
#ifndef CR_CHART_SCALE_H
#define CR_CHART_SCALE_H

#include "chart/chart.h"

#define CR_TICKS_MAX 64

struct cr_scale {
    enum cr_chart_scale kind;
    double min, max; /* min < max, both > 0 on a log scale */
    int n;           /* ticks */
    double tick[CR_TICKS_MAX];
    const char *text[CR_TICKS_MAX];
};

/* Extends a range, which is empty where min > max, by the values that this
 * kind of scale can show. */
void cr_range_add(enum cr_chart_scale kind, double *min, double *max,
                  const double *value, int64_t n);

/* A scale for an axis with data from min to max (min > max: no data) and
 * about `want` ticks. `round` extends it to the next ticks. */
struct cr_scale cr_scale_make(struct cr_arena *arena,
                              const struct cr_chart_axis *axis, double min,
                              double max, int want, bool round);

/* The position of a value: 0 at min, 1 at max; NAN if it has none. */
double cr_scale_at(const struct cr_scale *scale, double value);

/* A number in at most `digits` significant digits. */
const char *cr_chart_number(struct cr_arena *arena, double value, int digits);

#endif
