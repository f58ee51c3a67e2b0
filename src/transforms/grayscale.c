/* Grayscale: y = floor((19595 r + 38470 g + 7471 b + 32768) / 65536), the
 * weights .299, .587 and .114 of ITU-R BT.601 as Pillow rounds them. */
#include "data/enhance.h"

struct grayscale {
    int64_t num_output_channels;
};

static const struct cr_opt grayscale_opts[] = {
    CR_INT_DEFAULT(struct grayscale, num_output_channels, 1, 1, 3,
                   "Number of output channels: 1, or 3 equal ones."),
    { 0 },
};

static bool grayscale_plan(struct cr_transform_plan *p)
{
    const struct grayscale *o = p->opts;
    struct cr_image m;

    if (!cr_image_of_bytes(p, "Grayscale", 3, &m))
        return false;
    if (o->num_output_channels == 2)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "Grayscale: num_output_channels: found 2, expected 1 "
                        "or 3");
    p->out = p->in;
    p->out.dim[2] = o->num_output_channels;
    return true;
}

static bool grayscale_apply(struct cr_sample *s)
{
    const struct grayscale *o = s->plan->opts;
    int64_t i, k, n = s->plan->in.dim[0] * s->plan->in.dim[1];
    const unsigned char *x = s->x;
    unsigned char *y = s->y;

    for (i = 0; i < n; i++, x += 3)
        for (k = 0; k < o->num_output_channels; k++)
            *y++ = cr_enhance_gray601(x);
    return true;
}

const struct cr_transform cr_transform_grayscale = {
    .about = {
        .name = "Grayscale",
        .summary = "Converts RGB to grey.",
        .detail = "Images (height, width, 3) of uint8; bit-identical to "
                  "Pillow and MindSpore.",
        .example = "datapipe: {image: [Grayscale]}\n",
        .opts = grayscale_opts,
        .size = sizeof(struct grayscale),
    },
    .plan = grayscale_plan,
    .apply = grayscale_apply,
};
