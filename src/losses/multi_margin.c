/* MultiMarginLoss: l = w_y / C times the sum over all classes c != y of
 * max(0, margin - x_y + x_c)^p */
#include "build/loss.h"

struct multi_margin {
    int64_t p;
    double margin;
    int reduction;
    const struct cr_node *weight;
};

static const struct cr_opt multi_margin_opts[] = {
    CR_INT_DEFAULT(struct multi_margin, p, 1, 1, 2,
                   "Exponent of the violations of the margin."),
    CR_REAL_DEFAULT(struct multi_margin, margin, 1, -1e30, 1e30,
                    "Required difference between the output of the label and "
                    "all others."),
    CR_LOSS_REDUCTION(struct multi_margin, CR_MEAN),
    CR_NODE(struct multi_margin, weight, CR_LOSS_CLASSES),
    { 0 },
};

static struct cr_val *multi_margin_build(struct cr_build *b,
                                         struct cr_val *const *in)
{
    const struct multi_margin *o = cr_opts(b);
    const struct cr_spec *x = cr_val_spec(in[0]);
    struct cr_reals weight = { 0 };
    struct cr_val *hot, *others, *mine, *v;

    if (x->rank != 2) {
        cr_fail(b, CR_E_SHAPE, "output: found %s, expected (batch, classes)",
                cr_diag_format(cr_build_arena(b), x));
        return NULL;
    }
    if (!cr_loss_classes(b, o->weight, in[1], x->dim[1], &weight))
        return NULL;
    hot = cr_loss_one_hot(b, in[1], x->dim[1], 1);
    others = CR_EMIT(b, "sub", NULL, cr_loss_number(b, 1), hot);
    mine = cr_loss_over(b, "sum", CR_EMIT(b, "mul", NULL, in[0], hot), 1, true);
    v = CR_EMIT(b, "sub", NULL, in[0], mine);
    v = CR_EMIT(b, "add", NULL, v, cr_loss_number(b, o->margin));
    v = CR_EMIT(b, "relu", NULL, v);
    if (o->p == 2)
        v = CR_EMIT(b, "square", NULL, v);
    v = cr_loss_over(b, "sum", CR_EMIT(b, "mul", NULL, v, others), 1, false);
    if (weight.n > 0)
        v = CR_EMIT(b, "mul", NULL, v,
                    cr_loss_over(b, "sum", cr_loss_weigh(b, hot, &weight, 1), 1,
                                 false));
    v = CR_EMIT(b, "div", NULL, v, cr_loss_number(b, (double)x->dim[1]));
    return cr_loss_reduce(b, v, o->reduction);
}

const struct cr_cell cr_loss_multi_margin = {
    .about = {
        .name = "MultiMarginLoss",
        .summary = "Multi-class hinge loss.",
        .detail = "Output (batch, classes); labels int32 (batch).",
        .example = "loss: {MultiMarginLoss: {p: 2}}\n",
        .opts = multi_margin_opts,
        .size = sizeof(struct multi_margin),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_CLASSES,
    .build = multi_margin_build,
};
