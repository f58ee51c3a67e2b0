/* TopKCategoricalAccuracy: the fraction of labels among the k largest outputs;
 * of equal outputs the lower class comes first. */
#include "base/str.h"
#include "score/metric.h"

#include <string.h>

struct topk {
    int64_t k;
};

static const struct cr_opt topk_opts[] = {
    CR_INT(struct topk, k, 1, 1e9, "Number of largest outputs to consider."),
    { 0 },
};

static void topk_add(const void *opts, void *state, int64_t classes,
                     const struct cr_metric_batch *batch)
{
    const struct topk *o = opts;

    (void)classes;
    cr_metric_hits_add(state, o->k, batch);
}

static const char *topk_called(const void *opts, struct cr_arena *arena)
{
    const struct topk *o = opts;

    return cr_strf(arena, "top_%lld_accuracy", (long long)o->k);
}

static bool topk_calls(const char *name, bool *maximize)
{
    size_t n = cr_starts(name, "top_") ? strspn(name + 4, "0123456789") : 0;

    *maximize = true;
    return n > 0 && strcmp(name + 4 + n, "_accuracy") == 0;
}

const struct cr_metric cr_metric_topk = {
    .about = {
        .name = "TopKCategoricalAccuracy",
        .aliases = CR_ALIASES("topk"),
        .summary = "Top-k accuracy: fraction of the samples whose class is "
                   "among the k largest outputs.",
        .detail = "The name of the result is top_K_accuracy.",
        .example = "metrics: [{TopKCategoricalAccuracy: {k: 3}}]\n",
        .opts = topk_opts,
        .size = sizeof(struct topk),
    },
    .maximize = true,
    .classifies = true,
    .exclusive = true,
    .size = cr_metric_hits_size,
    .add = topk_add,
    .value = cr_metric_hits_value,
    .result_name = topk_called,
    .names_result = topk_calls,
};
