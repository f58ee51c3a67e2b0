/*
 * How samples are shared out between training, evaluation and test: sizes,
 * classes, groups and time, for many sizes and seeds.
 */
#include "data/split_assign.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#define MOST 300

static struct cr_arena mem;
static unsigned char split[MOST], again[MOST];
static int64_t of[MOST], sizes[3];

static void measure(int64_t n)
{
    memset(sizes, 0, sizeof sizes);
    for (int64_t i = 0; i < n; i++)
        sizes[split[i]]++;
}

static void random_splits(void)
{
    int64_t n, i, moved = 0;
    uint64_t seed;

    test_begin("random splits have exact sizes, the same in every call");
    for (n = 1; n < MOST; n += 7)
        for (seed = 0; seed < 3; seed++) {
            cr_split_random(&mem, n, 0.15, 0.2, NULL, seed, split);
            measure(n);
            ok(sizes[1] == llrint(0.15 * (double)n) &&
                   sizes[2] == llrint(0.35 * (double)n) - sizes[1],
               "%d: %d %d", (int)n, (int)sizes[1], (int)sizes[2]);
            cr_split_random(&mem, n, 0.15, 0.2, NULL, seed, again);
            ok(memcmp(split, again, (size_t)n) == 0, "again");
        }
    cr_split_random(&mem, 100, 0.15, 0.2, NULL, 7, again);
    cr_split_random(&mem, 100, 0.15, 0.2, NULL, 8, split);
    for (i = 0; i < 100; i++)
        moved += split[i] != again[i];
    ok(moved > 20, "another seed moves %d of 100", (int)moved);
    test_end();
    test_begin("each class has its share in every split, within one sample");
    for (i = 0; i < MOST; i++)
        of[i] = i % 10 < 7 ? 4 : i % 10 < 9 ? -1 : 9;
    cr_split_random(&mem, MOST, 0.2, 0.1, of, 3, split);
    measure(MOST);
    ok(sizes[0] == 210 && sizes[1] == 60 && sizes[2] == 30, "all of them");
    for (int c = 0; c < 3; c++) {
        static const int64_t class[] = { 4, -1, 9 };
        int64_t have[3] = { 0 }, all = 0;

        for (i = 0; i < MOST; i++)
            if (of[i] == class[c]) {
                have[split[i]]++;
                all++;
            }
        ok(fabs((double)have[1] - 0.2 * (double)all) <= 1 &&
               fabs((double)have[2] - 0.1 * (double)all) <= 1,
           "class %d: %d %d of %d", c, (int)have[1], (int)have[2], (int)all);
    }
    test_end();
}

/* Fractions are rounded at every class: earlier classes count. */
static void single_classes(void)
{
    test_begin("classes of one sample each leave the sizes, within one sample");
    for (int64_t i = 0; i < MOST; i++)
        of[i] = i;
    for (int64_t n = 1; n < MOST; n += 7) {
        cr_split_random(&mem, n, 0.15, 0.15, of, 3, split);
        measure(n);
        ok(fabs((double)sizes[1] - 0.15 * (double)n) <= 1 &&
               fabs((double)sizes[2] - 0.15 * (double)n) <= 1.5,
           "%d: %d %d", (int)n, (int)sizes[1], (int)sizes[2]);
    }
    test_end();
}

static void groups(void)
{
    int64_t n, i;
    uint64_t seed;

    test_begin("no group is in two splits, and sizes are near");
    for (n = 60; n < MOST; n += 40)
        for (seed = 0; seed < 5; seed++) {
            unsigned char *where = cr_alloc(&mem, MOST, 1);

            for (i = 0; i < n; i++) /* of 1 to 6 samples */
                of[i] = i * i % n / 6 * 1000003;
            memset(where, 9, MOST);
            ok(cr_split_by_group(&mem, n, 0.2, 0.2, of, seed, split), "%d",
               (int)n);
            measure(n);
            for (i = 0; i < n; i++) {
                unsigned char *w = &where[of[i] / 1000003];

                ok(*w == 9 || *w == split[i], "group of %d", (int)i);
                *w = split[i];
            }
            ok(llabs(sizes[1] - n / 5) <= n / 20 + 3 &&
                   llabs(sizes[2] - n / 5) <= n / 20 + 3,
               "%d of %d", (int)sizes[1], (int)n);
        }
    for (i = 0; i < 10; i++)
        of[i] = i % 2;
    ok(!cr_split_by_group(&mem, 10, 0.3, 0.3, of, 1, split),
       "two groups are too few for three splits");
    test_end();
    test_begin("every group is tested in exactly one fold");
    for (i = 0; i < 97; i++)
        of[i] = i % 13 * i % 11;
    memset(again, 0, sizeof again);
    for (int64_t k = 0; k < 4; k++) {
        int64_t in = 0;

        ok(cr_split_kfold(&mem, 97, 4, k, NULL, of, 5, split), "fold");
        for (i = 0; i < 97; i++) {
            in += split[i] == CR_SPLIT_TEST;
            again[i] = (unsigned char)(again[i] + (split[i] == CR_SPLIT_TEST));
            for (int64_t j = 0; j < i; j++)
                ok(of[i] != of[j] || split[i] == split[j], "%d", (int)i);
        }
        ok(in > 10 && in < 40, "%d", (int)in);
    }
    for (i = 0; i < 97; i++)
        ok(again[i] == 1, "sample %d", (int)i);
    test_end();
}

static void times(void)
{
    double time[50];
    double first[3] = { INFINITY, INFINITY, INFINITY };
    double last[3] = { -INFINITY, -INFINITY, -INFINITY };

    test_begin("training ends before evaluation begins, and that before test");
    for (int i = 0; i < 50; i++)
        time[i] = i * 37 % 50 * 0.5 - 3;
    cr_split_by_time(&mem, 50, 0.2, 0.1, time, split);
    measure(50);
    ok(sizes[0] == 35 && sizes[1] == 10 && sizes[2] == 5, "sizes");
    for (int i = 0; i < 50; i++) {
        first[split[i]] = fmin(first[split[i]], time[i]);
        last[split[i]] = fmax(last[split[i]], time[i]);
    }
    ok(last[0] < first[1] && last[1] < first[2], "order");
    for (int i = 0; i < 50; i++)
        time[i] = 7;
    cr_split_by_time(&mem, 50, 0.2, 0.1, time, split);
    for (int i = 0; i < 50; i++)
        ok(split[i] == (i < 35 ? 0 : i < 45 ? 1 : 2), "%d", i);
    test_end();
}

int main(void)
{
    random_splits();
    single_classes();
    groups();
    times();
    cr_arena_free(&mem);
    return done();
}
