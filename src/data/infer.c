#include "data/infer.h"

#include "base/str.h"
#include "data/csv.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *cr_field_kind_name(enum cr_field_kind kind)
{
    static const char *const names[] = {
        [CR_FIELD_EMPTY] = "empty",       [CR_FIELD_CONSTANT] = "constant",
        [CR_FIELD_ID] = "id",             [CR_FIELD_INTEGER] = "integer",
        [CR_FIELD_REAL] = "real",         [CR_FIELD_DATE] = "date",
        [CR_FIELD_CATEGORY] = "category", [CR_FIELD_TEXT] = "text",
    };

    return names[kind];
}

bool cr_is_missing(const char *text, size_t len)
{
    static const char *const marks[] = { "", "?", "-", "na", "n/a", "nan",
                                         "null", "none", NULL };
    int i;

    while (len > 0 && (*text == ' ' || *text == '\t')) {
        text++;
        len--;
    }
    while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
        len--;
    if (len > 4)
        return false;
    for (i = 0; marks[i]; i++)
        if (strlen(marks[i]) == len && strncasecmp(text, marks[i], len) == 0)
            return true;
    return false;
}

/* ---- distinct values ---- */

/* The first CR_CLASSES_MAX distinct values with their counts and, until a value
 * occurs twice, the hashes of all values. */
struct values {
    int n, cap;             /* n -1: too many */
    const char **text;
    int64_t *count;
    int32_t *slot;          /* hash table of 4 cap slots: index + 1; 0: free */
    bool repeated;
    uint64_t *hash;         /* 0: free */
    uint64_t hashes, slots; /* of `hash`: used, in total */
};

/* The values of one field so far. */
struct seen {
    struct cr_field_facts facts;
    struct values values;
    bool blanks;            /* some value contains a blank */
    unsigned forms;
    double sum;
    double dates[4][3];     /* per format: minimum, maximum, sum, in seconds */
};

static void hash_grow(struct values *v)
{
    uint64_t *old = v->hash, slots = v->slots, i, at;

    v->slots = slots > 0 ? 2 * slots : 64;
    v->hash = calloc(v->slots, sizeof *v->hash);
    if (!v->hash)
        cr_out_of_memory(v->slots * sizeof *v->hash);
    for (i = 0; i < slots; i++) {
        if (old[i] == 0)
            continue;
        for (at = old[i] & (v->slots - 1); v->hash[at];)
            at = (at + 1) & (v->slots - 1);
        v->hash[at] = old[i];
    }
    free(old);
}

/* Two texts with the same 64-bit hash are treated as equal. */
static void hash_add(struct values *v, uint64_t hash)
{
    uint64_t at;

    if (v->repeated)
        return;
    hash += hash == 0;
    if (2 * v->hashes >= v->slots)
        hash_grow(v);
    for (at = hash & (v->slots - 1); v->hash[at] && v->hash[at] != hash;)
        at = (at + 1) & (v->slots - 1);
    v->repeated = v->hash[at] == hash;
    v->hash[at] = hash;
    v->hashes++;
    if (!v->repeated)
        return;
    free(v->hash);
    v->hash = NULL;
}

/* Starts small, because a table may have many thousand fields. */
static void values_grow(struct cr_arena *arena, struct values *v)
{
    int cap = v->cap > 0 ? 2 * v->cap : 8;
    uint32_t mask = 4 * (uint32_t)cap - 1;

    v->text = cr_grow(arena, v->text, (size_t)v->cap, (size_t)cap,
                      sizeof *v->text);
    v->count = cr_grow(arena, v->count, (size_t)v->cap, (size_t)cap,
                       sizeof *v->count);
    v->slot = CR_NEWS(arena, int32_t, 4 * cap);
    v->cap = cap;
    for (int i = 0; i < v->n; i++) {
        uint32_t at = (uint32_t)cr_hash(CR_HASH, v->text[i],
                                        strlen(v->text[i])) & mask;

        while (v->slot[at])
            at = (at + 1) & mask;
        v->slot[at] = i + 1;
    }
}

