#include "kernels/sdpa.h"

#include <string.h>

#include "base/thread_pool.h"

#define BLOCK 32             /* queries, at most */
#define ROOM (64 << 10)      /* scores of a block, at most */
#define SERIAL_MACS 100000.0 /* below, a second thread costs more */

static int64_t sdpa_up(int64_t n)
{
    return (n + CR_SDPA_STEP - 1) / CR_SDPA_STEP * CR_SDPA_STEP;
}

int64_t cr_sdpa_blocks(int64_t queries, int64_t keys)
{
    int64_t rows = BLOCK;

    while (rows > 8 && rows * sdpa_up(keys) > ROOM)
        rows /= 2;
    return (queries + rows - 1) / rows;
}

int64_t cr_sdpa_most_rows(const struct cr_sdpa *a)
{
    int64_t blocks = cr_sdpa_blocks(a->queries, a->keys);

    return (a->queries + blocks - 1) / blocks;
}

/* A byte for each score of a block, and those that a vector reads past them. */
size_t cr_sdpa_keep_bytes(const struct cr_sdpa *a)
{
    return (size_t)sdpa_up(cr_sdpa_most_rows(a) * a->keys + CR_SDPA_STEP);
}

/* As sdpa_head cuts it up: six of all keys, three of a block's queries, two
 * of its scores, and one row of them. */
size_t cr_sdpa_thread_scratch(const struct cr_sdpa *a)
{
    int64_t blocks = cr_sdpa_blocks(a->queries, a->keys);
    int64_t wide = sdpa_up(a->dim), pitch = sdpa_up(a->keys);
    int64_t most = cr_sdpa_most_rows(a);
    int64_t reals = 6 * pitch * wide + 3 * most * wide + 2 * most * pitch;

    return (size_t)(reals + pitch) * sizeof(cr_real) + cr_sdpa_keep_bytes(a) +
           (size_t)blocks * sizeof *a->key_range;
}

int64_t cr_sdpa_first(int64_t queries, int64_t keys, int64_t block)
{
    return queries * block / cr_sdpa_blocks(queries, keys);
}

bool cr_sdpa_hidden(const struct cr_sdpa_mask *m, const void *row, int64_t j)
{
    return m->kind == CR_MASK_BOOL
               ? ((const unsigned char *)row)[j] != 0
               : ((const cr_real *)row)[j] == -(cr_real)INFINITY;
}

/* Keys at either end that all queries of the block are kept from. Where a
 * query is kept from all, every key is taken: its weights must become NaN. */
static struct cr_sdpa_range sdpa_range(const struct cr_sdpa *a,
                                       const struct cr_sdpa_mask *m,
                                       const void *mask, int64_t first,
                                       int64_t end)
{
    struct cr_sdpa_range all = { 0, a->keys }, r = { a->keys, 0 };
    size_t size = m->kind == CR_MASK_BOOL ? 1 : sizeof(cr_real);
    int64_t i;

    for (i = first; i < end; i++) {
        const char *row = (const char *)mask + (size_t)(i * m->row) * size;
        int64_t from = 0, to = a->keys;

        while (to > 0 && cr_sdpa_hidden(m, row, to - 1))
            to--;
        if (to == 0)
            return all;
        while (cr_sdpa_hidden(m, row, from))
            from++;
        r.from = from < r.from ? from : r.from;
        r.to = to > r.to ? to : r.to;
    }
    return r;
}

void cr_sdpa_ranges(const struct cr_sdpa *a, const void *mask,
                    struct cr_sdpa_range *range)
{
    int64_t blocks = cr_sdpa_blocks(a->queries, a->keys), b;

    for (b = 0; b < blocks; b++)
        range[b] =
            sdpa_range(a, &a->mask, mask, cr_sdpa_first(a->queries, a->keys, b),
                       cr_sdpa_first(a->queries, a->keys, b + 1));
}

struct sdpa_job {
    const struct cr_sdpa *a;
    cr_sdpa_part *part;
};

static void sdpa_part(void *ctx, int task, int n_tasks)
{
    const struct sdpa_job *job = ctx;

    job->part(job->a, task, n_tasks);
}

static void sdpa_run(struct cr_sdpa *a, cr_sdpa_part *part)
{
    struct sdpa_job job = { a, part };
    double macs = (double)(a->batch * a->heads) *
                  (double)(a->queries * a->keys) * (double)a->dim;

    cr_parallel_run(sdpa_part, &job,
                    macs < SERIAL_MACS ? 1 : cr_thread_count());
}

/* No row over oneDNN: it has no primitive of attention, and two products and a
 * softmax for each tile would cost a call each, and masks, ranges of keys and
 * dropout passes of their own between them. */
static const struct cr_kernel *const rows[] = {
#if defined(__x86_64__) && !defined(CR_DOUBLE)
    &cr_sdpa_avx512.head, &cr_sdpa_avx2.head,
#endif
    &cr_sdpa_portable.head, NULL
};

const struct cr_kernels cr_kernels_sdpa = { rows };

const char *cr_sdpa_kernel_name(void)
{
    return cr_kernel_choose(&cr_kernels_sdpa, NULL)->name;
}

static const struct cr_sdpa_kernel *sdpa_kernel(struct cr_sdpa *a)
{
    /* a mask that all share is looked through once */
    if (a->mask.kind != CR_MASK_NONE && a->mask.head == 0)
        cr_sdpa_ranges(a, a->mask.x, a->key_range);
    return (const struct cr_sdpa_kernel *)(const void *)cr_kernel_choose(
        &cr_kernels_sdpa, a);
}

void cr_sdpa_forward(struct cr_sdpa *a)
{
    sdpa_run(a, sdpa_kernel(a)->forward);
}

void cr_sdpa_backward(struct cr_sdpa *a)
{
    const struct cr_sdpa_kernel *code = sdpa_kernel(a);

    if (a->dq || a->dk || a->dv)
        sdpa_run(a, code->backward);
    if (a->dmask || a->dpad)
        sdpa_run(a, code->masks);
}
