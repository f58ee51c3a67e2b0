#include "data/data_loader_internal.h"

#include "base/mapping.h"
#include "base/thread_pool.h"
#include "mpi/mpi.h"

#include <string.h>

static void batch_make(struct cr_data_loader *p, struct cr_batch *b)
{
    int64_t rows = cr_data_loader_samples(p) < p->batch_size
                       ? cr_data_loader_samples(p)
                       : p->batch_size;
    int i, s;

    b->columns = p->set.columns;
    for (i = 0; i < b->columns; i++) {
        size_t most = 0;

        for (s = 0; s < p->n_sizes; s++)
            if (cr_bytes(&p->of_size[s][i].spec) > most)
                most = cr_bytes(&p->of_size[s][i].spec);
        b->data[i] = cr_alloc(p->arena, (size_t)rows, most + 1);
    }
}

/* The planned transforms of column k for the shape of the batch. */
static const struct cr_column_pipeline *ops_of(const struct cr_data_loader *p,
                                               const struct cr_batch *b, int k)
{
    const struct cr_column_pipeline *c = p->op[k];

    return c->n_sizes > 1 ? c->of_size[b->size_index] : c;
}

/* Whether row r of a column is to be filled: other processes have some. */
static bool is_ours(const struct cr_data_loader *p, const struct cr_batch *b,
                    int k, int64_t r)
{
    int64_t first, n;

    if (!p->local[k] || !cr_mpi_shares(b->n))
        return true;
    cr_mpi_rows(b->n, cr_mpi_rank(), &first, &n);
    return r >= first && r < first + n;
}

void cr_data_loader_share(struct cr_data_loader *p, const bool *local)
{
    bool mixes = false; /* what mixes samples reads all of them */

    if (cr_mpi_size() == 1)
        return; /* workers may be reading */
    for (int k = 0; k < p->set.columns; k++)
        for (int s = 0; s < p->n_sizes; s++)
            mixes = mixes || p->op[k]->mix ||
                    (p->op[k]->n_sizes > 1 && p->op[k]->of_size[s]->mix);
    for (int k = 0; k < p->set.columns; k++)
        p->local[k] = local[k] && !mixes;
}

void cr_data_loader_gather(const struct cr_data_loader *p,
                           const struct cr_batch *b)
{
    for (int k = 0; k < b->columns; k++)
        if (p->local[k] && cr_mpi_shares(b->n))
            cr_mpi_gather_rows(b->data[k], b->n, cr_bytes(&b->column[k].spec));
}

#define AHEAD 8 /* rows to prefetch */

/* Fills rows from..to of a batch. False after reporting that a sample cannot be
 * read; *row is its row. */
static bool fill_rows(struct cr_data_loader *p, struct cr_diag *diag,
                      const struct cr_batch *b, int64_t from, int64_t to,
                      char *scratch, int64_t *row)
{
    struct cr_arena mem = { 0 };    /* for samples whose shape varies */
    bool ok = true;
    int64_t r;
    int k;

    for (r = from; r < to && ok; r++) {
        if (r + AHEAD < to && is_ours(p, b, 0, r + AHEAD))
            cr_reader_prefetch(p->reader, b->samples[r + AHEAD]);
        for (k = 0; k < b->columns && ok; k++) {
            if (!is_ours(p, b, k, r))
                continue;
            const struct cr_column_pipeline *c = ops_of(p, b, k);
            int64_t i = b->samples[r];
            /* a repeated sample gets other random numbers each time */
            int64_t epoch = b->epoch + (b->repeats ? b->repeats[r] << 24 : 0);
            struct cr_spec spec;
            const void *x;
            char *y = (char *)b->data[k] +
                      (size_t)r * cr_bytes(&c->out);

            *row = r;
            x = cr_reader_get(p->reader, diag, &mem, i, k,
                              scratch + c->scratch_bytes, &spec);
            if (!x)
                ok = false;
            else if (p->set.varying_shapes & 1u << k)
                ok = cr_column_pipeline_run_other(c, diag, &mem, &spec, &p->set,
                                                  k, epoch, i, x, y, scratch);
            else
                ok = cr_column_pipeline_run(c, diag, epoch, i, x, y, scratch);
            if (x && !ok) {
                cr_sample_note(&p->set, diag, i, k);
                cr_data_loader_note(p, diag);
            }
        }
        cr_arena_free(&mem);
    }
    return ok;
}

