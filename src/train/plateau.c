/*
 * MindSpore's callback ReduceLROnPlateau (mindspore/train/callback/
 * _reduce_lr_on_plateau.py, 2.10), step by step: a cooldown runs first; an
 * improvement exceeds the best value by more than min_delta; after `patience`
 * evaluations without improvement lr = max(lr factor, min_lr), if smaller.
 *
 * Difference: MindSpore ignores a value of exactly 0, which is a normal value
 * here. A value that is not finite is no improvement in either.
 */
#include "train/plateau.h"

#include <math.h>

static bool plateau_gain(const struct cr_plateau_rule *rule, bool max,
                         double value, const struct cr_plateau *p)
{
    if (!isfinite(value))
        return false;
    if (!p->has_best)
        return true;
    return max ? value > p->best + rule->min_delta
               : value < p->best - rule->min_delta;
}

bool cr_plateau_step(const struct cr_plateau_rule *rule, bool max,
                     double first, double value, struct cr_plateau *p)
{
    double before;

    if (!p->begun)
        *p = (struct cr_plateau){ .begun = true, .rate = first };
    before = p->rate;
    if (p->cooldown > 0) {
        p->cooldown--;
        p->wait = 0;
    }
    if (plateau_gain(rule, max, value, p)) {
        p->best = value;
        p->has_best = true;
        p->wait = 0;
    } else if (p->cooldown == 0 && ++p->wait >= rule->patience) {
        if (p->rate > rule->min_lr)
            p->rate = fmax(p->rate * rule->factor, rule->min_lr);
        p->cooldown = rule->cooldown;
        p->wait = 0;
    }
    return p->rate != before;
}
