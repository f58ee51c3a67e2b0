/*
 * What a `construct` text knows while the graph is built: conditions, lists
 * of cells, and what a tensor tells without being computed.
 */
#include <string.h>

#include "base/str.h"
#include "construct/script_interp.h"
#include "graph/op_attrs.h"

#define RANGE_MAX 100000 /* numbers of one range */

/* ---- conditions ---- */

/* The text of a part, for a message. */
static const char *source(struct cr_interp *m, const struct cr_script *e)
{
    return cr_quote(m->b->net->arena, m->text->text + e->at, e->len);
}

bool cr_interp_truth(struct cr_interp *m, const struct cr_script *e,
                     const struct cr_script_value *t, bool *to)
{
    struct cr_arena *arena = m->b->net->arena;

    *to = cr_script_value_number(t) ? t->real != 0
          : t->kind == CR_SV_STRING ? t->text[0] != '\0'
          : t->kind == CR_SV_TUPLE || t->kind == CR_SV_MAP
              ? t->n > 0
              : t->kind == CR_SV_CELL;
    if (t->kind != CR_SV_TENSOR)
        return true;
    return cr_interp_fail(
        m, e,
        cr_strf(arena,
                "condition: found %s, expected a value that is known while "
                "the graph is built; for each element write "
                "where(%s, A, B)",
                cr_script_value_what(arena, t), source(m, e)));
}

bool cr_interp_choice(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to)
{
    const struct cr_script *yes = e->args, *c = yes->next, *no = c->next;
    struct cr_arena *arena = m->b->net->arena;
    struct cr_script_value t;
    bool holds;

    if (!cr_interp_eval(m, c, &t))
        return false;
    if (t.kind == CR_SV_TENSOR)
        return cr_interp_fail(
            m, c,
            cr_strf(arena,
                    "condition: found %s, expected a value that is known "
                    "while the graph is built; write where(%s, %s, %s)",
                    cr_script_value_what(arena, &t), source(m, c),
                    source(m, yes), source(m, no)));
    return cr_interp_truth(m, c, &t, &holds) &&
           cr_interp_eval(m, holds ? yes : no, to);
}

static bool same(const struct cr_script_value *a,
                 const struct cr_script_value *b)
{
    int i;

    if (cr_script_value_number(a) && cr_script_value_number(b))
        return a->real == b->real;
    if (a->kind != b->kind || a->n != b->n)
        return false;
    for (i = 0; i < a->n; i++)
        if (!same(&a->items[i], &b->items[i]))
            return false;
    return a->kind == CR_SV_STRING   ? strcmp(a->text, b->text) == 0
           : a->kind == CR_SV_TENSOR ? a->val == b->val
           : a->kind == CR_SV_CELL   ? a->node == b->node
                                     : true;
}

bool cr_interp_compare(struct cr_interp *m, const struct cr_script *e,
                       const char *sign, const struct cr_script_value *a,
                       const struct cr_script_value *b,
                       struct cr_script_value *to, bool *done)
{
    bool is = strcmp(sign, "is") == 0, member = strcmp(sign, "in") == 0;
    bool equal = strcmp(sign, "equal") == 0;
    int i;

    *done = true;
    if (is || strcmp(sign, "is not") == 0)
        return *to = cr_script_value_truth(same(a, b) == is), true;
    if (member || strcmp(sign, "not in") == 0) {
        if (b->kind != CR_SV_TUPLE)
            return cr_interp_fail(
                m, e,
                cr_strf(m->b->net->arena, "'in': found %s, expected a tuple",
                        cr_script_value_what(m->b->net->arena, b)));
        for (i = 0; i < b->n && !same(a, &b->items[i]); i++)
            ;
        return *to = cr_script_value_truth((i < b->n) == member), true;
    }
    if (a->kind == CR_SV_TENSOR || b->kind == CR_SV_TENSOR ||
        (!equal && strcmp(sign, "not_equal") != 0)) {
        *done = false;
        return true;
    }
    return *to = cr_script_value_truth(same(a, b) == equal), true;
}

