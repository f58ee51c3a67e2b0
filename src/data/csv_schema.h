/*
 * What the columns of a table are: fields of its rows, by name, position,
 * glob or slice, and their types. Private to src/data.
 */
#ifndef CR_DATA_CSV_SCHEMA_H
#define CR_DATA_CSV_SCHEMA_H

#include "data/csv.h"
#include "data/csv_dataset.h"

struct cr_features;

struct cr_field_column {
    const char *name;
    enum cr_type type;      /* of the sample in memory */
    struct cr_features *features; /* of float32 and float64: one for each
                               field; else NULL */
    bool words;             /* classes: numbers of words */
    struct cr_strs classes; /* n 0: those that occur, sorted */
    bool named;             /* the config names them */
    bool list;              /* shape (n,), not () */
    int n;
    int *field;
    bool has_preset;        /* for missing values */
    double preset;
    const char *preset_text; /* of classes, categories, dates and texts */
};

/* Whether the first line has the names of the fields. */
bool cr_field_header(const struct cr_csv_dataset_opts *opts);
/* The fields' names: csv stands at the first row. n 0 after reporting. */
struct cr_strs cr_field_names(struct cr_config *config,
                              const struct cr_csv_dataset_opts *opts,
                              const struct cr_csv *csv);
/* NULL after reporting. */
struct cr_field_column *cr_field_columns(struct cr_config *config,
                                         const struct cr_csv_dataset_opts *opts,
                                         struct cr_pos pos,
                                         const struct cr_csv *csv,
                                         const struct cr_strs *names, int *n);

/* Adds the fields that a node of the config names to the column's. csv: the
 * file, where it is another than the config's (predict); else NULL. False
 * after reporting. */
bool cr_field_choose(struct cr_config *config, const struct cr_node *node,
                     const struct cr_csv *csv, const struct cr_strs *names,
                     struct cr_field_column *column);
/* Reports that such a file lacks what the training data had. False. */
bool cr_field_lacks(struct cr_config *config, const struct cr_csv *csv,
                    const char *column, const char *field,
                    const struct cr_strs *names);

#endif
