/*
 * Sums of gradients over the processes of a run, while the backward pass goes
 * on: each gradient is handed to MPI as soon as its last step has written it,
 * and waited for at the end of the pass, before the first update. Those that
 * the loss's steps write are waited for at the end of these, where they are
 * tested.
 *
 * A large gradient is summed where it lies. Small ones are collected in a
 * buffer first, since the time of a short message does not depend on its
 * length. The order is that of the steps, the same in all processes.
 *
 * Where processes see each other's memory, a large gradient is not sent: it
 * lies there, and they meet at the end of the pass, when all have their parts.
 * Who reads the gradient adds up what it reads (run/update.c).
 *
 * Of a table of which a few rows are updated, no gradient is summed: what
 * arrives at these rows is gathered (table_rows.c).
 *
 * With train.shard: gradients, the wait for one sum is before the step that
 * writes the next gradient, so that the update frees its memory first.
 *
 * What is rounded to low precision in one process is the sum of all parts. If
 * that is the gradient of a parameter, as a whole, the wait rounds it. Where it
 * is something in between, or one of several gradients that are added up, a
 * step adds up the parts at once; process 0 has the sum then, the others 0.
 *
 * Where gradients are accumulated over micro-batches, their sums are added up
 * instead, after the last one (cr_exec_sum_accumulated), unless one is rounded:
 * in one process that happens in each micro-batch.
 */
#include "plan/plan.h"

#include "mpi/mpi.h"
#include "num/low_precision.h"

#include <stdlib.h>
#include <string.h>

#define BUCKET_BYTES ((size_t)1 << 18) /* of small gradients together */
#define SMALL_BYTES ((size_t)1 << 15)  /* of one of them */
#define BUCKET_MAX (CR_OP_MAX - 1)     /* gradients in one */

struct bucket {
    int slot;
    int n;
    int64_t count[BUCKET_MAX];    /* elements */
    enum cr_type low[BUCKET_MAX]; /* what a gradient is rounded to; CR_REAL */
    int64_t all;
    enum cr_mpi_type type; /* of what is sent */
};

/* ---- the steps ---- */

static void sum_start(const struct cr_op_ctx *s)
{
    const struct bucket *b = s->attr;
    cr_real *to = s->y[0];

    for (int i = 0; i < b->n && b->n > 1; to += b->count[i++])
        memcpy(to, s->x[i], (size_t)b->count[i] * sizeof *to);
    cr_mpi_sum_start(b->slot, s->y[0], b->all, b->type);
}

static void sum_wait(const struct cr_op_ctx *s)
{
    const struct bucket *b = s->attr;
    const cr_real *from = s->x[0];

    cr_mpi_sum_wait(b->slot);
    for (int i = 0; i < b->n; from += b->count[i++])
        if (b->low[i] != CR_REAL)
            cr_round_to_type(b->low[i], b->count[i], from, s->y[i]);
        else if (b->n > 1)
            memcpy(s->y[i], from, (size_t)b->count[i] * sizeof *from);
}

/* dx = the sum of all dy, rounded, in process 0; 0 in the others */
struct sum_first {
    enum cr_type low;
    enum cr_mpi_type type;
};

static void sum_first(const struct cr_op_ctx *s)
{
    const struct sum_first *o = s->attr;
    int64_t i, n = cr_count(&s->in[0]);
    cr_real *dx = s->dx[0], *sum = s->accumulate[0] ? s->scratch : dx;

    if (sum != s->dy[0])
        memcpy(sum, s->dy[0], (size_t)n * sizeof *sum);
    cr_mpi_sum(sum, n, o->type);
    if (cr_mpi_rank() == 0)
        cr_round_to_type(o->low, n, sum, sum);
    else
        memset(sum, 0, (size_t)n * sizeof *sum);
    for (i = 0; i < n && sum != dx; i++)
        dx[i] += sum[i];
}

static const struct cr_op op_first = {
    .about = { .name = "all_reduce_cast",
               .summary = "Sums up a gradient of all processes, and rounds it.",
               .internal = true },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .backward = sum_first,
};

static const struct cr_op op_start = {
    .about = { .name = "all_reduce",
               .summary = "Begins to sum up gradients of all processes.",
               .internal = true },
    .min_inputs = 1,
    .max_inputs = BUCKET_MAX,
    .outputs = 1,
    .forward = sum_start,
};

