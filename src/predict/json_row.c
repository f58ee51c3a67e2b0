#include "predict/json_row.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define ROW_DEPTH 32

struct scan {
    struct cr_json_row *row;
    struct cr_diag *diag;
    const char *name;
    int64_t line;
    char *begin, *s, *end;
    char *plain;            /* free rest of row->plain */
    int next, last;         /* fields still to fill: next .. last - 1 */
    int n;                  /* number of fields of the value */
    bool takes;             /* the value fills fields */
};

static bool row_wrong(struct scan *k, const char *what)
{
    struct cr_pos pos = cr_at_file(k->diag->arena, k->name);

    pos.line = k->line < INT32_MAX ? (int)k->line : INT32_MAX;
    pos.col = (int)cr_utf8_count(k->begin, (size_t)(k->s - k->begin)) + 1;
    return cr_error(k->diag, pos, CR_E_DATA_FORMAT, "JSON: %s", what);
}

static void row_blank(struct scan *k)
{
    while (k->s < k->end && (*k->s == ' ' || *k->s == '\t'))
        k->s++;
}

static bool row_put(struct scan *k, const char *text, size_t len,
                    const char *at)
{
    struct cr_csv *c = k->row->to;

    if (!k->takes)
        return true;
    if (k->next == k->last)
        return row_wrong(k, cr_strf(k->diag->arena,
                                    "more values than the %d expected here",
                                    k->n));
    c->field[k->next++] = (struct cr_csv_field){
        .text = text,
        .len = len,
        .at = at - k->begin,
        .raw = (int64_t)len,
        .line = k->line,
        .col = (int)(at - k->begin) + 1,
    };
    return true;
}

/* ---- Strings */

static int row_hex(const char *s)
{
    int v = 0;

    for (int i = 0; i < 4; i++) {
        int c = (unsigned char)s[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;

        if (digit < 0)
            return -1;
        v = v * 16 + digit;
    }
    return v;
}

static char *row_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 63));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 63));
        *to++ = (char)(0x80 | (c & 63));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 63));
        *to++ = (char)(0x80 | (c >> 6 & 63));
        *to++ = (char)(0x80 | (c & 63));
    }
    return to;
}

