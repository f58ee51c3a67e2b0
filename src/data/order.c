#include "data/order.h"

#include "math/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A buffer of so many samples, filled in order; each step gives one of them
 * at random and takes the next in its place. */
static void mix_buffer(const struct cr_order *o, const struct cr_rng *rng,
                       int64_t *order, int64_t *room)
{
    int64_t size = o->buffer < o->n ? o->buffer : o->n, next = size, i, k;

    for (i = 0; i < size; i++)
        room[i] = i;
    for (i = 0; i < o->take; i++) {
        k = (int64_t)cr_rng_below(rng, (uint64_t)i, (uint64_t)size);
        order[i] = room[k];
        if (next < o->n)
            room[k] = next++;
        else
            room[k] = room[--size];
    }
}

/* The first sample whose sum of weights is above x. */
static int64_t weighted_at(const struct cr_order *o, double x)
{
    int64_t from = 0, to = o->n - 1;

    while (from < to) {
        int64_t at = from + (to - from) / 2;

        if (o->sums[at] > x)
            to = at;
        else
            from = at + 1;
    }
    return from;
}

struct drawn {
    double key;
    int64_t sample;
};

static int by_key(const void *a, const void *b)
{
    const struct drawn *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

/* Without replacement: the samples with the smallest -ln(u) / weight, which
 * are distributed as draws one after the other (Efraimidis and Spirakis
 * 2006). */
static void draw_once(const struct cr_order *o, const struct cr_rng *rng,
                      int64_t *order)
{
    struct cr_arena mem = { 0 };
    struct drawn *all = CR_NEWS(&mem, struct drawn, o->n + 1);
    int64_t i;

    for (i = 0; i < o->n; i++) {
        double weight = o->sums[i] - (i > 0 ? o->sums[i - 1] : 0);
        double u = 1 - cr_rng_double(rng, (uint64_t)i); /* (0, 1] */

        all[i] = (struct drawn){ weight > 0 ? -log(u) / weight
                                            : (double)INFINITY, i };
    }
    qsort(all, (size_t)o->n, sizeof *all, by_key);
    for (i = 0; i < o->take; i++)
        order[i] = all[i].sample;
    cr_arena_free(&mem);
}

static void draw_weighted(const struct cr_order *o, int64_t epoch,
                          int64_t *order, int64_t *repeats, int64_t *room)
{
    struct cr_rng rng = cr_rng(o->seed, CR_STREAM_SAMPLER,
                               o->fixed ? 0 : (uint64_t)epoch, 0);
    double total = o->sums[o->n - 1];
    int64_t i;

    memset(room, 0, (size_t)o->n * sizeof *room);
    for (i = 0; i < o->take && o->replacement; i++)
        order[i] = weighted_at(o, cr_rng_double(&rng, (uint64_t)i) * total);
    if (!o->replacement)
        draw_once(o, &rng, order);
    for (i = 0; i < o->take; i++)
        repeats[i] = room[order[i]]++;
}

void cr_order_make(const struct cr_order *o, int64_t epoch, int64_t *order,
                   int64_t *repeats, int64_t *room)
{
    struct cr_rng rng = cr_rng(o->seed, CR_STREAM_SHUFFLE,
                               o->fixed ? 0 : (uint64_t)epoch, 0);
    int64_t i;

    if (o->sums) {
        draw_weighted(o, epoch, order, repeats, room);
    } else if (o->shuffle && o->buffer > 0) {
        mix_buffer(o, &rng, order, room);
    } else if (o->shuffle) {
        cr_rng_permute(&rng, o->n, room);
        memcpy(order, room, (size_t)o->take * sizeof *order);
    } else {
        for (i = 0; i < o->take; i++)
            order[i] = i;
    }
    if (o->pool)
        for (i = 0; i < o->take; i++)
            order[i] = o->pool[order[i]];
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

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

/* All samples at random, those of a class together. */
static struct labelled *shuffled(struct cr_arena *arena, int64_t n,
                                 const int64_t *labels, uint64_t seed)
{
    struct cr_rng rng = cr_rng(seed, CR_STREAM_SPLIT, 0, 0);
    struct labelled *all = CR_NEWS(arena, struct labelled, n + 1);
    int64_t *order = CR_NEWS(arena, int64_t, n + 1), i;

    cr_rng_permute(&rng, n, order);
    for (i = 0; i < n; i++)
        all[i] = (struct labelled){ labels ? labels[order[i]] : 0, i,
                                    order[i] };
    qsort(all, (size_t)n, sizeof *all, by_label);
    return all;
}

int64_t cr_order_fold(struct cr_arena *arena, int64_t n, int64_t folds,
                      int64_t k, const int64_t *labels, uint64_t seed,
                      int64_t **fold, int64_t **rest)
{
    struct labelled *all = shuffled(arena, n, labels, seed);
    int64_t i, in = 0, out = 0;

    *fold = CR_NEWS(arena, int64_t, n + 1);
    *rest = CR_NEWS(arena, int64_t, n + 1);
    for (i = 0; i < n; i++)
        if (i % folds == k)
            (*fold)[in++] = all[i].sample;
        else
            (*rest)[out++] = all[i].sample;
    qsort(*fold, (size_t)in, sizeof **fold, by_value);
    qsort(*rest, (size_t)out, sizeof **rest, by_value);
    return in;
}

int64_t cr_order_split(struct cr_arena *arena, int64_t n, double share,
                       const int64_t *labels, uint64_t seed, int64_t **train,
                       int64_t **eval)
{
    struct labelled *all = shuffled(arena, n, labels, seed);
    int64_t i, k, aside = 0, kept = 0;

    *train = CR_NEWS(arena, int64_t, n);
    *eval = CR_NEWS(arena, int64_t, n);
    for (i = 0; i < n; i = k) {
        int64_t want;

        for (k = i; k < n && all[k].label == all[i].label; k++)
            ;
        /* so that all classes together give their share too */
        want = llrint(share * (double)k) - aside;
        for (; i < k; i++)
            if (want-- > 0)
                (*eval)[aside++] = all[i].sample;
            else
                (*train)[kept++] = all[i].sample;
    }
    qsort(*eval, (size_t)aside, sizeof **eval, by_value);
    qsort(*train, (size_t)kept, sizeof **train, by_value);
    return aside;
}
