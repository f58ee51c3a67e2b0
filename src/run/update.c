/*
 * Updates: gradients, optimizer slots, moving means.
 *
 * A rule is elementwise: threads get ranges of a parameter. Rules that need
 * to know a parameter as a whole (Lamb, LARS) have it measured first, in
 * blocks of a fixed size whose sums are added in order, and so is the norm of
 * all gradients: the same bytes for any number of threads.
 */
#include "base/compiler.h"
#include "base/str.h"
#include "base/thread_pool.h"
#include "families/row_gradient.h"
#include "kernels/parallel_for.h"
#include "mpi/mpi.h"
#include "num/low_precision.h"
#include "run/run.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

CR_O3

#define UPDATE_GRAIN 8192 /* elements below which threads do not pay */
#define UPDATE_BLOCK 8192  /* elements of one sum */
#define UPDATE_STRETCH 1024 /* elements that are widened at a time */

/* ---- a gradient ---- */

/* One that is not float32, and all there, is read a stretch at a time. */
struct gradient {
    const cr_real *all;    /* NULL: */
    const uint16_t *bits;  /* two bytes per element, of that type; */
    const cr_real *part;   /* or parts of a sum, which is rounded to it */
    enum cr_type low;
    int64_t n;
};

/* As the backward pass has left it. */
static struct gradient gradient_left(const struct cr_exec_step *s)
{
    const struct cr_pval *v = s->dy[0].val;

    if (v && cr_pval_base(s->dy[0].val)->home)
        return (struct gradient){ .part = s->run->dy[0],
                                  .low = v->low,
                                  .n = cr_count(&v->spec) };
    if (v && v->spec.type != CR_REAL)
        return (struct gradient){ .bits = s->run->dy[0], .low = v->spec.type };
    return (struct gradient){ .all = s->run->dy[0] };
}

/* That of an update. */
static struct gradient gradient_of(const struct cr_exec *e,
                                   const struct cr_exec_step *s)
{
    return e->net->accumulated
               ? (struct gradient){ .all = e->net->accumulated[s->param] }
               : gradient_left(s);
}

/* Elements from `from` on, n of them, perhaps in `room`. */
static const cr_real *gradient_read(const struct gradient *g, int64_t from,
                                    int64_t n, cr_real *room)
{
    const cr_real *x = g->all ? g->all + from : room;

    if (g->bits)
        cr_widen(g->low, n, g->bits + from, room);
    if (!g->part)
        return x;
    x = cr_mpi_parts_read(g->part, g->n, from, n, room);
    if (g->low == CR_REAL)
        return x;
    cr_round_to_type(g->low, n, x, room);
    return room;
}

/* ---- one parameter ---- */

struct update {
    const struct cr_update_rule *rule;
    struct cr_update u;
    struct gradient g;
    double *sums; /* rule->sums of each block */
    int64_t width; /* elements of a row */
    int64_t begin, end; /* elements that this process updates: shard.c */
};

/* The range of it that begins at `from`. */
static struct cr_update update_range(const struct update *all, int64_t from,
                                     int64_t to)
{
    struct cr_update u = all->u;

    u.n = to - from;
    u.w += from;
    u.g = u.g ? u.g + from : NULL;
    for (int k = 0; k < all->rule->slots; k++)
        if (!(all->rule->scalars & 1u << k))
            u.slot[k] += from - all->begin;
    return u;
}

/* The update of a range, a stretch at a time where the gradient does not lie
 * in one piece. */
static void update_stretches(const struct update *all, int64_t from, int64_t to)
{
    cr_real room[UPDATE_STRETCH];
    struct cr_update u;
    int64_t end;

    if (all->g.all) {
        u = update_range(all, from, to);
        all->rule->update(&u);
        return;
    }
    for (; from < to; from = end) {
        end = from + UPDATE_STRETCH < to ? from + UPDATE_STRETCH : to;
        u = update_range(all, from, end);
        u.g = gradient_read(&all->g, from, end - from, room);
        all->rule->update(&u);
    }
}

