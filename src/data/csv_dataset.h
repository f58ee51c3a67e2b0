/*
 * A data set whose columns are fields of CSV files (data/csv.h).
 *
 * The files are read once, from front to back, when the data set is opened:
 * numbers and classes are kept as such, 4 or 8 bytes each, and of texts only
 * the places, from which they are read again when they are wanted. Any order
 * of samples costs the same. Data loaders of one config that read the same
 * files in the same way share what was read.
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
    const char *only;       /* no row: one column, of these files; or NULL */
    struct cr_strs paths;   /* no row: of the files, set when they are read */
};

bool cr_csv_dataset_open(struct cr_config *config,
                         const struct cr_csv_dataset_opts *opts,
                         struct cr_pos pos, struct cr_dataset *to);
bool cr_csv_dataset_read(struct cr_dataset *set, struct cr_diag *diag,
                         int64_t i, int column, void *to);
bool cr_csv_dataset_text(struct cr_dataset *set, struct cr_diag *diag,
                         int64_t i, int column, struct cr_arena *mem,
                         struct cr_ragged *to);
const void *cr_csv_dataset_at(struct cr_dataset *set, int64_t i, int column);
struct cr_pos cr_csv_dataset_where(struct cr_dataset *set,
                                   struct cr_arena *arena, int64_t i,
                                   int column);
bool cr_csv_dataset_field(struct cr_dataset *set, struct cr_diag *diag,
                          struct cr_pos pos, const char *name,
                          cr_dataset_each each, void *ctx);
void cr_csv_dataset_close(struct cr_dataset *set);
/* The vocabulary of a category, COLUMN or COLUMN.FIELD, over the training
 * samples. NULL: there is none, or after reporting. */
struct cr_vocab *cr_csv_dataset_vocab(struct cr_config *config,
                                      const struct cr_csv_dataset_opts *opts,
                                      struct cr_pos pos, const char *name);

/* Rows of other tables, one at a time (predict): columns that a data set
 * has, of rows that it has not read. */
struct cr_field_rows;

/* The columns of opts->columns, or, without it, a column for each field, of
 * which only those in `wanted` (NULL-terminated) are read: in its order.
 * `names` are those of the fields; `csv` stands at the first row, for
 * messages. NULL after reporting. */
struct cr_field_rows *cr_field_rows_open(struct cr_config *config,
                                         const struct cr_csv_dataset_opts *opts,
                                         struct cr_pos pos,
                                         const struct cr_csv *csv,
                                         const struct cr_strs *names,
                                         const char *const *wanted);
/* The type and shape of column k, and its value in the row read last: numbers,
 * or a text as struct cr_ragged, which lives as long as the row. */
struct cr_spec cr_field_rows_spec(const struct cr_field_rows *rows, int k);
const void *cr_field_rows_at(const struct cr_field_rows *rows, int k);
/* Reads the present row of csv. False after reporting to `diag`. */
bool cr_field_rows_read(struct cr_field_rows *rows, struct cr_diag *diag,
                        const struct cr_csv *csv);

#endif
