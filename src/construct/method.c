/*
 * Calls of what is no name: x.NAME(...), layers[0](...), f(*tuple).
 */
#include <string.h>

#include "base/str.h"
#include "construct/script_interp.h"

bool cr_interp_splat(struct cr_interp *m, const struct cr_script *args,
                    struct cr_script **to)
{
    struct cr_arena *arena = m->b->net->arena;
    const struct cr_script *a;
    int i;

    *to = NULL;
    for (a = args; a; a = a->next) {
        bool many = a->op == CR_SCRIPT_SPLAT;
        struct cr_script_value t = { .n = 1 };

        if (many && !cr_interp_items(m, a->args, &t))
            return false;
        for (i = 0; i < t.n; i++) {
            struct cr_script *one = CR_NEW(arena, struct cr_script);

            *one = *a;
            one->next = NULL;
            if (many) {
                one->op = CR_SCRIPT_VALUE;
                one->value = &t.items[i];
            }
            *to = one;
            to = &one->next;
        }
    }
    return true;
}

/* x.NAME(...): the function NAME of x, ... */
bool cr_interp_method(struct cr_interp *m, const struct cr_script *e,
                      struct cr_script_value *to)
{
    static const char *const other[] = { "view", "reshape", "astype",
                                         "cast", "permute", "transpose",
                                         NULL };
    struct cr_script call = *e, x = *e->args, list;
    const struct cr_descriptor *about;
    const struct cr_op *op;
    struct cr_script_value t;
    int i = 0;

    if (!cr_interp_eval(m, e->args, &t))
        return false;
    x.op = CR_SCRIPT_VALUE;
    x.value = &t;
    if (t.kind == CR_SV_CELL) { /* a member of it */
        struct cr_script member = call;
        struct cr_script_value cell;

        member.args = &x;
        x.next = NULL;
        return cr_interp_member(m, &member, &cell) &&
               cr_interp_call_cell(m, e, e->args->next, cell.text, cell.node,
                                   to);
    }
    if (t.kind != CR_SV_TENSOR)
        return cr_interp_fail(
            m, e,
            cr_strf(m->b->net->arena,
                    "%s has no method '%s'; only tensors have methods",
                    cr_script_value_what(m->b->net->arena, &t), e->name));
    while (other[i] && strcmp(other[i], e->name) != 0)
        i += 2;
    call.name = other[i] ? other[i + 1] : e->name;
    call.args = &x;
    about = cr_registry_find(CR_KIND_OP, call.name);
    op = (const struct cr_op *)about;
    if (!op || about->internal || (op->max_inputs == 0 && !op->text))
        return cr_interp_unknown(m, &call, true);
    /* x.reshape(2, 3) is x.reshape((2, 3)) */
    if (about->opts && about->opts[0].type == CR_OPT_INTS &&
        !about->opts[1].name && x.next && x.next->next && !x.next->keyword) {
        list = *x.next;
        list.op = CR_SCRIPT_TUPLE;
        list.args = x.next;
        list.next = NULL;
        x.next = &list;
    }
    return cr_interp_call_op(m, &call, op, to);
}

/* A call of what an expression gives: a member of a list of cells. */
bool cr_interp_apply(struct cr_interp *m, const struct cr_script *e,
                     struct cr_script_value *to)
{
    struct cr_script *args;
    struct cr_script_value t;

    if (!cr_interp_splat(m, e->args->next, &args) ||
        !cr_interp_eval(m, e->args, &t))
        return false;
    if (t.kind != CR_SV_CELL)
        return cr_interp_fail(
            m, e,
            cr_strf(m->b->net->arena, "found %s, expected a cell to call",
                    cr_script_value_what(m->b->net->arena, &t)));
    return cr_interp_call_cell(m, e, args, t.text, t.node, to);
}
