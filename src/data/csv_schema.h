/*
 * The columns of a table: which fields of its rows belong to them, by name,
 * position, glob or slice, and their types. Private to src/data.
 */
#ifndef CR_DATA_CSV_SCHEMA_H
#define CR_DATA_CSV_SCHEMA_H

#include "data/csv.h"
#include "data/csv_dataset.h"

struct cr_features;

struct cr_field_column {
    const char *name;
    enum cr_type type;      /* of the sample in memory */
    struct cr_features *features; /* for float32 and float64: one per field;
                                     else NULL */
    bool words;             /* classes are indices of strings */
    struct cr_strs classes; /* n 0: the values that occur, sorted */
    bool named;             /* the config names the column */
    bool list;              /* shape (n,), not () */
    bool image;             /* of type CR_STRING: texts are paths of images */
    bool mask;              /* images are masks */
    int n;
    int *field;
    bool has_preset;        /* missing values have a default */
    double preset;
    const char *preset_text; /* default of classes, categories, dates and
                                texts */
};

/* Whether the first line is a header. */
bool cr_field_header(const struct cr_csv_dataset_opts *opts);
/* The names of the fields; csv is at its first row. n is 0 after reporting. */
struct cr_strs cr_field_names(struct cr_config *config,
                              const struct cr_csv_dataset_opts *opts,
                              const struct cr_csv *csv);
/* The columns that the options define. NULL after reporting. */
struct cr_field_column *cr_field_columns(struct cr_config *config,
                                         const struct cr_csv_dataset_opts *opts,
                                         struct cr_pos pos,
                                         const struct cr_csv *csv,
                                         const struct cr_strs *names, int *n);

/* Adds the fields that a node of the config names to the column. csv: the input
 * file of predict; NULL for files of the config. False after reporting. */
bool cr_field_choose(struct cr_config *config, const struct cr_node *node,
                     const struct cr_csv *csv, const struct cr_strs *names,
                     struct cr_field_column *column);
/* Adds a hint to the message about a field that is not found: the closest name,
 * the names, or the key that reads the file differently. */
void cr_field_suggest(struct cr_diag *diag, const char *field,
                      const struct cr_strs *names);
/* Reports that an input file of predict lacks a field that the training data
 * had. Returns false. */
bool cr_field_lacks(struct cr_config *config, const struct cr_csv *csv,
                    const char *column, const char *field,
                    const struct cr_strs *names);

#endif
