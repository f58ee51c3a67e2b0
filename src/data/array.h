/*
 * A file that is one array: opened, mapped or unpacked, and handed out row
 * by row. What the formats of arrays (idx, npy) share, and a data set whose
 * columns are such files.
 */
#ifndef CR_DATA_ARRAY_H
#define CR_DATA_ARRAY_H

#include "data/dataset.h"
#include "data/format.h"

/* The bytes of a file, plain or gzip. */
struct cr_bytes;

/* Opens a regular file; *head gets up to `want` unpacked bytes of its start
 * (as many as there are, in *got). NULL after reporting. */
struct cr_bytes *cr_bytes_open(struct cr_arena *arena, struct cr_diag *diag,
                               const char *path, unsigned char *head,
                               size_t want, size_t *got);
/* All of it must be `size` bytes; they are mapped, or unpacked into memory of
 * their own. Called again it gives the same. NULL after reporting. */
const unsigned char *cr_bytes_all(struct cr_bytes *bytes,
                                  struct cr_diag *diag, size_t size);
/* The same in memory of its own, which nobody else can change: for a file
 * that is looked at more than once. */
const unsigned char *cr_bytes_copy(struct cr_bytes *bytes,
                                   struct cr_diag *diag, size_t size);
/* For plain files: whether the length is `size`, reported if not. Packed
 * ones are checked when they are unpacked. */
bool cr_bytes_fit(struct cr_bytes *bytes, struct cr_diag *diag, size_t size);
/* Of the file as it lies on the disk. */
size_t cr_bytes_length(const struct cr_bytes *bytes);
const char *cr_bytes_path(const struct cr_bytes *bytes);
void cr_bytes_close(struct cr_bytes *bytes);

/* A data set of columns that are arrays. A column may be several files, one
 * behind the other; all columns need the same number of rows. */
struct cr_array_file {
    int column;
    const char *path;
};

/* Fills *to with columns, count, fingerprint; names has `columns` entries.
 * Any two files of a column must agree in row shape and type. */
bool cr_arrays_open(struct cr_config *config, struct cr_pos pos,
                    const struct cr_array_file *files, int n_files,
                    const char *const *names, int columns,
                    struct cr_dataset *to);
/* The same with one file per column, paths as the config has them. */
bool cr_arrays_named(struct cr_config *config, struct cr_pos pos,
                     const struct cr_strs *paths,
                     const struct cr_strs *names, struct cr_dataset *to);
bool cr_arrays_load(struct cr_dataset *set, struct cr_diag *diag);
bool cr_arrays_read(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                    int column, void *to);
const void *cr_arrays_at(struct cr_dataset *set, int64_t i, int column);
void cr_arrays_close(struct cr_dataset *set);

#endif
