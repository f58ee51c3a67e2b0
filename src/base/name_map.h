/*
 * A hash map from names to numbers. A zeroed map is empty and ready to use.
 */
#ifndef CR_BASE_NAME_MAP_H
#define CR_BASE_NAME_MAP_H

#include "base/arena.h"

struct cr_name_entry;

struct cr_name_map {
    struct cr_name_entry *entries; /* open addressing */
    size_t n, capacity;            /* a power of 2, or 0 */
};

/* Adds a name that is not in the map yet. The text is not copied. */
void cr_name_map_add(struct cr_arena *arena, struct cr_name_map *map,
                     const char *name, int value);
/* The value of that name; -1 if the map does not have it. */
int cr_name_map_get(const struct cr_name_map *map, const char *name);
/* The same for a name of n bytes. */
int cr_name_map_get_n(const struct cr_name_map *map, const char *name,
                      size_t n);

#endif
