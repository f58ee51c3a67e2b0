/*
 * Nodes, initializers and shapes of an ONNX graph. Numbers of fields are those
 * of onnx.proto.
 */
#include "export/onnx.h"

#include <inttypes.h>
#include <string.h>

#include "export/protobuf.h"

enum { NODE_INPUT = 1, NODE_OUTPUT, NODE_NAME, NODE_TYPE, NODE_ATTR };
enum { ATTR_NAME = 1, ATTR_F, ATTR_I, ATTR_S, ATTR_INTS = 8, ATTR_STRINGS };
enum { ATTR_TYPE = 20 };
enum { IS_FLOAT = 1, IS_INT, IS_STRING, IS_INTS = 7, IS_STRINGS };
enum { GRAPH_NODE = 1 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE, TENSOR_NAME = 8 };

/* ---- Names */

static const char *graph_unique(struct cr_onnx *o, const char *name)
{
    const char *unique = name;

    for (int i = 1; cr_name_map_get(&o->names, unique) >= 0; i++)
        unique = cr_strf(o->arena, "%s_%d", name, i);
    cr_name_map_add(o->arena, &o->names, unique, 0);
    return unique;
}

const struct cr_inference_val *cr_onnx_val(const struct cr_onnx *o, int i)
{
    return i < o->node->n_in && o->node->in[i] >= 0
               ? &o->graph->vals[o->node->in[i]]
               : NULL;
}

const struct cr_inference_val *cr_onnx_out(const struct cr_onnx *o, int i)
{
    return &o->graph->vals[o->node->out[i]];
}

bool cr_onnx_varies(const struct cr_inference_val *v, int from)
{
    for (int i = from; i < v->spec.rank; i++)
        if (v->per_sample[i] != 0)
            return true;
    return false;
}

void cr_onnx_result(struct cr_onnx *o, int i, const char *name)
{
    o->name[o->node->out[i]] = name;
}

const char *cr_onnx_in(struct cr_onnx *o, int i)
{
    return cr_onnx_val(o, i) ? cr_onnx_name(o, o->node->in[i]) : NULL;
}

const char *cr_onnx_no(struct cr_onnx *o, const char *why)
{
    const struct cr_inference_node *n = o->node;

    cr_error(o->e->diag, n->pos, CR_E_NETWORK,
             "export to ONNX: op '%s' of %s%s%s (%s): %s", n->op->about.name,
             n->cell[0] ? "cell '" : "the network", n->cell,
             n->cell[0] ? "'" : "", n->type, why);
    return NULL;
}

/* ---- Nodes */

static void graph_attr(struct cr_onnx *o, const struct cr_buf *attr)
{
    cr_pb_message(&o->attrs, NODE_ATTR, attr);
}

static struct cr_buf graph_attr_new(struct cr_onnx *o, const char *name)
{
    struct cr_buf a = { .arena = o->arena };

    cr_pb_text(&a, ATTR_NAME, name);
    return a;
}

void cr_onnx_int(struct cr_onnx *o, const char *name, int64_t value)
{
    struct cr_buf a = graph_attr_new(o, name);

    cr_pb_int(&a, ATTR_I, value);
    cr_pb_int(&a, ATTR_TYPE, IS_INT);
    graph_attr(o, &a);
}

void cr_onnx_float(struct cr_onnx *o, const char *name, double value)
{
    struct cr_buf a = graph_attr_new(o, name);

    cr_pb_float(&a, ATTR_F, (float)value);
    cr_pb_int(&a, ATTR_TYPE, IS_FLOAT);
    graph_attr(o, &a);
}

void cr_onnx_text(struct cr_onnx *o, const char *name, const char *value)
{
    struct cr_buf a = graph_attr_new(o, name);

    cr_pb_text(&a, ATTR_S, value);
    cr_pb_int(&a, ATTR_TYPE, IS_STRING);
    graph_attr(o, &a);
}

void cr_onnx_ints(struct cr_onnx *o, const char *name, int n, const int64_t *v)
{
    struct cr_buf a = graph_attr_new(o, name);

    for (int i = 0; i < n; i++)
        cr_pb_int(&a, ATTR_INTS, v[i]);
    cr_pb_int(&a, ATTR_TYPE, IS_INTS);
    graph_attr(o, &a);
}

