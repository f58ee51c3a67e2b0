/* t[...] in a `construct` text: of tensors, of tuples and of lists of cells. */
#include "base/str.h"
#include "construct/script_interp.h"
#include "graph/op_attrs.h"

#include <string.h>

bool cr_interp_int(struct cr_interp *m, const struct cr_script *e,
                   int64_t absent, int64_t *to)
{
    struct cr_script_value t;

    if (!cr_interp_eval(m, e, &t))
        return false;
    *to = t.kind == CR_SV_NONE ? absent : t.integer;
    if (t.kind == CR_SV_INT || (t.kind == CR_SV_NONE && absent != CR_INT_NONE))
        return true;
    cr_interp_fail(m, e,
                   cr_strf(m->b->net->arena,
                           "index: found %s, expected an integer",
                           cr_script_value_what(m->b->net->arena, &t)));
    if (t.kind == CR_SV_TENSOR)
        cr_hint(m->b->net->diag, "%s",
                t.val->spec.type == CR_BOOL
                    ? "write where(mask, x, y), or masked_select"
                    : "write gather(x, indices, axis)");
    else if (t.kind == CR_SV_TUPLE)
        cr_hint(m->b->net->diag, "write stack((x[:, 0], x[:, 2]), 1)");
    return false;
}

/* What the items of t[i, ...] ask for, axis by axis. */
struct cut {
    int64_t begin[CR_RANK_MAX], end[CR_RANK_MAX], step[CR_RANK_MAX];
    int64_t drop[CR_RANK_MAX], add[CR_RANK_MAX];
    int n, n_drop, n_add;
};

/* Whole axes for `...`, one of the items of e: all that the others leave. */
static bool read_ellipsis(struct cr_interp *m, const struct cr_script *e,
                          int rank, struct cut *c, int *left)
{
    const struct cr_script *i;
    int whole = rank, dots = 0;

    for (i = e->args->next; i; i = i->next) {
        dots += i->op == CR_SCRIPT_ELLIPSIS;
        whole -= i->op != CR_SCRIPT_ELLIPSIS && i->op != CR_SCRIPT_NONE;
    }
    if (dots > 1)
        return cr_interp_fail(m, e, "'...' may stand once in [...]");
    for (; whole > 0; whole--) {
        c->begin[c->n] = 0;
        c->end[c->n] = CR_DIM_MAX;
        c->step[c->n++] = 1;
        ++*left;
    }
    return true;
}

static bool read_cut(struct cr_interp *m, const struct cr_script *e, int rank,
                     struct cut *c)
{
    const struct cr_script *i;
    int left = 0;

    for (i = e->args->next; i; i = i->next) {
        if (i->op == CR_SCRIPT_NONE) {
            if (left == CR_RANK_MAX || c->n_add == CR_RANK_MAX)
                return cr_interp_fail(m, e, "too many dimensions");
            c->add[c->n_add++] = left++;
            continue;
        }
        if (i->op == CR_SCRIPT_ELLIPSIS) {
            if (!read_ellipsis(m, e, rank, c, &left))
                return false;
            continue;
        }
        if (c->n == rank)
            return cr_interp_fail(m, e, "more indices than dimensions");
        if (i->op == CR_SCRIPT_SLICE) {
            int64_t *step = &c->step[c->n];

            if (!cr_interp_int(m, i->args->next->next, 1, step) ||
                !cr_interp_int(m, i->args, *step > 0 ? 0 : CR_DIM_MAX,
                               &c->begin[c->n]) ||
                !cr_interp_int(m, i->args->next,
                               *step > 0 ? CR_DIM_MAX : -CR_DIM_MAX,
                               &c->end[c->n]))
                return false;
            left++;
        } else {
            if (!cr_interp_int(m, i, CR_INT_NONE, &c->begin[c->n]))
                return false;
            c->end[c->n] =
                c->begin[c->n] == -1 ? CR_DIM_MAX : c->begin[c->n] + 1;
            c->step[c->n] = 1;
            c->drop[c->n_drop++] = c->n;
        }
        c->n++;
    }
    return true;
}

static struct cr_ints ints_of(struct cr_interp *m, const int64_t *v, int n)
{
    int64_t *to = CR_NEWS(m->b->net->arena, int64_t, n + 1);

    memcpy(to, v, (size_t)n * sizeof *to);
    return (struct cr_ints){ n, to };
}

