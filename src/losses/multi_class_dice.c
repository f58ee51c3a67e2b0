/* MultiClassDiceLoss: the mean over channels c of w_c (1 - 2 sum(x y) /
 * (sum(x^2) + sum(y^2) + 1e-5)), with sums over the samples and the axes after
 * axis 1; the ignored channel still counts in the mean */
#include "build/loss.h"

struct dice {
    struct cr_reals weights;
    int64_t ignore_indiex;
    const char *activation;
};

static const struct cr_opt dice_opts[] = {
    CR_REALS_OPTIONAL(struct dice, weights, -1e30, 1e30,
                      "Weights of the channels."),
    CR_INT_OPTIONAL(struct dice, ignore_indiex, 0, CR_DIM_MAX,
                    "Index of a channel whose loss is 0."),
    CR_STR_DEFAULT(
        struct dice, activation, "softmax",
        "Activation applied to the output first, by its lower-case name; \"\": "
        "none."),
    { 0 },
};

/* (batch, channels, ...) summed over all axes but the channels */
static struct cr_val *channels(struct cr_build *b, struct cr_val *v)
{
    struct cr_reduce_attr *over =
        CR_NEW(cr_build_arena(b), struct cr_reduce_attr);
    int rank = v ? cr_val_spec(v)->rank : 2, i;
    int64_t *axis = CR_NEWS(cr_build_arena(b), int64_t, rank);

    for (i = 1; i < rank; i++)
        axis[i] = i == 1 ? 0 : i;
    over->axis.v = axis + 1;
    over->axis.n = rank - 1;
    return CR_EMIT(b, "sum", over, v);
}

/* The weights, 0 for the ignored channel. */
static bool dice_weights(struct cr_build *b, int64_t n, struct cr_reals *to)
{
    const struct dice *o = cr_opts(b);
    double *w = CR_NEWS(cr_build_arena(b), double, n);
    int64_t i;

    if (o->weights.n > 0 && o->weights.n != n)
        return cr_fail(b, CR_E_SHAPE,
                       "weights: found %d entries, expected one for each of "
                       "%lld channels",
                       o->weights.n, (long long)n);
    for (i = 0; i < n; i++)
        w[i] = i == o->ignore_indiex ? 0
               : o->weights.n > 0    ? o->weights.v[i]
                                     : 1;
    *to = (struct cr_reals){ .n = (int)n, .v = w };
    return true;
}

static struct cr_val *multi_class_dice_build(struct cr_build *b,
                                             struct cr_val *const *in)
{
    const struct dice *o = cr_opts(b);
    struct cr_val *x = in[0], *both, *squares, *v;
    struct cr_reals weight;

    if (!cr_loss_same(b, in))
        return NULL;
    if (cr_val_spec(x)->rank < 2) {
        cr_fail(b, CR_E_SHAPE, "output: found %s, expected (batch, channels, "
                               "...)",
                cr_diag_format(cr_build_arena(b), cr_val_spec(x)));
        return NULL;
    }
    if (!dice_weights(b, cr_val_spec(x)->dim[1], &weight))
        return NULL;
    if (*o->activation)
        x = cr_activation(b, o->activation, x);
    both = channels(b, CR_EMIT(b, "mul", NULL, x, in[1]));
    squares =
        CR_EMIT(b, "add", NULL, channels(b, CR_EMIT(b, "mul", NULL, x, x)),
                channels(b, CR_EMIT(b, "mul", NULL, in[1], in[1])));
    squares = CR_EMIT(b, "add", NULL, squares, cr_loss_number(b, 1e-5));
    both = CR_EMIT(b, "mul", NULL, both, cr_loss_number(b, 2));
    v = CR_EMIT(b, "sub", NULL, cr_loss_number(b, 1),
                CR_EMIT(b, "div", NULL, both, squares));
    return cr_loss_all(b, "mean", cr_loss_weigh(b, v, &weight, 0));
}

const struct cr_cell cr_loss_multi_class_dice = {
    .about = {
        .name = "MultiClassDiceLoss",
        .summary = "Mean Dice loss of the channels.",
        .detail = "Output and label have the same shape (batch, channels, "
                  "...). The loss contains the activation: the network must "
                  "not end with one. ignore_indiex is MindSpore's spelling.",
        .example = "loss: {MultiClassDiceLoss: {ignore_indiex: 0}}\n",
        .opts = dice_opts,
        .size = sizeof(struct dice),
    },
    .min_inputs = 2,
    .max_inputs = 2,
    .targets = (const char *const[]){ "label", NULL },
    .target = CR_TARGET_OUTPUT,
    .build = multi_class_dice_build,
};
