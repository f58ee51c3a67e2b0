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

void cr_order_make(const struct cr_order *o, int64_t epoch, int64_t *order,
                   int64_t *room)
{
    struct cr_rng rng = cr_rng(o->seed, CR_STREAM_SHUFFLE,
                               o->fixed ? 0 : (uint64_t)epoch, 0);
    int64_t i;

    if (o->shuffle && o->buffer > 0) {
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
