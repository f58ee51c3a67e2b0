#include "data/reader.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "base/thread_pool.h"
#include "data/disk_cache.h"

/* A cached sample, followed by its bytes. */
struct kept {
    struct cr_spec spec;
    char data[];
};

struct cr_reader {
    struct cr_arena *arena;
    struct cr_dataset *set;
    struct cr_reader_opts want;
    struct kept **kept[CR_COLUMNS_MAX]; /* the cached samples; NULL: not
                                           cached */
    unsigned files;         /* bit k: column k is decoded from files */
    int column;             /* the first of them; -1: none */
    struct cr_disk_cache *cache; /* the disk cache of that column, or NULL */
    unsigned char *lost;    /* after a scan: samples that cannot be read */
};

struct cr_pos cr_sample_pos(const struct cr_dataset *set,
                            struct cr_arena *arena, int64_t i, int column)
{
    const char *file = cr_sample_file(set, i, column);

    return file ? cr_at_file(arena, file) : CR_NOWHERE;
}

void cr_sample_note(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                    int column)
{
    struct cr_pos pos = CR_NOWHERE;

    if (set->type->where && !diag->dropped)
        pos = set->type->where(set, diag->arena, i, column);
    if (pos.src)
        cr_note(diag, "at %s", cr_pos_text(diag->arena, pos));
}

/* Whether samples of column k cost more than a copy. */
static bool reader_decodes(struct cr_dataset *set, int k)
{
    const struct cr_spec *spec = &set->column[k].spec;

    return set->count > 0 && !set->type->copy_only && spec->rank > 0 &&
           cr_bytes(spec) > 0 && !(set->type->at && set->type->at(set, 0, k));
}

struct cr_reader *cr_reader_open(struct cr_arena *arena, struct cr_dataset *set,
                                 const struct cr_reader_opts *want)
{
    struct cr_reader *r = CR_NEW(arena, struct cr_reader);
    int k;

    *r = (struct cr_reader){
        .arena = arena, .set = set, .want = *want, .column = -1
    };
    for (k = set->columns - 1; k >= 0; k--) {
        if (!reader_decodes(set, k))
            continue;
        if (set->cache_key) {
            r->files |= 1u << k;
            r->column = k;
        }
        if (!want->keep)
            continue;
        r->kept[k] = calloc((size_t)set->count, sizeof *r->kept[k]);
        if (!r->kept[k])
            cr_out_of_memory((size_t)set->count * sizeof *r->kept[k]);
    }
    if (want->file && r->column >= 0)
        r->cache =
            cr_disk_cache_open(arena, want->file, set->cache_key, set->count);
    return r;
}

void cr_reader_close(struct cr_reader *r)
{
    int64_t i;
    int k;

    for (k = 0; k < CR_COLUMNS_MAX; k++) {
        for (i = 0; r->kept[k] && i < r->set->count; i++)
            free(r->kept[k][i]);
        free(r->kept[k]);
        r->kept[k] = NULL;
    }
    if (r->cache)
        cr_disk_cache_close(r->cache);
    r->cache = NULL;
}

void cr_reader_prefetch(const struct cr_reader *r, int64_t sample)
{
    struct cr_dataset *set = r->set;
    int k;

    for (k = 0; k < set->columns && set->type->at; k++) {
        const char *x = set->type->at(set, sample, k);
        size_t size = cr_bytes(&set->column[k].spec), i;

        for (i = 0; x && i < size && i < 4096; i += 64)
            __builtin_prefetch(x + i);
    }
}

/* Caches a copy of a sample, unless another thread was first. */
static void reader_keep(struct kept **at, const struct cr_spec *spec,
                        const void *x)
{
    size_t size = cr_bytes(spec);
    struct kept *own, *none = NULL;

    if (__atomic_load_n(at, __ATOMIC_RELAXED))
        return;
    own = malloc(sizeof *own + size);
    if (!own)
        cr_out_of_memory(sizeof *own + size);
    own->spec = *spec;
    memcpy(own->data, x, size);
    if (!__atomic_compare_exchange_n(at, &none, own, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED))
        free(own);
}

const void *cr_reader_get(struct cr_reader *r, struct cr_diag *diag,
                          struct cr_arena *mem, int64_t i, int k, void *scratch,
                          struct cr_spec *spec)
{
    struct cr_dataset *set = r->set;
    const void *x = set->type->at ? set->type->at(set, i, k) : NULL;
    struct kept **at = r->kept[k] ? r->kept[k] + i : NULL;
    const struct kept *have = at ? __atomic_load_n(at, __ATOMIC_ACQUIRE)
                                 : NULL;

    *spec = set->column[k].spec;
    if (x)
        return x;
    if (spec->type == CR_STRING)
        return set->type->text(set, diag, i, k, mem, scratch) ? scratch : NULL;
    if (r->cache && k == r->column && (x = cr_disk_cache_at(r->cache, i, spec)))
        return x;
    *spec = set->column[k].spec;
    if (have) {
        *spec = have->spec;
        return have->data;
    }
    if (set->varying_shapes & 1u << k)
        x = set->type->fetch(set, diag, mem, i, k, scratch, spec);
    else if (set->type->read(set, diag, i, k, scratch))
        x = scratch;
    if (x && at)
        reader_keep(at, spec, x);
    return x;
}