void cr_onnx_texts(struct cr_onnx *o, const char *name, int n,
                   const char *const *v)
{
    struct cr_buf a = graph_attr_new(o, name);

    for (int i = 0; i < n; i++)
        cr_pb_text(&a, ATTR_STRINGS, v[i]);
    cr_pb_int(&a, ATTR_TYPE, IS_STRINGS);
    graph_attr(o, &a);
}

const char **cr_onnx_node(struct cr_onnx *o, const char *type, int n,
                          const char *const *in, int needed, int n_out)
{
    struct cr_buf node = { .arena = o->arena };
    const char **out = CR_NEWS(o->arena, const char *, n_out);
    bool ok = true;

    for (int i = 0; i < needed; i++)
        ok = ok && in[i];
    while (n > 0 && (!in[n - 1] || !in[n - 1][0]))
        n--;
    for (int i = 0; i < n; i++)
        cr_pb_text(&node, NODE_INPUT, in[i] ? in[i] : "");
    for (int i = 0; i < n_out && ok; i++) {
        out[i] = graph_unique(o, cr_strf(o->arena, "%s/%s", o->scope, type));
        cr_pb_text(&node, NODE_OUTPUT, out[i]);
    }
    if (ok) {
        cr_pb_text(&node, NODE_NAME, out[0]);
        cr_pb_text(&node, NODE_TYPE, type);
        cr_buf_add(&node, cr_buf_text(&o->attrs), o->attrs.len);
        cr_pb_message(&o->nodes, GRAPH_NODE, &node);
        o->n_nodes++;
    }
    o->attrs = (struct cr_buf){ .arena = o->arena };
    return out;
}

const char *cr_onnx_op(struct cr_onnx *o, const char *type, int n,
                       const char *const *in)
{
    return cr_onnx_node(o, type, n, in, n, 1)[0];
}

/* ---- Types */

/* Models are float32, also those of a build with REAL=double: onnxruntime has
 * no double kernels for convolution, pooling and recurrent layers. */
static enum cr_type graph_stored(enum cr_type type)
{
    return type == CR_REAL ? CR_F32 : type;
}

/* The elements of a tensor as stored; *spec gets their type. */
static const void *graph_elements(struct cr_onnx *o, struct cr_spec *spec,
                                  enum cr_type type, const void *data)
{
    int64_t n = cr_count(spec);
    void *to = cr_alloc(o->arena, (size_t)n + 1, cr_type_size(type));

    if (cr_type_stored(spec->type) == type)
        memcpy(to, data, cr_bytes(spec));
    else
        cr_convert(spec->type, data, type, to, n);
    spec->type = type;
    return to;
}

int cr_onnx_type(enum cr_type type)
{
    switch (graph_stored(type)) {
    case CR_F64:
        return CR_ONNX_DOUBLE;
    case CR_F16:
        return CR_ONNX_FLOAT16;
    case CR_BF16:
        return CR_ONNX_BFLOAT16;
    case CR_I32:
        return CR_ONNX_INT32;
    case CR_I8:
        return CR_ONNX_INT8;
    case CR_U16:
        return CR_ONNX_UINT16;
    case CR_I16:
        return CR_ONNX_INT16;
    case CR_U32:
        return CR_ONNX_UINT32;
    case CR_U64:
        return CR_ONNX_UINT64;
    case CR_I64:
        return CR_ONNX_INT64;
    case CR_U8:
        return CR_ONNX_UINT8;
    case CR_BOOL:
        return CR_ONNX_BOOL;
    default:
        return CR_ONNX_FLOAT;
    }
}

const char *cr_onnx_cast(struct cr_onnx *o, const char *x, enum cr_type type)
{
    cr_onnx_int(o, "to", cr_onnx_type(type));
    return CR_ONNX(o, "Cast", x);
}

const char *cr_onnx_in_as(struct cr_onnx *o, int i, enum cr_type type)
{
    const struct cr_inference_val *v = cr_onnx_val(o, i);

    return v && v->spec.type != type ? cr_onnx_cast(o, cr_onnx_in(o, i), type)
                                     : cr_onnx_in(o, i);
}