static const struct cr_op op_wait = {
    .about = { .name = "all_reduce_wait",
               .summary = "Waits for a sum of gradients.",
               .internal = true },
    .min_inputs = 1,
    .max_inputs = CR_OP_MAX,
    .outputs = BUCKET_MAX,
    .forward = sum_wait,
};

static void meet(const struct cr_op_ctx *s)
{
    const int *n = s->attr;
    int64_t count[CR_OP_MAX];

    for (int i = 0; i < *n; i++)
        count[i] = cr_count(&s->in[i]);
    cr_mpi_parts_sum(*n, s->y, count);
}

static const struct cr_op op_meet = {
    .about = { .name = "all_meet",
               .summary = "Waits for the parts of gradients of all processes.",
               .internal = true },
    .min_inputs = 1,
    .max_inputs = CR_OP_MAX,
    .outputs = CR_OP_MAX,
    .forward = meet,
};

/* ---- the pass ---- */

enum cr_mpi_type cr_plan_sum_type(const struct cr_net *net)
{
    return net->reduce_bf16                   ? CR_MPI_BF16
           : sizeof(cr_real) == sizeof(float) ? CR_MPI_FLOAT
                                              : CR_MPI_DOUBLE;
}

/* The gradient of a parameter, and the step that writes it last. */
struct grad {
    struct cr_pval *param;
    struct cr_exec_step *writer;
    enum cr_type low; /* what the sum is rounded to; CR_REAL */
    bool rows;        /* rows of a table, which the writer updates */
};

struct pass {
    struct cr_exec *e;
    int n_buckets;
    struct cr_exec_step *waits[CR_MPI_STARTED]; /* by slot */
    struct cr_exec_step *open; /* the last wait, at the end; NULL */
    int open_slot;
    struct cr_exec_step *loss; /* the end of the loss's steps, and of the waits
                                  that follow them; NULL: none */
    int loss_at;
    struct cr_exec_step *started; /* the last start; NULL */
    int started_at;               /* number of the step that it follows */
    struct grad part[BUCKET_MAX]; /* in memory that others see */
    int n_part;
    struct grad small[BUCKET_MAX];
    int n_small;
    size_t bytes;
};

static struct cr_exec_step *writer_of(const struct cr_pval *g)
{
    while (g && !g->maker)
        g = g->alias;
    return g ? g->maker : NULL;
}

void cr_plan_sum_first(struct cr_exec *e, struct cr_exec_step *cast,
                       enum cr_type type)
{
    struct sum_first *o = CR_NEW(&e->arena, struct sum_first);

    o->low = type;
    o->type = cr_plan_sum_type(e->net);
    cast->op = &op_first;
    cast->attr = o;
    cast->scratch = cr_bytes(&cast->dy[0].val->spec);
}

/* A gradient that one step sums up and rounds: the step goes, the bucket's
 * steps do that. */
static enum cr_type take_cast(struct cr_exec *e, struct grad *g)
{
    struct cr_exec_step *w = g->writer;
    const struct sum_first *o = w->attr;
    struct cr_pval *to = g->param->grad, *from;

    if (w->kind != CR_BACKWARD)
        return CR_REAL;
    from = w->dy[0].val;
    if (w->op != &op_first || w->acc[0].val || to->n_uses > 0 ||
        from->n_uses > 1 || !writer_of(from))
        return CR_REAL;
    from->root = from->root || to->root;
    to->maker = NULL;
    cr_step_remove(e, w);
    g->param->grad = from;
    g->writer = writer_of(from);
    return o->low;
}

static struct cr_exec_step *sum_step(struct cr_exec *e, const struct cr_op *op,
                                     const void *attr, int n_in, int n_out)
{
    struct cr_exec_step *s = cr_step_new(e, CR_FORWARD, op, n_in, n_out);

    s->attr = attr;
    s->in = CR_NEWS(&e->arena, struct cr_spec, n_in + 1);
    s->out = CR_NEWS(&e->arena, struct cr_spec, n_out + 1);
    s->training = true;
    return s;
}

static void reads(struct cr_exec_step *s, int i, struct cr_pval *val)
{
    cr_operand_set(&s->x[i], val);
    s->in[i] = val->spec;
}

/* Output i of the step: another value in the memory of `of`, or a new one. */
static struct cr_pval *writes(struct cr_exec *e, struct cr_exec_step *s, int i,
                              struct cr_pval *of, const struct cr_spec *spec)
{
    struct cr_pval *y = cr_pval_new(e, spec);

