#include "base/str.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"

void cr_buf_add(struct cr_buf *buf, const char *text, size_t len)
{
    if (buf->cap - buf->len <= len) {
        size_t cap = 2 * (buf->len + len) + 64;

        buf->text = cr_grow(buf->arena, buf->text, buf->len, cap, 1);
        buf->cap = cap;
    }
    if (len > 0)
        memcpy(buf->text + buf->len, text, len);
    buf->len += len;
    buf->text[buf->len] = '\0';
}

void cr_buf_str(struct cr_buf *buf, const char *text)
{
    cr_buf_add(buf, text, strlen(text));
}

void cr_buf_char(struct cr_buf *buf, char c)
{
    cr_buf_add(buf, &c, 1);
}

void cr_buf_f(struct cr_buf *buf, const char *format, ...)
{
    char few[256];
    va_list args, again;
    int n;

    va_start(args, format);
    va_copy(again, args);
    n = vsnprintf(few, sizeof few, format, args);
    if (n >= (int)sizeof few)
        cr_buf_str(buf, cr_vstrf(buf->arena, format, again));
    else if (n > 0)
        cr_buf_add(buf, few, (size_t)n);
    va_end(again);
    va_end(args);
}

void cr_buf_json(struct cr_buf *buf, const char *text)
{
    cr_buf_json_n(buf, text, strlen(text));
}

void cr_buf_json_n(struct cr_buf *buf, const char *text, size_t n)
{
    uint32_t code;
    int len;

    cr_buf_char(buf, '"');
    for (; n > 0; text += len, n -= (size_t)len) {
        len = cr_utf8(text, n, &code);
        if (len == 0) {
            len = 1;
            cr_buf_str(buf, "\xef\xbf\xbd");
        } else if (code == '"' || code == '\\') {
            cr_buf_f(buf, "\\%c", (int)code);
        } else if (code == '\n') {
            cr_buf_str(buf, "\\n");
        } else if (code == '\t') {
            cr_buf_str(buf, "\\t");
        } else if (code < 0x20 || code == 0x7f) {
            cr_buf_f(buf, "\\u%04x", (unsigned)code);
        } else {
            cr_buf_add(buf, text, (size_t)len);
        }
    }
    cr_buf_char(buf, '"');
}

const char *cr_buf_text(const struct cr_buf *buf)
{
    return buf->text ? buf->text : "";
}

/* RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
int cr_utf8(const char *text, size_t n, uint32_t *code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *s = (const unsigned char *)text;
    int len = 0;
    uint32_t c;

    if (n == 0)
        return 0;
    c = s[0];
    if (c < 0x80)
        len = 1;
    else if (c >= 0xc2 && c < 0xe0)
        len = 2;
    else if (c >= 0xe0 && c < 0xf0)
        len = 3;
    else if (c >= 0xf0 && c < 0xf5)
        len = 4;
    if (len == 0 || (size_t)len > n)
        return 0;
    if (len > 1)
        c &= 0xffu >> (len + 1);
    for (int i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *code = c;
    return len;
}

size_t cr_utf8_count(const char *text, size_t n)
{
    size_t count = 0;
    uint32_t code;

    for (size_t i = 0; i < n; count++) {
        int len = cr_utf8(text + i, n - i, &code);

        i += len > 0 ? (size_t)len : 1;
    }
    return count;
}

size_t cr_bom(const char *text, size_t n)
{
    return n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

bool cr_starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool cr_ends(const char *text, const char *with)
{
    size_t n = strlen(text), m = strlen(with);

    return n >= m && strcmp(text + n - m, with) == 0;
}

uint64_t cr_hash(uint64_t hash, const void *data, size_t len)
{
    const unsigned char *p = data;

    for (size_t i = 0; i < len; i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

const char *cr_path_join(struct cr_arena *arena, const char *dir,
                         const char *name)
{
    if (name[0] == '/' || !dir || !*dir || strcmp(dir, ".") == 0)
        return cr_strdup(arena, name);
    return cr_strf(arena, "%s%s%s", dir, cr_ends(dir, "/") ? "" : "/", name);
}

const char *cr_path_search(struct cr_arena *arena, const char *list,
                           const char *name)
{
    while (list && *list) {
        size_t n = strcspn(list, ":");
        const char *path =
            cr_path_join(arena, cr_strndup(arena, list, n), name);

        if (n > 0 && access(path, F_OK) == 0)
            return path;
        list += n + (list[n] == ':');
    }
    return NULL;
}

const char *cr_path_dir(struct cr_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return ".";
    if (slash == path)
        return "/";
    return cr_strndup(arena, path, (size_t)(slash - path));
}

const char *cr_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

const char *cr_path_stem(struct cr_arena *arena, const char *path)
{
    const char *base = cr_path_base(path);
    const char *dot = strrchr(base, '.');

    if (!dot || dot == base)
        return cr_strdup(arena, base);
    return cr_strndup(arena, base, (size_t)(dot - base));
}

const char *cr_real_text(struct cr_arena *arena, double value)
{
    char text[40];

    if (isnan(value))
        return "nan";
    if (isinf(value))
        return value > 0 ? "inf" : "-inf";
    if (fabs(value) < 1e15 && value == floor(value))
        return cr_strf(arena, "%.1f", value);
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text - 2, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    if (!strpbrk(text, ".e"))
        strcat(text, ".0");
    return cr_strdup(arena, text);
}

void cr_buf_real(struct cr_buf *buf, double value)
{
    cr_buf_str(buf, isfinite(value) ? cr_real_text(buf->arena, value)
                                    : "null");
}

char *cr_read_file(struct cr_arena *arena, struct cr_diag *diag,
                   struct cr_pos pos, const char *path, enum cr_code code,
                   size_t max, size_t *len)
{
    struct cr_buf buf = { .arena = arena };
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    struct stat st;
    char block[16384];
    size_t n;
    bool ok = false;

    if (!f) {
        cr_error(diag, pos, code, "cannot open '%s': %s", path,
                 strerror(errno));
        return NULL;
    }
    if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {
        cr_error(diag, pos, code, "cannot read '%s': it is a folder", path);
        goto done;
    }
    while ((n = fread(block, 1, sizeof block, f)) > 0) {
        cr_buf_add(&buf, block, n);
        if (buf.len > max) {
            cr_error(diag, pos, code, "'%s' is larger than %zu bytes", path,
                     max);
            goto done;
        }
    }
    ok = !ferror(f);
    if (!ok)
        cr_error(diag, pos, code, "cannot read '%s': %s", path,
                 strerror(errno));
done:
    if (!standard)
        fclose(f);
    if (!ok)
        return NULL;
    *len = buf.len;
    return buf.text ? buf.text : cr_strdup(arena, "");
}

bool cr_write_file(struct cr_diag *diag, const char *path, const void *data,
                   size_t len)
{
    struct cr_atomic_file file;

    if (!cr_atomic_file_open(&file, diag, path, (int64_t)len))
        return false;
    cr_atomic_file_write(&file, data, len);
    return cr_atomic_file_commit(&file);
}
