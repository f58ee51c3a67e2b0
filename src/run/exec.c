/*
 * Running a plan: a walk over its list of steps.
 */
#include "base/clock.h"
#include "base/thread_pool.h"
#include "mpi/mpi.h"
#include "run/run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- pointers ---- */

static void *data_of(struct cr_pval *val)
{
    return val ? cr_pval_base(val)->data : NULL;
}

static void place_values(struct cr_exec *e)
{
    struct cr_pval *v;

    for (v = e->vals; v; v = v->next)
        if (v->param >= 0)
            v->data = e->net->params[v->param].data;
        else if (v->home)
            v->data = v->home;
        else if (v->feed < 0 && !v->alias && v->first >= 0)
            v->data = (cr_plan_is_own(e, v) ? e->own : e->block) + v->offset;
}

/* Memory of plans that run in turn. */
struct cr_room {
    struct cr_arena arena;
    char *block;
    size_t bytes;
    int plans;
    const struct cr_exec *last; /* the last one that ran; NULL: none */
    struct cr_room *next;
};

/* The memory of a plan: where it runs in turn with others, theirs, if that is
 * large enough. */
static char *block_of(struct cr_exec *e)
{
    size_t bytes = e->bytes + e->scratch + 64;
    struct cr_room *room = e->net->rooms;

    if (!e->opts.in_turn)
        return cr_alloc(&e->arena, bytes, 1);
    while (room && room->bytes < bytes)
        room = room->next;
    if (!room) {
        room = calloc(1, sizeof *room);
        if (!room)
            cr_out_of_memory(sizeof *room);
        room->block = cr_alloc(&room->arena, bytes, 1);
        room->bytes = bytes;
        room->next = e->net->rooms;
        e->net->rooms = room;
    }
    room->plans++;
    e->room = room;
    return room->block;
}

static void room_leave(struct cr_exec *e)
{
    struct cr_room *room = e->room, **at = &e->net->rooms;

    if (!room)
        return;
    if (room->last == e)
        room->last = NULL;
    if (--room->plans > 0)
        return;
    while (*at != room)
        at = &(*at)->next;
    *at = room->next;
    cr_arena_free(&room->arena);
    free(room);
}

/* Other plans have written over its values; in tests, NaNs show who reads one
 * of those. */
static void takes_turn(struct cr_exec *e)
{
    const char *verify;

    if (!e->room || e->room->last == e)
        return;
    e->room->last = e;
    verify = getenv("CELLRUN_VERIFY");
    if (verify && strcmp(verify, "1") == 0)
        memset(e->block, 0xff, e->bytes + e->scratch);
}

/* The pointer to a column is set when the column is fed. */
static void patch(struct cr_exec *e, struct cr_pval *val, const void **slot)
{
    const struct cr_pval *base = cr_pval_base(val);

    if (!base || base->feed < 0)
        return;
    e->patches[e->n_patches].slot = slot;
    e->patches[e->n_patches].offset = base->feed_offset;
    e->patches[e->n_patches++].column = base->feed;
}

/* Where a forward step updates the moving statistic that it reads as x[k]. */
static void *state_of(struct cr_exec *e, const struct cr_exec_step *s, int k)
{
    struct cr_pval *x = s->x[k].val;

    return s->kind == CR_FORWARD && s->training && !s->recomputed &&
                   !e->opts.freeze_stats && (s->op->running_stats & CR_X(k)) &&
                   x && x->param >= 0
               ? data_of(x)
               : NULL;
}

static void point_inputs(struct cr_exec *e, struct cr_exec_step *s)
{
    struct cr_op_ctx *r = s->run;
    int k;

    if (s->map_grad) {
        r->map_grad = s->map_grad->algebra.map_grad;
        r->map_attr = s->map_attr;
        r->map_again = s->x_again ? s->map_grad->algebra.map : NULL;
        r->x_again = data_of(s->x_again);
    }
    for (k = 0; k < s->n_in; k++) {
        r->x[k] = data_of(s->x[k].val);
        patch(e, s->x[k].val, &r->x[k]);
        if (s->op)
            r->state[k] = state_of(e, s, k);
        if (s->kind == CR_FORWARD)
            continue;
        r->dx[k] = data_of(s->dx[k]);
        r->mask[k] = data_of(s->mask[k].val);
        r->accumulate[k] = s->acc[k].val != NULL;
    }
}

