/* Softmax2d: the softmax over channels at each position, x (N, C, H, W). */
#include "graph/cell.h"
#include "graph/op_attrs.h"

static struct cr_val *softmax2d_build(struct cr_build *b,
                                      struct cr_val *const *in)
{
    struct cr_arena *arena = cr_build_arena(b);
    struct cr_softmax *attr = CR_NEW(arena, struct cr_softmax);

    if (cr_val_spec(in[0])->rank != 3 && cr_val_spec(in[0])->rank != 4) {
        cr_fail(b, CR_E_SHAPE, "input: found %s, expected (N, C, H, W)",
                cr_diag_format(arena, cr_val_spec(in[0])));
        return NULL;
    }
    attr->axis = -3;
    return CR_EMIT(b, "softmax", attr, in[0]);
}

const struct cr_cell cr_cell_softmax2d = {
    .about = {
        .name = "Softmax2d",
        .summary = "Softmax over the channels at each position.",
        .detail = "Input (N, C, H, W), or one sample (C, H, W).",
        .example = "network: {act: Softmax2d, flatten: Flatten, fc: {Dense: "
                   "[784, 10]}}\n",
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .activation = "softmax2d",
    .build = softmax2d_build,
};
