/*
 * Recomputation: what the calls of cells with the modifier `recompute: true`
 * compute is not kept for the backward pass; their forward steps run again
 * just before it. T. Chen et al., "Training Deep Nets with Sublinear Memory
 * Cost", 2016; MindSpore's Cell.recompute.
 *
 * For each such call, the pass copies the forward steps whose values its
 * backward steps read, and those that these need in turn, to the place before
 * its first backward step, which reads the copies from then on. What lives
 * until then in any case is read where it is: parameters, columns, values that
 * other cells or the outside read later, and all that comes from outside the
 * call. So is what may not be computed twice: prints, plug-ins, the steps of
 * hooks.
 *
 * A copy has the node of its original, and so the same random numbers. It does
 * not update moving statistics. The numbers are therefore the same to the bit.
 */
#include "plan/plan.h"

/* About a forward step. */
struct again {
    int call;                  /* number of the call; 0: none */
    bool can, wanted;
};

struct recompute {
    struct cr_exec *e;
    int last;                  /* number of the last forward step */
    struct again *of;          /* per forward step */
    bool *kept, *overwritten;  /* per value that has memory of its own: the
                                  latter by a forward step */
    bool *changed;             /* per parameter: by forward */
    struct cr_pval **copy;     /* per value; NULL: none */
    struct cr_exec_step **first; /* per call: the first later reader */
};

static struct again *made(const struct recompute *r, const struct cr_pval *v)
{
    const struct cr_exec_step *s = v ? v->maker : NULL;

    return s && s->kind == CR_FORWARD && s->at <= r->last ? &r->of[s->at]
                                                          : NULL;
}

/* The call that a forward step belongs to: a reorder has no node. */
static int call_of(const struct recompute *r, const struct cr_exec_step *s)
{
    const struct again *x = s->node || s->n_in == 0 ? NULL
                                                    : made(r, s->x[0].val);

    return s->node ? s->node->recompute : x ? x->call : 0;
}

/* Whether a step of the backward pass reads a value of that call for it: steps
 * of passes without a node do. */
static bool reads_for(const struct recompute *r, const struct cr_operand *o,
                      int call)
{
    const struct cr_exec_step *s = o->step;

    return s->at > r->last && (!s->node || s->node->recompute == call);
}

/* Values that live until the backward pass of their call in any case. */
static void kept_find(struct recompute *r)
{
    const struct cr_operand *o;
    struct cr_pval *v;

    for (v = r->e->vals; v; v = v->next) {
        const struct again *a = made(r, v);
        bool kept = v->root || v->feed >= 0 || v->param >= 0 || v->seed;

        for (o = v->uses; o && !kept; o = o->next)
            kept = o->step->at > r->last && !(a && reads_for(r, o, a->call));
        if (kept)
            r->kept[cr_pval_base(v)->id] = true;
        if (a && v->alias && !v->maker->same)
            r->overwritten[cr_pval_base(v)->id] = true;
    }
}

static bool is_kept(const struct recompute *r, struct cr_pval *v)
{
    return r->kept[cr_pval_base(v)->id];
}

/* Whether the step that writes x is run again for a step of that call. */
static bool again_for(const struct recompute *r, struct cr_pval *x, int call)
{
    const struct again *a = made(r, x);

    return a && a->can && a->call == call && !is_kept(r, x);
}

/* Whether input i is a statistic or state that forward changes: a later step
 * reads another value. Where the op itself updates it in training, its results
 * do not depend on it. */
static bool has_changed(const struct recompute *r,
                        const struct cr_exec_step *s, int i)
{
    const struct cr_pval *base = cr_pval_base(s->x[i].val);

    return base && base->param >= 0 && r->changed[base->param] &&
           !(s->training && (s->op->running_stats & CR_X(i)));
}

static void changed_find(struct recompute *r)
{
    const struct cr_exec_step *s;
    int i;

    for (s = r->e->first; s; s = s->next)
        for (i = 0; i < s->n_in; i++)
            if (s->x[i].val && s->training &&
                (s->op->running_stats & CR_X(i)) && s->x[i].val->param >= 0)
                r->changed[s->x[i].val->param] = true;
}

/* An input that a forward step overwrites must be computed again, too, and so
 * must what this step overwrites. */
static bool can_repeat(const struct recompute *r, const struct cr_exec_step *s,
                       int call)
{
    int i;

    if (!call || s->once || s->constant || s->op->prints ||
        s->op == &cr_op_assign || (s->node && s->node->hook))
        return false;
    for (i = 0; i < s->n_in; i++)
        if (has_changed(r, s, i) ||
            (s->x[i].val && r->overwritten[cr_pval_base(s->x[i].val)->id] &&
             !again_for(r, s->x[i].val, call)))
            return false;
    for (i = 0; i < s->n_out; i++)
        if (s->y[i]->alias && !s->same && !again_for(r, s->y[i]->alias, call))
            return false;
    return true;
}

