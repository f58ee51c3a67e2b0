/*
 * An op: computes, knows shapes, numbers and gradients, and nothing of
 * configs or names.
 *
 * The contract. plan runs once per plan; it may fail, and computes nothing.
 * forward and backward run every step; they do not fail, allocate or remember
 * anything. A parameter is an input like any other. Freezing is a NULL in dx.
 * One value may feed several ops, so its gradient has several writers: the
 * first one stores, the others add (.add), and nothing is ever cleared.
 */
#ifndef CR_NET_OP_H
#define CR_NET_OP_H

#include "conf/opt.h"
#include "math/blas.h"
#include "math/rng.h"
#include "math/spec.h"

#define CR_OP_MAX 16 /* inputs or outputs of one op */

/* Where lines go that print(...) and plug-ins say; a line may hold newlines. */
struct cr_print {
    void (*line)(void *ctx, const char *text);
    void *ctx;
};

/* Bits of .saved_for_backward, .int_inputs, .scales, .masks and .running_stats.
 */
#define CR_X(i) (1u << (i))
#define CR_Y(i) (1u << (16 + (i)))

/* What an integer input must hold; checked before a batch is computed where
 * it is a column of the data. */
struct cr_bound {
    bool set;
    bool computed;      /* and, where the network computes it, right before
                           the op runs, which then may rely on it */
    int64_t low, high;  /* low <= value < high */
    bool has_except;
    int64_t except;     /* this value is allowed as well (ignore_index) */
};

/* Filled in by an op's plan. */
struct cr_op_plan {
    const void *attr;   /* the op's own settings, given by the cell */
    struct cr_pos pos;  /* the config node it came from, for messages */
    struct cr_diag *diag;
    struct cr_arena *arena;
    bool training;            /* false too where statistics are frozen */
    int n_in;
    const struct cr_spec *in; /* of each input; rank -1 where absent */
    struct cr_spec *out;      /* one per output, to be set */
    int n_out;                /* the op's number; plan may set another */
    size_t saved;             /* bytes handed from forward to backward */
    size_t scratch;           /* bytes of working room, undefined on entry */
    size_t
        thread_scratch; /* bytes that it asks cr_thread_scratch for, at most */
    double macs;              /* multiply-adds of forward, for summary */
    bool same;                /* y[0] has x[0]'s bytes: no step is needed */
    struct cr_bound bound[CR_OP_MAX];
};

/* What forward and backward see. */
struct cr_op_ctx {
    const void *attr;
    const struct cr_spec *in, *out;
    const void *x[CR_OP_MAX];  /* inputs, parameters among them; NULL: absent */
    void *
        y[CR_OP_MAX]; /* outputs; in backward those .saved_for_backward names */
    const void *dy[CR_OP_MAX]; /* NULL where no gradient arrives */
    void *dx[CR_OP_MAX];       /* NULL where nobody asks */
    bool accumulate[CR_OP_MAX]; /* add to dx[i], or be the first to write it */
    /* Scale of what is written to dx[i], for inputs that .scales names:
     * dx = add * dx + alpha * gradient. An update that is a plain step along
     * the gradient is done by the product itself: dx is the parameter, alpha
     * is -learning rate. */
    double alpha[CR_OP_MAX];
    /* For inputs that .masks names: where mask <= 0, dx becomes 0. */
    const cr_real *mask[CR_OP_MAX];
    enum cr_act act; /* for ops with .fuses_act: applied to y[0] */
    /* For ops with .low: the products are `low` (math/blas.h), for what it
     * names, and in backward dy[0], holds bfloat16 numbers or is rounded to
     * them while it is read. */
    bool bf16;
    /* With low, for what .rounds names: y[0] is rounded to bfloat16 before
     * act; what comes to dx[i] is, before alpha and add. */
    unsigned rounds;
    void *state[CR_OP_MAX]; /* inputs that .running_stats names, to be moved;
                               NULL where they must stay */
    void *saved, *scratch;
    struct cr_rng rng;         /* seed, cell path and call, update */
    /* net/random.h: the update, 0 outside of training; how many samples of it
     * came before this batch, and how many this one has. */
    int64_t update, first, batch;
    bool training;
    const struct cr_print *print; /* for ops with .prints; NULL: nowhere */
    char *stop;                /* CR_STOP_MAX bytes: what a plug-in's cell,
                                  and no other, cannot go on for */
};

#define CR_STOP_MAX 512

