/*
 * Threads that prepare batches in advance. Private to src/data.
 *
 * Batches are numbered through the whole run, and each uses the slot of its
 * number modulo the number of slots, so the result depends on the number alone.
 */
#ifndef CR_DATA_WORKERS_H
#define CR_DATA_WORKERS_H

#include "data/data_loader.h"

struct cr_workers;

struct cr_workers_opts {
    int threads, slots;
    size_t scratch_bytes; /* of one thread */
    void *ctx;
    /* Called under the lock, in ascending order of numbers between two seeks:
     * sets the samples of the batch. */
    void (*place)(void *ctx, int64_t sequence, struct cr_batch *to);
    bool (*fill)(void *ctx, struct cr_diag *diag, int64_t sequence,
                 struct cr_batch *to, void *scratch_bytes);
    int64_t per_epoch;
    bool over_the_end;      /* continue into the next epoch without a request */
};

struct cr_workers *cr_workers_start(struct cr_arena *arena,
                                    const struct cr_workers_opts *want);
int cr_workers_slots(const struct cr_workers *w);
/* The batch of a slot. Before the first seek its memory must be set. */
struct cr_batch *cr_workers_batch(struct cr_workers *w, int slot);
/* Makes this batch the next one to be returned; waits for batches in
 * progress. */
void cr_workers_seek(struct cr_workers *w, int64_t sequence);
/* The next batch; frees the previous one. NULL after an error, which is in
 * diag. */
const struct cr_batch *cr_workers_next(struct cr_workers *w,
                                       struct cr_diag *diag);
void cr_workers_stop(struct cr_workers *w);

#endif
