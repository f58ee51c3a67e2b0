/*
 * Storage of low precision in two bytes per element.
 *
 * In low precision most values are float16 or bfloat16 numbers. Where the op
 * that writes such a value, or such a gradient, and one that reads it take it
 * so (.low), it lies in memory as two bytes per element; before a step that
 * cannot read them it is widened to float32 for it.
 *
 * Others are float32 while forward uses them. For one that no step uses for a
 * while between its last use in forward and its first use in backward, this
 * pass
 *
 *   - rounds a parameter again before backward instead of keeping its copy
 *   - else adds a step that narrows the value to two bytes per element after
 *     its last use in forward, and one that widens it to float32 before its
 *     first use in backward.
 *
 * It does that only if the plan needs less memory then. All of it is exact, so
 * results are the same. The type of a value follows from the steps: results of
 * casts have low precision, and so have views and moved elements of such
 * values. With CELLRUN_VERIFY=1 each narrowing step checks its values.
 *
 * What no plan gets below, even so:
 *
 *   - With a loss scale no parameter changes before all gradients are known to
 *     be finite, so all of them wait, two bytes each; in float32, SGD without
 *     one has no gradients, they are added as they are computed. A perceptron
 *     (configs/mnist.yaml) needs 1.28 MiB for them, and float32's whole step
 *     2.14 MiB. The rest of its float16 values is 0.16 MiB: one batch of
 *     images and one gradient.
 *   - The recurrence of LSTM computes in float32, with weights and inputs of
 *     low precision, as MindSpore's does: gates and states are no numbers
 *     of low precision, and backward needs them as they are.
 *   - What a kernel packs is float32 (kernels/gemm.inc), in rooms of constant
 *     size, 1.76 MiB per thread: most of a small network's step.
 */
#include "families/two_bytes.h"
#include "graph/op_attrs.h"
#include "mpi/mpi.h"
#include "num/low_precision.h"
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#define WAIT 4     /* steps: values unused for fewer stay as they are */
#define SMALL 1024 /* bytes: smaller values too */

/* Uses of memory that a value and its aliases share. */
struct memory {
    struct cr_pval *content;             /* written last in forward; NULL */
    struct cr_exec_step *last_forward;   /* last use in forward; NULL: none */
    struct cr_exec_step *first_backward; /* first use in backward; or NULL */
    int first, last;                     /* first and last step that uses it */
    bool fixed; /* read from outside, or written in backward */
};

struct two_bytes {
    struct cr_exec *e;
    struct memory *of; /* per value that has memory of its own */
    enum cr_type *stored; /* the same: CR_F16, CR_BF16: in two bytes */
    bool *wanted;         /* the same: some step takes it so, or backward reads
                             it: others get a copy in float32 */
    bool backward;     /* the current step is part of backward */
    bool check;
};

/* ---- which values have low precision ---- */

/* The type of numbers that all real inputs have. */
static enum cr_type inputs_type(const struct cr_exec_step *s)
{
    enum cr_type type = CR_REAL;
    int i;

    for (i = 0; i < s->n_in; i++) {
        const struct cr_pval *x = s->x[i].val;

        if (!x || x->spec.type != CR_REAL)
            continue;
        if (x->low == CR_REAL || (type != CR_REAL && x->low != type))
            return CR_REAL;
        type = x->low;
    }
    return type;
}

/* The type of what an exact step gives: that of its inputs, if it has the
 * fill value. */
static enum cr_type exact_type(const struct cr_exec_step *s)
{
    enum cr_type type = inputs_type(s);
    cr_real number, rounded;

    if (type == CR_REAL || !s->op->algebra.fill_value)
        return type;
    number = (cr_real)s->op->algebra.fill_value(s->attr);
    cr_round_to_type(type, 1, &number, &rounded);
    return rounded == number ? type : CR_REAL;
}

/* Whether the epilogue of a step makes no other numbers. */
static bool end_is_exact(const struct cr_exec_step *s)
{
    return !(s->end.parts & ~(unsigned)(CR_END_ACT | CR_END_MAP)) &&
           (!s->end.act || s->end.act->exact);
}

