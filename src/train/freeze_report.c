#include "train/freeze_report.h"

#include <inttypes.h>

#include "base/str.h"

static const char *frozen_values(struct cr_arena *arena, int64_t n)
{
    return n < 10000 ? cr_strf(arena, "%" PRId64, n)
                     : cr_strf(arena, "%.2f M", (double)n / 1e6);
}

const char *cr_freeze_report(
    struct cr_arena *arena, struct cr_net *net,
    const char *(*when)(const void *of, const struct cr_unfreeze_rule *rule),
    const void *of)
{
    struct cr_buf text = { .arena = arena };
    int n, all = 0, frozen = 0, still = 0, n_rules;
    int64_t all_values = 0, values = 0;
    const struct cr_param *p = cr_net_params(net, &n);
    const struct cr_unfreeze_rule *rule = cr_net_unfreeze_rules(net, &n_rules);

    for (int i = 0; i < n; i++) {
        still += p[i].stats_frozen;
        if (p[i].statistic)
            continue;
        all++;
        all_values += cr_count(&p[i].spec);
        frozen += p[i].frozen;
        values += p[i].frozen ? cr_count(&p[i].spec) : 0;
    }
    if (frozen)
        cr_buf_f(&text, "freeze  %d of %d parameters (%s of %s values)", frozen,
                 all, frozen_values(arena, values),
                 frozen_values(arena, all_values));
    if (frozen && still) /* moving mean and variance of each cell */
        cr_buf_f(&text, ", %d BatchNorm cell%s with frozen statistics",
                 still / 2, still == 2 ? "" : "s");
    for (int i = 0; i < n_rules; i++)
        cr_buf_f(&text, "%s  at %s: unfreezes %s (%d parameter%s, %s values)",
                 text.len > 0 ? "\n" : "", when(of, &rule[i]), rule[i].text,
                 rule[i].params, rule[i].params == 1 ? "" : "s",
                 frozen_values(arena, rule[i].values));
    return cr_buf_text(&text);
}
