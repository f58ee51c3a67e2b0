/* confusion_matrix: how many samples of each class (rows) were taken for each
 * class (columns). */
#include "train/metric.h"

static int64_t confusion_matrix_table(const void *opts, const void *state,
                                      int64_t classes, double *to)
{
    const int64_t *counts = state;

    (void)opts;
    for (int64_t i = 0; i < classes * classes; i++)
        to[i] = (double)counts[i];
    return classes;
}

const struct cr_metric cr_metric_confusion_matrix = {
    .about = {
        .name = "confusion_matrix",
        .summary = "How many samples of each class were taken for which.",
        .detail = "Rows are the truth, columns the prediction.",
        .example = "metrics: [confusion_matrix]\n",
    },
    .classifies = true,
    .size = cr_metric_pairs_size,
    .add = cr_metric_pairs_add,
    .table = confusion_matrix_table,
};
