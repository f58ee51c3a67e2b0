/*
 * Casts to low precision become part of the steps around them.
 *
 * Where precision asks for it (graph/precision.c) a cast stands before an op
 * and after it, and rounds what lies in float32 memory. A step whose op can
 * (.low) takes
 *
 *   - the cast after it, if nothing else reads its result: it rounds what it
 *     writes, and the gradient that arrives is rounded by its one writer, if
 *     that can, or in place
 *   - the cast before it, of a parameter that it alone reads and that is larger
 *     than its result: the parameter is rounded whenever it is read, and its
 *     gradient is rounded before it is added or becomes an update. That saves
 *     a copy of the parameter, and two passes over it. Of a table, only the
 *     rows that a batch reads are rounded.
 *
 * Of a gradient that several processes have parts of (plan/split.c), the sum is
 * rounded, not the parts: these stay float32, and a step of collectives.c adds
 * them up and rounds the sum.
 *
 * Not in plans that keep every value. Both give the numbers of separate steps,
 * except for subnormal bfloat16 where
 * the processor multiplies bfloat16 (cr_gemm_low), which takes them for 0.
 *
 * An op whose backward pass reads its own result reads it as it is stored:
 * rounded, as in MindSpore 2.10 (tanh: 1 - y * y). MindSpore's gradients of
 * softmax and logsumexp are several functions, each of which rounds: nearest to
 * these numbers is one that reads no rounded ones (.saved_unrounded).
 */
#include "graph/op_attrs.h"
#include "plan/plan.h"

#define LARGE ((size_t)1 << 16) /* bytes of a parameter, under mpirun */

/* The type that a step rounds to whenever it runs; CR_REAL: it is no cast. */
static enum cr_type cast_type(const struct cr_exec_step *s)
{
    const struct cr_fake_cast *o = s->attr;

    return s->op == &cr_op_fake_cast && !o->predict ? cr_fake_cast_type(o)
                                                    : CR_REAL;
}

static bool same_cast(const struct cr_exec_step *a,
                      const struct cr_exec_step *b)
{
    const struct cr_fake_cast *x = a->attr, *y = b->attr;

    return x->type == y->type && x->predict == y->predict &&
           x->sum == y->sum &&
           a->same == b->same; /* idle in training */
}

/* Whether the step supports low precision of that type at an operand. */
static bool takes(const struct cr_exec_step *s, unsigned operand,
                  enum cr_type type)
{
    return s->op && (s->op->low & operand) && !(s->end.parts & CR_END_SCALE) &&
           (s->low == CR_REAL || s->low == type);
}

/* The type that the gradient of a step's result is rounded to, likewise. */
static enum cr_type gradient_type(const struct cr_exec_step *s)
{
    const struct cr_fake_cast *o = s->attr;

    return cast_type(s) != CR_REAL && o->sum ? CR_REAL : cast_type(s);
}

/* The one operand that reads the result of a step; NULL: there is none, or it
 * is read elsewhere too. */
static struct cr_operand *reader(const struct cr_exec_step *s)
{
    const struct cr_pval *y = s->y[0];

    return (y->root && !y->once) || y->n_uses != 1 ? NULL : y->uses;
}

static void take_cast_after(struct cr_exec *e, struct cr_exec_step *s,
                            struct cr_exec_step *cast)
{
    struct cr_pval *y = cast->y[0];

    s->low = cast_type(cast);
    s->rounds |= CR_Y(0);
    cr_step_remove(e, cast);
    cr_step_takes(s, y);
}

static void take_cast_before(struct cr_exec *e, struct cr_operand *at,
                             struct cr_exec_step *cast)
{
    struct cr_exec_step *s = at->step;
    struct cr_pval *x = cast->x[0].val;

    s->low = cast_type(cast);
    s->rounds |= CR_X(at - s->x);
    cr_step_remove(e, cast);
    cr_operand_set(at, x);
}

