/*
 * A line of JSON as the fields of a row: an object, whose members go to fields
 * by their keys, or an array, whose elements are the fields in order. Arrays
 * within are read in order too. Private to src/predict.
 */
#ifndef CR_PREDICT_JSON_ROW_H
#define CR_PREDICT_JSON_ROW_H

#include "data/csv.h"

/* A key and the fields that its value fills, in order; with n = 0 it is known
 * and read over. */
struct cr_json_key {
    const char *name;
    int first, n;
};

struct cr_json_row {
    const struct cr_json_key *key; /* keys that are known */
    int n_keys;
    bool *given;            /* for each field, whether its key was there */
    const char *other;      /* the first key that is not known; NULL */
    struct cr_csv *to;      /* its fields are set, `n` of them; those without a
                               value are empty */
    char *plain;            /* room for texts without escapes; malloc */
    size_t cap;
};

/* False after reporting; the line stays as long as the fields. */
bool cr_json_row(struct cr_json_row *row, struct cr_diag *diag,
                 const char *name, char *text, size_t len, int64_t line);

#endif
