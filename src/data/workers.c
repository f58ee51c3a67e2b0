#include "data/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/mapping.h"
#include "base/thread_pool.h"

enum state { FREE, BUSY, READY, FAILED };

struct slot {
    enum state state;
    int64_t sequence;
    struct cr_batch batch;
    struct cr_arena arena;  /* of the messages */
    struct cr_diag diag;
};

struct cr_workers {
    struct cr_workers_opts want;
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    struct slot *slots;
    pthread_t *threads;
    char *scratches;
    int n_threads, busy;
    int64_t next;           /* next batch to start */
    int64_t wanted;         /* next batch to return */
    int64_t end;            /* batches from here on are not started */
    bool quit;
};

/* The end of the batches that may be started: at most two epochs, because only
 * the orders of two are stored. */
static int64_t horizon(const struct cr_workers *w)
{
    /* epoch of the batch in use, the one before `wanted` */
    int64_t epoch = (w->wanted > 0 ? w->wanted - 1 : 0) / w->want.per_epoch;

    if (!w->want.over_the_end)
        epoch = w->wanted / w->want.per_epoch;

    return (epoch + (w->want.over_the_end ? 2 : 1)) * w->want.per_epoch;
}

static bool can_begin(const struct cr_workers *w)
{
    return w->next < w->end && w->next < horizon(w) &&
           w->slots[w->next % w->want.slots].state == FREE;
}

struct worker {
    struct cr_workers *w;
    char *scratch;
};

static void *worker_run(void *arg)
{
    struct worker *me = arg;
    struct cr_workers *w = me->w;

    cr_thread_unpin();
    pthread_mutex_lock(&w->lock);
    for (;;) {
        struct slot *s;
        int64_t sequence;
        bool ok;

        while (!w->quit && !can_begin(w))
            pthread_cond_wait(&w->work, &w->lock);
        if (w->quit)
            break;
        sequence = w->next++;
        s = &w->slots[sequence % w->want.slots];
        s->state = BUSY;
        s->sequence = sequence;
        w->want.place(w->want.ctx, sequence, &s->batch);
        w->busy++;
        pthread_mutex_unlock(&w->lock);
        ok = w->want.fill(w->want.ctx, &s->diag, sequence, &s->batch,
                          me->scratch);
        pthread_mutex_lock(&w->lock);
        s->state = ok ? READY : FAILED;
        w->busy--;
        pthread_cond_broadcast(&w->done);
    }
    pthread_mutex_unlock(&w->lock);
    free(me);
    return NULL;
}

struct cr_workers *cr_workers_start(struct cr_arena *arena,
                                    const struct cr_workers_opts *want)
{
    struct cr_workers *w = CR_NEW(arena, struct cr_workers);
    sigset_t all, old;
    int i;

    w->want = *want;
    w->want.slots++; /* one more for the batch in use */
    w->slots = CR_NEWS(arena, struct slot, w->want.slots);
    w->threads = CR_NEWS(arena, pthread_t, want->threads);
    w->scratches =
        cr_alloc(arena, (size_t)want->threads, want->scratch_bytes + 64);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work, NULL);
    pthread_cond_init(&w->done, NULL);
    for (i = 0; i < w->want.slots; i++)
        w->slots[i].diag.arena = &w->slots[i].arena;
    cr_signals_blockable(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    for (i = 0; i < want->threads; i++) {
        struct worker *me = malloc(sizeof *me);

        if (!me)
            cr_out_of_memory(sizeof *me);
        *me = (struct worker){
            w, w->scratches + (size_t)i * want->scratch_bytes
        };
        if (pthread_create(&w->threads[i], NULL, worker_run, me) != 0) {
            free(me);
            break;
        }
        w->n_threads++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (w->n_threads == 0)
        cr_out_of_memory(8 << 20); /* not enough memory for the stack of a
                                      thread */
    return w;
}

int cr_workers_slots(const struct cr_workers *w)
{
    return w->want.slots;
}

struct cr_batch *cr_workers_batch(struct cr_workers *w, int slot)
{
    return &w->slots[slot].batch;
}

void cr_workers_seek(struct cr_workers *w, int64_t sequence)
{
    int i;

    pthread_mutex_lock(&w->lock);
    w->end = 0; /* start no further batches */
    while (w->busy > 0)
        pthread_cond_wait(&w->done, &w->lock);
    for (i = 0; i < w->want.slots; i++) {
        struct slot *s = &w->slots[i];

        s->state = FREE;
        cr_arena_free(&s->arena);
        s->diag = (struct cr_diag){ .arena = &s->arena };
    }
    w->next = w->wanted = sequence;
    w->end = INT64_MAX;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->lock);
}

const struct cr_batch *cr_workers_next(struct cr_workers *w,
                                       struct cr_diag *diag)
{
    struct slot *s, *last;

    pthread_mutex_lock(&w->lock);
    last = w->wanted > 0 ? &w->slots[(w->wanted - 1) % w->want.slots] : NULL;
    if (last && last->state == READY && last->sequence == w->wanted - 1)
        last->state = FREE;
    s = &w->slots[w->wanted % w->want.slots];
    pthread_cond_broadcast(&w->work);
    while (s->sequence != w->wanted ||
           (s->state != READY && s->state != FAILED))
        pthread_cond_wait(&w->done, &w->lock);
    if (s->state == FAILED) {
        cr_diag_append(diag, &s->diag); /* repeated until a seek */
        pthread_mutex_unlock(&w->lock);
        return NULL;
    }
    w->wanted++;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->lock);
    return &s->batch;
}

void cr_workers_stop(struct cr_workers *w)
{
    int i;

    pthread_mutex_lock(&w->lock);
    w->quit = true;
    pthread_cond_broadcast(&w->work);
    pthread_mutex_unlock(&w->lock);
    for (i = 0; i < w->n_threads; i++)
        pthread_join(w->threads[i], NULL);
    for (i = 0; i < w->want.slots; i++)
        cr_arena_free(&w->slots[i].arena);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->work);
    pthread_cond_destroy(&w->done);
}
