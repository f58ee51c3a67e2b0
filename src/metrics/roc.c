/*
 * ROC: the receiver operating characteristic of one class (ranking.h), as
 * points (false positive rate, true positive rate, threshold).
 *
 * MindSpore's is that of the last batch, for one class (`pos_label`) or for
 * all, whose outputs it mixes up; this one is of all samples. Points within a
 * straight line are left out.
 */
#include "train/ranking.h"

struct roc {
    int64_t pos_label;
};

static const struct cr_opt roc_opts[] = {
    CR_INT_DEFAULT(struct roc, pos_label, 1, 0, INT32_MAX,
                   "The class that is told from the rest; of an output of one "
                   "number there is no other than 1."),
    { 0 },
};

static const double *roc_curve(const void *opts, const void *state,
                               struct cr_arena *mem, int64_t *points)
{
    const struct roc *o = opts;
    const struct cr_ranking *r = state;

    *points = 0;
    if (r->n == 0)
        return NULL;
    return cr_ranking_curve(r, r->classes == 1 ? 0 : o->pos_label, mem, points);
}

static const char *roc_misfit(const void *opts, const struct cr_spec *output,
                              int axis)
{
    const struct roc *o = opts;

    if (output->rank < 2 || axis >= output->rank || output->dim[axis] == 1)
        return o->pos_label == 1 ? NULL : "a 'pos_label' of 1";
    return o->pos_label < output->dim[axis]
               ? NULL
               : "a 'pos_label' that is one of the classes";
}

const struct cr_metric cr_metric_roc = {
    .about = {
        .name = "roc",
        .aliases = CR_ALIASES("ROC"),
        .summary = "Receiver operating characteristic of one class.",
        .detail = "A list of [false positive rate, true positive rate, "
                  "threshold], corners only. Of the softmax of the output; "
                  "or, where labels have as many numbers (0 and 1) as "
                  "outputs, of the outputs themselves. Keeps the outputs of "
                  "all samples.",
        .example = "metrics: [auc, {ROC: {pos_label: 2}}]\n",
        .opts = roc_opts,
        .size = sizeof(struct roc),
    },
    .classifies = true,
    .compares = true,
    .misfit = roc_misfit,
    .size = cr_ranking_size,
    .add = cr_ranking_add,
    .curve = roc_curve,
};
