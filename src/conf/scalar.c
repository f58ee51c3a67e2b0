#include "conf/scalar.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* [-+]? [0-9]+ | 0x[0-9a-fA-F]+ | 0o[0-7]+ */
static bool scalar_int(const char *s, int64_t *value)
{
    const char *digits = s;
    int base = 10;
    char *end;

    if (s[0] == '0' && (s[1] == 'x' || s[1] == 'o')) {
        base = s[1] == 'x' ? 16 : 8;
        digits = s + 2;
    } else if (*s == '-' || *s == '+') {
        digits = s + 1;
    }
    if (!(base == 16 ? isxdigit((unsigned char)*digits)
                     : isdigit((unsigned char)*digits)))
        return false;
    errno = 0;
    *value = strtoll(base == 10 ? s : digits, &end, base);
    return !*end && errno == 0;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool scalar_decimal(const char *s)
{
    size_t before, after = 0;

    s += *s == '-' || *s == '+';
    before = strspn(s, "0123456789");
    s += before;
    if (*s == '.') {
        after = strspn(s + 1, "0123456789");
        s += after + 1;
    }
    if (before + after == 0)
        return false;
    if (*s == 'e' || *s == 'E') {
        s += 1 + (s[1] == '-' || s[1] == '+');
        if (!isdigit((unsigned char)*s))
            return false;
        s += strspn(s, "0123456789");
    }
    return !*s;
}

static bool scalar_special(const char *s, double *value)
{
    static const char *const infinite[] = { "inf", ".inf", ".Inf", ".INF" };
    static const char *const none[] = { "nan", ".nan", ".NaN", ".NAN" };
    const char *word = s + (*s == '-' || *s == '+');

    for (size_t i = 0; i < CR_LEN(infinite); i++)
        if (strcmp(word, infinite[i]) == 0) {
            *value = *s == '-' ? -INFINITY : INFINITY;
            return true;
        }
    for (size_t i = 0; i < CR_LEN(none); i++)
        if (strcmp(s, none[i]) == 0) {
            *value = NAN;
            return true;
        }
    return false;
}

bool cr_scalar_resolve(struct cr_node *node)
{
    const char *s = node->text;

    node->kind = CR_NODE_STR;
    if (node->quoted)
        return true;
    if (!*s || strcmp(s, "null") == 0) {
        node->kind = CR_NODE_NULL;
    } else if (strcmp(s, "true") == 0 || strcmp(s, "false") == 0) {
        node->kind = CR_NODE_BOOL;
        node->boolean = *s == 't';
    } else if (scalar_int(s, &node->integer)) {
        node->kind = CR_NODE_INT;
        node->real = (double)node->integer;
    } else if (scalar_decimal(s)) {
        node->kind = CR_NODE_REAL;
        node->real = strtod(s, NULL);
        return isfinite(node->real);
    } else if (scalar_special(s, &node->real)) {
        node->kind = CR_NODE_REAL;
    }
    return true;
}

static bool scalar_plain(const char *s, bool flow, bool key)
{
    struct cr_node node = { .text = s };
    size_t n = strlen(s);
    uint32_t c;
    int len;

    if (n == 0 || strchr("-?:,[]{}#&*!|>'\"%@` ", *s) || s[n - 1] == ' ' ||
        s[n - 1] == ':' || strstr(s, ": ") || strstr(s, " #"))
        return false;
    if (flow && strpbrk(s, ",[]{}:"))
        return false;
    if (strcmp(s, "<<") == 0 || cr_starts(s, "---") || cr_starts(s, "..."))
        return false;
    for (; n > 0; s += len, n -= (size_t)len) {
        len = cr_utf8(s, n, &c);
        if (len == 0 || c < 0x20 || c == 0x7f || (c >= 0x80 && c < 0xa0) ||
            c == 0x2028 || c == 0x2029 || c == 0xfeff)
            return false;
    }
    if (key)
        return true;
    cr_scalar_resolve(&node);
    return node.kind == CR_NODE_STR;
}

static void scalar_quoted(struct cr_buf *buf, const char *text)
{
    size_t n = strlen(text);
    uint32_t c;
    int len;

    cr_buf_char(buf, '"');
    for (; n > 0; text += len, n -= (size_t)len) {
        len = cr_utf8(text, n, &c);
        if (len == 0) {
            len = 1;
            cr_buf_str(buf, "\\uFFFD");
        } else if (c == '"' || c == '\\') {
            cr_buf_f(buf, "\\%c", (int)c);
        } else if (c == '\n') {
            cr_buf_str(buf, "\\n");
        } else if (c == '\t') {
            cr_buf_str(buf, "\\t");
        } else if (c < 0x20 || (c >= 0x7f && c < 0xa0)) {
            cr_buf_f(buf, "\\x%02x", (unsigned)c);
        } else if (c == 0x2028 || c == 0x2029 || c == 0xfeff) {
            cr_buf_f(buf, "\\u%04x", (unsigned)c);
        } else {
            cr_buf_add(buf, text, (size_t)len);
        }
    }
    cr_buf_char(buf, '"');
}

void cr_string_write(struct cr_buf *buf, const char *text, bool flow, bool key)
{
    if (scalar_plain(text, flow, key))
        cr_buf_str(buf, text);
    else
        scalar_quoted(buf, text);
}

void cr_scalar_write(struct cr_buf *buf, const struct cr_node *node, bool flow)
{
    switch (node->kind) {
    case CR_NODE_NULL:
        cr_buf_str(buf, "null");
        break;
    case CR_NODE_BOOL:
        cr_buf_str(buf, node->boolean ? "true" : "false");
        break;
    case CR_NODE_INT:
        cr_buf_f(buf, "%" PRId64, node->integer);
        break;
    case CR_NODE_REAL:
        cr_buf_str(buf, cr_real_text(buf->arena, node->real));
        break;
    default:
        cr_string_write(buf, node->text, flow, false);
        break;
    }
}

void cr_scalar_hint_bool(struct cr_diag *diag, const struct cr_node *node)
{
    static const char *const words[][2] = {
        { "yes", "no" }, { "on", "off" }, { "true", "false" }, { "y", "n" }
    };

    if (node->kind != CR_NODE_STR)
        return;
    for (size_t i = 0; i < CR_LEN(words); i++)
        for (int j = 0; j < 2; j++)
            if (strcasecmp(node->text, words[i][j]) == 0)
                cr_hint(diag, "write %s", j == 0 ? "true" : "false");
}
