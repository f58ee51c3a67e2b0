/*
 * A file of decoded samples of one column, so that a later epoch, or a later
 * run, does not decode them again (`cache: disk`). Private to src/data.
 *
 *     0   8   "CRSHELF1"
 *     8   8   key: what the samples were made of
 *     16  8   n, samples
 *     24  ..  samples, row-major, one behind the other
 *     t   40n table: offset, 8; bytes, 4; CRC-32, 4; rank, 4 (255: the sample
 *             could not be read); type, 4; dimensions, 4 of 4 bytes
 *     -16 8   t
 *     -8  4   CRC-32 of the table
 *     -4  4   CRC-32 of the first 24 bytes
 *
 * Little endian. A file that is not exactly so, or has another key, is no
 * shelf; a sample whose CRC is wrong is not on it.
 */
#ifndef CR_DATA_DISK_CACHE_H
#define CR_DATA_DISK_CACHE_H

#include "base/diag.h"
#include "math/spec.h"

struct cr_disk_cache;

/* NULL, without a word, where there is none of that key and count. */
struct cr_disk_cache *cr_disk_cache_open(struct cr_arena *arena,
                                         const char *path, uint64_t key,
                                         int64_t count);
/* Sample i, which stays while the shelf is open; NULL: not on it. Thread
 * safe. */
const void *cr_disk_cache_at(const struct cr_disk_cache *cache, int64_t i,
                             struct cr_spec *spec);
/* Whether sample i could not be read when the shelf was made. */
bool cr_disk_cache_unreadable(const struct cr_disk_cache *cache, int64_t i);
void cr_disk_cache_close(struct cr_disk_cache *cache);

/* Making one: samples in order, then the end. After false, which is reported,
 * nothing more is done and no file is there. */
struct cr_cache_writer;
struct cr_cache_writer *cr_cache_writer_open(struct cr_arena *arena,
                                             struct cr_diag *diag,
                                             const char *path, uint64_t key,
                                             int64_t count);
/* data NULL: it cannot be read. */
bool cr_cache_writer_put(struct cr_cache_writer *to, const struct cr_spec *spec,
                         const void *data);
bool cr_cache_writer_commit(struct cr_cache_writer *to);

#endif
