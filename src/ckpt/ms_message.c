/*
 * protobuf-c, which is met here only.
 *
 *   Checkpoint  { repeated Value value = 1 }
 *   Value       { required tag = 1; tensor = 2 or maptensor = 3 }
 *   TensorProto { repeated int64 dims = 1; required tensor_type = 2;
 *                 required tensor_content = 3 }
 *
 * The descriptors stand here instead of in a file that protoc-c makes: they
 * are short, and so building needs the library alone and not its compiler.
 * Texts are `bytes` in them, which is the same on disk and keeps their
 * lengths: a NUL in a name is noticed. What is in a maptensor nobody asks.
 */
#include "ckpt/ms_message.h"

#include <string.h>

#include <protobuf-c/protobuf-c.h>

struct tensor {
    ProtobufCMessage base;
    size_t n_dims;
    int64_t *dims;
    ProtobufCBinaryData type, content;
};

struct value {
    ProtobufCMessage base;
    ProtobufCBinaryData tag;
    struct tensor *tensor;
    protobuf_c_boolean has_map;
    ProtobufCBinaryData map;
};

struct checkpoint {
    ProtobufCMessage base;
    size_t n_values;
    struct value **values;
};

#define FIELD(number, is, kind, of, member)                          \
    .name = #member, .id = (number), .label = PROTOBUF_C_LABEL_##is, \
    .type = PROTOBUF_C_TYPE_##kind, .offset = offsetof(struct of, member)

static const ProtobufCFieldDescriptor tensor_fields[] = {
    { FIELD(CR_MS_DIMS, REPEATED, INT64, tensor, dims),
      .quantifier_offset = offsetof(struct tensor, n_dims) },
    { FIELD(CR_MS_TYPE, REQUIRED, BYTES, tensor, type) },
    { FIELD(CR_MS_CONTENT, REQUIRED, BYTES, tensor, content) },
};

/* Numbers from 1 on, in one range; the second entry ends the list. */
static const ProtobufCIntRange three[] = { { 1, 0 }, { 0, 3 } };
static const ProtobufCIntRange one[] = { { 1, 0 }, { 0, 1 } };

static const ProtobufCMessageDescriptor tensor_is = {
    .magic = PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC,
    .name = "TensorProto",
    .sizeof_message = sizeof(struct tensor),
    .n_fields = 3,
    .fields = tensor_fields,
    .n_field_ranges = 1,
    .field_ranges = three,
};

static const ProtobufCFieldDescriptor value_fields[] = {
    { FIELD(CR_MS_TAG, REQUIRED, BYTES, value, tag) },
    { FIELD(CR_MS_TENSOR, OPTIONAL, MESSAGE, value, tensor),
      .descriptor = &tensor_is },
    { FIELD(CR_MS_MAP, OPTIONAL, BYTES, value, map),
      .quantifier_offset = offsetof(struct value, has_map) },
};

static const ProtobufCMessageDescriptor value_is = {
    .magic = PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC,
    .name = "Value",
    .sizeof_message = sizeof(struct value),
    .n_fields = 3,
    .fields = value_fields,
    .n_field_ranges = 1,
    .field_ranges = three,
};

static const ProtobufCFieldDescriptor checkpoint_fields[] = {
    { FIELD(CR_MS_VALUE, REPEATED, MESSAGE, checkpoint, values),
      .quantifier_offset = offsetof(struct checkpoint, n_values),
      .descriptor = &value_is },
};

static const ProtobufCMessageDescriptor checkpoint_is = {
    .magic = PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC,
    .name = "Checkpoint",
    .sizeof_message = sizeof(struct checkpoint),
    .n_fields = 1,
    .fields = checkpoint_fields,
    .n_field_ranges = 1,
    .field_ranges = one,
};

/* ---- Unpacking */

static void *message_alloc(void *arena, size_t n)
{
    return cr_alloc(arena, n, 1);
}

static void message_free(void *arena, void *p)
{
    (void)arena; /* it goes with all the rest */
    (void)p;
}

static struct cr_ms_bytes message_bytes(ProtobufCBinaryData from)
{
    return (struct cr_ms_bytes){ (const char *)from.data, from.len };
}

bool cr_ms_unpack(struct cr_arena *arena, const void *bytes, size_t n,
                  struct cr_ms_value *to)
{
    ProtobufCAllocator from = { message_alloc, message_free, arena };
    const struct value *v = (const struct value *)protobuf_c_message_unpack(
        &value_is, &from, n, bytes);

    if (!v)
        return false;
    *to = (struct cr_ms_value){ .tag = message_bytes(v->tag),
                                .has_tensor = v->tensor != NULL,
                                .has_map = v->has_map != 0 };
    if (v->tensor) {
        to->type = message_bytes(v->tensor->type);
        to->content = message_bytes(v->tensor->content);
        to->n_dims = v->tensor->n_dims;
        to->dims = v->tensor->dims;
    }
    return true;
}

/* ---- Packing */

struct message {
    struct checkpoint checkpoint;
    struct value value, *only;
    struct tensor tensor;
};

/* The library's structs have no const. */
static ProtobufCBinaryData message_from(struct cr_ms_bytes from)
{
    ProtobufCBinaryData to = { .len = from.n };

    memcpy(&to.data, &from.at, sizeof to.data);
    return to;
}

static const ProtobufCMessage *message_make(const struct cr_ms_value *v,
                                            struct message *m)
{
    *m = (struct message){ 0 };
    m->checkpoint.base.descriptor = &checkpoint_is;
    m->value.base.descriptor = &value_is;
    m->tensor.base.descriptor = &tensor_is;
    m->checkpoint.n_values = 1;
    m->checkpoint.values = &m->only;
    m->only = &m->value;
    m->value.tag = message_from(v->tag);
    m->value.tensor = &m->tensor;
    m->tensor.n_dims = v->n_dims;
    memcpy(&m->tensor.dims, &v->dims, sizeof m->tensor.dims);
    m->tensor.type = message_from(v->type);
    m->tensor.content = message_from(v->content);
    return &m->checkpoint.base;
}

struct sink {
    ProtobufCBuffer base;
    void (*put)(void *to, const void *bytes, size_t n);
    void *to;
};

static void sink_append(ProtobufCBuffer *base, size_t n, const uint8_t *bytes)
{
    struct sink *sink = (struct sink *)base;

    sink->put(sink->to, bytes, n);
}

size_t cr_ms_packed(const struct cr_ms_value *value)
{
    struct message m;

    return protobuf_c_message_get_packed_size(message_make(value, &m));
}

void cr_ms_pack(const struct cr_ms_value *value,
                void (*put)(void *to, const void *bytes, size_t n), void *to)
{
    struct sink sink = { { sink_append }, put, to };
    struct message m;

    protobuf_c_message_pack_to_buffer(message_make(value, &m), &sink.base);
}
