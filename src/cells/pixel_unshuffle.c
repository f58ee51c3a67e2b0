/* PixelUnshuffle: y[.., (c r + i) r + j, h, w] = x[.., c, h r + i, w r + j],
 * the inverse of PixelShuffle. */
#include "families/arrange.h"

struct pixel_unshuffle {
    int64_t downscale_factor;
};

static const struct cr_opt pixel_unshuffle_opts[] = {
    CR_INT(struct pixel_unshuffle, downscale_factor, 1, 65536, "The factor r."),
    { 0 },
};

static struct cr_val *pixel_unshuffle_build(struct cr_build *b,
                                            struct cr_val *const *in)
{
    static const int64_t perm[] = { 0, 1, 3, 5, 2, 4 };
    int64_t r = ((const struct pixel_unshuffle *)cr_opts(b))->downscale_factor;
    const struct cr_spec *x = cr_val_spec(in[0]);
    struct cr_spec y = *x;
    int64_t *last = y.dim + x->rank - 3, dim[6] = { 1, 1, 1, r, 1, r };
    int i;

    if (x->rank < 3 || last[1] % r != 0 || last[2] % r != 0) {
        cr_fail(b, CR_E_SHAPE,
                "input: found %s, expected (..., C, H, W) with H and W "
                "multiples of %lld",
                cr_diag_format(cr_build_arena(b), x), (long long)r);
        return NULL;
    }
    for (i = 0; i <= x->rank - 3; i++)
        dim[i > 0] *= y.dim[i];
    last[0] *= r * r;
    last[1] /= r;
    last[2] /= r;
    dim[2] = last[1];
    dim[4] = last[2];
    return cr_arrange_reshape(
        b, cr_arrange_transpose(b, cr_arrange_reshape(b, in[0], 6, dim), perm),
        y.rank, y.dim);
}

const struct cr_cell cr_cell_pixel_unshuffle = {
    .about = {
        .name = "PixelUnshuffle",
        .summary = "Inverse of PixelShuffle: rows and columns become channels.",
        .detail = "Input (..., C, H r, W r), output (..., C r r, H, W).",
        .example = "network: {inputs: {x: {shape: [1, 4, 6]}}, down: "
                   "{PixelUnshuffle: 2}}\n",
        .opts = pixel_unshuffle_opts,
        .size = sizeof(struct pixel_unshuffle),
    },
    .min_inputs = 1,
    .max_inputs = 1,
    .build = pixel_unshuffle_build,
};
