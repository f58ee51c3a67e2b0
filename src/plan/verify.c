/*
 * What holds between passes:
 *
 *   - each value that a step reads is a column, a parameter, a gradient given
 *     from outside, or written by a step before it
 *   - each value is written by one step
 *   - the operands of a value are those of steps in the list, and no others
 *   - types and shapes of operands are those that the op was planned for, and
 *     masks are those of the gradients that they mask
 *   - the kernels of a step take its epilogue
 *   - a value fits the memory that it shares
 *   - a step that writes in the memory of other values (an addition to a
 *     gradient, an update, a fake cast in place) comes after all other steps
 *     that read them
 *   - after the pass `memory`: no two values share memory while both live
 */
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>

struct check {
    struct cr_exec *e;
    const char *pass;
    int *reads; /* per value: operands found in the list */
};

static void broken(const struct check *c, const struct cr_exec_step *s,
                   const char *what)
{
    const char *cell =
        s && s->node ? c->e->net->cells[s->node->cell].name : "";

    fprintf(stderr, "cellrun: plan is invalid after pass %s: step %d, %s %s: "
                    "%s\n",
            c->pass, s ? s->at : -1, s && s->op ? s->op->about.name : "update",
            cell, what);
    abort();
}

static void check_operand(void *ctx, struct cr_operand *o)
{
    struct check *c = ctx;
    const struct cr_exec_step *s = o->step;
    const struct cr_pval *v = o->val;
    /* the gradients of two inputs that are one value are added in one step */
    bool adds = s->acc && o >= s->acc && o < s->acc + s->n_in;

    c->reads[v->id]++;
    while (!v->maker && v->alias)
        v = v->alias; /* an elided view */
    if (v->maker ? v->maker->at > s->at - !adds
                 : v->feed < 0 && v->param < 0 && !v->seed)
        broken(c, s, v->maker ? "reads a value that is written later"
                                    : "reads a value that no step writes");
    while (v->alias)
        v = v->alias;
    if (!v->maker && v->feed < 0 && v->param < 0 && !v->seed)
        broken(c, s, "reads a view of memory that no step writes");
}

/* All readers of the value but step s come before s. */
static void check_overwrite(const struct check *c, const struct cr_pval *v,
                            const struct cr_exec_step *s)
{
    const struct cr_operand *o;

    for (o = v->uses; o; o = o->next)
        if (o->step->at > s->at)
            broken(c, o->step, "reads a value that has been overwritten");
}

/* Whether a value is as planned, or in two bytes where the step knows. */
static bool fits(const struct cr_exec_step *s, unsigned bit,
                 const struct cr_pval *v, const struct cr_spec *planned,
                 unsigned two_bytes)
{
    struct cr_spec spec = *planned;

    if (two_bytes & bit && !s->same)
        spec.type = s->low;
    else if (s->same)
        spec.type = v->spec.type;
    return cr_spec_same(&v->spec, &spec);
}

static void check_forward(const struct check *c, const struct cr_exec_step *s)
{
    int i;

    if (s->end.parts && !cr_step_accepts(s, CR_Y(0), 0))
        broken(c, s, "its kernels do not take its epilogue");
    if (!(s->end.parts & (CR_END_ACT | CR_END_MAP)) != !s->end.act)
        broken(c, s, "its epilogue has an activation, or none, against its "
                     "parts");
    if (!(s->end.parts & CR_END_LATE_BIAS) != !s->end.bias)
        broken(c, s, "its epilogue has a late bias, or none, against its "
                     "parts");
    if (!(s->end.parts & CR_END_DROP) != !s->end.drop)
        broken(c, s, "its epilogue has dropout, or none, against its parts");
    for (i = 0; i < s->n_in; i++) {
        const struct cr_pval *v = s->x[i].val;

        if (v && (!fits(s, CR_X(i), v, &s->in[i], s->two_bytes) ||
                  v->spec.layout != s->in[i].layout))
            broken(c, s, "an input has another type, shape or layout");
    }
    for (i = 0; i < s->n_out; i++) {
        const struct cr_pval *v = s->y[i];

        if (v->maker != s)
            broken(c, s, "its output is written by another step");
        if (!fits(s, CR_Y(i), v, &s->out[i], s->two_bytes) ||
            v->spec.layout != s->out[i].layout)
            broken(c, s, "an output has another type, shape or layout");
    }
}

static void check_backward(const struct check *c, const struct cr_exec_step *s)
{
    int i;

    for (i = 0; i < s->n_in; i++) {
        const struct cr_pval *v = s->dx[i];

        if (!v)
            continue;
        if (v->maker != s)
            broken(c, s, "its gradient is written by another step");
        if (s->mask[i].val &&
            (!fits(s, CR_X(i), s->mask[i].val, &s->in[i], s->mask_two_bytes) ||
             s->mask[i].val->spec.layout != v->spec.layout))
            broken(c, s, "a mask has another type, shape or layout than its "
                         "gradient");
        if (s->acc[i].val && v->alias != s->acc[i].val)
            broken(c, s, "adds to a value in other memory");
        if (s->acc[i].val)
            check_overwrite(c, s->acc[i].val, s);
        if (s->kind == CR_BACKWARD && s->in[i].rank >= 0 &&
            !fits(s, CR_X(i), v, &s->in[i], s->grads_two_bytes))
            broken(c, s, "a gradient has another type or shape");
    }
    for (i = 0; i < s->n_out; i++)
        if (s->kind == CR_BACKWARD && s->dy[i].val && s->op->max_inputs > 0 &&
            !s->node && !fits(s, CR_Y(i), s->dy[i].val, &s->out[i],
                              s->grads_two_bytes))
            broken(c, s, "an arriving gradient has another type or shape");
}