void cr_plan_low_types(struct cr_exec *e)
{
    const struct cr_exec_step *s;
    enum cr_type type;
    int i;

    for (s = e->first; s; s = s->next) {
        const struct cr_fake_cast *o = s->attr;

        if (s->kind != CR_FORWARD)
            continue;
        if ((s->rounds & CR_Y(0)) ||
            ((s->rounds & CR_X(0)) && s->op->exact)) /* rows of a table */
            type = s->low;
        else if (s->op == &cr_op_fake_cast && !s->same &&
                 !(o->predict && s->training))
            type = cr_fake_cast_type(o);
        else if (s->same || (s->op->exact && end_is_exact(s)))
            type = exact_type(s);
        else
            continue;
        for (i = 0; i < s->n_out; i++)
            if (s->y[i]->spec.type == CR_REAL &&
                (i == 0 || !(s->rounds & CR_Y(0))))
                s->y[i]->low = type;
    }
}

/* ---- values that always take two bytes ---- */

bool cr_plan_moves(const struct cr_op *op)
{
    return op->exact && (op->int_inputs & CR_X(0)) &&
           !cr_is_elementwise(op);
}

static enum cr_type *stored(struct two_bytes *t, struct cr_pval *v)
{
    return &t->stored[cr_pval_base(v)->id];
}

/* A value of that type, CR_REAL if it has none, lies in this memory. */
static void holds(struct two_bytes *t, struct cr_pval *v, enum cr_type type,
                  bool *seen)
{
    struct cr_pval *base = cr_pval_base(v);

    if (base->root || v->root || base->feed >= 0 || base->param >= 0 ||
        v->seed || v->spec.type != CR_REAL || base->bytes < SMALL ||
        (seen[base->id] && t->stored[base->id] != type))
        type = CR_REAL;
    seen[base->id] = true;
    t->stored[base->id] = type;
}

/* Whether the gradient of a parameter may take two bytes until its update: if
 * its writer reads less, or else the writer sums up over many rows, and needs
 * float32 for that. */
static bool update_reads(const struct two_bytes *t, const struct cr_pval *v)
{
    const struct cr_exec_step *w = v->grad->maker;
    size_t read = 0;
    int i;

    if (!t->e->opts.separate_update || !t->e->opts.private_gradients ||
        cr_mpi_size() > 1 || v->param < 0 ||
        !w || w->kind != CR_BACKWARD || t->e->net->params[v->param].rows)
        return false;
    for (i = 0; i < w->n_in && w->n_in > 1; i++)
        if (w->x[i].val && w->x[i].val->param < 0)
            read += w->x[i].val->bytes;
    for (i = 0; i < w->n_out && w->n_in > 1; i++)
        read += w->dy[i].val ? w->dy[i].val->bytes : 0;
    return read <= v->grad->bytes;
}

/* That of all gradients which a step moves to dx[0]. */
static enum cr_type moved_type(const struct two_bytes *t,
                               const struct cr_exec_step *s)
{
    enum cr_type type = CR_REAL;
    int i;

    for (i = 0; i < s->n_out; i++) {
        const struct cr_pval *dy = s->dy[i].val;
        enum cr_type of = dy ? t->stored[cr_pval_base(s->dy[i].val)->id]
                             : CR_REAL;

        if (dy && (of == CR_REAL || (type != CR_REAL && of != type)))
            return CR_REAL;
        type = dy ? of : type;
    }
    return type;
}

/* What numbers a backward step writes to dx[i]. */
static enum cr_type gradient_type(const struct two_bytes *t,
                                  const struct cr_exec_step *s, int i)
{
    if (s->acc[i].val || s->kind == CR_UPDATE)
        return CR_REAL;
    if (s->rounds & ~s->partial & CR_X(i))
        return s->low;
    if (s->op == &cr_op_fake_cast)
        return ((const struct cr_fake_cast *)s->attr)->sum
                   ? CR_REAL
                   : cr_fake_cast_type(s->attr);
    return i == 0 && s->kind == CR_BACKWARD && (s->op->low & CR_X(0)) &&
                   cr_plan_moves(s->op)
               ? moved_type(t, s)
               : CR_REAL;
}

/* What lies where: forward's values, and gradients that their writer rounds or
 * moves or that a cast makes. */
