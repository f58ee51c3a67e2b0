/*
 * Option tables: the keys of a config and the flags of the command line.
 *
 * A row names a field of a struct, its type, default and range, and documents
 * it in a sentence. The reader (cr_opts_read), the checks, `cellrun help`, the
 * manual, completion and the JSON Schema use the rows, so a default or range is
 * written only once. A row that disagrees with the type of its field does not
 * compile.
 *
 *   CR_INT(T, field, min, max, doc)      required
 *   CR_INT_DEFAULT(T, field, default, min, max, doc)
 *   CR_INT_OPTIONAL(T, field, min, max, doc)    CR_INT_NONE if not set
 *   CR_REAL(T, field, min, max, doc)     _DEFAULT, _OPTIONAL (NaN)
 *   CR_BOOL(T, field, doc)               _DEFAULT
 *   CR_BOOL_OPTIONAL(T, field, doc)      unsigned char, CR_BOOL_NONE
 *   CR_STR(T, field, doc)                _DEFAULT(text), _OPTIONAL (NULL)
 *   CR_ENUM_DEFAULT(T, field, default, "a|b|c", doc)   index of the choice
 *   CR_INTS, CR_REALS, CR_STRS           lists, one value; _OPTIONAL (n == 0)
 *   CR_OBJ_DEFAULT(T, field, kind, "Default", doc)      a typed node of a kind
 *   CR_OBJ, CR_OBJ_OPTIONAL, CR_OBJS_OPTIONAL (a list)
 *   CR_QUANTITY(T, field, unit, doc)     a number with a unit; _OPTIONAL
 *   CR_QUANTITY_DEFAULT(T, field, "5 epochs", unit, doc)
 *   CR_SUB(T, field, table, doc)         a map with rows of its own; if the
 *       first is a CR_BOOL_DEFAULT called enabled, true or false in place of
 *       the map sets it
 *   CR_NODE(T, field, doc)               the raw node, NULL if absent
 *
 * Bounds are inclusive; CR_REAL_POS_DEFAULT excludes zero. Further fields may
 * follow the doc: CR_STR_OPTIONAL(T, name, "Name of the run.", .flag = 'n').
 */
#ifndef CR_CONF_OPT_H
#define CR_CONF_OPT_H

#include "conf/node.h"

#include <float.h>
#include <math.h>

#define CR_INT_NONE INT64_MIN
#define CR_BOOL_NONE 2
#define CR_DIM_MAX ((int64_t)1 << 31)

enum cr_opt_type {
    CR_OPT_END,
    CR_OPT_INT,
    CR_OPT_REAL,
    CR_OPT_BOOL,
    CR_OPT_STR,
    CR_OPT_ENUM,
    CR_OPT_INTS,
    CR_OPT_REALS,
    CR_OPT_STRS,
    CR_OPT_OBJ,
    CR_OPT_OBJS,
    CR_OPT_QUANTITY,
    CR_OPT_SUB,
    CR_OPT_NODE
};

enum cr_need { CR_REQUIRED, CR_DEFAULT, CR_OPTIONAL };

/* The descriptor of a registry entry or a config section. */
struct cr_descriptor {
    const char *name;
    const char *const *aliases; /* other names, ends with NULL; NULL: none */
    const char *summary;        /* one sentence */
    const char *detail;         /* shapes, formula, source; NULL: none */
    const char *example;        /* configs that load, separated by "---\n";
                                   NULL: none */
    const struct cr_opt *opts;  /* ends with a zero row; NULL: none */
    size_t size;                /* of the struct that opts fill */
    const char *const *renamed; /* pairs old, new: "p'd get error + new" */
    bool keyword_only;          /* arguments by name only (Dropout) */
    bool takes_map;             /* the value of the only row may be a map */
    bool internal;              /* an op that configs cannot call: not listed */
};

#define CR_ALIASES(...)   \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

