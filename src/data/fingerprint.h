/*
 * What tells one data set from another, for a run that is resumed: a CRC-32
 * of the names and sizes of its files, and one of their contents. Times and
 * folders do not count, so a copy on another machine is the same data set.
 *
 * Contents are read in full up to CR_CONTENTS_WHOLE bytes of a file; a larger
 * file gives CR_CONTENTS_PIECES pieces of CR_CONTENTS_PIECE bytes at equal
 * distances, its first and its last bytes among them. So a run starts at once
 * however large the data are; other data, and any change of a small file such
 * as the labels, show, while a change of a few bytes of a large file may not.
 */
#ifndef CR_DATA_FINGERPRINT_H
#define CR_DATA_FINGERPRINT_H

#include <stdint.h>

#include "base/diag.h"

#define CR_CONTENTS_WHOLE ((size_t)4 << 20)
#define CR_CONTENTS_PIECES 256
#define CR_CONTENTS_PIECE 4096

/* The CRC of what went before, and of the base name and size of a file. */
uint32_t cr_fingerprint_name(uint32_t crc, const char *path, uint64_t size);
/* The same, with the size that the file has; false after reporting. */
bool cr_fingerprint_file(struct cr_diag *diag, uint32_t *crc,
                         const char *path);
/* The CRC of what went before, and of the contents of a file; false after
 * reporting. */
bool cr_fingerprint_contents(struct cr_diag *diag, uint32_t *crc,
                             const char *path);
/* The same for file number i of n, where there may be very many: some files
 * that lie at equal distances among the n count, the others do not. With diag
 * NULL one that cannot be read does not count either. */
bool cr_fingerprint_among(struct cr_diag *diag, uint32_t *crc,
                          const char *path, int64_t i, int64_t n);

#endif
