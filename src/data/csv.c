#include "data/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gz.h"
#include "base/str.h"

#define WINDOW ((size_t)1 << 18)
#define ROW_MAX ((size_t)1 << 30)

/* ---- the window ---- */

static bool csv_more(struct cr_csv *c)
{
    ssize_t got;

    if (c->from > 0) {
        memmove(c->window, c->window + c->from, c->to - c->from);
        c->base += (int64_t)c->from;
        c->to -= c->from;
        c->from = 0;
    }
    if (c->to == c->cap) {
        size_t cap = c->cap > 0 ? 2 * c->cap : WINDOW;
        char *more;

        if (cap > ROW_MAX) {
            struct cr_pos pos = cr_at_file(c->diag->arena, c->path);

            pos.line = (int)c->next_line;
            pos.col = 1;
            return cr_error(c->diag, pos, CR_E_DATA_FORMAT,
                            "a row of more than %zu bytes", ROW_MAX);
        }
        more = realloc(c->window, cap);
        if (!more)
            cr_out_of_memory(cap);
        c->window = more;
        c->cap = cap;
    }
    do
        got = read(c->fd, c->window + c->to, c->cap - c->to);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return cr_error(c->diag, cr_at_file(c->diag->arena, c->path),
                        CR_E_DATA_READ, "cannot read: %s", strerror(errno));
    c->ended = got == 0;
    c->crc = cr_crc32(c->crc, c->window + c->to, (size_t)got);
    c->length += got;
    c->to += (size_t)got;
    return true;
}

bool cr_csv_open(struct cr_csv *c, struct cr_diag *diag, const char *path,
                 char delimiter)
{
    bool standard = strcmp(path, "-") == 0;
    struct stat st;

    *c = (struct cr_csv){ .path = standard ? "standard input" : path,
                          .diag = diag, .delimiter = delimiter,
                          .next_line = 1, .fd = STDIN_FILENO };
    if (!standard)
        c->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (c->fd >= 0 && fstat(c->fd, &st) == 0 && S_ISDIR(st.st_mode))
        errno = EISDIR;
    else if (c->fd >= 0)
        errno = 0;
    if (errno) {
        cr_error(diag, cr_at_file(diag->arena, c->path), CR_E_DATA_READ,
                 "cannot read: %s", strerror(errno));
        cr_csv_close(c);
        return false;
    }
    while (c->to < 3 && !c->ended)
        if (!csv_more(c)) {
            cr_csv_close(c);
            return false;
        }
    c->from = cr_bom(c->window, c->to);
    return true;
}

void cr_csv_close(struct cr_csv *c)
{
    if (c->fd > STDIN_FILENO)
        close(c->fd);
    c->fd = -1;
    if (!c->borrowed)
        free(c->window);
    free(c->field);
    free(c->plain);
    c->window = c->plain = NULL;
    c->field = NULL;
}

void cr_csv_memory(struct cr_csv *c, struct cr_diag *diag, const char *name,
                   char delimiter, char *text, size_t len, int64_t line)
{
    c->path = name;
    c->diag = diag;
    c->fd = -1;
    c->delimiter = delimiter;
    c->ended = c->borrowed = true;
    c->window = text;
    c->from = 0;
    c->base = 0;
    c->to = c->cap = len;
    c->next_line = line;
}

bool cr_csv_line(struct cr_csv *c, char **text, size_t *len, bool *bad)
{
    char *end;

    *bad = false;
    while (!(end = memchr(c->window + c->from, '\n', c->to - c->from)) &&
           !c->ended)
        if (!csv_more(c)) {
            *bad = true;
            return false;
        }
    if (!end && c->from == c->to)
        return false;
    *text = c->window + c->from;
    *len = (size_t)((end ? end : c->window + c->to) - *text);
    c->from += *len + (end != NULL);
    c->line = c->next_line++;
    if (*len > 0 && (*text)[*len - 1] == '\r')
        --*len;
    return true;
}

bool cr_csv_skip_line(struct cr_csv *c)
{
    char *end;

    while (!(end = memchr(c->window + c->from, '\n', c->to - c->from)))
        if (c->ended || !csv_more(c)) {
            c->from = c->to;
            return false;
        }
    c->from = (size_t)(end - c->window) + 1;
    c->next_line++;
    return true;
}

/* ---- rows ---- */

/* Position of the parser in the window. If the window ends within a row, it is
 * filled further and the row is parsed again from its start. */
struct csv_scan {
    const char *s, *end, *bol; /* bol: start of the current line */
    int64_t line;
};

static bool csv_wrong(struct cr_csv *c, const struct csv_scan *k,
                      const char *at, const char *what)
{
    struct cr_pos pos = cr_at_file(c->diag->arena, c->path);

    pos.line = k->line < INT32_MAX ? (int)k->line : INT32_MAX;
    pos.col = (int)cr_utf8_count(k->bol, (size_t)(at - k->bol)) + 1;
    cr_error(c->diag, pos, CR_E_DATA_FORMAT, "%s", what);
    return false;
}