/* The kinds of registry entries. */
enum cr_kind {
    CR_KIND_CELL,
    CR_KIND_OP,
    CR_KIND_LOSS,
    CR_KIND_OPTIM,
    CR_KIND_INIT,
    CR_KIND_SCHEDULE,
    CR_KIND_SCALER,
    CR_KIND_METRIC,
    CR_KIND_TRANSFORM,
    CR_KIND_TOKENIZER,
    CR_KIND_DATASET,
    CR_KIND_FORMAT,
    CR_KIND_SECTION,            /* top-level keys of a config */
    CR_KIND_COMMAND,
    CR_KINDS
};

struct cr_opt {
    const char *name, *doc;
    enum cr_opt_type type;
    enum cr_need need;
    size_t at;                  /* offset of the field */
    double min, max;            /* inclusive range of numbers */
    bool min_exclusive;         /* min itself is excluded */
    bool pairs;                 /* INTS: a list of pairs, read as one list */
    bool empty;                 /* a required list may be [] */
    bool nullable;              /* INTS: null is CR_INT_NONE; QUANTITY: off
                                   is CR_UNIT_NONE */
    bool share;                 /* QUANTITY: below 1 samples are a fraction */
    bool keyword_only;          /* never by position; such rows follow all
                                   others */
    int64_t int_default;        /* INT, BOOL, ENUM (index) */
    double real_default;        /* REAL */
    const char *text;           /* default of STR, OBJ, QUANTITY; in a command's
                                   row without a default: its value, FILE */
    const char *choices;        /* ENUM: "mean|sum|none"; NODE: words allowed in
                                   place of a cell */
    enum cr_kind kind;          /* OBJ, OBJS */
    const struct cr_opt *sub;   /* SUB */
    char flag;                  /* commands: the short form, 0: none */
    const char *implicit_value; /* commands: value of the flag without a value,
                         "1" for --step[=N]; NULL: required */
};

/* A typed node that was read: its descriptor and its options. Zeroed: not set.
 * A number in place of a typed node (weight_init: 0.1, learning_rate: 0.1) has
 * about == NULL and is_number. */
struct cr_obj {
    const struct cr_descriptor *about;
    const void *opts;
    const struct cr_node *node; /* NULL when it came from a default */
    bool is_number;
    double number;
};

struct cr_objs {
    int n;
    const struct cr_obj *v;
};

struct cr_ints {
    int n;
    const int64_t *v;
};

struct cr_reals {
    int n;
    const double *v;
};

struct cr_strs {
    int n;
    const char *const *v;
};

/* A quantity: a number with a unit. `5%` is a fraction of the run. */
enum cr_unit {
    CR_UNIT_NONE, /* not set */
    CR_STEPS,
    CR_EPOCHS,
    CR_SAMPLES,
    CR_SECONDS,
    CR_PERCENT
};

struct cr_quantity {
    enum cr_unit unit;
    double value;
};

#define CR_FIELD(T, f, C) \
    .name = #f, .at = offsetof(T, f) + 0 * sizeof(_Generic( \
        (((T *)0)->f), C: 1))

#define CR_INT(T, f, lo, hi, ...)                                         \
    {                                                                     \
        CR_FIELD(T, f, int64_t), .type = CR_OPT_INT, .min = (double)(lo), \
                                 .max = (double)(hi), .doc = __VA_ARGS__  \
    }
#define CR_INT_DEFAULT(T, f, def, lo, hi, ...)                              \
    {                                                                       \
        CR_FIELD(T, f, int64_t), .type = CR_OPT_INT, .need = CR_DEFAULT,    \
                                 .int_default = (def), .min = (double)(lo), \
                                 .max = (double)(hi), .doc = __VA_ARGS__    \
    }
#define CR_INT_OPTIONAL(T, f, lo, hi, ...)                                 \
    {                                                                      \
        CR_FIELD(T, f, int64_t), .type = CR_OPT_INT, .need = CR_OPTIONAL,  \
                                 .min = (double)(lo), .max = (double)(hi), \
                                 .doc = __VA_ARGS__                        \
    }
