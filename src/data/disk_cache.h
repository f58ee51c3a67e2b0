/*
 * A file of the decoded samples of one column, so that later epochs and runs
 * need not decode them (`cache: disk`). cellrun-formats(7) has its layout.
 * Private to src/data.
 */
#ifndef CR_DATA_DISK_CACHE_H
#define CR_DATA_DISK_CACHE_H

#include "base/diag.h"
#include "num/spec.h"

struct cr_disk_cache;

/* Opens a cache; NULL, without a message, if there is no valid file with that
 * key and number of samples. */
struct cr_disk_cache *cr_disk_cache_open(struct cr_arena *arena,
                                         const char *path, uint64_t key,
                                         int64_t count);
/* Returns sample i, valid while the cache is open, and sets its spec; NULL if
 * it is damaged or missing. Thread safe. */
const void *cr_disk_cache_at(const struct cr_disk_cache *cache, int64_t i,
                             struct cr_spec *spec);
/* Whether sample i could not be read when the cache was written. */
bool cr_disk_cache_unreadable(const struct cr_disk_cache *cache, int64_t i);
void cr_disk_cache_close(struct cr_disk_cache *cache);

/* Writing a cache: put every sample in order, then commit. False after
 * reporting; then further calls have no effect and no file is created. */
struct cr_cache_writer;
struct cr_cache_writer *cr_cache_writer_open(struct cr_arena *arena,
                                             struct cr_diag *diag,
                                             const char *path, uint64_t key,
                                             int64_t count);
/* data NULL: the sample cannot be read. */
bool cr_cache_writer_put(struct cr_cache_writer *to, const struct cr_spec *spec,
                         const void *data);
bool cr_cache_writer_commit(struct cr_cache_writer *to);

#endif
