/*
 * Low precision (cellrun-arithmetic(7), MIXED PRECISION): the section amp, and
 * which level and type a cell asks for. What follows from it for each node is
 * in precision.c.
 *
 * Where MindSpore would store float16 or bfloat16, values are rounded to those
 * numbers, parameters before the op, results after the op, gradients in the
 * backward pass; which of them take two bytes in memory is a matter of plans
 * (plan/two_bytes.c). Parameters are float32 always, and so is a loss without
 * to_float.
 */
#ifndef CR_GRAPH_AMP_H
#define CR_GRAPH_AMP_H

#include "conf/config.h"
#include "num/spec.h"

enum cr_level {
    CR_LEVEL_O0,
    CR_LEVEL_O1,
    CR_LEVEL_O2,
    CR_LEVEL_O3,
    CR_LEVEL_AUTO
};

/* Of one cell. */
struct cr_precision {
    enum cr_level level;
    enum cr_type type; /* CR_F16 or CR_BF16, unless O0 */
    bool follows;      /* O0: what has low precision stays in it */
    bool all;          /* O1: each op is computed in type, as on its list */
    bool within;       /* an op made of others: they are float32 */
};

struct cr_build;
struct cr_op;
struct cr_val;

/* Of the cell being built; a change holds for what it emits from there on. */
struct cr_precision cr_precision(const struct cr_build *b);
void cr_precision_set(struct cr_build *b, struct cr_precision precision);
/* Changes it as the level asks for cells of that type. */
void cr_precision_of_type(struct cr_build *b);
/* The same, back to float32. */
void cr_precision_full(struct cr_build *b);
/* The same, for the text of a gradient: the lists of level auto are for the
 * forward pass, so in it such a text computes in the types of its inputs. */
void cr_precision_backward(struct cr_build *b);
/* In level auto, if v is low: what is emitted has its type, sums too, as
 * functions that are on none of MindSpore's lists. Whether v is. */
bool cr_precision_follow(struct cr_build *b, const struct cr_val *v);
/* The type that the cell being built computes an op of these inputs in. */
enum cr_type cr_computes_in(const struct cr_build *b, const struct cr_op *op,
                            int n, struct cr_val *const *in);
/* A weight rounded for each step of a sequence: its gradient is the float32 sum
 * of the steps', which the ops that read it round. */
struct cr_val *cr_rounded_each_step(struct cr_build *b, struct cr_val *weight);
/* x rounded to a type, which results of it alone then have too. */
struct cr_val *cr_cast_low(struct cr_build *b, enum cr_type type,
                           struct cr_val *x);
/* Whether x has numbers of low precision. */
bool cr_is_low(const struct cr_val *x);
/* x in the cell's low precision; NULL and what is not real as it is. */
struct cr_val *cr_rounded(struct cr_build *b, struct cr_val *x);

/* Section `amp`. */
struct cr_amp {
    int level, dtype;
    unsigned char keep_batchnorm_fp32; /* CR_BOOL_OPTIONAL */
    const struct cr_node *cast;
    struct cr_obj loss_scale; /* train/loss_scale.c reads this, */
    struct cr_amp_overflow {
        bool skip_step;
        int64_t give_up_after;
    } overflow; /* and this */
    int n_casts;
    struct cr_cast {
        struct cr_precision precision;
        struct cr_patterns *patterns;
    } * casts;
    struct cr_pos pos;
};

#endif
