/* strided_slice: y = x[begin:end:step, ...] for the first axes, as in Python */
#include "families/data_movement.h"
#include "graph/op_attrs.h"

static const struct cr_opt strided_slice_opts[] = {
    CR_INTS(struct cr_slice, begin, -CR_DIM_MAX, CR_DIM_MAX,
            "First index along each of the first axes."),
    CR_INTS(struct cr_slice, end, -CR_DIM_MAX, CR_DIM_MAX,
            "End along each axis, which is not included."),
    CR_INTS_OPTIONAL(struct cr_slice, step, -CR_DIM_MAX, CR_DIM_MAX,
                     "Difference of consecutive indices. Default: 1."),
    { 0 },
};

static int64_t cut(int64_t at, int64_t n, int64_t low, int64_t high)
{
    at = at < 0 ? at + n : at;
    return at < low ? low : at > high ? high : at;
}

/* First index, step and number of indices along an axis. */
static int64_t slice_of(const struct cr_slice *o, int i, int64_t n,
                        int64_t *from, int64_t *step)
{
    int64_t to;

    *step = o->step.n > 0 ? o->step.v[i] : 1;
    if (*step > 0) {
        *from = cut(o->begin.v[i], n, 0, n);
        to = cut(o->end.v[i], n, 0, n);
        return to > *from ? (to - *from - 1) / *step + 1 : 0;
    }
    *from = cut(o->begin.v[i], n, -1, n - 1);
    to = cut(o->end.v[i], n, -1, n - 1);
    return to < *from ? (*from - to - 1) / -*step + 1 : 0;
}

static bool strided_slice_plan(struct cr_op_plan *p)
{
    const struct cr_slice *o = p->attr;
    const struct cr_spec *x = &p->in[0];
    int64_t from, step;
    int i;

    if (o->begin.n > x->rank || o->end.n != o->begin.n ||
        (o->step.n > 0 && o->step.n != o->begin.n))
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "input %s: found different numbers of begins, ends and "
                        "steps, or more than %d",
                        cr_diag_format(p->arena, x), x->rank);
    p->out[0] = *x;
    p->same = true;
    for (i = 0; i < o->begin.n; i++) {
        if (o->step.n > 0 && o->step.v[i] == 0)
            return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                            "step: found 0, expected another number");
        p->out[0].dim[i] = slice_of(o, i, x->dim[i], &from, &step);
        if (p->out[0].dim[i] == 0)
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "the slice of axis %d of input %s is empty", i,
                            cr_diag_format(p->arena, x));
        p->same = p->same && p->out[0].dim[i] == x->dim[i] && step == 1;
    }
    return true;
}

static struct cr_data_move slice_move(const struct cr_op_ctx *s)
{
    const struct cr_slice *o = s->attr;
    int64_t step[CR_RANK_MAX], at = 0, from, pace;
    struct cr_data_move m;
    int i;

    cr_data_move_dense(&s->in[0], step);
    for (i = 0; i < o->begin.n; i++) {
        slice_of(o, i, s->in[0].dim[i], &from, &pace);
        at += from * step[i];
        step[i] *= pace;
    }
    cr_data_move_open(&m, &s->out[0], step, at);
    return m;
}

static void strided_slice_forward(const struct cr_op_ctx *s)
{
    struct cr_data_move m = slice_move(s);

    cr_data_move_gather(&m, cr_data_move_type(s), s->x[0], s->y[0]);
}

static void strided_slice_backward(const struct cr_op_ctx *s)
{
    struct cr_data_move m = slice_move(s);

    if (!s->accumulate[0] && cr_count(&s->in[0]) > cr_count(&s->out[0]))
        cr_data_move_zero(s->dx[0], (size_t)cr_count(&s->in[0]) *
                                        (s->grads_two_bytes & CR_X(0)
                                             ? sizeof(uint16_t)
                                             : sizeof(cr_real)));
    cr_data_move_low(&m, s);
}

static bool strided_slice_rows_apart(const void *attr, const struct cr_spec *x,
                                     int in, int out)
{
    const struct cr_slice *o = attr;

    (void)x;
    (void)out;
    return in < 0 || in >= o->begin.n || o->step.n == 0 || o->step.v[in] == 1;
}

static const struct cr_op_kernels strided_slice_kernels = {
    .last = cr_last_too
};

const struct cr_op cr_op_strided_slice = {
    .about = { .name = "strided_slice",
               .summary = "Slices begin:end:step along axes.",
               .opts = strided_slice_opts,
               .size = sizeof(struct cr_slice) },
    .rows = CR_ROWS_EACH,
    .rows_apart = strided_slice_rows_apart,
    CR_MOVE_OP,
    .low = CR_X(0) | CR_Y(0),
    .kernels = &strided_slice_kernels,
    .plan = strided_slice_plan,
    .forward = strided_slice_forward,
    .algebra.linear = CR_X(0),
    .backward = strided_slice_backward,
};
