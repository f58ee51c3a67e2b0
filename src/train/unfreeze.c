#include "train/unfreeze.h"

#include <math.h>

#include "train/prepare.h"
#include "train/train.h"

int64_t cr_train_unfreeze_step(const struct cr_run_length *run,
                               const struct cr_unfreeze_rule *rule)
{
    return (int64_t)fmin(ceil(cr_run_interval(run, &rule->at).steps), 1e18);
}

bool cr_train_unfreeze(struct cr_train *t)
{
    int n, i, before = t->n_unfrozen;
    const struct cr_unfreeze_rule *rules = cr_net_unfreeze_rules(t->net, &n);

    for (i = t->n_unfrozen;
         i < n &&
         cr_train_unfreeze_step(&t->length, &rules[i]) <= t->state.step; i++)
        cr_net_unfreeze(t->net, i);
    t->n_unfrozen = i;
    if (i == before)
        return true;
    return cr_train_replan(t);
}

bool cr_train_refreeze(struct cr_train *t)
{
    if (t->n_unfrozen == 0)
        return true;
    cr_net_freeze_again(t->net);
    t->n_unfrozen = 0;
    return cr_train_replan(t) && cr_train_unfreeze(t);
}

bool cr_train_unfreeze_check(struct cr_train *t)
{
    int n, i;
    const struct cr_unfreeze_rule *rules = cr_net_unfreeze_rules(t->net, &n);
    bool ok = true;

    for (i = 0; i < n; i++)
        if (rules[i].at.unit == CR_SECONDS)
            ok = cr_error(t->diag, rules[i].pos, CR_E_OUT_OF_RANGE,
                          "'at': found a time, expected steps, epochs, samples "
                          "or percent: a resumed run would differ");
        else if (i > 0 && cr_train_unfreeze_step(&t->length, &rules[i]) <
                              cr_train_unfreeze_step(&t->length, &rules[i - 1]))
            ok = cr_error(t->diag, rules[i].pos, CR_E_OUT_OF_RANGE,
                          "this entry of 'freeze.schedule' is due before the "
                          "previous one; order entries by 'at'");
    return ok;
}
