/* tile: repeats the tensor along its axes;  dx = the sum of dy over copies */
#include "families/data_movement.h"

struct tile {
    struct cr_ints dims;
};

static const struct cr_opt tile_opts[] = {
    CR_INTS(struct tile, dims, 1, CR_DIM_MAX,
            "Number of copies along each axis, aligned with the last axis."),
    { 0 },
};

/* Copies and length of axis i of the result. */
static void tile_axis(const struct cr_spec *x, const struct cr_ints *dims,
                      int rank, int i, int64_t *copies, int64_t *length)
{
    int d = i - (rank - dims->n), k = i - (rank - x->rank);

    *copies = d >= 0 ? dims->v[d] : 1;
    *length = k >= 0 ? x->dim[k] : 1;
}

static bool tile_plan(struct cr_op_plan *p)
{
    const struct cr_ints *dims = &((const struct tile *)p->attr)->dims;
    struct cr_spec *y = &p->out[0];
    int64_t copies, length;
    int i;

    *y = p->in[0];
    y->rank = dims->n > y->rank ? dims->n : y->rank;
    if (y->rank > CR_RANK_MAX)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "copies: found too many dimensions, expected at most "
                        "%d",
                        CR_RANK_MAX);
    for (i = 0; i < y->rank; i++) {
        tile_axis(&p->in[0], dims, y->rank, i, &copies, &length);
        if (__builtin_mul_overflow(copies, length, &y->dim[i]))
            return cr_error(p->diag, p->pos, CR_E_SHAPE,
                            "the copies of input %s are too large",
                            cr_diag_format(p->arena, p->in));
    }
    return true;
}

/* The iterator has two dimensions per axis: copies, then elements. */
static struct cr_data_move tile_move(const struct cr_op_ctx *s)
{
    const struct cr_ints *dims = &((const struct tile *)s->attr)->dims;
    int64_t dim[CR_TENSOR_ITER_RANK], step[CR_TENSOR_ITER_RANK], dense = 1;
    struct cr_data_move m = { .at = 0 };
    int i;

    for (i = s->out[0].rank - 1; i >= 0; i--) {
        tile_axis(&s->in[0], dims, s->out[0].rank, i, &dim[2 * i],
                  &dim[2 * i + 1]);
        step[2 * i] = 0;
        step[2 * i + 1] = dense;
        dense *= dim[2 * i + 1];
    }
    cr_tensor_iter_init(&m.walk, 2 * s->out[0].rank, dim);
    cr_tensor_iter_add_strides(&m.walk, step);
    cr_tensor_iter_merge(&m.walk);
    return m;
}

CR_MOVE(tile, cr_data_move_sum)

const struct cr_op cr_op_tile = {
    .about = { .name = "tile",
               .summary = "Repeats the tensor along its axes.",
               .opts = tile_opts,
               .size = sizeof(struct tile) },
    CR_MOVE_OP,
    .plan = tile_plan,
    .forward = tile_forward,
    .algebra.linear = CR_X(0),
    .backward = tile_backward,
};
