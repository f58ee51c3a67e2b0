/*
 * Atomic replacement of a file: it is written without a name, synced, and
 * named last, so the name always refers to a complete file, old or new.
 *
 * The file has no name until it is complete (O_TMPFILE), so that a process
 * that is killed leaves no temporary file. On file systems without O_TMPFILE
 * the writer uses .NAME.tmp.PID in the same folder and holds a lock on it
 * (flock); the next writer of the same name removes the files whose lock is
 * free.
 *
 * A device or a pipe is written in place. A symbolic link stays, and its
 * target is replaced. The path - is standard output: main reports its errors.
 */
#ifndef CR_BASE_ATOMIC_FILE_H
#define CR_BASE_ATOMIC_FILE_H

#include "base/diag.h"

struct cr_atomic_file {
    struct cr_diag *diag;
    const char *path;
    struct cr_arena mem;
    const char *name, *part; /* within the folder; part NULL: in place */
    int dir, fd;
    char *buffer;            /* small writes wait here, `waiting` bytes */
    size_t waiting;
    bool unnamed;            /* part does not exist yet */
    bool standard;           /* written to stdout */
    bool failed;             /* reported already */
};

/* Reserves `size` bytes, so that a full disk is noticed before any work.
 * False after reporting; then everything is closed. */
bool cr_atomic_file_open(struct cr_atomic_file *file, struct cr_diag *diag,
                         const char *path, int64_t size);
bool cr_atomic_file_write(struct cr_atomic_file *file, const void *data,
                          size_t len);
/* Gives the file its name; after a failed write it removes the file. False
 * after reporting. */
bool cr_atomic_file_commit(struct cr_atomic_file *file);
/* Discards what was written; the old file stays. */
void cr_atomic_file_discard(struct cr_atomic_file *file);

/* Removes the temporary files that killed writers of `name` left in a folder;
 * name NULL: of any file. */
void cr_atomic_file_sweep(const char *dir, const char *name);

#endif
