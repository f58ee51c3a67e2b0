/*
 * Where buffers lie: values that do not live at the same time share memory.
 *
 * A buffer lives from the first step that touches it to the last one (to the
 * end, when it is read from outside). The largest is placed first, each at
 * the lowest offset that is free during its life. What is occupied is kept
 * in a tree over the steps, so that placing takes about the same time however
 * many lie there already.
 *
 * Threads share out the rows of a value. Where values of several sizes share
 * memory, one thread writes what another one has read, and a line that changes
 * its core costs more than the arithmetic of a small network: where cores have
 * no cache together, half of LeNet's step. So with several threads, buffers
 * share memory with buffers of the same size only, if that takes little more:
 * large networks have many of one size, and small networks little to lose.
 */
#include "base/thread_pool.h"
#include "plan/plan.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ALIGN 64
#define SIZES_EXTRA ((size_t)1 << 21) /* bytes more, at most, for that */

static size_t aligned(size_t at)
{
    return (at + ALIGN - 1) / ALIGN * ALIGN;
}

static void touch(struct cr_pval *val, int step)
{
    struct cr_pval *v = cr_pval_base(val);

    if (!v || v->home)
        return;
    if (v->first < 0)
        v->first = step;
    if (v->last < step)
        v->last = step;
}

static void touch_operand(void *ctx, struct cr_operand *o)
{
    (void)ctx;
    touch(o->val, o->step->at);
}

static void lives(struct cr_exec *e)
{
    struct cr_exec_step *s;
    struct cr_pval *v;
    int k;

    for (s = e->first; s; s = s->next) {
        cr_step_operands(s, NULL, touch_operand);
        /* computed once, it stays there while other batches go by */
        for (k = 0; s->y && k < s->n_out; k++)
            if (!(s->op->optional & CR_Y(k)) || s->y[k]->n_uses > 0 ||
                s->y[k]->root)
                touch(s->y[k], s->once && s->y[k]->root ? 0 : s->at);
        for (k = 0; s->dx && k < s->n_in; k++)
            touch(s->dx[k], s->at);
        touch(s->saved, s->at);
        touch(s->x_again, s->at);
    }
    for (v = e->vals; v; v = v->next)
        if (v->root || e->opts.eager) {
            cr_pval_base(v)->last = e->n_steps;
            /* the loss's gradient is written before the first step back */
            if (v->seed)
                v->first = 0;
        }
}

static int by_size(const void *a, const void *b)
{
    const struct cr_pval *x = *(struct cr_pval *const *)a,
                         *y = *(struct cr_pval *const *)b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->id < y->id ? -1 : 1;
}

/* ---- what is occupied, and when ---- */

/* Occupied bytes: sorted, and with free ones between any two. */
struct runs {
    struct run {
        size_t from, to;
    } *run;
    int n, room;
};

