/*
 * Numbers that an op draws: a function of the run's seed, the cell's path and
 * call, the update, the sample and the element. So micro-batches of an update,
 * other batch sizes in evaluation and prediction, and more threads change
 * nothing where the first axis is that of the batch.
 */
#ifndef CR_FAMILIES_RANDOM_H
#define CR_FAMILIES_RANDOM_H

#include "conf/opt.h"
#include "graph/op.h"
#include "num/rng.h"

struct cr_shape_opt {
    struct cr_ints shape;
};
extern const struct cr_opt cr_shape_opts[];

struct cr_draws {
    struct cr_rng rng;
    uint64_t first; /* the number of element 0 */
};

/* For elements of that shape. */
struct cr_draws cr_draws(const struct cr_op_ctx *s, const struct cr_spec *of);

/* A shape that a text gives, () among them; reports. */
bool cr_shape_plan(struct cr_op_plan *p, const struct cr_ints *shape,
                   enum cr_type type);

#endif
