/*
 * Messages: recorded in order, printed in the form that DIAGNOSTICS in
 * cellrun(1) describes.
 *
 * All text is escaped again when printed, so that the content of a file or an
 * argument cannot move the cursor of a terminal or hide text.
 */
#include "base/diag.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/str.h"

#define QUOTE_MAX 60   /* characters of user text in a message */
#define EXCERPT_MAX 96 /* characters of a line shown */
#define ERRORS_MAX 200 /* errors that are shown; the others are counted */

static const struct code {
    const char *number, *title, *text;
    int exit;
} codes[] = {
#define CR_CODE(number, name, exit, title, text) \
    [CR_E_##name] = { #number, title, text, exit },
#include "base/code.def"
#undef CR_CODE
};

struct cr_pos cr_at_file(struct cr_arena *arena, const char *path)
{
    return cr_at_byte(arena, path, -1);
}

struct cr_pos cr_at_byte(struct cr_arena *arena, const char *path,
                         int64_t offset)
{
    struct cr_source *src = CR_NEW(arena, struct cr_source);

    src->name = cr_strdup(arena, path);
    return (struct cr_pos){ .src = src, .offset = offset + 1 };
}

static bool diag_same_place(const struct cr_pos *a, const struct cr_pos *b)
{
    if (a->line != b->line || a->col != b->col || a->offset != b->offset)
        return false;
    if (a->src == b->src)
        return true;
    return a->src && b->src && a->src->argument == b->src->argument &&
           strcmp(a->src->name, b->src->name) == 0;
}

/* Whether a text has a word: no letter, digit or _ on either side. */
static bool diag_has_word(const char *text, const char *word)
{
    size_t n = strlen(word);

    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        unsigned char before = at > text ? (unsigned char)at[-1] : ' ';
        unsigned char after = (unsigned char)at[n];

        if (!isalnum(before) && before != '_' && !isalnum(after) &&
            after != '_')
            return true;
    }
    return false;
}

/* Where to point for a message: see cr_elsewhere. */
static struct cr_pos diag_part(const struct cr_diag *diag, struct cr_pos pos,
                                const char *text)
{
    for (const struct cr_elsewhere *e = diag->elsewhere; e && pos.src;
         e = e->next)
        if (e->whole.src == pos.src && e->whole.line == pos.line &&
            e->whole.col == pos.col && diag_has_word(text, e->name))
            return e->part;
    return pos;
}

static void diag_record(struct cr_diag *diag, struct cr_pos pos,
                        enum cr_code code, bool warning, const char *text)
{
    struct cr_message *m;

    diag->dropped = true;
    if (pos.offset < 0)
        return;
    if (diag->errors - diag->hidden >= ERRORS_MAX) {
        diag->errors += !warning;
        diag->hidden += !warning;
        return;
    }
    pos = diag_part(diag, pos, text);
    for (m = diag->first; m; m = m->next)
        if (m->code == code && diag_same_place(&m->pos, &pos) &&
            strcmp(m->text, text) == 0)
            return;
    diag->dropped = false;
    m = CR_NEW(diag->arena, struct cr_message);
    *m = (struct cr_message){
        .code = code, .warning = warning, .pos = pos, .text = text
    };
    if (diag->last)
        diag->last->next = m;
    else
        diag->first = m;
    diag->last = m;
    if (warning)
        diag->warnings++;
    else
        diag->errors++;
}

/* Positions in files may be in the other's arena: they are copied, too. */
void cr_diag_append(struct cr_diag *diag, const struct cr_diag *from)
{
    for (const struct cr_message *m = from->first; m; m = m->next) {
        struct cr_pos pos = m->pos;

        if (pos.src && !pos.src->text) {
            struct cr_source *src = CR_NEW(diag->arena, struct cr_source);

            *src = *pos.src;
            src->name = cr_strdup(diag->arena, pos.src->name);
            pos.src = src;
        }
        diag_record(diag, pos, m->code, m->warning,
                    cr_strdup(diag->arena, m->text));
        if (m->hint)
            cr_hint(diag, "%s", m->hint);
        if (m->notes)
            cr_note(diag, "%s", m->notes);
    }
    diag->errors += from->hidden;
    diag->hidden += from->hidden;
}