static void update_part(void *ctx, int task, int n_tasks)
{
    const struct update *all = ctx;
    int64_t blocks = (all->end - all->begin + 15) / 16;
    int64_t from, to;
    struct cr_range range;

    cr_range_split(&range, task, n_tasks, blocks, UPDATE_GRAIN / 16);
    while (cr_range_next(&range, &from, &to)) {
        to = all->begin + to * 16;
        update_stretches(all, all->begin + from * 16,
                         to < all->end ? to : all->end);
    }
}

/* ---- by rows: those without a gradient stay as they are ---- */

static void update_row(void *ctx, int64_t at, int64_t row,
                       const cr_real *gradient)
{
    const struct update *all = ctx;
    struct cr_update u =
        update_range(all, row * all->width, (row + 1) * all->width);
    int64_t i = 0;

    (void)at;
    while (i < u.n && gradient[i] == 0)
        i++;
    u.g = gradient;
    if (i < u.n)
        all->rule->update(&u);
}

static void update_rows(void *ctx, int64_t from, int64_t to)
{
    const struct update *all = ctx;

    for (; from < to; from++)
        update_row(ctx, from, from, all->u.g + from * all->width);
}

/* Of a step that has the backward pass of a gather in it, from what it
 * gathers. Processes that share the table update some rows each: rows that
 * many samples read may be neighbours. */
static void update_gathered(const struct cr_net *net,
                            const struct cr_exec_step *s, struct update *all)
{
    bool shared = net->parts && net->parts[s->param];
    struct cr_row_gradient g = cr_row_gradient_of(
        s->run, shared ? cr_mpi_rank() : 0, shared ? cr_mpi_size() : 1);

    all->begin = 0;
    all->u.g = NULL;
    cr_row_gradient_each(&g, all, update_row);
}

static void update_measure(void *ctx, int64_t from, int64_t to)
{
    const struct update *all = ctx;
    cr_real room[UPDATE_BLOCK];

    for (int64_t b = from; b < to; b++) {
        int64_t end = (b + 1) * UPDATE_BLOCK;
        struct cr_update u = update_range(all, b * UPDATE_BLOCK,
                                          end < all->u.n ? end : all->u.n);

        u.g = gradient_read(&all->g, b * UPDATE_BLOCK, u.n, room);
        all->rule->reduce(&u, all->sums + b * all->rule->sums);
    }
}

/* The number of the update that the present forward pass belongs to. */
static int64_t update_number(const struct cr_exec *e)
{
    return (e->t - 1) / (e->net->grad_accum > 1 ? e->net->grad_accum : 1) + 1 -
           e->net->skipped;
}

double cr_exec_rate(const struct cr_exec *e, int param, double lr)
{
    double own = e->net->hyper[param].lr;

    return isnan(own) ? lr : own;
}

void cr_exec_update_step(struct cr_exec *e, const struct cr_exec_step *s,
                    double scale, double lr)
{
    const struct cr_net *net = e->net;
    const struct cr_update_rule *rule = net->rule;
    const struct cr_param *p = &net->params[s->param];
    const struct cr_hyper *h = &net->hyper[s->param];
    struct update all = {
        .rule = rule,
        .sums = net->sums,
        .g = gradient_of(e, s),
        .u = { .opts = rule->opts,
               .n = cr_count(&p->spec),
               .w = p->data,
               .g = gradient_of(e, s).all,
               .lr = cr_exec_rate(e, s->param, lr),
               .weight_decay = h->weight_decay,
               .scale = scale,
               .excluded = h->excluded,
               .t = update_number(e) },
    };
    int first = net->slot_of[s->param];
    int64_t blocks = (all.u.n + UPDATE_BLOCK - 1) / UPDATE_BLOCK;

    for (int k = 0; k < rule->slots; k++)
        all.u.slot[k] = net->slots[first + k].data;
    if (rule->reduce) {
        cr_parallel_for_coarse(blocks, UPDATE_BLOCK, &all, update_measure);
        for (int64_t b = 0; b < blocks; b++)
            for (int k = 0; k < rule->sums; k++)
                all.u.sum[k] += all.sums[b * rule->sums + k];
    }
    cr_shard_range(net, s->param, cr_mpi_rank(), &all.begin, &all.end);
    all.width = p->spec.rank > 0 ? all.u.n / p->spec.dim[0] : all.u.n;
    if (s->op)
        update_gathered(net, s, &all);
    else if (rule->rows && p->rows)
        cr_parallel_for_coarse(p->spec.dim[0], (double)all.width, &all,
                               update_rows);
    else
        cr_parallel_run(update_part, &all,
                        all.end - all.begin < UPDATE_GRAIN
                            ? 1
                            : cr_thread_count());
    if (rule->finish)
        rule->finish(&all.u);
    if (!s->op)
        cr_shard_gather_param(net, s->param);
}