/* The epilogue of y[0]. */
static void end_point(const struct cr_exec *e, const struct cr_exec_step *s,
                      struct cr_op_ctx *r)
{
    r->scale = s->end.parts & CR_END_SCALE ? (cr_real)s->end.scale : 1;
    if (s->end.parts & CR_END_ACT)
        r->end.act = s->end.act->algebra.act;
    if (s->end.parts & CR_END_MAP) {
        r->end.map = s->end.act->algebra.map;
        r->end.map_is = s->end.act->algebra.act;
    }
    if (s->kind == CR_BACKWARD && r->end.map) {
        r->end_grad = s->end.act->algebra.map_grad;
        if (!(s->end.act->saved_for_backward & CR_Y(0)))
            r->end.map = NULL;
    }
    r->end.attr = s->end.attr;
    r->end.late_bias = s->end.parts & CR_END_LATE_BIAS;
    r->end.keeps = s->end.parts & CR_END_KEEP;
    if (s->end.parts & CR_END_DROP) {
        const struct cr_exec_step *drop = s->end.drop;

        r->drop = (struct cr_drop){
            .rng = cr_rng(e->net->opts.seed, CR_STREAM_DROPOUT,
                          drop->node->key, 0),
            .keep = drop->op->algebra.drops(drop->attr)
        };
        r->end.drop = &r->drop;
    }
}

static void point(struct cr_exec *e)
{
    int i, k, n = 0;

    for (i = 0; i < e->n_steps; i++)
        n += e->steps[i]->n_in;
    e->patches = cr_alloc(&e->arena, (size_t)n + 1, sizeof *e->patches);
    for (i = 0; i < e->n_steps; i++) {
        struct cr_exec_step *s = e->steps[i];
        struct cr_op_ctx *r = s->run = CR_NEW(&e->arena, struct cr_op_ctx);

        r->attr = s->attr;
        r->in = s->in;
        r->out = s->out;
        r->training = s->training;
        r->low = s->low;
        r->rounds = s->rounds;
        r->partial = s->partial;
        r->holds = s->holds;
        r->two_bytes = s->two_bytes;
        r->mask_two_bytes = s->mask_two_bytes;
        r->grads_two_bytes = s->grads_two_bytes;
        end_point(e, s, r);
        for (k = 0; k < CR_OP_MAX; k++)
            r->alpha[k] = 1;
        point_inputs(e, s);
        for (k = 0; k < s->n_out; k++) {
            r->y[k] = data_of(s->y ? s->y[k] : s->read_y[k].val);
            r->dy[k] = s->dy ? data_of(s->dy[k].val) : NULL;
        }
        r->again = s->recomputed && s->read_saved.val;
        r->saved = data_of(s->read_saved.val ? s->read_saved.val : s->saved);
        r->scratch = e->block + e->bytes;
        r->rng = cr_rng(e->net->opts.seed, CR_STREAM_DROPOUT,
                        s->node ? s->node->key : 0, 0);
    }
}

/* Whether a step may fail in one process, and not in another. */
static bool may_fault(const struct cr_exec *e)
{
    int i;

    for (i = 0; i < e->n_steps && e->split; i++)
        if (e->steps[i]->bounds ||
            (e->steps[i]->op && e->steps[i]->op->prints)) /* a plug-in's */
            return true;
    return false;
}

struct cr_exec *cr_exec_new(struct cr_net *net, const struct cr_exec_opts *want,
                            const struct cr_graph *graph, bool prints)
{
    struct cr_exec *e = calloc(1, sizeof *e);
    int i;

    if (!e)
        cr_out_of_memory(sizeof *e);
    e->net = net;
    e->opts = *want;
    e->graph = graph;
    e->prints = prints;
    if (!want->silent && !want->observe && !want->hold)
        e->print = net->opts.print;
    if (!cr_plan_make(e) || !cr_exec_printer(e) || !cr_exec_observed(e)) {
        cr_exec_free(e);
        return NULL;
    }
    e->threads = cr_thread_count();
    for (i = 0; i < e->n_steps; i++) {
        if (e->steps[i]->scratch > e->scratch)
            e->scratch = e->steps[i]->scratch;
        if (e->steps[i]->thread_scratch > e->thread_scratch)
            e->thread_scratch = e->steps[i]->thread_scratch;
    }
    if (!net->opts.no_values) {
        cr_thread_scratch_reserve(e->thread_scratch);
        e->block = block_of(e);
        e->own = cr_alloc(&e->arena, e->own_bytes, 1);
        place_values(e);
        point(e);
    }
    e->fed = CR_NEWS(&e->arena, const void *, net->opts.n_columns + 1);
    e->may_fault = may_fault(e);
    return e;
}

