#include "data/sampler.h"

#include "num/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Shuffles with a buffer of limited size, filled in stored order: each step
 * takes a random sample from it and replaces it by the next. */
static void mix_buffer(const struct cr_sampler *o, const struct cr_rng *rng,
                       int64_t *order, int64_t *scratch)
{
    int64_t size = o->buffer < o->n ? o->buffer : o->n, next = size, i, k;

    for (i = 0; i < size; i++)
        scratch[i] = i;
    for (i = 0; i < o->take; i++) {
        k = (int64_t)cr_rng_below(rng, (uint64_t)i, (uint64_t)size);
        order[i] = scratch[k];
        if (next < o->n)
            scratch[k] = next++;
        else
            scratch[k] = scratch[--size];
    }
}

/* The first sample with a cumulative weight above x. */
static int64_t weighted_at(const struct cr_sampler *o, double x)
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

/* Weighted sampling without replacement: the samples with the smallest -ln(u) /
 * weight have the distribution of successive draws (Efraimidis and Spirakis
 * 2006). */
static void draw_once(const struct cr_sampler *o, const struct cr_rng *rng,
                      int64_t *order)
{
    struct cr_arena mem = { 0 };
    struct drawn *all = CR_NEWS(&mem, struct drawn, o->n + 1);
    int64_t i;

    for (i = 0; i < o->n; i++) {
        double weight = o->sums[i] - (i > 0 ? o->sums[i - 1] : 0);
        double u = 1 - cr_rng_double(rng, (uint64_t)i); /* (0, 1] */

        all[i] =
            (struct drawn){ weight > 0 ? -log(u) / weight : (double)INFINITY,
                            i };
    }
    qsort(all, (size_t)o->n, sizeof *all, by_key);
    for (i = 0; i < o->take; i++)
        order[i] = all[i].sample;
    cr_arena_free(&mem);
}

static void draw_weighted(const struct cr_sampler *o, int64_t epoch,
                          int64_t *order, int64_t *repeats, int64_t *scratch)
{
    struct cr_rng rng =
        cr_rng(o->seed, CR_STREAM_SAMPLER, o->fixed ? 0 : (uint64_t)epoch, 0);
    double total = o->sums[o->n - 1];
    int64_t i;

    memset(scratch, 0, (size_t)o->n * sizeof *scratch);
    for (i = 0; i < o->take && o->replacement; i++)
        order[i] = weighted_at(o, cr_rng_double(&rng, (uint64_t)i) * total);
    if (!o->replacement)
        draw_once(o, &rng, order);
    for (i = 0; i < o->take; i++)
        repeats[i] = scratch[order[i]]++;
}

void cr_sampler_order(const struct cr_sampler *o, int64_t epoch, int64_t *order,
                      int64_t *repeats, int64_t *scratch)
{
    struct cr_rng rng =
        cr_rng(o->seed, CR_STREAM_SHUFFLE, o->fixed ? 0 : (uint64_t)epoch, 0);
    int64_t i;

    if (o->sums) {
        draw_weighted(o, epoch, order, repeats, scratch);
    } else if (o->shuffle && o->buffer > 0) {
        mix_buffer(o, &rng, order, scratch);
    } else if (o->shuffle) {
        cr_rng_permute(&rng, o->n, scratch);
        memcpy(order, scratch, (size_t)o->take * sizeof *order);
    } else {
        for (i = 0; i < o->take; i++)
            order[i] = i;
    }
    if (o->pool)
        for (i = 0; i < o->take; i++)
            order[i] = o->pool[order[i]];
}
