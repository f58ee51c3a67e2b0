/* Dropout: zeroes elements at random in training, identity in prediction. */
#include "graph/cell.h"

#include <math.h>

struct dropout {
    double keep_prob, p;
};

static const struct cr_opt dropout_opts[] = {
    CR_REAL_OPTIONAL(struct dropout, keep_prob, DBL_MIN, 1,
                     "Probability that an element is kept. Default: 0.5 if p "
                     "is not set either."),
    CR_REAL_OPTIONAL(struct dropout, p, 0, 1 - DBL_EPSILON,
                     "Probability that an element is zeroed."),
    { 0 },
};

/* MindSpore's first positional argument is keep_prob, PyTorch's is p: a number
 * without a name is an error, because it would be ambiguous. */
static bool dropout_check(struct cr_diag *diag, struct cr_pos pos,
                          const void *opts)
{
    const struct dropout *o = opts;

    if (!isnan(o->keep_prob) && !isnan(o->p))
        return cr_error(diag, pos, CR_E_CONFLICT,
                        "Dropout: found p and keep_prob, expected one of them");
    return true;
}

static struct cr_val *dropout_build(struct cr_build *b,
                                    struct cr_val *const *in)
{
    const struct dropout *o = cr_opts(b);
    double *keep = CR_NEW(cr_build_arena(b), double);

    *keep = !isnan(o->p) ? 1 - o->p : !isnan(o->keep_prob) ? o->keep_prob : 0.5;
    return CR_EMIT(b, "dropout", keep, in[0]);
}

const struct cr_cell cr_cell_dropout = {
    .about = {
        .name = "Dropout",
        .summary = "Dropout: zeroes elements at random in training.",
        .detail = "Any shape. Training: y = x mask / keep; prediction: y = x. "
                  "Arguments are given by name only, because a bare number "
                  "would mean keep_prob in MindSpore and p in PyTorch.",
        .example = "network: [Flatten, {Dense: [784, 10]}, "
                   "{Dropout: {p: 0.1}}]\n",
        .opts = dropout_opts,
        .size = sizeof(struct dropout),
        .keyword_only = true,
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .check = dropout_check,
    .build = dropout_build,
};