/* ---- Initializers */

const char *cr_onnx_tensor(struct cr_onnx *o, const char *name, int type,
                           const struct cr_spec *spec, const void *data)
{
    struct cr_onnx_tensor *t;

    if (o->n_tensors == o->cap_tensors) {
        int cap = 2 * o->cap_tensors + 64;

        o->tensor = cr_grow(o->arena, o->tensor, (size_t)o->n_tensors,
                            (size_t)cap, sizeof *o->tensor);
        o->cap_tensors = cap;
    }
    t = &o->tensor[o->n_tensors++];
    *t = (struct cr_onnx_tensor){ .head = { .arena = o->arena },
                                  .data = data,
                                  .bytes = cr_bytes(spec) };
    name = graph_unique(o, name);
    for (int i = 0; i < spec->rank; i++)
        cr_pb_int(&t->head, TENSOR_DIMS, spec->dim[i]);
    cr_pb_int(&t->head, TENSOR_TYPE, type);
    cr_pb_text(&t->head, TENSOR_NAME, name);
    return name;
}

/* An initializer that is written once for equal contents. */
static const char *graph_known(struct cr_onnx *o, const struct cr_spec *spec,
                               const void *data)
{
    struct cr_buf key = { .arena = o->arena };
    void *copy = cr_alloc(o->arena, cr_bytes(spec) + 1, 1);
    const unsigned char *bytes = data;
    int at;

    cr_buf_f(&key, "%d %s ", (int)spec->type, cr_diag_format(o->arena, spec));
    for (size_t i = 0; i < cr_bytes(spec); i++)
        cr_buf_f(&key, "%02x", bytes[i]);
    at = cr_name_map_get(&o->known, cr_buf_text(&key));
    if (at >= 0)
        return o->known_name[at];
    if (o->n_known == o->cap_known) {
        int cap = 2 * o->cap_known + 64;

        o->known_name = cr_grow(o->arena, o->known_name, (size_t)o->n_known,
                                (size_t)cap, sizeof *o->known_name);
        o->cap_known = cap;
    }
    cr_name_map_add(o->arena, &o->known, cr_buf_text(&key), o->n_known);
    memcpy(copy, data, cr_bytes(spec));
    o->known_name[o->n_known] = cr_onnx_tensor(
        o, "const", cr_onnx_type(spec->type), spec, copy);
    return o->known_name[o->n_known++];
}

const char *cr_onnx_number(struct cr_onnx *o, enum cr_type type, double value)
{
    struct cr_spec spec = { .type = graph_stored(type) };
    char data[8];

    cr_convert(CR_F64, &value, spec.type, data, 1);
    return graph_known(o, &spec, data);
}

const char *cr_onnx_list(struct cr_onnx *o, int n, const int64_t *v)
{
    struct cr_spec spec = { .type = CR_I64, .rank = 1, .dim = { n } };

    return graph_known(o, &spec, v);
}

const char *cr_onnx_one(struct cr_onnx *o, int64_t value)
{
    return cr_onnx_list(o, 1, &value);
}

const char *cr_onnx_reals(struct cr_onnx *o, const struct cr_spec *spec,
                          const cr_real *v)
{
    struct cr_spec stored = *spec;
    const void *data = graph_elements(o, &stored, CR_F32, v);

    return cr_onnx_tensor(o, cr_strf(o->arena, "%s/const", o->scope),
                          CR_ONNX_FLOAT, &stored, data);
}

/* A parameter or a constant. Parameters have the type of --dtype. */
static const char *graph_data(struct cr_onnx *o,
                              const struct cr_inference_val *v)
{
    struct cr_spec spec = v->spec;
    const void *data = v->data;
    bool real = v->spec.type == CR_REAL;
    enum cr_type type = CR_F32;
    const char *name;

    if (real && v->param >= 0 && o->e->dtype != CR_TYPES)
        type = o->e->dtype;
    if (real && cr_type_stored(CR_REAL) != type)
        data = graph_elements(o, &spec, type, v->data);
    name = cr_onnx_tensor(o, v->name, cr_onnx_type(spec.type), &spec, data);
    return real && type != CR_F32 ? cr_onnx_cast(o, name, CR_REAL) : name;
}

