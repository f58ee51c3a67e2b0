/*
 * The ONNX model being made (onnx.c), and what emitters use.
 *
 * An emitter writes one op of the network as ONNX nodes and returns the name of
 * its result. Names of tensors are texts; NULL in gives NULL out, so emitters
 * check nothing in between. Attributes are set before the node that has them:
 *
 *   cr_onnx_int(o, "axis", 1);
 *   return CR_ONNX(o, "Softmax", cr_onnx_in(o, 0));
 *
 *   onnx_graph.c       nodes, initializers, shapes
 *   onnx_elementwise.c, onnx_shape.c, onnx_layers.c, onnx_rnn.c   the emitters
 */
#ifndef CR_EXPORT_ONNX_H
#define CR_EXPORT_ONNX_H

#include "base/name_map.h"
#include "base/str.h"
#include "export/export.h"

/* Opset 17 has LayerNormalization; onnxruntime reads it since 1.12. */
enum { CR_ONNX_OPSET = 17, CR_ONNX_IR = 8 };

/* TensorProto.DataType */
enum {
    CR_ONNX_FLOAT = 1,
    CR_ONNX_UINT8 = 2,
    CR_ONNX_INT8 = 3,
    CR_ONNX_UINT16 = 4,
    CR_ONNX_INT16 = 5,
    CR_ONNX_INT32 = 6,
    CR_ONNX_INT64 = 7,
    CR_ONNX_BOOL = 9,
    CR_ONNX_FLOAT16 = 10,
    CR_ONNX_DOUBLE = 11,
    CR_ONNX_UINT32 = 12,
    CR_ONNX_UINT64 = 13,
    CR_ONNX_BFLOAT16 = 16
};

struct cr_onnx_tensor {
    struct cr_buf head; /* the TensorProto without its data */
    const void *data;
    size_t bytes;
};

struct cr_onnx {
    struct cr_export *e;
    struct cr_arena *arena;
    const struct cr_inference *graph;
    const struct cr_inference_node *node; /* being written; NULL: none */
    const char *scope;                    /* of names of nodes */
    const char **name; /* of the tensor of each value; NULL: not yet */
    bool *skip;        /* nodes that another one includes */
    struct cr_buf nodes, attrs;
    int n_nodes;
    struct cr_onnx_tensor *tensor; /* the initializers */
    int n_tensors, cap_tensors;
    struct cr_name_map names, known; /* all; initializers by content */
    const char **known_name;
    int n_known, cap_known;
    const char *batch; /* int64 [1]: the batch size; NULL: not yet */
};

typedef const char *cr_onnx_emit(struct cr_onnx *o, const char *arg);

/* An emitter by the name of its op. */
struct cr_onnx_emitter {
    const char *op;
    cr_onnx_emit *emit;
    const char *arg;    /* of the emitter: mostly the type of the ONNX node */
    bool reads_shapes;  /* uses attributes that depend on the batch size by
                           shapes only, or checks them */
};
/* Each ends with a zero row. */
extern const struct cr_onnx_emitter cr_onnx_elementwise[], cr_onnx_shape[],
    cr_onnx_layers[], cr_onnx_rnn[];

/* ---- onnx_graph.c */

/* Sets an attribute of the next node. */
void cr_onnx_int(struct cr_onnx *o, const char *name, int64_t value);
void cr_onnx_float(struct cr_onnx *o, const char *name, double value);
void cr_onnx_text(struct cr_onnx *o, const char *name, const char *value);
void cr_onnx_ints(struct cr_onnx *o, const char *name, int n,
                  const int64_t *v);
void cr_onnx_texts(struct cr_onnx *o, const char *name, int n,
                   const char *const *v);

/* Adds a node with n inputs ("" or NULL: absent) and n_out results, whose names
 * are returned; `needed` leading inputs must not be NULL. */
const char **cr_onnx_node(struct cr_onnx *o, const char *type, int n,
                          const char *const *in, int needed, int n_out);
/* The same for one result, which is returned; all inputs are needed. */
const char *cr_onnx_op(struct cr_onnx *o, const char *type, int n,
                       const char *const *in);
#define CR_ONNX(o, type, ...)                                               \
    cr_onnx_op((o), (type),                                                 \
               (int)(sizeof((const char *[]){ __VA_ARGS__ }) /              \
                     sizeof(const char *)),                                 \
               (const char *[]){ __VA_ARGS__ })

/* Inputs of the node of the network: their values (NULL: absent) and names. */
const struct cr_inference_val *cr_onnx_val(const struct cr_onnx *o, int i);
const char *cr_onnx_in(struct cr_onnx *o, int i);
const struct cr_inference_val *cr_onnx_out(const struct cr_onnx *o, int i);
/* Whether a dimension of v from `from` on depends on the batch size. */
bool cr_onnx_varies(const struct cr_inference_val *v, int from);
/* Sets the name of result i > 0; emitters return that of result 0. */
void cr_onnx_result(struct cr_onnx *o, int i, const char *name);
/* The name of any value. */
const char *cr_onnx_name(struct cr_onnx *o, int val);

/* The number of a type in ONNX; CR_REAL is float32. */
int cr_onnx_type(enum cr_type type);
/* Input i in another type: itself, or what a Cast makes of it. */
const char *cr_onnx_in_as(struct cr_onnx *o, int i, enum cr_type type);
const char *cr_onnx_cast(struct cr_onnx *o, const char *x, enum cr_type type);

/* Initializers: a number of that type as a scalar, a list of integers, a list
 * of one integer, an array of real numbers with a shape. */
const char *cr_onnx_number(struct cr_onnx *o, enum cr_type type, double value);
const char *cr_onnx_list(struct cr_onnx *o, int n, const int64_t *v);
const char *cr_onnx_one(struct cr_onnx *o, int64_t value);
const char *cr_onnx_reals(struct cr_onnx *o, const struct cr_spec *spec,
                          const cr_real *v);
/* Adds an initializer of that type and shape under a unique name. */
const char *cr_onnx_tensor(struct cr_onnx *o, const char *name, int type,
                           const struct cr_spec *spec, const void *data);

/* The shape of a value as int64: an initializer, or computed from the batch
 * size. */
const char *cr_onnx_shape_of(struct cr_onnx *o,
                             const struct cr_inference_val *v);
/* x in the shape of v, which has as many elements. */
const char *cr_onnx_reshape(struct cr_onnx *o, const char *x,
                            const struct cr_inference_val *v);
/* x in a constant shape; 0 keeps a dimension, -1 is inferred. */
const char *cr_onnx_to(struct cr_onnx *o, const char *x, int n,
                       const int64_t *shape);
const char *cr_onnx_transpose(struct cr_onnx *o, const char *x, int n,
                              const int64_t *perm);
const char *cr_onnx_unsqueeze(struct cr_onnx *o, const char *x, int64_t axis);
const char *cr_onnx_squeeze(struct cr_onnx *o, const char *x, int64_t axis);
/* x[from:to] along an axis. */
const char *cr_onnx_slice(struct cr_onnx *o, const char *x, int64_t axis,
                          int64_t from, int64_t to);

/* Reports that the node has no ONNX form, and why; returns NULL. */
const char *cr_onnx_no(struct cr_onnx *o, const char *why);

/* ---- onnx_transforms.c */

/* Puts the fixed transforms of the datapipe between input number i of the
 * graph and the network. Sets the column as stored; returns the name of the
 * transformed tensor, NULL after reporting. */
const char *cr_onnx_transforms(struct cr_onnx *o, int i,
                               struct cr_column *stored);

#endif