/* ---- what a tensor tells ---- */

static struct cr_script_value tuple_new(struct cr_arena *arena, int n)
{
    return (struct cr_script_value){
        .kind = CR_SV_TUPLE,
        .n = n,
        .items = CR_NEWS(arena, struct cr_script_value, n + 1)
    };
}

static bool tensor_member(struct cr_interp *m, const struct cr_script *e,
                          struct cr_val *x, struct cr_script_value *to)
{
    struct cr_arena *arena = m->b->net->arena;
    const struct cr_spec *spec = &x->spec;
    int i;

    if (strcmp(e->name, "shape") == 0) {
        *to = tuple_new(arena, spec->rank);
        for (i = 0; i < spec->rank; i++)
            to->items[i] = cr_script_value_integer(spec->dim[i]);
        return true;
    }
    if (strcmp(e->name, "ndim") == 0)
        return *to = cr_script_value_integer(spec->rank), true;
    if (strcmp(e->name, "size") == 0)
        return *to = cr_script_value_integer(cr_count(spec)), true;
    if (strcmp(e->name, "dtype") == 0) {
        *to = (struct cr_script_value){ .kind = CR_SV_STRING };
        /* real numbers are float32 to a config, whatever computes them */
        to->text = cr_type_name(x->cast                 ? x->low_type
                                : spec->type == CR_REAL ? CR_F32
                                                        : spec->type);
        return true;
    }
    if (strcmp(e->name, "T") == 0) {
        m->b->pos = cr_interp_place(m, e);
        x = CR_EMIT(m->b, "transpose", CR_NEW(arena, struct cr_transpose), x);
        *to = cr_script_value_tensor(x);
        return x || cr_interp_trouble(m, e);
    }
    return cr_interp_fail(m, e,
                          cr_strf(arena,
                                  "a tensor has no '%s'; it has shape, ndim, "
                                  "size, dtype, T and the functions of cellrun "
                                  "help ops",
                                  e->name));
}

bool cr_interp_member(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to)
{
    struct cr_arena *arena = m->b->net->arena;
    struct cr_script_value t;
    int i;

    if (!cr_interp_eval(m, e->args, &t))
        return false;
    if (t.kind == CR_SV_TENSOR)
        return tensor_member(m, e, t.val, to);
    if (t.kind != CR_SV_CELL)
        return cr_interp_fail(m, e,
                              cr_strf(arena, "%s has no '%s'",
                                      cr_script_value_what(arena, &t),
                                      e->name));
    if (!cr_cell_members(m, e, &t, &t))
        return false;
    for (i = 0; i < t.n; i++)
        if (strcmp(t.keys[i], e->name) == 0)
            return *to = t.items[i], true;
    return cr_interp_fail(m, e, cr_strf(arena, "cell '%s' not found", e->name));
}

/* ---- lists ---- */

bool cr_interp_weigh(struct cr_interp *m, const struct cr_script *e,
                     struct cr_script_value *tuple)
{
    return cr_script_value_weigh(tuple) ||
           cr_interp_fail(m, e,
                          cr_strf(m->b->net->arena,
                                  "a tuple of more than %d members in all",
                                  CR_SCRIPT_VALUE_MAX));
}

bool cr_interp_items(struct cr_interp *m, const struct cr_script *e,
                     struct cr_script_value *to)
{
    struct cr_arena *arena = m->b->net->arena;

    if (!cr_interp_eval(m, e, to))
        return false;
    if (to->kind == CR_SV_CELL)
        return cr_cell_members(m, e, to, to);
    return to->kind == CR_SV_TUPLE ||
           cr_interp_fail(
               m, e,
               cr_strf(
                   arena,
                   "found %s, expected a list of cells, a tuple or range(N)",
                   cr_script_value_what(arena, to)));
}