static void contents_find(struct two_bytes *t)
{
    bool *seen = CR_NEWS(&t->e->arena, bool, t->e->n_vals + 1);
    struct cr_exec_step *s;
    struct cr_pval *v;
    int i;

    for (s = t->e->first; s; s = s->next) {
        bool fixed = s->once || s->constant;

        for (i = 0; s->y && i < s->n_out; i++)
            if (!s->same)
                holds(t, s->y[i], fixed ? CR_REAL : s->y[i]->low, seen);
        for (i = 0; s->dx && i < s->n_in; i++)
            if (s->dx[i])
                holds(t, s->dx[i], gradient_type(t, s, i), seen);
        if (s->saved)
            holds(t, s->saved,
                  s->end.parts & CR_END_KEEP ? s->saved->low : CR_REAL, seen);
        if (s->x_again)
            holds(t, s->x_again, s->x_again->low, seen);
    }
    for (v = t->e->vals; v; v = v->next) {
        if (v->root || v->seed)
            *stored(t, v) = CR_REAL;
        if ((v->param >= 0 || v->feed >= 0) && v->grad && !update_reads(t, v))
            *stored(t, v->grad) = CR_REAL;
    }
}

/* The type that the operand of a step has in memory, if the step takes it;
 * else it stays float32 there. */
static bool takes(const struct cr_exec_step *s, unsigned operand,
                  enum cr_type type)
{
    return s->op && (s->op->low & operand) &&
           (s->low == CR_REAL || s->low == type);
}

struct demote {
    struct two_bytes *t;
    bool any; /* in this round */
};

/* Unless the step can take v so, v is float32. */
static void ask(struct demote *d, struct cr_pval *v, bool can)
{
    enum cr_type *type = v ? stored(d->t, v) : NULL;

    if (!type || *type == CR_REAL || can)
        return;
    *type = CR_REAL;
    d->any = true;
}

static enum cr_type type_at(struct two_bytes *t, struct cr_pval *v)
{
    return v ? *stored(t, v) : CR_REAL;
}

/* Both take two bytes, or none. */
static void ask_same(struct demote *d, struct cr_pval *v, struct cr_pval *w)
{
    bool same = type_at(d->t, v) == type_at(d->t, w);

    ask(d, v, same);
    ask(d, w, same);
}

static bool wanted(struct two_bytes *t, struct cr_pval *v)
{
    return v && t->wanted[cr_pval_base(v)->id];
}

static void wanted_find(struct two_bytes *t)
{
    bool backward = false;
    struct cr_exec_step *s;
    int i;

    for (s = t->e->first; s; s = s->next) {
        for (i = 0; i < s->n_in; i++)
            if (s->x[i].val && !s->same &&
                (backward || takes(s, CR_X(i), type_at(t, s->x[i].val))))
                t->wanted[cr_pval_base(s->x[i].val)->id] = true;
        for (i = 0; s->read_y && i < s->n_out; i++)
            if (s->read_y[i].val)
                t->wanted[cr_pval_base(s->read_y[i].val)->id] = true;
        backward = backward || s == t->e->last_forward;
    }
}

static void step_ask(struct demote *d, struct cr_exec_step *s)
{
    struct two_bytes *t = d->t;
    enum cr_type type;
    int i;

    for (i = 0; i < s->n_in; i++) {
        type = type_at(t, s->x[i].val);
        ask(d, s->x[i].val,
            s->same || takes(s, CR_X(i), type) || wanted(t, s->x[i].val));
    }
    for (i = 0; s->y && i < s->n_out; i++) {
        type = type_at(t, s->y[i]);
        ask(d, s->y[i], s->same || takes(s, CR_Y(i), type));
    }
    if (s->end.parts & CR_END_KEEP)
        ask_same(d, s->saved, s->y[0]);
    if (s->x_again)
        ask_same(d, s->x_again, s->dx[0]);
    for (i = 0; s->y && i < s->n_out && !s->same && cr_plan_moves(s->op); i++)
        if (s->y[i]->spec.type == CR_REAL)
            ask_same(d, s->y[i], s->x[0].val);
    if (s->kind == CR_FORWARD)
        return;
    for (i = 0; i < s->n_in; i++) {
        ask(d, s->acc[i].val, false);
        type = type_at(t, s->dx[i]);
        ask(d, s->dx[i], !s->acc[i].val && takes(s, CR_X(i), type));
        type = type_at(t, s->mask[i].val);
        ask(d, s->mask[i].val, takes(s, CR_X(i), type));
    }
    for (i = 0; i < s->n_out; i++) {
        type = type_at(t, s->dy[i].val);
        ask(d, s->dy[i].val, takes(s, CR_Y(i), type));
        if (s->kind == CR_BACKWARD && s->dx[0] && s->dy[i].val &&
            cr_plan_moves(s->op))
            ask_same(d, s->dx[0], s->dy[i].val);
    }
}

