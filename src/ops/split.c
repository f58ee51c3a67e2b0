/* split: pieces of `size` along an axis, the last one may be smaller; or
 * pieces of the listed sizes */
#include "families/axis.h"
#include "families/data_movement.h"

#define ALL_PIECES (0u - CR_Y(0))

struct split {
    struct cr_ints size;
    int64_t axis;
};

static const char *const split_renamed[] = { "split_size_or_sections", "size",
                                             NULL };

static const struct cr_opt split_opts[] = {
    CR_INTS(struct split, size, 1, CR_DIM_MAX,
            "Length of each piece, or a list of the lengths."),
    CR_INT_DEFAULT(struct split, axis, 0, -CR_RANK_MAX, CR_RANK_MAX - 1,
                   "Axis to split."),
    { 0 },
};

/* Length of piece k of n along the axis, of which `left` remain. */
static int64_t split_length(const struct split *o, int k, int64_t left)
{
    const struct cr_ints *size = &o->size;

    if (size->n > 1)
        return k < size->n ? size->v[k] : 0;
    return left < size->v[0] ? left : size->v[0];
}

static bool split_plan(struct cr_op_plan *p)
{
    const struct split *o = p->attr;
    const struct cr_spec *x = &p->in[0];
    int64_t left, n;
    int axis;

    if (!cr_axis_check(p, x, o->axis, &axis))
        return false;
    left = x->dim[axis];
    for (p->n_out = 0; left > 0 && p->n_out < CR_OP_MAX; left -= n) {
        n = split_length(o, p->n_out, left);
        if (n == 0 || n > left)
            break;
        p->out[p->n_out] = *x;
        p->out[p->n_out++].dim[axis] = n;
    }
    if (left == 0 && (o->size.n == 1 || o->size.n == p->n_out))
        return true;
    if (o->size.n == 1)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "axis %d of input %s: found more than %d pieces of "
                        "length %lld",
                        axis, cr_diag_format(p->arena, x), CR_OP_MAX,
                        (long long)o->size.v[0]);
    return cr_error(p->diag, p->pos, CR_E_SHAPE,
                    "the sizes do not add up to axis %d of input %s, or are "
                    "more than %d",
                    axis, cr_diag_format(p->arena, x), CR_OP_MAX);
}

static bool split_pieces(const void *attr, const struct cr_spec *x)
{
    const struct split *o = attr;

    return x->layout == CR_ROW_MAJOR &&
           cr_axis_place(o->axis, x->rank) == x->rank - 1;
}

/* Maps piece k to the input. Pieces cover the axis. */
static bool split_move(const struct cr_op_ctx *s, int k, struct cr_data_move *m)
{
    const struct split *o = s->attr;
    int axis = (int)(o->axis < 0 ? o->axis + s->in[0].rank : o->axis);
    int64_t step[CR_RANK_MAX], at = 0;
    int i;

    for (i = 0; i < k; i++)
        at += s->out[i].dim[axis];
    if (k == CR_OP_MAX || at == s->in[0].dim[axis])
        return false;
    cr_data_move_dense(&s->in[0], step);
    cr_data_move_open(m, &s->out[k], step, at * step[axis]);
    return true;
}

static void split_forward(const struct cr_op_ctx *s)
{
    struct cr_data_move m;
    int k;

    for (k = 0; split_move(s, k, &m); k++)
        cr_data_move_gather(&m, cr_data_move_type(s), s->x[0], s->y[k]);
}

static void split_backward(const struct cr_op_ctx *s)
{
    bool low = s->grads_two_bytes & CR_X(0);
    struct cr_data_move m;
    int k;

    for (k = 0; split_move(s, k, &m) && s->dy[k]; k++)
        continue;
    if (!s->accumulate[0] &&
        split_move(s, k, &m)) /* a piece has no gradient */
        cr_data_move_zero(s->dx[0],
                          (size_t)cr_count(&s->in[0]) *
                              (low ? sizeof(uint16_t) : sizeof(cr_real)));
    for (k = 0; split_move(s, k, &m); k++)
        if (s->dy[k] && low)
            cr_data_move_scatter(&m, s->low, s->dy[k], s->dx[0]);
        else if (s->dy[k])
            cr_data_move_scatter_add(&m, s->dy[k], s->dx[0], s->accumulate[0]);
    if (!low)
        cr_data_move_round(s);
}

static const struct cr_op_kernels split_kernels = { .last = cr_last_too };

const struct cr_op cr_op_split = {
    .about = { .name = "split",
               .summary = "Splits a tensor along an axis into a tuple of at "
                          "most 16 pieces.",
               .opts = split_opts,
               .size = sizeof(struct split),
               .renamed = split_renamed },
    .rows = CR_ROWS_EACH,
    CR_MOVE_OP,
    .tuple = true,
    .low = CR_X(0) | ALL_PIECES,
    .algebra.pieces = split_pieces,
    .kernels = &split_kernels,
    .plan = split_plan,
    .forward = split_forward,
    .backward = split_backward,
};
