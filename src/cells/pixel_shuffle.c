/* PixelShuffle: y[.., c, h r + i, w r + j] = x[.., (c r + i) r + j, h, w].
 * Shi et al., arXiv:1609.05158. */
#include "families/arrange.h"

struct pixel_shuffle {
    int64_t upscale_factor;
};

static const struct cr_opt pixel_shuffle_opts[] = {
    CR_INT(struct pixel_shuffle, upscale_factor, 1, 65536, "The factor r."),
    { 0 },
};

static struct cr_val *pixel_shuffle_build(struct cr_build *b,
                                          struct cr_val *const *in)
{
    static const int64_t perm[] = { 0, 1, 4, 2, 5, 3 };
    int64_t r = ((const struct pixel_shuffle *)cr_opts(b))->upscale_factor;
    const struct cr_spec *x = cr_val_spec(in[0]);
    struct cr_spec y = *x;
    int64_t *last = y.dim + x->rank - 3, dim[6] = { 1, 1, r, r };
    int i;

    if (x->rank < 3 || *last % (r * r) != 0) {
        cr_fail(b, CR_E_SHAPE,
                "input: found %s, expected (..., C, H, W) with C a multiple of "
                "%lld",
                cr_diag_format(cr_build_arena(b), x), (long long)(r * r));
        return NULL;
    }
    last[0] /= r * r;
    dim[4] = last[1];
    dim[5] = last[2];
    for (i = 0; i <= x->rank - 3; i++)
        dim[i > 0] *= y.dim[i];
    last[1] *= r;
    last[2] *= r;
    return cr_arrange_reshape(
        b, cr_arrange_transpose(b, cr_arrange_reshape(b, in[0], 6, dim), perm),
        y.rank, y.dim);
}

const struct cr_cell cr_cell_pixel_shuffle = {
    .about = {
        .name = "PixelShuffle",
        .summary = "Sub-pixel rearrangement: channels become rows and columns.",
        .detail = "Input (..., C r r, H, W), output (..., C, H r, W r).",
        .example = "network: {inputs: {x: {shape: [4, 3, 3]}}, up: "
                   "{PixelShuffle: 2}}\n",
        .opts = pixel_shuffle_opts,
        .size = sizeof(struct pixel_shuffle),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = pixel_shuffle_build,
};