#define CR_REAL(T, f, lo, hi, ...)                                             \
    {                                                                          \
        CR_FIELD(T, f, double), .type = CR_OPT_REAL, .min = (lo), .max = (hi), \
                                .doc = __VA_ARGS__                             \
    }
#define CR_REAL_DEFAULT(T, f, def, lo, hi, ...)                          \
    {                                                                    \
        CR_FIELD(T, f, double), .type = CR_OPT_REAL, .need = CR_DEFAULT, \
                                .real_default = (def), .min = (lo),      \
                                .max = (hi), .doc = __VA_ARGS__          \
    }
#define CR_REAL_POS_DEFAULT(T, f, def, hi, ...)                              \
    {                                                                        \
        CR_FIELD(T, f, double),                                              \
            .type = CR_OPT_REAL, .need = CR_DEFAULT, .real_default = (def),  \
            .min = 0, .min_exclusive = true, .max = (hi), .doc = __VA_ARGS__ \
    }
#define CR_REAL_OPTIONAL(T, f, lo, hi, ...)                                  \
    {                                                                        \
        CR_FIELD(T, f, double), .type = CR_OPT_REAL, .need = CR_OPTIONAL,    \
                                .min = (lo), .max = (hi), .doc = __VA_ARGS__ \
    }
#define CR_BOOL(T, f, ...) \
    { CR_FIELD(T, f, bool), .type = CR_OPT_BOOL, .doc = __VA_ARGS__ }
#define CR_BOOL_DEFAULT(T, f, def, ...)                                \
    {                                                                  \
        CR_FIELD(T, f, bool), .type = CR_OPT_BOOL, .need = CR_DEFAULT, \
                              .int_default = (def), .doc = __VA_ARGS__ \
    }
#define CR_BOOL_OPTIONAL(T, f, ...)                                            \
    {                                                                          \
        CR_FIELD(T, f, unsigned char), .type = CR_OPT_BOOL,                    \
                                       .need = CR_OPTIONAL, .doc = __VA_ARGS__ \
    }
#define CR_STR(T, f, ...) \
    { CR_FIELD(T, f, const char *), .type = CR_OPT_STR, .doc = __VA_ARGS__ }
#define CR_STR_DEFAULT(T, f, def, ...)                                        \
    {                                                                         \
        CR_FIELD(T, f, const char *), .type = CR_OPT_STR, .need = CR_DEFAULT, \
                                      .text = (def), .doc = __VA_ARGS__       \
    }
#define CR_STR_OPTIONAL(T, f, ...)                                             \
    {                                                                          \
        CR_FIELD(T, f, const char *), .type = CR_OPT_STR, .need = CR_OPTIONAL, \
                                      .doc = __VA_ARGS__                       \
    }
#define CR_ENUM(T, f, ch, ...) \
    { CR_FIELD(T, f, int), .type = CR_OPT_ENUM, .choices = (ch), \
      .doc = __VA_ARGS__ }
#define CR_ENUM_DEFAULT(T, f, def, ch, ...)                           \
    {                                                                 \
        CR_FIELD(T, f, int), .type = CR_OPT_ENUM, .need = CR_DEFAULT, \
                             .int_default = (def), .choices = (ch),   \
                             .doc = __VA_ARGS__                       \
    }
/* The shape of a tensor; [] for a scalar. */
#define CR_SHAPE(T, f, ...)                                               \
    {                                                                     \
        CR_FIELD(T, f, struct cr_ints), .type = CR_OPT_INTS, .min = 1,    \
                                        .max = (double)CR_DIM_MAX,        \
                                        .empty = true, .doc = __VA_ARGS__ \
    }
#define CR_INTS(T, f, lo, hi, ...)                                         \
    {                                                                      \
        CR_FIELD(T, f, struct cr_ints),                                    \
            .type = CR_OPT_INTS, .min = (double)(lo), .max = (double)(hi), \
            .doc = __VA_ARGS__                                             \
    }