const char *cr_onnx_name(struct cr_onnx *o, int val)
{
    if (!o->name[val] && o->graph->vals[val].data) {
        struct cr_buf attrs = o->attrs; /* of the node that comes next */

        o->attrs = (struct cr_buf){ .arena = o->arena };
        o->name[val] = graph_data(o, &o->graph->vals[val]);
        o->attrs = attrs;
    }
    return o->name[val];
}

/* ---- Shapes */

/* The batch size as int64 [1], from the first input that has it. */
static const char *graph_batch(struct cr_onnx *o)
{
    const struct cr_inference *g = o->graph;

    for (int k = 0; k < g->n_inputs && !o->batch; k++) {
        const struct cr_inference_val *v = &g->vals[g->inputs[k]];

        if (v->spec.rank == 0 || v->per_sample[0] != 1 || v->fixed[0] != 0)
            continue;
        cr_onnx_int(o, "start", 0);
        cr_onnx_int(o, "end", 1);
        o->batch = CR_ONNX(o, "Shape", cr_onnx_name(o, g->inputs[k]));
    }
    return o->batch ? o->batch : cr_onnx_no(o, "no input has the batch size");
}

/* per_sample * N + fixed as int64 [1]. */
static const char *graph_dim(struct cr_onnx *o,
                             const struct cr_inference_val *v, int i)
{
    const char *n;

    if (v->per_sample[i] == 0)
        return cr_onnx_one(o, v->fixed[i]);
    n = graph_batch(o);
    if (v->per_sample[i] != 1)
        n = CR_ONNX(o, "Mul", n, cr_onnx_one(o, v->per_sample[i]));
    if (v->fixed[i] != 0)
        n = CR_ONNX(o, "Add", n, cr_onnx_one(o, v->fixed[i]));
    return n;
}

const char *cr_onnx_shape_of(struct cr_onnx *o,
                             const struct cr_inference_val *v)
{
    const char *dim[CR_RANK_MAX];

    if (!v->batch)
        return cr_onnx_list(o, v->spec.rank, v->spec.dim);
    for (int i = 0; i < v->spec.rank; i++)
        dim[i] = graph_dim(o, v, i);
    if (v->spec.rank == 1)
        return dim[0];
    cr_onnx_int(o, "axis", 0);
    return cr_onnx_op(o, "Concat", v->spec.rank, dim);
}

const char *cr_onnx_to(struct cr_onnx *o, const char *x, int n,
                       const int64_t *shape)
{
    return CR_ONNX(o, "Reshape", x, cr_onnx_list(o, n, shape));
}

const char *cr_onnx_reshape(struct cr_onnx *o, const char *x,
                            const struct cr_inference_val *v)
{
    int64_t shape[CR_RANK_MAX];
    int open = 0;

    for (int i = 0; i < v->spec.rank; i++) {
        shape[i] = v->per_sample[i] ? -1 : v->fixed[i];
        open += v->per_sample[i] != 0;
    }
    return open <= 1 ? cr_onnx_to(o, x, v->spec.rank, shape)
                     : CR_ONNX(o, "Reshape", x, cr_onnx_shape_of(o, v));
}

const char *cr_onnx_transpose(struct cr_onnx *o, const char *x, int n,
                              const int64_t *perm)
{
    cr_onnx_ints(o, "perm", n, perm);
    return CR_ONNX(o, "Transpose", x);
}

const char *cr_onnx_unsqueeze(struct cr_onnx *o, const char *x, int64_t axis)
{
    return CR_ONNX(o, "Unsqueeze", x, cr_onnx_one(o, axis));
}

const char *cr_onnx_squeeze(struct cr_onnx *o, const char *x, int64_t axis)
{
    return CR_ONNX(o, "Squeeze", x, cr_onnx_one(o, axis));
}

const char *cr_onnx_slice(struct cr_onnx *o, const char *x, int64_t axis,
                          int64_t from, int64_t to)
{
    return CR_ONNX(o, "Slice", x, cr_onnx_one(o, from), cr_onnx_one(o, to),
                   cr_onnx_one(o, axis));
}