static void values_add(struct cr_arena *arena, struct values *v,
                       const char *text, size_t len)
{
    uint64_t hash = cr_hash(CR_HASH, text, len);
    uint32_t at, mask;

    hash_add(v, hash);
    if (v->n < 0)
        return;
    if (v->n == v->cap)
        values_grow(arena, v);
    mask = 4 * (uint32_t)v->cap - 1;
    for (at = (uint32_t)hash & mask; v->slot[at]; at = (at + 1) & mask) {
        const char *word = v->text[v->slot[at] - 1];

        if (strncmp(word, text, len) == 0 && word[len] == '\0')
            break;
    }
    if (!v->slot[at] && v->n == CR_CLASSES_MAX) {
        v->n = -1;
        return;
    }
    if (!v->slot[at]) {
        v->text[v->n] = cr_strndup(arena, text, len);
        v->slot[at] = ++v->n;
    }
    v->count[v->slot[at] - 1]++;
}

/* ---- one value ---- */

static void numbers_add(struct seen *s, const char *text, size_t len)
{
    struct cr_field_facts *f = &s->facts;
    int64_t integer;
    double v;

    f->numbers = cr_csv_real(text, len, &v);
    f->whole = f->numbers && f->whole && cr_csv_int(text, len, &integer);
    if (!f->numbers)
        return;
    f->min = f->present == 0 || v < f->min ? v : f->min;
    f->max = f->present == 0 || v > f->max ? v : f->max;
    s->sum += v;
}

/* Whether the text is a number with a decimal comma. */
static bool has_decimal_comma(const char *text, size_t len)
{
    const char *comma = memchr(text, ',', len);
    char copy[64];
    double v;

    if (!comma || len >= sizeof copy)
        return false;
    memcpy(copy, text, len);
    copy[comma - text] = '.';
    return cr_csv_real(copy, len, &v);
}

/* Length of the number at the beginning of the text; 0: none. */
static size_t number_length(const char *text, size_t len)
{
    size_t n = 0;
    double v;

    while (n < len && (memchr("+-.", text[n], 3) ||
                       (text[n] >= '0' && text[n] <= '9')))
        n++;
    return n > 0 && cr_csv_real(text, n, &v) ? n : 0;
}

/* Whether the bytes can be a unit: a short word without digits or commas. */
static bool is_unit(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (memchr("0123456789,;:", text[i], 13) ||
            (unsigned char)text[i] < ' ')
            return false;
    return len >= 1 && len <= 12;
}

/* Whether the bytes before a number can be a unit: a sign such as $, or up to
 * three letters and a blank, unlike the letters of an id. */
static bool is_unit_before(const char *text, size_t len)
{
    bool letters = false;

    for (size_t i = 0; i < len; i++)
        letters = letters || isalpha((unsigned char)text[i]);
    return !letters || (len <= 4 && text[len - 1] == ' ');
}

/* Counts values with the unit of the first one that has a unit. */
static void units_add(struct cr_arena *arena, struct cr_field_facts *f,
                      const char *text, size_t len)
{
    size_t number, before = 0, n;
    bool first;

    while (len > 0 && text[len - 1] == ' ')
        len--;
    while (len > 0 && *text == ' ')
        text++, len--;
    number = number_length(text, len);
    first = number == 0;
    while (first && before < len && !memchr("+-.0123456789", text[before], 13))
        before++;
    if (first && (before == 0 ||
                  number_length(text + before, len - before) < len - before))
        return;
    if (first && !is_unit_before(text, before))
        return;
    n = first ? before : len - number;
    text += first ? 0 : number;
    while (n > 0 && *text == ' ')
        text++, n--;
    while (n > 0 && text[n - 1] == ' ')
        n--;
    if (!is_unit(text, n))
        return;
    if (!f->unit) {
        f->unit = cr_strndup(arena, text, n);
        f->unit_first = first;
    }
    f->units += f->unit_first == first && strlen(f->unit) == n &&
                memcmp(f->unit, text, n) == 0;
}

static void dates_add(struct seen *s, const char *text, size_t len)
{
    int i;

    s->forms = cr_date_forms(text, len, s->forms, &s->facts.clock);
    for (i = 0; i < 4; i++) {
        double *d = s->dates[i], v;

        if (!(s->forms & 1u << i))
            continue;
        cr_date_read(text, len, (enum cr_date_form)(1u << i), &v);
        d[0] = s->facts.present == 0 || v < d[0] ? v : d[0];
        d[1] = s->facts.present == 0 || v > d[1] ? v : d[1];
        d[2] += v;
    }
}

