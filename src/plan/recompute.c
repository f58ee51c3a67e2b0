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
 * In low precision the pass does the same with light groups: an op without
 * multiply-adds, such as softmax, LayerNorm or GELU, whose result is not
 * rounded while its one large input is, and so has half the bytes
 * (two_bytes.c); and the rounding of that result, if backward reads that. It
 * must read either the result itself, or the input too. Of results that are
 * rounded, which wait in two bytes, only LayerNorm's are worth their time: GELU
 * and dropout take longer.
 *
 * Of any precision, a large result whose inputs all wait for backward anyway is
 * a light group, too: BatchNorm's with its ReLU. A group has at most LINKS
 * results of a chain; norms read their statistics (.saved_again).
 *
 * A product whose gradient goes through an elementwise op, and which therefore
 * reads what that op got, computes the op's result again while it does so
 * (CR_END_AGAIN), if that is large: to read it from memory would take as long.
 *
 * A copy has the node of its original, and so the same random numbers. It does
 * not update moving statistics. The numbers are therefore the same to the bit.
 */
#include "plan/plan.h"

#define LIGHT 4096 /* bytes: smaller values are kept, or cost nothing */
#define LINKS 2 /* results of a chain that are computed again together, and
                   thus live together */
#define LARGE ((size_t)8 << 20) /* bytes: more than the caches of a core */

/* About a forward step. */
struct again {
    int call;                  /* number of the call; 0: none */
    bool can, wanted;
};

struct recompute {
    struct cr_exec *e;
    int light;                 /* calls beyond this one are light groups */
    int n_calls;
    int *links;                /* per light group: its results */
    int last;                  /* number of the last forward step */
    struct again *of;          /* per forward step */
    bool *kept;                /* per value that has memory of its own */
    int *last_write;           /* the same: the last forward step that writes
                                  there; -1: none */
    int *write;                /* per value: the step that wrote its content */
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

/* Whether backward steps read it, or a view of it. */
static bool is_saved(const struct recompute *r, const struct cr_pval *v)
{
    const struct cr_operand *o;

    for (o = v->uses; o; o = o->next)
        if (o->step->at > r->last ||
            (o->step->same && is_saved(r, o->step->y[0])))
            return true;
    return false;
}

/* The step, and those that make views of its result, are part of a call. */
static void call_set(struct recompute *r, const struct cr_exec_step *s,
                     int call)
{
    const struct cr_operand *o;

    r->of[s->at].call = call;
    for (o = s->y[0]->uses; o; o = o->next)
        if (o->step->at <= r->last && o->step->same &&
            !r->of[o->step->at].call)
            call_set(r, o->step, call);
}

/* The rounding of v that backward steps read; NULL: there is none. */
static const struct cr_exec_step *rounding(const struct recompute *r,
                                           const struct cr_pval *v)
{
    const struct cr_operand *o;

    for (o = v->uses; o; o = o->next)
        if (o->step->at <= r->last && o->step->op == &cr_op_fake_cast &&
            is_saved(r, o->step->y[0]))
            return o->step;
    return NULL;
}

/* The call that v is computed again for. */
static int group(const struct recompute *r, const struct cr_pval *v)
{
    return made(r, v) ? made(r, v)->call : 0;
}

/* Whether memory is saved by computing the result again: its input waits for
 * backward too, or takes half of what the result would. */
static bool saves(const struct recompute *r, const struct cr_exec_step *s)
{
    const struct cr_pval *x = s->x[0].val, *y = s->y[0];

    if (y->bytes > LARGE && is_saved(r, y) && is_saved(r, x))
        return true;
    if (x->low == CR_REAL)
        return false;
    if (y->low != CR_REAL)
        return (s->rounds & CR_Y(0)) && !cr_is_elementwise(s->op) &&
               (s->op->saved_for_backward & CR_X(0)) && is_saved(r, y) &&
               is_saved(r, x);
    return is_saved(r, y) || (is_saved(r, x) && rounding(r, y));
}

/* Whether the step is the op of a light group: see above. */
static bool is_light(const struct recompute *r, const struct cr_exec_step *s)
{
    return s->node && s->n_in > 0 && s->x[0].val && !r->of[s->at].call &&
           s->macs == 0 && !s->same && s->n_out == 1 && !s->op->draws &&
           !s->node->custom && s->op != &cr_op_fake_cast &&
           s->y[0]->bytes >= LIGHT && s->y[0]->spec.type == CR_REAL &&
           s->y[0]->bytes >= s->x[0].val->bytes && saves(r, s);
}

/* The light group that the step can be part of: that of its inputs, if its
 * result is large, or a new one. 0: none; its inputs do not all wait for the
 * backward pass. */
static int light_group(const struct recompute *r, const struct cr_exec_step *s)
{
    int i, of, to = r->n_calls + 1;

    for (i = 0; i < s->n_in; i++) {
        const struct cr_pval *x = s->x[i].val;

        of = group(r, x);
        if (of > r->light) {
            if (s->y[0]->bytes <= LARGE || (to <= r->n_calls && to != of) ||
                r->links[of] == LINKS)
                return 0;
            to = of;
        } else if (x && i > 0 && x->param < 0 && x->bytes > LIGHT &&
                   (of || !is_saved(r, x))) {
            return 0;
        }
    }
    return to;
}

static void light_find(struct recompute *r, const struct cr_exec_step *s)
{
    const struct cr_exec_step *cast;
    int call = is_light(r, s) ? light_group(r, s) : 0;

    if (!call)
        return;
    if (call > r->n_calls)
        r->n_calls = call;
    r->links[call]++;
    cast = rounding(r, s->y[0]);
    call_set(r, s, call);
    if (cast)
        call_set(r, cast, call);
}

/* Whether a step of the backward pass reads a value of that call for it: steps
 * of passes without a node do. */
static bool reads_for(const struct recompute *r, const struct cr_operand *o,
                      int call)
{
    const struct cr_exec_step *s = o->step;

    return s->at > r->last &&
           (!s->node || call > r->light || s->node->recompute == call);
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
    }
}

