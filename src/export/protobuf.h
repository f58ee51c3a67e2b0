/*
 * Encodes protobuf messages: fields are appended in the order of the calls.
 * A message inside another is encoded first and then added as bytes.
 * (https://protobuf.dev/programming-guides/encoding/)
 */
#ifndef CR_EXPORT_PROTOBUF_H
#define CR_EXPORT_PROTOBUF_H

#include "base/str.h"

/* Appends the tag of a field and the length of its bytes, which follow. */
void cr_pb_head(struct cr_buf *to, int field, size_t len);
void cr_pb_int(struct cr_buf *to, int field, int64_t value);
void cr_pb_float(struct cr_buf *to, int field, float value);
void cr_pb_text(struct cr_buf *to, int field, const char *text);
void cr_pb_bytes(struct cr_buf *to, int field, const void *data, size_t len);
/* Appends an encoded message. */
void cr_pb_message(struct cr_buf *to, int field, const struct cr_buf *message);

#endif
