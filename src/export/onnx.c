/*
 * Export to ONNX: the network as ONNX nodes, its parameters as initializers.
 * https://github.com/onnx/onnx/blob/main/onnx/onnx.proto has the messages and
 * numbers of their fields.
 */
#include "export/onnx.h"

#include <string.h>

#include "base/atomic_file.h"
#include "base/table.h"
#include "base/version.h"
#include "export/protobuf.h"

enum {
    MODEL_IR = 1,
    MODEL_PRODUCER,
    MODEL_VERSION,
    MODEL_GRAPH = 7,
    MODEL_OPSET,
    MODEL_META = 14
};
enum { OPSET_VERSION = 2 };
enum { META_KEY = 1, META_VALUE };
enum { GRAPH_NAME = 2, GRAPH_TENSOR = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT };
enum { TENSOR_DATA = 9 };
enum { VALUE_NAME = 1, VALUE_TYPE };
enum { TYPE_TENSOR = 1 };
enum { TENSOR_ELEMENT = 1, TENSOR_SHAPE };
enum { SHAPE_DIM = 1 };
enum { DIM_VALUE = 1, DIM_PARAM };

/* Readers refuse protobuf messages of 2 GiB and more. */
#define ONNX_BYTES_MAX INT32_MAX

/* ---- Nodes */

static const struct cr_onnx_emitter *onnx_find(const char *op)
{
    static const struct cr_onnx_emitter *const tables[] = {
        cr_onnx_elementwise, cr_onnx_shape, cr_onnx_layers, cr_onnx_rnn
    };

    for (size_t i = 0; i < CR_LEN(tables); i++)
        for (const struct cr_onnx_emitter *e = tables[i]; e->op; e++)
            if (strcmp(e->op, op) == 0)
                return e;
    return NULL;
}

static bool onnx_node(struct cr_onnx *o, int n)
{
    const struct cr_inference_node *node = &o->graph->nodes[n];
    const struct cr_onnx_emitter *e = onnx_find(node->op->about.name);
    const char *y;

    if (o->skip[n])
        return true;
    o->node = node;
    o->scope = node->cell[0] ? node->cell : "network";
    if (!e)
        return cr_onnx_no(o, "no ONNX operator is known for it");
    if (node->attr_varies && !e->reads_shapes)
        return cr_onnx_no(o, "an attribute depends on the batch size");
    y = e->emit(o, e->arg);
    if (y)
        cr_onnx_result(o, 0, y);
    return y != NULL;
}

/* An LSTM of ONNX includes the matrix product of its input, which is a node of
 * its own here: it is skipped if nothing else reads it. */
static void onnx_skip(struct cr_onnx *o)
{
    for (int n = 0; n < o->graph->n_nodes; n++) {
        const struct cr_inference_node *node = &o->graph->nodes[n];
        const struct cr_inference_val *x = &o->graph->vals[node->in[0]];

        for (const struct cr_onnx_emitter *e = cr_onnx_rnn; e->op; e++)
            if (strcmp(e->op, node->op->about.name) == 0 && x->uses == 1 &&
                x->producer >= 0 &&
                strcmp(o->graph->nodes[x->producer].op->about.name, "linear") ==
                    0)
                o->skip[x->producer] = true;
    }
}

/* ---- Inputs and outputs */

/* A ValueInfoProto. Dimensions that are the batch size are called N. */
static struct cr_buf onnx_value(struct cr_onnx *o, const char *name,
                                enum cr_type type, int rank,
                                const int64_t *fixed,
                                const int64_t *per_sample)
{
    struct cr_buf shape = { .arena = o->arena }, tensor = shape, of = shape,
                  value = shape;

    for (int i = 0; i < rank; i++) {
        struct cr_buf dim = { .arena = o->arena };

        if (per_sample[i] == 0)
            cr_pb_int(&dim, DIM_VALUE, fixed[i]);
        else if (per_sample[i] == 1 && fixed[i] == 0)
            cr_pb_text(&dim, DIM_PARAM, "N");
        cr_pb_message(&shape, SHAPE_DIM, &dim);
    }
    cr_pb_int(&tensor, TENSOR_ELEMENT, cr_onnx_type(type));
    cr_pb_message(&tensor, TENSOR_SHAPE, &shape);
    cr_pb_message(&of, TYPE_TENSOR, &tensor);
    cr_pb_text(&value, VALUE_NAME, name);
    cr_pb_message(&value, VALUE_TYPE, &of);
    return value;
}

