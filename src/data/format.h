/*
 * File formats: each reads a file as a tensor, and may write one.
 *
 * Formats know nothing of data sets. Readers treat every file as hostile:
 * they compare each length with the bytes that are left before they allocate
 * memory for it, and check the whole content against the header.
 */
#ifndef CR_DATA_FORMAT_H
#define CR_DATA_FORMAT_H

#include "base/str.h"
#include "conf/opt.h"
#include "num/spec.h"

struct cr_file; /* an open file; each format defines its own struct */

struct cr_format {
    struct cr_descriptor about;
    const char *suffixes; /* ".idx .gz", usual endings of names */
    /* Whether a file with these n first bytes has this format. */
    bool (*magic)(const unsigned char *head, size_t n);
    /* Opens a file and reads its header: *spec is the type and shape of all
     * that it holds, (n, ...) for arrays, (h, w, c) for an image. The result
     * is in the arena and must be closed. NULL after reporting. */
    struct cr_file *(*open)(struct cr_arena *arena, struct cr_diag *diag,
                            const char *path, struct cr_spec *spec);
    /* Reads `rows` entries of axis 0, from entry `from` on, into `to`, in
     * spec.type, native byte order and C order. An image is always read as a
     * whole. False after reporting. */
    bool (*read)(struct cr_file *file, struct cr_diag *diag, int64_t from,
                 int64_t rows, void *to);
    /* Optional: loads or maps the content, so that `at` can return a pointer
     * to a row. To be called once, before threads read. False after
     * reporting. */
    bool (*load)(struct cr_file *file, struct cr_diag *diag);
    const void *(*at)(struct cr_file *file, int64_t row);
    void (*close)(struct cr_file *file);
    /* Optional: makes `read` return what an image stores, grey values or
     * indices of its palette, in place of colours; sets *spec to that, uint8
     * (h, w, 1). False after reporting an image of colours. */
    bool (*indices)(struct cr_file *file, struct cr_diag *diag,
                    struct cr_spec *spec);
    /* Optional: appends the bytes of a file that holds `data`, as `read`
     * returns it. False after reporting. */
    bool (*encode)(struct cr_diag *diag, const struct cr_spec *spec,
                   const void *data, struct cr_buf *to);
};

const struct cr_format *cr_format_find(const char *name);
/* The format of a file, by its content; NULL after reporting. */
const struct cr_format *cr_format_of(struct cr_diag *diag,
                                     struct cr_arena *arena,
                                     const char *path);

#endif