/* Whether v takes two bytes and the step reads or writes it so. */
static bool takes_now(struct two_bytes *t, const struct cr_exec_step *s,
                      unsigned operand, struct cr_pval *v)
{
    enum cr_type type = type_at(t, v);

    return type != CR_REAL && takes(s, operand, type);
}

/* The step's members for what it takes in two bytes. */
static void step_set(struct two_bytes *t, struct cr_exec_step *s)
{
    enum cr_type type = CR_REAL;
    int i;

    if (s->same || !s->op)
        return;
    for (i = 0; i < s->n_in; i++)
        if (takes_now(t, s, CR_X(i), s->x[i].val)) {
            type = type_at(t, s->x[i].val);
            s->two_bytes |= CR_X(i);
        }
    if (type_at(t, s->x_again) != CR_REAL) {
        type = type_at(t, s->x_again);
        s->two_bytes |= CR_X(0);
    }
    for (i = 0; i < s->n_in && s->dx; i++) {
        if (s->mask[i].val && type_at(t, s->mask[i].val) != CR_REAL) {
            type = type_at(t, s->mask[i].val);
            s->mask_two_bytes |= CR_X(i);
        }
        if (s->dx[i] && type_at(t, s->dx[i]) != CR_REAL) {
            type = type_at(t, s->dx[i]);
            s->grads_two_bytes |= CR_X(i);
        }
    }
    for (i = 0; i < s->n_out; i++) {
        struct cr_pval *y = s->y ? s->y[i] : s->read_y[i].val;

        if (takes_now(t, s, CR_Y(i), y)) {
            type = type_at(t, y);
            s->two_bytes |= CR_Y(i);
        }
        if (s->dy && type_at(t, s->dy[i].val) != CR_REAL) {
            type = type_at(t, s->dy[i].val);
            s->grads_two_bytes |= CR_Y(i);
        }
    }
    s->low = type == CR_REAL ? s->low : type;
    if (s->op->low_scratch &&
        (s->two_bytes | s->mask_two_bytes | s->grads_two_bytes)) {
        struct cr_op_ctx ctx = { .attr = s->attr, .in = s->in, .out = s->out };

        s->scratch += s->op->low_scratch(&ctx);
    }
}

/* One step reads float16 and bfloat16: what is not its type is float32. */
static void step_type(struct demote *d, struct cr_exec_step *s)
{
    enum cr_type first = s->low, type;
    struct cr_pval *v[5];
    int i, k;

    for (i = 0; i < CR_OP_MAX; i++) {
        v[0] = i < s->n_in ? s->x[i].val : NULL;
        v[1] = i < s->n_in && s->dx ? s->dx[i] : NULL;
        v[2] = i > 0 ? NULL : s->y ? s->y[0] : s->read_y[0].val;
        v[3] = i > 0 || !s->dy ? NULL : s->dy[0].val;
        v[4] = i < s->n_in && s->mask ? s->mask[i].val : NULL;
        for (k = 0; k < 5; k++) {
            type = type_at(d->t, v[k]);
            if (type == CR_REAL ||
                ((k == 0 || (k == 2 && !s->y)) &&
                 !takes(s, k == 0 ? CR_X(i) : CR_Y(0), type)))
                continue; /* or it reads a copy */
            if (first == CR_REAL)
                first = type;
            ask(d, v[k], type == first);
        }
    }
}

/* ---- who touches what ---- */

static void touch(struct two_bytes *t, struct cr_exec_step *s,
                  struct cr_pval *val, bool writes)
{
    struct memory *m = val ? &t->of[cr_pval_base(val)->id] : NULL;

    if (!m)
        return;
    if (!m->last_forward && !m->first_backward)
        m->first = s->at;
    m->last = s->at;
    if (!t->backward) {
        m->last_forward = s;
        if (writes)
            m->content = val;
        return;
    }
    if (!m->first_backward)
        m->first_backward = s;
    m->fixed = m->fixed || writes;
}

static void touch_operand(void *ctx, struct cr_operand *o)
{
    touch(ctx, o->step, o->val, false);
}

