/*
 * Storage of saved values in two bytes.
 *
 * In low precision most values that forward keeps for backward are float16 or
 * bfloat16 numbers in float32 memory. For such a value that no step uses for a
 * while between its last use in forward and its first use in backward, this
 * pass
 *
 *   - rounds a parameter again before backward instead of keeping its copy
 *   - else adds a step that narrows the value to two bytes per element after
 *     its last use in forward, and one that widens it to float32 before its
 *     first use in backward.
 *
 * The pass changes nothing if the plan would not need less memory. Both ways
 * are exact, so results are the same. The type of a value follows from the
 * steps: results of fake casts have low precision, and so have views and moved
 * elements of such values. With CELLRUN_VERIFY=1 each narrowing step checks
 * its values.
 */
#include "families/two_bytes.h"
#include "graph/op_attrs.h"
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
    enum cr_type *low; /* per value: CR_F16, CR_BF16, or CR_REAL */
    struct memory *of; /* per value that has memory of its own */
    bool backward;     /* the current step is part of backward */
    bool check;
};

/* ---- which values have low precision ---- */

/* The type of numbers that all real inputs have. */
static enum cr_type inputs_type(const struct two_bytes *t,
                                const struct cr_exec_step *s)
{
    enum cr_type type = CR_REAL;
    int i;

    for (i = 0; i < s->n_in; i++) {
        const struct cr_pval *x = s->x[i].val;

        if (!x || x->spec.type != CR_REAL)
            continue;
        if (t->low[x->id] == CR_REAL ||
            (type != CR_REAL && t->low[x->id] != type))
            return CR_REAL;
        type = t->low[x->id];
    }
    return type;
}

static void types_find(const struct two_bytes *t)
{
    const struct cr_op *reorder = cr_op_find("reorder");
    const struct cr_exec_step *s;
    enum cr_type type;
    int i;

    for (s = t->e->first; s; s = s->next) {
        const struct cr_fake_cast *o = s->attr;

        if (s->kind != CR_FORWARD)
            continue;
        if (s->op == &cr_op_fake_cast && !s->same &&
            !(o->predict && s->training))
            type = cr_fake_cast_type(o);
        else if (s->rounds & CR_Y(0))
            type = CR_BF16;
        else if (s->same || s->op == reorder || s->op->amp & CR_AMP_EXACT)
            type = inputs_type(t, s);
        else
            continue;
        for (i = 0; i < s->n_out; i++)
            if (s->y[i]->spec.type == CR_REAL)
                t->low[s->y[i]->id] = type;
    }
}

const enum cr_type *cr_plan_low_types(struct cr_exec *e)
{
    struct two_bytes t = { .e = e,
                           .low = CR_NEWS(&e->arena, enum cr_type,
                                          e->n_vals + 1) };

    types_find(&t);
    return t.low;
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
    s->y[0]->bf16 = x->bf16;
    cr_step_before(t->e, s, before);
    return s->y[0];
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
            view->bf16 = v->bf16;
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
        bits.type = t->low[m->content->id];
        w = step_add(t, &cr_two_bytes_narrow, &t->check, m->content, bits,
                     m->content->maker->next);
        w = step_add(t, &cr_two_bytes_widen, NULL, w, m->content->spec,
                     m->first_backward);
    }
    for (v = t->e->vals, i = 0; i < n; v = v->next, i++)
        if (v != w && cr_pval_base(v) == base)
            readers_move(t, v, w);
}

static bool is_narrowed(const struct two_bytes *t, const struct cr_pval *v,
                        const struct memory *m)
{
    return !v->alias && !m->fixed && m->last_forward && m->first_backward &&
           m->content && m->content->maker &&
           m->content->spec.type == CR_REAL &&
           t->low[m->content->id] != CR_REAL && m->content->bytes == v->bytes &&
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
        if (!is_narrowed(t, v, m)) {
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

bool cr_plan_two_bytes(struct cr_exec *e)
{
    struct two_bytes *t = CR_NEW(&e->arena, struct two_bytes);
    const char *verify = getenv("CELLRUN_VERIFY");
    struct cr_pval *v;
    int i, n = e->n_vals;

    if (!e->opts.backward || !e->last_forward)
        return true;
    t->e = e;
    t->check = verify && strcmp(verify, "1") == 0;
    t->low = CR_NEWS(&e->arena, enum cr_type, n + 1);
    t->of = CR_NEWS(&e->arena, struct memory, n + 1);
    cr_steps_number(e);
    types_find(t);
    touches_find(t);
    if (!pays(t, n))
        return true;
    for (v = e->vals, i = 0; i < n; v = v->next, i++)
        if (is_narrowed(t, v, &t->of[i]))
            narrow(t, v, &t->of[i]);
    return true;
}