/* Applies the transforms that mix the samples of a batch (CutMixBatch). */
static void mix_batch(const struct cr_data_loader *p, const struct cr_batch *b,
                      char *scratch)
{
    int i, label = cr_data_loader_labels(p);

    for (i = 0; i < b->columns; i++) {
        const struct cr_column_pipeline *c = ops_of(p, b, i);
        struct cr_batch_mix m = { .plan = &c->mix_plan, .n = b->n };
        size_t size;

        if (!c->mix)
            continue;
        m.each = cr_count(&c->out);
        m.classes = cr_count(&p->op[label]->out);
        m.y = b->data[i];
        m.mixed = b->data[label];
        m.order = (int64_t *)(void *)scratch;
        size = ((size_t)b->n * sizeof *m.order + 63) / 64 * 64;
        m.x = memcpy(scratch + size, m.y,
                     (size_t)(b->n * m.each) * sizeof *m.y);
        size += (size_t)(b->n * m.each) * sizeof *m.y;
        m.labels = memcpy(scratch + size, m.mixed,
                          (size_t)(b->n * m.classes) * sizeof *m.mixed);
        m.rng = cr_rng(p->want.seed, CR_STREAM_AUGMENT,
                       ((uint64_t)b->epoch << 32) + (1u << 31) + (uint64_t)i,
                       (uint64_t)b->index << 32);
        c->mix->mix(&m);
    }
}

/* Sets the epoch, index and samples of batch number `sequence` of the run. The
 * order of its epoch must exist. */
static void batch_place(const struct cr_data_loader *p, struct cr_batch *b,
                        int64_t sequence)
{
    int64_t left;

    b->epoch = sequence / p->batches;
    b->index = sequence % p->batches;
    left = p->sampler.take - b->index * p->batch_size;
    b->n = left < p->batch_size ? left : p->batch_size;
    b->samples = p->orders[b->epoch % 2] + b->index * p->batch_size;
    b->repeats = p->sampler.sums
                     ? p->repeats[b->epoch % 2] + b->index * p->batch_size
                     : NULL;
    b->size_index = 0;
    if (p->n_sizes > 1 && !p->want.one_size) {
        struct cr_rng rng = cr_rng(p->want.seed, CR_STREAM_SCALE,
                                   (uint64_t)b->epoch, (uint64_t)b->index);

        b->size_index = (int)cr_rng_below(&rng, 0, (uint64_t)p->n_sizes);
    }
    b->column = p->of_size[b->size_index];
}

/* Allocates the orders of samples. They are in the caller's arena, which worker
 * threads must not use. */
static void alloc_orders(struct cr_data_loader *p)
{
    if (p->order_scratch)
        return;
    p->order_scratch = CR_NEWS(p->arena, int64_t, p->sampler.n + 1);
    for (int k = 0; k < 2; k++) {
        p->orders[k] = CR_NEWS(p->arena, int64_t, p->sampler.take + 1);
        if (p->sampler.sums)
            p->repeats[k] = CR_NEWS(p->arena, int64_t, p->sampler.take + 1);
    }
}

static void order_make(struct cr_data_loader *p, int64_t epoch)
{
    int k = (int)(epoch % 2);

    if (p->order_epoch[k] == epoch)
        return;
    cr_sampler_order(&p->sampler, epoch, p->orders[k], p->repeats[k],
                     p->order_scratch);
    p->order_epoch[k] = epoch;
}

static void fill_task(void *ctx, int task, int n_tasks)
{
    struct cr_data_loader *p = ctx;
    const struct cr_batch *b = &p->batch;
    char *scratch = p->scratch + (size_t)task * p->scratch_bytes;
    struct cr_arena arena = { 0 };
    struct cr_diag quiet = { .arena = &arena };
    int64_t row = 0, first, n, rest;
    bool ok;

    /* the rows of this process, then what it wants of the others */
    cr_mpi_rows(b->n, cr_mpi_rank(), &first, &n);
    rest = b->n - n;
    ok = fill_rows(p, &quiet, b, first + n * task / n_tasks,
                   first + n * (task + 1) / n_tasks, scratch, &row);
    for (int64_t r = rest * task / n_tasks;
         r < rest * (task + 1) / n_tasks && ok; r++)
        ok = fill_rows(p, &quiet, b, r < first ? r : r + n,
                       (r < first ? r : r + n) + 1, scratch, &row);
    if (!ok)
        __atomic_store_n(&p->failed, 1, __ATOMIC_RELAXED);
    cr_arena_free(&arena);
}

