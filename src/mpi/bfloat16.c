#include "mpi/bfloat16.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/compiler.h"
#include "num/low_precision.h"

#define BLOCK 2048 /* elements that stay in the first cache */

CR_CLONES static void add(cr_real *to, const cr_real *x, int64_t n)
{
    CR_SIMD
    for (int64_t i = 0; i < n; i++)
        to[i] += x[i];
}

void cr_bf16_sum(cr_real *sum, int64_t n, const void *first, size_t stride,
                 int parts)
{
    cr_real one[BLOCK];
    int64_t i, now;
    int r;

    for (i = 0; i < n; i += now) {
        now = n - i < BLOCK ? n - i : BLOCK;
        for (r = 0; r < parts; r++) {
            const char *part = (const char *)first + (size_t)r * stride;
            const uint16_t *x = (const uint16_t *)(const void *)part + i;

            cr_widen(CR_BF16, now, x, r == 0 ? sum + i : one);
            if (r > 0)
                add(sum + i, one, now);
        }
        cr_round_to_type(CR_BF16, now, sum + i, sum + i);
    }
}

/* ---- By messages */

/* Process r adds up range r of all parts, which are exchanged for that; then
 * all ranges are gathered. */
struct cr_bf16_sums {
    const struct cr_mpi_calls *calls;
    int rank, size; /* this process, and the number of all */
    int slot;
    cr_real *data;
    int64_t count;
    size_t room;     /* bytes of each of the next two */
    uint16_t *all;   /* of this process; at last, the sum */
    uint16_t *parts; /* its range, of all processes */
    int *n, *at;     /* bytes of each range, and where it begins */
    int *n_parts, *at_parts;
    bool added; /* the ranges are being gathered */
};

static void *take(size_t n, size_t size)
{
    void *at = calloc(n, size);

    if (!at)
        cr_out_of_memory(n * size);
    return at;
}

struct cr_bf16_sums *cr_bf16_sums(const struct cr_mpi_calls *calls, int slot,
                                  int rank, int size)
{
    struct cr_bf16_sums *s = take(1, sizeof *s);

    s->calls = calls;
    s->slot = slot;
    s->rank = rank;
    s->size = size;
    s->n = take(4 * (size_t)size, sizeof *s->n);
    s->at = s->n + size;
    s->n_parts = s->at + size;
    s->at_parts = s->n_parts + size;
    return s;
}

void cr_bf16_sums_free(struct cr_bf16_sums *s)
{
    if (!s)
        return;
    free(s->all);
    free(s->parts);
    free(s->n);
    free(s);
}

static int64_t range_begin(const struct cr_bf16_sums *s, int rank)
{
    int64_t begin = (s->count + s->size - 1) / s->size * rank;

    return begin < s->count ? begin : s->count;
}

static void ranges_set(struct cr_bf16_sums *s)
{
    size_t bytes;

    for (int r = 0; r < s->size; r++) {
        int64_t begin = range_begin(s, r), end = range_begin(s, r + 1);

        s->n[r] = (int)(end - begin) * (int)sizeof *s->all;
        s->at[r] = (int)begin * (int)sizeof *s->all;
    }
    for (int r = 0; r < s->size; r++) {
        s->n_parts[r] = s->n[s->rank];
        s->at_parts[r] = r * s->n[s->rank];
    }
    bytes = (size_t)s->n[0] * (size_t)s->size; /* range 0 is a largest one */
    if (bytes > s->room) {
        free(s->all);
        free(s->parts);
        s->all = take(bytes, 1);
        s->parts = take(bytes, 1);
        s->room = bytes;
    }
}

void cr_bf16_sums_start(struct cr_bf16_sums *s, cr_real *data, int64_t n)
{
    s->data = data;
    s->count = n;
    s->added = false;
    ranges_set(s);
    cr_narrow(CR_BF16, n, data, s->all);
    s->calls->exchange_start(s->slot, s->all, s->n, s->at, s->parts, s->n_parts,
                             s->at_parts);
}

bool cr_bf16_sums_advance(struct cr_bf16_sums *s)
{
    int64_t begin = range_begin(s, s->rank),
            n = range_begin(s, s->rank + 1) - begin;

    if (s->added) {
        cr_widen(CR_BF16, s->count, s->all, s->data);
        return true;
    }
    cr_bf16_sum(s->data + begin, n, s->parts, (size_t)s->n[s->rank], s->size);
    cr_narrow(CR_BF16, n, s->data + begin, s->all + begin);
    s->calls->gather_start(s->slot, s->all, s->n, s->at);
    s->added = true;
    return false;
}
