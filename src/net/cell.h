/*
 * A cell: names. It turns options into parameters and ops, and computes
 * nothing. A cell made of cells emits cells as well as ops; to the graph it
 * is the same. A loss is a cell whose descriptor also names its targets.
 *
 * All building functions report problems themselves and then return NULL;
 * NULL in gives NULL out, so nothing is checked in between.
 */
#ifndef CR_NET_CELL_H
#define CR_NET_CELL_H

#include "conf/opt.h"
#include "math/spec.h"

struct cr_build;
struct cr_op;
struct cr_val;

/* What a column that a loss takes holds, where no data tell. */
enum cr_target {
    CR_TARGET_ANY,      /* the descriptor cannot say: it depends on options */
    CR_TARGET_OUTPUT,   /* numbers, of the output's shape */
    CR_TARGET_CLASSES,  /* a class, int32: the output's shape without axis 1 */
    CR_TARGET_LABELS,   /* classes, int32, of the output's shape */
    CR_TARGET_SAMPLE    /* one number for each sample */
};

struct cr_cell {
    struct cr_descriptor about;
    /* in[0..max_inputs-1] may be read by build; absent ones are NULL. */
    int min_inputs, max_inputs;
    const char *const *inputs; /* their names in order, for keywords in
                                  construct; NULL: the first is x */
    unsigned tuples;           /* 1 << i: input i may be a tuple */
    struct cr_val *(*build)(struct cr_build *b, struct cr_val *const *in);
    /* Optional: what the option rows cannot say (p or keep_prob). */
    bool (*check)(struct cr_diag *diag, struct cr_pos pos, const void *opts);
    bool takes_cells;   /* its arguments are cells, called in order */
    /* Where neither data nor `inputs` tell what comes in: the option that
     * says how many features the cell takes (Dense: in_channels); flat: it
     * makes features of anything, the next cell tells (Flatten). */
    const char *features;
    bool flat;
    const char *activation; /* MindSpore's string for Dense: "relu" */
    /* Optional: what a call in construct may say by keyword besides inputs. */
    const struct cr_descriptor *call;
    /* Losses only: columns taken after the network's output, "label". */
    const char *const *targets;
    enum cr_target target; /* what each of them holds */
    unsigned columns;   /* 1 << i: input i is such a column; 0: the last are */
    const char *expects; /* what the network's output must be, for a warning:
                            "logits" (the loss applies softmax or sigmoid
                            itself) or "log-probabilities"; NULL: anything */
};

const struct cr_cell *cr_cell_find(const char *name);
const struct cr_cell *cr_loss_find(const char *name);

/* What a cell's build may ask. */
const void *cr_opts(const struct cr_build *b);
const void *cr_call_opts(const struct cr_build *b); /* as .call says */
int cr_inputs(const struct cr_build *b);
struct cr_pos cr_build_pos(const struct cr_build *b);
struct cr_arena *cr_build_arena(struct cr_build *b);
const struct cr_spec *cr_val_spec(const struct cr_val *v);
/* Whether the cell is the whole network, not a part of one: MindSpore then
 * calls some parameters otherwise. */
bool cr_is_root_cell(const struct cr_build *b);
bool cr_fail(struct cr_build *b, enum cr_code code, const char *format, ...)
    CR_PRINTF(3, 4);

/* How a parameter begins when nobody says otherwise. `bound` counts for
 * CR_DEFAULT_INIT_FAN_IN and CR_DEFAULT_INIT_UNIFORM: U(-1/sqrt(bound),
 * 1/sqrt(bound)). Scheme mindspore1 makes N(0, 0.01^2) of
 * CR_DEFAULT_INIT_WEIGHT and zeros of CR_DEFAULT_INIT_FAN_IN. */
enum cr_default_init {
    CR_DEFAULT_INIT_WEIGHT, /* HeUniform(negative_slope = sqrt(5)) */
    CR_DEFAULT_INIT_FAN_IN,
    CR_DEFAULT_INIT_UNIFORM, /* as CR_DEFAULT_INIT_FAN_IN, in both schemes:
                                recurrences */
    CR_DEFAULT_INIT_ZERO,
    CR_DEFAULT_INIT_ONE,
    CR_DEFAULT_INIT_NORMAL, /* N(0, 0.01^2): embeddings */
    CR_DEFAULT_INIT_XAVIER, /* XavierUniform */
    CR_DEFAULT_INIT_XAVIER_NORMAL
};

/* A learned parameter of the cell being built. `given` is the cell's own
 * option such as weight_init (NULL or zeroed: not given). A cell that is
 * called again gets the parameters of its first call. */