static struct cr_csv_field *csv_field(struct cr_csv *c,
                                      const struct csv_scan *k)
{
    struct cr_csv_field *f;

    if (c->n == c->cap_fields) {
        int cap = c->cap_fields > 0 ? 2 * c->cap_fields : 64;

        c->field = realloc(c->field, (size_t)cap * sizeof *c->field);
        if (!c->field)
            cr_out_of_memory((size_t)cap * sizeof *c->field);
        c->cap_fields = cap;
    }
    f = &c->field[c->n++];
    *f = (struct cr_csv_field){
        .text = k->s,
        .at = c->base + (k->s - c->window),
        .line = k->line,
        .col = (int)(k->s - k->bol) + 1,
    };
    return f;
}

static void csv_newline(struct csv_scan *k)
{
    bool both = *k->s == '\r' && k->s + 1 < k->end && k->s[1] == '\n';

    k->s += both ? 2 : 1;
    k->line++;
    k->bol = k->s;
}

enum csv_found { CSV_WRONG, CSV_SHORT, CSV_ROW, CSV_EMPTY };

/* Parses a quoted field; afterwards k->s is just after its closing quote. */
static enum csv_found csv_quoted(struct cr_csv *c, struct csv_scan *k,
                                 struct cr_csv_field *f)
{
    struct csv_scan open = *k;

    f->text = ++k->s;
    for (;;) {
        if (k->s == k->end || (*k->s == '\r' && k->s + 1 == k->end)) {
            if (!c->ended)
                return CSV_SHORT;
            if (k->s == k->end)
                return csv_wrong(c, &open, open.s,
                                 "unclosed quote: the file ends within it")
                           ? CSV_ROW
                           : CSV_WRONG;
        }
        if (*k->s == '\0')
            return csv_wrong(c, k, k->s, "found a NUL byte, expected text")
                       ? CSV_ROW
                       : CSV_WRONG;
        if (*k->s == '\r' || *k->s == '\n') {
            csv_newline(k);
            continue;
        }
        if (*k->s++ != '"')
            continue;
        if (k->s == k->end && !c->ended)
            return CSV_SHORT;
        if (k->s < k->end && *k->s == '"') {
            k->s++;
            continue;
        }
        break;
    }
    f->len = (size_t)(k->s - f->text) - 1;
    f->raw = (int64_t)f->len + 2;
    if (k->s < k->end && *k->s != c->delimiter && *k->s != '\r' &&
        *k->s != '\n') {
        csv_wrong(c, k, k->s,
                  "text after a closing quote; write a quote within a field "
                  "twice");
        return CSV_WRONG;
    }
    return CSV_ROW;
}

static enum csv_found csv_unquoted(struct cr_csv *c, struct csv_scan *k,
                                   struct cr_csv_field *f)
{
    const char *s = k->s, *end = k->end;
    char delimiter = c->delimiter;

    while (s < end && *s != delimiter && *s != '\n' && *s != '\r' &&
           *s != '"' && *s != '\0')
        s++;
    k->s = s;
    if (s == end && !c->ended)
        return CSV_SHORT;
    if (s < end && (*s == '"' || *s == '\0')) {
        csv_wrong(c, k, s,
                  *s ? "a quote inside an unquoted field"
                     : "found a NUL byte, expected text");
        return CSV_WRONG;
    }
    f->len = (size_t)(s - f->text);
    f->raw = (int64_t)f->len;
    return CSV_ROW;
}

/* Parses the row at the start of the window. */
static enum csv_found csv_row(struct cr_csv *c)
{
    struct csv_scan k = { .s = c->window + c->from,
                          .end = c->window + c->to,
                          .bol = c->window + c->from,
                          .line = c->next_line };
    enum csv_found found;

    c->n = 0;
    c->line = k.line;
    for (;;) {
        struct cr_csv_field *f = csv_field(c, &k);

        found = k.s < k.end && *k.s == '"' ? csv_quoted(c, &k, f)
                                           : csv_unquoted(c, &k, f);
        if (found != CSV_ROW)
            return found;
        if (k.s < k.end && *k.s == c->delimiter) {
            k.s++;
            continue;
        }
        break;
    }
    /* CR LF is one line end, so the byte after a CR is needed */
    if (k.s < k.end && *k.s == '\r' && k.s + 1 == k.end && !c->ended)
        return CSV_SHORT;
    found = c->n == 1 && c->field[0].raw == 0 ? CSV_EMPTY : CSV_ROW;
    if (k.s < k.end)
        csv_newline(&k);
    c->from = (size_t)(k.s - c->window);
    c->next_line = k.line;
    return found;
}

size_t cr_csv_plain(char *raw, size_t len)
{
    size_t i = 0, n = 0;

    if (len < 2 || raw[0] != '"')
        return len;
    for (i = 1; i + 1 < len; i++) {
        raw[n++] = raw[i];
        if (raw[i] == '"')
            i++;
    }
    return n;
}

