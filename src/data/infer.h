/*
 * Infers the kinds of the fields of a CSV file by reading all of it: numbers,
 * dates, categories, ids and texts. CSVDataset uses it for columns of `type:
 * auto`, and `init` for the config that it writes.
 *
 * Missing values are counted and otherwise ignored. A field is
 *   empty      if all its values are missing,
 *   constant   if it has one distinct value,
 *   id         if all rows have distinct values, none is missing, and they are
 *              words without blanks, or integers that number the rows or
 *              whose field is called id, index or ..._id,
 *   integer    if all values are integers,
 *   real       if all are numbers,
 *   date       if all are dates in one format (data/date.h),
 *   category   if there are at most CR_CLASSES_MAX distinct values, and at
 *              most 20, or half the number of rows,
 *   text       otherwise.
 */
#ifndef CR_DATA_INFER_H
#define CR_DATA_INFER_H

#include "base/diag.h"
#include "data/date.h"

#define CR_CLASSES_MAX 1000

enum cr_field_kind {
    CR_FIELD_EMPTY,
    CR_FIELD_CONSTANT,
    CR_FIELD_ID,
    CR_FIELD_INTEGER,
    CR_FIELD_REAL,
    CR_FIELD_DATE,
    CR_FIELD_CATEGORY,
    CR_FIELD_TEXT,
};

/* "integer" and so on. */
const char *cr_field_kind_name(enum cr_field_kind kind);

struct cr_field_facts {
    const char *name;       /* from the header, or column_0 and so on */
    enum cr_field_kind kind;
    int64_t present, missing; /* number of rows */
    bool numbers;           /* all values are numbers, also of a constant */
    bool whole;             /* all values are integers */
    double min, max, mean;  /* of numbers; of dates, in days or seconds */
    /* The format of dates, also of a constant (0: not dates), and whether some
     * have a time of day: then their unit is seconds since 1970, or since
     * midnight, else days. */
    enum cr_date_form form;
    bool clock;
    /* Number of values that would be numbers with a point in place of their
     * comma, such as 0,5. */
    int64_t commas;
    /* Number of values that are a number with the same unit, and the unit: kg
     * of 78.1 kg, or $ of $9.50, which is before the number. NULL: none. */
    int64_t units;
    const char *unit;
    bool unit_first;
    /* The distinct values of a field of any kind, sorted: numbers by value,
     * others by bytes; n_classes -1: more than CR_CLASSES_MAX. */
    int n_classes;
    const char *const *class_name;
    const int64_t *class_count;
};

struct cr_table_facts {
    char delimiter;
    bool header;
    const char *twice;      /* the first line is no header, because this name
                               occurs twice; NULL otherwise */
    /* The first field that is not UTF-8, and its first wrong byte; src NULL:
     * none. */
    struct cr_pos not_utf8;
    unsigned char byte;
    int64_t rows;           /* without the header */
    int n;
    struct cr_field_facts *field;
};

struct cr_infer_opts {
    char delimiter;         /* 0: the one of , ; tab | that gives the most
                               fields in the first rows, the same number in
                               each */
    int header;             /* 1 or 0; -1: inferred */
    int n_names;            /* names of the fields; 0: from the header */
    const char *const *names;
};

/* Reads the files as one table; facts are in the arena. False after reporting
 * unreadable files or rows of different lengths. */
bool cr_infer(struct cr_arena *arena, struct cr_diag *diag,
              const char *const *paths, int n_paths,
              const struct cr_infer_opts *opts, struct cr_table_facts *to);

/* Whether the text of a field denotes a missing value: empty, NA, N/A, NaN,
 * null, none, ? or -, in upper or lower case, with surrounding blanks. */
bool cr_is_missing(const char *text, size_t len);

#endif
