/*
 * A data set whose columns are fields of CSV files (data/csv.h).
 *
 * The files are read once, from start to end, when the data set is opened.
 * Numbers and class indices are kept in memory, 4 or 8 bytes each; for texts
 * only their positions are kept, from which they are read on demand, and of
 * images the paths. The order
 * of access does not affect the cost. Data loaders of one config that read the
 * same files with the same options share the data.
 */
#ifndef CR_DATA_CSV_DATASET_H
#define CR_DATA_CSV_DATASET_H

#include "data/csv.h"
#include "data/dataset.h"

struct cr_csv_dataset_opts {
    struct cr_strs dataset_files;
    const char *field_delim;
    const struct cr_node *column_defaults;
    struct cr_strs column_names;
    int64_t num_samples;
    const struct cr_node *shuffle;
    unsigned char header;
    const struct cr_node *columns;
    const char *only;       /* not an option: the only column to read, from
                               these files; or NULL */
    struct cr_strs paths;   /* not an option: paths of the files, set when
                               they are read */
};

bool cr_csv_dataset_open(struct cr_config *config,
                         const struct cr_csv_dataset_opts *opts,
                         struct cr_pos pos, struct cr_dataset *to);
bool cr_csv_dataset_read(struct cr_dataset *set, struct cr_diag *diag,
                         int64_t i, int column, void *to);
bool cr_csv_dataset_text(struct cr_dataset *set, struct cr_diag *diag,
                         int64_t i, int column, struct cr_arena *mem,
                         struct cr_ragged *to);
const void *cr_csv_dataset_fetch(struct cr_dataset *set, struct cr_diag *diag,
                                 struct cr_arena *mem, int64_t i, int column,
                                 void *scratch, struct cr_spec *spec);
const char *cr_csv_dataset_file(const struct cr_dataset *set, int64_t i,
                                int column);
const void *cr_csv_dataset_at(struct cr_dataset *set, int64_t i, int column);
struct cr_pos cr_csv_dataset_where(struct cr_dataset *set,
                                   struct cr_arena *arena, int64_t i,
                                   int column);
bool cr_csv_dataset_field(struct cr_dataset *set, struct cr_diag *diag,
                          struct cr_pos pos, const char *name,
                          cr_dataset_each each, void *ctx);
void cr_csv_dataset_close(struct cr_dataset *set);
/* The vocabulary of a category, COLUMN or COLUMN.FIELD, over the training
 * samples. NULL if the column has none, or after reporting. */
struct cr_vocab *cr_csv_dataset_vocab(struct cr_config *config,
                                      const struct cr_csv_dataset_opts *opts,
                                      struct cr_pos pos, const char *name);

/* Parses single rows of other tables (predict) into columns like the columns of
 * the data set. */
struct cr_field_rows;

/* Opens the columns of opts->columns or, if it is absent, a column for each
 * field; only the columns in `wanted` (NULL-terminated), in its order. `names`
 * are the names of the fields; messages refer to the first row of `csv`. NULL
 * after reporting. */
struct cr_field_rows *cr_field_rows_open(struct cr_config *config,
                                         const struct cr_csv_dataset_opts *opts,
                                         struct cr_pos pos,
                                         const struct cr_csv *csv,
                                         const struct cr_strs *names,
                                         const char *const *wanted);
/* The type and shape of column k, and its value in the last row read: numbers,
 * or a text as struct cr_ragged, valid until the next row. */
struct cr_spec cr_field_rows_spec(const struct cr_field_rows *rows, int k);
const void *cr_field_rows_at(const struct cr_field_rows *rows, int k);
/* Reads the current row of csv. False after reporting to `diag`. */
bool cr_field_rows_read(struct cr_field_rows *rows, struct cr_diag *diag,
                        const struct cr_csv *csv);
/* The number of values in the last row read that are none of the categories of
 * the training data. If there are any, the field and the text, in quotes if
 * needed, of the first one, which is valid until the next row. */
int cr_field_rows_unknown(const struct cr_field_rows *rows, const char **field,
                          const char **text);

#endif
