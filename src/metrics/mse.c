/* MSE: sum of (x - y)^2 over all elements / number of samples, as in MindSpore:
 * not divided by the number of elements of a sample. */
#include "score/metric.h"

static void mse_add(const void *opts, void *state, int64_t classes,
                    const struct cr_metric_batch *batch)
{
    struct cr_metric_mean *mean = state;
    int64_t n = cr_count(batch->spec);

    (void)opts;
    (void)classes;
    for (int64_t i = 0; i < n; i++) {
        double d = (double)batch->output[i] - cr_metric_target(batch, i);

        mean->sum += d * d;
    }
    mean->all += batch->spec->dim[0];
}

const struct cr_metric cr_metric_mse = {
    .about = {
        .name = "mse",
        .aliases = CR_ALIASES("MSE"),
        .summary = "Mean squared error.",
        .detail = "The sum over all elements divided by the number of samples, "
                  "as in MindSpore.",
        .example = "metrics: [mse]\n",
    },
    .compares = true,
    .size = cr_metric_mean_size,
    .add = mse_add,
    .value = cr_metric_mean_value,
};