static void writes_find(struct recompute *r)
{
    const struct cr_exec_step *s;
    struct cr_pval *v;
    int i;

    for (v = r->e->vals; v; v = v->next)
        r->write[v->id] = r->last_write[v->id] = -1;
    for (s = r->e->first; s && s->at <= r->last; s = s->next)
        for (i = 0; i < s->n_out; i++) {
            v = s->y[i];
            r->write[v->id] = s->same ? r->write[s->x[0].val->id] : s->at;
            if (!s->same)
                r->last_write[cr_pval_base(v)->id] = s->at;
        }
}

/* Whether a later forward step writes in the memory of v. */
static bool is_overwritten(const struct recompute *r, struct cr_pval *v)
{
    return v && r->write[v->id] < r->last_write[cr_pval_base(v)->id];
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

/* An input that has been overwritten must be computed again, too. */
static bool can_repeat(const struct recompute *r, const struct cr_exec_step *s,
                       int call)
{
    int i;

    if (!call || s->once || s->constant || s->op->prints ||
        s->op == &cr_op_assign || (s->node && s->node->hook))
        return false;
    for (i = 0; i < s->n_in; i++)
        if (has_changed(r, s, i) || (is_overwritten(r, s->x[i].val) &&
                                     !again_for(r, s->x[i].val, call)))
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
    a->wanted = (a->can && !s->op->saved_again &&
                 is_read(r, s->saved, a->call)) || a->wanted;
    for (i = 0; i < s->n_in && a->wanted; i++)
        if (again_for(r, s->x[i].val, a->call))
            made(r, s->x[i].val)->wanted = true;
}

/* What a copy for that call reads in place of v. */
static struct cr_pval *instead(const struct recompute *r, struct cr_pval *v,
                               int call)
{
    return again_for(r, v, call) ? r->copy[v->id] : v;
}

static struct cr_pval *value_copy(struct recompute *r, struct cr_pval *v,
                                  struct cr_exec_step *by)
{
    struct cr_pval *w = cr_pval_new(r->e, &v->spec);

    w->maker = by;
    if (by->same)
        w->alias = by->x[0].val;
    w->low = v->low;
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
    c->end = s->end;
    c->low = s->low;
    c->rounds = s->rounds;
    c->holds = s->holds;
    c->training = s->training;
    c->same = s->same;
    c->macs = s->macs;
    c->recomputed = true;
    for (i = 0; i < s->n_in; i++)
        cr_operand_set(&c->x[i], instead(r, s->x[i].val, call));
    for (i = 0; i < s->n_out; i++)
        c->y[i] = value_copy(r, s->y[i], c);
    if (s->saved && s->op->saved_again)
        cr_operand_set(&c->read_saved, s->saved);
    else if (s->saved)
        c->saved = value_copy(r, s->saved, c);
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

/* Whether backward step w is the only one to read x[0], and can compute it
 * again: f made it of what w's map_grad reads, and does not run again. */
static bool can_map_again(const struct recompute *r,
                          const struct cr_exec_step *w)
{
    const struct cr_pval *x = w->n_in > 0 ? w->x[0].val : NULL;
    const struct cr_exec_step *f = x ? x->maker : NULL;
    const struct cr_operand *o;

    if (w->kind != CR_BACKWARD || !w->map_grad || !f || x->root ||
        x->bytes <= LARGE || f->kind != CR_FORWARD || f->y[0] != x ||
        !(f->end.parts & CR_END_KEEP) || f->saved != w->mask[0].val ||
        f->end.act != w->map_grad || f->end.attr != w->map_attr ||
        (f->node && f->node->recompute) ||
        !cr_step_accepts(w, CR_X(0), CR_END_MAP_GRAD | CR_END_AGAIN))
        return false;
    for (o = x->uses; o; o = o->next)
        if (o->step != w &&
            (o->step->at > r->last ||
             (o->step->node && o->step->node->recompute) ||
             (o->step->same && is_saved(r, o->step->y[0]))))
            return false;
    return true;
}

static void map_again(struct cr_exec *e, struct cr_exec_step *w)
{
    w->x_again = cr_pval_new(e, &w->x[0].val->spec);
    w->x_again->low = w->x[0].val->low;
    cr_operand_set(&w->x[0], NULL);
}

bool cr_plan_recompute(struct cr_exec *e)
{
    struct recompute r = { .e = e };
    struct cr_exec_step *s, *end = e->last_forward ? e->last_forward->next
                                                   : NULL;
    struct cr_pval *v;
    int n, i;

    if (!e->opts.backward || !end)
        return true;
    r.light = r.n_calls = e->graph->n_recomputed;
    cr_steps_number(e);
    r.last = e->last_forward->at;
    for (s = end; s; s = s->next)
        if (can_map_again(&r, s))
            map_again(e, s);
    n = e->n_vals;
    cr_plan_low_types(e);
    r.of = CR_NEWS(&e->arena, struct again, r.last + 1);
    r.links = CR_NEWS(&e->arena, int, r.n_calls + r.last + 2);
    r.kept = CR_NEWS(&e->arena, bool, n);
    r.changed = CR_NEWS(&e->arena, bool, e->net->n_params + 1);
    r.write = CR_NEWS(&e->arena, int, n);
    r.last_write = CR_NEWS(&e->arena, int, n);
    r.copy = CR_NEWS(&e->arena, struct cr_pval *, n);
    for (s = e->first; s != end; s = s->next)
        r.of[s->at].call = call_of(&r, s);
    for (s = e->first; s != end; s = s->next)
        light_find(&r, s);
    if (r.n_calls == 0)
        return true;
    r.first = CR_NEWS(&e->arena, struct cr_exec_step *, r.n_calls + 1);
    changed_find(&r);
    writes_find(&r);
    kept_find(&r);
    for (s = e->first; s != end; s = s->next)
        r.of[s->at].can = can_repeat(&r, s, r.of[s->at].call);
    for (s = e->last_forward; s; s = s->prev)
        wanted_find(&r, s);
    for (s = e->first; s; s = s == e->last_forward ? NULL : s->next)
        if (r.of[s->at].wanted)
            step_copy(&r, s); /* maybe between the last forward step and end */
    for (v = e->vals, i = 0; i < n; v = v->next, i++)
        if (r.copy[i])
            readers_move(&r, v);
    return true;
}
