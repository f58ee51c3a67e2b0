/*
 * A file that is whole or absent: written beside its final name as
 * .NAME.tmp.PID, synced, renamed (formats.md 9.7). Whatever happens, the name
 * means either the old file or the new one, complete.
 *
 * Where the name stands for a device or a pipe there is nothing to rename: it
 * is written as it is. A symbolic link stays, and what it names is written.
 */
#ifndef CR_BASE_WHOLE_H
#define CR_BASE_WHOLE_H

#include "base/diag.h"

struct cr_whole {
    struct cr_diag *diag;
    const char *path;
    struct cr_arena mem;
    const char *name, *part; /* within the folder; part NULL: in place */
    int dir, fd;
    bool failed; /* reported already */
};

/* Room for `size` bytes is asked for at once, so that a full disk shows
 * before any work. False after reporting; then all is closed. */
bool cr_whole_open(struct cr_whole *whole, struct cr_diag *diag,
                   const char *path, int64_t size);
bool cr_whole_put(struct cr_whole *whole, const void *data, size_t len);
/* Gives the file its name; after a failed put removes what there is. */
bool cr_whole_close(struct cr_whole *whole);

#endif