/* ---- all of them ---- */

void cr_exec_updated(struct cr_exec *e)
{
    cr_mpi_meet();
    e->net->parts_read = false;
}

void cr_exec_update(struct cr_exec *e, double scale, double lr)
{
    if (e->net->parts)
        cr_mpi_meet(); /* none reads a parameter any more */
    for (int i = e->n_backward; i < e->n_steps; i++)
        cr_exec_update_step(e, e->steps[i], scale, lr);
    if (e->net->parts)
        cr_exec_updated(e);
}

struct update_pass {
    cr_real *to;
    const cr_real *from;
    struct gradient g;
    double *sums;
    int64_t n;
    cr_real low, high, decay;
    bool first;
};

/* In sixteen lanes whatever the processor has: one result everywhere. */
CR_CLONES static double update_squares(const cr_real *x, int64_t n)
{
    double lane[16] = { 0 }, sum = 0;
    int64_t i = 0;

    for (; i + 16 <= n; i += 16)
        for (int k = 0; k < 16; k++)
            lane[k] += (double)x[i + k] * (double)x[i + k];
    for (; i < n; i++)
        lane[i % 16] += (double)x[i] * (double)x[i];
    for (int k = 0; k < 16; k++)
        sum += lane[k];
    return sum;
}

static void update_norm(void *ctx, int64_t from, int64_t to)
{
    const struct update_pass *p = ctx;
    cr_real room[UPDATE_BLOCK];

    for (int64_t b = from; b < to; b++) {
        int64_t at = b * UPDATE_BLOCK, n = p->n - at;

        n = n < UPDATE_BLOCK ? n : UPDATE_BLOCK;
        p->sums[b] = update_squares(gradient_read(&p->g, at, n, room), n);
    }
}

/* The sum of the squares of a parameter's gradient. */
static double update_sum(struct cr_exec *e, const struct cr_exec_step *s)
{
    struct update_pass p = {
        .g = gradient_of(e, s),
        .sums = e->net->sums,
        .n = cr_count(&e->net->params[s->param].spec),
    };
    int64_t blocks = (p.n + UPDATE_BLOCK - 1) / UPDATE_BLOCK;
    double sum = 0;

    if (s->op) {
        struct cr_row_gradient rows = cr_row_gradient_of(s->run, 0, 1);

        return cr_row_gradient_squares(&rows);
    }
    cr_parallel_for_coarse(blocks, UPDATE_BLOCK / 4, &p, update_norm);
    for (int64_t b = 0; b < blocks; b++)
        sum += p.sums[b];
    return sum;
}

double cr_exec_norm(struct cr_exec *e)
{
    double sum = 0;

    for (int i = e->n_backward; i < e->n_steps; i++)
        sum += update_sum(e, e->steps[i]);
    return sqrt(sum);
}

struct update_finite {
    struct gradient g;
    atomic_bool bad;
};

static void update_look(void *ctx, int64_t from, int64_t to)
{
    struct update_finite *p = ctx;
    cr_real room[UPDATE_STRETCH];
    int64_t n;

    if (p->g.all || p->g.bits) {
        if (!cr_all_finite(p->g.all ? CR_REAL : p->g.low,
                           p->g.all ? (const void *)(p->g.all + from)
                                    : (const void *)(p->g.bits + from),
                           to - from))
            p->bad = true;
        return;
    }
    for (; from < to; from += n) {
        n = to - from < UPDATE_STRETCH ? to - from : UPDATE_STRETCH;
        if (!cr_all_finite(CR_REAL, gradient_read(&p->g, from, n, room), n))
            p->bad = true;
    }
}

