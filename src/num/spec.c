#include "num/spec.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t size;
} types[CR_TYPES] = {
#ifdef CR_DOUBLE
    [CR_REAL] = { "float64", 8 },
#else
    [CR_REAL] = { "float32", 4 },
#endif
    [CR_I32] = { "int32", 4 },     [CR_U8] = { "uint8", 1 },
    [CR_BOOL] = { "bool", 1 },     [CR_F16] = { "float16", 2 },
    [CR_BF16] = { "bfloat16", 2 }, [CR_F32] = { "float32", 4 },
    [CR_F64] = { "float64", 8 },   [CR_I8] = { "int8", 1 },
    [CR_I16] = { "int16", 2 },     [CR_I64] = { "int64", 8 },
    [CR_U16] = { "uint16", 2 },    [CR_U32] = { "uint32", 4 },
    [CR_U64] = { "uint64", 8 },    [CR_STRING] = { "string", 1 },
};

struct cr_spec cr_spec_make(enum cr_type type, int rank, const int64_t *dim)
{
    struct cr_spec spec = { .type = type, .rank = rank };

    assert(rank >= 0 && rank <= CR_RANK_MAX);
    memcpy(spec.dim, dim, (size_t)rank * sizeof *dim);
    return spec;
}

size_t cr_type_size(enum cr_type type)
{
    return types[type].size;
}

const char *cr_type_name(enum cr_type type)
{
    return types[type].name;
}

bool cr_type_find(const char *name, enum cr_type *type)
{
    int i;

    for (i = CR_REAL + 1; i < CR_TYPES; i++)
        if (strcmp(types[i].name, name) == 0) {
            *type = (enum cr_type)i;
            return true;
        }
    return false;
}

enum cr_type cr_type_stored(enum cr_type type)
{
    if (type != CR_REAL)
        return type;
    return sizeof(cr_real) == 8 ? CR_F64 : CR_F32;
}

bool cr_type_is_float(enum cr_type type)
{
    type = cr_type_stored(type);
    return type == CR_F16 || type == CR_BF16 || type == CR_F32 ||
           type == CR_F64;
}

int64_t cr_count(const struct cr_spec *spec)
{
    int64_t n = 1;
    int i;

    for (i = 0; i < spec->rank; i++)
        n *= spec->dim[i];
    return n;
}

size_t cr_bytes(const struct cr_spec *spec)
{
    return (size_t)cr_count(spec) * types[spec->type].size;
}

int64_t cr_rows(const struct cr_spec *spec)
{
    int64_t n = 1;
    int i;

    for (i = 0; i < spec->rank - 1; i++)
        n *= spec->dim[i];
    return n;
}

/* Far below what a size_t or an int64_t holds, so that sums of a few fit. */
#define SPEC_MAX ((int64_t)1 << 46)

/* Beside a dimension of 0 the others must fit too: rows of none may be asked
 * for the size of one. */
bool cr_spec_fits(const struct cr_spec *spec)
{
    int64_t bytes = (int64_t)types[spec->type].size;
    int i;

    for (i = 0; i < spec->rank; i++) {
        int64_t dim = spec->dim[i] == 0 ? 1 : spec->dim[i];

        if (dim < 0 || __builtin_mul_overflow(bytes, dim, &bytes) ||
            bytes > SPEC_MAX)
            return false;
    }
    return true;
}

bool cr_spec_same(const struct cr_spec *a, const struct cr_spec *b)
{
    return a->type == b->type && a->rank == b->rank &&
           memcmp(a->dim, b->dim, (size_t)a->rank * sizeof a->dim[0]) == 0;
}

const char *cr_diag_format(struct cr_arena *arena, const struct cr_spec *spec)
{
    const char *text = "(";
    int i;

    for (i = 0; i < spec->rank; i++)
        text = cr_strf(arena, "%s%s%lld", text, i > 0 ? ", " : "",
                       (long long)spec->dim[i]);
    return cr_strf(arena, "%s%s)", text, spec->rank == 1 ? "," : "");
}

/* ---- conversions ---- */

static float from_f16(uint16_t h)
{
    uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31,
             fraction = h & 0x3ff, bits;
    float f;

    if (exponent == 0) {
        f = (float)fraction * 0x1p-24f;
        return sign ? -f : f;
    }
    bits = sign | fraction << 13 |
           (exponent == 31 ? 0x7f800000u : (exponent + 112) << 23);
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Rounds to nearest even. */
static uint16_t to_f16(float f)
{
    uint32_t bits, sign, low, half;
    int exponent;

    memcpy(&bits, &f, sizeof bits);
    sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits > 0x7f800000)
        return (uint16_t)(sign | 0x7e00 | (bits >> 13 & 0x3ff));
    if (bits >= 0x477ff000) /* 65520 and up */
        return (uint16_t)(sign | 0x7c00);
    exponent = (int)(bits >> 23) - 127;
    if (exponent >= -14) {
        bits -= 112u << 23;
        low = bits & 0x1fff;
        bits >>= 13;
        if (low > 0x1000 || (low == 0x1000 && (bits & 1)))
            bits++;
        return (uint16_t)(sign | bits);
    }
    if (exponent < -25)
        return (uint16_t)sign;
    bits = (bits & 0x7fffff) | 0x800000;
    low = bits & ((1u << (-exponent - 1)) - 1);
    half = 1u << (-exponent - 2);
    bits >>= -exponent - 1;
    if (low > half || (low == half && (bits & 1)))
        bits++;
    return (uint16_t)(sign | bits);
}

