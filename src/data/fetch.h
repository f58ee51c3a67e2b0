/*
 * Data sets on this machine (data ls), and well-known public ones, fetched with
 * curl or wget (data fetch).
 */
#ifndef CR_DATA_FETCH_H
#define CR_DATA_FETCH_H

#include "base/diag.h"

/* A public data set, identified by the SHA-256 of its files. */
struct cr_public_file {
    const char *name, *sha256;
};

struct cr_public_set {
    const char *name, *type, *summary;
    const char *urls[2]; /* folders that hold the files; the second may be
                            NULL */
    struct cr_public_file file[4];
    bool unpacked_hash; /* sha256 is that of the decompressed gzip file */
    const char *folder; /* the files are tar archives of this folder; NULL: they
                           are used as they are */
    const char *marker; /* a file that the folder of the set contains */
};

/* All of them; the last has no name. */
extern const struct cr_public_set cr_public_sets[];

struct cr_fetch_opts {
    const char *dir; /* folder of the set; NULL: its name in the first folder of
                        CELLRUN_DATA, else in the current directory */
    const char *url; /* folder to fetch from instead; NULL: the set's own */
    bool quiet;
};

/* Makes the data set complete and verified in its folder, which *dir is set to.
 * Files that are there and right are left alone. False after reporting. */
bool cr_fetch(struct cr_arena *arena, struct cr_diag *diag, const char *name,
              const struct cr_fetch_opts *o, const char **dir);

/* Calls `each` for each data set in the folders: the current directory, its
 * folder `datasets`, and those of CELLRUN_DATA. */
void cr_data_sets_list(struct cr_arena *arena,
                       void (*each)(void *ctx, const char *name,
                                    const char *type, const char *path),
                       void *ctx);

#endif
