/*
 * Files that hold one array: opening, mapping and decompression, which the
 * formats idx and npy share, and data sets whose columns are such files.
 */
#ifndef CR_DATA_ARRAY_H
#define CR_DATA_ARRAY_H

#include "data/dataset.h"
#include "data/format.h"

/* The bytes of a file, plain or gzip. */
struct cr_bytes;

/* Opens a regular file and reads the first `want` bytes of its decompressed
 * content into *head; *got is their number, less if the content is shorter.
 * NULL after reporting. */
struct cr_bytes *cr_bytes_open(struct cr_arena *arena, struct cr_diag *diag,
                               const char *path, unsigned char *head,
                               size_t want, size_t *got);
/* The whole content, which must have `size` bytes: mapped, or decompressed into
 * memory. It is valid until cr_bytes_close; a second call returns the same
 * pointer. NULL after reporting. */
const unsigned char *cr_bytes_all(struct cr_bytes *bytes,
                                  struct cr_diag *diag, size_t size);
/* The same, but always in memory, so that other processes cannot change it: for
 * content that is read more than once. */
const unsigned char *cr_bytes_copy(struct cr_bytes *bytes,
                                   struct cr_diag *diag, size_t size);
/* Whether an uncompressed file has `size` bytes, and whether a compressed one
 * can have that size (its decompression checks it). False after reporting. */
bool cr_bytes_fit(struct cr_bytes *bytes, struct cr_diag *diag, size_t size);
/* The size of the file on disk. */
size_t cr_bytes_length(const struct cr_bytes *bytes);
const char *cr_bytes_path(const struct cr_bytes *bytes);
void cr_bytes_close(struct cr_bytes *bytes);

/* A file of a column. A column may have several files, whose rows follow one
 * another. */
struct cr_array_file {
    int column;
    const char *path;
};

/* Opens the files of a data set and sets the columns, the number of samples and
 * the checksums of *to; `names` has `columns` entries. The files of a column
 * must agree in type and row shape, the columns in their number of rows. False
 * after reporting. */
bool cr_arrays_open(struct cr_config *config, struct cr_pos pos,
                    const struct cr_array_file *files, int n_files,
                    const char *const *names, int columns,
                    struct cr_dataset *to);
/* The same with one file per column and with paths from the config. */
bool cr_arrays_named(struct cr_config *config, struct cr_pos pos,
                     const struct cr_strs *paths,
                     const struct cr_strs *names, struct cr_dataset *to);
/* Functions of such a data set: see struct cr_dataset_type. */
bool cr_arrays_load(struct cr_dataset *set, struct cr_diag *diag);
bool cr_arrays_read(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                    int column, void *to);
const void *cr_arrays_at(struct cr_dataset *set, int64_t i, int column);
void cr_arrays_close(struct cr_dataset *set);

#endif
