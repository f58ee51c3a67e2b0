/*
 * A cell names things: it turns options into parameters and ops, and computes
 * nothing. It may emit subcells as well as ops. A loss is a cell whose
 * descriptor also names its target columns.
 *
 * All building functions report errors themselves and then return NULL. If an
 * input is NULL they return NULL, so that callers need no checks in between.
 * Values and parameters belong to the network.
 */
#ifndef CR_GRAPH_CELL_H
#define CR_GRAPH_CELL_H

#include "conf/opt.h"
#include "num/spec.h"

struct cr_build;
struct cr_op;
struct cr_val;

/* Content of a target column, where there is no data set to read it from. */
enum cr_target {
    CR_TARGET_ANY,      /* unknown: it depends on options */
    CR_TARGET_OUTPUT,   /* numbers, in the shape of the output */
    CR_TARGET_CLASSES,  /* class indices, int32: output shape less axis 1 */
    CR_TARGET_CLASSES_LAST, /* the same, less the last axis */
    CR_TARGET_LABELS,   /* class indices, int32, in the shape of the output */
    CR_TARGET_SAMPLE    /* one number per sample */
};

struct cr_cell {
    struct cr_descriptor about;
    /* build may read in[0..max_inputs-1]; absent inputs are NULL. */
    int min_inputs, max_inputs;
    const char *const *inputs; /* their names in order, for keywords in
                                  construct; NULL: x */
    unsigned tuples;           /* 1 << i: input i may be a tuple */
    struct cr_val *(*build)(struct cr_build *b, struct cr_val *const *in);
    /* Optional: checks that option rows cannot express (p or keep_prob). False
     * after reporting. */
    bool (*check)(struct cr_diag *diag, struct cr_pos pos, const void *opts);
    bool takes_cells;   /* its arguments are cells, called in order */
    /* To infer the input shape without a data set or `inputs`: the option with
     * the number of input features (Dense: in_channels). flat: the cell
     * flattens any shape, so the next cell declares it (Flatten). */
    const char *features;
    bool flat;
    const char *activation; /* name as `activation` of Dense: "relu" */
    /* Optional: keyword arguments of a call in construct besides inputs. */
    const struct cr_descriptor *call;
    /* Losses only: names of the target columns, "label". */
    const char *const *targets;
    enum cr_target target; /* content of each of them */
    unsigned columns;   /* 1 << i: input i is a target; 0: the last ones */
    const char *expects; /* expected kind of the output, for a warning:
                            "logits" (the loss applies softmax or sigmoid
                            itself) or "log-probabilities"; NULL: anything */
};

/* NULL: not found. */
const struct cr_cell *cr_cell_find(const char *name);
const struct cr_cell *cr_loss_find(const char *name);

/* For a cell's build: its options, options of the call (.call), number of
 * inputs, position in the config, an arena that lives as long as the network,
 * and type and shape of a value. */
const void *cr_opts(const struct cr_build *b);
const void *cr_call_opts(const struct cr_build *b);
int cr_inputs(const struct cr_build *b);
struct cr_pos cr_build_pos(const struct cr_build *b);
struct cr_arena *cr_build_arena(struct cr_build *b);
const struct cr_spec *cr_val_spec(const struct cr_val *v);
/* Whether the cell is the whole network: MindSpore then uses other names for
 * some parameters. */
bool cr_is_root_cell(const struct cr_build *b);
/* Reports an error at the cell; false. */
bool cr_fail(struct cr_build *b, enum cr_code code, const char *format, ...)
    CR_PRINTF(3, 4);

/* Default initialiser of a parameter. FAN_IN and UNIFORM are U(-1/sqrt(bound),
 * 1/sqrt(bound)). With scheme mindspore1 WEIGHT is N(0, 0.01^2) and FAN_IN
 * zeros. */
enum cr_default_init {
    CR_DEFAULT_INIT_WEIGHT, /* HeUniform(negative_slope = sqrt(5)) */
    CR_DEFAULT_INIT_FAN_IN,
    CR_DEFAULT_INIT_UNIFORM, /* as FAN_IN, but in both schemes: recurrent
                                layers */
    CR_DEFAULT_INIT_ZERO,
    CR_DEFAULT_INIT_ONE,
    CR_DEFAULT_INIT_NORMAL, /* N(0, 0.01^2): embeddings */
    CR_DEFAULT_INIT_XAVIER, /* XavierUniform */
    CR_DEFAULT_INIT_XAVIER_NORMAL
};

/* A trainable parameter of the cell. `given` is an initialiser from the cell's
 * options, such as weight_init (NULL or zeroed: none). Further calls of a cell
 * return the parameters of its first call. */
struct cr_val *cr_param(struct cr_build *b, const char *name,
                        struct cr_spec spec, const struct cr_obj *given,
                        enum cr_default_init begin, double bound);