struct cr_exec *cr_net_exec(struct cr_net *net, const struct cr_exec_opts *want)
{
    struct cr_exec_opts whole = *want;
    const struct cr_graph *graph;

    whole.backward = want->backward || want->update;
    whole.loss = want->loss || (whole.backward && !want->results) ||
                 (want->metrics && net->graph->aux.n > 0);
    assert(!want->update || net->rule);
    assert(!whole.loss || net->graph->loss);
    graph = cr_net_graph(net, want->batch, want->columns,
                         cr_hooks_for(net, &whole), want->training);
    return graph ? cr_exec_new(net, &whole, graph, false) : NULL;
}

void cr_exec_free(struct cr_exec *exec)
{
    if (!exec)
        return;
    room_leave(exec);
    cr_exec_free(exec->printer);
    cr_exec_free(exec->observed);
    cr_arena_free(&exec->arena);
    free(exec);
}

/* ---- a batch ---- */

void cr_exec_feed(struct cr_exec *e, int column, const void *data)
{
    int i;

    if (e->printer)
        cr_exec_feed(e->printer, column, data);
    if (e->observed)
        cr_exec_feed(e->observed, column, data);
    e->fed[column] = data;
    for (i = 0; i < e->n_patches; i++)
        if (e->patches[i].column == column)
            *e->patches[i].slot = (const char *)data + e->patches[i].offset;
}

static bool bound_holds(const struct cr_bound *b, int32_t v)
{
    return (v >= b->low && v < b->high) || (b->has_except && v == b->except);
}

/* Says how large the network must be for a class or index that is too large.
 * `many`: samples have several, such as a mask, where one may mean none. */
static void exec_hint_size(struct cr_diag *diag, const struct cr_opnode *node,
                           const struct cr_bound *b, int32_t value, bool many)
{
    if (node->loss && many && b->high == 2 && value == 255)
        cr_hint(diag, "a mask of 0 and 255 has the classes 0 and 1 by "
                "datapipe: {label: [{ValueIndex: [0, 255]}]}%s",
                b->has_except ? "; pixels of no class are ignored by "
                                "ignore_index: 255"
                              : "");
    else if (node->loss)
        cr_hint(diag, "the network has outputs for %lld classes; class %d "
                "needs at least %lld: set out_channels of its last layer%s",
                (long long)b->high, value, value + 1LL,
                many && b->has_except
                    ? cr_strf(diag->arena, ", or ignore it: ignore_index: %d",
                              value)
                    : "");
    else if (strcmp(node->op->about.name, "gather") == 0)
        cr_hint(diag, "an Embedding needs a vocab_size of at least %lld",
                value + 1LL);
}

bool cr_exec_check(struct cr_exec *e, struct cr_diag *diag,
                   const int64_t *samples)
{
    int i;

    for (i = 0; i < e->n_bounds; i++) {
        const struct cr_bound *b = &e->bounds[i].bound;
        const struct cr_column *c =
            &e->graph->columns[e->bounds[i].column];
        const int32_t *v = e->fed[e->bounds[i].column];
        int64_t k, each = cr_count(&c->spec), n = each * e->opts.batch, at = 0;

        assert(c->spec.type == CR_I32);
        if (cr_exec_local_column(e, e->bounds[i].column)) {
            at = each * e->split->first;
            n = at + each * e->split->n;
        }
        for (k = at; k < n; k++) {
            if (bound_holds(b, v[k]))
                continue;
            cr_error(
                diag, e->bounds[i].node->pos, CR_E_DATA_RANGE,
                "column '%s' of sample %lld is %d, expected %lld to %lld",
                c->name,
                samples ? (long long)samples[k / each] : (long long)(k / each),
                v[k], (long long)b->low, (long long)b->high - 1);
            if (b->low == 0 && v[k] >= b->high)
                exec_hint_size(diag, e->bounds[i].node, b, v[k], each > 1);
            return false;
        }
    }
    return true;
}

/* Integers that the network computed, before an op looks them up. A process
 * that shares the plan with others keeps on taking part in their sums: it notes
 * the first fault, and replaces what is out of range. */
