/*
 * The header of a .npy array (formats.md 3.1), read and written in memory:
 * for files (formats/npy.c) and for members of NPZ (ckpt/npz.c).
 */
#ifndef CR_DATA_NPY_H
#define CR_DATA_NPY_H

#include "base/str.h"
#include "math/spec.h"

/* Bytes within which every header ends: numpy itself refuses more than
 * 10,000 characters of text. */
#define CR_NPY_MAX 10240

struct cr_npy {
    struct cr_spec spec;
    const char *descr; /* "<f4" */
    bool readable;     /* a type and rank that we have */
    bool swap;         /* big endian */
    bool fortran;      /* column-major */
    size_t data;       /* where the elements begin */
};

/* Reads the header at the start of the n bytes. False when it is none: then
 * *why says so. Text in the arena. */
bool cr_npy_read(struct cr_arena *arena, const char *head, size_t n,
                 struct cr_npy *to, const char **why);

/* Magic, version and text; the elements follow at once, at a multiple of 64
 * (of 128 where that is enough). */
void cr_npy_header(struct cr_buf *to, const struct cr_spec *spec);

#endif
