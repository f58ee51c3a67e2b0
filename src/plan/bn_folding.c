/*
 * A map per channel whose factors are fixed in prediction, such as BatchNorm
 * with moving statistics: its factor and shift go into the weight and offset of
 * the layer before it, where nothing else reads that layer's output and the
 * channels of both are the same axis.
 */
#include "plan/plan.h"

#define FOLD_CHANNELS 1 /* the map's axis of them */

/* Whether it is such a step. */
static bool folds(const struct cr_exec_step *s)
{
    return s->op && s->op->algebra.fold && s->node && !s->training &&
           s->op->algebra.fixed(s->node->attr);
}

/* Whether the layer has its channels where the map has its own. */
static bool one_axis(const struct cr_exec_step *layer)
{
    int axis = layer->op->algebra.channels;

    return (axis < 0 ? layer->out[0].rank + axis : axis) == FOLD_CHANNELS;
}

/* Before the layer comes the folding; the layer moves to the place of the map:
 * by then all it reads is there. False after reporting. */
static bool fold(struct cr_exec *e, struct cr_exec_step *layer,
                 struct cr_exec_step *map)
{
    int n = map->op->min_inputs + 1;
    struct cr_opnode node = { .op = cr_op_find(map->op->algebra.fold),
                              .pos = map->node->pos,
                              .attr = map->node->attr,
                              .n_in = n };
    struct cr_exec_step *f = cr_step_new(e, CR_FORWARD, node.op, n, 2);
    struct cr_pval *y = map->y[0];
    int k;

    cr_operand_set(&f->x[0], layer->x[1].val);
    if (layer->n_in > 2)
        cr_operand_set(&f->x[1], layer->x[2].val);
    for (k = 2; k < n; k++)
        cr_operand_set(&f->x[k], map->x[k - 1].val);
    if (!cr_plan_step(e, f, &node))
        return false;
    cr_plan_constant(e, f);
    cr_step_before(e, f, layer);
    cr_step_before(e, layer, map);
    cr_step_remove(e, map);
    cr_step_takes(layer, y);
    layer->n_in = layer->n_in > 3 ? layer->n_in : 3;
    for (k = 0; k < 2; k++) {
        cr_operand_set(&layer->x[1 + k], f->y[k]);
        layer->in[1 + k] = f->y[k]->spec;
    }
    return true;
}

bool cr_plan_fold(struct cr_exec *e)
{
    struct cr_exec_step *s, *next, *layer;

    if (e->opts.backward || e->prints || cr_plan_keeps_all(e))
        return true;
    for (s = e->first; s; s = next) {
        next = s->next;
        if (!folds(s))
            continue;
        layer = cr_step_producer(s->x[0].val);
        if (layer && layer->op->algebra.channels && layer->end.parts == 0 &&
            one_axis(layer) && !fold(e, layer, s))
            return false;
    }
    return true;
}