static bool bounds_hold(struct cr_exec *e, const struct cr_exec_step *s)
{
    int64_t k, n;
    int i;

    for (i = 0; i < s->n_in; i++) {
        int32_t *v = (int32_t *)(uintptr_t)s->run->x[i];

        n = s->bounds[i].set ? cr_count(&s->in[i]) : 0;
        for (k = 0; k < n; k++) {
            if (bound_holds(&s->bounds[i], v[k]))
                continue;
            if (!e->fault) {
                e->fault = s;
                e->fault_value = v[k];
                e->fault_bound = s->bounds[i];
            }
            if (!e->split)
                return false;
            v[k] = (int32_t)s->bounds[i].low;
        }
    }
    return true;
}

/* Whether the printer has said what steps of that kind say. */
static bool printed_elsewhere(const struct cr_exec *e,
                              enum cr_exec_step_kind kind)
{
    return e->printer && (kind == CR_FORWARD || e->printer->opts.backward);
}

static void sum_rows(double *x, int64_t n)
{
    cr_mpi_sum(x, n, CR_MPI_DOUBLE);
}

/* Which samples of which update the step has: `t` counts micro-batches. */
static void place(const struct cr_exec *e, const struct cr_exec_step *s)
{
    int64_t micro = e->net->grad_accum > 0 ? e->net->grad_accum : 1;
    struct cr_op_ctx *to = s->run;

    to->batch = e->opts.batch;
    to->update = e->t > 0 ? (e->t - 1) / micro + 1 : 0;
    to->first = e->t > 0 ? (e->t - 1) % micro * e->net->opts.batch : e->before;
    to->drop.first = 0;
    if (e->split && s->node && s->node->batch != e->opts.batch) {
        to->batch = e->split->n;
        to->first += e->split->first;
        /* what is alike has the same random numbers in all processes */
        to->rows_before = e->split->axis[s->node->out[0]->id] < 0
                              ? 0
                              : e->split->first;
        if (to->rows_before > 0 && to->batch > 0)
            to->drop.first =
                cr_count(&s->out[0]) / to->batch * to->rows_before;
        to->sum = s->op->running_stats || e->split->total[s->node->out[0]->id]
                      ? sum_rows
                      : NULL;
        to->local = e->net->local_statistics;
    }
}

static void run_step(struct cr_exec *e, struct cr_exec_step *s, double lr)
{
    int k;

    s->run->rng.b = s->run->drop.rng.b = (uint64_t)e->t;
    place(e, s);
    s->run->stop = e->fault ? e->stop_again : e->stop;
    s->run->print = printed_elsewhere(e, s->kind) ? NULL : e->print;
    if (s->kind == CR_UPDATE) {
        cr_exec_update_step(e, s, 1, lr);
    } else if (s->kind == CR_FORWARD) {
        if (!s->same && !(s->once && e->ran) &&
            (!s->bounds || bounds_hold(e, s)))
            s->op->forward(s->run);
    } else {
        for (k = 0; k < s->n_in; k++)
            if (s->direct[k] >= 0)
                s->run->alpha[k] = -cr_exec_rate(e, s->direct[k], lr);
        s->op->backward(s->run);
    }
    if (e->stop[0] && !e->fault)
        e->fault = s;
}

static void run_steps(struct cr_exec *e, int from, int to, double lr)
{
    double start;
    int i;

    for (i = from; i < to && (!e->fault || e->split); i++) {
        cr_mpi_progress();
        if (i == e->meet && !e->parts) /* else they have met for those */
            cr_mpi_meet();
        start = e->costs ? cr_now() : 0;
        run_step(e, e->steps[i], lr);
        if (e->costs) {
            e->costs[i].seconds += cr_now() - start;
            e->costs[i].runs++;
        }
    }
}

void cr_exec_before(struct cr_exec *e, int64_t samples)
{
    e->before = samples;
}

void cr_exec_forward(struct cr_exec *e, int64_t t)
{
    if (e->printer) {
        e->printer->before = e->before;
        cr_exec_forward(e->printer, t);
    }
    cr_exec_observe_forward(e, t);
    takes_turn(e);
    e->t = t;
    e->fault = NULL;
    e->stop[0] = '\0';
    run_steps(e, 0, e->n_forward, 0);
    e->ran = e->ran || !e->fault;
}

