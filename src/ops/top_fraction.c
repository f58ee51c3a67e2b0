/* top_fraction: the k = max(int(fraction n), 1) largest of n values in
 * descending order; of equal values the first ones. With a mask, n is the
 * number of values where it is true, which is known only per batch; the result
 * is then their mean, a single number, or 0 if the mask is false everywhere.
 * So mean(top_fraction(...)) is the mean of the hardest values in both cases.
 *   dx = dy where a value was selected (dy / k with a mask), 0 elsewhere */
#include "families/broadcast.h"
#include "families/data_movement.h"
#include "families/sort.h"

enum {
    V,
    MASK
};

struct top_fraction {
    double fraction;
};

static const struct cr_opt top_fraction_opts[] = {
    CR_REAL(struct top_fraction, fraction, 0, 1,
            "Fraction of the values to "
            "keep."),
    { 0 },
};

static int64_t taken(const void *attr, int64_t n)
{
    int64_t k =
        (int64_t)(((const struct top_fraction *)attr)->fraction * (double)n);

    return n == 0 ? 0 : k < 1 ? 1 : k;
}

static bool masked(const struct cr_spec *in, int n)
{
    return n > MASK && in[MASK].rank >= 0;
}

static bool top_fraction_plan(struct cr_op_plan *p)
{
    const struct cr_spec *x = &p->in[V];
    int64_t n = cr_count(x);

    p->out[0] = CR_SPEC(taken(p->attr, n));
    if (n > INT32_MAX)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input %s has too many values",
                        cr_diag_format(p->arena, x));
    if (masked(p->in, p->n_in)) {
        struct cr_spec mask = p->in[MASK];

        mask.type = x->type;
        mask.layout = x->layout;
        if (!cr_spec_same(&mask, x))
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "mask: found %s, expected the shape of input %s",
                            cr_diag_format(p->arena, &mask),
                            cr_diag_format(p->arena, x));
        p->out[0] = CR_SCALAR;
    }
    /* the number of selected values, then their indices */
    p->saved = sizeof(int32_t) * (size_t)(n + 1);
    p->scratch = sizeof(int32_t) * (size_t)n;
    return true;
}

static void top_fraction_forward(const struct cr_op_ctx *s)
{
    int32_t *count = s->saved, *index = count + 1;
    int64_t i, n = 0, all = cr_count(&s->in[V]);
    const cr_real *x = s->x[V];
    cr_real *y = s->y[0];
    double sum = 0;

    for (i = 0; i < all; i++) {
        bool in = true;

        if (s->x[MASK]) {
            unsigned char byte;

            in = *(const unsigned char *)cr_elements(CR_BOOL, s->in[MASK].type,
                                                     s->x[MASK], i, 1, &byte);
        }
        if (in)
            index[n++] = (int32_t)i;
    }
    cr_argsort(x, 1, n, true, index, s->scratch);
    *count = (int32_t)taken(s->attr, n);
    for (i = 0; i < *count; i++)
        if (s->x[MASK])
            sum += (double)x[index[i]];
        else
            y[i] = x[index[i]];
    if (s->x[MASK])
        y[0] = *count > 0 ? (cr_real)(sum / *count) : 0;
}

static void top_fraction_backward(const struct cr_op_ctx *s)
{
    const int32_t *count = s->saved, *index = count + 1;
    const cr_real *dy = s->dy[0];
    cr_real *dx = s->dx[V];
    bool mean = s->out[0].rank == 0;
    int64_t i;

    if (s->dx[MASK] && !s->accumulate[MASK]) /* the mask is not
                                                differentiable */
        cr_data_move_zero(s->dx[MASK], cr_bytes(&s->in[MASK]));
    if (dx && !s->accumulate[V])
        cr_data_move_zero(dx, cr_bytes(&s->in[V]));
    for (i = 0; i < *count && dx; i++)
        dx[index[i]] += mean ? dy[0] / (cr_real)*count : dy[i];
}

static const char *const top_fraction_inputs[] = { "values", "mask", NULL };

const struct cr_op cr_op_top_fraction = {
    .about = { .name = "top_fraction",
               .summary = "The largest values, a fraction of all.",
               .detail = "With a mask, returns the mean of these values, "
                         "because the number of values where the mask is true "
                         "is not known in advance.",
               .opts = top_fraction_opts,
               .size = sizeof(struct top_fraction) },
    .min_inputs = 1,
    .max_inputs = 2,
    .outputs = 1,
    .inputs = top_fraction_inputs,
    .int_inputs = CR_X(MASK),
    .plan = top_fraction_plan,
    .forward = top_fraction_forward,
    .backward = top_fraction_backward,
};