/* Replaces doubled quotes by single ones, in c->plain. */
static void csv_unescape(struct cr_csv *c)
{
    size_t used = 0, need = 0;
    int i;

    for (i = 0; i < c->n; i++)
        if (c->field[i].raw != (int64_t)c->field[i].len)
            need += c->field[i].len;
    if (need == 0)
        return;
    if (need > c->plain_cap) {
        free(c->plain);
        c->plain = malloc(need);
        if (!c->plain)
            cr_out_of_memory(need);
        c->plain_cap = need;
    }
    for (i = 0; i < c->n; i++) {
        struct cr_csv_field *f = &c->field[i];
        char *to = c->plain + used;
        size_t k, n = 0;

        if (f->raw == (int64_t)f->len || !memchr(f->text, '"', f->len))
            continue;
        for (k = 0; k < f->len; k++) {
            to[n++] = f->text[k];
            if (f->text[k] == '"')
                k++;
        }
        f->text = to;
        f->len = n;
        used += n;
    }
}

bool cr_csv_next(struct cr_csv *c, bool *bad)
{
    *bad = false;
    for (;;) {
        enum csv_found found;

        if (c->from == c->to && c->ended)
            return false;
        found = csv_row(c);
        if (found == CSV_ROW) {
            csv_unescape(c);
            return true;
        }
        if (found == CSV_WRONG || (found == CSV_SHORT && !csv_more(c))) {
            *bad = true;
            return false;
        }
    }
}

struct cr_pos cr_csv_at(const struct cr_csv *c, const struct cr_csv_field *f)
{
    struct cr_pos pos = cr_at_file(c->diag->arena, c->path);
    const char *start = c->window + (f->at - c->base);

    pos.line = f->line < INT32_MAX ? (int)f->line : INT32_MAX;
    pos.col = (int)cr_utf8_count(start - (f->col - 1), (size_t)f->col - 1) + 1;
    return pos;
}

/* ---- numbers ---- */

static void csv_trim(const char **text, size_t *len)
{
    while (*len > 0 && (**text == ' ' || **text == '\t')) {
        ++*text;
        --*len;
    }
    while (*len > 0 &&
           ((*text)[*len - 1] == ' ' || (*text)[*len - 1] == '\t'))
        --*len;
}

bool cr_csv_int(const char *text, size_t len, int64_t *to)
{
    uint64_t v = 0, most;
    bool minus;
    size_t i;

    csv_trim(&text, &len);
    minus = len > 0 && *text == '-';
    i = len > 0 && (*text == '-' || *text == '+') ? 1 : 0;
    most = (uint64_t)INT64_MAX + minus;
    if (i == len)
        return false;
    for (; i < len; i++) {
        unsigned digit = (unsigned)text[i] - '0';

        if (digit > 9 || v > (most - digit) / 10)
            return false;
        v = 10 * v + digit;
    }
    *to = minus ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

#define DIGITS_MAX 19 /* digits that always fit in a uint64_t */

/* Digits up to 2^53, multiplied or divided by a power of ten that a double
 * represents exactly: a single rounding, so the result is the nearest double
 * (Clinger 1990). */
static bool csv_exact(uint64_t digits, int64_t exponent, double *to)
{
    static const double power[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
                                    1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
                                    1e18, 1e19, 1e20, 1e21, 1e22 };

    if (digits > (uint64_t)1 << 53 || exponent < -22 || exponent > 22)
        return false;
    *to = exponent < 0 ? (double)digits / power[-exponent]
                       : (double)digits * power[exponent];
    return true;
}

static bool csv_slow(const char *text, size_t len, double *to)
{
    char buf[512];

    if (len >= sizeof buf)
        return false;
    memcpy(buf, text, len);
    buf[len] = '\0';
    *to = strtod(buf, NULL); /* the syntax is checked; the locale is C */
    return isfinite(*to);
}

bool cr_csv_real(const char *text, size_t len, double *to)
{
    uint64_t digits = 0;
    int64_t exponent = 0, given = 0;
    size_t i = 0, n = 0, any = 0;
    bool minus, point = false;

    csv_trim(&text, &len);
    minus = len > 0 && *text == '-';
    if (len > 0 && (*text == '-' || *text == '+'))
        i++;
    for (; i < len; i++) {
        unsigned digit = (unsigned)(unsigned char)text[i] - '0';

        if (text[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (digit > 9)
            break;
        any++;
        n += digits > 0 || digit > 0;
        if (n <= DIGITS_MAX)
            digits = 10 * digits + digit;
        exponent -= point && n <= DIGITS_MAX;
        exponent += !point && n > DIGITS_MAX;
    }
    if (any == 0)
        return false;
    if (i < len) {
        bool down;

        if (text[i] != 'e' && text[i] != 'E')
            return false;
        i++;
        down = i < len && text[i] == '-';
        if (i < len && (text[i] == '-' || text[i] == '+'))
            i++;
        if (i == len)
            return false;
        for (; i < len; i++) {
            if (text[i] < '0' || text[i] > '9')
                return false;
            if (given < 100000)
                given = 10 * given + (text[i] - '0');
        }
        exponent += down ? -given : given;
    }
    if (n > DIGITS_MAX || !csv_exact(digits, exponent, to))
        return csv_slow(text, len, to);
    if (minus)
        *to = -*to;
    return true;
}
