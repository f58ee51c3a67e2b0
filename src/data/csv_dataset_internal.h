/*
 * Inside of a data set of CSV files (data/csv_dataset.h): its rows in memory,
 * and how a field's text becomes a value there. Private to src/data.
 */
#ifndef CR_DATA_CSV_DATASET_INTERNAL_H
#define CR_DATA_CSV_DATASET_INTERNAL_H

#include "data/category_table.h"
#include "data/csv_schema.h"

struct cr_csv_dataset_file {
    const char *path;
    int fd;
};

/* A text's place. */
struct cr_csv_dataset_place {
    int64_t at;
    uint32_t len; /* quotes included */
    int32_t file; /* -1: the column's default */
};

struct cr_csv_dataset_column {
    struct cr_field_column of;
    size_t size;            /* of one sample */
    char **block;
    int64_t blocks, cap;
    struct cr_category_table words;
    bool guessed;           /* so many different numbers came that it was
                               taken for one of numbers before the end */
    bool fills;             /* some op takes missing values away */
};

struct cr_csv_dataset {
    struct cr_config *config;
    char delimiter;
    int users;
    int n_files;
    struct cr_csv_dataset_file *file;
    int columns;
    struct cr_csv_dataset_column *column;
    struct cr_strs names;   /* of the fields */
    int64_t rows;
    uint32_t crc, contents;
    bool header;            /* the first line of each file is no row */
    bool good;
};

/* Row i of a column; a new one behind all others. */
char *cr_csv_dataset_row_at(const struct cr_csv_dataset_column *c, int64_t i);
char *cr_csv_dataset_row_new(struct cr_csv_dataset *f,
                             struct cr_csv_dataset_column *c, int64_t i);
/* The columns that the options make of fields of those names. */
bool cr_csv_dataset_make(struct cr_csv_dataset *f,
                         const struct cr_csv_dataset_opts *o, struct cr_pos pos,
                         const struct cr_csv *csv, const struct cr_strs *names);
struct cr_spec cr_csv_dataset_spec(const struct cr_field_column *c);
/* Adds the present row of csv, which must have `wanted` fields. False after
 * reporting what is wrong with any of them. */
bool cr_csv_dataset_row(struct cr_csv_dataset *f, const struct cr_csv *csv,
                        int file, int wanted);
/* A column of numbers or words that nobody gave a type: numbers when all of
 * them are, else classes in sorted order. */
void cr_csv_dataset_decide(struct cr_csv_dataset *f,
                           struct cr_csv_dataset_column *c, int64_t rows);

#endif