static bool known_range(struct cr_interp *m, const struct cr_script *e,
                        struct cr_script_value *to)
{
    int64_t v[3] = { 0, 0, 1 }, n, k;
    const struct cr_script *a;
    int i = 0;

    for (a = e->args; a; a = a->next) {
        if (i == 3 || a->keyword)
            return cr_interp_fail(m, e, "range: expected 1 to 3 integers");
        if (!cr_interp_int(m, a, CR_INT_NONE, &v[i++]))
            return false;
    }
    if (i == 0 || v[2] == 0)
        return cr_interp_fail(
            m, e,
            i == 0 ? "range: expected 1 to 3 integers"
                   : "range: found the step 0, expected another one");
    if (i == 1) {
        v[1] = v[0];
        v[0] = 0;
    }
    for (n = 0, k = v[0]; v[2] > 0 ? k < v[1] : k > v[1]; k += v[2])
        if (++n > RANGE_MAX)
            return cr_interp_fail(m, e,
                                  cr_strf(m->b->net->arena,
                                          "range: more than %d numbers",
                                          RANGE_MAX));
    *to = tuple_new(m->b->net->arena, (int)n);
    for (k = 0; k < n; k++)
        to->items[k] = cr_script_value_integer(v[0] + k * v[2]);
    return true;
}

static bool known_len(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to)
{
    struct cr_script_value t;

    if (!e->args || e->args->next || e->args->keyword)
        return cr_interp_fail(m, e, "len: expected a tensor or a tuple");
    if (!cr_interp_eval(m, e->args, &t))
        return false;
    if (t.kind == CR_SV_TENSOR && t.val->n_members == 0 && t.val->spec.rank > 0)
        return *to = cr_script_value_integer(t.val->spec.dim[0]), true;
    if (t.kind == CR_SV_CELL && !cr_cell_members(m, e, &t, &t))
        return false;
    if (t.kind != CR_SV_TUPLE)
        return cr_interp_fail(m, e, "len: expected a tensor or a tuple");
    return *to = cr_script_value_integer(t.n), true;
}

/* enumerate(a): pairs of 0, 1 ... and the members of a; zip(a, b ...): the
 * first members, the second ones ... as far as the shortest has any. */
static bool known_rows(struct cr_interp *m, const struct cr_script *e,
                       struct cr_script_value *to)
{
    struct cr_arena *arena = m->b->net->arena;
    bool count = strcmp(e->name, "enumerate") == 0;
    struct cr_script_value column[8];
    const struct cr_script *a;
    int i, k, n = 0, rows = 0;

    if (count)
        column[n++] = tuple_new(arena, 0);
    for (a = e->args; a; a = a->next) {
        if (n == 8 || a->keyword || (count && n == 2))
            return cr_interp_fail(
                m, e,
                cr_strf(arena, "%s: expected %s", e->name,
                        count ? "one list" : "up to 8 lists"));
        if (!cr_interp_items(m, a, &column[n++]))
            return false;
        if (n == 1 + count || column[n - 1].n < rows)
            rows = column[n - 1].n;
    }
    *to = tuple_new(arena, rows);
    for (i = 0; i < rows; i++) {
        to->items[i] = tuple_new(arena, n);
        for (k = 0; k < n; k++)
            to->items[i].items[k] = count && k == 0 ? cr_script_value_integer(i)
                                                    : column[k].items[i];
        if (!cr_interp_weigh(m, e, &to->items[i]))
            return false;
    }
    return cr_interp_weigh(m, e, to);
}

cr_interp_known *cr_interp_function(const char *name)
{
    static const struct {
        const char *name;
        cr_interp_known *run;
    } functions[] = {
        { "range", known_range },
        { "len", known_len },
        { "enumerate", known_rows },
        { "zip", known_rows },
    };
    size_t i;

    for (i = 0; i < CR_LEN(functions); i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].run;
    return NULL;
}
