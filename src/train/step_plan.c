#include "train/step_plan.h"

#include <math.h>

bool cr_plans_need_gradients(const struct cr_train_section *train,
                             const struct cr_log_section *log,
                             const struct cr_optim_use *optim)
{
    return log->grad_norm || optim->scale.on || train->grad_accumulation > 1 ||
           train->nan == CR_NAN_SKIP || !isnan(train->clip.norm) ||
           !isnan(train->clip.value) || !isnan(train->clip.tensor_norm) ||
           train->grad_noise.eta > 0;
}

bool cr_plans_private_gradients(const struct cr_train_section *train)
{
    return isnan(train->clip.value) && isnan(train->clip.tensor_norm) &&
           train->grad_noise.eta <= 0;
}

void cr_plans_processes(struct cr_net *net,
                        const struct cr_train_section *train)
{
    cr_net_local_statistics(net, train->batch_norm == CR_BATCH_NORM_LOCAL);
    cr_net_reduce_bf16(net, train->reduce_dtype == CR_REDUCE_BF16);
}

bool cr_plans_train_of(struct cr_config *config,
                       const struct cr_optim_use *optim,
                       struct cr_train_section *train, struct cr_exec_opts *to)
{
    struct cr_log_section log = { 0 };

    *train = (struct cr_train_section){ 0 };
    if (!cr_section_read(config, "train", train) ||
        !cr_section_read(config, "log", &log))
        return false;
    *to = cr_plans_train(cr_plans_need_gradients(train, &log, optim),
                         cr_plans_eager(config));
    to->private_gradients = cr_plans_private_gradients(train);
    to->accumulates = train->grad_accumulation > 1;
    return true;
}
