/*
 * What the fields of a CSV file hold, found by reading all of it: which are
 * numbers, dates, categories, ids and texts. CSVDataset uses it for columns
 * of `type: auto`, and `init` for the config that it writes.
 *
 * Missing values are left out of everything but their count. A field is
 *   empty      if all its values are missing,
 *   constant   if there is one value,
 *   id         if all rows have another value, none is missing, and they are
 *              words without blanks, or whole numbers that count the rows or
 *              whose field is called id, index or ..._id,
 *   integer    if all values are whole numbers,
 *   real       if all are numbers,
 *   date       if all are dates in one form (data/date.h),
 *   category   if there are at most CR_CLASSES_MAX different values, and not
 *              more than 20, or half as many as rows,
 *   text       else.
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
    const char *name;       /* of the header, or column_0 and so on */
    enum cr_field_kind kind;
    int64_t present, missing; /* rows */
    bool numbers;           /* all values are numbers, also of constants, */
    bool whole;             /* whole ones */
    double min, max, mean;  /* of numbers; of dates, in days or seconds */
    /* Dates, also constant ones (else form is 0): how they are read, and
     * whether some have a time of day: then they become seconds since 1970,
     * or since midnight, else days. */
    enum cr_date_form form;
    bool clock;
    /* Different values, whatever the kind, in order: numbers by value, others
     * by bytes; n_classes -1: more than CR_CLASSES_MAX. */
    int n_classes;
    const char *const *class_name;
    const int64_t *class_count;
};

struct cr_table_facts {
    char delimiter;
    bool header;
    int64_t rows;           /* without the header */
    int n;
    struct cr_field_facts *field;
};

struct cr_infer_opts {
    char delimiter;         /* 0: of , ; tab | the one that makes most fields
                               in the first rows, as many in each */
    int header;             /* 1, 0; -1: found by looking */
    int n_names;            /* names of the fields; 0: of the header */
    const char *const *names;
};

/* Reads the files as one table; facts live in the arena. False after
 * reporting: files that cannot be read, rows of several lengths. */
bool cr_infer(struct cr_arena *arena, struct cr_diag *diag,
              const char *const *paths, int n_paths,
              const struct cr_infer_opts *opts, struct cr_table_facts *to);

/* Whether a field's text says that there is no value: nothing, NA, N/A, NaN,
 * null, none, ? or -, in any case, with blanks around it. */
bool cr_is_missing(const char *text, size_t len);

#endif
