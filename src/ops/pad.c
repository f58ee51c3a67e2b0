/* pad: more elements around the tensor, of a value. Pairs of numbers before
 * and behind, of the last axis first, as MindSpore's and PyTorch's. */
#include "net/move.h"

struct pad {
    struct cr_ints padding;
    int mode;
    double value;
};

static const struct cr_opt pad_opts[] = {
    CR_INTS(struct pad, padding, 0, CR_DIM_MAX,
            "Elements before and behind, in pairs from the last axis on."),
    CR_ENUM_OR(struct pad, mode, 0, "constant", "What is put there."),
    CR_REAL_OR(struct pad, value, 0, -INFINITY, INFINITY, "The constant."),
    { 0 },
};

static bool pad_plan(struct cr_plan *p)
{
    const struct cr_ints *o = &((const struct pad *)p->attr)->padding;
    int i;

    if (o->n % 2 != 0 || o->n > 2 * p->in[0].rank)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "padding takes pairs of numbers for the %d axes of "
                        "input %s, not %d numbers",
                        p->in[0].rank, cr_show(p->arena, p->in), o->n);
    p->out[0] = p->in[0];
    for (i = 0; i < o->n; i++)
        p->out[0].dim[p->in[0].rank - 1 - i / 2] += o->v[i];
    return true;
}

/* Where the input lies in the result. */
static struct cr_move pad_move(const struct cr_step *s)
{
    const struct cr_ints *o = &((const struct pad *)s->attr)->padding;
    int64_t step[CR_RANK_MAX], at = 0;
    struct cr_move m;
    int i;

    cr_move_dense(&s->out[0], step);
    for (i = 0; i < o->n; i += 2)
        at += o->v[i] * step[s->in[0].rank - 1 - i / 2];
    cr_move_open(&m, &s->in[0], step, at);
    return m;
}

static void pad_forward(const struct cr_step *s)
{
    struct cr_move m = pad_move(s);

    cr_move_fill(&s->out[0], ((const struct pad *)s->attr)->value, s->y[0]);
    cr_move_scatter(&m, s->in[0].type, s->x[0], s->y[0]);
}

static void pad_backward(const struct cr_step *s)
{
    struct cr_move m = pad_move(s);

    cr_move_gather_add(&m, s->dy[0], s->dx[0], s->add[0]);
}

const struct cr_op cr_op_pad = {
    .about = { .name = "pad",
               .summary = "More elements around a tensor.",
               .opts = pad_opts,
               .size = sizeof(struct pad) },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .inputs = cr_input,
    .function = true,
    .integers = CR_X(0),
    .plan = pad_plan,
    .forward = pad_forward,
    .backward = pad_backward,
};