static void check_uses(const struct check *c)
{
    const struct cr_operand *o;
    const struct cr_pval *v;

    for (v = c->e->vals; v; v = v->next) {
        int n = 0;

        for (o = v->uses; o; o = o->next, n++)
            if (o->val != v)
                broken(c, o->step, "is listed as a reader of another value");
        if (n != v->n_uses || n != c->reads[v->id])
            broken(c, v->maker, "its result has readers that are not in the "
                                "list");
    }
}

/* ---- values that share memory by plan ---- */

/* When a value is written: by its maker, or before all steps. */
static int written_at(const struct cr_pval *v)
{
    while (!v->maker && v->alias)
        v = v->alias; /* an elided view */
    return v->maker ? v->maker->at : -1;
}

static int read_until(const struct cr_pval *v)
{
    const struct cr_operand *o;
    int last = -1;

    for (o = v->uses; o; o = o->next)
        last = o->step->at > last ? o->step->at : last;
    return last;
}

static int by_memory(const void *a, const void *b)
{
    struct cr_pval *x = *(struct cr_pval *const *)a,
                   *y = *(struct cr_pval *const *)b;
    int p = cr_pval_base(x)->id, q = cr_pval_base(y)->id;

    if (p == q) {
        p = written_at(x);
        q = written_at(y);
    }
    return p != q ? (p > q) - (p < q) : (x->id > y->id) - (x->id < y->id);
}

/* In order of writing: once one is written, no step reads those before it. */
static void check_shared(const struct check *c)
{
    const struct cr_pval *base = NULL;
    struct cr_pval **v, *p;
    int i, n = 0, until = -1;

    v = calloc((size_t)c->e->n_vals + 1, sizeof(struct cr_pval *));
    if (!v)
        cr_out_of_memory(sizeof *v);
    for (p = c->e->vals; p; p = p->next)
        v[n++] = p;
    qsort(v, (size_t)n, sizeof *v, by_memory);
    for (i = 0; i < n; i++) {
        if (cr_pval_base(v[i]) != base)
            until = -1;
        base = cr_pval_base(v[i]);
        if (v[i]->bytes > base->bytes)
            broken(c, v[i]->maker, "its result does not fit the memory that "
                                   "it shares");
        if (v[i]->maker && !v[i]->maker->same && v[i]->maker->at < until)
            broken(c, v[i]->maker, "overwrites a value that is still read");
        until = read_until(v[i]) > until ? read_until(v[i]) : until;
    }
    free(v);
}

static int by_offset(const void *a, const void *b)
{
    const struct cr_pval *x = *(struct cr_pval *const *)a,
                         *y = *(struct cr_pval *const *)b;

    return x->offset < y->offset ? -1 : x->offset > y->offset ? 1 : 0;
}

/* Values in order of their offsets: each against those that begin before its
 * end. */
static void check_memory(const struct check *c)
{
    struct cr_pval **v, *p;
    int i, k, n = 0;

    v = calloc((size_t)c->e->n_vals + 1, sizeof(struct cr_pval *));
    if (!v)
        cr_out_of_memory(sizeof *v);
    for (p = c->e->vals; p; p = p->next)
        if (!p->alias && p->feed < 0 && p->param < 0 && p->first >= 0 &&
            p->bytes > 0)
            v[n++] = p;
    qsort(v, (size_t)n, sizeof *v, by_offset);
    for (i = 0; i < n; i++)
        for (k = i + 1; k < n && v[k]->offset < v[i]->offset + v[i]->bytes; k++)
            if (v[k]->first <= v[i]->last && v[i]->first <= v[k]->last &&
                cr_plan_is_own(c->e, v[k]) == cr_plan_is_own(c->e, v[i]))
                broken(c, v[k]->maker, "its result shares memory with a value "
                                       "that is still read");
    free(v);
}

void cr_plan_verify(struct cr_exec *e, const char *pass)
{
    struct check c = { .e = e, .pass = pass };
    struct cr_exec_step *s;

    c.reads = calloc((size_t)e->n_vals + 1, sizeof *c.reads);
    if (!c.reads)
        cr_out_of_memory(sizeof *c.reads);
    cr_steps_number(e);
    for (s = e->first; s; s = s->next) {
        cr_step_operands(s, &c, check_operand);
        if (s->kind == CR_FORWARD)
            check_forward(&c, s);
        else
            check_backward(&c, s);
    }
    check_uses(&c);
    check_shared(&c);
    if (e->bytes > 0)
        check_memory(&c);
    free(c.reads);
}
