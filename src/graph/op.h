/*
 * An op computes. It knows shapes, values and gradients, but no configs and no
 * names.
 *
 * Contract: `plan` runs once per plan; it may fail and computes nothing.
 * `forward` and `backward` run in every step; they do not fail, allocate or
 * keep state. A parameter is an ordinary input. dx[i] is NULL where no gradient
 * is needed, as for a frozen parameter. A value that several ops read gets its
 * gradient from all of them: the first one stores it, the others accumulate
 * (.accumulate), so that no buffer has to be cleared.
 */
#ifndef CR_GRAPH_OP_H
#define CR_GRAPH_OP_H

#include "conf/opt.h"
#include "kernels/blas.h"
#include "num/rng.h"
#include "num/spec.h"

#define CR_OP_MAX 16 /* maximum number of inputs and of outputs of an op */

/* Receiver of the output of print(...) and of plug-ins. A text may contain
 * newlines. */
struct cr_print {
    void (*line)(void *ctx, const char *text);
    void *ctx;
};

/* Bits of .saved_for_backward, .int_inputs, .running_stats and others: input i,
 * output i. */
#define CR_X(i) (1u << (i))
#define CR_Y(i) (1u << (16 + (i)))

/* Valid range of an integer input. A column of the data is checked before its
 * batch is computed. */
struct cr_bound {
    bool set;
    bool computed;      /* also check values that the network computes, right
                           before the op runs, so that it can rely on them */
    int64_t low, high;  /* low <= value < high */
    bool has_except;
    int64_t except;     /* an additional valid value (ignore_index) */
};

/* What an op's plan reads and sets. */
struct cr_op_plan {
    const void *attr;   /* the op's attributes, set by the cell */
    struct cr_pos pos;  /* position in the config, for messages */
    struct cr_diag *diag;
    struct cr_arena *arena;   /* lives as long as the plan */
    bool training;            /* false also where statistics are frozen */
    int n_in;
    const struct cr_spec *in; /* of each input; rank -1: absent */
    struct cr_spec *out;      /* to set: spec of each output */
    int n_out;                /* .outputs; plan may change it */
    size_t saved;             /* bytes that forward saves for backward */
    size_t scratch;           /* bytes of working memory, uninitialised */
    size_t thread_scratch;    /* maximum bytes taken from cr_thread_scratch */
    double macs;              /* multiply-adds of forward, for summary */
    bool same;                /* y[0] has the bytes of x[0]: no step needed */
    struct cr_bound bound[CR_OP_MAX]; /* of integer inputs */
};

