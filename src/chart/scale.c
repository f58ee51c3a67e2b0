#include "chart/scale.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"

#define EPS 1e-9 /* of a step: what rounding may add to a tick */

void cr_range_add(enum cr_chart_scale kind, double *min, double *max,
                  const double *value, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (isfinite(value[i]) && (kind != CR_SCALE_LOG || value[i] > 0)) {
            *min = fmin(*min, value[i]);
            *max = fmax(*max, value[i]);
        }
}

double cr_scale_at(const struct cr_scale *s, double value)
{
    if (!isfinite(value))
        return (double)NAN;
    if (s->kind != CR_SCALE_LOG)
        return (value - s->min) / (s->max - s->min);
    return value > 0 ? log(value / s->min) / log(s->max / s->min)
                     : (double)NAN;
}

const char *cr_chart_number(struct cr_arena *arena, double value, int digits)
{
    char *text = cr_strf(arena, "%.*g", digits, value == 0 ? 0 : value);
    char *e = strchr(text, 'e');

    /* 1e-6 rather than 1e-06 */
    if (e && e[2] == '0')
        memmove(e + 2, e + 3, strlen(e + 2));
    if (e && e[1] == '+')
        memmove(e + 1, e + 2, strlen(e + 1));
    return text;
}

/* 1, 2 or 5 times a power of ten, at least `least`. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));
    double times = least / power;

    return power * (times <= 1 + EPS   ? 1
                    : times <= 2 + EPS ? 2
                    : times <= 5 + EPS ? 5
                                       : 10);
}

static double duration_step(double least)
{
    static const double steps[] = { 1,    2,    5,    10,    15,    30,
                                    60,   120,  300,  600,   900,   1800,
                                    3600, 7200, 10800, 21600, 43200, 86400 };

    if (least < 1)
        return round_step(least);
    for (size_t i = 0; i < CR_LEN(steps); i++)
        if (least <= steps[i])
            return steps[i];
    return 86400 * round_step(least / 86400);
}

static const char *duration_text(struct cr_arena *arena, double seconds,
                                 double step)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = { { 86400, "d" }, { 3600, "h" }, { 60, "min" }, { 1, "s" } };

    if (seconds == 0)
        return "0";
    for (size_t i = 0; i < CR_LEN(units); i++)
        if (step >= units[i].seconds)
            return cr_strf(arena, "%.6g %s", seconds / units[i].seconds,
                           units[i].name);
    return cr_strf(arena, "%.6g s", seconds);
}

static void scale_tick(struct cr_scale *s, double value, const char *text)
{
    if (s->n == CR_TICKS_MAX)
        return;
    s->tick[s->n] = value;
    s->text[s->n++] = text;
}

static void scale_even(struct cr_arena *arena, struct cr_scale *s, int want,
                       bool round)
{
    bool duration = s->kind == CR_SCALE_DURATION;
    double least = (s->max - s->min) / want;
    double step = duration ? duration_step(least) : round_step(least);
    double first, last, large;
    int places;

    if (!isnormal(step)) /* the range is beyond double: no ticks */
        return;
    if (round) {
        s->min = step * floor(s->min / step + EPS);
        s->max = step * ceil(s->max / step - EPS);
    }
    first = ceil(s->min / step - EPS);
    last = floor(s->max / step + EPS);
    large = fmax(fabs(s->min), fabs(s->max));
    places = (int)fmax(0, ceil(-log10(step) - EPS));
    for (double k = first; k <= last && s->n < CR_TICKS_MAX; k++) {
        double value = k == 0 ? 0 : k * step;

        if (duration)
            scale_tick(s, value, duration_text(arena, value, step));
        else if (large >= 1e6 || places > 5)
            scale_tick(s, value, cr_chart_number(arena, value, 6));
        else
            scale_tick(s, value, cr_strf(arena, "%.*f", places, value));
    }
}

/* Ticks at powers of ten, or also at 2 and 5 times them; within a power of
 * ten, even ones. */
static void scale_log(struct cr_arena *arena, struct cr_scale *s, int want,
                      bool round)
{
    double decades, by;

    if (round && s->max / s->min < 3) {
        s->min *= 0.95;
        s->max *= 1.05;
    } else if (round) {
        double low = pow(10, floor(log10(s->min) + EPS));
        double high = pow(10, ceil(log10(s->max) - EPS));

        s->min = s->min >= 5 * low ? 5 * low : s->min >= 2 * low ? 2 * low
                                                                 : low;
        s->max = s->max <= high / 5 ? high / 5
                 : s->max <= high / 2 ? high / 2
                                      : high;
    }
    decades = log10(s->max / s->min);
    if (decades < 0.7) {
        scale_even(arena, s, want, false);
        return;
    }
    by = fmax(1, ceil(decades / want));
    for (double k = by * floor(log10(s->min) / by); pow(10, k) <= s->max;
         k += by)
        for (int i = 0; i < 3; i++) {
            static const double times[] = { 1, 2, 5 };
            double value = times[i] * pow(10, k);

            if (value >= s->min * (1 - EPS) && value <= s->max * (1 + EPS) &&
                (i == 0 || 3 * decades <= 1.5 * want))
                scale_tick(s, value, cr_chart_number(arena, value, 6));
        }
}

/* Ticks at given values; those too close to the one before are omitted. */
static void scale_given(struct cr_arena *arena, struct cr_scale *s,
                        const struct cr_chart_axis *axis, int want)
{
    double before = -INFINITY;

    s->n = 0;
    for (int i = 0; i < axis->n_ticks; i++) {
        double at = cr_scale_at(s, axis->tick[i]);

        if (!(at >= -EPS && at <= 1 + EPS && at - before >= 0.4 / want))
            continue;
        before = at;
        scale_tick(s, axis->tick[i],
                   cr_chart_number(arena, axis->tick[i], 6));
    }
}

struct cr_scale cr_scale_make(struct cr_arena *arena,
                              const struct cr_chart_axis *axis, double min,
                              double max, int want, bool round)
{
    struct cr_scale s = { .kind = axis->scale, .min = min, .max = max };

    if (axis->min != 0 || axis->max != 0) {
        s.min = axis->min;
        s.max = axis->max;
        round = false;
    }
    if (s.kind == CR_SCALE_LOG) {
        if (!(s.min <= s.max && s.min > 0)) {
            s.min = 1;
            s.max = 10;
        }
        if (s.min == s.max) {
            s.min /= 2;
            s.max *= 2;
        }
        scale_log(arena, &s, want, round);
        if (axis->tick)
            scale_given(arena, &s, axis, want);
        return s;
    }
    if (!(s.min <= s.max)) {
        s.min = 0;
        s.max = 1;
    }
    if (axis->from_zero) {
        s.min = fmin(s.min, 0);
        s.max = fmax(s.max, 0);
    }
    /* differences below the precision of the numbers are not drawn */
    if (s.max - s.min <= 1e-12 * fmax(fabs(s.min), fabs(s.max))) {
        double d = s.max != 0 ? fabs(s.max) / 2 : 1;

        s.max += d;
        if (!(axis->from_zero && s.min == 0))
            s.min -= d;
    }
    scale_even(arena, &s, want, round);
    if (axis->tick)
        scale_given(arena, &s, axis, want);
    return s;
}