#define FILL_ALONE 4096 /* bytes below which one thread fills a batch */

static const struct cr_batch *next_without_workers(struct cr_data_loader *p,
                                                   struct cr_diag *diag)
{
    size_t bytes = 0;
    int64_t row = 0;
    int i;

    if (!p->batch.columns) {
        batch_make(p, &p->batch);
        p->scratch = cr_alloc(p->arena, (size_t)cr_thread_count(),
                              p->scratch_bytes + 64);
        alloc_orders(p);
    }
    order_make(p, p->epoch);
    batch_place(p, &p->batch, p->epoch * p->batches + p->index);
    for (i = 0; i < p->batch.columns; i++)
        bytes += cr_bytes(&p->batch.column[i].spec) * (size_t)p->batch.n;
    p->failed = 0;
    cr_parallel_run(fill_task, p, bytes < FILL_ALONE ? 1 : cr_thread_count());
    /* again in order, so that the first error is reported */
    if (p->failed &&
        !fill_rows(p, diag, &p->batch, 0, p->batch.n, p->scratch, &row))
        return NULL;
    mix_batch(p, &p->batch, p->scratch);
    return &p->batch;
}

/* ---- with workers ---- */

static bool worker_fill(void *ctx, struct cr_diag *diag, int64_t sequence,
                        struct cr_batch *b, void *scratch)
{
    struct cr_data_loader *p = ctx;
    int64_t row;

    (void)sequence;
    if (!fill_rows(p, diag, b, 0, b->n, scratch, &row))
        return false;
    mix_batch(p, b, scratch);
    return true;
}

static void worker_place(void *ctx, int64_t sequence, struct cr_batch *b)
{
    struct cr_data_loader *p = ctx;

    order_make(p, sequence / p->batches);
    batch_place(p, b, sequence);
}

static void start_workers(struct cr_data_loader *p)
{
    struct cr_workers_opts want = {
        .threads = p->n_workers,
        .slots = p->prefetch > p->n_workers ? p->prefetch : p->n_workers,
        .scratch_bytes = p->scratch_bytes,
        .ctx = p,
        .place = worker_place,
        .fill = worker_fill,
        .per_epoch = p->batches,
        .over_the_end = p->want.train,
    };
    int i;

    alloc_orders(p);
    p->workers = cr_workers_start(p->arena, &want);
    for (i = 0; i < cr_workers_slots(p->workers); i++)
        batch_make(p, cr_workers_batch(p->workers, i));
}

/* ---- reading ---- */

void cr_data_loader_seek(struct cr_data_loader *p, int64_t epoch, int64_t index)
{
    p->epoch = epoch;
    p->index = index;
    p->between = false;
    if (p->workers)
        cr_workers_seek(p->workers, epoch * p->batches + index);
}

bool cr_data_loader_load(struct cr_data_loader *p, struct cr_diag *diag)
{
    if (p->loaded)
        return true;
    if (p->set.type->load && !p->set.type->load(&p->set, diag))
        return false;
    if (p->scans)
        cr_reader_build_cache(p->reader, diag, false);
    p->loaded = true;
    return true;
}

const struct cr_batch *cr_data_loader_next(struct cr_data_loader *p,
                                           struct cr_diag *diag)
{
    const struct cr_batch *b;

    if (p->index >= p->batches) {
        p->epoch++;
        p->index = 0;
        cr_mapping_check_sizes(diag);
        return NULL;
    }
    if (!cr_data_loader_prepare(p, diag))
        return NULL;
    if (p->n_workers > 0 && !p->workers) {
        start_workers(p);
        cr_workers_seek(p->workers, p->epoch * p->batches + p->index);
    }
    b = p->workers ? cr_workers_next(p->workers, diag)
                   : next_without_workers(p, diag);
    if (!b || !cr_mapping_check(diag))
        return NULL;
    p->index++;
    return b;
}
