#include "base/name_map.h"

#include "base/str.h"

#include <string.h>

struct cr_name_entry {
    const char *name; /* NULL: free */
    int value;
};

/* The entry of that name, or the free entry where it would be added. */
static struct cr_name_entry *entry_of(const struct cr_name_map *map,
                                      const char *name, size_t n)
{
    size_t at = (size_t)cr_hash(CR_HASH, name, n);

    for (;; at++) {
        struct cr_name_entry *e = &map->entries[at & (map->capacity - 1)];

        if (!e->name || (strncmp(e->name, name, n) == 0 && !e->name[n]))
            return e;
    }
}

static void add(struct cr_name_map *map, const char *name, int value)
{
    *entry_of(map, name, strlen(name)) = (struct cr_name_entry){ name, value };
    map->n++;
}

void cr_name_map_add(struct cr_arena *arena, struct cr_name_map *map,
                     const char *name, int value)
{
    if (2 * map->n >= map->capacity) {
        struct cr_name_map larger = { .capacity = map->capacity > 0
                                                      ? 4 * map->capacity
                                                      : 64 };

        larger.entries = CR_NEWS(arena, struct cr_name_entry, larger.capacity);
        for (size_t i = 0; i < map->capacity; i++)
            if (map->entries[i].name)
                add(&larger, map->entries[i].name, map->entries[i].value);
        *map = larger;
    }
    add(map, name, value);
}

int cr_name_map_get_n(const struct cr_name_map *map, const char *name, size_t n)
{
    const struct cr_name_entry *e = map->n > 0 ? entry_of(map, name, n) : NULL;

    return e && e->name ? e->value : -1;
}

int cr_name_map_get(const struct cr_name_map *map, const char *name)
{
    return cr_name_map_get_n(map, name, strlen(name));
}