/* Decodes \uXXXX; k->s is at the u. A surrogate pair is one character. */
static bool row_unicode(struct scan *k, char **to)
{
    int v = k->end - k->s >= 5 ? row_hex(k->s + 1) : -1, low;
    uint32_t c = (uint32_t)v;
    char *escape = k->s - 1;

    if (v <= 0)
        return row_wrong(k, v < 0 ? "found \\u without four hexadecimal digits"
                                  : "found the character 0, which strings "
                                    "must not contain");
    k->s += 5;
    if (v >= 0xd800 && v < 0xe000) {
        low = k->end - k->s >= 6 && k->s[0] == '\\' && k->s[1] == 'u'
                  ? row_hex(k->s + 2)
                  : -1;
        if (v >= 0xdc00 || low < 0xdc00 || low >= 0xe000) {
            k->s = escape;
            return row_wrong(k, "found half of a surrogate pair");
        }
        c = 0x10000 + (((uint32_t)v - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
        k->s += 6;
    }
    *to = row_utf8(*to, c);
    return true;
}

/* Reads a string; k->s is at its quote and moves after the closing one. */
static bool row_string(struct scan *k, const char **text, size_t *len)
{
    static const char from[] = "\"\\/bfnrt", becomes[] = "\"\\/\b\f\n\r\t";
    char *to = k->plain, *begin = ++k->s;
    bool plain = true;

    while (k->s < k->end && *k->s != '"') {
        const char *at;

        if ((unsigned char)*k->s < ' ')
            return row_wrong(k, "found a control character in a string");
        if (*k->s != '\\') {
            *to++ = *k->s++;
            continue;
        }
        plain = false;
        if (++k->s == k->end)
            break;
        at = *k->s ? strchr(from, *k->s) : NULL;
        if (*k->s == 'u') {
            if (!row_unicode(k, &to))
                return false;
        } else if (at) {
            *to++ = becomes[at - from];
            k->s++;
        } else {
            return row_wrong(k, "found an unknown escape");
        }
    }
    if (k->s >= k->end)
        return row_wrong(k, "the string has no end");
    *text = plain ? begin : k->plain;
    *len = (size_t)(plain ? k->s - begin : to - k->plain);
    if (!plain)
        k->plain = to;
    k->s++;
    return true;
}

/* ---- Values */

static bool row_value(struct scan *k, int depth);

/* Reads the value of `n` fields: numbers and arrays of them, or null, if all
 * are missing. */
static bool row_fields(struct scan *k, int depth, int n)
{
    char *at = k->s;
    bool null = k->end - at >= 4 && memcmp(at, "null", 4) == 0;
    int first = k->next, found;

    if (!row_value(k, depth))
        return false;
    found = k->next - first;
    if (!k->takes || found >= n || null)
        return true;
    k->s = at;
    return row_wrong(k, cr_strf(k->diag->arena,
                                "found %d value%s, expected %d", found,
                                found == 1 ? "" : "s", n));
}

/* Reads the members between brackets, each with `each`. */
static bool row_members(struct scan *k, char close, int depth,
                        bool (*each)(struct scan *k, int depth))
{
    if (depth > ROW_DEPTH)
        return row_wrong(k, "brackets are nested too deep");
    k->s++;
    row_blank(k);
    if (k->s < k->end && *k->s == close) {
        k->s++;
        return true;
    }
    for (;;) {
        if (!each(k, depth + 1))
            return false;
        row_blank(k);
        if (k->s < k->end && *k->s == ',') {
            k->s++;
            row_blank(k);
            continue;
        }
        if (k->s < k->end && *k->s == close) {
            k->s++;
            return true;
        }
        return row_wrong(k, close == ']' ? "expected , or ]"
                                         : "expected , or }");
    }
}

static bool row_member(struct scan *k, int depth)
{
    struct cr_json_row *row = k->row;
    bool takes = k->takes;
    int next = k->next, last = k->last;
    const char *key;
    size_t len;
    bool ok, known = false;

    if (k->s == k->end || *k->s != '"')
        return row_wrong(k, "expected a key in quotes");
    if (!row_string(k, &key, &len))
        return false;
    row_blank(k);
    if (k->s == k->end || *k->s != ':')
        return row_wrong(k, "expected : after the key");
    k->s++;
    row_blank(k);
    k->takes = false;
    for (int i = 0; i < row->n_keys && depth == 1; i++)
        if (strncmp(row->key[i].name, key, len) == 0 &&
            row->key[i].name[len] == '\0') {
            k->takes = row->key[i].n > 0;
            k->next = row->key[i].first;
            k->n = row->key[i].n;
            k->last = k->next + k->n;
            for (int f = k->next; f < k->last; f++)
                row->given[f] = true;
            known = true;
            break;
        }
    if (!known && depth == 1 && !row->other)
        row->other = cr_strndup(k->diag->arena, key, len);
    ok = row_fields(k, depth, k->takes ? k->n : 0);
    k->takes = takes;
    k->next = next;
    k->last = last;
    return ok;
}

static bool row_scalar(struct scan *k)
{
    static const struct {
        const char *word, *text;
    } words[] = { { "true", "1" }, { "false", "0" }, { "null", "" } };
    char *at = k->s;

    for (size_t i = 0; i < CR_LEN(words); i++) {
        size_t n = strlen(words[i].word);

        if ((size_t)(k->end - at) >= n && memcmp(at, words[i].word, n) == 0) {
            k->s += n;
            return row_put(k, words[i].text, strlen(words[i].text), at);
        }
    }
    while (k->s < k->end && ((*k->s >= '0' && *k->s <= '9') || *k->s == '-' ||
                             *k->s == '+' || *k->s == '.' || *k->s == 'e' ||
                             *k->s == 'E'))
        k->s++;
    if (k->s == at)
        return row_wrong(k, "expected a value");
    return row_put(k, at, (size_t)(k->s - at), at);
}

static bool row_value(struct scan *k, int depth)
{
    char *at = k->s;
    const char *text;
    size_t len;

    row_blank(k);
    if (k->s < k->end && *k->s == '"')
        return row_string(k, &text, &len) && row_put(k, text, len, at);
    if (k->s < k->end && *k->s == '[')
        return row_members(k, ']', depth, row_value);
    if (k->s < k->end && *k->s == '{') {
        if (k->takes)
            return row_wrong(k, "found an object, expected a number, a string "
                                "or an array");
        return row_members(k, '}', depth, row_member);
    }
    return row_scalar(k);
}

bool cr_json_row(struct cr_json_row *row, struct cr_diag *diag,
                 const char *name, char *text, size_t len, int64_t line)
{
    struct scan k = { .row = row, .diag = diag, .name = name, .line = line,
                      .begin = text, .s = text, .end = text + len };
    struct cr_csv *c = row->to;

    if (len + 1 > row->cap) {
        free(row->plain);
        row->cap = 2 * len + 64;
        row->plain = malloc(row->cap);
        if (!row->plain)
            cr_out_of_memory(row->cap);
    }
    k.plain = row->plain;
    c->window = text;
    c->base = 0;
    c->path = name;
    c->diag = diag;
    c->line = line;
    for (int i = 0; i < c->n; i++)
        c->field[i] = (struct cr_csv_field){ .text = text, .line = line,
                                             .col = 1 };
    memset(row->given, 0, (size_t)c->n * sizeof *row->given);
    row->other = NULL;
    row_blank(&k);
    if (k.s == k.end || (*k.s != '{' && *k.s != '['))
        return row_wrong(&k, "expected an object or an array");
    k.takes = *k.s == '[';
    k.last = k.n = c->n;
    if (!row_fields(&k, 0, k.takes ? row->n_array : 0))
        return false;
    row_blank(&k);
    return k.s == k.end || row_wrong(&k, "found text after the value");
}

const char *cr_json_key(const struct cr_json_row *row, int at)
{
    const char *name = NULL;

    for (int i = 0; i < row->n_keys; i++)
        if (row->key[i].first <= at &&
            at < row->key[i].first + row->key[i].n &&
            (!name || row->key[i].n == 1))
            name = row->key[i].name;
    return name;
}