/* Which memory layouts an op takes besides the plain one. */
enum cr_layouts {
    CR_LAYOUT_NONE,            /* all its tensors are plain */
    CR_LAYOUT_FLAT,            /* elementwise over memory: where all its inputs
                                  have one shape they share a layout, and
                                  the outputs get it from the planner */
    CR_LAYOUT_LAST /* knows channels last: input 0, and what .fuses_add
                      names, come in either layout, the others
                      plain; plan sets out[].layout */
};

/* How the levels of amp treat an op (cellrun-arithmetic(7), MIXED PRECISION);
 * without any of these bits its precision is that of its inputs. */
enum cr_amp_bits {
    CR_AMP_WHITE = 1,          /* O1 computes it in low precision, */
    CR_AMP_LOW = 2,            /* so does auto, */
    CR_AMP_HIGH = 4,           /* which computes this in float32 */
    CR_AMP_BLACK = 8,          /* O2 leaves its parameters as they are */
    CR_AMP_EXACT = 16          /* its results are values of its inputs */
};

struct cr_build;
struct cr_val;

struct cr_op {
    struct cr_descriptor about; /* opts: the attr, for construct and tests */
    int min_inputs, max_inputs, outputs;
    const char *const *inputs; /* their names, for construct; may be NULL */
    /* How construct calls it, if not by its inputs and then its options:
     * "input, alpha=1.0", "equation, *operands", "x, *, dtype=None". */
    const char *signature;
    /* What such a call means, as lines of construct. A call of the op's own
     * name in them reaches the op itself; an op of text alone has no plan.
     * NULL: arguments go to the inputs and options of the same names. */
    const char *text;
    /* Emits other ops in its place, or itself (cr_emit_itself). */
    struct cr_val *(*build)(struct cr_build *b, const void *attr, int n,
                            struct cr_val *const *in);
    bool prints;               /* forward or backward may say something */
    /* Its gradient out of other ops, as lines of a bprop; gradient_op.c says
     * which names they have. NULL: see .linear. */
    const char *bprop;
    unsigned linear;           /* CR_X: y[0] is linear in each of these inputs
                                  alone; without a bprop its gradient is made
                                  of its own kernels (adjoint.h) */
    unsigned saved_for_backward; /* CR_X, CR_Y: what backward still needs */
    unsigned int_inputs;         /* CR_X: inputs that are not cast to real */
    unsigned scales;           /* CR_X: backward honours alpha for these */
    unsigned masks;            /* CR_X: backward honours mask for these */
    bool fuses_act;            /* forward honours act */
    bool fuses_act_backward;   /* so does backward, which then reads y[0]: dy
                         comes as it is, not yet masked */
    unsigned fuses_add;        /* CR_X: an optional input of y[0]'s shape that
                             is added before act; the planner puts a
                             following add's other operand there,
                             without planning again. In plans with
                             backward only where .acts_back */
    int bn_foldable;           /* not 0: y[0] is linear in input 1, whose first
                            dimension is its channels, plus input 2; the
                            axis of y[0] that has them, negative from
                            the last one on */
    enum cr_act act;           /* the op is this activation, elementwise */
    unsigned amp;              /* enum cr_amp_bits */
    unsigned float32_params;   /* CR_X: parameters that low precision rounds
                        in prediction alone */
    unsigned bf16;             /* CR_X: inputs that it multiplies, with each
                                 other and with dy[0]: it honours low */
    unsigned rounds;           /* CR_X, CR_Y: it honours rounds for these */
    unsigned running_stats;    /* CR_X: moving statistics among the inputs */
    enum cr_layouts layouts;
    /* With CR_LAYOUT_LAST: whether it would rather have channels last than
     * what input 0 comes in. NULL: it takes what comes. */
    bool (*prefers_last)(const struct cr_op_plan *plan);
    bool (*plan)(struct cr_op_plan *plan);
    void (*forward)(const struct cr_op_ctx *ctx);
    void (*backward)(const struct cr_op_ctx *ctx); /* NULL: no gradient */
};

/* The position of an input by its name; -1: the op has no such input. */
int cr_op_input(const struct cr_op *op, const char *name);

const struct cr_op *cr_op_find(const char *name);
/* "elu(input_x, alpha=1.0)", as help shows it. */
const char *cr_op_signature(struct cr_arena *arena, const struct cr_op *op);

/* Names of inputs, as most of MindSpore's functions call them. */
extern const char *const cr_input[];   /* "input" */
extern const char *const cr_inputs2[]; /* "input", "other" */
extern const char *const cr_targets2[]; /* "input", "target" */

/* Typed access; the spec is checked by assertion. */
#define cr_reals(p) ((cr_real *)(p))
#define cr_creals(p) ((const cr_real *)(p))

#endif