#define CR_INTS_OPTIONAL(T, f, lo, hi, ...)                                \
    {                                                                      \
        CR_FIELD(T, f, struct cr_ints),                                    \
            .type = CR_OPT_INTS, .need = CR_OPTIONAL, .min = (double)(lo), \
            .max = (double)(hi), .doc = __VA_ARGS__                        \
    }
#define CR_REALS(T, f, lo, hi, ...)                                         \
    {                                                                       \
        CR_FIELD(T, f, struct cr_reals), .type = CR_OPT_REALS, .min = (lo), \
                                         .max = (hi), .doc = __VA_ARGS__    \
    }
#define CR_REALS_OPTIONAL(T, f, lo, hi, ...)                               \
    {                                                                      \
        CR_FIELD(T, f, struct cr_reals), .type = CR_OPT_REALS,             \
                                         .need = CR_OPTIONAL, .min = (lo), \
                                         .max = (hi), .doc = __VA_ARGS__   \
    }
#define CR_STRS(T, f, ...) \
    { CR_FIELD(T, f, struct cr_strs), .type = CR_OPT_STRS, \
      .doc = __VA_ARGS__ }
#define CR_STRS_OPTIONAL(T, f, ...)                                      \
    {                                                                    \
        CR_FIELD(T, f, struct cr_strs),                                  \
            .type = CR_OPT_STRS, .need = CR_OPTIONAL, .doc = __VA_ARGS__ \
    }
#define CR_OBJ(T, f, k, ...) \
    { CR_FIELD(T, f, struct cr_obj), .type = CR_OPT_OBJ, .kind = (k), \
      .doc = __VA_ARGS__ }
#define CR_OBJ_DEFAULT(T, f, k, def, ...)                                 \
    {                                                                     \
        CR_FIELD(T, f, struct cr_obj), .type = CR_OPT_OBJ, .kind = (k),   \
                                       .need = CR_DEFAULT, .text = (def), \
                                       .doc = __VA_ARGS__                 \
    }
#define CR_OBJ_OPTIONAL(T, f, k, ...)                                          \
    {                                                                          \
        CR_FIELD(T, f, struct cr_obj), .type = CR_OPT_OBJ, .kind = (k),        \
                                       .need = CR_OPTIONAL, .doc = __VA_ARGS__ \
    }
#define CR_OBJS_OPTIONAL(T, f, k, ...)                                    \
    {                                                                     \
        CR_FIELD(T, f, struct cr_objs), .type = CR_OPT_OBJS, .kind = (k), \
                                        .need = CR_OPTIONAL,              \
                                        .doc = __VA_ARGS__                \
    }
#define CR_QUANTITY(T, f, u, ...)                                           \
    {                                                                       \
        CR_FIELD(T, f, struct cr_quantity),                                 \
            .type = CR_OPT_QUANTITY, .int_default = (u), .doc = __VA_ARGS__ \
    }
#define CR_QUANTITY_DEFAULT(T, f, def, u, ...)                          \
    {                                                                   \
        CR_FIELD(T, f, struct cr_quantity),                             \
            .type = CR_OPT_QUANTITY, .need = CR_DEFAULT, .text = (def), \
            .int_default = (u), .doc = __VA_ARGS__                      \
    }
#define CR_QUANTITY_OPTIONAL(T, f, u, ...)                                    \
    {                                                                         \
        CR_FIELD(T, f, struct cr_quantity),                                   \
            .type = CR_OPT_QUANTITY, .need = CR_OPTIONAL, .int_default = (u), \
            .doc = __VA_ARGS__                                                \
    }
#define CR_SUB(T, f, table, ...) \
    { .name = #f, .at = offsetof(T, f), .type = CR_OPT_SUB, \
      .need = CR_OPTIONAL, .sub = (table), .doc = __VA_ARGS__ }