static void add(struct cr_arena *arena, struct seen *s, const char *text,
                size_t len)
{
    if (cr_is_missing(text, len)) {
        s->facts.missing++;
        return;
    }
    if (s->facts.numbers)
        numbers_add(s, text, len);
    s->facts.commas += has_decimal_comma(text, len);
    if (!s->facts.numbers)
        units_add(arena, &s->facts, text, len);
    if (s->forms)
        dates_add(s, text, len);
    s->blanks = s->blanks || memchr(text, ' ', len);
    values_add(arena, &s->values, text, len);
    s->facts.present++;
}

/* ---- the kind of a field ---- */

/* Whether the name suggests an index of the rows: id, index, row_id, userId. */
static bool is_id_name(const char *name)
{
    size_t len = strlen(name);

    if (len == 0 || strcasecmp(name, "id") == 0 ||
        strcasecmp(name, "index") == 0)
        return true;
    return len > 2 && (strcasecmp(name + len - 3, "_id") == 0 ||
                       strcmp(name + len - 2, "Id") == 0);
}

static bool is_id(const struct seen *s)
{
    const struct cr_field_facts *f = &s->facts;

    if (s->values.repeated || f->missing > 0 || f->present < 3)
        return false;
    if (!f->numbers)
        return !s->forms && !s->blanks && f->present > 20;
    return f->whole && (is_id_name(f->name) ||
                        (f->max - f->min == (double)(f->present - 1) &&
                         f->min >= 0 && f->min <= 1 && f->present > 20));
}

static enum cr_field_kind kind_of(const struct seen *s)
{
    const struct cr_field_facts *f = &s->facts;
    int n = s->values.n;

    if (f->present == 0)
        return CR_FIELD_EMPTY;
    if (n == 1)
        return CR_FIELD_CONSTANT;
    if (is_id(s))
        return CR_FIELD_ID;
    if (f->numbers)
        return f->whole ? CR_FIELD_INTEGER : CR_FIELD_REAL;
    if (s->forms)
        return CR_FIELD_DATE;
    return n >= 0 && (n <= 20 || n <= f->present / 2) ? CR_FIELD_CATEGORY
                                                       : CR_FIELD_TEXT;
}

struct class {
    const char *text;
    double number;
    int64_t count;
};

static int by_number(const void *a, const void *b)
{
    const struct class *x = a, *y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return strcmp(x->text, y->text);
}

static int by_text(const void *a, const void *b)
{
    const struct class *x = a, *y = b;

    return strcmp(x->text, y->text);
}

static void classes(struct cr_arena *arena, struct seen *s)
{
    const struct values *v = &s->values;
    struct class *all = NULL;
    const char **name;
    int64_t *count;
    int i;

    s->facts.n_classes = v->n;
    if (v->n <= 0)
        return;
    all = CR_NEWS(arena, struct class, v->n);
    for (i = 0; i < v->n; i++) {
        all[i] = (struct class){ .text = v->text[i], .count = v->count[i] };
        if (s->facts.numbers)
            cr_csv_real(v->text[i], strlen(v->text[i]), &all[i].number);
    }
    qsort(all, (size_t)v->n, sizeof *all,
          s->facts.numbers ? by_number : by_text);
    name = CR_NEWS(arena, const char *, v->n);
    count = CR_NEWS(arena, int64_t, v->n);
    for (i = 0; i < v->n; i++) {
        name[i] = cr_strdup(arena, all[i].text);
        count[i] = all[i].count;
    }
    s->facts.class_name = name;
    s->facts.class_count = count;
}

static void finish_facts(struct cr_arena *arena, struct seen *s,
                         struct cr_field_facts *to)
{
    struct cr_field_facts *f = &s->facts;
    bool dates;
    int i = 0;

