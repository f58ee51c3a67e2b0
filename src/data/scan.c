#include "data/scan.h"

#include <string.h>

#include "data/data_loader_internal.h"
#include "kernels/parallel_for.h"

#define SCAN_AT_ONCE 1024   /* samples whose results are kept */
#define SCAN_COST 20000.0   /* estimated nanoseconds per sample */

struct scan {
    struct cr_data_loader *loader;
    const struct cr_scan *what;
    int64_t from; /* index of the first sample in the split */
    char *result;
    struct cr_diag *diag;  /* of each sample */
    struct cr_arena *text; /* of its messages */
};

static int64_t scan_index(const struct cr_data_loader *p, int64_t place)
{
    return p->sampler.pool ? p->sampler.pool[place] : place;
}

static void scan_range(void *ctx, int64_t from, int64_t to)
{
    struct scan *s = ctx;
    struct cr_data_loader *p = s->loader;
    struct cr_arena scratches = { 0 };
    char *scratch[CR_COLUMNS_MAX];

    for (int k = 0; k < p->set.columns; k++) {
        size_t bytes = cr_bytes(&p->set.column[k].spec);

        if (p->set.column[k].spec.type == CR_STRING)
            bytes = sizeof(struct cr_ragged);
        scratch[k] = cr_alloc(&scratches, bytes + 64, 1);
    }
    for (int64_t i = from; i < to; i++) {
        struct cr_scan_sample sample = { .index = scan_index(p, s->from + i) };
        struct cr_arena mem = { 0 };

        s->diag[i] = (struct cr_diag){ .arena = &s->text[i] };
        for (int k = 0; k < p->set.columns; k++)
            sample.x[k] =
                cr_reader_get(p->reader, &s->diag[i], &mem, sample.index, k,
                              scratch[k], &sample.spec[k]);
        s->what->read(s->what->ctx, &sample,
                      s->result + (size_t)i * s->what->bytes);
        cr_arena_free(&mem);
    }
    cr_arena_free(&scratches);
}

bool cr_data_loader_scan(struct cr_data_loader *p, struct cr_diag *diag,
                         const struct cr_scan *what)
{
    struct cr_arena mem = { 0 };
    struct scan s = { .loader = p, .what = what };
    int64_t n;

    if (!cr_data_loader_load(p, diag))
        return false;
    s.result = cr_alloc(&mem, SCAN_AT_ONCE, what->bytes + 1);
    s.diag = CR_NEWS(&mem, struct cr_diag, SCAN_AT_ONCE);
    s.text = CR_NEWS(&mem, struct cr_arena, SCAN_AT_ONCE);
    for (; s.from < p->sampler.n; s.from += n) {
        n = p->sampler.n - s.from;
        n = n < SCAN_AT_ONCE ? n : SCAN_AT_ONCE;
        memset(s.result, 0, (size_t)n * what->bytes);
        cr_parallel_for_coarse(n, SCAN_COST, &s, scan_range);
        for (int64_t i = 0; i < n; i++) {
            what->take(what->ctx, scan_index(p, s.from + i),
                       s.result + (size_t)i * what->bytes, &s.diag[i]);
            cr_arena_free(&s.text[i]);
        }
    }
    cr_arena_free(&mem);
    return true;
}

int64_t cr_data_loader_scan_samples(const struct cr_data_loader *p)
{
    return p->sampler.n;
}

struct cr_pos cr_data_loader_where(const struct cr_data_loader *p,
                                   struct cr_arena *arena, int64_t index)
{
    struct cr_dataset set = p->set;

    if (set.type->where)
        return set.type->where(&set, arena, index, 0);
    return cr_sample_pos(&p->set, arena, index, -1);
}
