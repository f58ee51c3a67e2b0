/*
 * Optimizer slots shared out over the processes of a run: each process has
 * those of one range of a parameter's elements, updates that range, and gets
 * the others from the processes that have theirs.
 *
 * An update is elementwise and a range begins at a multiple of 16 elements, as
 * that of a thread does (update.c), so the numbers are those without ranges.
 * In checkpoints slots are whole: process 0 has all of them while it reads or
 * writes one.
 *
 * Where processes see each other's memory, they have these parameters once, and
 * their parts of the gradients next to one another (net->parts). A process
 * reads all parts of its range, and writes its range of the parameter, which
 * all have then: an update begins and ends with cr_mpi_meet. That of a few rows
 * of a table begins with a gather, and a process writes some of the rows. All
 * else that writes parameters writes the same in all processes, or in process 0
 * while the others wait.
 */
#include "mpi/mpi.h"
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

#define SHARD_MIN 4096 /* elements; the slots of fewer stay with everyone */

static bool parts_of(const struct cr_net *net, int param)
{
    const struct cr_param *p = &net->params[param];

    return net->shard && cr_mpi_size() > 1 && cr_count(&p->spec) >= SHARD_MIN &&
           !(net->rule->rows && p->rows) && !net->rule->reduce;
}

void cr_shard_range(const struct cr_net *net, int param, int rank,
                    int64_t *from, int64_t *to)
{
    *from = 0;
    *to = cr_count(&net->params[param].spec);
    if (parts_of(net, param))
        cr_mpi_range(*to, rank, from, to);
}

int64_t cr_shard_count(const struct cr_net *net, int param)
{
    int64_t from, to;

    cr_shard_range(net, param, cr_mpi_rank(), &from, &to);
    return to - from;
}

/* Every process gets the ranges of all. */
static void gather(const struct cr_net *net, int param, cr_real *all)
{
    size_t *at = net->shard_at;
    int r;

    for (r = 0; r < cr_mpi_size(); r++) {
        int64_t from, to;

        cr_shard_range(net, param, r, &from, &to);
        at[r] = (size_t)from * sizeof *all;
        at[r + 1] = (size_t)to * sizeof *all;
    }
    cr_mpi_gather_parts(all, at);
}

void cr_shard_gather_param(const struct cr_net *net, int param)
{
    if (parts_of(net, param) && !(net->parts && net->parts[param]))
        gather(net, param, net->params[param].data);
}

/* ---- All of a slot */

/* Calls `each` for every slot of which processes have ranges. */
static void each_slot(struct cr_net *net,
                      void (*each)(struct cr_net *net, int param, int slot))
{
    int i, k;

    for (i = 0; i < net->n_params && net->shard; i++)
        for (k = 0; k < net->rule->slots && parts_of(net, i); k++)
            if ((net->params[i].trained || net->params[i].unfrozen_later) &&
                !(net->rule->scalars & 1u << k))
                each(net, i, net->slot_of[i] + k);
}

static cr_real *whole_new(const struct cr_net *net, int param)
{
    size_t n = (size_t)cr_count(&net->params[param].spec);
    cr_real *all = calloc(n + 1, sizeof *all);

    if (!all)
        cr_out_of_memory(n * sizeof *all);
    return all;
}

/* Process 0 has the slot as a whole from now on: initial values, until it is
 * read or gathered. */
static void slot_open(struct cr_net *net, int param, int slot)
{
    cr_real start = (cr_real)net->rule->slot_init[slot - net->slot_of[param]];
    int64_t i, n = cr_count(&net->params[param].spec);
    cr_real *all;

    if (net->slot_parts[slot])
        return;
    all = whole_new(net, param);
    for (i = 0; i < n; i++)
        all[i] = start;
    net->slot_parts[slot] = net->slots[slot].data;
    net->slots[slot].data = all;
}

static void slot_close(struct cr_net *net, int param, int slot)
{
    (void)param;
    if (net->slot_parts[slot]) {
        free(net->slots[slot].data);
        net->slots[slot].data = net->slot_parts[slot];
        net->slot_parts[slot] = NULL;
    }
}