/* What forward and backward receive. Buffers belong to the plan. */
struct cr_op_ctx {
    const void *attr;
    const struct cr_spec *in, *out;
    const void *x[CR_OP_MAX];  /* inputs, including parameters; NULL: absent */
    void *y[CR_OP_MAX];        /* outputs; in backward only those that
                                  .saved_for_backward names, and y[0] for
                                  CR_END_MASK_Y or, unless the kernels accept
                                  CR_END_MASK_X, an activation in .end */
    const void *dy[CR_OP_MAX]; /* gradients of outputs; NULL: none */
    void *dx[CR_OP_MAX];       /* gradients of inputs; NULL: not needed */
    bool accumulate[CR_OP_MAX]; /* add to dx[i] instead of storing */
    /* Where the kernels accept CR_END_SCALE for dx[i]: dx = accumulate * dx +
     * alpha * gradient. A plain SGD update is fused into the gradient in this
     * way: dx is the parameter, alpha is -learning rate. */
    double alpha[CR_OP_MAX];
    /* Where they accept CR_END_MASK for dx[i]: dx is 0 where mask <= 0. */
    const cr_real *mask[CR_OP_MAX];
    /* Where they accept CR_END_MAP_GRAD: dx[0] = map_grad(dx[0]) at mask[0],
     * instead. NULL: none. */
    cr_map_grad *map_grad;
    const void *map_attr;
    /* With CR_END_AGAIN, x[0] is NULL; map_again(mask[0]), to be written to
     * x_again, is what it was. */
    cr_map *map_again;
    void *x_again;
    /* The epilogue of y[0], as far as the kernels have accepted it; in backward
     * the parts that they accepted with CR_END_BACKWARD. The bias and the
     * addend are inputs (struct cr_op_kernels). */
    struct cr_epilogue end;
    cr_map_grad *end_grad; /* the gradient of end.map, which then is NULL unless
                              that reads its result */
    cr_real scale; /* its alpha; 1 */
    struct cr_drop drop; /* what end.drop points to */
    /* For ops with .low: the type of low precision, CR_F16 or CR_BF16, and
     * CR_X, CR_Y bits of what has it. families/low.h reads and writes it. */
    enum cr_type low;
    unsigned rounds;          /* y[0] is rounded before act, x[i] when read;
                                 dx[i] before alpha and accumulate, */
    unsigned partial;         /* but not here: others have parts of it, too */
    unsigned holds;           /* x[i], dy[0] hold such numbers already */
    unsigned two_bytes;       /* x[i], y[i] take two bytes per element, */
    unsigned mask_two_bytes;  /* and mask[i], */
    unsigned grads_two_bytes; /* and dx[i], dy[i]: never with accumulate */
    void *state[CR_OP_MAX];    /* inputs in .running_stats, to be updated; NULL:
                                  leave them unchanged */
    void *saved, *scratch; /* backward may write over what was saved */
    bool again;            /* forward runs again: .saved is what it wrote */
    struct cr_rng rng;         /* keyed by seed, cell path and call, update */
    /* For families/random.h: number of the update (0 outside of training),
     * number of samples of the update before this batch, number of samples in
     * it. */
    int64_t update, first, batch;
    /* Where several processes share a batch: the number of its samples before
     * these; adds up numbers of all processes. NULL: these are all samples. */
    int64_t rows_before;
    void (*sum)(double *x, int64_t n);
    bool local; /* with .running_stats: train.batch_norm is local */
    bool training;
    const struct cr_print *print; /* for ops with .prints; NULL: discard */
    char *stop;                /* CR_STOP_MAX bytes, for plug-in cells only: the
                                  message of a failure */
};

#define CR_STOP_MAX 512

/* ---- what an op means, as passes ask for it ---- */

enum cr_algebra_kind {
    CR_GENERAL,
    CR_ELEMENTWISE, /* an element of each input gives one of y: where
                       all have one shape, they may share any memory
                       layout */
    CR_ADDS,        /* elementwise: x[0] + x[1] */
    CR_MULTIPLIES,  /* elementwise: x[0] x[1] */
    CR_DIVIDES      /* elementwise: x[0] / x[1] */
};

struct cr_algebra {
    enum cr_algebra_kind kind;
    cr_map *map;     /* elementwise, of one real input: what it does
                        to a stretch; NULL: nothing that an epilogue
                        can do */
    cr_map_grad *map_grad; /* with a map: its gradient; with `drops`: that of
                              dropout after a ReLU, of the result */
    enum cr_act act; /* the same as an activation that kernels know; ReLU6 is
                        offered to them as a map */
    unsigned linear; /* CR_X: y[0] is linear in each of these inputs;
                        without a bprop, the second-order gradient is
                        made of the op's own kernels (adjoint.h) */
    int channels;    /* not 0: y[0] is a layer of weights, with the
                        output channels on axis 0 of input 1, plus
                        input 2; the value is the channel axis of
                        y[0], negative from the last one */
    /* Where `fixed` holds, prediction computes y[0] = x[0] times a factor plus
     * a shift per channel of axis 1: the op of this name makes them part of
     * the layer before, from its weight, its offset and inputs 1 and up of
     * this op, which min_inputs counts. NULL: it does not. */
    const char *fold;
    bool (*fixed)(const void *attr);
    /* y[0] is rows of input 0, whose numbers are input 1. NULL: it is not. */
    bool (*takes_rows)(const void *attr);
    /* In training y[0] is x[0] after dropout, keyed by ctx->rng: the
     * probability to keep an element. NULL: it is not. */
    double (*drops)(const void *attr);
    /* The results are pieces of x[0] along its last axis, in order. NULL: they
     * are not. */
    bool (*pieces)(const void *attr, const struct cr_spec *x);
    int packs; /* so many first inputs, of one shape, may come as one, side by
                  side along the last axis; 0: they may not */
    /* y[0] is one number for every batch: which one. NULL: it is not. */
    bool (*scalar)(const void *attr, double *value);
    /* Of an exact op: the fill value, the one number of y[0] that is not an
     * element of an input. NULL: all are. */
    double (*fill_value)(const void *attr);
};

