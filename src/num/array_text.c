#include "num/array_text.h"

#include "base/str.h"
#include "num/low_precision.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NumPy's print options, as they are unless somebody sets them. */
#define PRECISION 8
#define THRESHOLD 1000
#define EDGE 3
#define WIDTH 75

#define WORD 400 /* bytes of a number without an exponent */

/* ---- one number ---- */

/* Significant digits: 0.d0 d1 d2 ... times 10^(exponent + 1). */
struct digits {
    char d[24];
    int n, exponent;
};

/* What a decimal number becomes in that type. */
static double parsed(const char *text, enum cr_type type)
{
    double v = strtod(text, NULL);
    cr_real half = (cr_real)v;

    if (type == CR_F64)
        return v;
    if (type != CR_F16)
        return (double)strtof(text, NULL);
    cr_round_to_type(CR_F16, 1, &half, &half);
    return (double)half;
}

static void digits_from(const char *text, struct digits *to)
{
    const char *p = text;

    to->n = 0;
    for (; *p && *p != 'e'; p++)
        if (*p != '.' && to->n < (int)sizeof to->d - 1)
            to->d[to->n++] = *p;
    while (to->n > 1 && to->d[to->n - 1] == '0')
        to->n--;
    to->d[to->n] = '\0';
    to->exponent = *p ? atoi(p + 1) : 0;
}

/* The next decimal number of p digits: 5.684e-14 after 5.683e-14. */
static void step_up(char *text)
{
    char *p = strchr(text, 'e') - 1;

    for (; p >= text; p--) {
        if (*p == '.')
            continue;
        if (*p != '9') {
            ++*p;
            return;
        }
        *p = '0';
    }
}

/* As few digits of |v| as give v again. Below a power of 2 numbers are closer
 * together than above, so the nearest decimal number may miss it while the
 * one above does not. */
static struct digits digits_of(double v, enum cr_type type)
{
    struct digits d = { .d = "0", .n = 1 };
    char text[40];
    int p;

    v = fabs(v);
    for (p = 0; v > 0 && p < 17; p++) {
        snprintf(text, sizeof text, "%.*e", p, v);
        if (parsed(text, type) == v)
            break;
        if (frexp(v, &(int){ 0 }) == 0.5) {
            step_up(text);
            if (parsed(text, type) == v)
                break;
        }
    }
    if (v > 0)
        digits_from(text, &d);
    return d;
}

/* The two sides of the point of a number, without an exponent or with one: at
 * most `precision` digits after it, no zeros at the end. */
struct sides {
    char left[WORD], right[40], exponent[8];
};

static void trim(char *text)
{
    size_t n = strlen(text);

    while (n > 0 && text[n - 1] == '0')
        n--;
    text[n] = '\0';
}

static void sides_split(const char *text, struct sides *s)
{
    size_t n = strcspn(text, ".");

    snprintf(s->left, sizeof s->left, "%.*s", (int)n, text);
    snprintf(s->right, sizeof s->right, "%s", text[n] ? text + n + 1 : "");
    trim(s->right);
}

/* `exact`: of a large number all digits before the point are its own. */
static void sides_positional(double v, enum cr_type type, int precision,
                             bool exact, struct sides *s)
{
    struct digits d = digits_of(v, type);
    const char *sign = signbit(v) ? "-" : "";
    int decimals = d.n - 1 - d.exponent, i, n = 0;
    char text[WORD];

    s->exponent[0] = '\0';
    if (decimals > precision || (exact && decimals < 0)) {
        snprintf(text, sizeof text, "%.*f", decimals < 0 ? 0 : precision, v);
        sides_split(text, s);
        return;
    }
    n = snprintf(text, sizeof text, "%s%s", sign, d.exponent < 0 ? "0." : "");
    for (i = -1; i > d.exponent; i--)
        text[n++] = '0';
    for (i = 0; i < d.n || i <= d.exponent; i++) {
        text[n++] = i < d.n ? d.d[i] : '0';
        if (i == d.exponent)
            text[n++] = '.';
    }
    text[n] = '\0';
    sides_split(text, s);
}

static void sides_scientific(double v, enum cr_type type, int precision,
                             struct sides *s)
{
    struct digits d = digits_of(v, type);
    char text[40];

