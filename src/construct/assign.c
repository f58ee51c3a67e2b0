/*
 * assign(NAME, value): state that a forward pass moves in training.
 *
 * A Parameter with requires_grad false is such state. Its name reads what it
 * was when the forward pass began: an op `state` copies it, before `assign`
 * writes. As moving statistics it moves with every micro-batch, and goes back
 * to where it was when the step fails or is skipped (statistics.c).
 */
#include <string.h>

#include "base/str.h"
#include "construct/script_interp.h"

/* ---- reading ---- */

static bool state_plan(struct cr_op_plan *p)
{
    p->out[0] = p->in[0];
    return true;
}

static void state_forward(const struct cr_op_ctx *s)
{
    memcpy(s->y[0], s->x[0], cr_bytes(&s->in[0]));
}

static const struct cr_op state_op = {
    .about = { .name = "state" },
    .min_inputs = 1,
    .max_inputs = 1,
    .outputs = 1,
    .plan = state_plan,
    .forward = state_forward,
};

struct cr_val *cr_param_read(struct cr_build *b, struct cr_val *param)
{
    if (!param || param->read || b->net->in_backward)
        return param && param->read ? param->read : param;
    return param->read = cr_emit_as_is(b, &state_op, NULL, 1, &param);
}

/* ---- writing ---- */

enum {
    STATE,
    VALUE,
    BEFORE /* the copy, which is made before */
};

static bool assign_plan(struct cr_op_plan *p)
{
    p->out[0] = CR_SCALAR;
    return true;
}

static void assign_forward(const struct cr_op_ctx *s)
{
    cr_real *to = s->state[STATE];
    const cr_real *value = s->x[VALUE];
    int64_t i, n = to ? cr_count(&s->in[STATE]) : 0;
    bool one = cr_count(&s->in[VALUE]) == 1;

    for (i = 0; i < n; i++)
        to[i] = value[one ? 0 : i];
    *cr_reals(s->y[0]) = 0;
}

const struct cr_op cr_op_assign = {
    .about = { .name = "assign" },
    .min_inputs = 3,
    .max_inputs = 3,
    .outputs = 1,
    .running_stats = CR_X(STATE),
    .plan = assign_plan,
    .forward = assign_forward,
};

/* The state that the call names; NULL after reporting. */
static struct cr_val *assign_state(struct cr_interp *m,
                                   const struct cr_script *e)
{
    struct cr_arena *arena = m->b->net->arena;
    const struct cr_node *cell =
        e->op == CR_SCRIPT_NAME ? cr_interp_cell(m, e->name) : NULL;
    struct cr_script_value t = { 0 };

    if (cell && !cr_interp_eval(m, e, &t))
        return NULL;
    if (t.kind == CR_SV_TENSOR && t.val->producer &&
        t.val->producer->op == &state_op)
        return t.val->producer->in[0];
    cr_interp_fail(m, e,
                   cr_strf(arena,
                           "assign: found %s, expected a member of cells that "
                           "is a Parameter with requires_grad: false",
                           e->op == CR_SCRIPT_NAME
                               ? cr_strf(arena, "'%s'", e->name)
                               : "an expression"));
    return NULL;
}

bool cr_interp_assign(struct cr_interp *m, const struct cr_script *call)
{
    struct cr_arena *arena = m->b->net->arena;
    const struct cr_script *name = call->args,
                           *value = name ? name->next : NULL;
    struct cr_val *in[3];
    struct cr_spec spec;
    struct cr_script_value t;

    if (!value || value->next || name->keyword || value->keyword)
        return cr_interp_fail(m, call, "assign: expected a name and a value");
    if (m->b->net->in_backward)
        return cr_interp_fail(m, call,
                              "assign is allowed in construct, not in bprop");
    in[STATE] = assign_state(m, name);
    if (!in[STATE] || !cr_interp_eval(m, value, &t))
        return false;
    in[VALUE] = cr_interp_val(m, value, &t);
    if (!in[VALUE])
        return false;
    spec = in[VALUE]->spec;
    spec.type = CR_REAL;
    if (!cr_script_value_number(&t) && !cr_spec_same(&spec, &in[STATE]->spec))
        return cr_interp_fail(
            m, value,
            cr_strf(arena, "assign: found a value %s, but '%s' is %s",
                    cr_diag_format(arena, &in[VALUE]->spec), name->name,
                    cr_diag_format(arena, &in[STATE]->spec)));
    m->b->pos = cr_interp_place(m, call);
    if (in[VALUE]->spec.type != CR_REAL)
        in[VALUE] = cr_emit_as_is(m->b, cr_op_find("cast"), NULL, 1,
                                  &in[VALUE]);
    in[BEFORE] = in[STATE]->read;
    return in[VALUE] && cr_emit_as_is(m->b, &cr_op_assign, NULL, 3, in);
}
