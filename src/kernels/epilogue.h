/*
 * What a kernel does to a result before it stores it, while it is in registers
 * or in the cache:
 *
 *   to = map(act(alpha result + (accumulate ? to : 0) + add + bias)),
 *        then 0 where mask <= 0
 *
 * With dropout, which is not with a map:
 *
 *   to = drop(act(alpha result + (accumulate ? to : 0) + bias)) + add
 *
 * In low precision that result is rounded before act, and again after dropout
 * and after the addition; a late bias is added to it and rounded, too, before
 * a map or dropout:
 *
 *   to = round(round(drop(round(round(result) + bias))) + add)
 *
 * The fusion pass offers these parts to the kernels of a step (graph/op.h,
 * struct cr_op_kernels), which take them or not.
 */
#ifndef CR_KERNELS_EPILOGUE_H
#define CR_KERNELS_EPILOGUE_H

#include "num/real.h"
#include "num/rng.h"

#include <stdbool.h>
#include <stdint.h>

/* Activations that kernels apply in registers. ReLU6 is a map, which those that
 * know it apply so instead, where what the map gets is not kept. */
enum cr_act {
    CR_ACT_NONE,
    CR_ACT_RELU,
    CR_ACT_RELU6
};

/* Dropout: elements are kept with probability `keep`, and divided by it.
 * Element 0 of the result is number `first` of the random ones. */
struct cr_drop {
    struct cr_rng rng;
    double keep;
    int64_t first;
};

/* y = f(x) of n elements; attr: the options of f. y may be x. */
typedef void cr_map(const void *attr, int64_t n, const cr_real *x, cr_real *y);

/* d = dy f'(x) of n elements, of x or of y = f(x), whichever f's op saves: the
 * other may be anything. d may be dy. */
typedef void cr_map_grad(const void *attr, int64_t n, const cr_real *x,
                         const cr_real *y, const cr_real *dy, cr_real *d);

/* Each pointer may be NULL. add and mask have the shape and layout of `to`; add
 * may be `to` itself. */
struct cr_epilogue {
    const cr_real *bias; /* one per channel */
    const cr_real *add, *mask;
    enum cr_act act;
    cr_map *map;        /* any other activation, */
    enum cr_act map_is; /* the same in registers, or CR_ACT_NONE, */
    const void *attr;   /* its options, */
    cr_real *map_to;    /* and where its result lies; NULL: where it reads */
    const struct cr_drop *drop;
    bool late_bias; /* the bias is added after rounding */
    bool keeps;     /* what the map gets is stored, too */
};

/* Its parts, as bits. */
enum cr_end {
    CR_END_SCALE = 1, /* alpha */
    CR_END_BIAS = 2,
    CR_END_ADD = 4,
    CR_END_ACT = 8,
    CR_END_MAP = 16,
    CR_END_MASK = 32,
    CR_END_DROP = 64,
    /* With parts of y[0]: backward takes the gradient as it arrives after
     * them. */
    CR_END_BACKWARD = 128,
    /* Or the planner has steps of their own for them in backward. */
    CR_END_APART = 256,
    /* Of dx[0]: the gradient of an elementwise op follows. */
    CR_END_MAP_GRAD = 512,
    /* Low precision: a bias that is added to the rounded result. */
    CR_END_LATE_BIAS = 1024,
    /* With CR_END_MAP: what the map gets is stored in .saved, too, as y[0] is;
     * in low precision both are rounded. */
    CR_END_KEEP = 2048,
    /* Of dx[0] of a maximum: the gradient of the ReLU before it, whose result
     * is above 0 where y[0] is, which backward then reads. */
    CR_END_MASK_Y = 4096,
    /* Of y[0] with a ReLU or, with CR_END_BACKWARD, a map: backward finds its
     * mask or its gradient without y[0]. */
    CR_END_MASK_X = 8192,
    /* With CR_END_MAP_GRAD: backward does not get x[0], the result of that op,
     * but computes it again. */
    CR_END_AGAIN = 16384
};

#endif
