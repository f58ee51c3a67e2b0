/*
 * The header of a .npy array, whose layout cellrun-formats(7) describes: for
 * files (formats/npy.c) and for members of NPZ (ckpt/npz.c).
 */
#ifndef CR_DATA_NPY_H
#define CR_DATA_NPY_H

#include "base/str.h"
#include "num/spec.h"

/* Maximum length of a header in bytes: NumPy refuses more than 10000 characters
 * of text. */
#define CR_NPY_MAX 10240

struct cr_npy {
    struct cr_spec spec;
    const char *descr; /* "<f4" */
    bool readable;     /* type and rank are supported */
    bool swap;         /* big endian */
    bool fortran;      /* column-major */
    size_t data;       /* offset of the elements */
};

/* Reads the header at the start of n bytes; strings are in the arena. False if
 * it is not valid: then *why is the reason. */
bool cr_npy_read(struct cr_arena *arena, const char *head, size_t n,
                 struct cr_npy *to, const char **why);

/* Magic, version and text; the elements follow at once, at a multiple of 64
 * (of 128 where that is enough). */
void cr_npy_header(struct cr_buf *to, const struct cr_spec *spec);

#endif
