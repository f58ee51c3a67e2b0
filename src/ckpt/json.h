/*
 * JSON text as a tree of nodes (RFC 8259): headers of safetensors files, the
 * state in a checkpoint, records of runs. JSON is written with cr_buf_json.
 */
#ifndef CR_CKPT_JSON_H
#define CR_CKPT_JSON_H

#include "base/str.h"
#include "conf/node.h"

/* Parses the text as one JSON value, in the arena: objects are maps with
 * members in the order of the text, without duplicate keys, at most 64 levels
 * deep. Integers must fit int64. NULL if the text is not valid: then *why is
 * the reason and *at the offset of the byte where it was found. */
struct cr_node *cr_json_read(struct cr_arena *arena, const char *text,
                             size_t len, const char **why, size_t *at);

/* JSON is UTF-8, but names of files and fields of tables need not be. A byte
 * that is not UTF-8 is written as U+FFFD and two hexadecimal digits, U+FFFD
 * itself as U+FFFD and 00. Other texts are written as they are. */
void cr_json_put_bytes(struct cr_buf *to, const char *text);
/* The bytes from which cr_json_put_bytes wrote the text. */
const char *cr_json_bytes(struct cr_arena *arena, const char *text);

/* The member with this key, or `none` if it does not exist or has another
 * type. */
double cr_json_real(const struct cr_node *node, const char *key, double none);
int64_t cr_json_int(const struct cr_node *node, const char *key, int64_t none);
const char *cr_json_str(const struct cr_node *node, const char *key,
                        const char *none);

#endif
