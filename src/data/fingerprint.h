/*
 * The identity of a data set, for a run that is resumed: a CRC-32 of the names
 * and sizes of its files, and a CRC-32 of their contents. Times and folders are
 * not included, so a copy on another machine has the same identity.
 *
 * Files of up to CR_CONTENTS_WHOLE bytes are read in full; of a larger file
 * CR_CONTENTS_PIECES pieces of CR_CONTENTS_PIECE bytes at equal distances,
 * including its first and last bytes. So the time does not grow with the data.
 * Other data and any change of a small file, such as the labels, are detected;
 * a change of a few bytes of a large file may not be.
 */
#ifndef CR_DATA_FINGERPRINT_H
#define CR_DATA_FINGERPRINT_H

#include <stdint.h>

#include "base/diag.h"

#define CR_CONTENTS_WHOLE ((size_t)4 << 20)
#define CR_CONTENTS_PIECES 256
#define CR_CONTENTS_PIECE 4096

/* Extends a CRC by the base name and the size of a file. */
uint32_t cr_fingerprint_name(uint32_t crc, const char *path, uint64_t size);
/* The same with the actual size of the file; false after reporting. */
bool cr_fingerprint_file(struct cr_diag *diag, uint32_t *crc,
                         const char *path);
/* Extends a CRC by the contents of a file; false after reporting. */
bool cr_fingerprint_contents(struct cr_diag *diag, uint32_t *crc,
                             const char *path);
/* The same for file i of n, for large n: only some files at equal distances
 * among the n are included. With diag NULL an unreadable file is omitted
 * too. */
bool cr_fingerprint_among(struct cr_diag *diag, uint32_t *crc,
                          const char *path, int64_t i, int64_t n);

#endif