    if (d.n - 1 > precision) {
        snprintf(text, sizeof text, "%.*e", precision, fabs(v));
        digits_from(text, &d);
    }
    snprintf(s->left, sizeof s->left, "%s%c", signbit(v) ? "-" : "", d.d[0]);
    snprintf(s->right, sizeof s->right, "%s", d.d + 1);
    trim(s->right);
    snprintf(s->exponent, sizeof s->exponent, "%c%02d",
             d.exponent < 0 ? '-' : '+', abs(d.exponent) % 1000);
}

static const char *not_finite(double v)
{
    return isnan(v) ? "nan" : v < 0 ? "-inf" : "inf";
}

/* A single number, as str() of a NumPy scalar. */
static const char *scalar_text(struct cr_arena *arena, double v,
                               enum cr_type type)
{
    struct sides s;

    if (!isfinite(v))
        return not_finite(v);
    if (v == 0 || (fabs(v) >= 1e-4 && fabs(v) < 1e16)) {
        sides_positional(v, type, 20, false, &s);
        return cr_strf(arena, "%s.%s", s.left, s.right[0] ? s.right : "0");
    }
    sides_scientific(v, type, 20, &s);
    return cr_strf(arena, "%s%s%se%s", s.left, s.right[0] ? "." : "", s.right,
                   s.exponent);
}

/* ---- the numbers of an array ---- */

enum class { REALS, INTEGERS, BOOLS };

struct form {
    struct cr_arena *arena;
    const struct cr_spec *spec;
    const char *data;
    enum cr_type stored, type;
    enum class class;
    bool summary;
    /* REALS */
    bool scientific, finite, all_finite, negative_infinity;
    double low, high; /* of the sizes that are not 0; high 0: none */
    int left, right, exponent;
    int width; /* of the others */
    struct cr_buf out;
    size_t line; /* where the present line begins in out */
};

static double real_at(const struct form *f, int64_t i)
{
    double v;

    cr_convert(f->stored, f->data + (size_t)i * cr_type_size(f->stored),
               CR_F64, &v, 1);
    return v;
}

static uint64_t size_at(const struct form *f, int64_t i, bool *negative)
{
    int64_t v;

    *negative = false;
    if (f->stored == CR_U64) {
        uint64_t u;

        memcpy(&u, f->data + (size_t)i * sizeof u, sizeof u);
        return u;
    }
    cr_convert(f->stored, f->data + (size_t)i * cr_type_size(f->stored),
               CR_I64, &v, 1);
    *negative = v < 0;
    return v < 0 ? (uint64_t)0 - (uint64_t)v : (uint64_t)v;
}

static int max_int(int a, size_t b)
{
    return a > (int)b ? a : (int)b;
}

/* Calls `fn` for the elements that are shown. */
static void visit(struct form *f, int axis, int64_t at,
                  void (*fn)(struct form *f, int64_t at))
{
    int64_t i, n, stride = 1;
    int k;

    if (axis == f->spec->rank) {
        fn(f, at);
        return;
    }
    n = f->spec->dim[axis];
    for (k = axis + 1; k < f->spec->rank; k++)
        stride *= f->spec->dim[k];
    for (i = 0; i < n; i++) {
        if (f->summary && n > 2 * EDGE && i == EDGE)
            i = n - EDGE;
        visit(f, axis + 1, at + i * stride, fn);
    }
}

static void find_range(struct form *f, int64_t at)
{
    double v = real_at(f, at), size = fabs(v);

    if (!isfinite(v)) {
        f->all_finite = false;
        f->negative_infinity = f->negative_infinity || (isinf(v) && v < 0);
        return;
    }
    f->finite = true;
    if (size == 0)
        return;
    if (f->high == 0 || size < f->low)
        f->low = size;
    if (size > f->high)
        f->high = size;
}

static void find_real_sizes(struct form *f, int64_t at)
{
    double v = real_at(f, at);
    struct sides s;

    if (!isfinite(v))
        return;
    if (f->scientific)
        sides_scientific(v, f->type, PRECISION, &s);
    else
        sides_positional(v, f->type, PRECISION, true, &s);
    f->left = max_int(f->left, strlen(s.left));
    f->right = max_int(f->right, strlen(s.right));
    f->exponent = max_int(f->exponent, strlen(s.exponent));
}

static void find_width(struct form *f, int64_t at)
{
    bool negative;
    char text[32];
    uint64_t v = size_at(f, at, &negative);

    f->width = max_int(f->width,
                       (size_t)snprintf(text, sizeof text, "%s%" PRIu64,
                                        negative ? "-" : "", v));
}

