#include "train/optim.h"

#include <string.h>

#include "base/str.h"

const struct cr_section cr_section_optimizer = {
    .about = {
        .name = "optimizer",
        .summary = "How parameters follow their gradients.",
        .detail = "learning_rate is a number, a list (value i at update i, "
                  "the last one stands after its end) or a file of numbers.",
        .example = "optimizer: {Momentum: {learning_rate: 0.01, "
                   "momentum: 0.9}}\n",
    },
    .raw = true,
};

bool cr_optim_read(struct cr_config *config, struct cr_optim_use *to)
{
    const struct cr_node *node = cr_section(config, "optimizer");
    struct cr_obj obj;
    bool ok;

    *to = (struct cr_optim_use){ 0 };
    if (!node)
        return cr_error(config->diag, config->root->pos, CR_E_MISSING_SECTION,
                        "the section 'optimizer' is missing");
    if (!cr_obj_read(config->arena, config->diag, CR_KIND_OPTIM, node, &obj))
        return false;
    to->optim = (const struct cr_optim *)obj.about;
    to->opts = obj.opts;
    ok = cr_lr_read(config, &to->opts->learning_rate, &to->lr);
    ok = cr_scale_read(config, node->pos, to->optim->about.name,
                       to->opts->loss_scale, &to->scale) &&
         ok;
    if (to->optim->check)
        ok = to->optim->check(config->diag, node->pos, to->opts) && ok;
    return ok;
}

bool cr_optim_rule(struct cr_config *config, struct cr_net *net, bool still,
                   struct cr_optim_use *to)
{
    struct cr_rule *rule = CR_NEW(config->arena, struct cr_rule);
    const struct cr_optim *optim;
    const struct cr_param *params;
    int n;

    if (!cr_optim_read(config, to))
        return false;
    optim = to->optim;
    rule->plain = optim->plain && optim->plain(to->opts);
    rule->opts = to->opts;
    rule->slots = rule->plain && !still ? 0 : optim->slots;
    rule->slot_names = optim->slot_names;
    rule->slot_start = optim->slot_start;
    rule->update = optim->update;
    cr_net_rule(net, rule);
    params = cr_net_params(net, &n);
    for (int i = 0; i < n; i++) {
        bool decays = !strstr(params[i].name, "beta") &&
                      !strstr(params[i].name, "gamma");

        cr_net_hyper(net, i, 1, decays ? to->opts->weight_decay : 0);
    }
    return true;
}
