#include "train/optim.h"

#include <string.h>

#include "base/str.h"

const struct cr_section cr_section_optimizer = {
    .about = {
        .name = "optimizer",
        .summary = "The optimizer, its learning rate and parameter groups.",
        .detail = "learning_rate is a number, a list (value i at update i, "
                  "then the last value), a file of numbers, or a schedule. "
                  "With `warmup: W` next to a schedule the rate is schedule(0) "
                  "* s / W while s < W, then schedule(s).",
        .example = "optimizer:\n"
                   "  Momentum:\n"
                   "    learning_rate: 0.01\n"
                   "    momentum: 0.9\n"
                   "    weight_decay: 1e-4\n"
                   "    group_params: [{params: \"*.bias\", "
                   "weight_decay: 0.0}]\n",
    },
    .raw = true,
};

/* ---- Groups */

struct optim_group {
    const struct cr_node *params;
    struct cr_obj learning_rate;
    double weight_decay;
};

static const struct cr_opt optim_group_opts[] = {
    CR_NODE(struct optim_group, params, "Patterns over parameter names."),
    CR_OBJ_OPTIONAL(struct optim_group, learning_rate, CR_KIND_SCHEDULE,
                    "Learning rate of the group. Default: that of the "
                    "optimizer."),
    CR_REAL_OPTIONAL(struct optim_group, weight_decay, 0, DBL_MAX,
                     "Weight decay of the group. Default: that of the "
                     "optimizer."),
    { 0 },
};

static const char *const optim_group_renamed[] = { "lr", "learning_rate",
                                                   NULL };

static const struct cr_descriptor optim_group_about = {
    .name = "group_params",
    .opts = optim_group_opts,
    .size = sizeof(struct optim_group),
    .renamed = optim_group_renamed,
};

static bool optim_group_read(struct cr_config *config,
                             const struct cr_node *node,
                             struct cr_optim_group *to)
{
    struct optim_group group = { 0 };

    if (node->kind != CR_NODE_MAP)
        return cr_error(config->diag, node->pos, CR_E_WRONG_TYPE,
                        "group_params: found %s, expected {params: PATTERNS, "
                        "...}", cr_node_what(config->arena, node));
    if (!cr_opts_read(config->arena, config->diag, &optim_group_about, node,
                      node->pos, &group))
        return false;
    if (!group.params)
        return cr_error(config->diag, node->pos, CR_E_MISSING_KEY,
                        "'params' is missing: set it to the patterns of the "
                        "group");
    to->node = group.params;
    to->patterns = cr_patterns_read(config, group.params);
    to->weight_decay = group.weight_decay;
    to->has_lr = group.learning_rate.node != NULL;
    if (!to->patterns ||
        (to->has_lr && !cr_lr_read(config, &group.learning_rate, &to->lr)))
        return false;
    if (to->has_lr && cr_lr_plateau(&to->lr))
        return cr_error(config->diag, group.learning_rate.node->pos,
                        CR_E_CONFLICT,
                        "%s is not allowed in a group: set it as learning_rate "
                        "of the optimizer",
                        to->lr.schedule->about.name);
    return true;
}

static bool optim_groups_read(struct cr_config *config,
                              struct cr_optim_use *to)
{
    const struct cr_node *list = to->opts->group_params;
    bool ok = true;

    if (!list || list->kind == CR_NODE_NULL)
        return true;
    if (list->kind != CR_NODE_LIST)
        return cr_error(config->diag, list->pos, CR_E_WRONG_TYPE,
                        "group_params: found %s, expected a list of {params: "
                        "PATTERNS, ...}", cr_node_what(config->arena, list));
    to->group = CR_NEWS(config->arena, struct cr_optim_group,
                        cr_node_count(list) + 1);
    for (CR_EACH(m, list))
        ok = optim_group_read(config, m, &to->group[to->n_groups++]) && ok;
    return ok;
}

/* The first group that matches each parameter. */
static bool optim_groups_match(struct cr_config *config, struct cr_net *net,
                               struct cr_optim_use *use)
{
    int n, i, g;
    const struct cr_param *p = cr_net_params(net, &n);
    const struct cr_subject *params = cr_net_subjects(net, &n);
    bool ok = true;

    use->group_of = CR_NEWS(config->arena, int, n + 1);
    for (i = 0; i < n; i++) {
        for (g = 0; g < use->n_groups; g++)
            if (!p[i].statistic &&
                cr_patterns_match(use->group[g].patterns, &params[i]))
                break;
        use->group_of[i] = g < use->n_groups ? g : -1;
        if (g < use->n_groups)
            use->group[g].params++;
    }
    for (g = 0; g < use->n_groups; g++)
        ok = cr_patterns_used(config, use->group[g].patterns, params, n,
                              "parameter") && ok;
    return ok;
}

/* ---- The section */

/* Runs the check of an optimizer, about the last argument of those compared
 * that the command line sets, else about the optimizer as a whole. */
static bool optim_check(struct cr_diag *diag, const struct cr_optim *optim,
                        const struct cr_node *node, const void *opts)
{
    const char *const *name = optim->checked;
    struct cr_pos pos = node->pos;
    const struct cr_node *m;

    for (; name && *name; name++) {
        m = cr_node_find(node, *name);
        if (m && m->pos.src && pos.src &&
            m->pos.src->argument > pos.src->argument)
            pos = m->pos;
    }
    return !optim->check || optim->check(diag, pos, opts);
}

