/*
 * The protobuf messages of TensorBoard's event files, as structs of protobuf-c.
 *
 * They are a part of event.proto, summary.proto, graph.proto of TensorFlow and
 * plugin_data.proto of the HParams plugin, with the field numbers of these.
 * Strings are declared as bytes, which have the same encoding. Numbers that are
 * 0 and members that are NULL are omitted, as proto3 does; a member `has_x`
 * is whether x is present, where 0 differs from absent.
 */
#ifndef CR_TENSORBOARD_MESSAGE_H
#define CR_TENSORBOARD_MESSAGE_H

#include "base/arena.h"

#include <protobuf-c/protobuf-c.h>

/* The initial value of a message: struct cr_tb_event e = CR_TB(event); */
#define CR_TB(name) { .base = { .descriptor = &cr_tb_##name } }

/* SessionLog.status, SummaryMetadata.data_class, TensorProto.dtype,
 * SessionEndInfo.status */
enum { CR_TB_START = 1 };
enum { CR_TB_TENSORS = 2, CR_TB_BLOBS };
enum { CR_TB_FLOAT = 1, CR_TB_DOUBLE, CR_TB_STRING = 7 };
enum { CR_TB_SUCCESS = 1, CR_TB_FAILURE };

struct cr_tb_dim {
    ProtobufCMessage base;
    int64_t size;
};

struct cr_tb_shape {
    ProtobufCMessage base;
    size_t n_dims;
    struct cr_tb_dim **dims;
};

struct cr_tb_tensor {
    ProtobufCMessage base;
    int32_t dtype;
    struct cr_tb_shape *shape;
    ProtobufCBinaryData content; /* little-endian */
    size_t n_strings;
    ProtobufCBinaryData *strings;
};

struct cr_tb_plugin {
    ProtobufCMessage base;
    ProtobufCBinaryData name, content;
};

struct cr_tb_metadata {
    ProtobufCMessage base;
    struct cr_tb_plugin *plugin;
    int32_t data_class;
};

struct cr_tb_value {
    ProtobufCMessage base;
    ProtobufCBinaryData tag;
    protobuf_c_boolean has_simple;
    float simple;
    struct cr_tb_tensor *tensor;
    struct cr_tb_metadata *metadata;
};

struct cr_tb_summary {
    ProtobufCMessage base;
    size_t n_values;
    struct cr_tb_value **values;
};

struct cr_tb_session {
    ProtobufCMessage base;
    int32_t status;
};

struct cr_tb_event {
    ProtobufCMessage base;
    double wall_time; /* seconds since 1970 */
    int64_t step;
    ProtobufCBinaryData version, graph;
    struct cr_tb_summary *summary;
    struct cr_tb_session *session;
};

/* GraphDef */

struct cr_tb_attr_value {
    ProtobufCMessage base;
    ProtobufCBinaryData s;
};

struct cr_tb_attr {
    ProtobufCMessage base;
    ProtobufCBinaryData key;
    struct cr_tb_attr_value *value;
};

struct cr_tb_node {
    ProtobufCMessage base;
    ProtobufCBinaryData name, op;
    size_t n_inputs;
    ProtobufCBinaryData *inputs;
    size_t n_attrs;
    struct cr_tb_attr **attrs;
};

struct cr_tb_versions {
    ProtobufCMessage base;
    int32_t producer;
};

struct cr_tb_graph {
    ProtobufCMessage base;
    size_t n_nodes;
    struct cr_tb_node **nodes;
    struct cr_tb_versions *versions;
};

/* HParamsPluginData */

struct cr_tb_any {
    ProtobufCMessage base;
    protobuf_c_boolean has_number, has_string, has_boolean;
    double number;
    ProtobufCBinaryData string;
    protobuf_c_boolean boolean;
};

struct cr_tb_hparam {
    ProtobufCMessage base;
    ProtobufCBinaryData key;
    struct cr_tb_any *value;
};

struct cr_tb_hparams_start {
    ProtobufCMessage base;
    size_t n_hparams;
    struct cr_tb_hparam **hparams;
    double time;
};

struct cr_tb_hparams_end {
    ProtobufCMessage base;
    int32_t status;
    double time;
};

struct cr_tb_hparams {
    ProtobufCMessage base;
    struct cr_tb_hparams_start *start;
    struct cr_tb_hparams_end *end;
};

extern const ProtobufCMessageDescriptor cr_tb_dim, cr_tb_shape, cr_tb_tensor,
    cr_tb_plugin, cr_tb_metadata, cr_tb_value, cr_tb_summary, cr_tb_session,
    cr_tb_event, cr_tb_attr_value, cr_tb_attr, cr_tb_node, cr_tb_versions,
    cr_tb_graph, cr_tb_any, cr_tb_hparam, cr_tb_hparams_start,
    cr_tb_hparams_end, cr_tb_hparams;

/* The bytes as a member of a message; they are not copied. */
ProtobufCBinaryData cr_tb_bytes(const void *bytes, size_t n);
ProtobufCBinaryData cr_tb_text(const char *text);

/* The encoded message, in the arena. */
ProtobufCBinaryData cr_tb_pack(struct cr_arena *arena,
                               const ProtobufCMessage *message);

#endif
