/*
 * The only file that uses jansson. Its tree is copied into nodes of the arena
 * and freed at once, so that no other code has to count references.
 *
 * jansson checks UTF-8, escapes, surrogates and duplicate keys, but allows
 * 2048 levels and any number of values. Both are limited here, before it
 * parses the text.
 */
#include "ckpt/json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#define JSON_DEPTH 64
/* A tensor of a header has ten values, so this allows 400,000 tensors. */
#define JSON_VALUES (4u << 20)

static bool json_check_limits(const char *text, size_t len, const char **why,
                              size_t *at)
{
    size_t values = 1;
    int depth = 0;
    bool string = false;

    for (size_t i = 0; i < len; i++) {
        char c = text[i];

        *at = i;
        if (string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                string = false;
        } else if (c == '"') {
            string = true;
        } else if (c == '{' || c == '[') {
            depth++;
            values++;
        } else if (c == '}' || c == ']') {
            depth--;
        } else if (c == ',') {
            values++;
        }
        if (depth > JSON_DEPTH) {
            *why = "more than 64 levels deep";
            return false;
        }
        if (values > JSON_VALUES) {
            *why = "more than 4 million values";
            return false;
        }
    }
    return true;
}

static struct cr_node *json_node(struct cr_arena *arena, json_t *value)
{
    struct cr_node *node = CR_NEW(arena, struct cr_node), **link;
    const char *key;
    json_t *member;
    size_t i;

    link = &node->child;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        node->kind = CR_NODE_MAP;
        json_object_foreach(value, key, member)
        {
            *link = json_node(arena, member);
            (*link)->key = cr_strdup(arena, key);
            link = &(*link)->next;
        }
        break;
    case JSON_ARRAY:
        node->kind = CR_NODE_LIST;
        json_array_foreach(value, i, member)
        {
            *link = json_node(arena, member);
            link = &(*link)->next;
        }
        break;
    case JSON_STRING:
        node->kind = CR_NODE_STR;
        node->quoted = true;
        node->text = cr_strndup(arena, json_string_value(value),
                                json_string_length(value));
        break;
    case JSON_INTEGER:
        node->kind = CR_NODE_INT;
        node->integer = json_integer_value(value);
        node->real = (double)node->integer;
        node->text = cr_strf(arena, "%lld", (long long)node->integer);
        break;
    case JSON_REAL:
        node->kind = CR_NODE_REAL;
        node->real = json_real_value(value);
        node->text = cr_strf(arena, "%.17g", node->real);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        node->kind = CR_NODE_BOOL;
        node->boolean = json_is_true(value);
        node->text = node->boolean ? "true" : "false";
        break;
    case JSON_NULL:
        node->kind = CR_NODE_NULL;
        break;
    }
    return node;
}

struct cr_node *cr_json_read(struct cr_arena *arena, const char *text,
                             size_t len, const char **why, size_t *at)
{
    struct cr_node *node;
    json_error_t error;
    json_t *value;

    *at = 0;
    if (!json_check_limits(text, len, why, at))
        return NULL;
    value =
        json_loadb(text, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (!value && json_error_code(&error) == json_error_out_of_memory)
        cr_out_of_memory(len);
    if (!value) {
        *why = cr_strdup(arena, error.text);
        *at = error.position > 0 ? (size_t)error.position : 0;
        return NULL;
    }
    node = json_node(arena, value);
    json_decref(value);
    return node;
}

/* ---- Bytes */

#define JSON_MARK "\xef\xbf\xbd" /* U+FFFD */
#define JSON_MARK_CODE 0xfffd

void cr_json_put_bytes(struct cr_buf *to, const char *text)
{
    struct cr_buf marked = { .arena = to->arena };
    size_t left = strlen(text);

    while (left > 0) {
        uint32_t code = 0;
        int len = cr_utf8(text, left, &code);

        if (len == 0 || code == JSON_MARK_CODE) {
            cr_buf_f(&marked, JSON_MARK "%02x",
                     len == 0 ? (unsigned)(unsigned char)*text : 0);
            len = len == 0 ? 1 : len;
        } else {
            cr_buf_add(&marked, text, (size_t)len);
        }
        text += len;
        left -= (size_t)len;
    }
    cr_buf_json(to, cr_buf_text(&marked));
}

static int json_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

const char *cr_json_bytes(struct cr_arena *arena, const char *text)
{
    const size_t mark = strlen(JSON_MARK);
    struct cr_buf to = { .arena = arena };

    while (*text) {
        int high = -1, low = -1;

        if (cr_starts(text, JSON_MARK)) {
            high = json_digit(text[mark]);
            low = high < 0 ? -1 : json_digit(text[mark + 1]);
        }
        if (low < 0) {
            cr_buf_char(&to, *text++);
            continue;
        }
        if (high == 0 && low == 0)
            cr_buf_str(&to, JSON_MARK);
        else
            cr_buf_char(&to, (char)(16 * high + low));
        text += mark + 2;
    }
    return cr_buf_text(&to);
}

/* ---- Members */

double cr_json_real(const struct cr_node *node, const char *key, double none)
{
    const struct cr_node *m = cr_node_get(node, key);

    return m && (m->kind == CR_NODE_INT || m->kind == CR_NODE_REAL) ? m->real
                                                                    : none;
}

int64_t cr_json_int(const struct cr_node *node, const char *key, int64_t none)
{
    const struct cr_node *m = cr_node_get(node, key);

    return m && m->kind == CR_NODE_INT ? m->integer : none;
}

const char *cr_json_str(const struct cr_node *node, const char *key,
                        const char *none)
{
    const struct cr_node *m = cr_node_get(node, key);

    return m && m->kind == CR_NODE_STR ? m->text : none;
}
