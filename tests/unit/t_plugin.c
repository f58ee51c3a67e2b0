/* The helpers of cellrun.h, and that what it says fits what we have. */
#include <unistd.h>

#include "plugin/plugin.h"
#include "tap.h"

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* The first outputs of SplitMix64 with seed 1234567, as published with the
 * algorithm (Vigna, splitmix64.c; Rosetta Code prints them). */
static const uint64_t published[] = { UINT64_C(6457827717110365317),
                                      UINT64_C(3203168211198807973),
                                      UINT64_C(9817491932198370423),
                                      UINT64_C(4593380528125082431),
                                      UINT64_C(16408922859458223821) };

static void random_numbers(void)
{
    double sum = 0;
    uint64_t i;

    for (i = 0; i < LENGTH(published); i++)
        ok(cellrun_random(1234567, i) ==
               (double)(published[i] >> 11) / 9007199254740992.0,
           "random number %d is SplitMix64's", (int)i);
    for (i = 0; i < 10000; i++)
        sum += cellrun_random(7, i);
    ok(sum > 4900 && sum < 5100, "their mean is 1/2: %g", sum / 10000);
}

static void counts(void)
{
    struct cellrun_shape s = { .rank = 3, .dim = { 3, 5, 7 } };

    ok(cellrun_count(&s) == 105, "elements of (3, 5, 7)");
    s.rank = 0;
    ok(cellrun_count(&s) == 1, "elements of ()");
    ok(CELLRUN_RANK_MAX == CR_RANK_MAX && CELLRUN_TENSORS_MAX == CR_OP_MAX,
       "the limits of dimensions and tensors agree");
    ok(sizeof(union cellrun_value) == 8, "a value takes 8 bytes");
}

static void refused(void)
{
    static const char *const paths[] = { "none.so", ".", "/dev/null" };
    struct cr_arena mem = { 0 };
    const struct cr_descriptor *const *before = cr_registry_list(CR_KIND_CELL);
    size_t i;

    for (i = 0; i < LENGTH(paths); i++) {
        struct cr_diag diag = { .arena = &mem };

        ok(!cr_plugin_load(&diag, CR_NOWHERE, paths[i]) && diag.errors == 1 &&
               diag.first->code == CR_E_PLUGIN && cr_diag_exit(&diag) == 2,
           "'%s' is refused", paths[i]);
        ok(!cr_plugin_cells(paths[i]), "and has no cells");
    }
    ok(cr_registry_list(CR_KIND_CELL) == before, "nothing was added");
    cr_arena_free(&mem);
}

/* A cell after the others: both lists find it, all others stay. */
static void added(void)
{
    static const struct cr_descriptor about[] = { { .name = "ZzOne" },
                                                  { .name = "ZzTwo" } };
    int i, n = 0;

    while (cr_registry_list(CR_KIND_CELL)[n])
        n++;
    for (i = 0; i < 2; i++) {
        ok(!cr_registry_find(CR_KIND_CELL, about[i].name), "there is no %s",
           about[i].name);
        cr_registry_add(CR_KIND_CELL, &about[i]);
        ok(cr_registry_find(CR_KIND_CELL, about[i].name) == &about[i] &&
               cr_registry_list(CR_KIND_CELL)[n + i] == &about[i] &&
               !cr_registry_list(CR_KIND_CELL)[n + i + 1],
           "now there is, at the end");
    }
    ok(cr_cell_find("Dense") && !cr_registry_find(CR_KIND_LOSS, "ZzOne"),
       "and all others are as they were");
}

int main(void)
{
    random_numbers();
    counts();
    refused();
    added();
    return done();
}