bool cr_optim_read(struct cr_config *config, struct cr_optim_use *to)
{
    const struct cr_node *node = cr_section(config, "optimizer");
    struct cr_obj obj;
    const struct cr_obj *inner;
    bool ok;

    *to = (struct cr_optim_use){ .factor = 1 };
    if (!node)
        return cr_error(config->diag, config->root->pos, CR_E_MISSING_SECTION,
                        "the section 'optimizer' is missing");
    if (!cr_obj_read(config->arena, config->diag, CR_KIND_OPTIM, node, &obj))
        return false;
    to->optim = (const struct cr_optim *)obj.about;
    to->own = to->opts = obj.opts;
    ok = optim_check(config->diag, to->optim, node, to->own);
    if (to->optim->inner) {
        inner = to->optim->inner(to->own);
        to->opts = inner->opts;
        if (((const struct cr_optim *)inner->about)->inner)
            return cr_error(config->diag, node->pos, CR_E_CONFLICT,
                            "%s cannot wrap %s, which itself wraps an "
                            "optimizer", obj.about->name, inner->about->name);
        ok = optim_check(config->diag, (const struct cr_optim *)inner->about,
                         inner->node ? inner->node : node, inner->opts) &&
             ok;
    }
    ok = cr_lr_read(config, &to->opts->learning_rate, &to->lr) && ok;
    ok = optim_groups_read(config, to) && ok;
    ok = cr_loss_scale_read(config, node->pos, to->optim->about.name,
                            to->opts->loss_scale > 0 ? to->opts->loss_scale : 1,
                            &to->scale) &&
         ok;
    return ok;
}

/* The optimizer that owns the slots: the optimizer itself, or the wrapped
 * one. */
static void optim_slots(struct cr_arena *arena, const struct cr_optim_use *use,
                        bool keep_unused_slots, struct cr_update_rule *rule)
{
    const struct cr_optim *optim = use->optim;
    double *start = CR_NEWS(arena, double, CR_SLOTS_MAX);

    if (optim->inner)
        optim = (const struct cr_optim *)optim->inner(use->own)->about;
    rule->is_plain_sgd =
        use->optim == optim && optim->plain && optim->plain(use->opts);
    rule->rows = use->optim == optim && optim->rows;
    rule->slots = optim->count ? optim->count(use->opts) : optim->slots;
    if (rule->is_plain_sgd && !keep_unused_slots)
        rule->slots = 0;
    for (int k = 0; k < rule->slots; k++)
        start[k] = optim->start ? optim->start(use->opts, k)
                                : optim->slot_start[k];
    rule->slot_names = optim->slot_names;
    rule->slot_init = start;
    rule->scalars = optim->scalars;
    rule->finish = optim->finish;
}

static bool optim_word(const char *name, const char *const *words)
{
    for (; words && *words; words++)
        if (strstr(name, *words))
            return true;
    return false;
}

static struct cr_hyper optim_hyper(const struct cr_optim_use *use, int param,
                                   const char *name)
{
    static const char *const spared[] = { "beta", "gamma", NULL };
    int g = use->group_of[param];
    struct cr_hyper h = { .lr = NAN,
                          .weight_decay = use->opts->weight_decay,
                          .excluded = optim_word(name, use->optim->excluded) };

    if (g >= 0 && !isnan(use->group[g].weight_decay))
        h.weight_decay = use->group[g].weight_decay;
    if (g < 0 && !use->optim->decays_all && optim_word(name, spared))
        h.weight_decay = 0;
    return h;
}

bool cr_optim_rule(struct cr_config *config, struct cr_net *net,
                   bool keep_unused_slots, struct cr_optim_use *to)
{
    struct cr_update_rule *rule = CR_NEW(config->arena, struct cr_update_rule);
    const struct cr_optim *optim;
    const struct cr_param *params;
    int n;

    if (!cr_optim_read(config, to) || !optim_groups_match(config, net, to))
        return false;
    optim = to->optim;
    optim_slots(config->arena, to, keep_unused_slots, rule);
    rule->opts = to->own;
    rule->update = optim->update;
    rule->sums = optim->sums;
    rule->reduce = optim->reduce;
    cr_net_set_rule(net, rule);
    params = cr_net_params(net, &n);
    for (int i = 0; i < n; i++) {
        struct cr_hyper h = optim_hyper(to, i, params[i].name);

        cr_net_hyper(net, i, &h);
    }
    return true;
}

/* ---- Rates */

bool cr_optim_bind(struct cr_diag *diag, struct cr_optim_use *use,
                   const struct cr_run_steps *run)
{
    bool ok = cr_lr_bind(diag, &use->lr, run);

    for (int g = 0; g < use->n_groups; g++)
        ok = (!use->group[g].has_lr ||
              cr_lr_bind(diag, &use->group[g].lr, run)) && ok;
    return ok;
}

double cr_optim_lr(const struct cr_optim_use *use, struct cr_net *net,
                   int64_t update)
{
    bool own = false;
    const struct cr_param *params;
    int n;

    for (int g = 0; g < use->n_groups; g++)
        own = own || use->group[g].has_lr;
    params = cr_net_params(net, &n);
    for (int i = 0; i < n && own; i++) {
        int g = use->group_of[i];
        struct cr_hyper h;

        if (g < 0 || !use->group[g].has_lr)
            continue;
        h = optim_hyper(use, i, params[i].name);
        h.lr = cr_lr_at(&use->group[g].lr, update) * use->factor;
        cr_net_hyper(net, i, &h);
    }
    return cr_lr_at(&use->lr, update) * use->factor;
}
