/*
 * Samples as the data set holds them, and, where the datapipe says so, kept
 * once they were read. Private to src/data. Thread safe but for opening and
 * closing.
 */
#ifndef CR_DATA_READER_H
#define CR_DATA_READER_H

#include "data/dataset.h"

struct cr_reader;

struct cr_reader_opts {
    bool keep;          /* what is not in memory anyway stays there once it
                           was read */
    const char *file; /* or is kept there, decoded (data/disk_cache.h); NULL */
};

struct cr_reader *cr_reader_open(struct cr_arena *arena, struct cr_dataset *set,
                                 const struct cr_reader_opts *want);
/* Reads every sample once, unless all are on the shelf already: makes the
 * shelf, and finds out what cannot be read. A shelf that cannot be made is a
 * warning, and ends it unless `losses` are asked for. Threads of the pool
 * share the work. */
void cr_reader_build_cache(struct cr_reader *reader, struct cr_diag *diag,
                           bool find_unreadable);
/* After a scan: whether sample i can be read. */
bool cr_reader_has(const struct cr_reader *reader, int64_t i);
/* Says as a warning why sample i cannot be read. */
void cr_reader_warn(struct cr_reader *reader, struct cr_diag *diag,
                    int64_t i);
void cr_reader_close(struct cr_reader *reader);

/* Sample i of a column and its shape: in memory that lasts, in `room`, which
 * has place for one of the column's shape, or in `mem`. NULL after
 * reporting. */
const void *cr_reader_get(struct cr_reader *reader, struct cr_diag *diag,
                          struct cr_arena *mem, int64_t i, int column,
                          void *room, struct cr_spec *spec);
/* Asks for the memory of a sample that will be read soon: samples come in
 * random order from what may be a large file. */
void cr_reader_prefetch(const struct cr_reader *reader, int64_t i);

/* Where sample i comes from, for messages: its file, or nowhere. */
struct cr_pos cr_sample_pos(const struct cr_dataset *set,
                            struct cr_arena *arena, int64_t i);
/* Adds to the message recorded last where in the file it stands, if the data
 * set can tell. */
void cr_sample_note(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                    int column);

#endif