struct cr_val *cr_param(struct cr_build *b, const char *name,
                        struct cr_spec spec, const struct cr_obj *given,
                        enum cr_default_init begin, double bound);
/* One that exists and is saved, but is never trained (affine: false). */
struct cr_val *cr_param_untrained(struct cr_build *b, const char *name,
                                  struct cr_spec spec,
                                  const struct cr_obj *given,
                                  enum cr_default_init begin);
/* The value that such a parameter has while a forward pass moves it. */
struct cr_val *cr_param_read(struct cr_build *b, struct cr_val *param);
/* A statistic that the engine owns and saves, never trained. */
struct cr_val *cr_param_state(struct cr_build *b, const char *name,
                              struct cr_spec spec, const struct cr_obj *given,
                              enum cr_default_init begin);

/* Row `row` of a parameter of this cell begins with zeros, whatever its
 * initialiser. One that another cell shares begins as that cell says. */
void cr_param_zero_row(struct cr_build *b, struct cr_val *param, int64_t row);

/* One op: CR_EMIT(b, "linear", NULL, x, w, bias). The attr must live in the
 * build's arena. Absent optional inputs are NULL at the end, or CR_ABSENT. */
#define CR_EMIT(b, op, attr, ...) \
    cr_emit((b), (op), (attr), \
            (int)(sizeof((struct cr_val *[]){ __VA_ARGS__ }) / \
                  sizeof(struct cr_val *)), \
            (struct cr_val *[]){ __VA_ARGS__ })
#define CR_ABSENT cr_val_absent()
struct cr_val *cr_val_absent(void);
struct cr_val *cr_emit(struct cr_build *b, const char *op, const void *attr,
                       int n, struct cr_val *const *in);

/* Another output of the op that made v; cr_emit gives the first. */
struct cr_val *cr_output(struct cr_val *v, int i);
/* How many outputs the op has that made v. */
int cr_outputs(const struct cr_val *v);

/* Several values as one result. The size is 0 of what is no tuple. */
#define CR_TUPLE(b, ...) \
    cr_tuple((b), \
             (int)(sizeof((struct cr_val *[]){ __VA_ARGS__ }) / \
                   sizeof(struct cr_val *)), \
             (struct cr_val *[]){ __VA_ARGS__ })
struct cr_val *cr_tuple(struct cr_build *b, int n, struct cr_val *const *vals);
int cr_tuple_size(const struct cr_val *v);
struct cr_val *cr_member(const struct cr_val *v, int i);

/* An op that no other cell needs may stand in the cell's own file, without a
 * name in the registry: CR_EMIT_OP(b, &leaky_relu_op, attr, x). */
#define CR_EMIT_OP(b, op, attr, ...) \
    cr_emit_op((b), (op), (attr), \
               (int)(sizeof((struct cr_val *[]){ __VA_ARGS__ }) / \
                     sizeof(struct cr_val *)), \
               (struct cr_val *[]){ __VA_ARGS__ })
struct cr_val *cr_emit_op(struct cr_build *b, const struct cr_op *op,
                          const void *attr, int n, struct cr_val *const *in);

/* The op, not what its .build makes of it. */
struct cr_val *cr_emit_itself(struct cr_build *b, const struct cr_op *op,
                              const void *attr, int n,
                              struct cr_val *const *in);

/* A child cell: `node` is a typed node, a map of names or a list. Its
 * parameters are named below `name` ("0", "fc"). */
struct cr_val *cr_child(struct cr_build *b, const char *name,
                        const struct cr_node *node, int n,
                        struct cr_val *const *in);
/* A child that the config does not write: the typed node is made of a text,
 * "{Dense: {out_channels: 8}}", at the cell's own place; call: options of the
 * call, "{need_weights: false}", or NULL. */
struct cr_val *cr_subcell(struct cr_build *b, const char *name,
                          const char *text, const char *call, int n,
                          struct cr_val *const *in);
/* As cr_child, with parameters that begin as those of the child `like`. */
struct cr_val *cr_child_like(struct cr_build *b, const char *name,
                             const char *like, const struct cr_node *node,
                             int n, struct cr_val *const *in);
/* A cell without parameters as a part of this one; messages tell the name,
 * if it has any. */
struct cr_val *cr_cell_inline(struct cr_build *b, const struct cr_cell *cell,
                              const char *name, const void *opts, int n,
                              struct cr_val *const *in);
/* An activation by MindSpore's lower-case string ("relu"), as Dense takes. */
struct cr_val *cr_activation(struct cr_build *b, const char *name,
                             struct cr_val *x);

#endif