/* A parameter that is saved but never trained (affine: false). */
struct cr_val *cr_param_untrained(struct cr_build *b, const char *name,
                                  struct cr_spec spec,
                                  const struct cr_obj *given,
                                  enum cr_default_init begin);
/* The value of a parameter that the forward pass updates, at this place. */
struct cr_val *cr_param_read(struct cr_build *b, struct cr_val *param);
/* A moving statistic, which is saved but never trained. */
struct cr_val *cr_param_state(struct cr_build *b, const char *name,
                              struct cr_spec spec, const struct cr_obj *given,
                              enum cr_default_init begin);

/* Initialises the trained parameters of two or more dimensions of all subcells
 * built from here on with XavierUniform, each with its own values, whatever
 * these cells say; what the config says of them holds. */
void cr_xavier_subcells(struct cr_build *b);

/* Initialises row `row` of a parameter of this cell to zeros, whatever its
 * initialiser. A shared parameter keeps the initialiser of its own cell. */
void cr_param_zero_row(struct cr_build *b, struct cr_val *param, int64_t row);

/* Says that an optimizer that can is to update a parameter of this cell by
 * rows: LazyAdam. A shared parameter stays as its own cell has it. */
void cr_param_by_rows(struct cr_build *b, struct cr_val *param);

/* Emits an op: CR_EMIT(b, "linear", NULL, x, w, bias). The attributes must live
 * in the build's arena. Absent optional inputs are NULL at the end, else
 * CR_ABSENT. */
#define CR_EMIT(b, op, attr, ...) \
    cr_emit((b), (op), (attr), \
            (int)(sizeof((struct cr_val *[]){ __VA_ARGS__ }) / \
                  sizeof(struct cr_val *)), \
            (struct cr_val *[]){ __VA_ARGS__ })
#define CR_ABSENT cr_val_absent()
struct cr_val *cr_val_absent(void);
struct cr_val *cr_emit(struct cr_build *b, const char *op, const void *attr,
                       int n, struct cr_val *const *in);

/* Output i of the op that made v; cr_emit returns output 0. */
struct cr_val *cr_output(struct cr_val *v, int i);
/* Number of outputs of the op that made v. */
int cr_outputs(const struct cr_val *v);

/* Several values as one result. The size of a value that is not a tuple is
 * 0. */
#define CR_TUPLE(b, ...) \
    cr_tuple((b), \
             (int)(sizeof((struct cr_val *[]){ __VA_ARGS__ }) / \
                   sizeof(struct cr_val *)), \
             (struct cr_val *[]){ __VA_ARGS__ })
struct cr_val *cr_tuple(struct cr_build *b, int n, struct cr_val *const *vals);
int cr_tuple_size(const struct cr_val *v);
struct cr_val *cr_member(const struct cr_val *v, int i);

/* Emits an op of the cell's own file, which is not in the registry:
 * CR_EMIT_OP(b, &leaky_relu_op, attr, x). */
#define CR_EMIT_OP(b, op, attr, ...) \
    cr_emit_op((b), (op), (attr), \
               (int)(sizeof((struct cr_val *[]){ __VA_ARGS__ }) / \
                     sizeof(struct cr_val *)), \
               (struct cr_val *[]){ __VA_ARGS__ })
struct cr_val *cr_emit_op(struct cr_build *b, const struct cr_op *op,
                          const void *attr, int n, struct cr_val *const *in);

/* Emits the op itself, without calling its .build. */
struct cr_val *cr_emit_itself(struct cr_build *b, const struct cr_op *op,
                              const void *attr, int n,
                              struct cr_val *const *in);

/* A subcell from the config: `node` is a typed node, a map of names or a list.
 * Its parameter names start with `name` ("0", "fc"). */
struct cr_val *cr_child(struct cr_build *b, const char *name,
                        const struct cr_node *node, int n,
                        struct cr_val *const *in);
/* A subcell from a text, "{Dense: {out_channels: 8}}"; messages refer to the
 * position of the cell. call: options of the call, "{need_weights: false}", or
 * NULL. */
struct cr_val *cr_subcell(struct cr_build *b, const char *name,
                          const char *text, const char *call, int n,
                          struct cr_val *const *in);
/* As cr_child, with the initial parameter values of the subcell `like`. */
struct cr_val *cr_child_like(struct cr_build *b, const char *name,
                             const char *like, const struct cr_node *node,
                             int n, struct cr_val *const *in);
/* A cell without parameters, built within this one; messages show its name
 * unless it is NULL. */
struct cr_val *cr_cell_inline(struct cr_build *b, const struct cr_cell *cell,
                              const char *name, const void *opts, int n,
                              struct cr_val *const *in);
/* An activation by its lower-case name ("relu"), as in Dense. */
struct cr_val *cr_activation(struct cr_build *b, const char *name,
                             struct cr_val *x);

#endif