/* Whether the operand is a table whose rows the step reads: it rounds those. */
static bool is_table(const struct cr_operand *at)
{
    const struct cr_exec_step *s = at->step;

    return s->op && s->op->algebra.takes_rows && at == s->x &&
           s->op->algebra.takes_rows(s->attr);
}

/* Whether the cast is of a parameter for which a copy is too much, and which
 * nothing else reads: else the copy is for all, cr_plan_casts_share. What
 * processes share out has other sizes in each, and their plans must be the
 * same. */
static bool is_large_param(const struct cr_exec *e,
                           const struct cr_exec_step *cast,
                           const struct cr_operand *at)
{
    const struct cr_exec_step *s = at->step;
    size_t most = e->split ? LARGE : s->y[0]->bytes;

    return cast->x[0].val->param >= 0 && cast->x[0].val->n_uses == 1 &&
           (s->macs > 0 || is_table(at)) && cast->x[0].val->bytes >= most;
}

/* Whether the step reads it sample by sample, which no parameter has. */
static bool samples_of(const struct cr_operand *at)
{
    return at->step->op && at->step->op->low_scratch && at == at->step->x;
}

/* Whether the step can round its result in place of the cast after it: if the
 * backward pass reads the result, then as that cast rounds it. */
static bool can_round(const struct cr_exec *e, const struct cr_exec_step *s,
                      const struct cr_exec_step *cast)
{
    bool reads = e->opts.backward && (s->op->saved_for_backward & CR_Y(0));
    enum cr_type type = cast_type(cast);

    return !s->same && s->op != &cr_op_fake_cast && !cr_plan_moves(s->op) &&
           takes(s, CR_Y(0), type) && s->end.parts == 0 &&
           !(s->rounds & CR_Y(0)) &&
           (s->op->exact || !reads || cr_plan_casts_stored(s, 0) == cast->y[0]);
}

/* Whether a parameter is rounded once and for all, and the step reads what came
 * of it: it takes longer to round it again and again, unless it need not. */
static bool stays(const struct cr_exec_step *cast, const struct cr_operand *at)
{
    const struct cr_exec_step *s = at->step;
    struct cr_op_ctx ctx = { .attr = s->attr,
                             .in = s->in,
                             .out = s->out,
                             .low = cast_type(cast) };

    return cast->once && !is_table(at) &&
           !(s->op->kernels && s->op->kernels->rounds_for_free &&
             s->op->kernels->rounds_for_free(&ctx, (int)(at - s->x)));
}

static void fuse(struct cr_exec *e)
{
    struct cr_exec_step *cast, *next, *s;
    struct cr_operand *at;

    for (cast = e->first; cast; cast = next) {
        enum cr_type type = cast_type(cast);

        next = cast->next;
        if (type == CR_REAL)
            continue;
        s = cr_step_producer(cast->x[0].val);
        if (s && can_round(e, s, cast)) {
            take_cast_after(e, s, cast);
            continue;
        }
        at = reader(cast);
        if (at && !samples_of(at) && gradient_type(cast) == type &&
            (takes(at->step, CR_X(at - at->step->x), type) || is_table(at)) &&
            is_large_param(e, cast, at) && !stays(cast, at))
            take_cast_before(e, at, cast);
    }
}

/* Whether one cast to that type alone reads y[0], and rounds its gradient: the
 * sum of several rounded ones is float32. */
static bool cast_alone(const struct cr_exec_step *s, enum cr_type type)
{
    const struct cr_operand *at = s->y[0]->uses;

    return s->y[0]->n_uses == 1 && at->step->op == &cr_op_fake_cast &&
           gradient_type(at->step) == type;
}

/* Which operands of products hold such numbers already. */
static void mark(struct cr_exec *e)
{
    struct cr_exec_step *s;
    int k;

    for (s = e->first; s; s = s->next) {
        for (k = 0; k < s->n_in && s->macs > 0; k++) {
            const struct cr_pval *x = s->x[k].val;

            if (x && x->low != CR_REAL && takes(s, CR_X(k), x->low))
                s->low = x->low;
        }
        for (k = 0; k < s->n_in && s->low != CR_REAL && s->macs > 0; k++)
            if (s->x[k].val && s->x[k].val->low == s->low)
                s->holds |= CR_X(k);
        if (s->low != CR_REAL && s->macs > 0 && cast_alone(s, s->low))
            s->holds |= CR_Y(0);
    }
}

