/*
 * Type, shape and layout of a tensor: dense, at most 8 dimensions, row-major
 * unless a plan chooses channels last.
 */
#ifndef CR_NUM_SPEC_H
#define CR_NUM_SPEC_H

#include "base/arena.h"
#include "num/real.h"

#include <stdbool.h>
#include <stdint.h>

#define CR_RANK_MAX 8

/* CR_REAL is the type of network values: float32, or float64 in a build with
 * CR_DOUBLE. The other types are for data and files. */
enum cr_type {
    CR_REAL,
    CR_I32,
    CR_U8,
    CR_BOOL,
    CR_F16,
    CR_BF16,
    CR_F32,
    CR_F64,
    CR_I8,
    CR_I16,
    CR_I64,
    CR_U16,
    CR_U32,
    CR_U64,
    CR_STRING, /* data only, not a numeric type */
    CR_TYPES
};

/* Order of the elements in memory. Dimensions are always the logical
 * (N, C, spatial...); channels last is stored as N, spatial..., C. Only values
 * inside of plans have it; parameters, columns, files and outputs are
 * row-major. */
enum cr_layout {
    CR_ROW_MAJOR,
    CR_CHANNELS_LAST
};

struct cr_spec {
    enum cr_type type;
    enum cr_layout layout;
    int rank;
    int64_t dim[CR_RANK_MAX];
};

/* A column of the data: name and spec of one sample. */
struct cr_column {
    const char *name;
    struct cr_spec spec;
};

/* A named tensor; the data belong to somebody else. */
struct cr_tensor {
    const char *name;
    struct cr_spec spec;
    void *data;
};

/* CR_SPEC(64, 10): float32 (or double) of that shape; CR_SCALAR: shape (). */
#define CR_SPEC(...) \
    cr_spec_make(CR_REAL, \
                 (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), \
                 (const int64_t[]){ __VA_ARGS__ })
#define CR_SCALAR ((struct cr_spec){ .type = CR_REAL })

struct cr_spec cr_spec_make(enum cr_type type, int rank, const int64_t *dim);
size_t cr_type_size(enum cr_type type);
/* MindSpore's name: "float32", "int32"; CR_REAL: "float32" or "float64". */
const char *cr_type_name(enum cr_type type);
/* Finds a type by MindSpore's name; false: not found. "float32" and "float64"
 * are CR_F32 and CR_F64. */
bool cr_type_find(const char *name, enum cr_type *type);
/* CR_F32 or CR_F64 for CR_REAL, else the type itself. */
enum cr_type cr_type_stored(enum cr_type type);
/* float16, bfloat16, float32 and float64. */
bool cr_type_is_float(enum cr_type type);

int64_t cr_count(const struct cr_spec *spec);   /* elements; 1 for shape () */
size_t cr_bytes(const struct cr_spec *spec);
int64_t cr_rows(const struct cr_spec *spec);    /* product of all but last */
/* False: the number of bytes exceeds size_t. */
bool cr_spec_fits(const struct cr_spec *spec);
/* Whether type and shape are equal; layouts may differ. */
bool cr_spec_same(const struct cr_spec *a, const struct cr_spec *b);
/* "(64, 1, 28, 28)", "()", "(3,)" as Python prints it; in the arena. */
const char *cr_diag_format(struct cr_arena *arena, const struct cr_spec *spec);

/* n elements of one type to another: C casts; float to int truncates toward
 * zero, 8-bit targets wrap, NaN and out of range give INT_MIN; to bool is
 * x != 0; f16 and bf16 round to nearest even, as MindSpore's TypeCast. */
void cr_convert(enum cr_type from, const void *x, enum cr_type to, void *y,
                int64_t n);

#endif
