/* Names of points: the first 8 digits of the hash of the config, or all 16 if
 * an earlier point has the same 8. */
#include <inttypes.h>

#include "base/str.h"
#include "sweep/sweep.h"

/* Adds a number other than 0 to a set with open addressing, which is at most
 * half full. False if it is in the set. */
static bool ids_add(struct cr_sweep_ids *ids, struct cr_arena *arena,
                    uint64_t number)
{
    size_t at;

    if (2 * (ids->n + 1) > ids->cap) {
        struct cr_sweep_ids old = *ids;

        ids->n = 0;
        ids->cap = old.cap ? 2 * old.cap : 256;
        ids->number = CR_NEWS(arena, uint64_t, ids->cap);
        for (size_t i = 0; i < old.cap; i++)
            if (old.number[i])
                ids_add(ids, arena, old.number[i]);
    }
    at = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (ids->cap - 1);
    for (; ids->number[at]; at = (at + 1) & (ids->cap - 1))
        if (ids->number[at] == number)
            return false;
    ids->number[at] = number;
    ids->n++;
    return true;
}

const char *cr_sweep_id(struct cr_sweep *sweep, uint64_t hash)
{
    /* one set for both lengths: odd numbers are hashes, even ones the halves */
    uint64_t half = (hash >> 32 | UINT64_C(1) << 32) << 1;

    if (!ids_add(&sweep->ids, sweep->arena, hash | 1))
        return NULL;
    if (ids_add(&sweep->ids, sweep->arena, half))
        return cr_strf(sweep->arena, "%08" PRIx64, hash >> 32);
    return cr_strf(sweep->arena, "%016" PRIx64, hash);
}