/* ---- scan of all samples ---- */

#define SCAN_CHUNK 512 /* samples decoded at a time */

struct scan {
    struct cr_reader *r;
    int64_t from, to;
    struct kept **got;      /* samples of the chunk, for the cache; or NULL */
};

/* Decodes sample i of all columns with files. The last one is r->column, which
 * is returned, as by cr_reader_get. *column is the one that cannot be read. */
static const void *scan_sample(struct cr_reader *r, struct cr_diag *diag,
                               struct cr_arena *mem, int64_t i,
                               struct cr_spec *spec, int *column)
{
    const void *x = NULL;
    bool ok = true;

    for (int k = r->set->columns - 1; k >= 0 && ok; k--) {
        void *scratch;

        if (!(r->files >> k & 1))
            continue;
        scratch = cr_alloc(mem, 1, cr_bytes(&r->set->column[k].spec) + 1);
        x = cr_reader_get(r, diag, mem, i, k, scratch, spec);
        ok = x != NULL;
        *column = k;
    }
    return x;
}

/* Decodes every n_tasks-th sample of the chunk. */
static void scan_task(void *ctx, int task, int n_tasks)
{
    struct scan *s = ctx;
    struct cr_reader *r = s->r;
    struct cr_arena mem = { 0 };
    struct cr_diag quiet = { .arena = &mem };
    int64_t i;
    int column;

    for (i = s->from + task; i < s->to; i += n_tasks) {
        struct cr_spec spec;
        const void *x = scan_sample(r, &quiet, &mem, i, &spec, &column);

        r->lost[i] = !x;
        if (x && s->got)
            reader_keep(&s->got[i - s->from], &spec, x);
        quiet = (struct cr_diag){ .arena = &mem };
        cr_arena_free(&mem);
    }
}

static bool scan_write_cache(struct scan *s, struct cr_cache_writer *to)
{
    bool ok = true;
    int64_t i;

    for (i = s->from; i < s->to; i++) {
        struct kept **k = &s->got[i - s->from];

        ok = ok && cr_cache_writer_put(to, *k ? &(*k)->spec : NULL,
                                       *k ? (*k)->data : NULL);
        free(*k);
        *k = NULL;
    }
    return ok;
}

static void make_folders(struct cr_arena *arena, const char *path)
{
    const char *dir = cr_path_dir(arena, path);

    if (strcmp(dir, ".") != 0 && strcmp(dir, "/") != 0) {
        make_folders(arena, dir);
        mkdir(dir, 0777); /* a failure is reported when the file is created */
    }
}

void cr_reader_build_cache(struct cr_reader *r, struct cr_diag *diag,
                           bool find_unreadable)
{
    struct scan s = { .r = r };
    struct cr_diag quiet = { .arena = r->arena };
    struct cr_cache_writer *to = NULL;
    int64_t i, n = r->set->count;

    if (r->column < 0 || r->lost)
        return;
    r->lost = CR_NEWS(r->arena, unsigned char, n + 1);
    for (i = 0; i < n && r->cache; i++)
        r->lost[i] = cr_disk_cache_unreadable(r->cache, i);
    if (r->cache)
        return;
    if (r->want.file) {
        make_folders(r->arena, r->want.file);
        to = cr_cache_writer_open(r->arena, &quiet, r->want.file,
                                  r->set->cache_key, n);
    }
    if (to)
        s.got = CR_NEWS(r->arena, struct kept *, SCAN_CHUNK);
    for (s.to = 0; (to || find_unreadable) && s.to < n;) {
        s.from = s.to;
        s.to = n - s.from < SCAN_CHUNK ? n : s.from + SCAN_CHUNK;
        cr_parallel_run(scan_task, &s, cr_thread_count());
        if (to && !scan_write_cache(&s, to)) {
            cr_cache_writer_commit(to);
            to = NULL;
            s.got = NULL;
        }
    }
    if (to && cr_cache_writer_commit(to))
        r->cache =
            cr_disk_cache_open(r->arena, r->want.file, r->set->cache_key, n);
    if (r->want.file && !r->cache) {
        cr_warn(diag, cr_at_file(diag->arena, r->want.file), CR_E_SYSTEM,
                "the disk cache cannot be written: %s",
                quiet.first ? quiet.first->text : "the file was removed");
        cr_hint(diag, "images are decoded in every epoch");
    }
}

bool cr_reader_has(const struct cr_reader *r, int64_t i)
{
    return !r->lost || !r->lost[i];
}

int cr_reader_unreadable(struct cr_reader *r, struct cr_diag *diag, int64_t i)
{
    struct cr_arena mem = { 0 };
    struct cr_spec spec;
    int column = -1;
    bool ok = scan_sample(r, diag, &mem, i, &spec, &column) != NULL;

    cr_arena_free(&mem);
    return ok ? -1 : column;
}
