#include "data/disk_cache.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/gz.h"
#include "base/mapping.h"
#include "base/str.h"

#define MAGIC "CRSHELF1"
#define HEAD 24
#define ROW 40
#define TAIL 16
#define UNREADABLE 255
#define RANK_MOST 4

static void put32(unsigned char *to, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(v >> 8 * i);
}

static void put64(unsigned char *to, uint64_t v)
{
    put32(to, (uint32_t)v);
    put32(to + 4, (uint32_t)(v >> 32));
}

static uint32_t get32(const unsigned char *x)
{
    return x[0] | (uint32_t)x[1] << 8 | (uint32_t)x[2] << 16 |
           (uint32_t)x[3] << 24;
}

static uint64_t get64(const unsigned char *x)
{
    return get32(x) | (uint64_t)get32(x + 4) << 32;
}

/* ---- reading ---- */

enum { UNSEEN, GOOD, BAD };

struct cr_disk_cache {
    struct cr_mapping *mapping;
    const unsigned char *map, *table;
    size_t size;
    int64_t count;
    unsigned char *seen; /* per sample: UNSEEN, or the result of its CRC
                            check */
};

static bool disk_cache_is_valid(struct cr_disk_cache *s, uint64_t key)
{
    const unsigned char *tail;
    uint64_t at;

    if (s->size < HEAD + TAIL || memcmp(s->map, MAGIC, 8) != 0 ||
        get64(s->map + 8) != key || get64(s->map + 16) != (uint64_t)s->count ||
        (s->size - HEAD - TAIL) / ROW < (uint64_t)s->count)
        return false;
    tail = s->map + s->size - TAIL;
    at = get64(tail);
    s->table = tail - (size_t)s->count * ROW;
    return at == (uint64_t)(s->table - s->map) && at >= HEAD &&
           get32(tail + 12) == cr_crc32(0, s->map, HEAD) &&
           get32(tail + 8) ==
               cr_crc32(0, s->table, (size_t)s->count * ROW);
}

struct cr_disk_cache *cr_disk_cache_open(struct cr_arena *arena,
                                         const char *path, uint64_t key,
                                         int64_t count)
{
    struct cr_disk_cache *s = CR_NEW(arena, struct cr_disk_cache);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        s->mapping = cr_mapping_open(fd, (size_t)st.st_size, path);
    close(fd);
    if (!s->mapping)
        return NULL;
    s->map = cr_mapping_bytes(s->mapping);
    s->size = (size_t)st.st_size;
    s->count = count;
    if (disk_cache_is_valid(s, key)) {
        s->seen = CR_NEWS(arena, unsigned char, count + 1);
        return s;
    }
    cr_disk_cache_close(s);
    return NULL;
}

void cr_disk_cache_close(struct cr_disk_cache *s)
{
    cr_mapping_close(s->mapping);
}

bool cr_disk_cache_unreadable(const struct cr_disk_cache *s, int64_t i)
{
    return get32(s->table + i * ROW + 16) == UNREADABLE;
}

static bool disk_cache_entry(const struct cr_disk_cache *s,
                             const unsigned char *row, struct cr_spec *spec)
{
    uint64_t offset = get64(row), end = (uint64_t)(s->table - s->map);
    uint32_t rank = get32(row + 16), type = get32(row + 20), i;

    if (rank > RANK_MOST || type >= CR_TYPES)
        return false;
    *spec = (struct cr_spec){ .type = (enum cr_type)type, .rank = (int)rank };
    for (i = 0; i < rank; i++)
        spec->dim[i] = get32(row + 24 + 4 * i);
    return cr_spec_fits(spec) && cr_bytes(spec) == get32(row + 8) &&
           offset >= HEAD && offset <= end &&
           cr_bytes(spec) <= end - offset;
}

const void *cr_disk_cache_at(const struct cr_disk_cache *s, int64_t i,
                             struct cr_spec *spec)
{
    const unsigned char *row = s->table + i * ROW, *data;
    unsigned char seen = __atomic_load_n(&s->seen[i], __ATOMIC_RELAXED);

    if (seen == BAD || !disk_cache_entry(s, row, spec))
        return NULL;
    data = s->map + get64(row);
    if (seen == UNSEEN) {
        seen = cr_crc32(0, data, cr_bytes(spec)) == get32(row + 12) ? GOOD
                                                                    : BAD;
        __atomic_store_n(&s->seen[i], seen, __ATOMIC_RELAXED);
    }
    return seen == GOOD ? data : NULL;
}

/* ---- writing ---- */

struct cr_cache_writer {
    struct cr_atomic_file file;
    unsigned char head[HEAD], *table;
    int64_t count, n;
    uint64_t at;
    bool ok;
};

struct cr_cache_writer *cr_cache_writer_open(struct cr_arena *arena,
                                             struct cr_diag *diag,
                                             const char *path, uint64_t key,
                                             int64_t count)
{
    struct cr_cache_writer *s = CR_NEW(arena, struct cr_cache_writer);

    cr_atomic_file_sweep(cr_path_dir(arena, path), cr_path_base(path));
    if (!cr_atomic_file_open(&s->file, diag, path, 0))
        return NULL;
    s->count = count;
    s->table = CR_NEWS(arena, unsigned char, count * ROW + TAIL);
    memcpy(s->head, MAGIC, 8);
    put64(s->head + 8, key);
    put64(s->head + 16, (uint64_t)count);
    s->ok = cr_atomic_file_write(&s->file, s->head, HEAD);
    s->at = HEAD;
    return s;
}

bool cr_cache_writer_put(struct cr_cache_writer *s, const struct cr_spec *spec,
                         const void *data)
{
    unsigned char *row = s->table + s->n++ * ROW;
    size_t size = data ? cr_bytes(spec) : 0;
    int i;

    put64(row, s->at);
    put32(row + 8, (uint32_t)size);
    put32(row + 16, UNREADABLE);
    if (!data || !s->ok)
        return s->ok;
    put32(row + 12, cr_crc32(0, data, size));
    put32(row + 16, (uint32_t)spec->rank);
    put32(row + 20, (uint32_t)spec->type);
    for (i = 0; i < spec->rank; i++)
        put32(row + 24 + 4 * i, (uint32_t)spec->dim[i]);
    s->ok = cr_atomic_file_write(&s->file, data, size);
    s->at += size;
    return s->ok;
}

bool cr_cache_writer_commit(struct cr_cache_writer *s)
{
    size_t size = (size_t)s->count * ROW;
    unsigned char *tail = s->table + size;

    put64(tail, s->at);
    put32(tail + 8, cr_crc32(0, s->table, size));
    put32(tail + 12, cr_crc32(0, s->head, HEAD));
    s->ok = s->ok && s->n == s->count &&
            cr_atomic_file_write(&s->file, s->table, size + TAIL);
    return cr_atomic_file_commit(&s->file) && s->ok;
}
