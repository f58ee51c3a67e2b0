/*
 * A text file that whole lines are appended to.
 *
 * Lines wait in memory until they are flushed. A flush that fails cuts the
 * partial line off and keeps the lines: they follow when there is room again.
 * Beyond a limit of memory further lines are dropped and counted.
 */
#ifndef CR_BASE_APPEND_FILE_H
#define CR_BASE_APPEND_FILE_H

#include "base/diag.h"

struct cr_append_file {
    const char *path;   /* NULL: closed; then lines go nowhere */
    int fd;
    int64_t size;       /* of the file, up to its last whole line */
    char *text;         /* lines that wait */
    size_t len, cap;
    int64_t dropped;    /* lines */
    int error;          /* of the last flush; 0: it was complete */
};

/* Ends a last line that was cut off. False after reporting. */
bool cr_append_file_open(struct cr_append_file *file, struct cr_diag *diag,
                         const char *path);
/* Adds bytes that end a line, or come before those. */
void cr_append_file_add(struct cr_append_file *file, const char *text,
                        size_t len);
/* Writes the buffered lines. The first failure in a row is a warning. */
void cr_append_file_flush(struct cr_append_file *file, struct cr_diag *diag);
/* Flushes and syncs the file to disk. */
void cr_append_file_sync(struct cr_append_file *file, struct cr_diag *diag);
/* False after reporting that lines were lost. */
bool cr_append_file_close(struct cr_append_file *file, struct cr_diag *diag);

#endif
