/*
 * BatchNorm in prediction: its scale and shift go into the weight and offset
 * of the layer in front of it, where nothing else reads that layer's output.
 */
#include "net/attr.h"
#include "net/plan.h"

static bool moving(const struct cr_pstep *bn)
{
    const struct cr_batch_norm *o = bn->node ? bn->node->attr : NULL;

    return o && !bn->run.training && o->use_batch_statistics != true;
}

/* The layer's step becomes the folding, the BatchNorm's the layer: by then
 * all it reads is there. */
static void fold(struct cr_exec *e, int layer, int bn)
{
    struct cr_pstep *f = &e->steps[layer], *b = &e->steps[bn], made = *f;
    struct cr_spec *in = (struct cr_spec *)(uintptr_t)made.run.in;
    struct cr_opnode node = { .op = cr_op_find("bn_fold"),
                              .attr = b->node->attr,
                              .n_in = 6 };
    int k;

    *f = (struct cr_pstep){ .kind = CR_FORWARD, .op = node.op, .n_in = 6,
                            .n_out = 2, .param = -1, .keep = -1,
                            .once = e->want.fixed };
    for (k = 0; k < CR_OP_MAX; k++)
        f->x[k] = f->y[k] = f->dy[k] = f->dx[k] = f->mask[k] = f->direct[k] =
            -1;
    f->x[0] = made.x[1];
    f->x[1] = made.x[2];
    for (k = 2; k < 6; k++)
        f->x[k] = b->x[k - 1];
    cr_plan_step(e, f, &node);
    for (k = 0; k < 2; k++) {
        e->vals[f->y[k]].root = e->want.fixed;
        made.x[1 + k] = f->y[k];
        in[1 + k] = e->vals[f->y[k]].spec;
    }
    made.n_in = made.n_in > 3 ? made.n_in : 3;
    made.y[0] = b->y[0];
    e->steps[bn] = made;
}

void cr_plan_fold(struct cr_exec *e)
{
    const struct cr_op *batch_norm = cr_op_find("batch_norm");
    int a, b;

    for (b = 0; b < e->n_steps; b++) {
        if (e->steps[b].op != batch_norm || !moving(&e->steps[b]))
            continue;
        a = cr_plan_producer(e, e->steps[b].x[0], b);
        if (a >= 0 && e->steps[a].op->folds && e->steps[a].act == CR_ACT_NONE)
            fold(e, a, b);
    }
}
