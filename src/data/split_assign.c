#include "data/split_assign.h"

#include "num/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- single samples ---- */

struct labelled {
    int64_t label, place, sample;
};

static int by_label(const void *a, const void *b)
{
    const struct labelled *x = a, *y = b;

    if (x->label != y->label)
        return x->label < y->label ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* All samples in random order, sorted by class. */
static struct labelled *shuffled(struct cr_arena *arena, int64_t n,
                                 const int64_t *labels, uint64_t seed)
{
    struct cr_rng rng = cr_rng(seed, CR_STREAM_SPLIT, 0, 0);
    struct labelled *all = CR_NEWS(arena, struct labelled, n + 1);
    int64_t *order = CR_NEWS(arena, int64_t, n + 1), i;

    cr_rng_permute(&rng, n, order);
    for (i = 0; i < n; i++)
        all[i] =
            (struct labelled){ labels ? labels[order[i]] : 0, i, order[i] };
    qsort(all, (size_t)n, sizeof *all, by_label);
    return all;
}

void cr_split_random(struct cr_arena *arena, int64_t n, double eval,
                     double test, const int64_t *labels, uint64_t seed,
                     unsigned char *split)
{
    struct labelled *all = shuffled(arena, n, labels, seed);
    int64_t i, k, evals = 0, tests = 0;

    for (i = 0; i < n; i = k) {
        int64_t more_evals, more_tests;

        for (k = i; k < n && all[k].label == all[i].label; k++)
            ;
        /* rounded so that the splits have their fractions over all classes so
         * far */
        more_evals = llrint(eval * (double)k) - evals;
        more_tests =
            llrint((eval + test) * (double)k) - evals - more_evals - tests;
        if (more_tests > k - i - more_evals)
            more_tests = k - i - more_evals;
        if (more_tests < 0)
            more_tests = 0;
        evals += more_evals;
        tests += more_tests;
        for (; i < k; i++)
            split[all[i].sample] = more_evals-- > 0   ? CR_SPLIT_EVAL
                                   : more_tests-- > 0 ? CR_SPLIT_TEST
                                                      : CR_SPLIT_TRAIN;
    }
}

/* ---- time ---- */

struct timed {
    double time;
    int64_t sample;
};

static int by_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

void cr_split_by_time(struct cr_arena *arena, int64_t n, double eval,
                      double test, const double *time, unsigned char *split)
{
    struct timed *all = CR_NEWS(arena, struct timed, n + 1);
    int64_t evals = llrint(eval * (double)n), i;
    int64_t later = llrint((eval + test) * (double)n);

    for (i = 0; i < n; i++)
        all[i] = (struct timed){ time[i], i };
    qsort(all, (size_t)n, sizeof *all, by_time);
    for (i = 0; i < n; i++)
        split[all[i].sample] = i < n - later           ? CR_SPLIT_TRAIN
                               : i < n - later + evals ? CR_SPLIT_EVAL
                                                       : CR_SPLIT_TEST;
}

/* ---- groups ---- */

struct group {
    int64_t id, n, place;
    int64_t fold;
};

struct groups {
    int64_t n;
    struct group *v;      /* in ascending order of ids */
    struct group **drawn; /* in random order */
};

static int by_id(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static struct groups groups_of(struct cr_arena *arena, int64_t n,
                               const int64_t *ids, uint64_t seed)
{
    struct cr_rng rng = cr_rng(seed, CR_STREAM_SPLIT, 0, 0);
    int64_t *sorted = CR_NEWS(arena, int64_t, n + 1), *order, i;
    struct groups g = { .v = CR_NEWS(arena, struct group, n + 1) };

    memcpy(sorted, ids, (size_t)n * sizeof *ids);
    qsort(sorted, (size_t)n, sizeof *sorted, by_id);
    for (i = 0; i < n; i++) {
        if (i == 0 || sorted[i] != sorted[i - 1])
            g.v[g.n++].id = sorted[i];
        g.v[g.n - 1].n++;
    }
    order = CR_NEWS(arena, int64_t, g.n + 1);
    g.drawn = CR_NEWS(arena, struct group *, g.n + 1);
    cr_rng_permute(&rng, g.n, order);
    for (i = 0; i < g.n; i++) {
        g.drawn[i] = &g.v[order[i]];
        g.drawn[i]->place = i;
        g.drawn[i]->fold = -1;
    }
    return g;
}

static struct group *group_of(const struct groups *g, int64_t id)
{
    return bsearch(&id, g->v, (size_t)g->n, sizeof *g->v, by_id);
}

/* Assigns groups without a split, in random order, while that brings the size
 * of the split closer to `want`. */
static bool group_fill(struct groups *g, int64_t want, int64_t split)
{
    int64_t size = 0;

    for (int64_t i = 0; i < g->n; i++) {
        struct group *one = g->drawn[i];

        if (one->fold >= 0 || llabs(size + one->n - want) >= llabs(size - want))
            continue;
        one->fold = split;
        size += one->n;
    }
    return want == 0 || size > 0;
}

bool cr_split_by_group(struct cr_arena *arena, int64_t n, double eval,
                       double test, const int64_t *ids, uint64_t seed,
                       unsigned char *split)
{
    struct groups g = groups_of(arena, n, ids, seed);
    bool ok = group_fill(&g, llrint(test * (double)n), CR_SPLIT_TEST) &&
              group_fill(&g, llrint(eval * (double)n), CR_SPLIT_EVAL);
    int64_t i, left = 0;

    for (i = 0; i < n; i++) {
        int64_t to = group_of(&g, ids[i])->fold;

        split[i] = to > 0 ? (unsigned char)to : CR_SPLIT_TRAIN;
        left += to <= 0;
    }
    return ok && left > 0;
}

static int by_size(const void *a, const void *b)
{
    const struct group *x = *(struct group *const *)a;
    const struct group *y = *(struct group *const *)b;

    if (x->n != y->n)
        return x->n > y->n ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static bool fold_groups(struct cr_arena *arena, int64_t n, int64_t folds,
                        int64_t k, const int64_t *ids, uint64_t seed,
                        unsigned char *split)
{
    struct groups g = groups_of(arena, n, ids, seed);
    int64_t *size = CR_NEWS(arena, int64_t, folds), i, f, least;

    qsort(g.drawn, (size_t)g.n, sizeof *g.drawn, by_size);
    for (i = 0; i < g.n; i++) {
        for (f = least = 0; f < folds; f++)
            least = size[f] < size[least] ? f : least;
        g.drawn[i]->fold = least;
        size[least] += g.drawn[i]->n;
    }
    for (i = 0; i < n; i++)
        split[i] =
            group_of(&g, ids[i])->fold == k ? CR_SPLIT_TEST : CR_SPLIT_TRAIN;
    return g.n >= folds;
}

/* ---- folds ---- */

bool cr_split_kfold(struct cr_arena *arena, int64_t n, int64_t folds, int64_t k,
                    const int64_t *labels, const int64_t *groups, uint64_t seed,
                    unsigned char *split)
{
    struct labelled *all;

    if (groups)
        return fold_groups(arena, n, folds, k, groups, seed, split);
    all = shuffled(arena, n, labels, seed);
    for (int64_t i = 0; i < n; i++)
        split[all[i].sample] = i % folds == k ? CR_SPLIT_TEST : CR_SPLIT_TRAIN;
    return true;
}
