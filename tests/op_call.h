/*
 * Calls of single ops for tests: each op of the registry with the cases of
 * tests/cases/ops/NAME.yaml, which t_ops.c describes.
 */
#ifndef CR_TESTS_OP_CALL_H
#define CR_TESTS_OP_CALL_H

#include "base/thread_pool.h"
#include "case.h"
#include "graph/op.h"

#include <stdlib.h>
#include <unistd.h>

#define CR_OP(x) extern const struct cr_op cr_op_##x;
#include "registry_pass.h"

static const struct {
    const char *leaf;
    const struct cr_op *op;
} ops[] = {
#define CR_OP(x) { #x, &cr_op_##x },
#include "registry_pass.h"
};

/* One op with its inputs. */
struct call {
    struct cr_arena *arena;
    const struct cr_op *op;
    const char *name;
    struct cr_op_plan plan;
    struct cr_spec in[CR_OP_MAX], out[CR_OP_MAX];
    void *x[CR_OP_MAX];
    void *y[CR_OP_MAX];
    void *state[CR_OP_MAX]; /* moved copies of x */
    cr_real *dy[CR_OP_MAX];
    void *keep, *scratch;
    enum cr_act act;
    cr_map *map;
    cr_map_grad *grad; /* of map, in backward */
    bool no_y;         /* where a mask is found without y[0] */
    cr_real scale;
};

static void poison(void *data, size_t bytes)
{
    memset(data, 0xff, bytes); /* NaN, in float and in double */
}

static struct cr_op_ctx step_of(const struct call *c)
{
    struct cr_op_ctx s = { .attr = c->plan.attr,
                           .in = c->in,
                           .out = c->out,
                           .saved = c->plan.saved ? c->keep : NULL,
                           .scratch = c->scratch,
                           .end = { .act = c->act, .map = c->map },
                           .scale = c->scale,
                           .rng = cr_rng(3, CR_STREAM_TEST, 5, 1),
                           .training = c->plan.training };
    int i;

    for (i = 0; i < CR_OP_MAX; i++)
        s.alpha[i] = 1;
    return s;
}

/* Whether the kernels take these parts of an epilogue. */
static bool takes(const struct call *c, unsigned of, unsigned parts)
{
    struct cr_op_ctx s = { .attr = c->plan.attr, .in = c->in, .out = c->out };

    return c->op->kernels && c->op->kernels->accepts &&
           c->op->kernels->accepts(&s, of, parts);
}

static void forward(struct call *c)
{
    struct cr_op_ctx s = step_of(c);
    int i;

    for (i = 0; i < c->plan.n_in; i++) {
        s.x[i] = c->x[i];
        if ((c->op->running_stats & CR_X(i)) && c->x[i] && c->plan.training) {
            memcpy(c->state[i], c->x[i], cr_bytes(&c->in[i]));
            s.state[i] = c->state[i];
        }
    }
    for (i = 0; i < c->plan.n_out; i++) {
        s.y[i] = c->y[i];
        poison(c->y[i], cr_bytes(&c->out[i]));
    }
    poison(c->keep, c->plan.saved + 64);
    poison(c->scratch, c->plan.scratch + 64);
    c->op->forward(&s);
}

/* What a run of backward is asked for. */
struct want {
    cr_real *dx[CR_OP_MAX]; /* NULL: not requested */
    bool add;
    int alpha_of; /* input whose alpha is ALPHA; -1 */
    int mask_of;  /* input whose mask is set; -1 */
    const cr_real *mask;
};

#define ALPHA (-0.5)

static void backward(struct call *c, const struct want *w)
{
    struct cr_op_ctx s = step_of(c);
    int i;

    for (i = 0; i < c->plan.n_in; i++) {
        s.x[i] = c->op->saved_for_backward & CR_X(i) ? c->x[i] : NULL;
        s.dx[i] = w->dx[i];
        s.accumulate[i] = w->add;
    }
    for (i = 0; i < c->plan.n_out; i++) {
        s.y[i] = c->op->saved_for_backward & CR_Y(i) ? c->y[i] : NULL;
        s.dy[i] = c->dy[i];
    }
    if (w->alpha_of >= 0) {
        s.alpha[w->alpha_of] = ALPHA;
        s.accumulate[w->alpha_of] = true;
    }
    if (w->mask_of >= 0)
        s.mask[w->mask_of] = w->mask;
    s.end.act =
        takes(c, CR_Y(0), CR_END_ACT | CR_END_BACKWARD) ? c->act : CR_ACT_NONE;
    if (s.end.act != CR_ACT_NONE && !c->no_y)
        s.y[0] = c->y[0];
    s.end.map = NULL;
    s.end_grad = c->grad;
    poison(c->scratch, c->plan.scratch + 64);
    if (s.saved) /* which it may write over */
        s.saved = memcpy(cr_alloc(c->arena, c->plan.saved + 64, 1), c->keep,
                         c->plan.saved);
    c->op->backward(&s);
}

