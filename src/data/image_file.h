/*
 * Samples that are files of images: PNG or JPEG, decoded to uint8 (height,
 * width, 3) when they are read; grey becomes RGB. Masks are PNG files of class
 * indices, int32 (height, width): grey values, or indices of the palette. A
 * column has the size of its first image, for which the datapipe is planned.
 */
#ifndef CR_DATA_IMAGE_FILE_H
#define CR_DATA_IMAGE_FILE_H

#include "data/dataset.h"

/* What identifies the images of a data set: of cr_dataset, fingerprint and
 * cache_key. Begins with { 0, CR_HASH }. */
struct cr_image_files_id {
    uint32_t crc;
    uint64_t key;
};

/* Adds an image of the given name in its data set, and checks that the file is
 * a regular one. False after reporting, at `pos` if that is a place in a
 * file. */
bool cr_image_file_add(struct cr_image_files_id *id, struct cr_diag *diag,
                       struct cr_pos pos, const char *path, const char *name);

/* Whether dataset.on_error skips images that cannot be decoded. */
bool cr_image_files_skipped(const struct cr_config *config);
/* Sets *spec to the size in the header of an image or mask. False after
 * reporting. */
bool cr_image_file_header(struct cr_diag *diag, const char *path, bool mask,
                          struct cr_spec *spec);
/* Sets *spec to the size of the first image in its header or, if damaged images
 * are skipped, of the first one with a valid header; path(ctx, i) is that of
 * image i of n. False after reporting. */
bool cr_image_files_spec(struct cr_config *config,
                         const char *(*path)(const void *ctx, int64_t i),
                         const void *ctx, int64_t n, bool masks,
                         struct cr_spec *spec);
/* Decodes an image, or a mask if that is planned; as `fetch` of a data set. */
const void *cr_image_file_fetch(struct cr_diag *diag, struct cr_arena *mem,
                                const char *path,
                                const struct cr_spec *planned, void *scratch,
                                struct cr_spec *spec);

#endif