bool cr_error(struct cr_diag *diag, struct cr_pos pos, enum cr_code code,
              const char *format, ...)
{
    va_list args;

    va_start(args, format);
    diag_record(diag, pos, code, false, cr_vstrf(diag->arena, format, args));
    va_end(args);
    return false;
}

bool cr_warn(struct cr_diag *diag, struct cr_pos pos, enum cr_code code,
             const char *format, ...)
{
    va_list args;

    va_start(args, format);
    diag_record(diag, pos, code, !diag->strict,
                cr_vstrf(diag->arena, format, args));
    va_end(args);
    return false;
}

void cr_hint(struct cr_diag *diag, const char *format, ...)
{
    va_list args;

    if (!diag->last || diag->dropped)
        return;
    va_start(args, format);
    diag->last->hint = cr_vstrf(diag->arena, format, args);
    va_end(args);
}

void cr_note(struct cr_diag *diag, const char *format, ...)
{
    const char *text;
    va_list args;

    if (!diag->last || diag->dropped)
        return;
    va_start(args, format);
    text = cr_vstrf(diag->arena, format, args);
    va_end(args);
    if (diag->last->notes)
        text = cr_strf(diag->arena, "%s\n%s", diag->last->notes, text);
    diag->last->notes = text;
}

void cr_path(struct cr_diag *diag, const char *path)
{
    if (diag->last && !diag->dropped)
        diag->last->path = path;
}

int cr_diag_exit(const struct cr_diag *diag)
{
    static const int order[] = { 2, 3, 4 };
    int other = 0;
    bool seen[CR_LEN(order)] = { 0 };

    for (const struct cr_message *m = diag->first; m; m = m->next) {
        int status = cr_code_exit(m->code);
        size_t i = 0;

        if (m->warning)
            continue;
        while (i < CR_LEN(order) && order[i] != status)
            i++;
        if (i < CR_LEN(order))
            seen[i] = true;
        else if (other == 0)
            other = status;
    }
    for (size_t i = 0; i < CR_LEN(order); i++)
        if (seen[i])
            return order[i];
    return other;
}

const char *cr_code_number(enum cr_code code)
{
    return codes[code].number;
}

int cr_code_exit(enum cr_code code)
{
    return codes[code].exit;
}

const char *cr_code_title(enum cr_code code)
{
    return codes[code].title;
}

const char *cr_code_text(enum cr_code code)
{
    return codes[code].text;
}

/* Controls, and the marks that reorder or hide the text of a terminal. */
static bool diag_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
           (c >= 0xfff0 && c <= 0xfffc) || c >= 0xe0000;
}

/* Adds the character at text, escaped if need be; returns its bytes. */
static size_t diag_char(struct cr_buf *buf, const char *text, size_t n)
{
    uint32_t c;
    int len = cr_utf8(text, n, &c);

    if (len == 0) {
        cr_buf_f(buf, "\\x%02x", (unsigned)(unsigned char)*text);
        return 1;
    }
    if (!diag_hidden(c))
        cr_buf_add(buf, text, (size_t)len);
    else if (c == '\n')
        cr_buf_str(buf, "\\n");
    else if (c == '\t')
        cr_buf_str(buf, "\\t");
    else if (c < 0x80)
        cr_buf_f(buf, "\\x%02x", (unsigned)c);
    else
        cr_buf_f(buf, "\\u{%x}", (unsigned)c);
    return (size_t)len;
}

const char *cr_quote(struct cr_arena *arena, const char *text, size_t len)
{
    struct cr_buf buf = { .arena = arena };
    size_t at = 0;

    for (int n = 0; at < len && n < QUOTE_MAX; n++)
        at += diag_char(&buf, text + at, len - at);
    if (at < len)
        cr_buf_str(&buf, "...");
    return cr_buf_text(&buf);
}

/* The text of a message, escaped where cr_quote was not called. */
static void diag_text(struct cr_buf *buf, const char *text)
{
    size_t n = strlen(text);

    while (n > 0) {
        size_t used = diag_char(buf, text, n);

        text += used;
        n -= used;
    }
}

