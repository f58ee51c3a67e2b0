/*
 * The only file that uses jansson. Its tree is copied into nodes of the arena
 * and freed at once, so that no other code has to count references. Small plain
 * texts, such as the records of runs, are parsed here without it: `runs` reads
 * thousands of them.
 *
 * jansson checks UTF-8, escapes, surrogates and duplicate keys, but allows
 * 2048 levels and any number of values. Both are limited here, before it
 * parses the text.
 */
#include "ckpt/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
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

/* ---- Plain texts: printable ASCII without escapes, and objects of at most
 * PLAIN_MEMBERS. Whatever else the text holds, valid or not, is left to
 * jansson. */

#define PLAIN_MEMBERS 64
#define PLAIN_DEPTH 8
#define PLAIN_DIGITS 18 /* of an integer: fits int64 */

struct plain {
    struct cr_arena *arena;
    const char *at, *end;
};

static char plain_next(struct plain *p)
{
    while (p->at < p->end && strchr(" \n\t\r", *p->at) && *p->at)
        p->at++;
    return p->at < p->end ? *p->at : '\0';
}

static const char *plain_string(struct plain *p)
{
    const char *from = ++p->at;

    while (p->at < p->end && *p->at >= ' ' && *p->at <= '~' && *p->at != '"' &&
           *p->at != '\\')
        p->at++;
    if (p->at == p->end || *p->at != '"')
        return NULL;
    return cr_strndup(p->arena, from, (size_t)(p->at++ - from));
}

static int plain_digits(struct plain *p)
{
    const char *from = p->at;

    while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
        p->at++;
    return (int)(p->at - from);
}

static bool plain_number(struct plain *p, struct cr_node *node)
{
    const char *from = p->at, *first;
    int n;

    p->at += *p->at == '-';
    first = p->at;
    n = plain_digits(p);
    if (n == 0 || n > PLAIN_DIGITS ||
        (*first == '0' && (n > 1 || *from == '-')))
        return false;
    node->kind = CR_NODE_INT;
    if (p->at < p->end && *p->at == '.') {
        node->kind = CR_NODE_REAL;
        p->at++;
        if (plain_digits(p) == 0)
            return false;
    }
    if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
        node->kind = CR_NODE_REAL;
        p->at++;
        p->at += p->at < p->end && (*p->at == '-' || *p->at == '+');
        if (plain_digits(p) == 0)
            return false;
    }
    node->text = cr_strndup(p->arena, from, (size_t)(p->at - from));
    if (node->kind == CR_NODE_INT)
        node->integer = strtoll(node->text, NULL, 10);
    node->real = node->kind == CR_NODE_INT ? (double)node->integer
                                           : strtod(node->text, NULL);
    return isfinite(node->real);
}

static bool plain_word(struct plain *p, struct cr_node *node)
{
    static const struct {
        const char *text;
        enum cr_node_kind kind;
    } words[] = { { "true", CR_NODE_BOOL },
                  { "false", CR_NODE_BOOL },
                  { "null", CR_NODE_NULL } };

    for (size_t i = 0; i < CR_LEN(words); i++) {
        size_t n = strlen(words[i].text);

        if ((size_t)(p->end - p->at) < n ||
            memcmp(p->at, words[i].text, n) != 0)
            continue;
        p->at += n;
        node->kind = words[i].kind;
        node->boolean = i == 0;
        node->text = node->kind == CR_NODE_BOOL ? words[i].text : NULL;
        return true;
    }
    return false;
}

static struct cr_node *plain_value(struct plain *p, int depth);

static bool plain_members(struct plain *p, struct cr_node *node, int depth)
{
    bool map = *p->at++ == '{';
    struct cr_node **link = &node->child;
    uint64_t hash[PLAIN_MEMBERS];
    char close = map ? '}' : ']', c;

    node->kind = map ? CR_NODE_MAP : CR_NODE_LIST;
    if (plain_next(p) == close) {
        p->at++;
        return true;
    }
    for (int n = 0; n < PLAIN_MEMBERS && depth < PLAIN_DEPTH; n++) {
        const char *key = NULL;

        if (map) {
            key = plain_next(p) == '"' ? plain_string(p) : NULL;
            if (!key || plain_next(p) != ':')
                return false;
            hash[n] = cr_hash(CR_HASH, key, strlen(key));
            for (int i = 0; i < n; i++)
                if (hash[i] == hash[n]) /* a duplicate, or nearly never */
                    return false;
            p->at++;
        }
        *link = plain_value(p, depth + 1);
        if (!*link)
            return false;
        (*link)->key = key;
        link = &(*link)->next;
        c = plain_next(p);
        p->at++;
        if (c != ',')
            return c == close;
    }
    return false;
}

static struct cr_node *plain_value(struct plain *p, int depth)
{
    struct cr_node *node = CR_NEW(p->arena, struct cr_node);
    char c = plain_next(p);

    if (c == '{' || c == '[')
        return plain_members(p, node, depth) ? node : NULL;
    if (c == '"') {
        node->kind = CR_NODE_STR;
        node->quoted = true;
        node->text = plain_string(p);
        return node->text ? node : NULL;
    }
    if (c == '-' || (c >= '0' && c <= '9'))
        return plain_number(p, node) ? node : NULL;
    return plain_word(p, node) ? node : NULL;
}

/* NULL: not plain, or not valid. */
static struct cr_node *plain_read(struct cr_arena *arena, const char *text,
                                  size_t len)
{
    struct plain p = { arena, text, text + len };
    struct cr_node *node = plain_next(&p) == '{' ? plain_value(&p, 0) : NULL;

    return node && plain_next(&p) == '\0' && p.at == p.end ? node : NULL;
}

struct cr_node *cr_json_read(struct cr_arena *arena, const char *text,
                             size_t len, const char **why, size_t *at)
{
    struct cr_node *node;
    json_error_t error;
    json_t *value;

    *at = 0;
    node = plain_read(arena, text, len);
    if (node)
        return node;
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
