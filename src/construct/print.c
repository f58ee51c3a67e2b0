/*
 * print(...) in a `construct` or `bprop`. A call is a node that reads its
 * tensors and gives nothing that anybody takes; run/printer.c runs it.
 */
#include "base/str.h"
#include "base/table.h"
#include "construct/script_interp.h"
#include "num/array_text.h"

#include <inttypes.h>

/* A line: a text, or tensor number `input`. */
struct line {
    const char *text; /* NULL: the tensor */
    int input;
    enum cr_type type; /* of its numbers */
};

/* The op's attr. */
struct lines {
    int n, room;
    struct line *v;
};

/* ---- the op ---- */

static bool print_plan(struct cr_op_plan *p)
{
    p->out[0] = (struct cr_spec){ .type = CR_I32 };
    return true;
}

static void print_forward(const struct cr_op_ctx *s)
{
    const struct lines *lines = s->attr;
    struct cr_arena mem = { 0 };
    int i;

    for (i = 0; i < lines->n && s->print; i++) {
        const struct line *l = &lines->v[i];

        s->print->line(s->print->ctx,
                       l->text ? cr_escape(&mem, l->text)
                               : cr_tensor_text(&mem, &s->in[l->input],
                                                l->type, s->x[l->input]));
    }
    *(int32_t *)s->y[0] = 0;
    cr_arena_free(&mem);
}

const struct cr_op cr_op_print = {
    .about = { .name = "print" },
    .max_inputs = CR_OP_MAX,
    .outputs = 1,
    .int_inputs = CR_X(CR_OP_MAX) - 1,
    .prints = true,
    .plan = print_plan,
    .forward = print_forward,
};

/* ---- the statement ---- */

struct call {
    struct cr_interp *m;
    const struct cr_script *arg; /* that is read */
    struct lines *lines;
    struct cr_val *in[CR_OP_MAX];
    int n;
};

static struct line *line_new(struct call *c)
{
    struct lines *l = c->lines;

    if (l->n == l->room) {
        int room = 2 * l->room + 4;

        l->v = cr_grow(c->m->b->net->arena, l->v, (size_t)l->n, (size_t)room,
                       sizeof *l->v);
        l->room = room;
    }
    l->v[l->n] = (struct line){ 0 };
    return &l->v[l->n++];
}

/* What Python's print makes of a number, a text or None; NULL: it is none of
 * them. */
static const char *plain_text(struct cr_arena *arena,
                              const struct cr_script_value *t)
{
    struct cr_buf b = { .arena = arena };
    int i;

    switch (t->kind) {
    case CR_SV_NONE:
        return "None";
    case CR_SV_STRING:
        return t->text;
    case CR_SV_BOOL:
        return t->integer ? "True" : "False";
    case CR_SV_INT:
        return cr_strf(arena, "%" PRId64, t->integer);
    case CR_SV_REAL:
        return cr_real_text(arena, t->real);
    case CR_SV_TUPLE:
        cr_buf_char(&b, '(');
        for (i = 0; i < t->n; i++) {
            const char *one = cr_script_value_number(&t->items[i])
                                  ? plain_text(arena, &t->items[i])
                                  : NULL;

            if (!one)
                return NULL;
            cr_buf_f(&b, "%s%s", i > 0 ? ", " : "", one);
        }
        cr_buf_str(&b, t->n == 1 ? ",)" : ")");
        return cr_buf_text(&b);
    default:
        return NULL;
    }
}

static bool add_lines(struct call *c, const struct cr_script_value *t)
{
    struct cr_arena *arena = c->m->b->net->arena;
    const char *text = plain_text(arena, t);
    struct line *l;
    int i;

    if (text) {
        line_new(c)->text = text;
        return true;
    }
    if (t->kind == CR_SV_TENSOR) {
        if (c->n == CR_OP_MAX)
            return cr_interp_fail(
                c->m, c->arg,
                cr_strf(arena, "more than %d tensors", CR_OP_MAX));
        l = line_new(c);
        l->input = c->n;
        l->type =
            t->val->low_type != CR_REAL ? t->val->low_type : t->val->spec.type;
        c->in[c->n++] = t->val;
        return true;
    }
    if (t->kind != CR_SV_TUPLE)
        return cr_interp_fail(c->m, c->arg,
                              cr_strf(arena,
                                      "print: expected tensors, numbers, "
                                      "strings and tuples of them, found %s",
                                      cr_script_value_what(arena, t)));
    for (i = 0; i < t->n; i++)
        if (!add_lines(c, &t->items[i]))
            return false;
    return true;
}

bool cr_interp_print(struct cr_interp *m, const struct cr_script *call)
{
    struct cr_net *net = m->b->net;
    struct call c = { .m = m, .lines = CR_NEW(net->arena, struct lines) };
    struct cr_script_value t;

    for (c.arg = call->args; c.arg; c.arg = c.arg->next) {
        if (c.arg->keyword)
            return cr_interp_fail(m, c.arg,
                                  cr_strf(net->arena,
                                          "print: unknown option '%s'",
                                          c.arg->keyword));
        if (!cr_interp_eval(m, c.arg, &t) || !add_lines(&c, &t))
            return false;
    }
    m->b->pos = cr_script_pos(&m->b->net->place, m->text, call->at,
                              call->len);
    if (!call->args)
        line_new(&c)->text = "";
    return cr_emit_as_is(m->b, &cr_op_print, c.lines, c.n, c.in) != NULL;
}