static bool report_fault(const struct cr_exec *e, struct cr_diag *diag)
{
    const struct cr_bound *b = &e->fault_bound;

    if (e->stop[0]) {
        const char *name = e->net->cells[e->fault->node->cell].name;

        return cr_error(diag, e->fault->node->pos, CR_E_PLUGIN_STOP, "%s: %s",
                        name[0] ? name : "network", e->stop);
    }
    return !e->fault ||
           cr_error(
               diag, e->fault->node->pos, CR_E_DATA_RANGE,
               "an index computed by the network is %d, expected %lld to %lld",
               e->fault_value, (long long)b->low, (long long)b->high - 1);
}

bool cr_exec_check_faults(const struct cr_exec *e, struct cr_diag *diag)
{
    bool ok = report_fault(e, diag);

    return e->may_fault ? cr_mpi_agree(diag, ok) : ok;
}

static const void *value_data(const struct cr_exec *e, struct cr_pval *val)
{
    const struct cr_pval *base = cr_pval_base(val);

    return base->feed >= 0
               ? (const char *)e->fed[base->feed] + base->feed_offset
               : base->data;
}

/* The mean of the elements. */
static double value_mean(const struct cr_exec *e, struct cr_pval *val)
{
    const cr_real *x = value_data(e, val); /* perhaps a column */
    int64_t i, n = cr_count(&val->spec);
    double sum = 0;

    for (i = 0; i < n; i++)
        sum += x[i];
    sum /= (double)n;
    return isnan(sum) ? (double)NAN : sum; /* never printed as -nan */
}

double cr_exec_loss(const struct cr_exec *e)
{
    return value_mean(e, e->loss);
}

static double value_sum(const struct cr_exec *e, struct cr_pval *val)
{
    return value_mean(e, val) * (double)cr_count(&val->spec);
}

double cr_exec_objective(const struct cr_exec *e)
{
    double sum = value_sum(e, e->loss);
    int i;

    for (i = 0; i < e->n_aux && e->net->joint; i++)
        sum += value_sum(e, e->aux[i]);
    return sum;
}

int cr_exec_aux(const struct cr_exec *e)
{
    return e->n_aux;
}

double cr_exec_aux_mean(const struct cr_exec *e, int i)
{
    return value_mean(e, e->aux[i]);
}

/* By the type that the value has in memory: a gradient may take two bytes per
 * element (plan/two_bytes.c). */
static bool finite_value(const struct cr_pval *v)
{
    return cr_all_finite(v->spec.type, v->data, cr_count(&v->spec));
}

/* Whether the gradients that the loss gives are finite: that of each output of
 * the network, and those of its own parameters. */
static bool finite_loss_grads(const struct cr_exec *e)
{
    int i;

    for (i = 0; i < e->n_output_grads; i++)
        if (!finite_value(e->output_grads[i]))
            return false;
    for (i = 0; i < e->n_loss_grads; i++)
        if (!finite_value(e->loss_grads[i]))
            return false;
    return true;
}

bool cr_exec_backward(struct cr_exec *e, double sens, double lr)
{
    bool finite;

    assert(e->opts.backward);
    if (e->printer && e->printer->opts.backward)
        cr_exec_backward(e->printer, sens, lr);
    cr_exec_observe_backward(e, sens, lr);
    if (!cr_plan_seeds_fill(e, sens))
        return true;
    if (e->parts && e->net->parts_read)
        cr_mpi_meet(); /* the last step was skipped */
    e->net->parts_read = e->net->parts_read || e->parts;
    run_steps(e, e->n_forward, e->n_loss, lr);
    if (e->fault && !e->split)
        return false;
    finite = finite_loss_grads(e);
    /* a process may have those of its rows */
    if (e->split && (e->n_loss_grads > 0 || e->local_outputs))
        finite = cr_mpi_all(finite);
    if (!finite && !e->opts.keep_outputs && !e->opts.separate_update &&
        !e->prints)
        return false;
    /* what is read from outside is computed, finite or not: no step of such a
     * plan updates a parameter here */
    run_steps(e, e->n_loss, e->n_backward, lr);
    if (finite && e->opts.update && !e->opts.separate_update)
        run_steps(e, e->n_backward, e->n_steps, lr);
    if (e->meet >= 0)
        cr_exec_updated(e);
    return finite && !e->fault;
}

/* ---- what is seen from outside ---- */

int cr_exec_results(const struct cr_exec *e)
{
    return e->n_outputs;
}

const cr_real *cr_exec_result(const struct cr_exec *e, int i,
                              struct cr_spec *spec)
{
    *spec = e->outputs[i]->spec;
    return value_data(e, e->outputs[i]);
}