static void touches_find(struct two_bytes *t)
{
    struct cr_exec_step *s;
    struct cr_pval *v;
    int i;

    for (s = t->e->first; s; s = s->next) {
        cr_step_operands(s, t, touch_operand);
        for (i = 0; s->y && i < s->n_out; i++)
            touch(t, s, s->y[i], !s->same);
        for (i = 0; s->dx && i < s->n_in; i++)
            touch(t, s, s->dx[i], true);
        touch(t, s, s->saved, s->kind == CR_FORWARD);
        t->backward = t->backward || s == t->e->last_forward;
    }
    for (v = t->e->vals; v; v = v->next) {
        const struct cr_exec_step *by = v->maker;

        if (v->root || v->feed >= 0 || v->param >= 0 || v->seed ||
            (by && (by->once || by->constant)))
            t->of[cr_pval_base(v)->id].fixed = true;
    }
}

/* ---- the steps ---- */

/* A step of one input and one output. */
static struct cr_pval *step_add(struct two_bytes *t, const struct cr_op *op,
                                const void *attr, struct cr_pval *x,
                                struct cr_spec to, struct cr_exec_step *before)
{
    struct cr_exec_step *s = cr_step_new(t->e, CR_FORWARD, op, 1, 1);

    s->node = before->node;
    s->attr = attr;
    s->in = CR_NEW(&t->e->arena, struct cr_spec);
    s->out = CR_NEW(&t->e->arena, struct cr_spec);
    s->in[0] = x->spec;
    s->out[0] = to;
    cr_operand_set(&s->x[0], x);
    s->y[0] = cr_pval_new(t->e, &to);
    s->y[0]->maker = s;
    s->y[0]->low = x->low;
    cr_step_before(t->e, s, before);
    return s->y[0];
}

/* A copy in float32 for one operand that cannot read two bytes. */
static void operand_widen(struct two_bytes *t, struct cr_operand *o,
                          unsigned bit)
{
    enum cr_type type = type_at(t, o->val);
    struct cr_spec to;

    if (type == CR_REAL || (o->step->two_bytes & bit))
        return;
    to = o->val->spec;
    to.type = CR_REAL;
    cr_operand_set(o, step_add(t, &cr_two_bytes_widen, NULL, o->val, to,
                               o->step));
}

static void step_widen(struct two_bytes *t, struct cr_exec_step *s)
{
    int i;

    for (i = 0; i < s->n_in; i++)
        operand_widen(t, &s->x[i], CR_X(i));
    for (i = 0; s->read_y && i < s->n_out; i++)
        operand_widen(t, &s->read_y[i], CR_Y(i));
}

static void store_all(struct two_bytes *t)
{
    struct demote d = { .t = t, .any = true };
    struct cr_exec_step *s;
    struct cr_pval *v;

    contents_find(t);
    wanted_find(t);
    while (d.any) {
        d.any = false;
        for (s = t->e->first; s; s = s->next) {
            if (!s->same)
                step_type(&d, s);
            step_ask(&d, s);
        }
    }
    for (s = t->e->first; s; s = s->next)
        step_set(t, s);
    for (v = t->e->vals; v; v = v->next)
        if (*stored(t, v) != CR_REAL) {
            v->spec.type = *stored(t, v);
            v->bytes = cr_bytes(&v->spec);
        }
    for (s = t->e->first; s; s = s->next)
        if (!s->same)
            step_widen(t, s);
}

/* From now on the steps of backward read w instead of v. */
static void readers_move(struct two_bytes *t, struct cr_pval *v,
                         struct cr_pval *w)
{
    struct cr_operand *o, *next;
    struct cr_pval *view = NULL;

    for (o = v->uses; o; o = next) {
        next = o->next;
        if (o->step->at <= t->e->last_forward->at)
            continue;
        if (!view) {
            view = cr_pval_new(t->e, &v->spec);
            view->alias = w;
            view->low = v->low;
        }
        cr_operand_set(o, view);
    }
}

/* Content of a parameter's copy: the fake cast that makes it. */
static const struct cr_exec_step *copy_of_param(const struct cr_pval *content)
{
    const struct cr_exec_step *s = content->maker;

    return s->op == &cr_op_fake_cast && s->x[0].val->param >= 0 ? s : NULL;
}