/* Where no gradient is rounded: casts of what holds such numbers already, as
 * around a dropout that does nothing. */
static void drop_idle(struct cr_exec *e)
{
    struct cr_exec_step *cast, *next;

    for (cast = e->first; cast; cast = next) {
        struct cr_pval *x, *y;

        next = cast->next;
        if (cast_type(cast) == CR_REAL)
            continue;
        x = cast->x[0].val;
        y = cast->y[0];
        if (x->low != cast_type(cast) || x->root || y->root || cast->once)
            continue;
        while (y->uses)
            cr_operand_set(y->uses, x);
        y->alias = x; /* views share its memory */
        cr_step_remove(e, cast);
    }
}

/* Casts of a value that differ in their gradients alone: the first one is for
 * all. Nothing outside reads what is a root for being computed once. */
void cr_plan_casts_share(struct cr_exec *e)
{
    struct cr_exec_step **first =
        CR_NEWS(&e->arena, struct cr_exec_step *, e->n_vals + 1);
    struct cr_exec_step *cast, *next;

    for (cast = e->first; cast; cast = next) {
        const struct cr_pval *x = cast->x ? cast->x[0].val : NULL;
        struct cr_exec_step **at;

        next = cast->next;
        if (cast->kind != CR_FORWARD || cast->op != &cr_op_fake_cast ||
            (cast->y[0]->root && !cast->y[0]->once))
            continue;
        at = &first[x->id];
        if (!*at || !same_cast(*at, cast)) {
            *at = cast;
            continue;
        }
        while (cast->y[0]->uses)
            cr_operand_set(cast->y[0]->uses, (*at)->y[0]);
        cast->y[0]->alias = (*at)->y[0];
        cast->y[0]->root = cast->y[0]->once = false;
        cr_step_remove(e, cast);
    }
}

bool cr_plan_casts(struct cr_exec *e)
{
    bool apart = cr_plan_keeps_all(e) || e->prints;

    if (!apart && !e->opts.backward)
        cr_plan_casts_share(e);
    if (!apart)
        fuse(e);
    cr_plan_low_types(e);
    if (!apart && !e->opts.backward)
        drop_idle(e);
    mark(e);
    return true;
}

/* ---- backward ---- */

struct cr_pval *cr_plan_casts_stored(const struct cr_exec_step *s, int i)
{
    struct cr_pval *y = s->y[i];
    const struct cr_operand *at;

    if (s->op->saved_unrounded && !s->end.act)
        return y;
    for (at = y->uses; at; at = at->next) {
        const struct cr_fake_cast *o = at->step->attr;

        if (at->step->kind == CR_FORWARD && at->step->op == &cr_op_fake_cast &&
            o->result)
            return at->step->y[0];
    }
    return y;
}

/* Whether this process has a part of the gradient of a value, which is the sum
 * of those of all. */
static bool is_partial(const struct cr_exec *e, const struct cr_pval *val)
{
    return e->split && e->opts.update && val->part == CR_PART_ALIKE;
}

static bool writer_rounds(const struct cr_exec *e, const struct cr_pval *g,
                          enum cr_type type);

/* What a step moves to its dx is rounded where it comes from, too, if that can
 * be: it takes two bytes on its way then. */
static void sources_round(const struct cr_exec *e, const struct cr_exec_step *w,
                          enum cr_type type)
{
    int i;

    for (i = 0; i < w->n_out; i++) {
        const struct cr_pval *g = w->dy[i].val;

        if (g && !g->alias && !g->root && !g->seed && g->n_uses == 1)
            writer_rounds(e, g, type);
    }
}

/* Whether the one step that writes gradient g rounds it. */
static bool writer_rounds(const struct cr_exec *e, const struct cr_pval *g,
                          enum cr_type type)
{
    struct cr_exec_step *w = g->maker;
    int i;