#define CR_NODE(T, f, ...) \
    { CR_FIELD(T, f, const struct cr_node *), .type = CR_OPT_NODE, \
      .need = CR_OPTIONAL, .doc = __VA_ARGS__ }

/* Whether true or false is allowed in place of the row's map. */
bool cr_opt_switch(const struct cr_opt *row);

/* Whether no positional argument may follow that of the row. */
bool cr_opt_is_last(const struct cr_opt *row);

/* Whether two structures, of an op, have equal values in all rows. NULL is like
 * NULL only. */
bool cr_opts_same(const struct cr_opt *rows, const void *a, const void *b);

/* Fills `to` (about->size zeroed bytes) from a node: a map of names, a list of
 * positional arguments in the order of the rows, or a scalar for the first row;
 * NULL for all defaults. Reports all errors, also in nested objects, and then
 * returns false. A required row inside a CR_SUB is required only if its map is
 * present. */
bool cr_opts_read(struct cr_arena *arena, struct cr_diag *diag,
                  const struct cr_descriptor *about, const struct cr_node *node,
                  struct cr_pos pos, void *to);
/* opt_values.c: the options as text, "in_channels=784, has_bias=True": numbers,
 * strings and booleans, defaults included. */
const char *cr_opts_text(struct cr_arena *arena,
                         const struct cr_descriptor *about, const void *opts);

/* Reads a typed node, or a number if the kind allows one, into *to. False after
 * reporting. */
bool cr_obj_read(struct cr_arena *arena, struct cr_diag *diag,
                 enum cr_kind kind, const struct cr_node *node,
                 struct cr_obj *to);

/* The modifiers of a kind: lower-case keys next to a type; ends with NULL. */
const char *const *cr_modifiers(enum cr_kind kind);
bool cr_is_modifier(enum cr_kind kind, const char *word);
/* Where an argument of a type is a modifier: hints to write it next to the
 * type. */
bool cr_modifier_hint(struct cr_arena *arena, struct cr_diag *diag,
                      const struct cr_descriptor *type,
                      const struct cr_node *node);
/* Whether a lower-case key may stand in a map of a cell: a modifier, or a part
 * of a block. */
bool cr_is_cell_key(const char *key);

/* Reads "500", "2 epochs", "10 min", "2M samples" or "5%". `unit` applies to a
 * number without a unit. False after reporting. */
bool cr_quantity_read(struct cr_diag *diag, const struct cr_node *node,
                      enum cr_unit unit, struct cr_quantity *to);

/* The same for text; false, without reporting, if it is not a quantity. */
bool cr_quantity_parse(const char *text, enum cr_unit unit,
                       struct cr_quantity *to);

/* The default of a row as text, for help and the schema; NULL: none. */
const char *cr_opt_default(struct cr_arena *arena, const struct cr_opt *row);
/* The values of a row, for messages and help: "an integer from 1 to 10". */
const char *cr_opt_expects(struct cr_arena *arena, const struct cr_opt *row);
/* The words of an ENUM row, ending with NULL. */
const char *const *cr_opt_choices(struct cr_arena *arena,
                                  const struct cr_opt *row);

/* The registry; defined in registry.c. */
const struct cr_descriptor *const *
cr_registry_list(enum cr_kind kind); /* ends with NULL */
const struct cr_descriptor *cr_registry_find(enum cr_kind kind,
                                             const char *name);
/* The name of that kind that is equal but for upper and lower case; NULL:
 * none. */
const char *cr_registry_like(enum cr_kind kind, const char *name);
/* Appends an entry of a plug-in, which stays until the process ends. Only in
 * the main thread, while no other thread uses the registry. Invalidates the
 * result of cr_registry_list. */
void cr_registry_add(enum cr_kind kind, const struct cr_descriptor *about);
const char *cr_kind_name(enum cr_kind kind);              /* "cell" ... */

#endif
