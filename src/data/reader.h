/*
 * Reads samples as the data set stores them, with an optional cache of decoded
 * samples. Private to src/data. Thread safe, except for opening and closing.
 */
#ifndef CR_DATA_READER_H
#define CR_DATA_READER_H

#include "data/dataset.h"

struct cr_reader;

struct cr_reader_opts {
    bool keep;        /* cache samples in memory once they were read */
    const char *file; /* path of the disk cache (data/disk_cache.h), or NULL */
};

struct cr_reader *cr_reader_open(struct cr_arena *arena, struct cr_dataset *set,
                                 const struct cr_reader_opts *want);
/* Reads every sample once, with all threads of the pool, unless the disk cache
 * is valid: writes the cache, and records which samples cannot be read. A cache
 * that cannot be written is a warning, and ends the work unless
 * `find_unreadable` is set. */
void cr_reader_build_cache(struct cr_reader *reader, struct cr_diag *diag,
                           bool find_unreadable);
/* After that: whether all columns of sample i can be read. */
bool cr_reader_has(const struct cr_reader *reader, int64_t i);
/* Returns the column of sample i that cannot be read, after reporting why; -1:
 * none. */
int cr_reader_unreadable(struct cr_reader *reader, struct cr_diag *diag,
                         int64_t i);
void cr_reader_close(struct cr_reader *reader);

/* Returns sample i of a column and sets its spec. It is stored in memory of the
 * data set or the cache, in `scratch`, which holds a sample of the column's
 * shape, or in `mem`. NULL after reporting. */
const void *cr_reader_get(struct cr_reader *reader, struct cr_diag *diag,
                          struct cr_arena *mem, int64_t i, int column,
                          void *scratch, struct cr_spec *spec);
/* Prefetches the memory of a sample, since samples are read in random order
 * from what may be a large file. */
void cr_reader_prefetch(const struct cr_reader *reader, int64_t i);

/* The file of sample i of a column as a position for messages, or CR_NOWHERE.
 */
struct cr_pos cr_sample_pos(const struct cr_dataset *set,
                            struct cr_arena *arena, int64_t i, int column);
/* Adds the position of sample i in its file to the last message, if the data
 * set knows it. */
void cr_sample_note(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                    int column);

#endif