static bool onnx_inputs(struct cr_onnx *o, struct cr_buf *to)
{
    for (int i = 0; i < o->graph->n_inputs; i++) {
        const struct cr_inference_val *v = &o->graph->vals[o->graph->inputs[i]];
        struct cr_column stored = { .name = v->name };
        int64_t fixed[CR_RANK_MAX + 1], per_sample[CR_RANK_MAX + 1] = { 1 };
        struct cr_buf value;

        cr_name_map_add(o->arena, &o->names, v->name, 0);
        o->name[o->graph->inputs[i]] = v->name;
        if (!o->e->o->normalize) {
            value = onnx_value(o, v->name, v->spec.type, v->spec.rank, v->fixed,
                               v->per_sample);
            cr_pb_message(to, GRAPH_INPUT, &value);
            continue;
        }
        o->scope = v->name;
        o->name[o->graph->inputs[i]] = cr_onnx_transforms(o, i, &stored);
        if (!o->name[o->graph->inputs[i]])
            return false;
        fixed[0] = 0;
        memcpy(fixed + 1, stored.spec.dim,
               (size_t)stored.spec.rank * sizeof *fixed);
        value = onnx_value(o, v->name, stored.spec.type, stored.spec.rank + 1,
                           fixed, per_sample);
        cr_pb_message(to, GRAPH_INPUT, &value);
    }
    return true;
}

/* Results get their names by an Identity, which runtimes remove. */
static void onnx_outputs(struct cr_onnx *o, struct cr_buf *to)
{
    for (int i = 0; i < o->graph->n_results; i++) {
        const struct cr_inference_result *r = &o->graph->results[i];
        const struct cr_inference_val *v = &o->graph->vals[r->val];
        struct cr_buf node = { .arena = o->arena };
        struct cr_buf value = onnx_value(o, r->name, v->spec.type, v->spec.rank,
                                         v->fixed, v->per_sample);

        o->scope = r->name;
        cr_pb_text(&node, 1, cr_onnx_name(o, r->val));
        cr_pb_text(&node, 2, r->name);
        cr_pb_text(&node, 3, r->name);
        cr_pb_text(&node, 4, "Identity");
        cr_pb_message(&o->nodes, 1, &node);
        o->n_nodes++;
        cr_pb_message(to, GRAPH_OUTPUT, &value);
    }
}

/* ---- Metadata */

static void onnx_meta(struct cr_onnx *o, struct cr_buf *to, const char *key,
                      const char *value)
{
    struct cr_buf entry = { .arena = o->arena };

    cr_pb_text(&entry, META_KEY, key);
    cr_pb_text(&entry, META_VALUE, value);
    cr_pb_message(to, MODEL_META, &entry);
}

static void onnx_metas(struct cr_onnx *o, struct cr_buf *to)
{
    const struct cr_model *m = &o->e->model;
    struct cr_buf classes = { .arena = o->arena };
    int64_t n = 0;

    for (const char *name; (name = cr_model_class_name(m, n)) != NULL; n++) {
        cr_buf_str(&classes, n > 0 ? ", " : "[");
        cr_buf_json(&classes, name);
    }
    if (n > 0) {
        cr_buf_char(&classes, ']');
        onnx_meta(o, to, "cellrun.classes", cr_buf_text(&classes));
    }
    if (o->e->config_hash)
        onnx_meta(o, to, "cellrun.config_sha256", o->e->config_hash);
    if (o->e->o->normalize)
        onnx_meta(o, to, "cellrun.normalize", "true");
}

/* ---- The file */