#define cr_is_elementwise(op) ((op)->algebra.kind >= CR_ELEMENTWISE)

/* ---- how it is computed, as passes ask for it ---- */

/* Whether the kernels of a step take its input 0 with channels last. */
enum cr_channels_last {
    CR_LAST_NEVER,
    CR_LAST_TOO, /* if it comes so */
    CR_LAST_BEST /* even if it has to be reordered */
};
/* An input in a form that forward reads faster: a packed weight. Where the
 * input never changes, the planner adds a step that makes it once. */
struct cr_prepare {
    int from, as;              /* input that is prepared; optional input,
                                  beyond those of the op, for the result */
    /* Both are given .attr, .in, .out, .low, .holds and .rounds of the step; 0
     * bytes: nothing to prepare. run also has .x[from]. */
    size_t (*bytes)(const struct cr_op_ctx *step);
    void (*run)(const struct cr_op_ctx *step, void *to);
    bool rounds; /* run rounds to .low what the step holds or rounds */
};

/* Answers of the kernel that is chosen for a step (kernels/kernel.h). A step
 * has .attr, .in, .out and .bf16. All members are optional. */
struct cr_op_kernels {
    const char *(*name)(const struct cr_op_ctx *step);
    /* Whether it does all these parts (enum cr_end) to y[0] (of: CR_Y(0)) or
     * to dx[i] (CR_X(i)). NULL: it does none. */
    bool (*accepts)(const struct cr_op_ctx *step, unsigned of, unsigned parts);
    int addend; /* with CR_END_ADD of y[0]: the optional input,
                   with the shape of y[0], that is added */
    /* Input 0 and the addend may have channels last, the others are row-major;
     * plan sets out[].layout. NULL: CR_LAST_NEVER. */
    enum cr_channels_last (*last)(const struct cr_op_plan *plan);
    /* Elementwise: operands that broadcast may have channels last as well. */
    bool broadcasts_last;
    const struct cr_prepare *prepare;
    /* Whether reading input i takes no longer if it has to be rounded to .low.
     * NULL: it does. */
    bool (*rounds_for_free)(const struct cr_op_ctx *step, int i);
};

/* For .last: CR_LAST_TOO. */
enum cr_channels_last cr_last_too(const struct cr_op_plan *plan);

struct cr_build;
struct cr_val;

/* Which rows of its inputs a row of the results takes: rows are those of a
 * batch, along one axis of a value. What keeps them apart is shared out among
 * processes (plan/split.c). */
enum cr_rows {
    CR_ROWS_MIXED, /* all of them */
    CR_ROWS_EACH,  /* one, where results have as many of them */
    CR_ROWS_FILL,  /* the same; without inputs, rows are alike */
    CR_ROWS_FIRST, /* one, where the rows are the first axis; without inputs, a
                      row follows from its number */
    CR_ROWS_ALIGN, /* one; inputs are broadcast to the output */
    CR_ROWS_VIEW,  /* one; nothing but ones may stand before their axis */
    CR_ROWS_SHAPE, /* none, but the shape of the input */
    CR_ROWS_SUM    /* adds up numbers of rows, first axes; where the result has
                      rows, as FIRST */
};

