/*
 * Where buffers lie: values that do not live at the same time share memory.
 *
 * A buffer lives from the first step that touches it to the last one (to the
 * end, when it is read from outside). The largest is placed first, each at
 * the lowest offset that is free during its life.
 */
#include "net/plan.h"

#include <stdlib.h>

#define ALIGN 64

static void touch(struct cr_exec *e, int val, int step)
{
    struct cr_pval *v;

    if (val < 0)
        return;
    v = &e->vals[cr_plan_base(e, val)];
    if (v->first < 0)
        v->first = step;
    if (v->last < step)
        v->last = step;
}

static void lives(struct cr_exec *e)
{
    int i, k;

    for (i = 0; i < e->n_steps; i++) {
        const struct cr_pstep *s = &e->steps[i];

        for (k = 0; k < CR_OP_MAX; k++) {
            touch(e, s->x[k], i);
            /* computed once, it stays there while other batches go by */
            touch(e, s->y[k], s->once ? 0 : i);
            touch(e, s->dy[k], i);
            touch(e, s->dx[k], i);
            touch(e, s->mask[k], i);
        }
        touch(e, s->keep, i);
    }
    for (i = 0; i < e->n_vals; i++)
        if (e->vals[i].root || e->want.eager) {
            struct cr_pval *v = &e->vals[cr_plan_base(e, i)];

            v->last = e->n_steps;
            /* the loss's gradient is written before the first step back */
            if (e->vals[i].seed)
                v->first = 0;
        }
}

struct placed {
    struct cr_pval **v; /* in order of offset */
    int n;
};

static int by_size(const void *a, const void *b)
{
    const struct cr_pval *x = *(struct cr_pval *const *)a,
                         *y = *(struct cr_pval *const *)b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x < y ? -1 : 1;
}

static void place(struct placed *p, struct cr_pval *v)
{
    size_t at = 0;
    int i, k;

    for (i = 0; i < p->n; i++) {
        const struct cr_pval *o = p->v[i];

        if (o->last < v->first || v->last < o->first)
            continue;
        if (o->offset >= at + v->bytes)
            break; /* fits in front of this one */
        if (o->offset + o->bytes > at)
            at = (o->offset + o->bytes + ALIGN - 1) / ALIGN * ALIGN;
    }
    v->offset = at;
    for (i = 0; i < p->n && p->v[i]->offset <= at; i++)
        ;
    for (k = p->n; k > i; k--)
        p->v[k] = p->v[k - 1];
    p->v[i] = v;
    p->n++;
}

size_t cr_plan_layout(struct cr_exec *e)
{
    struct cr_pval **buffers =
        CR_NEWS(&e->arena, struct cr_pval *, e->n_vals + 1);
    struct placed placed = {
        .v = CR_NEWS(&e->arena, struct cr_pval *, e->n_vals + 1)
    };
    size_t total = 0;
    int i, n = 0;

    lives(e);
    for (i = 0; i < e->n_vals; i++) {
        struct cr_pval *v = &e->vals[i];

        if (v->feed >= 0 || v->param >= 0 || v->alias >= 0 || v->first < 0)
            continue;
        buffers[n++] = v;
    }
    qsort(buffers, (size_t)n, sizeof *buffers, by_size);
    for (i = 0; i < n; i++) {
        place(&placed, buffers[i]);
        if (buffers[i]->offset + buffers[i]->bytes > total)
            total = buffers[i]->offset + buffers[i]->bytes;
    }
    return (total + ALIGN - 1) / ALIGN * ALIGN;
}
