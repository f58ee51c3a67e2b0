/*
 * Parses a line of JSON into the fields of a row: an object, whose keys select
 * the fields, or an array of the fields in order. Nested arrays are flattened.
 * Private to src/predict.
 */
#ifndef CR_PREDICT_JSON_ROW_H
#define CR_PREDICT_JSON_ROW_H

#include "data/csv.h"

/* A key and the n fields that its value fills, in order; n = 0: the member is
 * accepted and skipped. */
struct cr_json_key {
    const char *name;
    int first, n;
};

struct cr_json_row {
    const struct cr_json_key *key; /* accepted keys */
    int n_keys;
    bool *given;            /* per field: whether its key was found */
    const char *other;      /* the first unknown key; NULL: none */
    struct cr_csv *to;      /* its `n` fields are set; a field without a value
                               is empty */
    int n_array;            /* number of fields that an array must fill */
    char *plain;            /* strings with their escapes decoded; malloc, to be
                               freed by the caller */
    size_t cap;             /* bytes of `plain` */
};

/* Parses `text`, line `line` of file `name`. False after reporting. The fields
 * point into `text` and row->plain, so both must outlive them. */
bool cr_json_row(struct cr_json_row *row, struct cr_diag *diag,
                 const char *name, char *text, size_t len, int64_t line);

/* The key of field `at`: one of its own, else that of several fields. */
const char *cr_json_key(const struct cr_json_row *row, int at);

#endif