/* The first run that ends after `at`. */
static int runs_find(const struct runs *r, size_t at)
{
    int low = 0, high = r->n;

    while (low < high) {
        int middle = low + (high - low) / 2;

        if (r->run[middle].to > at)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static void runs_add(struct cr_arena *arena, struct runs *r, struct run add)
{
    int i = runs_find(r, add.from), k = i;

    if (i > 0 && r->run[i - 1].to == add.from)
        i--;
    for (; k < r->n && r->run[k].from <= add.to; k++)
        add.to = r->run[k].to > add.to ? r->run[k].to : add.to;
    if (i < k && r->run[i].from < add.from)
        add.from = r->run[i].from;
    if (r->n == r->room) {
        int room = 2 * r->room + 4;

        r->run =
            cr_grow(arena, r->run, (size_t)r->n, (size_t)room, sizeof *r->run);
        r->room = room;
    }
    memmove(r->run + i + 1, r->run + k, (size_t)(r->n - k) * sizeof *r->run);
    r->n += i + 1 - k;
    r->run[i] = add;
}

/* A node of a binary tree over the steps: node 1 covers all of them, nodes
 * 2 i and 2 i + 1 cover the two halves of node i. */
struct span {
    struct runs through; /* of buffers that live in all its steps, but not in
                            all those of the node above, */
    struct runs within;  /* and of all that live in some of them */
};

struct places {
    struct cr_arena *arena;
    struct span *span;
    int n_steps;                 /* a power of 2 */
    const struct runs *met[128]; /* by the buffer that is looked at */
    int n_met;
};

/* Collects what is occupied in the steps that v lives in. */
static void places_meet(struct places *p, const struct cr_pval *v, int node,
                        int first, int last)
{
    const struct span *s = &p->span[node];
    int middle = first + (last - first) / 2;

    if (last < v->first || v->last < first || s->within.n == 0)
        return;
    assert(p->n_met < 128);
    if (v->first <= first && last <= v->last) {
        p->met[p->n_met++] = &s->within;
        return;
    }
    if (s->through.n > 0)
        p->met[p->n_met++] = &s->through;
    places_meet(p, v, 2 * node, first, middle);
    places_meet(p, v, 2 * node + 1, middle + 1, last);
}

static void places_add(struct places *p, const struct cr_pval *v, int node,
                       int first, int last)
{
    struct run run = { v->offset, aligned(v->offset + v->bytes) };
    struct span *s = &p->span[node];
    int middle = first + (last - first) / 2;

    if (last < v->first || v->last < first)
        return;
    runs_add(p->arena, &s->within, run);
    if (v->first <= first && last <= v->last) {
        runs_add(p->arena, &s->through, run);
        return;
    }
    places_add(p, v, 2 * node, first, middle);
    places_add(p, v, 2 * node + 1, middle + 1, last);
}

/* The lowest place from `at` on where v meets none of these. */
static size_t runs_pass(const struct runs *r, const struct cr_pval *v,
                        size_t at)
{
    int i;

    for (i = runs_find(r, at); i < r->n && r->run[i].from < at + v->bytes; i++)
        at = r->run[i].to;
    return at;
}

static void place(struct places *p, struct cr_pval *v)
{
    size_t at = 0, from;
    int i;

    p->n_met = 0;
    places_meet(p, v, 1, 0, p->n_steps - 1);
    do {
        from = at;
        for (i = 0; i < p->n_met; i++)
            at = runs_pass(p->met[i], v, at);
    } while (at > from);
    v->offset = at;
    if (v->bytes > 0)
        places_add(p, v, 1, 0, p->n_steps - 1);
}

/* ---- by their size ---- */

static int by_size_and(int x, int y, const struct cr_pval *a,
                       const struct cr_pval *b)
{
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    return x != y ? (x < y ? -1 : 1) : a->id < b->id ? -1 : 1;
}

static int by_first(const void *a, const void *b)
{
    const struct cr_pval *x = *(struct cr_pval *const *)a,
                         *y = *(struct cr_pval *const *)b;

    return by_size_and(x->first, y->first, x, y);
}

static int by_last(const void *a, const void *b)
{
    const struct cr_pval *x = *(struct cr_pval *const *)a,
                         *y = *(struct cr_pval *const *)b;

    return by_size_and(x->last, y->last, x, y);
}

/* Places each buffer where one of its size has lain that lives no more, or
 * after all others. Returns the bytes of all. */
static size_t sizes_place(struct cr_pval **begin, int n, struct cr_arena *mem)
{
    struct cr_pval **end = CR_NEWS(mem, struct cr_pval *, n + 1);
    size_t *left = CR_NEWS(mem, size_t, n + 1), all = 0;
    int i, k = 0, n_left = 0;

    qsort(begin, (size_t)n, sizeof *begin, by_first);
    memcpy(end, begin, (size_t)n * sizeof *end);
    qsort(end, (size_t)n, sizeof *end, by_last);
    for (i = 0; i < n; i++) {
        if (i == 0 || begin[i]->bytes != begin[i - 1]->bytes) {
            n_left = 0;
            k = i;
        }
        /* what has ended has begun before, and so has its place */
        for (; end[k]->bytes == begin[i]->bytes &&
               end[k]->last < begin[i]->first;
             k++)
            left[n_left++] = end[k]->offset;
        if (n_left > 0) {
            begin[i]->offset = left[--n_left];
        } else {
            begin[i]->offset = all;
            all += aligned(begin[i]->bytes);
        }
    }
    return all;
}

/* ---- all of them ---- */

/* The same for buffers of all sizes together. */
static size_t lowest_place(struct cr_exec *e, struct cr_pval **buffers, int n,
                           struct cr_arena *mem)
{
    struct places places = { .arena = mem, .n_steps = 1 };
    size_t all = 0;
    int i;

    qsort(buffers, (size_t)n, sizeof *buffers, by_size);
    while (places.n_steps <= e->n_steps) /* some live beyond the last step */
        places.n_steps *= 2;
    places.span = CR_NEWS(mem, struct span, 2 * places.n_steps);
    for (i = 0; i < n; i++) {
        place(&places, buffers[i]);
        if (buffers[i]->offset + buffers[i]->bytes > all)
            all = buffers[i]->offset + buffers[i]->bytes;
    }
    return aligned(all);
}

/* Where other plans use the same memory, what is computed once has its own. */
bool cr_plan_is_own(const struct cr_exec *e, const struct cr_pval *v)
{
    return e->opts.in_turn && v->maker && v->maker->once && !v->alias &&
           v->first >= 0;
}

/* Each value its place, each step its operands' places: see run/exec.c. */
bool cr_plan_memory(struct cr_exec *e)
{
    struct cr_arena mem = { 0 };
    struct cr_pval **buffers = CR_NEWS(&mem, struct cr_pval *, e->n_vals + 1);
    struct cr_pval *v;
    size_t bytes;
    int n = 0;

    lives(e);
    for (v = e->vals; v; v = v->next)
        if (cr_plan_is_own(e, v)) {
            v->offset = e->own_bytes;
            e->own_bytes += aligned(v->bytes);
        } else if (v->feed < 0 && v->param < 0 && !v->alias && v->first >= 0) {
            buffers[n++] = v;
        }
    e->bytes = lowest_place(e, buffers, n, &mem);
    bytes = cr_thread_count() > 1 ? sizes_place(buffers, n, &mem) : SIZE_MAX;
    if (bytes <= e->bytes + SIZES_EXTRA)
        e->bytes = bytes;
    else if (bytes < SIZE_MAX)
        lowest_place(e, buffers, n, &mem);
    cr_arena_free(&mem);
    return true;
}

size_t cr_plan_live_bytes(const struct cr_exec *e)
{
    struct cr_arena mem = { 0 };
    size_t *begins = CR_NEWS(&mem, size_t, e->n_steps + 2), live = 0, most = 0;
    size_t *ends = CR_NEWS(&mem, size_t, e->n_steps + 2);
    const struct cr_pval *v;
    int i;

    for (v = e->vals; v; v = v->next)
        if (v->feed < 0 && v->param < 0 && !v->alias && v->first >= 0) {
            begins[v->first] += aligned(v->bytes);
            ends[v->last] += aligned(v->bytes);
        }
    for (i = 0; i <= e->n_steps; i++) {
        live += begins[i];
        most = live > most ? live : most;
        live -= ends[i];
    }
    cr_arena_free(&mem);
    return most;
}
