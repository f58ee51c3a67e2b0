#include "rundir/series.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/mapping.h"
#include "ckpt/run_index.h"

#define DEPTH 64             /* nested values of a record */
#define MEMBERS 256          /* numbers of a record */
#define COLUMNS 4096         /* of a series */
#define SERIES 4096          /* of a run */
#define RECORD_MAX ((size_t)16 << 20)
#define VALUES_MIN ((size_t)1 << 20) /* values of columns, plus one for each
                                      byte of the file */

/* ---- Scanner of one line: a JSON object */

struct scan {
    const char *at, *end; /* of the line */
};

struct text {
    const char *s;
    size_t n;
};

/* The numbers and the names of a record. */
struct record {
    double t, step, epoch, samples;
    struct text split, cell, what, phase;
    int n;
    struct text key[MEMBERS];
    double value[MEMBERS];
};

static void scan_blanks(struct scan *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' ||
                              *s->at == '\r'))
        s->at++;
}

static bool scan_char(struct scan *s, char c)
{
    scan_blanks(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

/* A string, without its quotes; escapes stay as they are written. */
static bool scan_string(struct scan *s, struct text *to)
{
    if (!scan_char(s, '"'))
        return false;
    to->s = s->at;
    while (s->at < s->end && *s->at != '"') {
        if ((unsigned char)*s->at < ' ')
            return false;
        if (*s->at == '\\')
            s->at++;
        if (s->at < s->end)
            s->at++;
    }
    if (s->at >= s->end)
        return false;
    to->n = (size_t)(s->at++ - to->s);
    return true;
}

/* A decimal number of at most 2^53 with a power of ten of at most 22 is the
 * quotient or product of two exact doubles, which is correctly rounded
 * (Clinger, "How to Read Floating Point Numbers Accurately", 1990). strtod
 * reads the others. */
static bool scan_number(struct scan *s, double *to)
{
    static const double ten[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,
                                  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
                                  1e18, 1e19, 1e20, 1e21, 1e22 };
    const char *from = s->at, *p = from, *first;
    uint64_t digits = 0;
    int scale = 0, n;
    bool negative = p < s->end && *p == '-';

    p += negative;
    for (first = p; p < s->end && *p >= '0' && *p <= '9'; p++)
        digits = digits * 10 + (uint64_t)(*p - '0');
    n = (int)(p - first);
    if (n == 0)
        return false;
    if (p < s->end && *p == '.') {
        for (first = ++p; p < s->end && *p >= '0' && *p <= '9'; p++)
            digits = digits * 10 + (uint64_t)(*p - '0');
        scale = (int)(p - first);
        n += scale;
    }
    s->at = p;
    if (p < s->end && (*p == 'e' || *p == 'E')) {
        for (p++; p < s->end && (*p == '+' || *p == '-'); p++)
            ;
        while (p < s->end && *p >= '0' && *p <= '9')
            p++;
        s->at = p;
    } else if (n <= 19 && digits <= (UINT64_C(1) << 53) &&
               scale < (int)CR_LEN(ten)) {
        *to = (double)digits / ten[scale];
        *to = negative ? -*to : *to;
        return true;
    }
    {
        char number[64], *end;

        n = (int)(s->at - from);
        if (n >= (int)sizeof number)
            return false;
        memcpy(number, from, (size_t)n);
        number[n] = '\0';
        *to = strtod(number, &end);
        return *end == '\0';
    }
}

static bool scan_word(struct scan *s, const char *word)
{
    size_t n = strlen(word);

    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

/* A list or an object, whatever is in it. */
static bool scan_nested(struct scan *s)
{
    char close[DEPTH];
    int depth = 0;
    struct text ignored;

    do {
        char c = *s->at;

        if (c == '"') {
            if (!scan_string(s, &ignored))
                return false;
            continue;
        }
        s->at++;
        if (c == '[' || c == '{') {
            if (depth == DEPTH)
                return false;
            close[depth++] = c == '[' ? ']' : '}';
        } else if ((c == ']' || c == '}') && close[--depth] != c) {
            return false;
        }
    } while (depth > 0 && s->at < s->end);
    return depth == 0;
}

/* A member of the record after its key. */
static bool scan_value(struct scan *s, struct record *r, struct text key)
{
    struct text text;
    double value = (double)NAN;

    scan_blanks(s);
    if (s->at == s->end)
        return false;
    switch (*s->at) {
    case '"':
        if (!scan_string(s, &text))
            return false;
        if (key.n == 5 && memcmp(key.s, "split", 5) == 0)
            r->split = text;
        else if (key.n == 2 && memcmp(key.s, "at", 2) == 0)
            r->cell = text;
        else if (key.n == 4 && memcmp(key.s, "what", 4) == 0)
            r->what = text;
        else if (key.n == 2 && memcmp(key.s, "in", 2) == 0)
            r->phase = text;
        return true;
    case '[':
    case '{':
        return scan_nested(s);
    case 't':
        return scan_word(s, "true");
    case 'f':
        return scan_word(s, "false");
    case 'n':
        if (!scan_word(s, "null"))
            return false;
        break;
    default:
        if (!scan_number(s, &value))
            return false;
    }
    if (key.n == 1 && key.s[0] == 't')
        r->t = value;
    else if (key.n == 4 && memcmp(key.s, "step", 4) == 0)
        r->step = value;
    else if (key.n == 5 && memcmp(key.s, "epoch", 5) == 0)
        r->epoch = value;
    else if (key.n == 7 && memcmp(key.s, "samples", 7) == 0)
        r->samples = value;
    else if (r->n < MEMBERS) {
        r->key[r->n] = key;
        r->value[r->n++] = value;
    }
    return true;
}

static bool scan_record(struct scan *s, struct record *r)
{
    struct text none = { "", 0 }, key;

    r->t = r->step = r->epoch = r->samples = (double)NAN;
    r->split = r->cell = r->what = r->phase = none;
    r->n = 0;
    if (!scan_char(s, '{'))
        return false;
    if (!scan_char(s, '}')) {
        do {
            if (!scan_string(s, &key) || !scan_char(s, ':') ||
                !scan_value(s, r, key))
                return false;
        } while (scan_char(s, ','));
        if (!scan_char(s, '}'))
            return false;
    }
    scan_blanks(s);
    return s->at == s->end && r->split.n > 0;
}

/* ---- Series */

static bool text_equals(struct text text, const char *name)
{
    return strlen(name) == text.n && memcmp(name, text.s, text.n) == 0;
}

/* The text of a JSON string, with its escapes replaced. */
static const char *text_plain(struct cr_arena *arena, struct text text)
{
    const char *why;
    struct cr_node *node;
    size_t at;

    if (!memchr(text.s, '\\', text.n))
        return cr_strndup(arena, text.s, text.n);
    node = cr_json_read(arena, cr_strf(arena, "\"%.*s\"", (int)text.n, text.s),
                        text.n + 2, &why, &at);
    return node ? node->text : cr_strndup(arena, text.s, text.n);
}

static const char *series_name(struct cr_arena *arena, const struct record *r)
{
    struct cr_buf name = { .arena = arena };

    cr_buf_str(&name, text_plain(arena, r->split));
    if (text_equals(r->split, "watch")) {
        if (r->cell.n)
            cr_buf_f(&name, ".%s", text_plain(arena, r->cell));
        if (r->what.n)
            cr_buf_f(&name, ".%s", text_plain(arena, r->what));
        if (r->phase.n)
            cr_buf_f(&name, ".%s", text_plain(arena, r->phase));
    }
    return cr_buf_text(&name);
}

static struct cr_series *series_of(struct cr_run_series *run,
                                   const struct record *r)
{
    bool watch = text_equals(r->split, "watch");
    const char *name;

    for (int i = 0; i < run->n && !watch; i++)
        if (text_equals(r->split, run->series[i].name))
            return &run->series[i];
    name = series_name(run->arena, r);
    for (int i = 0; i < run->n; i++)
        if (strcmp(name, run->series[i].name) == 0)
            return &run->series[i];
    if (run->n == SERIES)
        return NULL;
    if (run->n == run->cap) {
        run->cap = 2 * run->cap + 8;
        run->series = cr_grow(run->arena, run->series, (size_t)run->n,
                              (size_t)run->cap, sizeof *run->series);
    }
    run->series[run->n] = (struct cr_series){ .name = name };
    return &run->series[run->n++];
}

static double *series_grow(struct cr_arena *arena, const double *old,
                           const struct cr_series *s)
{
    return cr_grow(arena, old, (size_t)s->n, (size_t)s->cap, sizeof *old);
}

/* Reserves memory for values; false: more than a file of this length needs. */
static bool series_reserve(struct cr_run_series *run, int64_t values)
{
    if ((size_t)values > run->max_values - run->n_values)
        return false;
    run->n_values += (size_t)values;
    return true;
}

/* The place of a column, whose key has no escapes; -1: there are too many.
 * Records mostly repeat the members of the one before, so that the search
 * begins at `from`. */
static int series_column(struct cr_run_series *run, struct cr_series *s,
                         struct text key, int from)
{
    struct cr_arena *arena = run->arena;
    struct cr_series_column *c;

    for (int i = 0; i < s->n_columns; i++) {
        int k = (from + i) % s->n_columns;

        if (text_equals(key, s->column[k].name))
            return k;
    }
    if (s->n_columns == COLUMNS || !series_reserve(run, s->cap))
        return -1;
    if (s->n_columns == s->cap_columns) {
        s->cap_columns = 2 * s->cap_columns + 8;
        s->column = cr_grow(arena, s->column, (size_t)s->n_columns,
                            (size_t)s->cap_columns, sizeof *s->column);
    }
    c = &s->column[s->n_columns];
    c->name = cr_strndup(arena, key.s, key.n);
    c->value = CR_NEWS(arena, double, s->cap);
    for (int64_t i = 0; i < s->n; i++)
        c->value[i] = (double)NAN;
    return s->n_columns++;
}

/* Adds a record; false: there are too many values. */
static bool series_add(struct cr_run_series *run, const struct record *r,
                       int64_t line)
{
    struct cr_series *s = series_of(run, r);
    int at = 0;

    if (!s)
        return false;
    while (s->n > 0 && s->step[s->n - 1] > r->step)
        s->n--;
    if (s->n == s->cap) {
        if (!series_reserve(run, (s->cap + 64) * s->n_columns))
            return false;
        s->cap = 2 * s->cap + 64;
        s->line = cr_grow(run->arena, s->line, (size_t)s->n, (size_t)s->cap,
                          sizeof *s->line);
        s->step = series_grow(run->arena, s->step, s);
        s->epoch = series_grow(run->arena, s->epoch, s);
        s->number = series_grow(run->arena, s->number, s);
        s->time = series_grow(run->arena, s->time, s);
        s->t = series_grow(run->arena, s->t, s);
        s->samples = series_grow(run->arena, s->samples, s);
        for (int i = 0; i < s->n_columns; i++)
            s->column[i].value =
                series_grow(run->arena, s->column[i].value, s);
    }
    s->line[s->n] = line;
    s->step[s->n] = r->step;
    s->epoch[s->n] = s->number[s->n] = r->epoch;
    s->t[s->n] = r->t;
    s->samples[s->n] = r->samples;
    for (int i = 0; i < s->n_columns; i++)
        s->column[i].value[s->n] = (double)NAN;
    for (int i = 0; i < r->n; i++) {
        struct text key = r->key[i];
        int k;

        if (memchr(key.s, '\\', key.n)) {
            key.s = text_plain(run->arena, key);
            key.n = strlen(key.s);
        }
        k = series_column(run, s, key, at);
        if (k >= 0)
            s->column[k].value[s->n] = r->value[i];
        at = k + 1;
    }
    s->n++;
    return true;
}

/* ---- Axes */

/* No fewer samples than an epoch has can be seen by the end of it, so that
 * every record gives a lower bound: exact at the end of an epoch. */
static double series_epoch_samples(const struct cr_run_series *run)
{
    double n = 0;

    for (int i = 0; i < run->n; i++) {
        const struct cr_series *s = &run->series[i];

        for (int64_t k = 0; k < s->n; k++)
            if (s->samples[k] / (s->epoch[k] + 1) > n)
                n = s->samples[k] / (s->epoch[k] + 1);
    }
    return n;
}

static void series_axes(struct cr_run_series *run, double epoch_samples)
{
    double start = INFINITY, n = series_epoch_samples(run);

    if (epoch_samples > n)
        n = epoch_samples;
    for (int i = 0; i < run->n; i++)
        for (int64_t k = 0; k < run->series[i].n; k++)
            start = fmin(start, run->series[i].t[k]);
    for (int i = 0; i < run->n; i++) {
        struct cr_series *s = &run->series[i];

        for (int64_t k = 0; k < s->n; k++) {
            double epoch = s->samples[k] / n;

            s->time[k] = round((s->t[k] - start) * 1000) / 1000;
            if (isfinite(epoch) && isfinite(s->epoch[k]))
                s->epoch[k] =
                    fmin(fmax(epoch, s->epoch[k]), s->epoch[k] + 1);
        }
    }
}

void cr_run_series_parse(struct cr_run_series *run, const char *text,
                         size_t len, double epoch_samples)
{
    struct record *r = CR_NEW(run->arena, struct record);
    int64_t line = 0;

    run->max_values = run->n_values + VALUES_MIN + len;
    for (const char *at = text, *end; at < text + len; at = end + 1) {
        struct scan s;

        end = memchr(at, '\n', (size_t)(text + len - at));
        if (!end)
            break;
        line++;
        s = (struct scan){ at, end };
        if ((!scan_record(&s, r) || !series_add(run, r, line)) &&
            run->invalid++ == 0)
            run->first_invalid = line;
    }
    series_axes(run, epoch_samples);
}

/* ---- Files */

static double read_epoch_samples(struct cr_arena *arena, const char *dir)
{
    const char *path = cr_path_join(arena, dir, "record.json"), *why;
    struct cr_node *record = NULL;
    size_t len, at;
    char *text = cr_run_file(arena, path, RECORD_MAX, &len);

    if (text)
        record = cr_json_read(arena, text, len, &why, &at);
    return cr_json_real(cr_node_get(cr_node_get(record, "data"), "train"),
                        "samples", 0);
}

bool cr_run_series_read(struct cr_run_series *run, struct cr_diag *diag,
                        const char *dir)
{
    const char *path = cr_path_join(run->arena, dir, "metrics.jsonl");
    struct cr_mapping *map = NULL;
    struct stat st = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool ok;

    if (fd < 0 && errno == ENOENT)
        return true;
    ok = fd >= 0 && fstat(fd, &st) == 0;
    if (ok && !S_ISREG(st.st_mode)) {
        errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
        ok = false;
    }
    if (ok && st.st_size > 0) {
        map = cr_mapping_open(fd, (size_t)st.st_size, path);
        ok = map != NULL;
    }
    if (!ok)
        cr_error(diag, cr_at_file(run->arena, path), CR_E_SYSTEM,
                 "cannot read: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    if (map) {
        cr_run_series_parse(run, (const char *)cr_mapping_bytes(map),
                            (size_t)st.st_size,
                            read_epoch_samples(run->arena, dir));
        cr_mapping_close(map);
    }
    return ok;
}

const struct cr_series *cr_series_find(const struct cr_run_series *run,
                                       const char *name)
{
    for (int i = 0; i < run->n; i++)
        if (strcmp(run->series[i].name, name) == 0)
            return &run->series[i];
    return NULL;
}

const struct cr_series_column *cr_series_column(const struct cr_series *series,
                                                const char *name)
{
    for (int i = 0; series && i < series->n_columns; i++)
        if (strcmp(series->column[i].name, name) == 0)
            return &series->column[i];
    return NULL;
}