bool cr_exec_gradients_finite(struct cr_exec *e)
{
    bool finite = true;

    for (int i = e->n_backward; i < e->n_steps && finite; i++) {
        const struct cr_exec_step *s = e->steps[i];
        struct update_finite p = { .g = gradient_of(e, s) };

        if (s->op) {
            struct cr_row_gradient rows = cr_row_gradient_of(s->run, 0, 1);

            finite = cr_row_gradient_finite(&rows);
            continue;
        }
        cr_parallel_for(cr_count(&e->net->params[s->param].spec), 0.1, &p,
                        update_look);
        finite = !p.bad;
    }
    return finite;
}

CR_CLONES static void update_bound(void *ctx, int64_t from, int64_t to)
{
    const struct update_pass *p = ctx;
    cr_real *g = p->to, low = p->low, high = p->high;

    CR_SIMD
    for (int64_t i = from; i < to; i++) {
        cr_real v = g[i] < low ? low : g[i];

        g[i] = v > high ? high : v;
    }
}

void cr_exec_clip_value(struct cr_exec *e, double low, double high)
{
    for (int i = e->n_backward; i < e->n_steps; i++) {
        const struct cr_exec_step *s = e->steps[i];
        struct update_pass p = {
            .to = (cr_real *)(uintptr_t)gradient_of(e, s).all,
            .low = (cr_real)low,
            .high = (cr_real)high,
        };

        cr_parallel_for(cr_count(&e->net->params[s->param].spec), 0.5, &p,
                        update_bound);
    }
}

CR_CLONES static void update_shorten(void *ctx, int64_t from, int64_t to)
{
    const struct update_pass *p = ctx;
    cr_real *g = p->to, scale = p->high;

    CR_SIMD
    for (int64_t i = from; i < to; i++)
        g[i] *= scale;
}

/* MindSpore's nn.ClipByNorm: g norm / max(|g|, norm), tensor by tensor. */
void cr_exec_clip_per_param(struct cr_exec *e, double norm)
{
    for (int i = e->n_backward; i < e->n_steps; i++) {
        const struct cr_exec_step *s = e->steps[i];
        int64_t n = cr_count(&e->net->params[s->param].spec);
        double own = sqrt(update_sum(e, s));
        struct update_pass p = {
            .to = (cr_real *)(uintptr_t)gradient_of(e, s).all,
            .high = (cr_real)(norm / own),
        };

        if (own > norm)
            cr_parallel_for(n, 0.5, &p, update_shorten);
    }
}

struct update_noise {
    cr_real *g;
    struct cr_rng rng;
    double scale, deviation;
};

static void update_noise(void *ctx, int64_t from, int64_t to)
{
    const struct update_noise *p = ctx;

    for (int64_t i = from; i < to; i++)
        p->g[i] = (cr_real)((double)p->g[i] * p->scale +
                            p->deviation *
                                cr_rng_normal(&p->rng, (uint64_t)i));
}

void cr_exec_noise(struct cr_exec *e, double scale, double deviation,
                   int64_t update)
{
    for (int i = e->n_backward; i < e->n_steps; i++) {
        const struct cr_exec_step *s = e->steps[i];
        const struct cr_param *param = &e->net->params[s->param];
        struct update_noise p = {
            .g = (cr_real *)(uintptr_t)gradient_of(e, s).all,
            .rng = cr_rng(e->net->opts.seed, CR_STREAM_NOISE,
                          cr_hash(CR_HASH, param->name, strlen(param->name)),
                          (uint64_t)update),
            .scale = scale,
            .deviation = deviation,
        };

        cr_parallel_for(cr_count(&param->spec), 60, &p, update_noise);
    }
}

/* ---- micro-batches ---- */

/* Elements of a parameter in the block of all sums, in whole cache lines. */
static int64_t accumulated_room(const struct cr_param *p)
{
    return (cr_count(&p->spec) + 15) / 16 * 16;
}

