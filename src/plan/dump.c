/*
 * A plan as text: a line per step, in order.
 *
 *   %9 = conv2d(%3, c1.weight, c1.bias) relu  (64, 8, 28, 28)  c1
 *   %21, %22@c1.weight = backward conv2d(x %3, c1.weight; dy %20; mask %3)  c1
 *
 * A value is written as %N, a parameter or column by its name; a value that
 * lies in the memory of another one, such as a parameter after its update, as
 * %N@OTHER, and after the pass `memory` others as %N@OFFSET.
 */
#include "base/str.h"
#include "plan/plan.h"

#include <inttypes.h>

static void dump_value(struct cr_buf *b, const struct cr_exec *e,
                       const struct cr_pval *v)
{
    if (!v)
        cr_buf_char(b, '-');
    else if (v->param >= 0)
        cr_buf_str(b, e->net->params[v->param].name);
    else if (v->feed >= 0)
        cr_buf_str(b, e->graph->columns[v->feed].name);
    else
        cr_buf_f(b, "%%%d", v->id);
}

/* A value where it is written. */
static void dump_result(struct cr_buf *b, const struct cr_exec *e,
                        const struct cr_pval *v)
{
    dump_value(b, e, v);
    if (v && v->alias) {
        cr_buf_char(b, '@');
        dump_value(b, e, v->alias);
    } else if (v && v->first >= 0 && v->param < 0 && v->feed < 0) {
        cr_buf_f(b, "@%zu", v->offset);
    }
}

static void dump_operands(struct cr_buf *b, const struct cr_exec *e,
                          const char *what, const struct cr_operand *o, int n)
{
    const char *comma = "";
    int i;

    while (n > 0 && !o[n - 1].val)
        n--;
    if (n == 0)
        return;
    if (b->len > 0 && b->text[b->len - 1] != '(')
        cr_buf_str(b, "; ");
    cr_buf_str(b, what);
    for (i = 0; i < n; i++, comma = ", ") {
        cr_buf_str(b, comma);
        dump_value(b, e, o[i].val);
    }
}

static void dump_results(struct cr_buf *b, const struct cr_exec *e,
                         struct cr_pval *const *v, int n)
{
    const char *comma = "";
    int i;

    for (i = 0; i < n; i++)
        if (v[i]) {
            cr_buf_str(b, comma);
            dump_result(b, e, v[i]);
            comma = ", ";
        }
}

static void dump_step(struct cr_buf *b, const struct cr_exec *e,
                      const struct cr_exec_step *s)
{
    const struct cr_pval *first = s->y ? s->y[0] : NULL;

    cr_buf_str(b, "  ");
    if (s->kind == CR_FORWARD)
        dump_results(b, e, s->y, s->n_out);
    else
        dump_results(b, e, s->dx, s->n_in);
    cr_buf_f(b, " = %s%s(",
             s->kind == CR_BACKWARD ? "backward " : "",
             s->kind == CR_UPDATE ? "update" : s->op->about.name);
    dump_operands(b, e, s->kind == CR_FORWARD ? "" : "x ", s->x, s->n_in);
    if (s->kind != CR_FORWARD) {
        dump_operands(b, e, "y ", s->read_y, s->n_out);
        dump_operands(b, e, "dy ", s->dy, s->n_out);
        dump_operands(b, e, "mask ", s->mask, s->n_in);
        dump_operands(b, e, "add ", s->acc, s->n_in);
        dump_operands(b, e, "saved ", &s->read_saved, 1);
    }
    cr_buf_char(b, ')');
    if (s->end.parts & CR_END_SCALE)
        cr_buf_f(b, " scale %g", s->end.scale);
    if (s->end.act)
        cr_buf_f(b, " %s", s->end.act->about.name);
    if (s->map_grad)
        cr_buf_f(b, " %s%s", s->map_grad->about.name,
                 s->x_again ? " again" : "");
    if (s->end.parts & CR_END_DROP)
        cr_buf_str(b, " dropout");
    if (s->rounds)
        cr_buf_f(b, " rounds to %s", cr_type_name(s->low));
    if (s->same)
        cr_buf_str(b, " no work");
    if (s->once)
        cr_buf_str(b, " once");
    if (s->recomputed)
        cr_buf_str(b, " recomputed");
    if (first)
        cr_buf_f(b, "  %s%s%s", cr_diag_format(b->arena, &first->spec),
                 first->spec.type == CR_F16    ? " float16"
                 : first->spec.type == CR_BF16 ? " bfloat16"
                                               : "",
                 first->spec.layout == CR_CHANNELS_LAST ? " channels last"
                                                        : "");
    if (s->node && e->net->cells[s->node->cell].name[0])
        cr_buf_f(b, "  %s", e->net->cells[s->node->cell].name);
    cr_buf_char(b, '\n');
}

const char *cr_plan_text(struct cr_exec *e, struct cr_arena *arena)
{
    struct cr_buf b = { .arena = arena };
    const struct cr_exec_step *s;

    for (s = e->first; s; s = s->next)
        dump_step(&b, e, s);
    return cr_buf_text(&b);
}