const cr_real *cr_exec_output(const struct cr_exec *e, struct cr_spec *spec)
{
    return cr_exec_result(e, 0, spec);
}

const cr_real *cr_exec_at(const struct cr_exec *e, struct cr_spec *spec)
{
    if (!e->kept_at)
        return NULL;
    *spec = e->kept_at->spec;
    return value_data(e, e->kept_at);
}

int cr_exec_metrics(const struct cr_exec *e)
{
    return e->opts.metrics ? e->graph->n_metrics : 0;
}

const cr_real *cr_exec_metric(const struct cr_exec *e, int i,
                              struct cr_spec *spec)
{
    *spec = e->metrics[i]->spec;
    return value_data(e, e->metrics[i]);
}

/* A copy with the elements in their plain order. */
static void *plain_data(struct cr_exec *e, const struct cr_pval *v,
                        const void *data)
{
    struct cr_spec out = v->spec;
    struct cr_op_ctx step = { .in = &v->spec, .out = &out, .x = { data } };

    out.layout = CR_ROW_MAJOR;
    step.y[0] = cr_alloc(&e->arena, cr_bytes(&out) + 1, 1);
    cr_op_find("reorder")->forward(&step);
    return step.y[0];
}

static void keep(struct cr_exec *e, const char *prefix, const char *name,
                 struct cr_pval *val)
{
    struct cr_tensor *t;

    if (!val)
        return;
    t = &e->kept[e->n_kept++];
    t->name = cr_strf(&e->arena, "%s%s", prefix, name);
    t->spec = val->spec;
    t->data = (void *)(uintptr_t)value_data(e, val);
    if (t->spec.layout == CR_CHANNELS_LAST)
        t->data = plain_data(e, val, t->data);
    t->spec.layout = CR_ROW_MAJOR;
}

/* The gradient of a column, under another name where a parameter has that. */
static void keep_column(struct cr_exec *e, int column)
{
    const struct cr_val *v = e->graph->feeds[column];
    const char *name = e->graph->columns[column].name;

    if (v && cr_plan_wrt(e, v))
        keep(e,
             cr_name_map_get(&e->net->param_names, name) < 0 ? "grad."
                                                             : "grad.input.",
             name, e->of[v->id]->grad);
}

const struct cr_tensor *cr_exec_kept(struct cr_exec *e, int *n)
{
    bool whole = e->opts.keep_outputs || e->opts.eager;
    const struct cr_named *c;
    int i, count = 2 * e->net->n_params + e->n_outputs + 2;

    count += e->net->opts.n_columns + e->n_aux;
    count += 2 * e->graph->named.n + e->graph->seen.n + e->graph->seen_grads.n;
    if (!e->kept)
        e->kept = CR_NEWS(&e->arena, struct cr_tensor, count);
    e->n_kept = 0;
    for (c = e->graph->named.first; c && whole; c = c->next)
        keep(e, "output.", c->name, e->of[c->val->id]);
    for (i = 0, c = e->graph->results.first; c; c = c->next)
        keep(e, "output", c->name, e->outputs[i++]);
    keep(e, "loss", "", e->loss);
    for (i = 0, c = e->graph->aux.first; i < e->n_aux; i++, c = c->next)
        keep(e, "loss.", c->name, e->aux[i]);
    if (e->opts.backward) {
        for (c = e->graph->named.first; c && whole; c = c->next)
            if (e->of[c->val->id])
                keep(e, "grad.output.", c->name,
                     e->of[c->val->id]->grad);
        for (i = 0;
             i < e->graph->cap_params && (whole || e->opts.separate_update);
             i++)
            if (e->graph->params[i] && cr_plan_wrt(e, e->graph->params[i]))
                keep(e, "grad.", e->net->params[i].name,
                     e->of[e->graph->params[i]->id]->grad);
        for (i = 0;
             i < e->net->opts.n_columns && (whole || e->opts.separate_update);
             i++)
            keep_column(e, i);
    }
    for (c = e->graph->seen.first; c && whole; c = c->next)
        keep(e, "tap.", c->name, e->of[c->val->id]);
    for (c = e->graph->seen_grads.first; c && whole; c = c->next)
        if (e->of[c->val->id])
            keep(e, "tap.", c->name, e->of[c->val->id]->grad);
    *n = e->n_kept;
    return e->kept;
}

