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

/* Bits of .saved_for_backward, .int_inputs, .scales, .masks and
 * .running_stats: input i, output i. */
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
                                  .saved_for_backward names */
    const void *dy[CR_OP_MAX]; /* gradients of outputs; NULL: none */
    void *dx[CR_OP_MAX];       /* gradients of inputs; NULL: not needed */
    bool accumulate[CR_OP_MAX]; /* add to dx[i] instead of storing */
    /* For inputs in .scales: dx = accumulate * dx + alpha * gradient. A plain
     * SGD update is fused into the gradient in this way: dx is the parameter,
     * alpha is -learning rate. */
    double alpha[CR_OP_MAX];
    /* For inputs in .masks: dx is 0 where mask <= 0. */
    const cr_real *mask[CR_OP_MAX];
    enum cr_act act;           /* with .fuses_act: applied to y[0] */
    /* For ops with .bf16: matrix products of the inputs that it names, and in
     * backward of dy[0], round their operands to bfloat16 (kernels/blas.h). */
    bool bf16;
    /* With bf16, for the values in .rounds: round y[0] to bfloat16 before act,
     * and the gradient in dx[i] before alpha and accumulate. */
    unsigned rounds;
    void *state[CR_OP_MAX];    /* inputs in .running_stats, to be updated; NULL:
                                  leave them unchanged */
    void *saved, *scratch;
    struct cr_rng rng;         /* keyed by seed, cell path and call, update */
    /* For families/random.h: number of the update (0 outside of training),
     * number of samples of the update before this batch, number of samples in
     * it. */
    int64_t update, first, batch;
    bool training;
    const struct cr_print *print; /* for ops with .prints; NULL: discard */
    char *stop;                /* CR_STOP_MAX bytes, for plug-in cells only: the
                                  message of a failure */
};

#define CR_STOP_MAX 512

/* Memory layouts that an op supports in addition to row-major. */
enum cr_layouts {
    CR_LAYOUT_NONE,            /* none */
    CR_LAYOUT_FLAT,            /* elementwise over memory: if all inputs have
                                  the same shape they share any layout, and the
                                  planner gives it to the outputs */
    CR_LAYOUT_LAST             /* channels last: input 0 and the input in
                                  .fuses_add have either layout, the others are
                                  row-major; plan sets out[].layout */
};

/* How the levels of amp treat an op (cellrun-arithmetic(7), MIXED PRECISION);
 * without any of these bits its precision is that of its inputs. */
enum cr_amp_bits {
    CR_AMP_WHITE = 1,          /* O1 computes it in low precision */
    CR_AMP_LOW = 2,            /* auto computes it in low precision */
    CR_AMP_HIGH = 4,           /* auto computes it in float32 */
    CR_AMP_BLACK = 8,          /* O2 keeps its parameters in float32 */
    CR_AMP_EXACT = 16          /* its results are values of its inputs */
};

/* An input in a form that forward reads faster: a packed weight. Where the
 * input never changes, the planner adds a step that makes it once. */
struct cr_prepare {
    int from, as;              /* input that is prepared; optional input,
                                  beyond those of the op, for the result */
    /* Both are given .attr, .in and .out of the step; 0 bytes: nothing to
     * prepare. run also has .x[from]. */
    size_t (*bytes)(const struct cr_op_ctx *step);
    void (*run)(const struct cr_op_ctx *step, void *to);
};

struct cr_build;
struct cr_val;

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
    /* Optional: emits other ops instead, or itself (cr_emit_itself). */
    struct cr_val *(*build)(struct cr_build *b, const void *attr, int n,
                            struct cr_val *const *in);
    bool prints;               /* forward or backward may print */
    bool draws;                /* random numbers, outside of training too */
    /* Gradient composed of other ops, as lines of a bprop; gradient_op.c lists
     * the available names. NULL: see .linear. */
    const char *bprop;
    unsigned linear;           /* CR_X: y[0] is linear in each of these inputs;
                                  without a bprop, the second-order gradient is
                                  made of the op's own kernels (adjoint.h) */
    unsigned saved_for_backward; /* CR_X, CR_Y: values that backward reads */
    unsigned int_inputs;       /* CR_X: inputs that are not cast to real */
    unsigned scales;           /* CR_X: backward supports alpha for these */
    unsigned masks;            /* CR_X: backward supports mask for these */
    bool fuses_act;            /* forward supports act */
    bool fuses_act_backward;   /* backward too: it reads y[0], and dy is not yet
                                  masked */
    unsigned fuses_add;        /* CR_X: an optional input with the shape of
                                  y[0] that is added before act. The planner
                                  fuses a following addition by this input,
                                  without planning again; in plans with a
                                  backward pass only with fuses_act_backward */
    const struct cr_prepare *prepare; /* NULL: none */
    int bn_foldable;           /* not 0: y[0] is linear in input 1, whose axis 0
                                  is the output channels, plus input 2; the
                                  value is the channel axis of y[0], negative
                                  from the last one */
    enum cr_act act;           /* the op is this activation, elementwise */
    unsigned amp;              /* enum cr_amp_bits */
    unsigned float32_params;   /* CR_X: parameters that low precision rounds in
                                  prediction only */
    unsigned bf16;             /* CR_X: operands of its matrix products; it
                                  supports ctx->bf16 */
    unsigned rounds;           /* CR_X, CR_Y: it supports ctx->rounds here */
    unsigned running_stats;    /* CR_X: inputs that are moving statistics */
    enum cr_layouts layouts;
    /* With CR_LAYOUT_LAST: whether channels last is faster than the layout of
     * input 0. NULL: keep the layout of input 0. */
    bool (*prefers_last)(const struct cr_op_plan *plan);
    bool (*plan)(struct cr_op_plan *plan); /* false after reporting */
    /* Name of the kernel that computes the step; NULL: the op has only one. */
    const char *(*kernel)(const struct cr_op_ctx *step);
    void (*forward)(const struct cr_op_ctx *ctx);
    void (*backward)(const struct cr_op_ctx *ctx); /* NULL: no gradient */
};

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