    if (f->present == 0)
        f->numbers = f->whole = false;
    f->kind = kind_of(s);
    f->mean = f->present > 0 ? s->sum / (double)f->present : 0;
    while (i < 3 && !(s->forms & 1u << i))
        i++;
    dates = s->forms && !f->numbers && f->present > 0;
    f->clock = f->clock && dates;
    if (dates) {
        double unit = f->clock ? 1 : 86400;

        f->form = (enum cr_date_form)(1u << i);
        f->min = s->dates[i][0] / unit;
        f->max = s->dates[i][1] / unit;
        f->mean = s->dates[i][2] / unit / (double)f->present;
    }
    classes(arena, s);
    if (f->unit)
        f->unit = cr_strdup(arena, f->unit);
    *to = *f;
}

/* ---- delimiter and header ---- */

#define LOOK 100 /* first rows, from which delimiter and header are inferred */

/* The number of fields of the first rows with this delimiter, if all rows have
 * the same number; else 0. */
static int count_fields(struct cr_arena *arena, const char *path,
                        char delimiter)
{
    struct cr_diag quiet = { .arena = arena };
    struct cr_csv csv;
    bool bad = false;
    int rows, n = 0;

    if (!cr_csv_open(&csv, &quiet, path, delimiter))
        return 0;
    for (rows = 0; rows < LOOK && cr_csv_next(&csv, &bad); rows++) {
        if (rows > 0 && csv.n != n)
            bad = true;
        n = csv.n;
        if (bad)
            break;
    }
    cr_csv_close(&csv);
    return bad ? 0 : n;
}

static char find_delimiter(struct cr_arena *arena, const char *path)
{
    static const char all[] = { ',', ';', '\t', '|' };
    int i, n, most = 1;
    char found = ',';

    for (i = 0; i < 4; i++) {
        n = count_fields(arena, path, all[i]);
        if (n <= most)
            continue;
        most = n;
        found = all[i];
    }
    return found;
}

