#include "train/interval.h"

#include <math.h>

struct cr_interval cr_run_interval(const struct cr_run_length *run,
                                   const struct cr_quantity *quantity)
{
    double value = quantity->value;

    switch (quantity->unit) {
    case CR_SECONDS:
        return (struct cr_interval){ .seconds = value };
    case CR_EPOCHS:
        value *= (double)run->per_epoch / (double)run->grad_accum;
        if (run->grad_accum > 1)
            return (struct cr_interval){
                /* at least one batch */
                .steps = fmax(value, 1 / (double)run->grad_accum),
                .within = true,
            };
        break;
    case CR_SAMPLES:
        value /= (double)run->batch * (double)run->grad_accum;
        break;
    case CR_PERCENT:
        value *= (double)run->total / 100;
        break;
    default:
        break;
    }
    return (struct cr_interval){ .steps = value > 1 ? value : 1 };
}

double cr_interval_ceil(double x)
{
    double whole = nearbyint(x);

    return fabs(x - whole) <= 1e-12 * fmax(1, fabs(whole)) ? whole : ceil(x);
}

/* Multiples of `steps` from `step` on and before the next one. */
int64_t cr_interval_times(const struct cr_interval *every, int64_t step,
                          int64_t *first)
{
    double from = cr_interval_ceil((double)step / every->steps);
    double to = cr_interval_ceil((double)(step + 1) / every->steps);

    if (from < 1)
        from = 1;
    *first = (int64_t)from;
    return to > from ? (int64_t)(to - from) : 0;
}

bool cr_interval_due(const struct cr_interval *every, int64_t step)
{
    int64_t first;

    if (every->within)
        return cr_interval_times(every, step, &first) > 0;
    return every->steps > 0 && step > 0 &&
           floor((double)step / every->steps) !=
               floor((double)(step - 1) / every->steps);
}