/* high / low, in the type of the numbers. */
static double ratio(const struct form *f)
{
    double r = f->high / f->low;
    cr_real half = (cr_real)r;

    if (f->type == CR_F64)
        return r;
    if (f->type != CR_F16)
        return (double)(float)r;
    cr_round_to_type(CR_F16, 1, &half, &half);
    return (double)half;
}

static void measure(struct form *f)
{
    int room;

    if (f->class != REALS) {
        if (f->class == INTEGERS)
            visit(f, 0, 0, find_width);
        return;
    }
    f->all_finite = true;
    visit(f, 0, 0, find_range);
    f->scientific = f->high > 0 && (f->high >= 1e8 || f->low < 1e-4 ||
                                    ratio(f) > 1000);
    visit(f, 0, 0, find_real_sizes);
    if (f->all_finite)
        return;
    /* nan, inf and -inf stand at the right */
    room = f->right + 1 + (f->scientific ? f->exponent + 1 : 0);
    if (3 + (f->negative_infinity ? 1 : 0) - room > f->left)
        f->left = 3 + (f->negative_infinity ? 1 : 0) - room;
}

static const char *real_word(struct form *f, double v)
{
    int room = f->left + 1 + f->right +
               (f->scientific && f->finite ? f->exponent + 1 : 0);
    struct sides s;
    char more[40];
    size_t point, end;
    int exponent;

    if (!isfinite(v))
        return cr_strf(f->arena, "%*s", room, not_finite(v));
    if (!f->scientific) {
        sides_positional(v, f->type, PRECISION, true, &s);
        return cr_strf(f->arena, "%*s.%-*s", f->left, s.left, f->right,
                       s.right);
    }
    sides_scientific(v, f->type, PRECISION, &s);
    if ((int)strlen(s.right) < f->right) { /* more than it needs */
        snprintf(more, sizeof more, "%.*e", f->right, v);
        point = strcspn(more, ".");
        end = strcspn(more, "e");
        snprintf(s.exponent, sizeof s.exponent, "%s", more + end + 1);
        more[end] = '\0';
        snprintf(s.left, sizeof s.left, "%.*s", (int)point, more);
        snprintf(s.right, sizeof s.right, "%s", more + point + 1);
    }
    exponent = atoi(s.exponent);
    return cr_strf(f->arena, "%*s.%se%c%0*d", f->left, s.left, s.right,
                   exponent < 0 ? '-' : '+', f->exponent - 1, abs(exponent));
}

static const char *word(struct form *f, int64_t at)
{
    bool negative;
    uint64_t v;

    if (f->class == REALS)
        return real_word(f, real_at(f, at));
    v = size_at(f, at, &negative);
    if (f->class == BOOLS)
        return v ? " True" : "False";
    return cr_strf(f->arena, "%*s", f->width,
                   cr_strf(f->arena, "%s%" PRIu64, negative ? "-" : "", v));
}

/* ---- lines ---- */

static void blanks(struct cr_buf *b, int n)
{
    while (n-- > 0)
        cr_buf_char(b, ' ');
}

static void line_end(struct form *f)
{
    while (f->out.len > f->line && f->out.text[f->out.len - 1] == ' ')
        f->out.text[--f->out.len] = '\0';
    cr_buf_char(&f->out, '\n');
    f->line = f->out.len;
}

/* The elements of the last axis, in as many lines as they take. */
static void row(struct form *f, int64_t at, int indent)
{
    int64_t i, n = f->spec->dim[f->spec->rank - 1];
    int width = WIDTH - (f->spec->rank - 1) - 1;
    struct cr_arena mem = { 0 }, *arena = f->arena;

    f->arena = &mem;
    for (i = 0; i < n; i++) {
        bool gap = f->summary && n > 2 * EDGE && i == EDGE;
        const char *text = gap ? "..." : word(f, at + i);

        if (f->out.len - f->line > (size_t)indent &&
            f->out.len - f->line + strlen(text) > (size_t)width) {
            line_end(f);
            blanks(&f->out, indent);
        }
        cr_buf_str(&f->out, text);
        if (i + 1 < n)
            cr_buf_char(&f->out, ' ');
        if (gap)
            i = n - EDGE - 1;
    }
    f->arena = arena;
    cr_arena_free(&mem);
}

