/*
 * JSON text as a tree of nodes (RFC 8259): headers of safetensors files, the
 * state in a checkpoint, records of runs. JSON is written with cr_buf_json.
 */
#ifndef CR_CKPT_JSON_H
#define CR_CKPT_JSON_H

#include "base/str.h"
#include "conf/node.h"

/* The value that fills the text, in the arena: objects are maps, members in
 * the order of the text; no key stands twice; at most 64 deep. Integers that
 * do not fit int64 are refused. NULL if the text is no such thing: then *why
 * says what is wrong and *at is the offset of the byte where it shows. */
struct cr_node *cr_json_read(struct cr_arena *arena, const char *text,
                             size_t len, const char **why, size_t *at);

/* JSON is UTF-8, but names of files and fields of tables need not be. A byte
 * that is not UTF-8 is written as U+FFFD and two hexadecimal digits, U+FFFD
 * itself as U+FFFD and 00. Other texts are written as they are. */
void cr_json_put_bytes(struct cr_buf *to, const char *text);
/* The bytes that were written so. */
const char *cr_json_bytes(struct cr_arena *arena, const char *text);

/* Members by key, with a value to take when there is none of that type. */
double cr_json_real(const struct cr_node *node, const char *key, double none);
int64_t cr_json_int(const struct cr_node *node, const char *key, int64_t none);
const char *cr_json_str(const struct cr_node *node, const char *key,
                        const char *none);

#endif
