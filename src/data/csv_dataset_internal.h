/*
 * The inside of a CSV data set (data/csv_dataset.h): its rows in memory, and
 * the conversion of the text of a field to a value. Private to src/data.
 */
#ifndef CR_DATA_CSV_DATASET_INTERNAL_H
#define CR_DATA_CSV_DATASET_INTERNAL_H

#include "data/category_table.h"
#include "data/csv_schema.h"
#include "data/image_file.h"

struct cr_csv_dataset_file {
    const char *path;
    int fd;
};

/* The position of a text in a file. */
struct cr_csv_dataset_place {
    int64_t at;
    uint32_t len; /* quotes included */
    int32_t file; /* -1: the default of the column */
};

struct cr_csv_dataset_column {
    struct cr_field_column of;
    size_t size;            /* of one sample */
    char **block;
    int64_t blocks, cap;
    struct cr_category_table words;
    bool guessed;           /* the type was chosen before the end of the
                               data, because of too many distinct numbers for
                               classes */
    bool fills;             /* a transform replaces missing values */
    const char **path;      /* of images: one per row; NULL: not images */
    struct cr_spec image;
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
    struct cr_image_files_id images; /* key 0: no column of images */
    bool header;            /* the first line of each file is a header */
    bool good;
    /* In the last row, values of categories that the vocabulary of a checkpoint
     * lacks, and the first of them, valid until the next row. */
    int unknown;
    const char *unknown_field, *unknown_text;
};

/* The memory of row i of a column; _row_new appends a row. */
char *cr_csv_dataset_row_at(const struct cr_csv_dataset_column *c, int64_t i);
char *cr_csv_dataset_row_new(struct cr_csv_dataset *f,
                             struct cr_csv_dataset_column *c, int64_t i);
/* Makes the columns of the options for fields of the given names. */
bool cr_csv_dataset_make(struct cr_csv_dataset *f,
                         const struct cr_csv_dataset_opts *o, struct cr_pos pos,
                         const struct cr_csv *csv, const struct cr_strs *names);
struct cr_spec cr_csv_dataset_spec(const struct cr_field_column *c);
/* Adds the current row of csv, which must have `wanted` fields. False after
 * reporting all its errors. */
bool cr_csv_dataset_row(struct cr_csv_dataset *f, const struct cr_csv *csv,
                        int file, int wanted);
/* Finds the images of columns of images, once the rows are read. False after
 * reporting. */
bool cr_csv_images_open(struct cr_csv_dataset *f);
/* Chooses the type of a column without `type`: numbers if all values are
 * numbers, else classes in sorted order. */
void cr_csv_dataset_decide(struct cr_csv_dataset *f,
                           struct cr_csv_dataset_column *c, int64_t rows);

#endif