struct cr_op {
    struct cr_descriptor about; /* opts: the attributes, for construct */
    int min_inputs, max_inputs, outputs;
    const char *const *inputs; /* their names, for construct; may be NULL */
    /* Signature in construct, unless it is the inputs followed by the options:
     * "input, alpha=1.0", "equation, *operands", "x, *, dtype=None". */
    const char *signature;
    /* Meaning of such a call, as lines of construct. A call of the op's own
     * name in these lines refers to the op itself; an op with a text only has
     * no plan. NULL: arguments map to inputs and options of the same name. */
    const char *text;
    /* To precision its text is one op: float32 between its inputs and result */
    bool whole;
    /* Optional: emits other ops instead, or itself (cr_emit_itself). */
    struct cr_val *(*build)(struct cr_build *b, const void *attr, int n,
                            struct cr_val *const *in);
    bool tuple;                /* of one output, too, construct gets a tuple */
    bool prints;               /* forward or backward may print */
    enum cr_rows rows;
    /* Whether rows stay apart with these attributes, where the rows are axis
     * `in` of input 0, which is x, and `out` of the results; negative: it has
     * none. NULL: with all. */
    bool (*rows_apart)(const void *attr, const struct cr_spec *x, int in,
                       int out);
    bool draws;                /* random numbers, outside of training too */
    /* Gradient composed of other ops, as lines of a bprop; gradient_op.c lists
     * the available names. NULL: see .algebra.linear. */
    const char *bprop;
    struct cr_algebra algebra;
    const struct cr_op_kernels *kernels; /* NULL: one that accepts nothing */
    unsigned saved_for_backward; /* CR_X, CR_Y: values that backward reads */
    bool saved_unrounded;      /* y, as it is computed; else as it is stored */
    unsigned optional;         /* CR_Y: outputs that are NULL if unused */
    unsigned int_inputs;       /* CR_X: inputs that are not cast to real */
    bool exact;                /* each real result is an element of an input,
                                  or its negative, or 0: no rounding */
    unsigned low;              /* CR_X, CR_Y: values, with their gradients, that
                                  it supports in low precision: ctx->rounds and
                                  two bytes */
    /* Bytes of scratch memory that it needs next to plan's, if a step has
     * operands in two bytes; NULL: none. */
    size_t (*low_scratch)(const struct cr_op_ctx *step);
    unsigned running_stats;    /* CR_X: inputs that are moving statistics */
    bool saved_again;          /* forward with ctx->again reads .saved */
    bool (*plan)(struct cr_op_plan *plan); /* false after reporting */
    void (*forward)(const struct cr_op_ctx *ctx);
    void (*backward)(const struct cr_op_ctx *ctx); /* NULL: no gradient */
};

/* An axis counted from the start; a negative one counts from the end. */
static inline int64_t cr_axis_place(int64_t axis, int rank)
{
    return axis < 0 ? axis + rank : axis;
}

/* Index of an input by its name; -1: not found. */
int cr_op_input(const struct cr_op *op, const char *name);

/* NULL: not found. */
const struct cr_op *cr_op_find(const char *name);
/* "elu(input_x, alpha=1.0)", as help shows it; in the arena. */
const char *cr_op_signature(struct cr_arena *arena, const struct cr_op *op);

/* Input names that most functions of MindSpore use. */
extern const char *const cr_input[];   /* "input" */
extern const char *const cr_inputs2[]; /* "input", "other" */
extern const char *const cr_targets2[]; /* "input", "target" */

/* Typed access to a buffer of type CR_REAL. */
#define cr_reals(p) ((cr_real *)(p))
#define cr_creals(p) ((const cr_real *)(p))

#endif
