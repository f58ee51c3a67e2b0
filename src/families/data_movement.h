/*
 * What ops share that move elements: transpose, slices, concat ...
 *
 * In the walk of a move, operand 0 is a dense tensor and operand 1 the places
 * of its elements in another one, from element `at`.
 */
#ifndef CR_FAMILIES_DATA_MOVEMENT_H
#define CR_FAMILIES_DATA_MOVEMENT_H

#include "graph/op.h"
#include "kernels/tensor_iter.h"

struct cr_data_move {
    struct cr_tensor_iter walk;
    int64_t at;
};

/* For a dense tensor of the shape and layout, whose element i (an index per
 * dimension) has its place at sum i[k] step[k] + at. */
void cr_data_move_open(struct cr_data_move *m, const struct cr_spec *dense,
                       const int64_t *step, int64_t at);
/* Steps of the elements of a dense tensor of the shape and layout. */
void cr_data_move_dense(const struct cr_spec *spec, int64_t *step);

/* to = the elements of `from` at the places, and the other way round. */
void cr_data_move_gather(const struct cr_data_move *m, enum cr_type type,
                         const void *from, void *to);
void cr_data_move_scatter(const struct cr_data_move *m, enum cr_type type,
                          const void *from, void *to);
/* The same for gradients, added to what is there if `add`. */
void cr_data_move_gather_add(const struct cr_data_move *m, const cr_real *from,
                             cr_real *to, bool add);
void cr_data_move_scatter_add(const struct cr_data_move *m, const cr_real *from,
                              cr_real *to, bool add);
/* to = or += the sum of what `from` has for each element: places repeat. */
void cr_data_move_sum(const struct cr_data_move *m, const cr_real *from,
                      cr_real *to, bool add);
/* How elements lie in memory, in two bytes perhaps; and a gradient of low
 * precision, which is scattered, or rounded where it is. */
enum cr_type cr_data_move_type(const struct cr_op_ctx *ctx);
void cr_data_move_round(const struct cr_op_ctx *ctx);
void cr_data_move_low(const struct cr_data_move *m,
                      const struct cr_op_ctx *ctx);
/* n bytes, over all threads */
void cr_data_move_bytes(const void *from, void *to, size_t n);
void cr_data_move_zero(void *to, size_t n);
/* LEAF_forward and LEAF_backward of an op whose LEAF_move says where each
 * element of the result lies in the input; `back` puts gradients there:
 * cr_data_move_scatter_add, or cr_data_move_sum where places repeat. */
#define CR_MOVE(leaf, back)                                       \
    static void leaf##_forward(const struct cr_op_ctx *s)         \
    {                                                             \
        struct cr_data_move m = leaf##_move(s);                   \
                                                                  \
        cr_data_move_gather(&m, cr_data_move_type(s), s->x[0], s->y[0]); \
    }                                                             \
                                                                  \
    static void leaf##_backward(const struct cr_op_ctx *s)        \
    {                                                             \
        struct cr_data_move m = leaf##_move(s);                   \
                                                                  \
        if (s->rounds || s->grads_two_bytes)                      \
            cr_data_move_low(&m, s);                              \
        else                                                      \
            back(&m, s->dy[0], s->dx[0], s->accumulate[0]);       \
    }
/* What their descriptors have in common. */
#define CR_MOVE_OP                                                      \
    .min_inputs = 1, .max_inputs = 1, .outputs = 1, .inputs = cr_input, \
    .int_inputs = CR_X(0), .exact = true

/* One number everywhere. */
void cr_data_move_fill(const struct cr_spec *spec, double value, void *to);

/* The result has the input's shape and type, and is no view of it. */
bool cr_like_plan(struct cr_op_plan *plan);

/* Ops whose result has the input's bytes under another shape. */
void cr_view_forward(const struct cr_op_ctx *ctx);
void cr_view_backward(const struct cr_op_ctx *ctx);
#define CR_VIEW_OP                                                      \
    .outputs = 1, .int_inputs = CR_X(0),                                \
    .bprop = "return reshape(dy, a.shape)", .forward = cr_view_forward, \
    .backward = cr_view_backward

#endif