static void rows(struct form *f, int axis, int64_t at)
{
    int64_t i, n = f->spec->dim[axis], stride = 1;
    int k, rank = f->spec->rank;

    cr_buf_char(&f->out, '[');
    for (k = axis + 1; k < rank; k++)
        stride *= f->spec->dim[k];
    for (i = 0; i < n && axis + 1 < rank; i++) {
        bool gap = f->summary && n > 2 * EDGE && i == EDGE;

        if (i > 0) {
            for (k = axis + 1; k < rank; k++)
                line_end(f);
            blanks(&f->out, axis + 1);
        }
        if (gap)
            cr_buf_str(&f->out, "...");
        else
            rows(f, axis + 1, at + i * stride);
        if (gap)
            i = n - EDGE - 1;
    }
    if (axis + 1 == rank)
        row(f, at, axis + 1);
    cr_buf_char(&f->out, ']');
}

static enum class class_of(enum cr_type type)
{
    switch (type) {
    case CR_REAL:
    case CR_F16:
    case CR_BF16:
    case CR_F32:
    case CR_F64:
        return REALS;
    case CR_BOOL:
        return BOOLS;
    default:
        return INTEGERS;
    }
}

const char *cr_array_text(struct cr_arena *arena, const struct cr_spec *spec,
                          enum cr_type type, const void *data)
{
    struct form f = { .arena = arena,
                      .spec = spec,
                      .data = data,
                      .stored = cr_type_stored(spec->type),
                      .type = cr_type_stored(type),
                      .class = class_of(spec->type),
                      .out = { .arena = arena } };

    assert(spec->type != CR_STRING && spec->layout == CR_ROW_MAJOR);
    if (spec->rank == 0) {
        bool negative;
        uint64_t v;

        if (f.class == REALS)
            return scalar_text(arena, real_at(&f, 0), f.type);
        v = size_at(&f, 0, &negative);
        return f.class == BOOLS
                   ? (v ? "True" : "False")
                   : cr_strf(arena, "%s%" PRIu64, negative ? "-" : "", v);
    }
    if (cr_count(spec) == 0)
        return "[]";
    f.summary = cr_count(spec) > THRESHOLD;
    measure(&f);
    rows(&f, 0, 0);
    return cr_buf_text(&f.out);
}

const char *cr_type_title(enum cr_type type)
{
    static const char *const titles[CR_TYPES] = {
        [CR_I32] = "Int32",     [CR_U8] = "UInt8",    [CR_BOOL] = "Bool",
        [CR_F16] = "Float16",   [CR_BF16] = "BFloat16", [CR_F32] = "Float32",
        [CR_F64] = "Float64",   [CR_I8] = "Int8",     [CR_I16] = "Int16",
        [CR_I64] = "Int64",     [CR_U16] = "UInt16",  [CR_U32] = "UInt32",
        [CR_U64] = "UInt64",    [CR_STRING] = "String",
    };

    return titles[cr_type_stored(type)];
}

const char *cr_tensor_text(struct cr_arena *arena, const struct cr_spec *spec,
                           enum cr_type type, const void *data)
{
    struct cr_buf b = { .arena = arena };
    int i;

    cr_buf_str(&b, "Tensor(shape=[");
    for (i = 0; i < spec->rank; i++)
        cr_buf_f(&b, "%s%" PRId64, i ? ", " : "", spec->dim[i]);
    cr_buf_f(&b, "], dtype=%s, value=%s%s)", cr_type_title(type),
             spec->rank > 0 ? "\n" : "",
             cr_array_text(arena, spec, type, data));
    return cr_buf_text(&b);
}

static const double *array_json_axis(struct cr_buf *to,
                                     const struct cr_spec *spec, int axis,
                                     const double *data)
{
    if (axis == spec->rank) {
        cr_buf_real(to, *data);
        return data + 1;
    }
    cr_buf_char(to, '[');
    for (int64_t i = 0; i < spec->dim[axis]; i++) {
        cr_buf_str(to, i > 0 ? ", " : "");
        data = array_json_axis(to, spec, axis + 1, data);
    }
    cr_buf_char(to, ']');
    return data;
}

void cr_array_json(struct cr_buf *to, const struct cr_spec *spec,
                   const double *data)
{
    array_json_axis(to, spec, 0, data);
}