static float from_bf16(uint16_t h)
{
    uint32_t bits = (uint32_t)h << 16;
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint16_t to_bf16(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* To float by rounding to odd (Boldo and Melquiond, 2008): what is rounded
 * again to fewer bits then comes out as if it had been rounded once. */
static float to_odd(double r)
{
    float f = (float)r;
    uint32_t bits;

    if (isnan(r) || isinf(r) || (double)f == r)
        return f;
    memcpy(&bits, &f, sizeof bits);
    if (!(bits & 1)) /* the odd neighbour is on the other side of r */
        bits += fabs((double)f) < fabs(r) ? 1 : -1u;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* A value on its way: every integer type fits one of the two exactly. */
struct value {
    bool real;
    double r;
    int64_t i;
    bool huge; /* an unsigned value above INT64_MAX, in r */
};

static struct value value_get(enum cr_type type, const void *x, int64_t at)
{
    struct value v = { .real = false };

    switch (type) {
    case CR_REAL:
        v.real = true;
        v.r = ((const cr_real *)x)[at];
        break;
    case CR_F32:
        v.real = true;
        v.r = ((const float *)x)[at];
        break;
    case CR_F64:
        v.real = true;
        v.r = ((const double *)x)[at];
        break;
    case CR_F16:
        v.real = true;
        v.r = from_f16(((const uint16_t *)x)[at]);
        break;
    case CR_BF16:
        v.real = true;
        v.r = from_bf16(((const uint16_t *)x)[at]);
        break;
    case CR_I8:
        v.i = ((const int8_t *)x)[at];
        break;
    case CR_I16:
        v.i = ((const int16_t *)x)[at];
        break;
    case CR_I32:
        v.i = ((const int32_t *)x)[at];
        break;
    case CR_I64:
        v.i = ((const int64_t *)x)[at];
        break;
    case CR_U16:
        v.i = ((const uint16_t *)x)[at];
        break;
    case CR_U32:
        v.i = ((const uint32_t *)x)[at];
        break;
    case CR_U64:
        v.i = (int64_t)((const uint64_t *)x)[at];
        v.huge = v.i < 0;
        break;
    case CR_BOOL:
        v.i = ((const unsigned char *)x)[at] != 0;
        break;
    case CR_U8:
    case CR_STRING:
    case CR_TYPES:
        v.i = ((const unsigned char *)x)[at];
        break;
    }
    if (!v.real)
        v.r = v.huge ? (double)(uint64_t)v.i : (double)v.i;
    return v;
}

/* Truncated toward zero; out of range and NaN give the smallest. */
static int64_t whole(const struct value *v, double low, double high,
                     int64_t smallest)
{
    if (!v->real)
        return v->i;
    return v->r > low && v->r < high ? (int64_t)v->r : smallest;
}

static void value_put(enum cr_type type, void *y, int64_t at,
                      const struct value *v)
{
    /* 8 and 16 bits wrap: what C does with the low bits of an int32 */
    int64_t small = whole(v, -2147483649.0, 2147483648.0, INT32_MIN);

    switch (type) {
    case CR_REAL:
        ((cr_real *)y)[at] = v->real   ? (cr_real)v->r
                             : v->huge ? (cr_real)(uint64_t)v->i
                                       : (cr_real)v->i;
        break;
    case CR_F32:
        /* an int64 is rounded once, not to double first */
        ((float *)y)[at] = v->real   ? (float)v->r
                           : v->huge ? (float)(uint64_t)v->i
                                     : (float)v->i;
        break;
    case CR_F64:
        ((double *)y)[at] = v->r;
        break;
    case CR_F16:
        ((uint16_t *)y)[at] = to_f16(to_odd(v->r));
        break;
    case CR_BF16:
        ((uint16_t *)y)[at] = to_bf16(to_odd(v->r));
        break;
    case CR_I8:
    case CR_U8:
    case CR_STRING:
        ((uint8_t *)y)[at] = (uint8_t)small;
        break;
    case CR_I16:
    case CR_U16:
        ((uint16_t *)y)[at] = (uint16_t)small;
        break;
    case CR_I32:
        ((uint32_t *)y)[at] = (uint32_t)small;
        break;
    case CR_U32:
        ((uint32_t *)y)[at] = (uint32_t)whole(
            v, -9223372036854775809.0, 9223372036854775808.0, INT64_MIN);
        break;
    case CR_U64:
        if (v->real && v->r >= 0x1p63 && v->r < 0x1p64) {
            ((uint64_t *)y)[at] = (uint64_t)v->r;
            break;
        }
        /* fall through */
    case CR_I64:
        ((uint64_t *)y)[at] = (uint64_t)whole(
            v, -9223372036854775809.0, 9223372036854775808.0, INT64_MIN);
        break;
    case CR_BOOL:
        ((uint8_t *)y)[at] = v->real ? !(v->r == 0) : v->i != 0;
        break;
    case CR_TYPES:
        break;
    }
}

void cr_convert(enum cr_type from, const void *x, enum cr_type to, void *y,
                int64_t n)
{
    int64_t i;

    if (cr_type_stored(from) == cr_type_stored(to)) {
        memcpy(y, x, (size_t)n * types[from].size);
        return;
    }
    for (i = 0; i < n; i++) {
        struct value v = value_get(from, x, i);

        value_put(to, y, i, &v);
    }
}
