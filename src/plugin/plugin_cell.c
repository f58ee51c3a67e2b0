/*
 * A cell of a plug-in at work: its parameters, and one op around the
 * callbacks of cellrun.h.
 *
 * The op's inputs are the cell's inputs, then its parameters. A plug-in
 * computes in float or double, and always writes; where cellrun computes in
 * the other type, or adds to a gradient, its arrays stand in the op's scratch
 * and are converted, or added, after the call. All of them have room there
 * of their own, so nothing is planned twice.
 */
#include "base/checked_math.h"
#include "base/table.h"
#include "graph/graph.h"
#include "kernels/parallel_for.h"
#include "num/array_text.h"
#include "plugin/plugin.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define ALIGN 64
#define ROOM_MAX ((size_t)1 << 46) /* bytes of keep or scratch */

/* The op's attr. */
struct call {
    const struct cr_plugin_cell *cell;
    const union cellrun_value *option;
};

static size_t aligned(size_t bytes)
{
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

/* ---- shapes ---- */

static void shape_from(const struct cr_spec *spec, struct cellrun_shape *to)
{
    int i;

    to->rank = spec->rank;
    for (i = 0; i < CR_RANK_MAX; i++)
        to->dim[i] = i < spec->rank ? spec->dim[i] : 0;
}

/* False where it is no shape of a tensor. */
static bool shape_to(const struct cellrun_shape *shape, struct cr_spec *to)
{
    int i;

    *to = (struct cr_spec){ .type = CR_REAL, .rank = shape->rank };
    if (shape->rank < 0 || shape->rank > CR_RANK_MAX)
        return false;
    for (i = 0; i < shape->rank; i++) {
        to->dim[i] = shape->dim[i];
        if (to->dim[i] < 1 || to->dim[i] > CR_DIM_MAX)
            return false;
    }
    return cr_spec_fits(to);
}

/* What a plug-in says about shapes, as far as it is sound. */
struct said {
    struct cellrun_shape in[CR_OP_MAX], out[CR_OP_MAX], param[CR_OP_MAX];
    struct cellrun_plan plan;
    const char *wrong; /* what is not; NULL: nothing */
    enum cr_code code;
};

#define UNSET (-2) /* rank of a parameter of which nothing was said */

static const char *shape_text(struct cr_arena *arena,
                              const struct cellrun_shape *shape)
{
    struct cr_spec spec;

    if (!shape_to(shape, &spec))
        return cr_strf(arena, "not a tensor (rank %d, first dimension %lld)",
                       shape->rank,
                       shape->rank > 0 ? (long long)shape->dim[0] : 0LL);
    return cr_diag_format(arena, &spec);
}

/* Text of a plug-in as messages may hold it. */
static const char *error_text(struct cr_arena *arena, char *text)
{
    char *p;

    text[CELLRUN_ERROR_MAX - 1] = '\0';
    for (p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
    return text[0] ? cr_strdup(arena, text) : "it refuses these inputs";
}

static void said_check(const struct cr_plugin_cell *c, struct cr_arena *arena,
                       struct said *to)
{
    struct cr_spec spec;
    int i;

    to->code = CR_E_PLUGIN;
    for (i = 0; i < c->n_out && !to->wrong; i++)
        if (!shape_to(&to->out[i], &spec))
            to->wrong = cr_strf(arena, "its output %d is %s", i,
                                shape_text(arena, &to->out[i]));
    for (i = 0; i < c->n_params && !to->wrong; i++) {
        const char *name = c->of->params[i].name;

        if (to->param[i].rank == UNSET)
            to->wrong = cr_strf(arena, "its parameter '%s' has no shape", name);
        else if (to->param[i].rank != -1 && !shape_to(&to->param[i], &spec))
            to->wrong = cr_strf(arena, "its parameter '%s' is %s", name,
                                shape_text(arena, &to->param[i]));
    }
    if (!to->wrong && (to->plan.keep > ROOM_MAX || to->plan.scratch > ROOM_MAX))
        to->wrong =
            cr_strf(arena, "it requests %zu and %zu bytes of working memory",
                    to->plan.keep, to->plan.scratch);
    if (!(to->plan.macs >= 0 && to->plan.macs < 1e30))
        to->plan.macs = 0;
}

static void said_ask(const struct call *call, struct cr_arena *arena,
                     const struct cr_spec *in, bool training, struct said *to)
{
    const struct cr_plugin_cell *c = call->cell;
    int i;

    memset(to, 0, sizeof *to);
    for (i = 0; i < c->n_in; i++)
        shape_from(&in[i], &to->in[i]);
    for (i = 0; i < c->n_out; i++)
        to->out[i] = to->in[0];
    for (i = 0; i < c->n_params; i++)
        to->param[i].rank = UNSET;
    to->plan = (struct cellrun_plan){ .option = call->option,
                                      .input = to->in,
                                      .training = training,
                                      .output = to->out,
                                      .param = to->param };
    if (c->of->shape && c->of->shape(&to->plan) != 0) {
        to->wrong = error_text(arena, to->plan.error);
        to->code = CR_E_SHAPE;
        return;
    }
    said_check(c, arena, to);
}

/* ---- the op: planning ---- */

static size_t array_bytes(const struct cr_plugin_cell *c,
                          const struct cr_spec *spec)
{
    return spec->rank < 0 ? 0 : aligned((size_t)cr_count(spec) * c->real_size);
}

/* Room for one stand-in of each array: of gradients, which may be added; of
 * everything where the types differ. False where it is too much to count. */
static bool room_of(const struct cr_plugin_cell *c, int n_in,
                    const struct cr_spec *in, const struct cr_spec *out,
                    size_t *to)
{
    size_t times = c->real_size != sizeof(cr_real) ? 2 : 1;
    int i;

    *to = 0;
    for (i = 0; i < n_in; i++)
        if (!cr_checked_add(to, *to, times * array_bytes(c, &in[i])))
            return false;
    for (i = 0; i < c->n_out; i++)
        if (!cr_checked_add(to, *to, times * array_bytes(c, &out[i])))
            return false;
    return *to <= SIZE_MAX / 4;
}

static bool plugin_plan(struct cr_op_plan *p)
{
    const struct call *call = p->attr;
    const struct cr_plugin_cell *c = call->cell;
    struct said said;
    struct cr_spec spec;
    int i;

    said_ask(call, p->arena, p->in, p->training, &said);
    for (i = 0; i < c->n_params && !said.wrong; i++) {
        const struct cr_spec *w = &p->in[c->n_in + i];

        shape_to(&said.param[i], &spec);
        if (said.param[i].rank < 0 ? w->rank >= 0 : !cr_spec_same(&spec, w))
            said.wrong = cr_strf(
                p->arena,
                "its parameter '%s' is %s in one plan and %s in another",
                c->of->params[i].name, cr_diag_format(p->arena, w),
                shape_text(p->arena, &said.param[i]));
    }
    if (said.wrong)
        return cr_error(p->diag, p->pos, said.code, "%s: %s", c->of->name,
                        said.wrong);
    for (i = 0; i < c->n_out; i++)
        shape_to(&said.out[i], &p->out[i]);
    p->n_out = c->n_out;
    p->saved = said.plan.keep;
    p->macs = said.plan.macs;
    if (!room_of(c, p->n_in, p->in, p->out, &p->scratch))
        return cr_error(p->diag, p->pos, CR_E_SHAPE, "%s: too large",
                        c->of->name);
    p->scratch += said.plan.scratch;
    return true;
}

/* ---- the op: running ---- */

/* One call of a callback, with room for all that it points to. */
struct run {
    const struct cr_plugin_cell *cell;
    const struct cr_print *print; /* NULL: nowhere */
    void (*fn)(const struct cellrun_step *step);
    struct cellrun_step step;
    struct cellrun_shape in[CR_OP_MAX], out[CR_OP_MAX];
    const void *x[CR_OP_MAX], *dy[CR_OP_MAX]; /* x: parameters after */
    void *y[CR_OP_MAX], *dx[CR_OP_MAX], *moved[CR_OP_MAX];
    char *room; /* of the next stand-in; the plug-in's own
                   scratch lies after them all */
    /* what a call cannot continue for, and its first sample; several may end at
     * once, so they take turns */
    atomic_flag turn;
    char error[CELLRUN_ERROR_MAX];
    int64_t error_from;
};

static pthread_mutex_t print_turn = PTHREAD_MUTEX_INITIALIZER;

static enum cr_type type_of(const struct cr_plugin_cell *c)
{
    return c->real_size == sizeof(double) ? CR_F64 : CR_F32;
}

static void *room_take(struct run *r, const struct cr_spec *spec)
{
    void *at = r->room;

    r->room += array_bytes(r->cell, spec);
    return at;
}

/* The elements in the plug-in's type: themselves where it is ours. */
static void *array_in(struct run *r, const struct cr_spec *spec,
                      const void *data)
{
    void *to;

    if (!data || r->cell->real_size == sizeof(cr_real))
        return (void *)(uintptr_t)data;
    to = room_take(r, spec);
    cr_convert(cr_type_stored(CR_REAL), data, type_of(r->cell), to,
               cr_count(spec));
    return to;
}

/* Room for what a callback writes: the array itself, or a stand-in. */
static void *array_out(struct run *r, const struct cr_spec *spec, void *data,
                       bool apart)
{
    return data && (apart || r->cell->real_size != sizeof(cr_real))
               ? room_take(r, spec)
               : data;
}

static void array_back(const struct run *r, const struct cr_spec *spec,
                       const void *from, void *to, bool add)
{
    enum cr_type ours = cr_type_stored(CR_REAL), type = type_of(r->cell);
    int64_t i, n = to ? cr_count(spec) : 0;
    cr_real *sum = to;

    if (!to || to == from)
        return;
    if (!add)
        cr_convert(type, from, ours, to, n);
    else if (type == CR_F64)
        for (i = 0; i < n; i++)
            sum[i] += (cr_real)((const double *)from)[i];
    else
        for (i = 0; i < n; i++)
            sum[i] += (cr_real)((const float *)from)[i];
}

/* cellrun.h's step->print. Calls that are split take turns. */
static void run_print(const struct cellrun_step *step, const char *text,
                      const cellrun_real *values,
                      const struct cellrun_shape *shape)
{
    const struct run *r = step->printer;
    struct cr_arena mem = { 0 };
    struct cr_spec spec;

    if (!r->print)
        return;
    pthread_mutex_lock(&print_turn);
    if (text)
        r->print->line(r->print->ctx, cr_escape(&mem, text));
    if (values && shape && shape_to(shape, &spec)) {
        spec.type = type_of(r->cell);
        r->print->line(r->print->ctx,
                       cr_tensor_text(&mem, &spec, spec.type, values));
    }
    pthread_mutex_unlock(&print_turn);
    cr_arena_free(&mem);
}

static void run_open(struct run *r, const struct cr_op_ctx *s)
{
    const struct call *call = s->attr;
    const struct cr_plugin_cell *c = call->cell;
    struct cr_rng rng = s->rng;
    size_t room = 0;
    int i, n = c->n_in + c->n_params;

    memset(r, 0, sizeof *r);
    atomic_flag_clear(&r->turn);
    r->cell = c;
    r->print = s->print;
    r->room = s->scratch;
    room_of(c, n, s->in, s->out, &room); /* fitted when it was planned */
    for (i = 0; i < n; i++)
        shape_from(&s->in[i], &r->in[i]);
    for (i = 0; i < c->n_out; i++)
        shape_from(&s->out[i], &r->out[i]);
    r->step = (struct cellrun_step){
        .option = call->option,
        .input = r->in,
        .output = r->out,
        .param = r->in + c->n_in,
        .x = (const cellrun_real *const *)(const void *)r->x,
        .w = (const cellrun_real *const *)(const void *)(r->x + c->n_in),
        .y = (cellrun_real *const *)(void *)r->y,
        .keep = s->saved,
        .scratch = (char *)s->scratch + room,
        .seed = cr_rng_u64(&rng, 0),
        .training = s->training,
        .to = r->in[0].rank > 0 ? r->in[0].dim[0] : 1,
        .print = run_print,
        .printer = r,
    };
}

/* The first samples' message counts, whichever thread comes first. */
static void run_part(void *ctx, int64_t from, int64_t to)
{
    struct run *r = ctx;
    struct cellrun_step step = r->step;
    char error[CELLRUN_ERROR_MAX];

    error[0] = '\0';
    step.from = from;
    step.to = to;
    step.error = error;
    r->fn(&step);
    if (!error[0])
        return;
    error[CELLRUN_ERROR_MAX - 1] = '\0';
    while (atomic_flag_test_and_set(&r->turn))
        ;
    if (!r->error[0] || from < r->error_from) {
        memcpy(r->error, error, sizeof error);
        r->error_from = from;
    }
    atomic_flag_clear(&r->turn);
}

/* Tells the plan what a call said; false: nothing of it counts. */
static bool run_ended(struct run *r, const struct cr_op_ctx *s,
                      const char *call)
{
    char *p;

    if (!r->error[0])
        return true;
    for (p = r->error; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
    if (s->stop)
        snprintf(s->stop, CR_STOP_MAX, "%s of plug-in '%s' failed: %s (%s)",
                 r->cell->of->name, r->cell->file, r->error, call);
    return false;
}

/* Whether all of these tensors have as many samples as input 0. */
static bool same_samples(const struct run *r, const struct cellrun_shape *of,
                         int n)
{
    int i;

    for (i = 0; i < n; i++)
        if (of[i].rank < 1 || of[i].dim[0] != r->in[0].dim[0])
            return false;
    return r->in[0].rank > 0;
}

static void run_call(struct run *r, unsigned flag)
{
    const struct cr_plugin_cell *c = r->cell;
    bool split =
        (c->of->flags & flag) && same_samples(r, r->out, c->n_out) &&
        (flag == CELLRUN_SPLIT_FORWARD ? !c->statistics
                                       : same_samples(r, r->in, c->n_in));

    if (split)
        cr_parallel_for_static(r->step.to, 1,
                               (double)cellrun_count(&r->in[0]) /
                                   (double)r->step.to,
                               r, run_part);
    else
        run_part(r, 0, r->step.to);
}

static void plugin_forward(const struct cr_op_ctx *s)
{
    const struct cr_plugin_cell *c = ((const struct call *)s->attr)->cell;
    int i, n = c->n_in + c->n_params;
    struct run r;

    run_open(&r, s);
    r.fn = c->of->forward;
    for (i = 0; i < n; i++)
        r.x[i] = array_in(&r, &s->in[i], s->x[i]);
    for (i = 0; i < c->n_out; i++)
        r.y[i] = array_out(&r, &s->out[i], s->y[i], false);
    for (i = c->n_in; i < n; i++)
        if (s->state[i])
            r.moved[i] = (void *)(uintptr_t)r.x[i];
    r.step.moved = (cellrun_real *const *)(void *)(r.moved + c->n_in);
    run_call(&r, CELLRUN_SPLIT_FORWARD);
    if (!run_ended(&r, s, "forward"))
        return;
    for (i = 0; i < c->n_out; i++)
        array_back(&r, &s->out[i], r.y[i], s->y[i], false);
    for (i = c->n_in; i < n; i++)
        array_back(&r, &s->in[i], r.moved[i], s->state[i], false);
}

static void plugin_backward(const struct cr_op_ctx *s)
{
    const struct cr_plugin_cell *c = ((const struct call *)s->attr)->cell;
    int i, n = c->n_in + c->n_params;
    struct run r;

    run_open(&r, s);
    r.fn = c->of->bprop;
    for (i = 0; i < n; i++)
        r.x[i] = array_in(&r, &s->in[i], s->x[i]);
    for (i = 0; i < c->n_out; i++) {
        r.y[i] = array_in(&r, &s->out[i], s->y[i]);
        r.dy[i] = array_in(&r, &s->out[i], s->dy[i]);
        if (!r.dy[i]) {
            r.dy[i] = room_take(&r, &s->out[i]);
            memset((void *)(uintptr_t)r.dy[i], 0,
                   (size_t)cr_count(&s->out[i]) * c->real_size);
        }
    }
    for (i = 0; i < n; i++)
        r.dx[i] = array_out(&r, &s->in[i], s->dx[i], s->accumulate[i]);
    r.step.dy = (const cellrun_real *const *)(const void *)r.dy;
    r.step.dx = (cellrun_real *const *)(void *)r.dx;
    r.step.dw = (cellrun_real *const *)(void *)(r.dx + c->n_in);
    run_call(&r, CELLRUN_SPLIT_BPROP);
    if (!run_ended(&r, s, "bprop"))
        return;
    for (i = 0; i < n; i++)
        array_back(&r, &s->in[i], r.dx[i], s->dx[i], s->accumulate[i]);
}

/* ---- building ---- */

static struct cr_val *plugin_param(struct cr_build *b,
                                   const struct cr_plugin_cell *c, int i,
                                   const struct cellrun_shape *shape)
{
    const struct cellrun_param *of = &c->of->params[i];
    struct cr_spec spec;

    if (shape->rank < 0)
        return CR_ABSENT;
    shape_to(shape, &spec);
    if (of->role == CELLRUN_STATISTIC)
        return cr_param_state(b, of->name, spec, &c->init[i],
                              CR_DEFAULT_INIT_ZERO);
    if (of->role == CELLRUN_FIXED)
        return cr_param_untrained(b, of->name, spec, &c->init[i],
                                  CR_DEFAULT_INIT_ZERO);
    return cr_param(b, of->name, spec, &c->init[i], CR_DEFAULT_INIT_ZERO, 0);
}

static struct cr_val *plugin_build(struct cr_build *b, struct cr_val *const *in)
{
    const struct cr_plugin_cell *c = (const struct cr_plugin_cell *)b->cell;
    struct call *call = CR_NEW(cr_build_arena(b), struct call);
    struct cr_val *args[CR_OP_MAX], *y, *all[CR_OP_MAX];
    struct cr_spec specs[CR_OP_MAX];
    struct said said;
    int i;

    *call = (struct call){ c, cr_opts(b) };
    for (i = 0; i < c->n_in; i++) {
        args[i] = in[i];
        specs[i] = *cr_val_spec(in[i]);
    }
    said_ask(call, cr_build_arena(b), specs, true, &said);
    if (said.wrong) {
        cr_fail(b, said.code, "%s: %s", c->of->name, said.wrong);
        return NULL;
    }
    for (i = 0; i < c->n_params; i++) {
        args[c->n_in + i] = plugin_param(b, c, i, &said.param[i]);
        if (!args[c->n_in + i])
            return NULL;
    }
    y = cr_emit_op(b, &c->op, call, c->n_in + c->n_params, args);
    for (i = 0; i < c->n_out && y; i++)
        all[i] = cr_output(y, i);
    return y && c->n_out > 1 ? cr_tuple(b, c->n_out, all) : y;
}

void cr_plugin_cell_make(struct cr_plugin_cell *c)
{
    int i, n = c->n_in + c->n_params;

    c->cell.min_inputs = c->cell.max_inputs = c->n_in;
    c->cell.build = plugin_build;
    c->op = (struct cr_op){
        .about = { .name = c->of->name },
        .min_inputs = c->n_in,
        .max_inputs = n,
        .outputs = c->n_out,
        .prints = true,
        .rows = c->of->flags & CELLRUN_SAMPLES_APART ? CR_ROWS_FIRST
                                                     : CR_ROWS_MIXED,
        .plan = plugin_plan,
        .forward = plugin_forward,
        .backward = c->of->bprop ? plugin_backward : NULL,
    };
    for (i = 0; i < n; i++)
        c->op.saved_for_backward |= CR_X(i);
    for (i = 0; i < c->n_out; i++)
        c->op.saved_for_backward |= CR_Y(i);
    for (i = 0; i < c->n_params; i++)
        if (c->of->params[i].role == CELLRUN_STATISTIC) {
            c->op.running_stats |= CR_X(c->n_in + i);
            c->statistics = true;
        }
}
