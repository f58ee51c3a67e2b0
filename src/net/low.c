/*
 * Low precision that pays: products of bfloat16 numbers.
 *
 * In low precision a `half` step stands before each input of a product and
 * behind its result (amp.c), and rounds what lies in float32 memory.
 * Where the processor multiplies bfloat16 (cr_gemm_low) the planner does two
 * things:
 *
 *   - a product whose sides hold bfloat16 numbers only, and whose results'
 *     gradients do, is told so (run.low), in every plan
 *   - a `half` step that one such product alone reads, or that alone reads
 *     its result, becomes part of the product (run.rounds), which rounds
 *     what it reads and writes: that saves two passes over a weight in each
 *     forward pass and each backward one. Not in plans where every value is
 *     looked at.
 *
 * Both give the numbers that the steps apart give, but for subnormal ones,
 * which the instructions take for 0. Backward a `half` is a `half`: the
 * gradient that a product writes for an input that it rounded is rounded as
 * well, and so is, by its writer or in place, what arrives at a result.
 */
#include "net/op_attrs.h"
#include "net/plan.h"

static const struct cr_fake_cast to_bfloat16 = { .type = 1 };

/* A step that rounds to bfloat16 whenever it runs. */
static bool rounds(const struct cr_exec_step *s)
{
    const struct cr_fake_cast *o = s->run.attr;

    return s->op == &cr_op_fake_cast && !o->predict &&
           cr_fake_cast_type(o) == CR_BF16;
}

/* Values that hold bfloat16 numbers only, and steps that multiply such. */
static void mark(struct cr_exec *e)
{
    const struct cr_val *v;
    int i, k;

    for (v = e->graph->vals; v; v = v->next) {
        const struct cr_fake_cast *o =
            v->producer && v->producer->op == &cr_op_fake_cast
                ? v->producer->attr
                : NULL;

        if (v->id >= 0 && e->of[v->id] >= 0 && !(o && o->predict))
            e->vals[e->of[v->id]].bf16 = v->low_type == CR_BF16;
    }
    for (i = 0; i < e->n_steps; i++) {
        struct cr_exec_step *s = &e->steps[i];

        s->run.bf16 = s->op->bf16 != 0;
        for (k = 0; k < CR_OP_MAX; k++)
            if ((s->op->bf16 & CR_X(k)) &&
                (s->x[k] < 0 || !e->vals[s->x[k]].bf16))
                s->run.bf16 = false;
    }
}

/* The one step behind number `at` that reads its result, and the input that
 * it is there; NULL: there is none, or it is read elsewhere too. */
static struct cr_exec_step *reader(struct cr_exec *e, int at, int *input)
{
    int y = e->steps[at].y[0], i, k;

    if (e->vals[y].root || e->vals[y].uses != 1)
        return NULL;
    for (i = at + 1; i < e->n_steps; i++)
        for (k = 0; k < e->steps[i].n_in && e->steps[i].op; k++)
            if (e->steps[i].x[k] == y) {
                *input = k;
                return &e->steps[i];
            }
    return NULL;
}

/* A product whose result is rounded, and so is what comes back for it: it may
 * round what it reads. */
static bool rounded_behind(struct cr_exec *e, const struct cr_exec_step *s)
{
    const struct cr_exec_step *next;
    int k;

    if (s->run.rounds & CR_Y(0))
        return true;
    next = reader(e, (int)(s - e->steps), &k);
    return next && rounds(next);
}

/* The product that makes a value comes first: what goes back for its result
 * is then known to be rounded. */
static void fuse(struct cr_exec *e)
{
    int i, k, at;

    for (i = 0; i < e->n_steps; i++) {
        struct cr_exec_step *half = &e->steps[i], *s;

        if (!half->op || !rounds(half))
            continue;
        at = cr_plan_producer(e, half->x[0], i);
        s = at >= 0 ? &e->steps[at] : NULL;
        if (s && s->run.bf16 && (s->op->rounds & CR_Y(0)) &&
            s->act == CR_ACT_NONE) {
            cr_plan_takes(e, at, half->y[0]);
            s->run.rounds |= CR_Y(0);
            half->op = NULL;
            continue;
        }
        s = reader(e, i, &k);
        if (s && s->run.bf16 && (s->op->rounds & CR_X(k)) &&
            rounded_behind(e, s)) {
            s->x[k] = half->x[0];
            s->run.rounds |= CR_X(k);
            half->op = NULL;
        }
    }
}

/* A `half` step whose input nobody else reads rounds it where it lies. */
static void in_place(struct cr_exec *e)
{
    int i, at;

    for (i = 0; i < e->n_steps; i++) {
        const struct cr_exec_step *s = &e->steps[i];

        if (s->op != &cr_op_fake_cast || s->same || e->vals[s->x[0]].alias >= 0)
            continue;
        at = cr_plan_producer(e, s->x[0], i);
        if (at >= 0 && !(e->steps[at].op->saved_for_backward & CR_Y(0)))
            e->vals[s->x[0]].alias = s->y[0];
    }
}

void cr_plan_low(struct cr_exec *e)
{
    bool apart = e->opts.keep_outputs || e->opts.eager || e->prints;

    if (cr_gemm_low())
        mark(e);
    if (cr_gemm_low() && !apart)
        fuse(e);
    if (!apart)
        in_place(e);
}

bool cr_plan_low_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    int grad = e->vals[f->y[0]].grad, i;
    struct cr_pval *g = &e->vals[grad];
    struct cr_exec_step *s, *w;

    if (!f->run.bf16 || grad < 0)
        return false;
    w = g->writers == 1 && g->writer >= 0 ? &e->steps[g->writer] : NULL;
    if (!(f->run.rounds & CR_Y(0)))
        return w && rounds(w);
    for (i = 0; w && i < w->n_in; i++)
        if (w->dx[i] == grad && w->run.bf16 && (w->op->rounds & CR_X(i)) &&
            !w->accumulate[i]) {
            w->run.rounds |= CR_X(i);
            return true;
        }
    s = cr_plan_new(e, CR_BACKWARD, NULL);
    s->op = &cr_op_fake_cast;
    s->n_in = 1;
    s->run.attr = &to_bfloat16;
    s->run.in = s->run.out = f->run.out;
    s->dy[0] = s->dx[0] = grad;
    return true;
}

void cr_plan_low_gave(struct cr_exec *e, const struct cr_exec_step *f, int at)
{
    const struct cr_exec_step *s = &e->steps[at];

    if (f->op == &cr_op_fake_cast && s->dx[0] >= 0 && !s->accumulate[0] &&
        e->vals[f->x[0]].uses == 1 && !e->vals[s->dx[0]].root &&
        !e->vals[cr_plan_base(e, s->dy[0])].root)
        e->vals[s->dx[0]].alias = s->dy[0];
}