static void slot_gather(struct cr_net *net, int param, int slot)
{
    cr_real *own = net->slots[slot].data, *all;
    int64_t from, to;

    cr_shard_range(net, param, cr_mpi_rank(), &from, &to);
    if (cr_mpi_rank() == 0)
        slot_open(net, param, slot);
    all = cr_mpi_rank() == 0 ? net->slots[slot].data : whole_new(net, param);
    memcpy(all + from, own, (size_t)(to - from) * sizeof *all);
    gather(net, param, all);
    if (cr_mpi_rank() > 0)
        free(all);
}

/* From the whole slot of process 0, which is closed. */
static void slot_share(struct cr_net *net, int param, int slot)
{
    bool first = cr_mpi_rank() == 0;
    cr_real *all =
        first ? net->slots[slot].data : whole_new(net, param), *own;
    int64_t from, to;

    cr_shard_range(net, param, cr_mpi_rank(), &from, &to);
    cr_mpi_broadcast(all, cr_bytes(&net->slots[slot].spec), 0);
    own = first ? net->slot_parts[slot] : net->slots[slot].data;
    memcpy(own, all + from, (size_t)(to - from) * sizeof *all);
    if (first)
        slot_close(net, param, slot);
    else
        free(all);
}

void cr_net_shard(struct cr_net *net, bool slots, bool gradients)
{
    net->shard = (slots || cr_mpi_sees()) && cr_mpi_size() > 1;
    net->shard_gradients = gradients && cr_mpi_size() > 1;
}

/* ---- Memory that all see */

/* Bytes of a parameter there, in whole cache lines; 0: it is not there. */
static size_t shared_bytes(const struct cr_net *net, int param)
{
    return parts_of(net, param) && !net->params[param].statistic
               ? (cr_bytes(&net->params[param].spec) + 63) / 64 * 64
               : 0;
}

/* The same of its gradient, of each process. */
static size_t part_bytes(const struct cr_net *net, int param)
{
    const struct cr_param *p = &net->params[param];

    return p->trained || p->unfrozen_later ? shared_bytes(net, param) : 0;
}

bool cr_shard_is_once(const struct cr_net *net, int param)
{
    return net->parts && shared_bytes(net, param) > 0;
}

void cr_net_share(struct cr_net *net)
{
    size_t once = 0, each = 0;
    char *at, *part;
    int i;

    for (i = 0; i < net->n_params; i++) {
        once += shared_bytes(net, i);
        each += part_bytes(net, i);
    }
    if (!cr_mpi_sees() || net->shard_gradients || net->opts.no_values ||
        each == 0)
        return;
    part = cr_mpi_parts(once, each);
    if (!part)
        return;
    at = cr_mpi_once();
    net->parts = CR_NEWS(net->arena, cr_real *, net->n_params + 1);
    for (i = 0; i < net->n_params; i++) {
        struct cr_param *p = &net->params[i];

        if (shared_bytes(net, i) == 0)
            continue;
        if (cr_mpi_rank() == 0)
            memcpy(at, p->data, cr_bytes(&p->spec));
        p->data = (cr_real *)(void *)at;
        at += shared_bytes(net, i);
        if (part_bytes(net, i) == 0)
            continue;
        net->parts[i] = (cr_real *)(void *)part;
        part += part_bytes(net, i);
    }
    cr_mpi_meet();
}

void cr_net_slots_open(struct cr_net *net)
{
    if (cr_mpi_rank() == 0)
        each_slot(net, slot_open);
}

void cr_net_slots_gather(struct cr_net *net)
{
    each_slot(net, slot_gather);
}

void cr_net_slots_close(struct cr_net *net)
{
    each_slot(net, slot_close);
}

void cr_net_slots_share(struct cr_net *net)
{
    int i;

    for (i = 0; i < net->n_slots; i++)
        if (!net->slot_is_part[i])
            cr_mpi_broadcast(net->slots[i].data,
                             cr_bytes(&net->slots[i].spec), 0);
    each_slot(net, slot_share);
}
