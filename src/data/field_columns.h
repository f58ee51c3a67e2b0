/*
 * What the columns of a table are: fields of its rows, by name, position,
 * glob or slice, and their types. Private to src/data.
 */
#ifndef CR_DATA_FIELD_COLUMNS_H
#define CR_DATA_FIELD_COLUMNS_H

#include "data/csv.h"
#include "data/fields.h"

struct cr_field_column {
    const char *name;
    enum cr_type type;      /* of the sample in memory */
    bool words;             /* classes: numbers of words */
    struct cr_strs classes; /* n 0: those that occur, sorted */
    bool named;             /* the config names them */
    bool list;              /* shape (n,), not () */
    int n;
    int *field;
    bool has_preset;        /* for fields with nothing in them */
    double preset;
};

/* Whether the first line has the names of the fields. */
bool cr_field_header(const struct cr_fields_opts *opts);
/* The fields' names: csv stands at the first row. n 0 after reporting. */
struct cr_strs cr_field_names(struct cr_config *config,
                              const struct cr_fields_opts *opts,
                              const struct cr_csv *csv);
/* NULL after reporting. */
struct cr_field_column *
cr_field_columns(struct cr_config *config, const struct cr_fields_opts *opts,
                 struct cr_pos pos, const struct cr_csv *csv,
                 const struct cr_strs *names, int *n);

/* Different words, numbered as they come. */
#define CR_WORDS_MAX 10000

struct cr_words {
    struct cr_arena *arena;
    int32_t n;
    const char **word;
    int32_t *slot;          /* by hash, number and one; 0: free */
    uint32_t room;
    bool broken_int, broken_real; /* some word is no such number */
};

/* The number of a word, which is added if asked for; -1: it is not there,
 * or there are too many. */
int32_t cr_words_code(struct cr_words *words, const char *text, size_t len,
                      bool add);
/* "setosa, versicolor and 3 more" */
const char *cr_words_list(struct cr_arena *arena,
                          const struct cr_words *words);

#endif
