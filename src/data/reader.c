#include "data/reader.h"

#include <stdlib.h>
#include <string.h>

/* A sample kept in memory; its bytes follow. */
struct kept {
    struct cr_spec spec;
    char data[];
};

struct cr_reader {
    struct cr_dataset *set;
    struct kept **kept[CR_COLUMNS_MAX]; /* NULL: not kept; its samples */
};

struct cr_pos cr_sample_pos(const struct cr_dataset *set,
                            struct cr_arena *arena, int64_t i)
{
    return set->type->file ? cr_at_file(arena, set->type->file(set, i))
                           : CR_NOWHERE;
}

struct cr_reader *cr_reader_open(struct cr_arena *arena,
                                 struct cr_dataset *set, bool keep)
{
    struct cr_reader *r = CR_NEW(arena, struct cr_reader);
    int k;

    r->set = set;
    for (k = 0; k < set->columns && keep && !set->type->cheap; k++) {
        const struct cr_spec *spec = &set->column[k].spec;

        if (spec->rank == 0 || cr_bytes(spec) == 0 ||
            (set->type->at && set->type->at(set, 0, k)))
            continue;
        r->kept[k] = calloc((size_t)set->count, sizeof *r->kept[k]);
        if (!r->kept[k])
            cr_out_of_memory((size_t)set->count * sizeof *r->kept[k]);
    }
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
}

void cr_reader_ahead(const struct cr_reader *r, int64_t sample)
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

/* Whoever is first has it kept; the others' copy goes. */
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
                          struct cr_arena *mem, int64_t i, int k, void *room,
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
    if (have) {
        *spec = have->spec;
        return have->data;
    }
    if (set->varies & 1u << k)
        x = set->type->fetch(set, diag, mem, i, k, room, spec);
    else if (set->type->read(set, diag, i, k, room))
        x = room;
    if (x && at)
        reader_keep(at, spec, x);
    return x;
}