    for (i = 0; w && w->kind == CR_BACKWARD && i < w->n_in; i++)
        if (w->dx[i] == g && !w->acc[i].val && takes(w, CR_X(i), type)) {
            w->rounds |= CR_X(i);
            w->low = type;
            if (i == 0 && cr_plan_moves(w->op) && !e->split)
                sources_round(e, w, type);
            return true;
        }
    return false;
}

/* A step that rounds a gradient g of that value, or the sum of its parts. */
static struct cr_exec_step *rounding(struct cr_exec *e, enum cr_type type,
                                     struct cr_pval *g,
                                     const struct cr_pval *val)
{
    struct cr_exec_step *s =
        cr_step_new(e, CR_BACKWARD, &cr_op_fake_cast, 1, 1);
    struct cr_fake_cast *attr = CR_NEW(&e->arena, struct cr_fake_cast);

    attr->type = type == CR_BF16;
    s->attr = attr;
    s->in = s->out = CR_NEW(&e->arena, struct cr_spec);
    s->in[0] = g->spec;
    cr_operand_set(&s->dy[0], g);
    if (is_partial(e, val))
        cr_plan_sum_first(e, s, type);
    cr_step_append(e, s);
    return s;
}

static void round_in_place(struct cr_exec *e, const struct cr_exec_step *f)
{
    struct cr_pval *g = f->y[0]->grad;
    struct cr_exec_step *s = rounding(e, f->low, g, f->y[0]);

    s->dx[0] = f->y[0]->grad = cr_pval_new(e, &g->spec);
    s->dx[0]->maker = s;
    s->dx[0]->alias = g;
    s->dx[0]->root = g->root;
}

bool cr_plan_casts_backward(struct cr_exec *e, const struct cr_exec_step *f)
{
    enum cr_type type = gradient_type(f);
    struct cr_pval *g = f->y[0]->grad, *x = f->x[0].val;

    if (!g)
        return false;
    if (type != CR_REAL && !cr_plan_keeps_all(e) && !g->alias && !g->root &&
        !x->grad && x->needs && !is_partial(e, x) &&
        writer_rounds(e, g, type)) {
        x->grad = g;
        g->root = (x->param >= 0 || x->feed >= 0) && e->opts.separate_update &&
                  !e->opts.private_gradients;
        return true;
    }
    if ((f->rounds & CR_Y(0)) && !cr_plan_casts_by_writer(e, f))
        round_in_place(e, f);
    return false;
}

bool cr_plan_casts_by_writer(const struct cr_exec *e,
                             const struct cr_exec_step *f)
{
    const struct cr_pval *g = f->y[0]->grad;

    return !is_partial(e, f->y[0]) &&
           (g->low == f->low || writer_rounds(e, g, f->low));
}

bool cr_plan_casts_partial(const struct cr_exec *e,
                           const struct cr_exec_step *f, int i)
{
    return (f->rounds & CR_X(i)) && is_partial(e, f->x[i].val);
}

void cr_plan_casts_write(struct cr_exec *e, const struct cr_exec_step *f,
                         struct cr_exec_step *s, int i)
{
    struct cr_pval *x = f->x[i].val, *g;

    s->partial |= CR_X(i);
    g = s->dx[i] = cr_pval_new(e, &x->spec);
    g->maker = s;
    cr_plan_write(e, rounding(e, f->low, g, x), 0, x);
}

void cr_plan_casts_done(struct cr_exec *e, const struct cr_exec_step *f,
                        struct cr_exec_step *s)
{
    if (f->op != &cr_op_fake_cast || !s->dx[0])
        return;
    if (gradient_type(f) != CR_REAL && is_partial(e, f->x[0].val))
        cr_plan_sum_first(e, s, gradient_type(f));
    if (!s->acc[0].val && f->x[0].val->n_uses == 1 && !s->dx[0]->root &&
        !cr_pval_base(s->dy[0].val)->root)
        s->dx[0]->alias = s->dy[0].val;
}