/* The line'th line of a source; its length without the line end in *len. */
static const char *diag_line(const struct cr_source *src, int line, size_t *len)
{
    const char *p = src->text, *end = src->text + src->len, *stop;

    for (int i = 1; i < line && p; i++) {
        p = memchr(p, '\n', (size_t)(end - p));
        if (p)
            p++;
    }
    if (!p)
        return NULL;
    stop = memchr(p, '\n', (size_t)(end - p));
    *len = (size_t)((stop ? stop : end) - p);
    if (*len > 0 && p[*len - 1] == '\r')
        --*len;
    if (line == 1 && *len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) {
        p += 3;
        *len -= 3;
    }
    return p;
}

/* Terminal columns of a text without control characters: two for East Asian
 * wide characters and emoji (Unicode's UAX #11, by blocks), none
 * for combining marks. */
static size_t diag_width(const char *text, size_t n)
{
    static const uint32_t wide[][2] = {
        { 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0xa4cf },
        { 0xac00, 0xd7a3 },   { 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
        { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },   { 0x1f300, 0x1f64f },
        { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
    };
    size_t width = 0;
    uint32_t c = 0;

    for (int len; n > 0; text += len, n -= (size_t)len) {
        len = cr_utf8(text, n, &c);
        if (len == 0)
            return width + n;
        width += !(c >= 0x300 && c <= 0x36f);
        for (size_t i = 0; i < CR_LEN(wide); i++)
            width += c >= wide[i][0] && c <= wide[i][1];
    }
    return width;
}

/* The line's text and below it the carets with the hint. A long line is cut
 * to a window around the column; a tab counts as one blank, as in columns. */
static bool diag_excerpt(struct cr_buf *buf, const struct cr_message *m,
                         const char *on, const char *off)
{
    const struct cr_pos *pos = &m->pos;
    const struct cr_source *src = pos->src;
    size_t len = 0, at = 0, pad, carets = 0, shown = 0, col = 1;
    const char *line, *left = "   ", *blank = "   ";
    size_t first = 1;

    if (!src || !src->text || pos->line < 1)
        return false;
    line = diag_line(src, pos->line, &len);
    if (!line)
        return false;
    if (src->argument == 0) {
        left = cr_strf(buf->arena, "%5d | ", pos->line);
        blank = cr_strf(buf->arena, "%*s | ", (int)strlen(left) - 3, "");
    }
    if (pos->col > EXCERPT_MAX / 2 && cr_utf8_count(line, len) > EXCERPT_MAX)
        first = (size_t)pos->col - EXCERPT_MAX / 4;
    cr_buf_str(buf, left);
    if (first > 1)
        cr_buf_str(buf, "...");
    pad = first > 1 ? 3 : 0;
    for (; at < len && shown < EXCERPT_MAX; col++) {
        size_t before = buf->len, width;
        size_t used;

        if (col < first) {
            uint32_t c;
            int n = cr_utf8(line + at, len - at, &c);

            at += n > 0 ? (size_t)n : 1;
            continue;
        }
        if (line[at] == '\t') {
            cr_buf_char(buf, ' ');
            used = 1;
        } else {
            used = diag_char(buf, line + at, len - at);
        }
        width = diag_width(buf->text + before, buf->len - before);
        if (col < (size_t)pos->col)
            pad += width;
        else if (col < (size_t)pos->col + (size_t)pos->len)
            carets += width;
        shown++;
        at += used;
    }
    if (at < len)
        cr_buf_str(buf, "...");
    cr_buf_f(buf, "\n%s", blank);
    if (pos->col > 0) {
        for (size_t i = 0; i < pad; i++)
            cr_buf_char(buf, ' ');
        cr_buf_str(buf, on);
        cr_buf_char(buf, '^');
        for (size_t i = 1; i < carets; i++)
            cr_buf_char(buf, '^');
        cr_buf_str(buf, off);
    }
    if (m->hint) {
        cr_buf_char(buf, ' ');
        diag_text(buf, m->hint);
    }
    cr_buf_char(buf, '\n');
    return true;
}

static void diag_place(struct cr_buf *buf, const struct cr_pos *pos)
{
    const struct cr_source *src = pos->src;

    if (!src) {
        cr_buf_str(buf, "cellrun");
    } else if (src->argument > 0) {
        cr_buf_f(buf, "command line, argument %d", src->argument);
    } else {
        diag_text(buf, src->name);
        if (pos->offset > 0)
            cr_buf_f(buf, ": byte %" PRId64, pos->offset - 1);
        else if (pos->line > 0 && pos->col > 0)
            cr_buf_f(buf, ":%d:%d", pos->line, pos->col);
        else if (pos->line > 0)
            cr_buf_f(buf, ":%d", pos->line);
    }
}

const char *cr_pos_text(struct cr_arena *arena, struct cr_pos pos)
{
    struct cr_buf buf = { .arena = arena };

    diag_place(&buf, &pos);
    return cr_buf_text(&buf);
}

static void diag_plain(struct cr_buf *buf, const struct cr_message *m,
                       bool color)
{
    const char *bold = color ? "\033[1m" : "", *off = color ? "\033[0m" : "";
    const char *tint = !color ? "" : m->warning ? "\033[1;35m" : "\033[1;31m";
    const char *green = color ? "\033[32m" : "";

    cr_buf_str(buf, bold);
    diag_place(buf, &m->pos);
    cr_buf_f(buf, ":%s %s%s:%s ", off, tint, m->warning ? "warning" : "error",
             off);
    diag_text(buf, m->text);
    cr_buf_f(buf, " [%s]\n", codes[m->code].number);
    if (!diag_excerpt(buf, m, green, off) && m->hint) {
        cr_buf_str(buf, "   ");
        diag_text(buf, m->hint);
        cr_buf_char(buf, '\n');
    }
    for (const char *p = m->notes; p;) {
        size_t n = strcspn(p, "\n");

        cr_buf_str(buf, "   ");
        diag_text(buf, cr_strndup(buf->arena, p, n));
        cr_buf_char(buf, '\n');
        p = p[n] ? p + n + 1 : NULL;
    }
}

static void diag_member(struct cr_buf *buf, const char *name, const char *text)
{
    if (!text)
        return;
    cr_buf_f(buf, ", \"%s\": ", name);
    cr_buf_json(buf, text);
}

static void diag_json(struct cr_buf *buf, const struct cr_message *m)
{
    const struct cr_source *src = m->pos.src;

    cr_buf_f(buf, "{\"severity\": \"%s\"", m->warning ? "warning" : "error");
    if (src && src->argument > 0)
        cr_buf_f(buf, ", \"argument\": %d", src->argument);
    else if (src)
        diag_member(buf, "file", src->name);
    if (m->pos.line > 0)
        cr_buf_f(buf, ", \"line\": %d", m->pos.line);
    if (m->pos.col > 0)
        cr_buf_f(buf, ", \"col\": %d", m->pos.col);
    if (m->pos.offset > 0)
        cr_buf_f(buf, ", \"byte\": %" PRId64, m->pos.offset - 1);
    diag_member(buf, "path", m->path);
    diag_member(buf, "code", codes[m->code].number);
    diag_member(buf, "message", m->text);
    diag_member(buf, "hint", m->hint);
    diag_member(buf, "notes", m->notes);
    cr_buf_str(buf, "}\n");
}

/* The order of printing: by file in order of their first message, then by
 * line; messages without a line as recorded. */
static bool diag_before(const struct cr_message *a, const struct cr_message *b)
{
    if (a->pos.src != b->pos.src || a->pos.line < 1 || b->pos.line < 1)
        return false;
    return a->pos.line < b->pos.line ||
           (a->pos.line == b->pos.line && a->pos.col < b->pos.col);
}

/* Messages not printed yet, in order of printing; returns their number. */
static int diag_sort(const struct cr_diag *diag, struct cr_arena *mem,
                     const struct cr_message ***list)
{
    const struct cr_message *first =
        diag->printed ? diag->printed->next : diag->first;
    int n = 0, at;

    for (const struct cr_message *m = first; m; m = m->next)
        n++;
    *list = CR_NEWS(mem, const struct cr_message *, n + 1);
    n = 0;
    for (const struct cr_message *m = first; m; m = m->next) {
        const struct cr_message **v = *list;

        for (at = n; at > 0 && v[at - 1]->pos.src != m->pos.src; at--)
            ;
        at = at == 0 ? n : at; /* the first of its source: last */
        while (at > 0 && diag_before(m, v[at - 1]))
            at--;
        memmove(v + at + 1, v + at,
                (size_t)(n - at) * sizeof(struct cr_message *));
        v[at] = m;
        n++;
    }
    return n;
}

/* Reports how many errors were counted but not shown. */
static void diag_print_hidden(struct cr_diag *diag, FILE *to,
                              struct cr_diag_format how)
{
    int shown = diag->errors - diag->hidden;

    if (diag->hidden == diag->hidden_printed)
        return;
    diag->hidden_printed = diag->hidden;
    if (how.json)
        fprintf(to,
                "{\"severity\": \"error\", \"code\": \"%s\", \"message\": "
                "\"%d errors, the first %d are shown\"}\n",
                codes[CR_E_LIMIT].number, diag->errors, shown);
    else
        fprintf(to, "%d errors, the first %d are shown\n", diag->errors, shown);
}

struct cr_reported_text {
    const char *text;           /* of the message, with its place */
    struct cr_reported_text *next;
};

/* Whether another diag has printed this warning; if not, remembers it. */
static bool diag_reported(struct cr_diag *diag, const struct cr_message *m)
{
    struct cr_reported *all = diag->reported;
    struct cr_reported_text *t;
    const char *text;

    if (!all || !m->warning)
        return false;
    text = cr_strf(all->arena, "%s: %s", cr_pos_text(all->arena, m->pos),
                   m->text);
    for (t = all->first; t; t = t->next)
        if (strcmp(t->text, text) == 0)
            return true;
    t = CR_NEW(all->arena, struct cr_reported_text);
    *t = (struct cr_reported_text){ text, all->first };
    all->first = t;
    return false;
}

void cr_diag_print(struct cr_diag *diag, FILE *to, struct cr_diag_format how)
{
    struct cr_arena mem = { 0 };
    const struct cr_message **list;
    int n;

    if (diag->silent)
        return;
    n = diag_sort(diag, &mem, &list);
    for (int i = 0; i < n; i++) {
        struct cr_buf buf = { .arena = &mem };

        if (diag_reported(diag, list[i]))
            continue;
        if (how.json)
            diag_json(&buf, list[i]);
        else
            diag_plain(&buf, list[i], how.color);
        fwrite(buf.text, 1, buf.len, to);
    }
    if (n > 0)
        diag->printed = diag->last;
    diag_print_hidden(diag, to, how);
    fflush(to);
    cr_arena_free(&mem);
}

/* Optimal string alignment: insertions, deletions, changes and swaps of
 * neighbours cost 1; upper and lower case are the same letter. */
static int diag_distance(const char *a, const char *b)
{
    enum {
        MAX = 64
    };
    int d[3][MAX + 1];
    int n = (int)strlen(a), m = (int)strlen(b);

    if (n > MAX || m > MAX)
        return MAX;
    for (int j = 0; j <= m; j++)
        d[0][j] = j;
    for (int i = 1; i <= n; i++) {
        int *now = d[i % 3], *up = d[(i + 2) % 3], *far = d[(i + 1) % 3];

        now[0] = i;
        for (int j = 1; j <= m; j++) {
            int p = tolower((unsigned char)a[i - 1]);
            int q = tolower((unsigned char)b[j - 1]);
            int best = up[j - 1] + (p != q);

            if (up[j] + 1 < best)
                best = up[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && p == tolower((unsigned char)b[j - 2]) &&
                q == tolower((unsigned char)a[i - 2]) && far[j - 2] + 1 < best)
                best = far[j - 2] + 1;
            now[j] = best;
        }
    }
    return d[n % 3][m];
}

const char *cr_closest_name(const char *word, const char *const *words)
{
    int len = (int)strlen(word);
    int limit = len < 3 ? 1 : len / 3 + (len > 3);
    const char *best = NULL;
    int least = limit + 1;

    for (; *words; words++) {
        int d = diag_distance(word, *words);

        /* A short word may not change in most of its letters, and at the limit
         * the first letter must be the same. */
        if (d < least && d < (int)strlen(*words) && d < len &&
            (d <= len / 3 || tolower((unsigned char)*word) ==
                                 tolower((unsigned char)**words))) {
            least = d;
            best = *words;
        }
    }
    return best;
}
