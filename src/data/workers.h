/*
 * Threads that prepare batches ahead of their reader. Private to src/data.
 *
 * Batches are numbered through the whole run; each goes to the slot of its
 * number, so what a reader gets depends on the number alone.
 */
#ifndef CR_DATA_WORKERS_H
#define CR_DATA_WORKERS_H

#include "data/data_loader.h"

struct cr_workers;

struct cr_workers_opts {
    int threads, slots;
    size_t scratch_bytes; /* of one thread */
    void *ctx;
    /* Called under the lock, in ascending order of numbers between two
     * seeks: says which samples the batch has. */
    void (*place)(void *ctx, int64_t sequence, struct cr_batch *to);
    bool (*fill)(void *ctx, struct cr_diag *diag, int64_t sequence,
                 struct cr_batch *to, void *scratch_bytes);
    int64_t per_epoch;
    bool over_the_end;      /* goes on into the next epoch unasked */
};

struct cr_workers *cr_workers_start(struct cr_arena *arena,
                                    const struct cr_workers_opts *want);
int cr_workers_slots(const struct cr_workers *w);
/* Before the first seek: to give each slot its memory. */
struct cr_batch *cr_workers_batch(struct cr_workers *w, int slot);
/* The next batch wanted is this one; waits for what is under way. */
void cr_workers_seek(struct cr_workers *w, int64_t sequence);
/* NULL after an error, which is in diag then. The batch before is free. */
const struct cr_batch *cr_workers_next(struct cr_workers *w,
                                       struct cr_diag *diag);
void cr_workers_stop(struct cr_workers *w);

#endif
