/*
 * BatchNorm in prediction: its scale and shift go into the weight and offset
 * of the layer in front of it, where nothing else reads that layer's output
 * and the channels of both are the same axis.
 */
#include "net/op_attrs.h"
#include "net/plan.h"

#define FOLD_CHANNELS 1 /* BatchNorm's axis of them */

static bool moving(const struct cr_exec_step *bn)
{
    const struct cr_batch_norm *o = bn->node ? bn->node->attr : NULL;

    return o && !bn->run.training && o->use_batch_statistics != true;
}

/* Whether the layer has its channels where BatchNorm has its own. */
static bool one_axis(const struct cr_exec_step *layer)
{
    int axis = layer->op->bn_foldable;

    return (axis < 0 ? layer->run.out[0].rank + axis : axis) == FOLD_CHANNELS;
}

/* Whether a step gives the same for every batch: it computes from parameters
 * alone, and is an op of ours, which outside of training draws nothing. */
static bool step_constant(const struct cr_exec *e, const struct cr_exec_step *s,
                          const bool *constant)
{
    int i;

    if (s->op->running_stats ||
        cr_registry_find(CR_KIND_OP, s->op->about.name) != &s->op->about)
        return false;
    for (i = 0; i < s->n_in; i++)
        if (s->x[i] >= 0 && e->vals[s->x[i]].param < 0 && !constant[s->x[i]])
            return false;
    return true;
}

/* The values that are the same for every batch, parameters apart; with room
 * for those that folding makes. */
static bool *constants(struct cr_exec *e)
{
    bool *constant = CR_NEWS(&e->arena, bool, e->n_vals + 2 * e->n_steps + 1);
    int i, k;

    for (i = 0; i < e->n_steps; i++)
        for (k = 0; k < e->steps[i].n_out; k++)
            constant[e->steps[i].y[k]] =
                step_constant(e, &e->steps[i], constant);
    return constant;
}

/* The layer's step becomes the folding, the BatchNorm's the layer: by then
 * all it reads is there. False after reporting. */
static bool fold(struct cr_exec *e, int layer, int bn, bool *constant)
{
    struct cr_exec_step *f = &e->steps[layer], *b = &e->steps[bn], made = *f;
    struct cr_spec *in = (struct cr_spec *)(uintptr_t)made.run.in;
    struct cr_opnode node = { .op = cr_op_find("bn_fold"),
                              .pos = b->node->pos,
                              .attr = b->node->attr,
                              .n_in = 6 };
    int k;

    *f = (struct cr_exec_step){ .kind = CR_FORWARD,
                                .op = node.op,
                                .n_in = 6,
                                .n_out = 2,
                                .param = -1,
                                .saved = -1 };
    for (k = 0; k < CR_OP_MAX; k++)
        f->x[k] = f->y[k] = f->dy[k] = f->dx[k] = f->mask[k] = f->direct[k] =
            -1;
    f->x[0] = made.x[1];
    f->x[1] = made.x[2];
    for (k = 2; k < 6; k++)
        f->x[k] = b->x[k - 1];
    f->once = e->opts.const_params && !e->opts.training &&
              step_constant(e, f, constant);
    if (!cr_plan_step(e, f, &node))
        return false;
    for (k = 0; k < 2; k++) {
        constant[f->y[k]] = f->once;
        e->vals[f->y[k]].root = f->once;
        made.x[1 + k] = f->y[k];
        in[1 + k] = e->vals[f->y[k]].spec;
    }
    made.n_in = made.n_in > 3 ? made.n_in : 3;
    made.y[0] = b->y[0];
    e->steps[bn] = made;
    return true;
}

bool cr_plan_fold(struct cr_exec *e)
{
    const struct cr_op *batch_norm = cr_op_find("batch_norm");
    bool *constant = constants(e);
    int a, b;

    for (b = 0; b < e->n_steps; b++) {
        if (e->steps[b].op != batch_norm || !moving(&e->steps[b]))
            continue;
        a = cr_plan_producer(e, e->steps[b].x[0], b);
        if (a < 0 || !e->steps[a].op->bn_foldable ||
            e->steps[a].act != CR_ACT_NONE || !one_axis(&e->steps[a]))
            continue;
        if (!fold(e, a, b, constant))
            return false;
    }
    return true;
}