/* squeeze or expand_dims of one axis */
static struct cr_val *emit_axis(struct cr_interp *m, const struct cr_script *e,
                                const char *name, struct cr_val *x,
                                int64_t axis)
{
    const struct cr_op *op = cr_op_find(name);
    struct cr_script_value t = cr_script_value_integer(axis);
    struct cr_node *map = CR_NEW(m->b->net->arena, struct cr_node);
    const void *attr;

    map->kind = CR_NODE_MAP;
    map->pos = m->b->pos;
    map->child = cr_script_value_node(m->b->net->arena, m->b->pos, &t);
    map->child->key = "axis";
    map->child->key_pos = m->b->pos;
    attr = x ? cr_interp_options(m, e, op, map) : NULL;
    return attr ? cr_emit_op(m->b, op, attr, 1, &x) : NULL;
}

/* A bound of a slice in Python's sense, among n. */
static int64_t within(int64_t i, int64_t n)
{
    i = i < 0 ? i + n : i;
    return i < 0 ? 0 : i > n ? n : i;
}

/* t[i] or t[a:b:c] of a tuple, or of a list of cells. */
static bool index_tuple(struct cr_interp *m, const struct cr_script *e,
                        const struct cr_script_value *t,
                        struct cr_script_value *to)
{
    struct cr_arena *arena = m->b->net->arena;
    const struct cr_script *at = e->args->next;
    int64_t i, end, step;

    if (at->next)
        return cr_interp_fail(m, e, "a tuple has one index");
    if (at->op == CR_SCRIPT_ELLIPSIS)
        return cr_interp_fail(m, e, "a tuple has no '...'");
    if (at->op != CR_SCRIPT_SLICE) {
        if (!cr_interp_int(m, at, CR_INT_NONE, &i))
            return false;
        i = i < 0 ? i + t->n : i;
        if (i < 0 || i >= t->n)
            return cr_interp_fail(
                m, e,
                cr_strf(arena, "a tuple of %d: member %lld not found", t->n,
                        (long long)i));
        *to = t->items[i];
        return true;
    }
    if (!cr_interp_int(m, at->args->next->next, 1, &step) ||
        !cr_interp_int(m, at->args, 0, &i) ||
        !cr_interp_int(m, at->args->next, t->n, &end))
        return false;
    if (step != 1)
        return cr_interp_fail(m, e, "a slice of a tuple has no step");
    i = within(i, t->n);
    end = within(end, t->n);
    *to =
        (struct cr_script_value){ .kind = CR_SV_TUPLE, .items = t->items + i };
    to->n = end > i ? (int)(end - i) : 0;
    return cr_interp_weigh(m, e, to);
}

bool cr_interp_index(struct cr_interp *m, const struct cr_script *e,
                     struct cr_script_value *to)
{
    struct cr_slice *slice;
    struct cut c = { .n = 0 };
    struct cr_val *v;
    struct cr_script_value t;
    int64_t i;

    if (!cr_interp_eval(m, e->args, &t))
        return false;
    if (t.kind == CR_SV_CELL && !cr_cell_members(m, e, &t, &t))
        return false;
    if (t.kind == CR_SV_TUPLE)
        return index_tuple(m, e, &t, to);
    if (t.kind != CR_SV_TENSOR)
        return cr_interp_fail(
            m, e,
            cr_strf(m->b->net->arena,
                    "found %s, expected a tensor or tuple before [...]",
                    cr_script_value_what(m->b->net->arena, &t)));
    if (!read_cut(m, e, t.val->spec.rank, &c))
        return false;
    m->b->pos = cr_interp_place(m, e);
    v = t.val;
    for (i = 0; i < c.n; i++) {
        int64_t dim = v->spec.dim[i], at = c.begin[i];
        int k;

        for (k = 0; k < c.n_drop; k++)
            if (c.drop[k] == i && (at < -dim || at >= dim))
                return cr_interp_fail(
                    m, e,
                    cr_strf(m->b->net->arena,
                            "index %lld is out of range: the size is %lld",
                            (long long)at, (long long)dim));
    }
    if (c.n > 0) {
        slice = CR_NEW(m->b->net->arena, struct cr_slice);
        slice->begin = ints_of(m, c.begin, c.n);
        slice->end = ints_of(m, c.end, c.n);
        slice->step = ints_of(m, c.step, c.n);
        v = CR_EMIT(m->b, "strided_slice", slice, v);
    }
    for (i = c.n_drop - 1; i >= 0; i--)
        v = emit_axis(m, e, "squeeze", v, c.drop[i]);
    for (i = 0; i < c.n_add; i++)
        v = emit_axis(m, e, "expand_dims", v, c.add[i]);
    *to = cr_script_value_tensor(v);
    return v || cr_interp_trouble(m, e);
}