static void narrow(struct two_bytes *t, const struct cr_pval *base,
                   const struct memory *m)
{
    const struct cr_exec_step *copy = copy_of_param(m->content);
    struct cr_spec bits = m->content->spec;
    struct cr_pval *v, *w;
    int i, n = t->e->n_vals;

    if (copy) {
        w = step_add(t, copy->op, copy->attr, copy->x[0].val, copy->out[0],
                     m->first_backward);
    } else {
        bits.type = m->content->low;
        w = step_add(t, &cr_two_bytes_narrow, &t->check, m->content, bits,
                     m->content->maker->next);
        w = step_add(t, &cr_two_bytes_widen, NULL, w, m->content->spec,
                     m->first_backward);
    }
    for (v = t->e->vals, i = 0; i < n; v = v->next, i++)
        if (v != w && cr_pval_base(v) == base)
            readers_move(t, v, w);
}

static bool is_narrowed(const struct cr_pval *v, const struct memory *m)
{
    return !v->alias && !m->fixed && m->last_forward && m->first_backward &&
           m->content && m->content->maker &&
           m->content->spec.type == CR_REAL &&
           m->content->low != CR_REAL && m->content->bytes == v->bytes &&
           v->bytes >= SMALL &&
           m->first_backward->at - m->last_forward->at > WAIT;
}

/* Adds to the bytes that live in the steps from..to. */
static void lives(double *change, int from, int to, double bytes)
{
    change[from] += bytes;
    change[to + 1] -= bytes;
}

static double largest(const double *change, int n)
{
    double sum = 0, most = 0;
    int i;

    for (i = 0; i < n; i++) {
        sum += change[i];
        most = sum > most ? sum : most;
    }
    return most;
}

/* Whether narrowing makes the memory of the plan smaller. */
static bool pays(struct two_bytes *t, int n)
{
    int i, n_steps = t->e->n_steps;
    double *before = CR_NEWS(&t->e->arena, double, n_steps + 2);
    double *after = CR_NEWS(&t->e->arena, double, n_steps + 2);
    const struct cr_pval *v;

    for (v = t->e->vals, i = 0; i < n; v = v->next, i++) {
        const struct memory *m = &t->of[i];
        double bytes = (double)v->bytes;

        if (v->alias || v->feed >= 0 || v->param >= 0 ||
            !(m->last_forward || m->first_backward))
            continue;
        lives(before, m->first, m->last, bytes);
        if (!is_narrowed(v, m)) {
            lives(after, m->first, m->last, bytes);
            continue;
        }
        lives(after, m->first, m->last_forward->at, bytes);
        lives(after, m->first_backward->at, m->last, bytes);
        if (!copy_of_param(m->content))
            lives(after, m->content->maker->at, m->first_backward->at,
                  bytes / 2);
    }
    return largest(after, n_steps) < largest(before, n_steps);
}

/* A cast that alone reads its input, backward included (n_uses), rounds it in
 * place. */
static void in_place(struct cr_exec *e)
{
    struct cr_exec_step *s;

    for (s = e->first; s; s = s->next) {
        if (s->kind != CR_FORWARD || s->op != &cr_op_fake_cast || s->same ||
            s->x[0].val->alias || s->x[0].val->root ||
            s->x[0].val->spec.type != CR_REAL || /* in two bytes */
            s->y[0]->spec.type != CR_REAL)
            continue;
        if (cr_step_producer(s->x[0].val))
            s->x[0].val->alias = s->y[0];
    }
}

bool cr_plan_two_bytes(struct cr_exec *e)
{
    struct two_bytes *t = CR_NEW(&e->arena, struct two_bytes);
    const char *verify = getenv("CELLRUN_VERIFY");
    struct cr_pval *v;
    int i, n;

    t->e = e;
    t->stored = CR_NEWS(&e->arena, enum cr_type, e->n_vals + 1);
    t->wanted = CR_NEWS(&e->arena, bool, e->n_vals + 1);
    cr_plan_low_types(e);
    store_all(t);
    in_place(e);
    n = e->n_vals;
    if (!e->opts.backward || !e->last_forward)
        return true;
    t->check = verify && strcmp(verify, "1") == 0;
    t->of = CR_NEWS(&e->arena, struct memory, n + 1);
    cr_steps_number(e);
    touches_find(t);
    if (!pays(t, n))
        return true;
    for (v = e->vals, i = 0; i < n; v = v->next, i++)
        if (is_narrowed(v, &t->of[i]))
            narrow(t, v, &t->of[i]);
    return true;
}