/* Writes model, graph and initializers without a copy of the latter. */
static bool onnx_file(struct cr_onnx *o, struct cr_buf *model,
                      const struct cr_buf *ends)
{
    const char *path = o->e->o->out;
    struct cr_buf *heads = CR_NEWS(o->arena, struct cr_buf, o->n_tensors + 1);
    size_t size = o->nodes.len + ends->len;
    struct cr_atomic_file file;

    for (int i = 0; i < o->n_tensors; i++) {
        const struct cr_onnx_tensor *t = &o->tensor[i];
        struct cr_buf inner = { .arena = o->arena };

        cr_buf_add(&inner, cr_buf_text(&t->head), t->head.len);
        cr_pb_head(&inner, TENSOR_DATA, t->bytes);
        heads[i].arena = o->arena;
        cr_pb_head(&heads[i], GRAPH_TENSOR, inner.len + t->bytes);
        cr_buf_add(&heads[i], cr_buf_text(&inner), inner.len);
        size += heads[i].len + t->bytes;
    }
    if (size + model->len > ONNX_BYTES_MAX - 64)
        return cr_error(o->e->diag, cr_at_file(o->arena, path), CR_E_LIMIT,
                        "the model has %zu bytes, but ONNX files cannot exceed "
                        "2 GiB; --dtype float16 halves the weights",
                        size + model->len);
    cr_pb_head(model, MODEL_GRAPH, size);
    if (!cr_atomic_file_open(&file, o->e->diag, path,
                             (int64_t)(size + model->len)))
        return false;
    cr_atomic_file_write(&file, cr_buf_text(model), model->len);
    cr_atomic_file_write(&file, cr_buf_text(&o->nodes), o->nodes.len);
    for (int i = 0; i < o->n_tensors; i++) {
        cr_atomic_file_write(&file, cr_buf_text(&heads[i]), heads[i].len);
        cr_atomic_file_write(&file, o->tensor[i].data, o->tensor[i].bytes);
    }
    cr_atomic_file_write(&file, cr_buf_text(ends), ends->len);
    return cr_atomic_file_commit(&file);
}

static void onnx_print(const struct cr_onnx *o)
{
    const struct cr_cli *cli = o->e->cli;

    if (cli->json)
        printf("{\"nodes\": %d, \"tensors\": %d}\n", o->n_nodes, o->n_tensors);
    else if (cr_cli_says(cli, o->e->o->out))
        printf("%s: %d node%s, %d tensor%s\n",
               cr_escape(o->arena, o->e->o->out), o->n_nodes,
               o->n_nodes == 1 ? "" : "s", o->n_tensors,
               o->n_tensors == 1 ? "" : "s");
}

static bool onnx_write(struct cr_export *e)
{
    struct cr_arena *arena = e->arena;
    struct cr_onnx *o = CR_NEW(arena, struct cr_onnx);
    struct cr_buf model = { .arena = arena }, ends = model, opset = model;

    o->e = e;
    o->arena = arena;
    o->graph = e->graph;
    o->scope = "network";
    o->nodes.arena = o->attrs.arena = arena;
    o->name = CR_NEWS(arena, const char *, e->graph->n_vals + 1);
    o->skip = CR_NEWS(arena, bool, e->graph->n_nodes + 1);
    cr_pb_text(&ends, GRAPH_NAME, "network");
    for (int i = 0; i < e->graph->n_results; i++)
        cr_name_map_add(arena, &o->names, e->graph->results[i].name, 0);
    onnx_skip(o);
    if (!onnx_inputs(o, &ends))
        return false;
    for (int n = 0; n < e->graph->n_nodes; n++)
        if (!onnx_node(o, n))
            return false;
    onnx_outputs(o, &ends);
    cr_pb_int(&model, MODEL_IR, CR_ONNX_IR);
    cr_pb_text(&model, MODEL_PRODUCER, "cellrun");
    cr_pb_text(&model, MODEL_VERSION, CR_VERSION);
    cr_pb_int(&opset, OPSET_VERSION, CR_ONNX_OPSET);
    cr_pb_message(&model, MODEL_OPSET, &opset);
    onnx_metas(o, &model);
    if (!onnx_file(o, &model, &ends))
        return false;
    onnx_print(o);
    return true;
}

const struct cr_export_format cr_export_onnx = { .name = "onnx",
                                                 .suffix = ".onnx",
                                                 .network = true,
                                                 .write = onnx_write };
