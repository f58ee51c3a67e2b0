/*
 * Ids of points: short, different, and never those of another point.
 */
#include <string.h>

#include "sweep/sweep.h"
#include "tap.h"

#define HIGH UINT64_C(0x0123abcd00000000)

static bool is(const char *id, const char *want)
{
    return id && strcmp(id, want) == 0;
}

static void test_ids(void)
{
    struct cr_arena mem = { 0 };
    struct cr_sweep sweep = { .arena = &mem };
    int again = 0, added = 0;

    ok(is(cr_sweep_id(&sweep, HIGH | 2), "0123abcd"),
       "an id is the first 8 digits of the hash");
    ok(!cr_sweep_id(&sweep, HIGH | 2), "an equal point has no id");
    ok(is(cr_sweep_id(&sweep, HIGH | 4), "0123abcd00000004") &&
           !cr_sweep_id(&sweep, HIGH | 4),
       "a point with the same 8 digits has all 16");
    for (uint64_t i = 1; i <= 10000; i++)
        added += cr_sweep_id(&sweep, i << 40) != NULL;
    for (uint64_t i = 1; i <= 10000; i++)
        again += cr_sweep_id(&sweep, i << 40) != NULL;
    ok(added == 10000 && again == 0, "thousands of points are distinct");
    cr_arena_free(&mem);
}

int main(void)
{
    test_ids();
    return done();
}
