/*
 * Products of bfloat16 numbers.
 *
 * In low precision a fake cast (amp.c) stands before each input of a product
 * and after its result, and rounds what lies in float32 memory. Where the
 * processor multiplies bfloat16 (cr_gemm_low) this pass does two things:
 *
 *   - a product whose inputs hold bfloat16 numbers only, and the gradient of
 *     whose result does, is marked (step->bf16), in every plan
 *   - a fake cast that one such product alone reads, or that alone reads its
 *     result, becomes part of the product (step->rounds), which rounds what it
 *     reads and writes: that saves two passes over a weight in each forward
 *     pass and each backward one. Not in plans that keep every value.
 *
 * Both give the numbers of separate steps, except for subnormal ones, which
 * the instructions treat as 0. The gradient of a fake cast is a fake cast: the
 * gradient that a product writes for an input that it rounds is rounded too,
 * and so is, by its writer or in place, the gradient of a rounded result.
 */
#include "graph/op_attrs.h"
#include "plan/plan.h"

static const struct cr_fake_cast to_bfloat16 = { .type = 1 };

/* A step that rounds to bfloat16 whenever it runs. */
static bool rounds(const struct cr_exec_step *s)
{
    const struct cr_fake_cast *o = s->attr;

    return s->op == &cr_op_fake_cast && !o->predict &&
           cr_fake_cast_type(o) == CR_BF16;
}

/* Values that hold bfloat16 numbers only, and steps that multiply such. */
static void mark(struct cr_exec *e)
{
    const struct cr_val *v;
    struct cr_exec_step *s;
    int k;

    for (v = e->graph->vals; v; v = v->next) {
        const struct cr_fake_cast *o =
            v->producer && v->producer->op == &cr_op_fake_cast
                ? v->producer->attr
                : NULL;

        if (v->id >= 0 && e->of[v->id] && !(o && o->predict))
            e->of[v->id]->bf16 = v->low_type == CR_BF16;
    }
    for (s = e->first; s; s = s->next) {
        s->bf16 = s->op->bf16 != 0;
        for (k = 0; k < CR_OP_MAX; k++)
            if ((s->op->bf16 & CR_X(k)) &&
                (k >= s->n_in || !s->x[k].val || !s->x[k].val->bf16))
                s->bf16 = false;
    }
}

/* The one operand that reads the result of a step; NULL: there is none, or it
 * is read elsewhere too. */
static struct cr_operand *reader(const struct cr_exec_step *s)
{
    return s->y[0]->root || s->y[0]->n_uses != 1 ? NULL : s->y[0]->uses;
}

/* Whether the result of a product is rounded, and so its gradient: the product
 * may then round what it reads. */
static bool rounded_after(const struct cr_exec_step *s)
{
    const struct cr_operand *next = reader(s);

    return (s->rounds & CR_Y(0)) || (next && rounds(next->step));
}

static void take_cast_after(struct cr_exec *e, struct cr_exec_step *s,
                            struct cr_exec_step *cast)
{
    struct cr_pval *y = cast->y[0];

    cr_step_remove(e, cast);
    cr_step_takes(s, y);
    s->rounds |= CR_Y(0);
}

static void take_cast_before(struct cr_exec *e, struct cr_operand *at, int k,
                             struct cr_exec_step *cast)
{
    struct cr_pval *x = cast->x[0].val;

    cr_step_remove(e, cast);
    cr_operand_set(at, x);
    at->step->rounds |= CR_X(k);
}

/* The product that makes a value comes first: it is then known that the
 * gradient of its result is rounded. */
static void fuse(struct cr_exec *e)
{
    struct cr_exec_step *cast, *next, *s;
    struct cr_operand *at;
    int k;

    for (cast = e->first; cast; cast = next) {
        next = cast->next;
        if (!rounds(cast))
            continue;
        s = cr_step_producer(cast->x[0].val);
        if (s && s->bf16 && (s->op->rounds & CR_Y(0)) &&
            s->act == CR_ACT_NONE) {
            take_cast_after(e, s, cast);
            continue;
        }
        at = reader(cast);
        s = at ? at->step : NULL;
        k = s ? (int)(at - s->x) : 0;
        if (s && s->bf16 && (s->op->rounds & CR_X(k)) && rounded_after(s))
            take_cast_before(e, at, k, cast);
    }
}

/* A fake cast that alone reads its input rounds it in place. */
static void in_place(struct cr_exec *e)
{
    struct cr_exec_step *s, *by;

    for (s = e->first; s; s = s->next) {
        if (s->op != &cr_op_fake_cast || s->same || s->x[0].val->alias)
            continue;
        by = cr_step_producer(s->x[0].val);
        if (by && !(by->op->saved_for_backward & CR_Y(0)))
            s->x[0].val->alias = s->y[0];
    }
}

bool cr_plan_bf16(struct cr_exec *e)
{
    bool apart = cr_plan_keeps_all(e) || e->prints;

    if (cr_gemm_low())
        mark(e);
    if (cr_gemm_low() && !apart)
        fuse(e);
    if (!apart)
        in_place(e);
    return true;
}

/* ---- backward ---- */

bool cr_plan_bf16_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    struct cr_pval *g = f->y[0]->grad;
    struct cr_exec_step *s, *w;
    int i;

    if (!f->bf16 || !g)
        return false;
    w = g->alias ? NULL : g->maker;
    if (!(f->rounds & CR_Y(0)))
        return w && rounds(w);
    for (i = 0; w && i < w->n_in; i++)
        if (w->dx[i] == g && w->bf16 && (w->op->rounds & CR_X(i)) &&
            !w->acc[i].val) {
            w->rounds |= CR_X(i);
            return true;
        }
    s = cr_step_new(e, CR_BACKWARD, &cr_op_fake_cast, 1, 1);
    s->attr = &to_bfloat16;
    s->in = s->out = f->out;
    cr_operand_set(&s->dy[0], g);
    s->dx[0] = f->y[0]->grad = cr_pval_new(e, &g->spec);
    s->dx[0]->maker = s;
    s->dx[0]->alias = g;
    s->dx[0]->root = g->root;
    cr_step_append(e, s);
    return true;
}

void cr_plan_bf16_done(const struct cr_exec_step *f, struct cr_exec_step *s)
{
    if (f->op == &cr_op_fake_cast && s->dx[0] && !s->acc[0].val &&
        f->x[0].val->n_uses == 1 && !s->dx[0]->root &&
        !cr_pval_base(s->dy[0].val)->root)
        s->dx[0]->alias = s->dy[0].val;
}