void cr_net_grad_accum(struct cr_net *net, int64_t micro_batches)
{
    cr_real *to;

    net->grad_accum = micro_batches;
    if (micro_batches < 2 || net->opts.no_values)
        return;
    net->accumulated = CR_NEWS(net->arena, cr_real *, net->n_params + 1);
    for (int i = 0; i < net->n_params; i++)
        if (net->params[i].trained || net->params[i].unfrozen_later)
            net->n_accumulated += accumulated_room(&net->params[i]);
    net->all_accumulated = to = CR_NEWS(net->arena, cr_real,
                                        net->n_accumulated + 1);
    for (int i = 0; i < net->n_params; i++)
        if (net->params[i].trained || net->params[i].unfrozen_later) {
            net->accumulated[i] = to;
            to += accumulated_room(&net->params[i]);
        }
}

CR_CLONES static void update_add(void *ctx, int64_t from, int64_t to)
{
    const struct update_pass *p = ctx;
    cr_real *sum = p->to, room[UPDATE_STRETCH];
    const cr_real *g = p->g.all;

    for (int64_t i = from, n; !g && i < to; i += n) {
        const cr_real *x;

        n = to - i < UPDATE_STRETCH ? to - i : UPDATE_STRETCH;
        x = gradient_read(&p->g, i, n, room);
        CR_SIMD
        for (int64_t k = 0; k < n; k++)
            sum[i + k] = p->first ? x[k] : sum[i + k] + x[k];
    }
    if (!g)
        return;
    if (p->first) {
        memcpy(sum + from, g + from, (size_t)(to - from) * sizeof *g);
        return;
    }
    CR_SIMD
    for (int64_t i = from; i < to; i++)
        sum[i] += g[i];
}

void cr_exec_accumulate(struct cr_exec *e)
{
    bool first;

    if (!e->net->accumulated)
        return;
    first = (e->t - 1) % e->net->grad_accum == 0;
    /* what each process has as a whole counts once */
    if ((!e->split || e->summed) && cr_mpi_rank() > 0) {
        if (first)
            memset(e->net->all_accumulated, 0,
                   (size_t)e->net->n_accumulated * sizeof(cr_real));
        return;
    }
    for (int i = e->n_backward; i < e->n_steps; i++) {
        const struct cr_exec_step *s = e->steps[i];
        struct update_pass p = {
            .to = e->net->accumulated[s->param],
            .g = gradient_left(s),
            .first = first,
        };

        cr_parallel_for(cr_count(&e->net->params[s->param].spec), 0.5, &p,
                        update_add);
    }
}

void cr_exec_sum_accumulated(struct cr_exec *e)
{
    if (e->net->accumulated)
        cr_mpi_sum(e->net->all_accumulated, e->net->n_accumulated,
                   cr_plan_sum_type(e->net));
}

void cr_net_reduce_bf16(struct cr_net *net, bool bf16)
{
    net->reduce_bf16 = bf16;
}

/* ---- optimizer state ---- */

void cr_net_set_rule(struct cr_net *net, const struct cr_update_rule *rule)
{
    int i, k, sums = rule->sums > 0 ? rule->sums : 1;
    int64_t most = 0;

    net->rule = rule;
    net->slot_of = CR_NEWS(net->arena, int, net->n_params + 1);
    net->slots =
        CR_NEWS(net->arena, struct cr_tensor, net->n_params * rule->slots + 1);
    net->slot_is_part =
        CR_NEWS(net->arena, bool, net->n_params * rule->slots + 1);
    net->slot_parts =
        CR_NEWS(net->arena, cr_real *, net->n_params * rule->slots + 1);
    net->shard_at = CR_NEWS(net->arena, size_t, cr_mpi_size() + 1);
    net->n_slots = 0;
    for (i = 0; i < net->n_params; i++) {
        const struct cr_param *p = &net->params[i];
        int64_t count = cr_count(&p->spec);

        net->slot_of[i] = net->n_slots;
        if (!p->trained && !p->unfrozen_later)
            continue;
        most = count > most ? count : most;
        for (k = 0; k < rule->slots; k++) {
            bool scalar = rule->scalars & 1u << k;
            int64_t j, n = scalar ? 1 : cr_shard_count(net, i);
            cr_real *data =
                net->opts.no_values ? NULL : CR_NEWS(net->arena, cr_real, n);

            for (j = 0; data && j < n; j++)
                data[j] = (cr_real)rule->slot_init[k];
            net->slot_is_part[net->n_slots] = !scalar && n < count;
            net->slots[net->n_slots++] =
                (struct cr_tensor){ cr_strf(net->arena,
                                            scalar ? "%s%s" : "%s.%s",
                                            rule->slot_names[k], p->name),
                                    scalar ? CR_SCALAR : p->spec, data };
        }
    }
    net->sums = CR_NEWS(net->arena, double, (most / UPDATE_BLOCK + 1) * sums);
}

