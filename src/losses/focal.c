/* FocalLoss (Lin et al., arXiv:1708.02002), with lp = log softmax of x along
 * axis 1 and p = e^lp: l = -(1 - p_c)^gamma w_c y_c lp_c, summed over c for
 * labels that are classes, and averaged over the axes after axis 1 */
#include "build/loss.h"

struct focal {
    const struct cr_node *weight;
    double gamma;
    int reduction;
};

static const struct cr_opt focal_opts[] = {
    CR_NODE(struct focal, weight, CR_LOSS_CLASSES),
    CR_REAL_DEFAULT(struct focal, gamma, 2, 0, 100,
                    "Focusing parameter; larger values down-weight easy "
                    "samples more."),
    CR_LOSS_REDUCTION(struct focal, CR_MEAN),
    { 0 },
};

/* (N, C, ...) as (N, C, positions) */
static struct cr_val *flatten_positions(struct cr_build *b, struct cr_val *v)
{
    struct cr_flatten *attr = CR_NEW(cr_build_arena(b), struct cr_flatten);

    attr->start_dim = 2;
    attr->end_dim = -1;
    return cr_val_spec(v)->rank > 3 ? CR_EMIT(b, "flatten", attr, v) : v;
}

/* Probabilities of the classes: the labels themselves, or one-hot rows. */
static struct cr_val *class_probs(struct cr_build *b, const struct cr_spec *x,
                                  struct cr_val *label, bool classes)
{
    struct cr_val *hot;

    if (!classes)
        return flatten_positions(b, label);
    hot = cr_loss_one_hot(b, label, x->dim[1], 1); /* (N, C, 1, ...) */
    hot = cr_loss_over(b, "sum", hot, 2, false);
    return hot ? flatten_positions(b, hot) : NULL;
}

static struct cr_val *focal_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct focal *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in[0]), *y = cr_val_spec(in[1]);
    bool classes = y->rank > 1 && y->rank == x->rank && y->dim[1] == 1;
    struct cr_softmax *axis = CR_NEW(cr_build_arena(b), struct cr_softmax);
    struct cr_reals weight = { 0 };
    struct cr_val *lp, *p, *v;

    if (x->rank < 2) {
        cr_fail(b, CR_E_SHAPE, "output: found %s, expected (batch, classes, "
                               "...)",
                cr_diag_format(cr_build_arena(b), x));
        return NULL;
    }
    if (!classes && !cr_loss_same(b, in))
        return NULL;
    if (!cr_loss_classes(b, o->weight, in[1], x->dim[1], &weight))
        return NULL;
    axis->axis = 1;
    lp = CR_EMIT(b, "log_softmax", axis, flatten_positions(b, in[0]));
    p = CR_EMIT(b, "exp", NULL, lp);
    v = CR_EMIT(b, "pow", NULL,
                CR_EMIT(b, "sub", NULL, cr_loss_number(b, 1), p),
                cr_loss_number(b, o->gamma));
    v = CR_EMIT(b, "mul", NULL, v, CR_EMIT(b, "neg", NULL, lp));
    v = CR_EMIT(b, "mul", NULL, v,
                cr_loss_weigh(b, class_probs(b, x, in[1], classes), &weight,
                              1));
    if (x->rank > 2)
        v = cr_loss_over(b, "mean", v, 2, false);
    if (classes)
        v = cr_loss_over(b, "sum", v, 1, false);
    return cr_loss_reduce(b, v, o->reduction);
}

const struct cr_cell cr_loss_focal = {
    .about = {
        .name = "FocalLoss",
        .summary = "Focal loss: cross entropy that down-weights easy samples.",
        .detail = "Logits (batch, classes, ...). Labels are int32 (batch, 1, "
                  "...), with one value per sample before the reduction, or "
                  "probabilities of the shape of the logits, with one value "
                  "per class.",
        .example = "loss: {FocalLoss: {gamma: 1.0}}\n",
        .opts = focal_opts,
        .size = sizeof(struct focal),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .expects = "logits",
    .build = focal_build,
};
