/*
 * A file format: a file (or memory) in, tensors out.
 *
 * Formats know nothing of data sets. Readers treat every file as hostile
 * (formats.md 0.1): lengths are compared with what is left before anything is
 * allocated, and the whole content is checked against the header.
 */
#ifndef CR_DATA_FORMAT_H
#define CR_DATA_FORMAT_H

#include "base/str.h"
#include "conf/opt.h"
#include "math/spec.h"

struct cr_file;     /* an open file of some format; the format's own struct */

struct cr_format {
    struct cr_descriptor about;
    const char *suffixes;   /* ".idx .gz"; names only help to guess */
    /* Whether a file that begins with these bytes is of this format. */
    bool (*magic)(const unsigned char *head, size_t n);
    /* Reads the header: *spec is all the file holds ((n, ...) for arrays,
     * (h, w, c) for an image). NULL after reporting. */
    struct cr_file *(*open)(struct cr_arena *arena, struct cr_diag *diag,
                            const char *path, struct cr_spec *spec);
    /* Reads `rows` entries of axis 0 from `from` (an image: all of it, from
     * 0) into `to`, in spec.type, native byte order, C order. */
    bool (*read)(struct cr_file *file, struct cr_diag *diag, int64_t from,
                 int64_t rows, void *to);
    /* Optional: brings the content into memory, so that `at` can point at
     * row i. Once, before any thread reads. */
    bool (*load)(struct cr_file *file, struct cr_diag *diag);
    const void *(*at)(struct cr_file *file, int64_t row);
    void (*close)(struct cr_file *file);
    /* Optional: a file's bytes, made of what `read` would give. */
    bool (*encode)(struct cr_diag *diag, const struct cr_spec *spec,
                   const void *data, struct cr_buf *to);
};

const struct cr_format *cr_format_find(const char *name);
/* By content, then by suffix; NULL after reporting. */
const struct cr_format *cr_format_of(struct cr_diag *diag,
                                     struct cr_arena *arena,
                                     const char *path);

#endif
