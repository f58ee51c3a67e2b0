/* A map from names to numbers. */
#include "base/name_map.h"
#include "base/str.h"
#include "tap.h"

#define MANY 5000

int main(void)
{
    struct cr_arena arena = { 0 };
    struct cr_name_map map = { 0 };
    bool all = true, none = true;
    int i;

    ok(cr_name_map_get(&map, "a") == -1, "an empty map has no name");
    for (i = 0; i < MANY; i++)
        cr_name_map_add(&arena, &map, cr_strf(&arena, "body.%d", i), i);
    cr_name_map_add(&arena, &map, "", MANY);
    for (i = 0; i < MANY; i++) {
        all = all && cr_name_map_get(&map, cr_strf(&arena, "body.%d", i)) == i;
        none =
            none && cr_name_map_get(&map, cr_strf(&arena, "head.%d", i)) == -1;
    }
    ok(all, "%d names are found", MANY);
    ok(none, "%d others are not", MANY);
    ok(cr_name_map_get(&map, "") == MANY, "the empty name is one");
    ok(cr_name_map_get_n(&map, "body.12.weight", 7) == 12 &&
           cr_name_map_get_n(&map, "body.12.weight", 0) == MANY &&
           cr_name_map_get_n(&map, "body.12.weight", 5) == -1,
       "the first bytes of a text are a name");
    cr_arena_free(&arena);
    return done();
}
