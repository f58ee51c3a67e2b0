/*
 * BatchNorm in prediction: its scale and shift go into the weight and offset
 * of the layer before it, where nothing else reads that layer's output
 * and the channels of both are the same axis.
 */
#include "graph/op_attrs.h"
#include "plan/plan.h"

#define FOLD_CHANNELS 1 /* BatchNorm's axis of them */

/* Whether a BatchNorm computes with its moving statistics. */
static bool by_moving_stats(const struct cr_exec_step *bn)
{
    const struct cr_batch_norm *o = bn->node ? bn->node->attr : NULL;

    return o && !bn->training && o->use_batch_statistics != true;
}

/* Whether the layer has its channels where BatchNorm has its own. */
static bool one_axis(const struct cr_exec_step *layer)
{
    int axis = layer->op->bn_foldable;

    return (axis < 0 ? layer->out[0].rank + axis : axis) == FOLD_CHANNELS;
}

/* Before the layer comes the folding; the layer moves to the place of the
 * BatchNorm: by then all it reads is there. False after reporting. */
static bool fold(struct cr_exec *e, struct cr_exec_step *layer,
                 struct cr_exec_step *bn)
{
    struct cr_opnode node = { .op = cr_op_find("bn_fold"),
                              .pos = bn->node->pos,
                              .attr = bn->node->attr,
                              .n_in = 6 };
    struct cr_exec_step *f = cr_step_new(e, CR_FORWARD, node.op, 6, 2);
    struct cr_pval *y = bn->y[0];
    int k;

    cr_operand_set(&f->x[0], layer->x[1].val);
    if (layer->n_in > 2)
        cr_operand_set(&f->x[1], layer->x[2].val);
    for (k = 2; k < 6; k++)
        cr_operand_set(&f->x[k], bn->x[k - 1].val);
    if (!cr_plan_step(e, f, &node))
        return false;
    cr_plan_constant(e, f);
    cr_step_before(e, f, layer);
    cr_step_before(e, layer, bn);
    cr_step_remove(e, bn);
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
    const struct cr_op *batch_norm = cr_op_find("batch_norm");
    struct cr_exec_step *s, *next, *layer;

    if (e->opts.backward || e->prints || cr_plan_keeps_all(e))
        return true;
    for (s = e->first; s; s = next) {
        next = s->next;
        if (s->op != batch_norm || !by_moving_stats(s))
            continue;
        layer = cr_step_producer(s->x[0].val);
        if (layer && layer->op->bn_foldable && layer->act == CR_ACT_NONE &&
            one_axis(layer) && !fold(e, layer, s))
            return false;
    }
    return true;
}