    y->maker = s;
    y->alias = of;
    y->root = of && of->root;
    s->y[i] = y;
    s->out[i] = *spec;
    return y;
}

static bool is_of_loss(const struct pass *p, const struct cr_exec_step *writer)
{
    return p->loss && writer->at <= p->loss_at;
}

static void loss_find(struct pass *p)
{
    struct cr_exec_step *s;

    for (s = p->e->last_forward; s; s = s->next)
        if (s->node && s->node->loss && s != p->e->last_forward)
            p->loss = s;
    p->loss_at = p->loss ? p->loss->at : 0;
}

/* The wait of a sum that begins at `start`: at the end. */
static void wait_put(struct pass *p, struct cr_exec_step *start,
                     struct cr_exec_step *wait, bool of_loss, int slot)
{
    struct cr_exec *e = p->e;

    cr_step_append(e, wait);
    p->waits[slot] = p->open = wait;
    p->open_slot = slot;
    if (!of_loss)
        return;
    p->open = NULL;
    wait->node = p->loss->node;
    if (e->net->shard_gradients || start->prev == p->loss)
        p->loss = start;
    cr_step_after(e, wait, p->loss);
    p->loss = wait;
}

/* Sums up n gradients, after the step `after`, which writes the last one. */
static void bucket_add(struct pass *p, const struct grad *g, int n,
                       struct cr_exec_step *after)
{
    struct cr_exec *e = p->e;
    struct bucket *b = CR_NEW(&e->arena, struct bucket);
    struct cr_exec_step *start, *wait;
    struct cr_spec flat = { .type = CR_REAL, .rank = 1 };
    struct cr_pval *sum;
    bool of_loss = is_of_loss(p, after);
    int i;

    /* of those that shard gradients, one is under way, with the memory of its
     * slot */
    b->slot = e->net->shard_gradients ? 0 : p->n_buckets++ % CR_MPI_STARTED;
    b->n = n;
    b->type = cr_plan_sum_type(e->net);
    for (i = 0; i < n; i++) {
        b->all += b->count[i] = cr_count(&g[i].param->spec);
        b->low[i] = g[i].low;
    }
    flat.dim[0] = b->all;
    start = sum_step(e, &op_start, b, n, 1);
    wait = sum_step(e, &op_wait, b, n > 1 ? n + 1 : 1, n);
    for (i = 0; i < n; i++)
        reads(start, i, g[i].param->grad);
    sum = n > 1 ? writes(e, start, 0, NULL, &flat)
                : writes(e, start, 0, g->param->grad, &g->param->grad->spec);
    reads(wait, 0, sum);
    for (i = 0; i < n; i++) {
        struct cr_pval *one = n > 1 ? g[i].param->grad : sum;

        if (n > 1)
            reads(wait, i + 1, one);
        g[i].param->grad = writes(e, wait, i, one, &one->spec);
    }
    /* A step may write the gradients of several buckets, and the last small
     * one may be written before a large one: starts stay in order, and a wait
     * follows its start. */
    if (p->started && after->at <= p->started_at)
        after = p->started;
    else
        p->started_at = after->at;
    if (e->net->shard_gradients && p->open) {
        cr_step_after(e, p->open, after);
        after = p->open;
        p->waits[p->open_slot] = NULL;
    } else if (p->waits[b->slot]) { /* more are under way than slots */
        cr_step_after(e, p->waits[b->slot], after);
        after = p->waits[b->slot];
    }
    cr_step_after(e, start, after);
    p->started = start;
    wait_put(p, start, wait, of_loss, b->slot);
}

static void small_flush(struct pass *p)
{
    if (p->n_small > 0)
        bucket_add(p, p->small, p->n_small, p->small[p->n_small - 1].writer);
    p->n_small = 0;
    p->bytes = 0;
}

/* Whether the gradient lies in memory that others see: its readers, those of
 * run/update.c alone, take it in parts. */
static bool is_part(const struct pass *p, const struct grad *g)
{
    const struct cr_net *net = p->e->net;
    const struct cr_pval *base = cr_pval_base(g->param->grad);

    return net->parts && net->parts[g->param->param] && !net->reduce_bf16 &&
           !net->accumulated && !is_of_loss(p, g->writer) && !base->root &&
           !base->home && base->spec.type == CR_REAL &&
           base->bytes == g->param->bytes &&
           (!p->e->opts.separate_update || p->e->opts.private_gradients);
}

