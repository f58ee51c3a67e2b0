#include "export/protobuf.h"

#include <string.h>

enum { VARINT = 0, LENGTH = 2, FIXED32 = 5 }; /* wire types */

static void pb_varint(struct cr_buf *to, uint64_t value)
{
    while (value >= 0x80) {
        cr_buf_char(to, (char)(unsigned char)(value | 0x80));
        value >>= 7;
    }
    cr_buf_char(to, (char)value);
}

static void pb_tag(struct cr_buf *to, int field, int wire)
{
    pb_varint(to, (uint64_t)field << 3 | (uint64_t)wire);
}

void cr_pb_head(struct cr_buf *to, int field, size_t len)
{
    pb_tag(to, field, LENGTH);
    pb_varint(to, len);
}

void cr_pb_int(struct cr_buf *to, int field, int64_t value)
{
    pb_tag(to, field, VARINT);
    pb_varint(to, (uint64_t)value);
}

void cr_pb_float(struct cr_buf *to, int field, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    pb_tag(to, field, FIXED32);
    for (int i = 0; i < 4; i++)
        cr_buf_char(to, (char)(unsigned char)(bits >> 8 * i));
}

void cr_pb_bytes(struct cr_buf *to, int field, const void *data, size_t len)
{
    cr_pb_head(to, field, len);
    cr_buf_add(to, data, len);
}

void cr_pb_text(struct cr_buf *to, int field, const char *text)
{
    cr_pb_bytes(to, field, text, strlen(text));
}

void cr_pb_message(struct cr_buf *to, int field, const struct cr_buf *message)
{
    cr_pb_bytes(to, field, cr_buf_text(message), message->len);
}
