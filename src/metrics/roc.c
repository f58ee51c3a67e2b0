/*
 * ROC: the receiver operating characteristic of one class (score/roc_curve.h),
 * as points (false positive rate, true positive rate, threshold).
 *
 * MindSpore's ROC covers the last batch only, for one class (`pos_label`), or
 * for all classes, with their outputs confused. This one covers all samples.
 * Points on a straight line between others are omitted.
 */
#include "score/roc_curve.h"

struct roc {
    int64_t pos_label;
};

static const struct cr_opt roc_opts[] = {
    CR_INT_DEFAULT(struct roc, pos_label, 1, 0, INT32_MAX,
                   "Index of the positive class; for an output of one number "
                   "it must be 1."),
    { 0 },
};

static const double *roc_curve(const void *opts, const void *state,
                               struct cr_arena *mem, int64_t *points)
{
    const struct roc *o = opts;
    const struct cr_roc *r = state;

    *points = 0;
    if (r->n == 0)
        return NULL;
    return cr_roc_curve(r, r->classes == 1 ? 0 : o->pos_label, mem, points);
}

static const char *roc_mismatch(const void *opts, const struct cr_spec *output,
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
        .summary = "ROC: receiver operating characteristic of one class.",
        .detail = "A list of [false positive rate, true positive rate, "
                  "threshold], only the corners of the curve. Thresholds apply "
                  "to the softmax of the output; if labels have one number (0 "
                  "or 1) per output, to the output. All samples are ranked "
                  "together, so the outputs of all samples are kept.",
        .example = "metrics: [auc, {ROC: {pos_label: 2}}]\n",
        .opts = roc_opts,
        .size = sizeof(struct roc),
    },
    .classifies = true,
    .compares = true,
    .mismatch = roc_mismatch,
    .size = cr_roc_size,
    .add = cr_roc_add,
    .curve = roc_curve,
};