static bool wants_gradient(const struct call *c, int i)
{
    return c->x[i] && c->in[i].type == CR_REAL &&
           !(c->op->running_stats & CR_X(i));
}

static cr_real *reals(struct call *c, int i)
{
    return cr_alloc(c->arena, (size_t)cr_count(&c->in[i]) + 16,
                    sizeof(cr_real));
}

/* Plans it for inputs as they are. */
static bool plan_inputs(struct call *c)
{
    int i;

    c->plan.saved = c->plan.scratch = 0;
    if (!c->op->plan(&c->plan))
        return false;
    for (i = 0; i < c->plan.n_out; i++)
        c->y[i] = cr_alloc(c->arena, cr_bytes(&c->out[i]) + 64, 1);
    for (i = 0; i < c->plan.n_in; i++)
        c->state[i] = cr_alloc(c->arena, cr_bytes(&c->in[i]) + 64, 1);
    c->keep = cr_alloc(c->arena, c->plan.saved + 64, 1);
    c->scratch = cr_alloc(c->arena, c->plan.scratch + 64, 1);
    return true;
}

static bool plan_call(struct call *c, const struct cr_node *node,
                      struct cr_diag *diag, int64_t batch)
{
    const struct cr_node *training = cr_node_get(node, "training");
    void *attr = cr_alloc(c->arena, 1, c->op->about.size + 8);
    int n = 0;

    for (CR_EACH(t, cr_node_get(node, "in"))) {
        c->x[n] = case_tensor(c->arena, t, batch, (uint64_t)n, &c->in[n]);
        n++;
    }
    c->scale = 1;
    c->plan = (struct cr_op_plan){ .attr = attr,
                                   .diag = diag,
                                   .arena = c->arena,
                                   .training = !training || training->boolean,
                                   .n_in = n,
                                   .in = c->in,
                                   .out = c->out,
                                   .n_out = c->op->outputs };
    return cr_opts_read(c->arena, diag, &c->op->about,
                        cr_node_get(node, "opts"), node->pos, attr) &&
           plan_inputs(c);
}

typedef void call_case(const struct cr_op *op, const struct cr_node *node,
                       int64_t batch);

/* The cases of a file; whether one is for any batch size. */
static bool call_file(const char *kind, const char *leaf,
                      const struct cr_op *op, call_case *run_case)
{
    struct case_file f;
    bool batches = false;

    if (case_open(&f, kind, leaf))
        for (CR_EACH(c, f.root)) {
            case_begin(op->about.name, c);
            if (!case_any_batch(c)) {
                run_case(op, c, 0);
                continue;
            }
            batches = true;
            run_case(op, c, 3);
            run_case(op, c, 1);
        }
    case_close(&f);
    return batches;
}

static bool has_file(const char *kind, const char *leaf)
{
    struct cr_arena mem = { 0 };
    bool has =
        access(cr_strf(&mem, "tests/cases/%s/%s.yaml", kind, leaf), F_OK) == 0;

    cr_arena_free(&mem);
    return has;
}

/* Calls `run_case` for every case of the ops that are wanted (NULL: all);
 * whether op i has one for any batch size. */
static void call_all(call_case *run_case, bool (*wanted)(const struct cr_op *),
                     bool *batches)
{
    size_t i;

    for (i = 0; i < CR_LEN(ops); i++) {
        batches[i] = true;
        if (!ops[i].op->plan) /* made of other ops: tests/golden */
            continue;
        if (wanted && !wanted(ops[i].op))
            continue;
        batches[i] = call_file("ops", ops[i].leaf, ops[i].op, run_case);
        if (has_file("ops/torch", ops[i].leaf))
            call_file("ops/torch", ops[i].leaf, ops[i].op, run_case);
    }
}

static const char *call_name(const struct call *c, const struct cr_node *node,
                             int64_t batch)
{
    return cr_strf(c->arena, "%s, %s%s", c->op->about.name, case_name(node),
                   batch == 0  ? ""
                   : batch > 1 ? " (batch)"
                               : " (batch of one)");
}

#endif
