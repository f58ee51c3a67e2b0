/*
 * Packs and unpacks the protobuf messages of MindSpore's checkpoints. Used by
 * ms_ckpt.c only.
 */
#ifndef CR_CKPT_MS_MESSAGE_H
#define CR_CKPT_MS_MESSAGE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

/* field numbers */
enum {
    CR_MS_VALUE = 1
};
enum {
    CR_MS_TAG = 1,
    CR_MS_TENSOR,
    CR_MS_MAP
};
enum {
    CR_MS_DIMS = 1,
    CR_MS_TYPE,
    CR_MS_CONTENT
};

/* Bytes, which may include NUL. */
struct cr_ms_bytes {
    const char *at;
    size_t n;
};

/* A Value: one tensor, or a slice of one. */
struct cr_ms_value {
    struct cr_ms_bytes tag, type;
    bool has_tensor, has_map;
    size_t n_dims;
    const int64_t *dims;
    struct cr_ms_bytes content;
};

/* Parses a Value; false if the bytes are not a Value or lack a required field.
 * *to points into the arena. */
bool cr_ms_unpack(struct cr_arena *arena, const void *bytes, size_t n,
                  struct cr_ms_value *to);

/* The size of a Checkpoint that contains this Value, and its bytes, passed to
 * `put` in pieces; the content is passed without a copy. */
size_t cr_ms_packed(const struct cr_ms_value *value);
void cr_ms_pack(const struct cr_ms_value *value,
                void (*put)(void *to, const void *bytes, size_t n), void *to);

#endif
