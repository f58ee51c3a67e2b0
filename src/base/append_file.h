/*
 * A text file to which complete lines are appended.
 *
 * Lines are buffered until they are flushed. A flush that fails removes the
 * partial line from the file and keeps the lines, which the next flush writes.
 * When the buffer is full, further lines are dropped and counted.
 */
#ifndef CR_BASE_APPEND_FILE_H
#define CR_BASE_APPEND_FILE_H

#include "base/diag.h"

struct cr_append_file {
    const char *path; /* NULL: closed; lines are discarded */
    int fd;
    int64_t size; /* of the file, up to its last complete line */
    char *text;   /* buffered lines */
    size_t len, cap;
    int64_t dropped;    /* lines */
    int error;          /* of the last flush; 0: it was complete */
};

/* Opens the file and completes a last line that was cut off. False after
 * reporting. */
bool cr_append_file_open(struct cr_append_file *file, struct cr_diag *diag,
                         const char *path);
/* Adds bytes; the last call for a line ends it. */
void cr_append_file_add(struct cr_append_file *file, const char *text,
                        size_t len);
/* Writes the buffered lines. Only the first of consecutive failures is
 * reported, as a warning. */
void cr_append_file_flush(struct cr_append_file *file, struct cr_diag *diag);
/* Flushes and syncs the file to disk. */
void cr_append_file_sync(struct cr_append_file *file, struct cr_diag *diag);
/* False after reporting that lines were lost. */
bool cr_append_file_close(struct cr_append_file *file, struct cr_diag *diag);

#endif