const struct cr_tensor *cr_net_slots(const struct cr_net *net, int *n)
{
    *n = net->n_slots;
    return net->slots;
}

void cr_net_skipped(struct cr_net *net, int64_t n)
{
    net->skipped = n;
}

void cr_net_hyper(struct cr_net *net, int param, const struct cr_hyper *hyper)
{
    net->hyper[param] = *hyper;
}

/* ---- moving means ---- */

void cr_net_ema(struct cr_net *net)
{
    net->ema = CR_NEWS(net->arena, struct cr_tensor, net->n_params + 1);
    for (int i = 0; i < net->n_params; i++) {
        const struct cr_param *p = &net->params[i];
        int64_t n = cr_count(&p->spec);
        cr_real *data =
            net->opts.no_values ? NULL : CR_NEWS(net->arena, cr_real, n);

        if (data)
            memcpy(data, p->data, (size_t)n * sizeof *data);
        net->ema[i] =
            (struct cr_tensor){ cr_strf(net->arena, "cellrun.ema.%s", p->name),
                                p->spec, data };
    }
}

CR_CLONES static void update_mean(void *ctx, int64_t from, int64_t to)
{
    const struct update_pass *p = ctx;
    cr_real *mean = p->to, decay = p->decay, rest = 1 - p->decay;
    const cr_real *w = p->from;

    CR_SIMD
    for (int64_t i = from; i < to; i++)
        mean[i] = decay * mean[i] + rest * w[i];
}

void cr_net_ema_update(struct cr_net *net, double decay)
{
    for (int i = 0; i < net->n_params; i++) {
        struct update_pass p = { .to = net->ema[i].data,
                                 .from = net->params[i].data,
                                 .decay = (cr_real)decay };

        cr_parallel_for(cr_count(&net->params[i].spec), 0.5, &p, update_mean);
    }
}

static void swap(cr_real *a, cr_real *b, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        cr_real v = a[k];

        a[k] = b[k];
        b[k] = v;
    }
}

/* All processes have the means, and some parameters once: each puts its range
 * of the means there, when all have copied the whole. */
static void swap_shared(const struct cr_net *net, int param, cr_real *mean)
{
    const struct cr_param *p = &net->params[param];
    int64_t n = cr_count(&p->spec), from, to;
    cr_real *copy = malloc(cr_bytes(&p->spec));

    if (!copy)
        cr_out_of_memory(cr_bytes(&p->spec));
    memcpy(copy, p->data, cr_bytes(&p->spec));
    cr_mpi_meet();
    cr_mpi_range(n, cr_mpi_rank(), &from, &to);
    memcpy(p->data + from, mean + from, (size_t)(to - from) * sizeof *mean);
    memcpy(mean, copy, cr_bytes(&p->spec));
    cr_mpi_meet();
    free(copy);
}

void cr_net_ema_swap(struct cr_net *net)
{
    for (int i = 0; i < net->n_params; i++)
        if (cr_shard_is_once(net, i))
            swap_shared(net, i, net->ema[i].data);
        else
            swap(net->ema[i].data, net->params[i].data,
                 cr_count(&net->params[i].spec));
}

const struct cr_tensor *cr_net_ema_tensors(const struct cr_net *net, int *n)
{
    *n = net->ema ? net->n_params : 0;
    return net->ema;
}