static bool is_value(const char *text, size_t len)
{
    bool clock = false;
    double v;

    return cr_csv_real(text, len, &v) ||
           cr_date_forms(text, len, CR_DATE_ANY, &clock) != 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A name that occurs twice; NULL: none. */
static const char *find_twice(struct cr_arena *arena, const char *const *name,
                              int n)
{
    const char **sorted = CR_NEWS(arena, const char *, n + 1);
    const char *twice = NULL;

    memcpy(sorted, name, (size_t)n * sizeof *name);
    qsort(sorted, (size_t)n, sizeof *sorted, by_name);
    for (int i = 1; i < n; i++)
        if (!twice && strcmp(sorted[i - 1], sorted[i]) == 0)
            twice = sorted[i];
    return twice;
}

/* Whether the first row is a header: its texts are distinct and neither numbers
 * nor dates, and some field below it differs in kind: it has numbers or dates,
 * or never the text of the first row. *twice: the name that occurs twice in
 * what is a header otherwise. */
static bool find_header(struct cr_arena *arena, const char *path,
                        char delimiter, const char **twice)
{
    struct cr_diag quiet = { .arena = arena };
    const char **name = NULL;
    struct cr_csv csv;
    bool bad = false, header = true, values = false, again = false;
    int i, n = 0, rows;

    if (!cr_csv_open(&csv, &quiet, path, delimiter))
        return true;
    for (rows = 0; rows < LOOK && header && cr_csv_next(&csv, &bad); rows++) {
        if (rows == 0) {
            n = csv.n;
            name = CR_NEWS(arena, const char *, n);
        }
        for (i = 0; i < csv.n && i < n; i++) {
            const struct cr_csv_field *f = &csv.field[i];

            if (rows > 0) {
                values = values || is_value(f->text, f->len);
                again = again || (f->len == strlen(name[i]) &&
                                  memcmp(f->text, name[i], f->len) == 0);
                continue;
            }
            name[i] = cr_strndup(arena, f->text, f->len);
            header = header && !is_value(f->text, f->len) &&
                     (i == 0 || !cr_is_missing(f->text, f->len));
        }
        if (rows == 0 && header)
            *twice = find_twice(arena, name, n);
        header = header && !*twice;
    }
    cr_csv_close(&csv);
    return header && (values || !again);
}

/* ---- reading ---- */

static const char *name_of(struct cr_arena *arena,
                           const struct cr_infer_opts *o,
                           const struct cr_csv *csv, bool header, int i)
{
    if (i < o->n_names)
        return o->names[i];
    return header ? cr_strndup(arena, csv->field[i].text, csv->field[i].len)
                  : cr_strf(arena, "column_%d", i);
}

static struct seen *seen_make(struct cr_arena *arena, struct cr_arena *mem,
                              const struct cr_infer_opts *o,
                              const struct cr_csv *csv, bool header)
{
    struct seen *s = CR_NEWS(mem, struct seen, csv->n);
    int i;

    for (i = 0; i < csv->n; i++) {
        s[i].facts.name = name_of(arena, o, csv, header, i);
        s[i].facts.numbers = s[i].facts.whole = true;
        s[i].forms = CR_DATE_ANY;
    }
    return s;
}

/* Records the first text that is not UTF-8. */
static void check_utf8(struct cr_table_facts *to, const struct cr_csv *csv,
                       const struct cr_csv_field *field)
{
    uint32_t code;
    int n;

    if (to->not_utf8.src)
        return;
    for (size_t i = 0; i < field->len; i += (size_t)n) {
        n = cr_utf8(field->text + i, field->len - i, &code);
        if (n > 0)
            continue;
        to->not_utf8 = cr_csv_at(csv, field);
        to->byte = (unsigned char)field->text[i];
        return;
    }
}

static bool infer_file(struct cr_arena *arena, struct cr_arena *mem,
                       struct cr_diag *diag, const char *path,
                       const struct cr_infer_opts *o,
                       struct cr_table_facts *to, struct seen **seen)
{
    struct cr_csv csv;
    bool bad = false, first = true;
    int i;

    if (!cr_csv_open(&csv, diag, path, to->delimiter))
        return false;
    while (cr_csv_next(&csv, &bad)) {
        if (!*seen) {
            to->n = csv.n;
            *seen = seen_make(arena, mem, o, &csv, to->header);
        }
        if (csv.n != to->n) {
            struct cr_pos pos = cr_at_file(diag->arena, csv.path);

            pos.line = csv.line < INT_MAX ? (int)csv.line : INT_MAX;
            bad = true;
            cr_error(diag, pos, CR_E_DATA_FORMAT,
                     "the row has %d field%s, expected %d as in the first "
                     "line", csv.n, csv.n == 1 ? "" : "s", to->n);
            break;
        }
        for (i = 0; i < csv.n; i++) {
            check_utf8(to, &csv, &csv.field[i]);
            if (!first || !to->header)
                add(mem, &(*seen)[i], csv.field[i].text, csv.field[i].len);
        }
        to->rows += !(first && to->header);
        first = false;
    }
    cr_csv_close(&csv);
    return !bad;
}

bool cr_infer(struct cr_arena *arena, struct cr_diag *diag,
              const char *const *paths, int n_paths,
              const struct cr_infer_opts *o, struct cr_table_facts *to)
{
    struct cr_arena mem = { 0 };
    struct seen *seen = NULL;
    const char *twice = NULL;
    bool ok = true;
    int i;

    *to = (struct cr_table_facts){ 0 };
    to->delimiter = o->delimiter ? o->delimiter
                                 : find_delimiter(&mem, paths[0]);
    to->header = o->header >= 0 ? o->header > 0
                                : find_header(&mem, paths[0], to->delimiter,
                                              &twice);
    to->twice = twice ? cr_strdup(arena, twice) : NULL;
    for (i = 0; i < n_paths && ok; i++)
        ok = infer_file(arena, &mem, diag, paths[i], o, to, &seen);
    if (ok && to->rows == 0)
        ok = cr_error(diag, cr_at_file(diag->arena, paths[0]),
                      CR_E_DATA_EMPTY, "the file has no rows");
    if (ok)
        to->field = CR_NEWS(arena, struct cr_field_facts, to->n);
    for (i = 0; i < to->n && ok; i++)
        finish_facts(arena, &seen[i], &to->field[i]);
    for (i = 0; i < to->n && seen; i++)
        free(seen[i].values.hash);
    cr_arena_free(&mem);
    return ok;
}