static void part_flush(struct pass *p)
{
    int i, *n = CR_NEW(&p->e->arena, int);
    struct cr_exec_step *s = sum_step(p->e, &op_meet, n, p->n_part, p->n_part);

    *n = p->n_part;
    for (i = 0; i < p->n_part; i++) {
        struct cr_pval **g = &p->part[i].param->grad;

        reads(s, i, *g);
        *g = writes(p->e, s, i, *g, &(*g)->spec);
        (*g)->low = p->part[i].low;
    }
    if (p->n_part > 0)
        cr_step_append(p->e, s);
    p->e->parts = p->e->parts || p->n_part > 0;
    p->n_part = 0;
}

static void grad_add(struct pass *p, const struct grad *g)
{
    size_t bytes = cr_bytes(&g->param->spec);

    if (g->rows) {
        cr_plan_take_rows_of_all(p->e, g->writer);
        return;
    }
    if (is_part(p, g)) {
        cr_pval_base(g->param->grad)->home = p->e->net->parts[g->param->param];
        p->part[p->n_part++] = *g;
        if (p->n_part == BUCKET_MAX)
            part_flush(p);
        return;
    }
    if (bytes > SMALL_BYTES) {
        if (p->e->net->shard_gradients)
            small_flush(p); /* in the order of the steps */
        bucket_add(p, g, 1, g->writer);
        return;
    }
    p->small[p->n_small++] = *g;
    p->bytes += bytes;
    if (p->n_small == BUCKET_MAX || p->bytes > BUCKET_BYTES)
        small_flush(p);
}

static int by_writer(const void *a, const void *b)
{
    const struct grad *x = a, *y = b;

    if (x->writer != y->writer)
        return x->writer->at < y->writer->at ? -1 : 1;
    return x->param->param < y->param->param ? -1 : 1;
}

/* Sums are matched by their order alone: it must be that of the others, as must
 * be what is sent. */
static bool is_of_all(const struct pass *p, const struct grad *grads, int n)
{
    const struct cr_exec *e = p->e;
    int64_t hash = n, say[2];

    for (int i = 0; i < n; i++) {
        hash = (hash * 1000003 + grads[i].param->param) % 1000000007;
        hash = hash * 64 + (int64_t)grads[i].low * 4 + grads[i].rows * 2 +
               is_part(p, &grads[i]);
    }
    say[0] = hash;
    say[1] = -hash;
    cr_mpi_max(say, 2);
    return say[0] == -say[1] ||
           cr_error(e->net->diag, CR_NOWHERE, CR_E_CONFLICT,
                    "the processes of mpirun have different plans: found other "
                    "orders of gradients, expected the same config, settings "
                    "and kind of processor for all");
}

bool cr_plan_collectives(struct cr_exec *e)
{
    struct pass p = { .e = e };
    struct grad *grads;
    const struct cr_val *v;
    struct cr_exec_step **read;
    bool low = false;
    int i, n = 0;

    if (!e->split || !e->opts.update || !e->last)
        return true;
    grads = CR_NEWS(&e->arena, struct grad, e->net->n_params + 1);
    for (v = e->graph->vals; v; v = v->next) {
        struct cr_pval *val = e->of[v->id];

        if (v->param < 0 || !e->net->params[v->param].trained || !val->grad)
            continue;
        grads[n].writer = writer_of(val->grad);
        grads[n].param = val;
        if (!grads[n].writer)
            continue;
        grads[n].low = take_cast(e, &grads[n]);
        low = low || grads[n].low != CR_REAL;
        n++;
    }
    cr_steps_number(e);
    qsort(grads, (size_t)n, sizeof *grads, by_writer);
    loss_find(&p);
    read = cr_plan_last_reads(e);
    for (i = 0; i < n; i++)
        grads[i].rows =
            grads[i].low == CR_REAL &&
            cr_plan_takes_rows_of_all(e, grads[i].param,
                                      read[grads[i].param->param], p.loss);
    if (!is_of_all(&p, grads, n))
        return false;
    if (e->net->accumulated && !low)
        return true; /* sums over micro-batches: once per update */
    e->summed = true;
    for (i = 0; i < n; i++) {
        if (i > 0 && is_of_loss(&p, grads[i - 1].writer) &&
            !is_of_loss(&p, grads[i].writer)) {
            small_flush(&p);
            memset(p.waits, 0, sizeof p.waits);
        }
        grad_add(&p, &grads[i]);
    }
    small_flush(&p);
    part_flush(&p);
    return true;
}