/* Notes whether backward steps of the call read v, and the first of them. */
static bool is_read(struct recompute *r, const struct cr_pval *v, int call)
{
    const struct cr_operand *o;
    bool any = false;

    for (o = v ? v->uses : NULL; o; o = o->next)
        if (reads_for(r, o, call)) {
            any = true;
            if (!r->first[call] || o->step->at < r->first[call]->at)
                r->first[call] = o->step;
        }
    return any;
}

static void wanted_find(struct recompute *r, struct cr_exec_step *s)
{
    struct again *a = &r->of[s->at];
    int i;

    for (i = 0; i < s->n_out && a->can; i++)
        a->wanted = (!is_kept(r, s->y[i]) && is_read(r, s->y[i], a->call)) ||
                    a->wanted;
    a->wanted = (a->can && is_read(r, s->saved, a->call)) || a->wanted;
    for (i = 0; i < s->n_in && a->wanted; i++)
        if (again_for(r, s->x[i].val, a->call))
            made(r, s->x[i].val)->wanted = true;
}

/* What a copy for that call reads or shares memory with in place of v. */
static struct cr_pval *instead(const struct recompute *r, struct cr_pval *v,
                               int call)
{
    return again_for(r, v, call) ? r->copy[v->id] : v;
}

static struct cr_pval *value_copy(struct recompute *r, struct cr_pval *v,
                                  struct cr_exec_step *by, int call)
{
    struct cr_pval *w = cr_pval_new(r->e, &v->spec);

    w->maker = by;
    w->alias = instead(r, v->alias, call);
    w->bf16 = v->bf16;
    if (!is_kept(r, v))
        r->copy[v->id] = w;
    return w;
}

static void step_copy(struct recompute *r, const struct cr_exec_step *s)
{
    struct cr_exec_step *c =
        cr_step_new(r->e, CR_FORWARD, s->op, s->n_in, s->n_out);
    int i, call = r->of[s->at].call;

    c->node = s->node;
    c->attr = s->attr;
    c->in = s->in;
    c->out = s->out;
    c->saved_bytes = s->saved_bytes;
    c->scratch = s->scratch;
    c->thread_scratch = s->thread_scratch;
    c->act = s->act;
    c->bf16 = s->bf16;
    c->rounds = s->rounds;
    c->training = s->training;
    c->same = s->same;
    c->macs = s->macs;
    c->recomputed = true;
    for (i = 0; i < s->n_in; i++)
        cr_operand_set(&c->x[i], instead(r, s->x[i].val, call));
    for (i = 0; i < s->n_out; i++)
        c->y[i] = value_copy(r, s->y[i], c, call);
    if (s->saved)
        c->saved = value_copy(r, s->saved, c, call);
    cr_step_before(r->e, c, r->first[call]);
}

/* The backward steps of the call read the copy of v. */
static void readers_move(struct recompute *r, struct cr_pval *v)
{
    struct cr_operand *o, *next;
    int call = made(r, v)->call;

    for (o = v->uses; o; o = next) {
        next = o->next;
        if (reads_for(r, o, call))
            cr_operand_set(o, r->copy[v->id]);
    }
}

bool cr_plan_recompute(struct cr_exec *e)
{
    struct recompute r = { .e = e };
    struct cr_exec_step *s, *end = e->last_forward ? e->last_forward->next
                                                   : NULL;
    struct cr_pval *v;
    int n = e->n_vals, i;

    if (!e->opts.backward || !end || e->graph->n_recomputed == 0)
        return true;
    cr_steps_number(e);
    r.last = e->last_forward->at;
    r.of = CR_NEWS(&e->arena, struct again, r.last + 1);
    r.kept = CR_NEWS(&e->arena, bool, n);
    r.changed = CR_NEWS(&e->arena, bool, e->net->n_params + 1);
    r.overwritten = CR_NEWS(&e->arena, bool, n);
    r.copy = CR_NEWS(&e->arena, struct cr_pval *, n);
    r.first = CR_NEWS(&e->arena, struct cr_exec_step *,
                      e->graph->n_recomputed + 1);
    for (s = e->first; s != end; s = s->next)
        r.of[s->at].call = call_of(&r, s);
    changed_find(&r);
    kept_find(&r);
    for (s = e->first; s != end; s = s->next)
        r.of[s->at].can = can_repeat(&r, s, r.of[s->at].call);
    for (s = e->last_forward; s; s = s->prev)
        wanted_find(&r, s);
    for (s = e->first; s != end; s = s->next)
        if (r.of[s->at].wanted)
            step_copy(&r, s);
    for (v = e->vals, i = 0; i < n; v = v->next, i++)
        if (r.copy[i])
            readers_move(&r, v);
    return true;
}
